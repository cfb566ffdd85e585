//! Figures with one panel and a legend below it.

use plotters::prelude::DrawingBackend;

use crate::axes::Axes;
use crate::error::Result;
use crate::legend::{Legend, Mark};
use crate::panel::Panel;
use crate::picture::{Area, Frame, PixelScale, Plot, Rect};

/// A figure with one panel: a plot with a title, axes and a legend.
pub(crate) trait SinglePanel: Send + Sync {
    /// Width and height of the panel including its axes, in pixels.
    fn panel_size(&self) -> (f64, f64) {
        (460.0, 380.0)
    }

    /// The title and the axes of the panel.
    fn axes(&self) -> Axes<'_>;
    /// The entries of the legend, each with its symbol and its name.
    fn legend_entries(&self) -> Vec<(Mark, String)>;
    /// Draws the data of the figure into the plotting area.
    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()>;
}

/// Width and height in pixels of a panel (plot with axes) whose plotting area is square.
pub(crate) const SQUARE_PANEL: (f64, f64) = (424.0, 428.0);

/// Margin around a legend, in pixels.
const MARGIN: f64 = 8.0;

/// Creates the legend of a figure with this width.
pub(crate) fn legend(entries: Vec<(Mark, String)>, width: f64) -> Legend {
    Legend { entries, width: width - 2.0 * MARGIN }
}

/// The height of a legend including its margins, in pixels.
pub(crate) fn legend_height(legend: &Legend) -> f64 {
    if legend.entries.is_empty() { MARGIN } else { legend.height() + 2.0 * MARGIN }
}

/// Draws a legend; its upper margin starts at `top`.
pub(crate) fn draw_legend<DB: DrawingBackend>(
    legend: &Legend,
    area: &Area<DB>,
    top: f64,
    scale: PixelScale,
) -> Result<()> {
    let width = legend.width + 2.0 * MARGIN;
    let rect = Rect { left: 0.0, top: top + MARGIN, width, height: legend_height(legend) - MARGIN };
    legend.draw(&rect.sub_area(area, scale), scale)
}

/// Position and size of the panel. The legend lies below this rectangle.
fn panel_rect(figure: &impl SinglePanel) -> Rect {
    let (width, height) = figure.panel_size();
    Rect { left: 0.0, top: 0.0, width, height }
}

impl<S: SinglePanel> Plot for S {
    fn size(&self) -> (u32, u32) {
        let (width, height) = self.panel_size();
        (width as u32, (height + legend_height(&legend(self.legend_entries(), width))) as u32)
    }

    fn plotting_areas(&self) -> Vec<Frame> {
        vec![self.axes().frame(panel_rect(self))]
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: PixelScale) -> Result<()> {
        let axes = self.axes();
        self.draw_data(&axes.draw(area, panel_rect(self), scale)?)?;
        let (width, height) = self.panel_size();
        draw_legend(&legend(self.legend_entries(), width), area, height, scale)
    }
}
