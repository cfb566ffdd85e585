//! Reads a picture back: tags of the SVG, numbers through its own axes, dots of the PNG.
#![allow(dead_code)] // every test file reads what it needs

use std::collections::HashMap;

use scorewise_report::{Frame, Picture};

pub const BLUE: &str = "#0072B2";
pub const VERMILLION: &str = "#D55E00";
pub const GREEN: &str = "#009E73";
pub const PURPLE: &str = "#CC79A7";
pub const SKY: &str = "#56B4E9";
pub const INK: &str = "#222222";
pub const FRAME: &str = "#808080";

pub type Point = (f64, f64);

pub fn close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "{got} instead of {expected}");
}

/// The same points in the same order.
pub fn same(got: &[Point], expected: &[Point], tolerance: f64) {
    let near =
        |(one, other): (&Point, &Point)| (one.0 - other.0).abs() <= tolerance && (one.1 - other.1).abs() <= tolerance;
    assert!(got.len() == expected.len() && got.iter().zip(expected).all(near), "{got:?} instead of {expected:?}");
}

/// One SVG element.
pub struct Tag {
    pub name: String,
    pub attributes: HashMap<String, String>,
    pub text: String,
}

impl Tag {
    pub fn number(&self, attribute: &str) -> f64 {
        self.attributes[attribute].parse().unwrap()
    }

    /// The points of a polyline.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let point = |pair: &str| {
            let (x, y) = pair.split_once(',').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        };
        self.attributes["points"].split_whitespace().map(point).collect()
    }

    pub fn has(&self, attribute: &str, value: &str) -> bool {
        self.attributes.get(attribute).is_some_and(|own| own == value)
    }
}

/// All elements, in the order of drawing.
pub fn tags(svg: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    for part in svg.split('<').skip(1).filter(|part| !part.starts_with('/')) {
        let (head, text) = part.split_once('>').unwrap();
        let (name, rest) = head.trim_end_matches('/').split_once(' ').unwrap();
        let mut attributes = HashMap::new();
        let mut quoted = rest.split('"');
        while let (Some(key), Some(value)) = (quoted.next(), quoted.next()) {
            attributes.insert(key.trim().trim_end_matches('=').into(), value.into());
        }
        tags.push(Tag { name: name.into(), attributes, text: text.trim().into() });
    }
    tags
}

/// The way from places in the SVG back to numbers, as a reader of one panel finds it: from the numbers at its axes.
pub struct Ruler {
    x: (f64, f64),
    y: (f64, f64),
}

impl Ruler {
    /// Of the panel between these places from left to right, in drawing units.
    pub fn of(tags: &[Tag], from: f64, to: f64) -> Self {
        let numbers = |anchor: &str, side: &str| -> Vec<(f64, f64)> {
            let at_axis = |tag: &&Tag| tag.name == "text" && tag.has("text-anchor", anchor);
            let inside = |tag: &&Tag| (from..to).contains(&tag.number("x"));
            let read = |tag: &Tag| Some((tag.text.parse().ok()?, tag.number(side)));
            tags.iter().filter(at_axis).filter(inside).filter_map(read).collect()
        };
        let line = |numbers: Vec<(f64, f64)>| {
            let ((low, start), (high, end)) = (numbers[0], numbers[numbers.len() - 1]);
            let slope = (high - low) / (end - start);
            (low - slope * start, slope)
        };
        Ruler { x: line(numbers("middle", "x")), y: line(numbers("end", "y")) }
    }

    /// Of one panel of a picture; `bend` makes numbers of the y axis proportional to their places.
    pub fn beside(tags: &[Tag], frame: &Frame, bend: fn(f64) -> f64) -> Self {
        let near = |anchor: &str, (left, top): Point, (right, bottom): Point| -> Vec<(f64, Point)> {
            tags.iter()
                .filter(|tag| tag.name == "text" && tag.has("text-anchor", anchor))
                .map(|tag| (tag, (tag.number("x") / 10.0, tag.number("y") / 10.0)))
                .filter(|(_, (x, y))| (left..=right).contains(x) && (top..=bottom).contains(y))
                .filter_map(|(tag, place)| Some((tag.text.replace('−', "-").parse().ok()?, place)))
                .collect()
        };
        let line = |numbers: Vec<Point>| {
            assert!(numbers.len() >= 2, "an axis needs two numbers: {numbers:?}");
            let ((low, start), (high, end)) = (numbers[0], numbers[numbers.len() - 1]);
            let slope = (high - low) / (end - start);
            (low - slope * start, slope / 10.0)
        };
        let (right, bottom) = (frame.left + frame.width, frame.top + frame.height);
        let below = near("middle", (frame.left - 1.0, bottom), (right + 1.0, bottom + 25.0));
        let beside = near("end", (frame.left - 20.0, frame.top - 1.0), (frame.left, bottom + 1.0));
        Ruler {
            x: line(below.into_iter().map(|(number, place)| (number, place.0)).collect()),
            y: line(beside.into_iter().map(|(number, place)| (bend(number), place.1)).collect()),
        }
    }

    /// Place to number.
    pub fn read(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.0 + self.x.1 * x, self.y.0 + self.y.1 * y)
    }
}

/// A picture read back through the axes of its panels, which have numbers from 0 (the first panel) on.
pub struct Seen {
    pub tags: Vec<Tag>,
    pub frames: Vec<Frame>,
    rulers: Vec<Ruler>,
    unbend: Vec<fn(f64) -> f64>,
}

impl Seen {
    pub fn of(picture: &Picture) -> Self {
        Seen::bent(picture, usize::MAX, |y| y, |y| y)
    }

    /// With one panel whose y axis is linear after `bend`, which `unbend` turns back.
    pub fn bent(picture: &Picture, panel: usize, bend: fn(f64) -> f64, unbend: fn(f64) -> f64) -> Self {
        let (tags, frames) = (tags(&picture.svg().unwrap()), picture.frames());
        let straight: fn(f64) -> f64 = |y| y;
        let choose = |chosen: fn(f64) -> f64| -> Vec<fn(f64) -> f64> {
            (0..frames.len()).map(|number| if number == panel { chosen } else { straight }).collect()
        };
        let (bend, unbend) = (choose(bend), choose(unbend));
        let ruler = |(frame, bend): (&Frame, &fn(f64) -> f64)| {
            let ruler = Ruler::beside(&tags, frame, *bend);
            let corner = |x: f64, y: f64| ruler.read((10.0 * (frame.left + x), 10.0 * (frame.top + y)));
            let (low, high) = (corner(0.0, frame.height), corner(frame.width, 0.0));
            let (x, y) = (frame.x.1 - frame.x.0, bend(frame.y.1) - bend(frame.y.0));
            close(low.0, frame.x.0, 2e-3 * x);
            close(high.0, frame.x.1, 2e-3 * x);
            close(low.1, bend(frame.y.0), 5e-3 * y);
            close(high.1, bend(frame.y.1), 5e-3 * y);
            ruler
        };
        let rulers = frames.iter().zip(&bend).map(ruler).collect();
        Seen { tags, frames, rulers, unbend }
    }

    fn read(&self, panel: usize, place: Point) -> Point {
        let (x, y) = self.rulers[panel].read(place);
        (x, self.unbend[panel](y))
    }

    /// Whether a place in drawing units lies in a panel or at its border.
    fn inside(&self, panel: usize, (x, y): Point) -> bool {
        let frame = &self.frames[panel];
        let (x, y) = (x / 10.0 - frame.left, y / 10.0 - frame.top);
        (-0.1..=frame.width + 0.1).contains(&x) && (-0.1..=frame.height + 0.1).contains(&y)
    }

    fn shapes(&self, panel: usize, name: &str, paint: &str, colour: &str) -> Vec<Vec<Point>> {
        let fits = |tag: &&Tag| tag.name == name && tag.has(paint, colour);
        let places = self.tags.iter().filter(fits).map(Tag::points);
        let inside = |places: &Vec<Point>| places.iter().all(|place| self.inside(panel, *place));
        let read = |places: Vec<Point>| places.into_iter().map(|place| self.read(panel, place)).collect();
        places.filter(inside).map(read).collect()
    }

    /// Lines of a colour; each dash is one.
    pub fn lines(&self, panel: usize, colour: &str) -> Vec<Vec<Point>> {
        self.shapes(panel, "polyline", "stroke", colour)
    }

    /// Filled shapes of a colour.
    pub fn areas(&self, panel: usize, colour: &str) -> Vec<Vec<Point>> {
        self.shapes(panel, "polygon", "fill", colour)
    }

    /// Filled rectangles of a colour: lower left and upper right corner.
    pub fn bars(&self, panel: usize, colour: &str) -> Vec<(Point, Point)> {
        let corners = |tag: &Tag| {
            let (left, top) = (tag.number("x"), tag.number("y"));
            ((left, top + tag.number("height")), (left + tag.number("width"), top))
        };
        let places = self.tags.iter().filter(|tag| tag.name == "rect" && tag.has("fill", colour)).map(corners);
        places
            .filter(|(low, high)| self.inside(panel, *low) && self.inside(panel, *high))
            .map(|(low, high)| (self.read(panel, low), self.read(panel, high)))
            .collect()
    }

    /// Dots of a colour.
    pub fn dots(&self, panel: usize, colour: &str) -> Vec<Point> {
        let places = self.tags.iter().filter(|tag| tag.name == "circle" && tag.has("fill", colour));
        let places = places.map(|tag| (tag.number("cx"), tag.number("cy")));
        places.filter(|place| self.inside(panel, *place)).map(|place| self.read(panel, place)).collect()
    }

    /// Where words stand, through the axes of a panel.
    pub fn words(&self, panel: usize, words: &str) -> Vec<Point> {
        let texts = self.tags.iter().filter(|tag| tag.name == "text" && tag.text == words);
        texts.map(|tag| self.read(panel, (tag.number("x"), tag.number("y")))).collect()
    }

    /// Whether the picture has these words somewhere.
    pub fn says(&self, words: &str) -> bool {
        self.tags.iter().any(|tag| tag.name == "text" && tag.text == words)
    }
}

/// A decoded PNG.
pub struct Dots {
    pub width: u32,
    pub height: u32,
    pub rgb: Vec<u8>,
}

pub fn dots(bytes: &[u8]) -> Dots {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((frame.color_type, frame.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    Dots { width: frame.width, height: frame.height, rgb }
}

impl Dots {
    /// How many dots of a rectangle are nearly black: ink of letters, since all else is coloured or light.
    pub fn ink(&self, columns: std::ops::Range<u32>, rows: std::ops::Range<u32>) -> usize {
        let dot = |x: u32, y: u32| &self.rgb[3 * (y * self.width + x) as usize..][..3];
        rows.flat_map(|y| columns.clone().map(move |x| (x, y)))
            .filter(|(x, y)| dot(*x, *y).iter().all(|value| *value < 0x60))
            .count()
    }
}
