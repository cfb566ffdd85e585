//! The data's own rectangle between the axes. Numbers go in; what lies outside is cut at the border.

use plotters::element::{Circle, Polygon, Rectangle};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use crate::axes::Axis;
use crate::clip::clipped;
use crate::curve::Point;
use crate::error::Result;
use crate::legend::DOT;
use crate::palette::{FRAME, INK, PAPER};
use crate::picture::{Area, Frame, Scale};
use crate::simplify::simplified;
use crate::stroke::Stroke;
use crate::text::{SMALL, text, width};

/// A panel that is ready for its data.
pub(crate) struct Panel<'a, DB: DrawingBackend> {
    area: Area<DB>,
    frame: Frame,
    axes: (Axis<'a>, Axis<'a>),
    pub scale: Scale,
}

/// How far a line may pass from its points, in pixels: less than can be seen.
const TOLERANCE: f64 = 0.05;
/// Half of the height of a whisker's ends, in pixels.
pub(crate) const WHISKER_END: f64 = 4.0;
/// From one line of a hatching to the next, in pixels.
const HATCH: f64 = 7.0;
/// The lines of a hatching.
pub(crate) const HATCHING: Stroke = Stroke::solid(FRAME, 0.75).covering(0.6);

/// The line at a chosen threshold.
pub(crate) const CHOSEN: Stroke = Stroke::solid(INK, 1.5);
/// What to compare with: no skill, or a perfect match.
pub(crate) const REFERENCE: Stroke = Stroke::solid(FRAME, 1.25).dashed(5.0, 4.0);

impl<'a, DB: DrawingBackend> Panel<'a, DB> {
    /// Over this frame of a figure.
    pub fn new(area: Area<DB>, frame: Frame, axes: (Axis<'a>, Axis<'a>), scale: Scale) -> Self {
        Panel { area, frame, axes, scale }
    }

    /// The place of a point in drawing units, inside the frame or not.
    pub fn place(&self, (x, y): Point) -> Point {
        let frame = &self.frame;
        let across = frame.left + frame.width * self.axes.0.share(x);
        let down = frame.top + frame.height * (1.0 - self.axes.1.share(y));
        (across * self.scale.factor(), down * self.scale.factor())
    }

    /// Width and height of a pixel in numbers of the axes, where these are linear.
    pub fn pixel(&self) -> (f64, f64) {
        let (x, y) = &self.axes;
        ((x.to - x.from) / self.frame.width, (y.to - y.from) / self.frame.height)
    }

    /// Corners of the frame in drawing units: left and top, right and bottom.
    fn corners(&self) -> (Point, Point) {
        let (x, y) = &self.axes;
        (self.place((x.from, y.to)), self.place((x.to, y.from)))
    }

    /// A line through points, as few of them as it needs, and only what lies inside.
    pub fn line(&self, stroke: Stroke, line: &[Point]) -> Result<()> {
        let placed: Vec<Point> = line.iter().map(|point| self.place(*point)).collect();
        self.placed_line(stroke, &placed)
    }

    fn placed_line(&self, stroke: Stroke, placed: &[Point]) -> Result<()> {
        for piece in clipped(placed, self.corners()) {
            let few = simplified(&piece, TOLERANCE * self.scale.factor());
            stroke.draw_on(&self.area, few.into_iter().map(rounded).collect(), self.scale)?;
        }
        Ok(())
    }

    /// A filled shape; corners outside are moved to the border.
    pub fn fill(&self, colour: RGBColor, cover: f64, corners: &[Point]) -> Result<()> {
        let (upper_left, lower_right) = self.corners();
        let inside = |(x, y): Point| (x.clamp(upper_left.0, lower_right.0), y.clamp(upper_left.1, lower_right.1));
        let placed: Vec<Point> = corners.iter().map(|point| inside(self.place(*point))).collect();
        let few: Vec<(i32, i32)> =
            simplified(&placed, TOLERANCE * self.scale.factor()).into_iter().map(rounded).collect();
        if few.len() > 2 {
            self.area.draw(&Polygon::new(few, colour.mix(cover).filled()))?;
        }
        Ok(())
    }

    /// A filled rectangle between two corners.
    pub fn bar(&self, colour: RGBColor, cover: f64, (low, high): (Point, Point)) -> Result<()> {
        let (upper_left, lower_right) = self.corners();
        let inside = |(x, y): Point| (x.clamp(upper_left.0, lower_right.0), y.clamp(upper_left.1, lower_right.1));
        let ((left, bottom), (right, top)) = (inside(self.place(low)), inside(self.place(high)));
        let corners = [rounded((left, top)), rounded((right, bottom))];
        self.area.draw(&Rectangle::new(corners, colour.mix(cover).filled()))?;
        Ok(())
    }

    /// A band over the whole height.
    pub fn band(&self, colour: RGBColor, cover: f64, (from, to): (f64, f64)) -> Result<()> {
        let y = &self.axes.1;
        self.bar(colour, cover, ((from, y.from), (to, y.to)))
    }

    /// Slanting lines over the whole height.
    pub fn hatch(&self, (from, to): (f64, f64)) -> Result<()> {
        let ((left, top), (right, bottom)) = self.corners();
        let border = |x: f64| self.place((x, self.axes.1.from)).0.clamp(left, right);
        let (left, right) = (border(from), border(to));
        let (step, rise) = (HATCH * self.scale.factor(), bottom - top);
        // The lines of all hatchings lie on one raster, so that neighbours join.
        let mut start = ((left - rise) / step).floor() * step;
        while start < right {
            for piece in clipped(&[(start, bottom), (start + rise, top)], ((left, top), (right, bottom))) {
                HATCHING.draw_on(&self.area, piece.into_iter().map(rounded).collect(), self.scale)?;
            }
            start += step;
        }
        Ok(())
    }

    /// A line over the whole height.
    pub fn upright(&self, stroke: Stroke, x: f64) -> Result<()> {
        self.line(stroke, &[(x, self.axes.1.from), (x, self.axes.1.to)])
    }

    /// A line over the whole width.
    pub fn level(&self, stroke: Stroke, y: f64) -> Result<()> {
        self.line(stroke, &[(self.axes.0.from, y), (self.axes.0.to, y)])
    }

    /// A level whisker; where it leaves the axis it ends without its bar.
    pub fn whisker(&self, stroke: Stroke, y: f64, (low, high): (f64, f64)) -> Result<()> {
        self.line(stroke, &[(low, y), (high, y)])?;
        for end in [low, high] {
            let (x, y) = self.place((end, y));
            let half = WHISKER_END * self.scale.factor();
            self.placed_line(stroke, &[(x, y - half), (x, y + half)])?;
        }
        Ok(())
    }

    /// An upright whisker; where it leaves the axis it ends without its bar.
    pub fn upright_whisker(&self, stroke: Stroke, x: f64, (low, high): (f64, f64)) -> Result<()> {
        self.line(stroke, &[(x, low), (x, high)])?;
        for end in [low, high] {
            let (x, y) = self.place((x, end));
            let half = WHISKER_END * self.scale.factor();
            self.placed_line(stroke, &[(x - half, y), (x + half, y)])?;
        }
        Ok(())
    }

    /// A dot of this radius in pixels, set off from what is behind it; none where it lies outside.
    pub fn dot(&self, colour: RGBColor, radius: f64, point: Point) -> Result<()> {
        let (placed, ((left, top), (right, bottom))) = (self.place(point), self.corners());
        // Half a unit, since the border itself may be off by rounding.
        let inside = |value: f64, low: f64, high: f64| (low - 0.5..=high + 0.5).contains(&value);
        if inside(placed.0, left, right) && inside(placed.1, top, bottom) {
            for (colour, radius) in [(PAPER, radius + 1.25), (colour, radius)] {
                self.area.draw(&Circle::new(rounded(placed), self.scale.units(radius), colour.filled()))?;
            }
        }
        Ok(())
    }

    /// The chosen threshold, with its number above.
    pub fn chosen(&self, threshold: Option<f64>) -> Result<()> {
        let Some(threshold) = threshold.filter(|threshold| threshold.is_finite()) else { return Ok(()) };
        self.upright(CHOSEN, threshold)?;
        let words = format!("{threshold:.4}");
        self.flag(words.trim_end_matches('0').trim_end_matches('.'), threshold)
    }

    /// The chosen threshold in a panel whose axes are not the threshold's.
    pub fn chosen_point(&self, point: Option<Point>) -> Result<()> {
        point.map_or(Ok(()), |point| self.dot(INK, DOT, point))
    }

    /// Words above the frame at this x, moved where they would stand out to the side; see [`crate::axes::Axes::with_flags`].
    pub fn flag(&self, words: &str, x: f64) -> Result<()> {
        let style = text(self.scale, SMALL, HPos::Center, VPos::Center);
        let ((left, top), (right, _)) = self.corners();
        let (half, reach) = (0.5 * f64::from(width(&style, words)), 12.0 * self.scale.factor());
        let x = self.place((x, self.axes.1.to)).0.clamp(left, right).min(right + reach - half).max(left + half - reach);
        self.area.draw_text(words, &style, rounded((x, top - 8.0 * self.scale.factor())))?;
        Ok(())
    }

    /// Words with their middle at a point, moved by pixels to the right and down.
    pub fn beside(&self, words: &str, em: f64, point: Point, (right, down): (f64, f64)) -> Result<()> {
        let style = text(self.scale, em, HPos::Center, VPos::Center);
        let (x, y) = self.place(point);
        let factor = self.scale.factor();
        self.area.draw_text(words, &style, rounded((x + right * factor, y + down * factor)))?;
        Ok(())
    }

    /// Words with their middle at a point, on paper of their own: lines stop behind them.
    pub fn words(&self, words: &str, em: f64, point: Point) -> Result<()> {
        let style = text(self.scale, em, HPos::Center, VPos::Center);
        let (x, y) = rounded(self.place(point));
        let (half, high) = (width(&style, words) / 2 + self.scale.units(1.5), self.scale.units(0.55 * em));
        self.area.draw(&Rectangle::new([(x - half, y - high), (x + half, y + high)], PAPER.filled()))?;
        self.beside(words, em, point, (0.0, 0.0))
    }

    /// Words in the upper left corner; the grid stops behind them.
    pub fn corner(&self, words: &str) -> Result<()> {
        let style = text(self.scale, SMALL, HPos::Left, VPos::Center);
        let units = |pixels: f64| self.scale.units(pixels);
        let (left, top) = rounded(self.corners().0);
        let (from, middle, half) = (left + units(6.0), top + units(10.0), units(8.0));
        let to = from + width(&style, words) + units(3.0);
        self.area.draw(&Rectangle::new([(left + units(3.0), middle - half), (to, middle + half)], PAPER.filled()))?;
        self.area.draw_text(words, &style, (from, middle))?;
        Ok(())
    }
}

fn rounded((x, y): Point) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}
