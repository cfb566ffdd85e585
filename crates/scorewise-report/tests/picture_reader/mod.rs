//! Reads the data back from a picture: parses the SVG, converts positions to axis coordinates by means of the tick labels, and decodes the PNG.
#![allow(dead_code)] // every test file uses only a part of this module

use std::collections::HashMap;

use scorewise_report::{Frame, Picture};

pub const BLUE: &str = "#0072B2";
pub const VERMILLION: &str = "#D55E00";
pub const GREEN: &str = "#009E73";
pub const PURPLE: &str = "#CC79A7";
pub const SKY: &str = "#56B4E9";
/// Colour of text, and of marks that belong to no particular line.
pub const INK: &str = "#222222";
/// Colour of axes and reference lines.
pub const FRAME: &str = "#808080";

/// A point (x, y), in axis coordinates or in drawing units.
pub type PlotPoint = (f64, f64);

/// Fails unless two numbers differ by at most `tolerance`.
pub fn assert_close(got: f64, expected: f64, tolerance: f64) {
    assert!((got - expected).abs() <= tolerance, "the value is {got}, not {expected}");
}

/// Fails unless both slices hold the same points in the same order, up to `tolerance`.
pub fn assert_points_close(got: &[PlotPoint], expected: &[PlotPoint], tolerance: f64) {
    let near = |(a, b): (&PlotPoint, &PlotPoint)| (a.0 - b.0).abs() <= tolerance && (a.1 - b.1).abs() <= tolerance;
    assert!(
        got.len() == expected.len() && got.iter().zip(expected).all(near),
        "the points are {got:?}, not {expected:?}"
    );
}

/// One SVG element.
pub struct Tag {
    pub name: String,
    pub attributes: HashMap<String, String>,
    pub text: String,
}

impl Tag {
    /// The value of an attribute as a number.
    pub fn number(&self, attribute: &str) -> f64 {
        self.attributes[attribute].parse().unwrap()
    }

    /// The points of a polyline element.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let point = |pair: &str| {
            let (x, y) = pair.split_once(',').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        };
        self.attributes["points"].split_whitespace().map(point).collect()
    }

    /// Whether an attribute has this value.
    pub fn has_attribute(&self, attribute: &str, value: &str) -> bool {
        self.attributes.get(attribute).is_some_and(|actual| actual == value)
    }
}

/// All elements of an SVG, in drawing order.
pub fn tags(svg: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    for element in svg.split('<').skip(1).filter(|element| !element.starts_with('/')) {
        let (head, text) = element.split_once('>').unwrap();
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

/// Converts positions in an SVG to the axis coordinates of one panel, by linear interpolation between the positions of two tick labels.
pub struct AxisReader {
    x: (f64, f64),
    y: (f64, f64),
}

impl AxisReader {
    /// Reads the axes of the panel between two x positions, given in drawing units.
    pub fn for_x_range(tags: &[Tag], from: f64, to: f64) -> Self {
        let numbers = |anchor: &str, side: &str| -> Vec<(f64, f64)> {
            let at_axis = |tag: &&Tag| tag.name == "text" && tag.has_attribute("text-anchor", anchor);
            let inside = |tag: &&Tag| (from..to).contains(&tag.number("x"));
            let read = |tag: &Tag| Some((tag.text.parse().ok()?, tag.number(side)));
            tags.iter().filter(at_axis).filter(inside).filter_map(read).collect()
        };
        let line = |numbers: Vec<(f64, f64)>| {
            let ((low, start), (high, end)) = (numbers[0], numbers[numbers.len() - 1]);
            let slope = (high - low) / (end - start);
            (low - slope * start, slope)
        };
        AxisReader { x: line(numbers("middle", "x")), y: line(numbers("end", "y")) }
    }

    /// Reads the axes of the panel with this `frame` from their tick labels. `transform` maps values of the y axis to a linear scale.
    pub fn for_frame(tags: &[Tag], frame: &Frame, transform: fn(f64) -> f64) -> Self {
        let labels_in = |anchor: &str, (left, top): PlotPoint, (right, bottom): PlotPoint| -> Vec<(f64, PlotPoint)> {
            tags.iter()
                .filter(|tag| tag.name == "text" && tag.has_attribute("text-anchor", anchor))
                .map(|tag| (tag, (tag.number("x") / 10.0, tag.number("y") / 10.0)))
                .filter(|(_, (x, y))| (left..=right).contains(x) && (top..=bottom).contains(y))
                .filter_map(|(tag, position)| Some((tag.text.replace('−', "-").parse().ok()?, position)))
                .collect()
        };
        let line = |numbers: Vec<PlotPoint>| {
            assert!(numbers.len() >= 2, "an axis needs at least two tick labels: {numbers:?}");
            let ((low, start), (high, end)) = (numbers[0], numbers[numbers.len() - 1]);
            let slope = (high - low) / (end - start);
            (low - slope * start, slope / 10.0)
        };
        let (right, bottom) = (frame.left + frame.width, frame.top + frame.height);
        let below = labels_in("middle", (frame.left - 1.0, bottom), (right + 1.0, bottom + 25.0));
        let beside = labels_in("end", (frame.left - 20.0, frame.top - 1.0), (frame.left, bottom + 1.0));
        AxisReader {
            x: line(below.into_iter().map(|(number, position)| (number, position.0)).collect()),
            y: line(beside.into_iter().map(|(number, position)| (transform(number), position.1)).collect()),
        }
    }

    /// Converts a position in drawing units to axis coordinates.
    pub fn to_axis_coordinates(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.0 + self.x.1 * x, self.y.0 + self.y.1 * y)
    }
}

/// A picture whose shapes can be read in axis coordinates. Panels are numbered from 0.
pub struct ReadPicture {
    pub tags: Vec<Tag>,
    pub frames: Vec<Frame>,
    readers: Vec<AxisReader>,
    inverse: Vec<fn(f64) -> f64>,
}

impl ReadPicture {
    /// Reads a picture whose axes are all linear.
    pub fn new(picture: &Picture) -> Self {
        ReadPicture::with_nonlinear_y(picture, usize::MAX, |y| y, |y| y)
    }

    /// Reads a picture in which the y axis of `panel` is not linear; `transform` makes it linear and `inverse` is the inverse function.
    pub fn with_nonlinear_y(
        picture: &Picture,
        panel: usize,
        transform: fn(f64) -> f64,
        inverse: fn(f64) -> f64,
    ) -> Self {
        let (tags, frames) = (tags(&picture.svg().unwrap()), picture.frames());
        let identity: fn(f64) -> f64 = |y| y;
        let choose = |chosen: fn(f64) -> f64| -> Vec<fn(f64) -> f64> {
            (0..frames.len()).map(|number| if number == panel { chosen } else { identity }).collect()
        };
        let (transform, inverse) = (choose(transform), choose(inverse));
        let reader = |(frame, transform): (&Frame, &fn(f64) -> f64)| {
            let reader = AxisReader::for_frame(&tags, frame, *transform);
            let corner = |x: f64, y: f64| reader.to_axis_coordinates((10.0 * (frame.left + x), 10.0 * (frame.top + y)));
            let (low, high) = (corner(0.0, frame.height), corner(frame.width, 0.0));
            let (x, y) = (frame.x.1 - frame.x.0, transform(frame.y.1) - transform(frame.y.0));
            assert_close(low.0, frame.x.0, 2e-3 * x);
            assert_close(high.0, frame.x.1, 2e-3 * x);
            assert_close(low.1, transform(frame.y.0), 5e-3 * y);
            assert_close(high.1, transform(frame.y.1), 5e-3 * y);
            reader
        };
        let readers = frames.iter().zip(&transform).map(reader).collect();
        ReadPicture { tags, frames, readers, inverse }
    }

    /// Converts a position in drawing units to the axis coordinates of a panel.
    fn to_axis_coordinates(&self, panel: usize, position: PlotPoint) -> PlotPoint {
        let (x, y) = self.readers[panel].to_axis_coordinates(position);
        (x, self.inverse[panel](y))
    }

    /// Whether a position in drawing units lies inside a panel or on its border.
    fn is_inside_panel(&self, panel: usize, (x, y): PlotPoint) -> bool {
        let frame = &self.frames[panel];
        let (x, y) = (x / 10.0 - frame.left, y / 10.0 - frame.top);
        (-0.1..=frame.width + 0.1).contains(&x) && (-0.1..=frame.height + 0.1).contains(&y)
    }

    /// The shapes with this tag name and colour inside a panel, in axis coordinates; `paint` is the attribute that holds the colour.
    fn shapes(&self, panel: usize, name: &str, paint: &str, colour: &str) -> Vec<Vec<PlotPoint>> {
        let matches = |tag: &&Tag| tag.name == name && tag.has_attribute(paint, colour);
        let positions = self.tags.iter().filter(matches).map(Tag::points);
        let inside =
            |positions: &Vec<PlotPoint>| positions.iter().all(|position| self.is_inside_panel(panel, *position));
        let read = |positions: Vec<PlotPoint>| {
            positions.into_iter().map(|position| self.to_axis_coordinates(panel, position)).collect()
        };
        positions.filter(inside).map(read).collect()
    }

    /// Lines with this colour in a panel; each dash of a dashed line counts as one line.
    pub fn lines(&self, panel: usize, colour: &str) -> Vec<Vec<PlotPoint>> {
        self.shapes(panel, "polyline", "stroke", colour)
    }

    /// Filled polygons with this colour in a panel.
    pub fn areas(&self, panel: usize, colour: &str) -> Vec<Vec<PlotPoint>> {
        self.shapes(panel, "polygon", "fill", colour)
    }

    /// Filled rectangles with this colour in a panel, each as its lower left and upper right corner.
    pub fn bars(&self, panel: usize, colour: &str) -> Vec<(PlotPoint, PlotPoint)> {
        let corners = |tag: &Tag| {
            let (left, top) = (tag.number("x"), tag.number("y"));
            ((left, top + tag.number("height")), (left + tag.number("width"), top))
        };
        let positions =
            self.tags.iter().filter(|tag| tag.name == "rect" && tag.has_attribute("fill", colour)).map(corners);
        positions
            .filter(|(low, high)| self.is_inside_panel(panel, *low) && self.is_inside_panel(panel, *high))
            .map(|(low, high)| (self.to_axis_coordinates(panel, low), self.to_axis_coordinates(panel, high)))
            .collect()
    }

    /// Centres of the dots with this colour in a panel.
    pub fn dots(&self, panel: usize, colour: &str) -> Vec<PlotPoint> {
        let positions = self.tags.iter().filter(|tag| tag.name == "circle" && tag.has_attribute("fill", colour));
        let positions = positions.map(|tag| (tag.number("cx"), tag.number("cy")));
        positions
            .filter(|position| self.is_inside_panel(panel, *position))
            .map(|position| self.to_axis_coordinates(panel, position))
            .collect()
    }

    /// The positions of all texts that equal `label`, in the axis coordinates of a panel.
    pub fn label_positions(&self, panel: usize, label: &str) -> Vec<PlotPoint> {
        let texts = self.tags.iter().filter(|tag| tag.name == "text" && tag.text == label);
        texts.map(|tag| self.to_axis_coordinates(panel, (tag.number("x"), tag.number("y")))).collect()
    }

    /// Whether the picture contains this text.
    pub fn has_text(&self, text: &str) -> bool {
        self.tags.iter().any(|tag| tag.name == "text" && tag.text == text)
    }
}

/// A decoded PNG image.
pub struct DecodedPng {
    pub width: u32,
    pub height: u32,
    pub rgb: Vec<u8>,
}

/// Decodes a PNG with 8-bit RGB pixels.
pub fn decode_png(bytes: &[u8]) -> DecodedPng {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut rgb).unwrap();
    assert_eq!((frame.color_type, frame.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    DecodedPng { width: frame.width, height: frame.height, rgb }
}

impl DecodedPng {
    /// Number of nearly black pixels in a rectangle. Only text is that dark; everything else is coloured or light.
    pub fn dark_pixels(&self, columns: std::ops::Range<u32>, rows: std::ops::Range<u32>) -> usize {
        let pixel = |x: u32, y: u32| &self.rgb[3 * (y * self.width + x) as usize..][..3];
        rows.flat_map(|y| columns.clone().map(move |x| (x, y)))
            .filter(|(x, y)| pixel(*x, *y).iter().all(|value| *value < 0x60))
            .count()
    }
}
