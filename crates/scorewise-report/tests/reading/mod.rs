//! Reads a picture back: tags of the SVG, numbers through its own axes, dots of the PNG.

use std::collections::HashMap;

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

    /// Place to number.
    pub fn read(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.0 + self.x.1 * x, self.y.0 + self.y.1 * y)
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
