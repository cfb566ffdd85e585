//! One panel: a title, two labelled axes, a thin grid.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::CoordTranslate;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::DrawingArea;
use plotters::element::{DashedPathElement, PathElement};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, FontTransform, RGBColor};

use crate::curve::Point;
use crate::error::Result;
use crate::palette::{FRAME, GRID};
use crate::picture::{Area, Scale};
use crate::simplify::simplified;
use crate::text::{LARGE, SMALL, fitted, text, width};

/// A panel that is ready for its data.
pub(crate) type Panel<'a, DB> = ChartContext<'a, DB, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// What stands around the data; x runs from 0 to 1, y from 0 to `top`.
pub(crate) struct Axes<'a> {
    pub title: &'a str,
    pub x: &'a str,
    pub y: &'a str,
    pub top: f64,
}

/// Room in pixels: above for the title, below and to the left for numbers and label, to the right for half of the last number.
const ABOVE: f64 = 36.0;
const BELOW: f64 = 42.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 16.0;

/// How far a line may pass from its points, in pixels: less than can be seen.
const TOLERANCE: f64 = 0.05;

impl Axes<'_> {
    /// Draws them and returns the panel between them.
    pub fn draw<'a, DB: DrawingBackend>(&self, area: &'a Area<DB>, scale: Scale) -> Result<Panel<'a, DB>> {
        let (wide, high) = area.dim_in_pixel();
        let (wide, high) = (wide as i32, high as i32);
        let title = text(scale, LARGE, HPos::Center, VPos::Center);
        let middle = (wide + scale.units(LEFT - RIGHT)) / 2;
        let room = wide - scale.units(RIGHT);
        // Centred over the data, and moved where it would leave the panel.
        let words = fitted(&title, self.title, room);
        let half = width(&title, &words) / 2;
        let place = middle.min(wide - scale.units(4.0) - half);
        area.draw_text(&words, &title, (place, scale.units(ABOVE - 14.0)))?;

        let mut panel = ChartBuilder::on(area)
            .margin_top(scale.units(ABOVE))
            .margin_right(scale.units(RIGHT))
            .x_label_area_size(scale.units(BELOW))
            .y_label_area_size(scale.units(LEFT))
            .build_cartesian_2d(0.0..1.0, 0.0..self.top)?;
        panel
            .configure_mesh()
            .x_labels(6)
            .y_labels(6)
            .x_label_formatter(&|x| format!("{x:.1}"))
            .y_label_formatter(&|y| number(*y, self.top))
            .max_light_lines(1)
            .light_line_style(GRID.stroke_width(scale.stroke(0.75)))
            .bold_line_style(GRID.stroke_width(scale.stroke(0.75)))
            .axis_style(FRAME.stroke_width(scale.stroke(1.0)))
            .set_all_tick_mark_size(scale.units(3.5))
            .label_style(text(scale, SMALL, HPos::Center, VPos::Center))
            .draw()?;

        let label = text(scale, SMALL, HPos::Center, VPos::Center);
        area.draw_text(self.x, &label, (middle, high - scale.units(9.0)))?;
        let upright = label.transform(FontTransform::Rotate270);
        let halfway = scale.units(ABOVE) + (high - scale.units(ABOVE + BELOW)) / 2;
        area.draw_text(self.y, &upright, (scale.units(9.0), halfway))?;
        Ok(panel)
    }
}

/// A number of an axis that ends at `top`. Up to 3, six numbers are less than 1 apart and all get a decimal.
fn number(value: f64, top: f64) -> String {
    if top < 3.0 {
        format!("{value:.1}")
    } else if top < 1e5 {
        format!("{value:.0}")
    } else {
        format!("{value:.1e}")
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub colour: RGBColor,
    /// In pixels.
    pub width: f64,
    /// Dash and gap in pixels; a solid line has none.
    pub dash: Option<(f64, f64)>,
}

impl Stroke {
    /// A solid line.
    pub fn solid(colour: RGBColor, width: f64) -> Self {
        Stroke { colour, width, dash: None }
    }

    /// The same with dashes.
    pub fn dashed(self, dash: f64, gap: f64) -> Self {
        Stroke { dash: Some((dash, gap)), ..self }
    }

    /// Draws a line through points of a panel, as few of them as it needs.
    pub fn draw<DB: DrawingBackend>(self, panel: &Panel<'_, DB>, line: &[Point], scale: Scale) -> Result<()> {
        let (wide, high) = panel.plotting_area().dim_in_pixel();
        let sides = (f64::from(wide), f64::from(high) / panel.y_range().end);
        self.draw_on(panel.plotting_area(), simplified(line, sides, TOLERANCE * scale.factor()), scale)
    }

    /// Draws a line through points of any area.
    pub fn draw_on<DB, C>(self, area: &DrawingArea<DB, C>, line: Vec<C::From>, scale: Scale) -> Result<()>
    where
        DB: DrawingBackend,
        C: CoordTranslate<From: Clone + 'static>,
    {
        let style = self.colour.stroke_width(scale.stroke(self.width));
        match self.dash {
            None => area.draw(&PathElement::new(line, style))?,
            Some((dash, gap)) => {
                area.draw(&DashedPathElement::new(line, scale.units(dash), scale.units(gap), style))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_an_axis_are_short() {
        assert_eq!(number(0.6000000000000001, 1.08), "0.6");
        assert_eq!(number(0.0, 1.08), "0.0");
        assert_eq!(number(12.000000000000002, 13.0), "12");
        assert_eq!(number(1_500_000_000.0, 2e9), "1.5e9");
    }
}
