//! The plotting area of a panel. Data are given in axis coordinates. Lines and areas are clipped at the borders of the plotting area.

use plotters::element::{Circle, Polygon, Rectangle};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use crate::axes::Axis;
use crate::clip::clipped_pieces;
use crate::curve::PlotPoint;
use crate::error::Result;
use crate::legend::DOT_RADIUS;
use crate::palette::{FRAME, INK, PAPER};
use crate::picture::{Area, Frame, PixelScale};
use crate::simplify::simplified_line;
use crate::stroke::Stroke;
use crate::text::{LABEL_SIZE, text_style, text_width};

/// The plotting area of a panel whose axes have been drawn.
pub(crate) struct Panel<'a, DB: DrawingBackend> {
    area: Area<DB>,
    frame: Frame,
    axes: (Axis<'a>, Axis<'a>),
    pub scale: PixelScale,
}

/// How far a simplified line may be from the original line, in pixels; a distance too small to be visible.
const SIMPLIFICATION_TOLERANCE: f64 = 0.05;
/// Half the length of the end caps of an error bar, in pixels.
pub(crate) const CAP_HALF_LENGTH: f64 = 4.0;
/// Horizontal distance between two hatching lines, in pixels.
const HATCH_SPACING: f64 = 7.0;
/// Style of hatching lines.
pub(crate) const HATCH_STROKE: Stroke = Stroke::solid(FRAME, 0.75).with_opacity(0.6);

/// Style of the line at the chosen threshold.
pub(crate) const CHOSEN_STROKE: Stroke = Stroke::solid(INK, 1.5);
/// Style of reference lines, such as the line of a forecast without skill or of a perfectly reliable forecast.
pub(crate) const REFERENCE_STROKE: Stroke = Stroke::solid(FRAME, 1.25).dashed(5.0, 4.0);

impl<'a, DB: DrawingBackend> Panel<'a, DB> {
    /// Creates a plotting area at this position in the figure, with these x and y axes.
    pub fn new(area: Area<DB>, frame: Frame, axes: (Axis<'a>, Axis<'a>), scale: PixelScale) -> Self {
        Panel { area, frame, axes, scale }
    }

    /// Converts axis coordinates to drawing units, without clipping.
    pub fn to_units(&self, (x, y): PlotPoint) -> PlotPoint {
        let frame = &self.frame;
        let across = frame.left + frame.width * self.axes.0.relative_position(x);
        let down = frame.top + frame.height * (1.0 - self.axes.1.relative_position(y));
        (across * self.scale.factor(), down * self.scale.factor())
    }

    /// Width and height of a pixel in axis coordinates; valid for linear axes only.
    pub fn pixel_size(&self) -> (f64, f64) {
        let (x, y) = &self.axes;
        ((x.to - x.from) / self.frame.width, (y.to - y.from) / self.frame.height)
    }

    /// The upper left and the lower right corner of the plotting area, in drawing units.
    fn corners(&self) -> (PlotPoint, PlotPoint) {
        let (x, y) = &self.axes;
        (self.to_units((x.from, y.to)), self.to_units((x.to, y.from)))
    }

    /// Draws a line given in axis coordinates, after clipping and simplification.
    pub fn draw_line(&self, stroke: Stroke, line: &[PlotPoint]) -> Result<()> {
        let in_units: Vec<PlotPoint> = line.iter().map(|point| self.to_units(*point)).collect();
        self.draw_line_in_units(stroke, &in_units)
    }

    /// Draws a line given in drawing units, after clipping and simplification.
    fn draw_line_in_units(&self, stroke: Stroke, in_units: &[PlotPoint]) -> Result<()> {
        for piece in clipped_pieces(in_units, self.corners()) {
            let points = simplified_line(&piece, SIMPLIFICATION_TOLERANCE * self.scale.factor());
            stroke.draw_on(&self.area, points.into_iter().map(rounded_to_units).collect(), self.scale)?;
        }
        Ok(())
    }

    /// Draws a filled polygon given in axis coordinates; corners outside the plotting area are moved to its border.
    pub fn fill_polygon(&self, colour: RGBColor, opacity: f64, corners: &[PlotPoint]) -> Result<()> {
        let (upper_left, lower_right) = self.corners();
        let inside = |(x, y): PlotPoint| (x.clamp(upper_left.0, lower_right.0), y.clamp(upper_left.1, lower_right.1));
        let in_units: Vec<PlotPoint> = corners.iter().map(|point| inside(self.to_units(*point))).collect();
        let points: Vec<(i32, i32)> = simplified_line(&in_units, SIMPLIFICATION_TOLERANCE * self.scale.factor())
            .into_iter()
            .map(rounded_to_units)
            .collect();
        if points.len() > 2 {
            self.area.draw(&Polygon::new(points, colour.mix(opacity).filled()))?;
        }
        Ok(())
    }

    /// Draws a filled rectangle between two corners in axis coordinates.
    pub fn fill_rectangle(&self, colour: RGBColor, opacity: f64, (low, high): (PlotPoint, PlotPoint)) -> Result<()> {
        let (upper_left, lower_right) = self.corners();
        let inside = |(x, y): PlotPoint| (x.clamp(upper_left.0, lower_right.0), y.clamp(upper_left.1, lower_right.1));
        let ((left, bottom), (right, top)) = (inside(self.to_units(low)), inside(self.to_units(high)));
        let corners = [rounded_to_units((left, top)), rounded_to_units((right, bottom))];
        self.area.draw(&Rectangle::new(corners, colour.mix(opacity).filled()))?;
        Ok(())
    }

    /// Draws a filled vertical band over the whole height of the plotting area.
    pub fn fill_vertical_band(&self, colour: RGBColor, opacity: f64, (from, to): (f64, f64)) -> Result<()> {
        let y = &self.axes.1;
        self.fill_rectangle(colour, opacity, ((from, y.from), (to, y.to)))
    }

    /// Draws diagonal hatching between two x values, over the whole height of the plotting area.
    pub fn draw_hatching(&self, (from, to): (f64, f64)) -> Result<()> {
        let ((left, top), (right, bottom)) = self.corners();
        let border = |x: f64| self.to_units((x, self.axes.1.from)).0.clamp(left, right);
        let (left, right) = (border(from), border(to));
        let (step, rise) = (HATCH_SPACING * self.scale.factor(), bottom - top);
        // The hatching lines of all ranges start at multiples of `step`, so that the lines of adjacent ranges continue each other.
        let mut start = ((left - rise) / step).floor() * step;
        while start < right {
            for piece in clipped_pieces(&[(start, bottom), (start + rise, top)], ((left, top), (right, bottom))) {
                HATCH_STROKE.draw_on(&self.area, piece.into_iter().map(rounded_to_units).collect(), self.scale)?;
            }
            start += step;
        }
        Ok(())
    }

    /// Draws a vertical line over the whole height of the plotting area.
    pub fn draw_vertical_line(&self, stroke: Stroke, x: f64) -> Result<()> {
        self.draw_line(stroke, &[(x, self.axes.1.from), (x, self.axes.1.to)])
    }

    /// Draws a horizontal line over the whole width of the plotting area.
    pub fn draw_horizontal_line(&self, stroke: Stroke, y: f64) -> Result<()> {
        self.draw_line(stroke, &[(self.axes.0.from, y), (self.axes.0.to, y)])
    }

    /// Draws a horizontal error bar. An end outside the plotting area has no cap.
    pub fn draw_horizontal_whisker(&self, stroke: Stroke, y: f64, (low, high): (f64, f64)) -> Result<()> {
        self.draw_line(stroke, &[(low, y), (high, y)])?;
        for end in [low, high] {
            let (x, y) = self.to_units((end, y));
            let half = CAP_HALF_LENGTH * self.scale.factor();
            self.draw_line_in_units(stroke, &[(x, y - half), (x, y + half)])?;
        }
        Ok(())
    }

    /// Draws a vertical error bar. An end outside the plotting area has no cap.
    pub fn draw_vertical_whisker(&self, stroke: Stroke, x: f64, (low, high): (f64, f64)) -> Result<()> {
        self.draw_line(stroke, &[(x, low), (x, high)])?;
        for end in [low, high] {
            let (x, y) = self.to_units((x, end));
            let half = CAP_HALF_LENGTH * self.scale.factor();
            self.draw_line_in_units(stroke, &[(x - half, y), (x + half, y)])?;
        }
        Ok(())
    }

    /// Draws a dot with a white rim; the radius is in pixels. A point outside the plotting area is not drawn.
    pub fn draw_dot(&self, colour: RGBColor, radius: f64, point: PlotPoint) -> Result<()> {
        let (in_units, ((left, top), (right, bottom))) = (self.to_units(point), self.corners());
        // A point may lie up to half a drawing unit outside, because all positions are rounded to whole units when they are drawn.
        let inside = |value: f64, low: f64, high: f64| (low - 0.5..=high + 0.5).contains(&value);
        if inside(in_units.0, left, right) && inside(in_units.1, top, bottom) {
            for (colour, radius) in [(PAPER, radius + 1.25), (colour, radius)] {
                self.area.draw(&Circle::new(rounded_to_units(in_units), self.scale.units(radius), colour.filled()))?;
            }
        }
        Ok(())
    }

    /// Draws a vertical line at the chosen threshold, with the threshold as a number above it.
    pub fn draw_chosen_threshold(&self, threshold: Option<f64>) -> Result<()> {
        let Some(threshold) = threshold.filter(|threshold| threshold.is_finite()) else { return Ok(()) };
        self.draw_vertical_line(CHOSEN_STROKE, threshold)?;
        let number = format!("{threshold:.4}");
        self.draw_label_above(number.trim_end_matches('0').trim_end_matches('.'), threshold)
    }

    /// Draws a dot at the point that belongs to the chosen threshold, in panels whose x axis does not show the threshold.
    pub fn draw_chosen_point(&self, point: Option<PlotPoint>) -> Result<()> {
        point.map_or(Ok(()), |point| self.draw_dot(INK, DOT_RADIUS, point))
    }

    /// Draws a label above the plotting area at this x. A label that would extend beyond the panel is shifted sideways. The axes must reserve
    /// space for the label (see [`crate::axes::Axes::with_space_for_label`]).
    pub fn draw_label_above(&self, label: &str, x: f64) -> Result<()> {
        let style = text_style(self.scale, LABEL_SIZE, HPos::Center, VPos::Center);
        let ((left, top), (right, _)) = self.corners();
        let (half, overhang) = (0.5 * f64::from(text_width(&style, label)), 12.0 * self.scale.factor());
        let x = self
            .to_units((x, self.axes.1.to))
            .0
            .clamp(left, right)
            .min(right + overhang - half)
            .max(left + half - overhang);
        self.area.draw_text(label, &style, rounded_to_units((x, top - 8.0 * self.scale.factor())))?;
        Ok(())
    }

    /// Draws a label that is centred at a point and then shifted to the right and down by the given numbers of pixels; `em` is the text size in
    /// pixels.
    pub fn draw_label_near(&self, label: &str, em: f64, point: PlotPoint, (right, down): (f64, f64)) -> Result<()> {
        let style = text_style(self.scale, em, HPos::Center, VPos::Center);
        let (x, y) = self.to_units(point);
        let factor = self.scale.factor();
        self.area.draw_text(label, &style, rounded_to_units((x + right * factor, y + down * factor)))?;
        Ok(())
    }

    /// Draws a label that is centred at a point, on a white background that hides the lines behind it; `em` is the text size in pixels.
    pub fn draw_label_on_background(&self, label: &str, em: f64, point: PlotPoint) -> Result<()> {
        let style = text_style(self.scale, em, HPos::Center, VPos::Center);
        let (x, y) = rounded_to_units(self.to_units(point));
        let (half_width, half_height) =
            (text_width(&style, label) / 2 + self.scale.units(1.5), self.scale.units(0.55 * em));
        self.area.draw(&Rectangle::new(
            [(x - half_width, y - half_height), (x + half_width, y + half_height)],
            PAPER.filled(),
        ))?;
        self.draw_label_near(label, em, point, (0.0, 0.0))
    }

    /// Draws a label in the upper left corner of the plotting area, on a white background that hides the grid behind it.
    pub fn draw_corner_label(&self, label: &str) -> Result<()> {
        let style = text_style(self.scale, LABEL_SIZE, HPos::Left, VPos::Center);
        let units = |pixels: f64| self.scale.units(pixels);
        let (left, top) = rounded_to_units(self.corners().0);
        let (from, middle, half) = (left + units(6.0), top + units(10.0), units(8.0));
        let to = from + text_width(&style, label) + units(3.0);
        self.area.draw(&Rectangle::new([(left + units(3.0), middle - half), (to, middle + half)], PAPER.filled()))?;
        self.area.draw_text(label, &style, (from, middle))?;
        Ok(())
    }
}

/// Rounds a point to whole drawing units.
fn rounded_to_units((x, y): PlotPoint) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}
