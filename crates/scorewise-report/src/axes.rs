//! Draws the title, the labelled axes and the grid of a panel.

use std::borrow::Cow;

use plotters::prelude::DrawingBackend;
use plotters::style::FontTransform;
use plotters::style::text_anchor::{HPos, VPos};

use crate::error::Result;
use crate::palette::{FRAME, GRID};
use crate::panel::Panel;
use crate::picture::{Area, Frame, PixelScale, Rect};
use crate::stroke::Stroke;
use crate::text::{LABEL_SIZE, TITLE_SIZE, text_style, text_width, truncate_to_width};
use crate::ticks::ticks;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AxisKind {
    /// A linear scale.
    Linear,
    /// A linear scale with ticks at integers only.
    Integer,
    /// A square-root scale. Small values get more space than on a linear scale, and 0 can be shown, which a logarithmic scale cannot do.
    SquareRoot,
    /// A logarithmic scale.
    Log,
}

/// Label, range and scale of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis<'a> {
    pub label: Cow<'a, str>,
    pub from: f64,
    pub to: f64,
    pub kind: AxisKind,
    /// Names that are written at the positions 0, 1, 2, … in place of numbers; empty if the axis shows numbers.
    pub names: Vec<String>,
}

impl<'a> Axis<'a> {
    /// Creates a linear axis of positive, finite length, so that every figure can be drawn: equal ends are moved apart, and if an end is not
    /// finite, the axis runs from 0 to 1.
    pub fn new(label: impl Into<Cow<'a, str>>, from: f64, to: f64) -> Self {
        let (from, to) = if from.is_finite() && to.is_finite() { (from, to) } else { (0.0, 1.0) };
        let least_length = 1e-9 * from.abs().max(to.abs());
        let (from, to) = if to - from > least_length {
            (from, to)
        } else {
            let half = if from == 0.0 { 0.5 } else { 0.1 * from.abs() };
            (from - half, from + half)
        };
        Axis { label: label.into(), from, to, kind: AxisKind::Linear, names: Vec::new() }
    }

    /// Creates an axis with names at the positions 0, 1, 2, … in place of numbers. The axis extends half a step beyond the first and the last
    /// name. Long names are truncated.
    pub fn with_names<'n>(label: impl Into<Cow<'a, str>>, names: impl Iterator<Item = &'n str>) -> Self {
        let scale = PixelScale(10);
        let style = text_style(scale, LABEL_SIZE, HPos::Right, VPos::Center);
        let name = |name: &str| truncate_to_width(&style, name, scale.units(MAX_NAME_WIDTH));
        let names: Vec<String> = names.map(name).collect();
        Axis { names: names.clone(), ..Axis::new(label, -0.5, names.len() as f64 - 0.5) }
    }

    /// A linear axis from 0 to 1.
    pub fn from_0_to_1(label: impl Into<Cow<'a, str>>) -> Self {
        Axis::new(label, 0.0, 1.0)
    }

    /// Returns the axis with ticks at integers only.
    pub fn with_integer_ticks(self) -> Self {
        Axis { kind: AxisKind::Integer, ..self }
    }

    /// Returns the axis with a square-root scale; the start `from` of the axis must not be negative.
    pub fn square_root_scale(self) -> Self {
        Axis { kind: AxisKind::SquareRoot, ..self }
    }

    /// Returns the axis with a logarithmic scale; the start `from` of the axis must be positive.
    pub fn log_scale(self) -> Self {
        Axis { kind: AxisKind::Log, ..self }
    }

    /// Position of a value along the axis: 0 at the start of the axis, 1 at its end.
    pub fn relative_position(&self, value: f64) -> f64 {
        let transformed = |value: f64| match self.kind {
            AxisKind::Linear | AxisKind::Integer => value,
            AxisKind::SquareRoot => value.max(0.0).sqrt(),
            AxisKind::Log => value.max(f64::MIN_POSITIVE).ln(),
        };
        (transformed(value) - transformed(self.from)) / (transformed(self.to) - transformed(self.from))
    }
}

/// The title and the two axes of a panel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axes<'a> {
    title: &'a str,
    pub x: Axis<'a>,
    pub y: Axis<'a>,
    /// Additional space above and to the right of the plotting area, in pixels.
    extra: (f64, f64),
}

/// Space above the plotting area, for the title, in pixels.
const SPACE_ABOVE: f64 = 36.0;
/// Space below the plotting area, for the tick numbers and the label of the x axis, in pixels.
const SPACE_BELOW: f64 = 42.0;
/// Minimum space to the left of the plotting area, for the tick numbers and the label of the y axis, in pixels.
const MIN_SPACE_LEFT: f64 = 58.0;
/// Space to the right of the plotting area, in pixels. The last tick number is centred at the end of the x axis, so half of it lies here.
const SPACE_RIGHT: f64 = 16.0;
/// Space above a panel without a title, in pixels.
const SPACE_ABOVE_WITHOUT_TITLE: f64 = 8.0;
/// Space below a panel whose x axis has no label, in pixels.
const SPACE_BELOW_WITHOUT_LABEL: f64 = 22.0;
/// Additional space for a label between the title and the plotting area, in pixels.
const SPACE_FOR_LABEL: f64 = 8.0;
/// Length of a tick, in pixels.
const TICK_LENGTH: f64 = 3.5;
/// Gap between a tick and its number, in pixels.
const TICK_GAP: f64 = 4.0;
/// Width of the rotated label of the y axis, including the gap to the tick numbers, in pixels.
const Y_LABEL_WIDTH: f64 = 18.0;
/// Maximum width of a name on an axis that shows names in place of numbers, in pixels.
const MAX_NAME_WIDTH: f64 = 150.0;
/// Minimum distance between two ticks of the x axis, in pixels.
const MIN_X_TICK_SPACING: f64 = 45.0;

impl<'a> Axes<'a> {
    /// Creates the axes of a panel with a title.
    pub fn new(title: &'a str, x: Axis<'a>, y: Axis<'a>) -> Self {
        Axes { title, x, y, extra: (0.0, 0.0) }
    }

    /// Creates the axes of a panel that shares the x axis of the panel above it, and therefore has no title and no label of the x axis.
    pub fn for_lower_panel(from: f64, to: f64, y: Axis<'a>) -> Self {
        Axes { title: "", x: Axis::new("", from, to), y, extra: (SPACE_ABOVE_WITHOUT_TITLE - SPACE_ABOVE, 0.0) }
    }

    /// Returns the axes with space for a label between the title and the plotting area (see [`Panel::draw_label_above`]).
    pub fn with_space_for_label(self) -> Self {
        Axes { extra: (SPACE_FOR_LABEL, self.extra.1), ..self }
    }

    /// Returns the axes with this additional space, in pixels, to the right of the plotting area.
    pub fn with_space_right(self, pixels: f64) -> Self {
        Axes { extra: (self.extra.0, pixels), ..self }
    }

    /// Space above the plotting area, in pixels.
    fn space_above(&self) -> f64 {
        SPACE_ABOVE + self.extra.0
    }

    /// Space below the plotting area, in pixels.
    fn space_below(&self) -> f64 {
        if self.x.label.is_empty() { SPACE_BELOW_WITHOUT_LABEL } else { SPACE_BELOW }
    }

    /// Space to the right of the plotting area, in pixels.
    fn space_right(&self) -> f64 {
        SPACE_RIGHT + self.extra.1
    }

    /// Space to the left of the plotting area, which depends on the width of the tick numbers. Text is always measured at the same scale, so
    /// that SVG and PNG have the same layout.
    fn space_left(&self, height: f64) -> f64 {
        let (scale, mut widest) = (PixelScale(10), 0);
        for (_, number) in self.y_ticks(height) {
            widest = widest.max(text_width(&text_style(scale, LABEL_SIZE, HPos::Right, VPos::Center), &number));
        }
        MIN_SPACE_LEFT.max((Y_LABEL_WIDTH + f64::from(widest) / scale.factor() + TICK_LENGTH + TICK_GAP).ceil())
    }

    /// The ticks of a y axis with this height in pixels. A linear axis has at most eight ticks, so that their numbers are not crowded.
    fn y_ticks(&self, height: f64) -> Vec<(f64, String)> {
        let spacing = match self.y.kind {
            AxisKind::Linear | AxisKind::Integer => (height / 7.5).max(30.0),
            AxisKind::SquareRoot | AxisKind::Log => 18.0,
        };
        ticks(&self.y, height, spacing)
    }

    /// The plotting area of a panel that fills this rectangle.
    pub fn frame(&self, rect: Rect) -> Frame {
        let height = rect.height - self.space_above() - self.space_below();
        let left = self.space_left(height);
        Frame {
            left: rect.left + left,
            top: rect.top + self.space_above(),
            width: rect.width - left - self.space_right(),
            height,
            x: (self.x.from, self.x.to),
            y: (self.y.from, self.y.to),
        }
    }

    /// Draws the title, the axes and the grid, and returns the plotting area.
    pub fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, rect: Rect, scale: PixelScale) -> Result<Panel<'a, DB>> {
        let frame = self.frame(rect);
        let panel = Panel::new(area.clone(), frame, (self.x.clone(), self.y.clone()), scale);
        self.draw_title(area, rect, scale)?;

        let numbers = text_style(scale, LABEL_SIZE, HPos::Center, VPos::Center);
        let (tick, number_offset) = (scale.units(TICK_LENGTH), scale.units(TICK_LENGTH + TICK_GAP));
        let (left, bottom) = (scale.units(frame.left), scale.units(frame.top + frame.height));
        let (right, top) = (scale.units(frame.left + frame.width), scale.units(frame.top));
        let (grid, axis) = (Stroke::solid(GRID, 0.75), Stroke::solid(FRAME, 1.0));
        // The whole grid is drawn before the axes, so that the axes lie on top of it.
        let columns = ticks(&self.x, frame.width, MIN_X_TICK_SPACING);
        let rows = self.y_ticks(frame.height);
        let column = |value: f64| panel.to_units((value, self.y.from)).0.round() as i32;
        let row = |value: f64| panel.to_units((self.x.from, value)).1.round() as i32;
        for (value, _) in &columns {
            grid.draw_on(area, vec![(column(*value), top), (column(*value), bottom)], scale)?;
        }
        for (value, _) in &rows {
            grid.draw_on(area, vec![(left, row(*value)), (right, row(*value))], scale)?;
        }
        for (value, number) in columns {
            let x = column(value);
            axis.draw_on(area, vec![(x, bottom), (x, bottom + tick)], scale)?;
            area.draw_text(&number, &numbers, (x, bottom + number_offset + scale.units(0.5 * LABEL_SIZE)))?;
        }
        let numbers = text_style(scale, LABEL_SIZE, HPos::Right, VPos::Center);
        for (value, number) in rows {
            let y = row(value);
            axis.draw_on(area, vec![(left - tick, y), (left, y)], scale)?;
            area.draw_text(&number, &numbers, (left - number_offset, y))?;
        }
        axis.draw_on(area, vec![(left, top), (left, bottom), (right, bottom)], scale)?;
        self.draw_axis_labels(area, rect, scale)?;
        Ok(panel)
    }

    /// Draws the title, centred over the plotting area. A title that would extend beyond the panel is shifted to the left.
    fn draw_title<DB: DrawingBackend>(&self, area: &Area<DB>, rect: Rect, scale: PixelScale) -> Result<()> {
        let style = text_style(scale, TITLE_SIZE, HPos::Center, VPos::Center);
        let title = truncate_to_width(&style, self.title, scale.units(rect.width - SPACE_RIGHT));
        let half = text_width(&style, &title) / 2;
        let frame = self.frame(rect);
        let middle = scale.units(frame.left + 0.5 * frame.width);
        let x = middle.min(scale.units(rect.left + rect.width - 4.0) - half);
        let y = scale.units(rect.top + if self.extra.0 > 0.0 { 14.0 } else { SPACE_ABOVE - 14.0 });
        area.draw_text(&title, &style, (x, y))?;
        Ok(())
    }

    fn draw_axis_labels<DB: DrawingBackend>(&self, area: &Area<DB>, rect: Rect, scale: PixelScale) -> Result<()> {
        let frame = self.frame(rect);
        let style = text_style(scale, LABEL_SIZE, HPos::Center, VPos::Center);
        let middle = scale.units(frame.left + 0.5 * frame.width);
        area.draw_text(&self.x.label, &style, (middle, scale.units(rect.top + rect.height - 9.0)))?;
        let rotated = style.transform(FontTransform::Rotate270);
        let y_middle = scale.units(frame.top + 0.5 * frame.height);
        area.draw_text(&self.y.label, &rotated, (scale.units(rect.left + 9.0), y_middle))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_always_has_a_positive_finite_length() {
        let ends = |from: f64, to: f64| (Axis::new("", from, to).from, Axis::new("", from, to).to);
        assert_eq!(ends(0.0, 0.0), (-0.5, 0.5));
        assert_eq!(ends(2.0, 2.0), (1.8, 2.2));
        assert_eq!(ends(-1.0, 3.0), (-1.0, 3.0));
        assert_eq!(ends(f64::NAN, 3.0), (0.0, 1.0));
        assert_eq!(ends(0.0, f64::INFINITY), (0.0, 1.0));
    }

    #[test]
    fn relative_positions_depend_on_the_scale_of_the_axis() {
        assert_eq!(Axis::new("", -1.0, 3.0).relative_position(0.0), 0.25);
        assert_eq!(Axis::new("", 0.0, 16.0).square_root_scale().relative_position(4.0), 0.5);
        assert!((Axis::new("", 1.0, 1000.0).log_scale().relative_position(10.0) - 1.0 / 3.0).abs() < 1e-15);
    }
}
