//! Several panels of one size in rows, and one legend below them all.

use plotters::prelude::DrawingBackend;

use crate::axes::Axes;
use crate::error::Result;
use crate::layout;
use crate::legend::{Legend, Mark};
use crate::picture::{Area, Figure, Frame, Place, Scale};
use crate::sheet::{draw_strip, legend, strip};

/// One of the panels.
pub(crate) trait Pane: Send + Sync {
    /// What stands around the data.
    fn axes(&self) -> Axes<'_>;
    /// Draws axes and data in this place.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, place: Place, scale: Scale) -> Result<()>;
}

/// Panels with their keys.
pub(crate) struct Panes<P> {
    pub panes: Vec<P>,
    pub keys: Vec<(Mark, String)>,
    /// Width and height of each panel, in pixels.
    pub size: (f64, f64),
}

impl<P: Pane> Panes<P> {
    fn legend(&self) -> Legend {
        legend(self.keys.clone(), self.width())
    }

    fn width(&self) -> f64 {
        self.size.0 * layout::columns(self.panes.len()) as f64
    }

    /// Of all panels together.
    fn height(&self) -> f64 {
        self.size.1 * layout::rows(self.panes.len()) as f64
    }

    fn places(&self) -> impl Iterator<Item = (&P, Place)> {
        self.panes.iter().zip(layout::places_of(self.panes.len(), self.size))
    }
}

impl<P: Pane> Figure for Panes<P> {
    fn size(&self) -> (u32, u32) {
        (self.width() as u32, (self.height() + strip(&self.legend())) as u32)
    }

    fn frames(&self) -> Vec<Frame> {
        self.places().map(|(pane, place)| pane.axes().frame(place)).collect()
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: Scale) -> Result<()> {
        for (pane, place) in self.places() {
            pane.draw(area, place, scale)?;
        }
        draw_strip(&self.legend(), area, self.height(), scale)
    }
}
