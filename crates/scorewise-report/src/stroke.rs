//! How a line is drawn.

use plotters::element::{DashedPathElement, PathElement};
use plotters::prelude::DrawingBackend;
use plotters::style::{Color, RGBColor};

use crate::error::Result;
use crate::palette::LINES;
use crate::picture::{Area, Scale};

/// Colour, width and dashes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub colour: RGBColor,
    /// In pixels.
    pub width: f64,
    /// Dash and gap in pixels; a solid line has none.
    pub dash: Option<(f64, f64)>,
    /// How much it covers what is behind it; less than 1 only for straight lines, whose joints nobody sees.
    pub cover: f64,
}

impl Stroke {
    /// A solid line.
    pub const fn solid(colour: RGBColor, width: f64) -> Self {
        Stroke { colour, width, dash: None, cover: 1.0 }
    }

    /// The same with dashes.
    pub const fn dashed(self, dash: f64, gap: f64) -> Self {
        Stroke { dash: Some((dash, gap)), ..self }
    }

    /// The same, with what is behind shining through.
    pub const fn covering(self, cover: f64) -> Self {
        Stroke { cover, ..self }
    }

    /// For the line of this number, from 0. Seven colours; beyond them the same again in dashes.
    pub fn of_line(number: usize) -> Self {
        let solid = Stroke::solid(LINES[number % LINES.len()], 2.0);
        match number / LINES.len() {
            0 => solid,
            1 => solid.dashed(7.0, 4.0),
            _ => solid.dashed(2.0, 3.0),
        }
    }

    /// Draws a line through places in drawing units.
    pub fn draw_on<DB: DrawingBackend>(self, area: &Area<DB>, line: Vec<(i32, i32)>, scale: Scale) -> Result<()> {
        let style = self.colour.mix(self.cover).stroke_width(scale.stroke(self.width));
        match self.dash {
            None => area.draw(&PathElement::new(line, style))?,
            Some((dash, gap)) => {
                area.draw(&DashedPathElement::new(line, scale.units(dash), scale.units(gap), style))?;
            }
        }
        Ok(())
    }
}
