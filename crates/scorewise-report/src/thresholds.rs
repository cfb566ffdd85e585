//! Figure 2 of Marchetti et al. (2022): histograms of the best thresholds of many training runs, with the prior used in training.

use plotters::prelude::DrawingBackend;
use scorewise::{MeanAndDeviation, Prior};

use crate::axes::{Axes, Axis};
use crate::curve::{density_lines_below, peak_density};
use crate::error::{Error, Result};
use crate::histogram::{DensityHistogram, bar_count_for};
use crate::legend::{BAR_OPACITY, Mark};
use crate::palette::{BLUE, VERMILLION};
use crate::panel::{CAP_HALF_LENGTH, Panel};
use crate::panel_grid::{GridPanel, PanelGrid};
use crate::picture::{Area, Picture, PixelScale, Rect};
use crate::stroke::Stroke;

/// One panel of the figure: a prior, and the best threshold of every successful training run with that prior.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdPanel {
    /// Title of the panel, such as `Raised cosine: μ = 0.5, δ = 0.1`.
    pub title: String,
    /// The prior of the threshold that was used in training.
    pub prior: Prior,
    /// The best thresholds τ*, in [0, 1]; empty when no training run succeeded.
    pub thresholds: Vec<f64>,
}

/// Draws the density of each prior (dashed) over the histogram of its thresholds (area 1), with the mean and standard deviation of the thresholds.
///
/// Panels are arranged in rows of at most three, or of four if there are 13 panels or more. If a row is incomplete, it is the first one.
pub fn figure_thresholds(panels: &[ThresholdPanel]) -> Result<Picture> {
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
    let entries = vec![
        (Mark::Line(PRIOR_STROKE), "prior density f".into()),
        (Mark::Bar(VERMILLION), "best thresholds τ*".into()),
        (Mark::Whisker(MEAN_STROKE), "mean ± deviation".into()),
    ];
    Picture::new(PanelGrid { panels: panels.to_vec(), entries, size: PANEL_SIZE })
}

/// Width and height of a panel, in pixels.
const PANEL_SIZE: (f64, f64) = (320.0, 250.0);
/// Style of the density of the prior.
const PRIOR_STROKE: Stroke = Stroke::solid(BLUE, 2.0).dashed(6.0, 3.5);
/// Style of the vertical line at the mean of the thresholds, and of the error bar of one standard deviation.
const MEAN_STROKE: Stroke = Stroke::solid(VERMILLION, 2.0);
/// Height of the highest bar or density, as a fraction of the height of the panel; the space above is for the error bar and the numbers.
const MAX_DATA_HEIGHT: f64 = 0.76;
/// Height at which the error bar is drawn, as a fraction of the height of the panel.
const WHISKER_HEIGHT: f64 = 0.82;

impl ThresholdPanel {
    /// The histogram of the thresholds.
    fn histogram(&self) -> DensityHistogram {
        DensityHistogram::new(&self.thresholds, bar_count_for(&self.thresholds))
    }
}

impl GridPanel for ThresholdPanel {
    fn axes(&self) -> Axes<'_> {
        let y = Axis::new(
            "density",
            0.0,
            self.histogram().height_of_highest_bar().max(peak_density(&self.prior)) / MAX_DATA_HEIGHT,
        );
        Axes::new(&self.title, Axis::from_0_to_1("threshold τ"), y)
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, rect: Rect, scale: PixelScale) -> Result<()> {
        let axes = self.axes();
        let (panel, top) = (axes.draw(area, rect, scale)?, axes.y.to);
        for (low, high, height) in self.histogram().bars() {
            panel.fill_rectangle(VERMILLION, BAR_OPACITY, ((low, 0.0), (high, height)))?;
            let outline = [(low, 0.0), (low, height), (high, height), (high, 0.0)];
            panel.draw_line(Stroke::solid(VERMILLION, 0.75), &outline)?;
        }
        for line in density_lines_below(&self.prior, MAX_DATA_HEIGHT * top) {
            panel.draw_line(PRIOR_STROKE, &line)?;
        }
        let spread = MeanAndDeviation::of(&self.thresholds);
        if let Some(spread) = spread {
            draw_spread(spread, &panel, top)?;
        }
        panel.draw_corner_label(&summary_label(spread))
    }
}

/// Draws the mean as a vertical line and the standard deviation as an error bar; `top` is the upper end of the y axis.
fn draw_spread<DB: DrawingBackend>(spread: MeanAndDeviation, panel: &Panel<'_, DB>, top: f64) -> Result<()> {
    let (mean, y) = (spread.mean, WHISKER_HEIGHT * top);
    panel.draw_line(MEAN_STROKE, &[(mean, 0.0), (mean, y + CAP_HALF_LENGTH * panel.pixel_size().1)])?;
    match spread.deviation {
        Some(deviation) => panel.draw_horizontal_whisker(MEAN_STROKE, y, (mean - deviation, mean + deviation)),
        None => Ok(()),
    }
}

/// The label in the corner of a panel: the mean and standard deviation of the thresholds.
fn summary_label(spread: Option<MeanAndDeviation>) -> String {
    match spread {
        None => "no training run succeeded".into(),
        Some(MeanAndDeviation { mean, deviation: None }) => format!("mean {mean:.2}, one training run"),
        Some(MeanAndDeviation { mean, deviation: Some(deviation) }) => {
            format!("mean {mean:.2}, standard deviation {deviation:.2}")
        }
    }
}
