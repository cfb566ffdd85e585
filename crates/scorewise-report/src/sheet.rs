//! The plainest figure: one panel, and below it the legend.

use plotters::prelude::DrawingBackend;

use crate::axes::Axes;
use crate::error::Result;
use crate::legend::{Legend, Mark};
use crate::panel::Panel;
use crate::picture::{Area, Figure, Frame, Place, Scale};

/// A figure of one panel.
pub(crate) trait Sheet: Send + Sync {
    /// Width and height of the panel with its axes, in pixels.
    fn panel(&self) -> (f64, f64) {
        (460.0, 380.0)
    }

    /// What stands around the data.
    fn axes(&self) -> Axes<'_>;
    /// What stands below them.
    fn keys(&self) -> Vec<(Mark, String)>;
    /// Draws the data.
    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()>;
}

/// A panel whose data are a square.
pub(crate) const SQUARE: (f64, f64) = (424.0, 428.0);

const MARGIN: f64 = 8.0;

/// The legend of a figure of this width.
pub(crate) fn legend(keys: Vec<(Mark, String)>, width: f64) -> Legend {
    Legend { keys, width: width - 2.0 * MARGIN }
}

/// The height of the strip that holds a legend.
pub(crate) fn strip(legend: &Legend) -> f64 {
    if legend.keys.is_empty() { MARGIN } else { legend.height() + 2.0 * MARGIN }
}

/// Draws a legend in its strip below `top`.
pub(crate) fn draw_strip<DB: DrawingBackend>(legend: &Legend, area: &Area<DB>, top: f64, scale: Scale) -> Result<()> {
    let width = legend.width + 2.0 * MARGIN;
    let place = Place { left: 0.0, top: top + MARGIN, width, height: strip(legend) - MARGIN };
    legend.draw(&place.on(area, scale), scale)
}

fn place(sheet: &impl Sheet) -> Place {
    let (width, height) = sheet.panel();
    Place { left: 0.0, top: 0.0, width, height }
}

impl<S: Sheet> Figure for S {
    fn size(&self) -> (u32, u32) {
        let (width, height) = self.panel();
        (width as u32, (height + strip(&legend(self.keys(), width))) as u32)
    }

    fn frames(&self) -> Vec<Frame> {
        vec![self.axes().frame(place(self))]
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        let axes = self.axes();
        self.draw_data(&axes.draw(area, place(self), scale)?)?;
        let (width, height) = self.panel();
        draw_strip(&legend(self.keys(), width), area, height, scale)
    }
}
