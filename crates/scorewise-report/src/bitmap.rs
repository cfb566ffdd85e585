//! plotters' bitmap, with its text where it belongs.
//!
//! plotters centres a line of text by a box that is not the glyphs' own: with `ab_glyph` they come out a fifth of a line too
//! high, beside their ticks. Here they are moved down, along the text where it is turned.
//!
//! It also runs the edges of a thick line to where they meet, however far that is: where a line turns back, a spike stands out
//! that no data have. Here lines have round joins, as the SVG has. All else goes to plotters as it is.

use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind};

/// A bitmap to draw on.
pub(crate) struct Bitmap<'a>(pub BitMapBackend<'a>);

/// How far down, of the size that plotters gives the text: digits then have their middle at the anchor.
const DOWN: f64 = 0.2;

type Drawn<'a> = Result<(), DrawingErrorKind<<BitMapBackend<'a> as DrawingBackend>::ErrorType>>;

// Not passed on are shapes that plotters' bitmap has no faster way for either.
impl<'a> DrawingBackend for Bitmap<'a> {
    type ErrorType = <BitMapBackend<'a> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }
    fn ensure_prepared(&mut self) -> Drawn<'a> {
        self.0.ensure_prepared()
    }
    fn present(&mut self) -> Drawn<'a> {
        self.0.present()
    }
    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> Drawn<'a> {
        self.0.draw_pixel(point, colour)
    }
    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn<'a> {
        self.0.draw_line(from, to, style)
    }
    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Drawn<'a> {
        self.0.draw_rect(from, to, style, fill)
    }
    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn<'a> {
        let mut places: Vec<BackendCoord> = path.into_iter().collect();
        places.dedup();
        for pair in places.windows(2) {
            if style.stroke_width() > 1 {
                self.0.fill_polygon(outline(pair[0], pair[1], style.stroke_width()), style)?;
            } else {
                self.0.draw_line(pair[0], pair[1], style)?;
            }
        }
        for joint in places.iter().skip(1).rev().skip(1) {
            self.0.draw_circle(*joint, style.stroke_width() / 2, style, true)?;
        }
        Ok(())
    }
    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, place: BackendCoord) -> Drawn<'a> {
        let (x, y) = style.transform().transform(0, (DOWN * style.size()).round() as i32);
        self.0.draw_text(text, style, (place.0 + x, place.1 + y))
    }
}

/// The corners of a thick line. plotters' own are cut to whole units, which makes slanting lines a quarter thinner than level
/// ones; these are rounded, and of an odd width one side gets the odd unit.
fn outline(from: BackendCoord, to: BackendCoord, width: u32) -> [BackendCoord; 4] {
    let along = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let share = f64::from(width) / along.0.hypot(along.1);
    let across = ((-along.1 * share).round() as i32, (along.0 * share).round() as i32);
    let one = (across.0 / 2, across.1 / 2);
    let other = (across.0 - one.0, across.1 - one.1);
    [
        (from.0 + one.0, from.1 + one.1),
        (to.0 + one.0, to.1 + one.1),
        (to.0 - other.0, to.1 - other.1),
        (from.0 - other.0, from.1 - other.1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_thick_in_every_direction() {
        assert_eq!(outline((0, 0), (10, 0), 8), [(0, 4), (10, 4), (10, -4), (0, -4)]);
        assert_eq!(outline((0, 0), (0, 10), 8), [(-4, 0), (-4, 10), (4, 10), (4, 0)]);
        // 8/√2 is 5.7.
        assert_eq!(outline((0, 0), (10, 10), 8), [(-3, 3), (7, 13), (13, 7), (3, -3)]);
        assert_eq!(outline((0, 0), (7, 0), 5), [(0, 2), (7, 2), (7, -3), (0, -3)]);
        assert_eq!(outline((0, 0), (0, 7), 5), [(-2, 0), (-2, 7), (3, 7), (3, 0)]);
    }
}
