//! Figures with several panels of the same size in rows and one legend below them.

use plotters::prelude::DrawingBackend;

use crate::axes::Axes;
use crate::error::Result;
use crate::layout;
use crate::legend::{Legend, Mark};
use crate::picture::{Area, Frame, PixelScale, Plot, Rect};
use crate::single_panel::{draw_legend, legend, legend_height};

/// A panel of a [`PanelGrid`]: a plot with axes of its own.
pub(crate) trait GridPanel: Send + Sync {
    /// The title and the axes of the panel.
    fn axes(&self) -> Axes<'_>;
    /// Draws the axes and the data of the panel into this rectangle.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, rect: Rect, scale: PixelScale) -> Result<()>;
}

/// A figure of several panels (plots with axes of their own) of the same size, and one legend for all of them.
pub(crate) struct PanelGrid<P> {
    pub panels: Vec<P>,
    pub entries: Vec<(Mark, String)>,
    /// Width and height of every panel, in pixels.
    pub size: (f64, f64),
}

impl<P: GridPanel> PanelGrid<P> {
    /// The legend for all panels, as wide as the figure.
    fn legend(&self) -> Legend {
        legend(self.entries.clone(), self.width())
    }

    /// Width of the figure, in pixels.
    fn width(&self) -> f64 {
        self.size.0 * layout::column_count(self.panels.len()) as f64
    }

    /// The total height of all rows of panels without the legend, in pixels.
    fn height(&self) -> f64 {
        self.size.1 * layout::row_count(self.panels.len()) as f64
    }

    /// Each panel with its rectangle.
    fn panel_rects(&self) -> impl Iterator<Item = (&P, Rect)> {
        self.panels.iter().zip(layout::panel_rects(self.panels.len(), self.size))
    }
}

impl<P: GridPanel> Plot for PanelGrid<P> {
    fn size(&self) -> (u32, u32) {
        (self.width() as u32, (self.height() + legend_height(&self.legend())) as u32)
    }

    fn plotting_areas(&self) -> Vec<Frame> {
        self.panel_rects().map(|(panel, rect)| panel.axes().frame(rect)).collect()
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: PixelScale) -> Result<()> {
        for (panel, rect) in self.panel_rects() {
            panel.draw(area, rect, scale)?;
        }
        draw_legend(&self.legend(), area, self.height(), scale)
    }
}
