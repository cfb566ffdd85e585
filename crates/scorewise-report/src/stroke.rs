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
    /// In pixels.
    pub width: f64,
    /// Lengths of dash and gap in pixels; `None` for a solid line.
    pub dash: Option<(f64, f64)>,
    /// Opacity from 0 to 1; below 1 only for straight lines, since overlapping joins would show.
    pub opacity: f64,
}

impl Stroke {
    /// An opaque solid line; the width is in pixels.
    pub const fn solid(colour: RGBColor, width: f64) -> Self {
        Stroke { colour, width, dash: None, opacity: 1.0 }
    }

    /// The same line, dashed.
    pub const fn dashed(self, dash: f64, gap: f64) -> Self {
        Stroke { dash: Some((dash, gap)), ..self }
    }

    /// The same line with this opacity.
    pub const fn with_opacity(self, opacity: f64) -> Self {
        Stroke { opacity, ..self }
    }

    /// The style of the line with this index, from 0: seven colours solid, then dashed, then dotted.
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
        let style = self.colour.mix(self.opacity).stroke_width(scale.stroke(self.width));
        match self.dash {
            None => area.draw(&PathElement::new(line, style))?,
            Some((dash, gap)) => {
                area.draw(&DashedPathElement::new(line, scale.units(dash), scale.units(gap), style))?;
            }
        }
        Ok(())
    }
}
