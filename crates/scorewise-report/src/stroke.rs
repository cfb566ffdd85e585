//! Line styles.

use plotters::element::{DashedPathElement, PathElement};
use plotters::prelude::DrawingBackend;
use plotters::style::{Color, RGBColor};

use crate::error::Result;
use crate::palette::LINES;
use crate::picture::{Area, PixelScale};

/// Colour, width, dashes and opacity of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub colour: RGBColor,
    /// Width of the line, in pixels.
    pub width: f64,
    /// Lengths of a dash and of a gap, in pixels; `None` for a solid line.
    pub dash: Option<(f64, f64)>,
    /// Opacity from 0 to 1. Only straight lines may have an opacity below 1, because overlaps of segments at a corner would be darker.
    pub opacity: f64,
}

impl Stroke {
    /// A solid, opaque line with this width in pixels.
    pub const fn solid(colour: RGBColor, width: f64) -> Self {
        Stroke { colour, width, dash: None, opacity: 1.0 }
    }

    /// Returns the style with dashes; the lengths of dash and gap are in pixels.
    pub const fn dashed(self, dash: f64, gap: f64) -> Self {
        Stroke { dash: Some((dash, gap)), ..self }
    }

    /// Returns the style with this opacity.
    pub const fn with_opacity(self, opacity: f64) -> Self {
        Stroke { opacity, ..self }
    }

    /// The style of the line with this index, from 0. The first seven lines are solid, the next seven dashed, all others dotted.
    pub fn for_line(index: usize) -> Self {
        let solid = Stroke::solid(LINES[index % LINES.len()], 2.0);
        match index / LINES.len() {
            0 => solid,
            1 => solid.dashed(7.0, 4.0),
            _ => solid.dashed(2.0, 3.0),
        }
    }

    /// Draws a line through points given in drawing units.
    pub fn draw_on<DB: DrawingBackend>(self, area: &Area<DB>, line: Vec<(i32, i32)>, scale: PixelScale) -> Result<()> {
        let style = self.colour.mix(self.opacity).stroke_width(scale.line_width_in_units(self.width));
        match self.dash {
            None => area.draw(&PathElement::new(line, style))?,
            Some((dash, gap)) => {
                area.draw(&DashedPathElement::new(line, scale.units(dash), scale.units(gap), style))?;
            }
        }
        Ok(())
    }
}
