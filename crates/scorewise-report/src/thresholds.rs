//! The paper's Figure 2: where the best thresholds of many trainings fell, under the prior they were trained with.

use plotters::prelude::DrawingBackend;
use scorewise::{Prior, Spread};

use crate::axes::{Axes, Axis};
use crate::curve::{density_below, peak};
use crate::error::{Error, Result};
use crate::histogram::{Histogram, bars_for};
use crate::legend::{BAR_COVER, Mark};
use crate::palette::{BLUE, VERMILLION};
use crate::panel::{Panel, WHISKER_END};
use crate::panes::{Pane, Panes};
use crate::picture::{Area, Picture, Place, Scale};
use crate::stroke::Stroke;

/// One panel: a prior, and the best threshold of every training with it that succeeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// Such as `Raised cosine: μ = 0.5, δ = 0.1`.
    pub title: String,
    /// What the threshold was drawn from.
    pub prior: Prior,
    /// The best thresholds τ*, in [0, 1]; none where every training got stuck.
    pub thresholds: Vec<f64>,
}

/// Draws the density of each prior (dashed) over the histogram of its thresholds (area 1), with their mean and deviation.
///
/// Panels stand in rows of at most three (four beyond a dozen); a short row comes first.
pub fn figure_thresholds(panels: &[Thresholds]) -> Result<Picture> {
    if panels.is_empty() {
        return Err(Error::Empty);
    }
    for panel in panels {
        if let Some((row, &value)) =
            panel.thresholds.iter().enumerate().find(|(_, value)| !(0.0..=1.0).contains(*value))
        {
            return Err(Error::Threshold { panel: panel.title.clone(), row, value });
        }
    }
    let keys = vec![
        (Mark::Line(PRIOR), "prior density f".into()),
        (Mark::Bar(VERMILLION), "best thresholds τ*".into()),
        (Mark::Whisker(MEAN), "mean ± deviation".into()),
    ];
    Picture::of(Panes { panes: panels.to_vec(), keys, size: PANEL })
}

const PANEL: (f64, f64) = (320.0, 250.0);
const PRIOR: Stroke = Stroke::solid(BLUE, 2.0).dashed(6.0, 3.5);
const MEAN: Stroke = Stroke::solid(VERMILLION, 2.0);
/// Of the panel's height, from below: the data, the whisker above it, and above that the numbers.
const DATA: f64 = 0.76;
const WHISKER: f64 = 0.82;

impl Thresholds {
    fn histogram(&self) -> Histogram {
        Histogram::of(&self.thresholds, bars_for(&self.thresholds))
    }
}

impl Pane for Thresholds {
    fn axes(&self) -> Axes<'_> {
        let y = Axis::new("density", 0.0, self.histogram().peak().max(peak(&self.prior)) / DATA);
        Axes::new(&self.title, Axis::unit("threshold τ"), y)
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, place: Place, scale: Scale) -> Result<()> {
        let axes = self.axes();
        let (panel, top) = (axes.draw(area, place, scale)?, axes.y.to);
        for (low, high, height) in self.histogram().bars() {
            panel.bar(VERMILLION, BAR_COVER, ((low, 0.0), (high, height)))?;
            let outline = [(low, 0.0), (low, height), (high, height), (high, 0.0)];
            panel.line(Stroke::solid(VERMILLION, 0.75), &outline)?;
        }
        for line in density_below(&self.prior, DATA * top) {
            panel.line(PRIOR, &line)?;
        }
        let spread = Spread::of(&self.thresholds);
        if let Some(spread) = spread {
            draw_spread(spread, &panel, top)?;
        }
        panel.corner(&in_words(spread))
    }
}

/// The mean as an upright line, the deviation as a whisker to both sides.
fn draw_spread<DB: DrawingBackend>(spread: Spread, panel: &Panel<'_, DB>, top: f64) -> Result<()> {
    let (mean, y) = (spread.mean, WHISKER * top);
    panel.line(MEAN, &[(mean, 0.0), (mean, y + WHISKER_END * panel.pixel().1)])?;
    match spread.deviation {
        Some(deviation) => panel.whisker(MEAN, y, (mean - deviation, mean + deviation)),
        None => Ok(()),
    }
}

fn in_words(spread: Option<Spread>) -> String {
    match spread {
        None => "no training succeeded".into(),
        Some(Spread { mean, deviation: None }) => format!("mean {mean:.2}, one training"),
        Some(Spread { mean, deviation: Some(deviation) }) => format!("mean {mean:.2}, deviation {deviation:.2}"),
    }
}
