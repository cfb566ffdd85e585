//! A wrapper of plotters' bitmap backend that corrects three of its defects.
//!
//! plotters centres text by a box that differs from the bounding box of the glyphs: with `ab_glyph`, text appears a fifth of a line too high. This
//! backend moves the text down, or sideways when the text is rotated.
//!
//! plotters also draws thick lines with unlimited mitre joins, which produce spikes where a line turns back sharply. This backend draws round
//! joins, as in the SVG.
//!
//! plotters draws thick diagonal lines too thin (see `segment_corners`). This backend draws them with the full thickness. Everything else is passed
//! on to plotters unchanged.

use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind};

/// plotters' bitmap backend with corrected text positions, line joins and thicknesses of lines.
pub(crate) struct Bitmap<'a>(pub BitMapBackend<'a>);

/// Downward shift of text as a fraction of the text size, chosen so that digits are centred at the position of the text.
const TEXT_SHIFT: f64 = 0.2;

/// The result of a drawing method of plotters' bitmap backend.
type DrawResult<'a> = Result<(), DrawingErrorKind<<BitMapBackend<'a> as DrawingBackend>::ErrorType>>;

// A shape for which this `impl` has no method, such as a circle, is drawn by the default method of `DrawingBackend`, as in plotters' own
// bitmap backend.
impl<'a> DrawingBackend for Bitmap<'a> {
    type ErrorType = <BitMapBackend<'a> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }
    fn ensure_prepared(&mut self) -> DrawResult<'a> {
        self.0.ensure_prepared()
    }
    fn present(&mut self) -> DrawResult<'a> {
        self.0.present()
    }
    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> DrawResult<'a> {
        self.0.draw_pixel(point, colour)
    }
    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> DrawResult<'a> {
        self.0.draw_line(from, to, style)
    }
    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> DrawResult<'a> {
        self.0.draw_rect(from, to, style, fill)
    }
    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult<'a> {
        let mut points: Vec<BackendCoord> = path.into_iter().collect();
        points.dedup();
        for pair in points.windows(2) {
            if style.stroke_width() > 1 {
                self.0.fill_polygon(segment_corners(pair[0], pair[1], style.stroke_width()), style)?;
            } else {
                self.0.draw_line(pair[0], pair[1], style)?;
            }
        }
        for joint in points.iter().skip(1).rev().skip(1) {
            self.0.draw_circle(*joint, style.stroke_width() / 2, style, true)?;
        }
        Ok(())
    }
    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, position: BackendCoord) -> DrawResult<'a> {
        let (x, y) = style.transform().transform(0, (TEXT_SHIFT * style.size()).round() as i32);
        self.0.draw_text(text, style, (position.0 + x, position.1 + y))
    }
}

/// The four corners of a thick line segment, rounded to integers. plotters truncates them to integers instead, which makes diagonal lines thinner
/// than horizontal lines. A segment of odd width extends one unit farther on one side of its centre line than on the other side.
fn segment_corners(from: BackendCoord, to: BackendCoord, width: u32) -> [BackendCoord; 4] {
    let along = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let scale = f64::from(width) / along.0.hypot(along.1);
    let across = ((-along.1 * scale).round() as i32, (along.0 * scale).round() as i32);
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
    fn a_line_has_the_same_thickness_in_every_direction() {
        assert_eq!(segment_corners((0, 0), (10, 0), 8), [(0, 4), (10, 4), (10, -4), (0, -4)]);
        assert_eq!(segment_corners((0, 0), (0, 10), 8), [(-4, 0), (-4, 10), (4, 10), (4, 0)]);
        // A thickness of 8, measured at right angles to a diagonal line, is 8/√2 = 5.7 units along each axis, rounded to 6.
        assert_eq!(segment_corners((0, 0), (10, 10), 8), [(-3, 3), (7, 13), (13, 7), (3, -3)]);
        assert_eq!(segment_corners((0, 0), (7, 0), 5), [(0, 2), (7, 2), (7, -3), (0, -3)]);
        assert_eq!(segment_corners((0, 0), (0, 7), 5), [(-2, 0), (-2, 7), (3, 7), (3, 0)]);
    }
}
