//! Reliability diagram: observed frequency against forecast probability, and in a lower panel the number of rows in each bin.
//!
//! Bröcker, J., Smith, L. A. (2007). Increasing the reliability of reliability diagrams. Weather and Forecasting 22, 651–661.
//! doi:10.1175/WAF993.1

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::{BAR_OPACITY, DOT_RADIUS, Legend, Mark};
use crate::palette::{BLUE, FRAME};
use crate::panel::REFERENCE_STROKE;
use crate::picture::{Area, Frame, Picture, PixelScale, Plot, Rect};
use crate::single_panel::{SQUARE_PANEL, draw_legend, legend, legend_height};
use crate::stroke::Stroke;

/// A bin of rows with similar forecast probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReliabilityBin {
    /// Mean forecast probability of the rows in the bin.
    pub mean: f64,
    /// Fraction of positive rows in the bin.
    pub frequency: f64,
    /// Lower end of the 95 % interval of the fraction of positive rows.
    pub low: f64,
    /// Upper end of the 95 % interval of the fraction of positive rows.
    pub high: f64,
    /// Number of rows in the bin, or their total weight.
    pub weight: f64,
}

/// Data of a reliability diagram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reliability {
    /// Title of the figure, such as `Reliability`.
    pub title: String,
    /// Bins in any order; empty bins and bins with values that are not finite are ignored.
    pub bins: Vec<ReliabilityBin>,
    /// Fraction of positives among all rows.
    pub base_rate: f64,
}

/// Draws the observed frequencies with their intervals, the diagonal of a perfectly reliable forecast, and in a lower panel the weights of the
/// bins.
pub fn figure_reliability(reliability: Reliability) -> Result<Picture> {
    if reliability.usable_bins().is_empty() {
        return Err(Error::Empty);
    }
    Picture::new(reliability)
}

/// Style of the line through the observed frequencies.
const DATA_STROKE: Stroke = Stroke::solid(BLUE, 2.0);
/// Style of the error bars of the observed frequencies.
const INTERVAL_STROKE: Stroke = Stroke::solid(BLUE, 1.25);
/// Style of the horizontal and the vertical line at the base rate.
const BASE_RATE_STROKE: Stroke = Stroke::solid(FRAME, 0.9).dashed(2.0, 3.0);
/// Position and size of the panel with the observed frequencies.
const UPPER_PANEL: Rect = Rect { left: 0.0, top: 0.0, width: SQUARE_PANEL.0, height: SQUARE_PANEL.1 };
/// Position and size of the panel with the number (or total weight) of the rows in each bin.
const LOWER_PANEL: Rect = Rect { left: 0.0, top: SQUARE_PANEL.1 + 2.0, width: SQUARE_PANEL.0, height: 110.0 };
/// Half the width of a bar, in the units of the x axis.
const HALF_BAR_WIDTH: f64 = 0.012;

impl Reliability {
    /// The bins that can be plotted, from left to right.
    fn usable_bins(&self) -> Vec<ReliabilityBin> {
        let usable = |bin: &ReliabilityBin| bin.mean.is_finite() && bin.frequency.is_finite() && bin.weight > 0.0;
        let mut bins: Vec<ReliabilityBin> = self.bins.iter().copied().filter(usable).collect();
        bins.sort_by(|a, b| a.mean.total_cmp(&b.mean));
        bins
    }

    /// The title and the axes of the upper panel, which shows the observed frequencies.
    fn upper_axes(&self) -> Axes<'_> {
        Axes::new(&self.title, Axis::from_0_to_1("mean forecast"), Axis::from_0_to_1("observed frequency"))
    }

    /// The axes of the lower panel, which shows the weights of the bins.
    fn lower_axes(&self) -> Axes<'static> {
        let weights: Vec<f64> =
            self.usable_bins().iter().map(|bin| bin.weight).filter(|weight| weight.is_finite()).collect();
        let smallest_weight = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let largest_weight = weights.iter().copied().fold(0.0, f64::max);
        // A logarithmic axis cannot start at 0. It starts at half of the smallest weight, so that the bar of this weight is visible.
        Axes::for_lower_panel(
            0.0,
            1.0,
            Axis::new("weight (log)", 0.5 * smallest_weight, 1.5 * largest_weight).log_scale(),
        )
    }

    /// The legend below both panels.
    fn legend(&self) -> Legend {
        let entries = vec![
            (Mark::LineAndDot(DATA_STROKE), "forecasts, 95 % intervals".into()),
            (Mark::Line(REFERENCE_STROKE), "perfectly reliable".into()),
            (Mark::Line(BASE_RATE_STROKE), format!("base rate {:.3}", self.base_rate)),
        ];
        legend(entries, SQUARE_PANEL.0)
    }

    /// Draws the observed frequencies with their intervals, the diagonal and the base rate.
    fn draw_upper_panel<DB: DrawingBackend>(&self, area: &Area<DB>, scale: PixelScale) -> Result<()> {
        let (panel, bins) = (self.upper_axes().draw(area, UPPER_PANEL, scale)?, self.usable_bins());
        panel.draw_horizontal_line(BASE_RATE_STROKE, self.base_rate)?;
        panel.draw_vertical_line(BASE_RATE_STROKE, self.base_rate)?;
        panel.draw_line(REFERENCE_STROKE, &[(0.0, 0.0), (1.0, 1.0)])?;
        for bin in &bins {
            panel.draw_vertical_whisker(INTERVAL_STROKE, bin.mean, (bin.low, bin.high))?;
        }
        let line: Vec<_> = bins.iter().map(|bin| (bin.mean, bin.frequency)).collect();
        panel.draw_line(DATA_STROKE, &line)?;
        line.into_iter().try_for_each(|point| panel.draw_dot(BLUE, DOT_RADIUS, point))
    }

    /// Draws the weight of each bin as a bar.
    fn draw_lower_panel<DB: DrawingBackend>(&self, area: &Area<DB>, scale: PixelScale) -> Result<()> {
        let axes = self.lower_axes();
        let (panel, baseline) = (axes.draw(area, LOWER_PANEL, scale)?, axes.y.from);
        for ReliabilityBin { mean, weight, .. } in self.usable_bins() {
            let (from, to) = (mean - HALF_BAR_WIDTH, mean + HALF_BAR_WIDTH);
            panel.fill_rectangle(BLUE, BAR_OPACITY, ((from, baseline), (to, weight)))?;
            panel.draw_line(
                Stroke::solid(BLUE, 0.75),
                &[(from, baseline), (from, weight), (to, weight), (to, baseline)],
            )?;
        }
        Ok(())
    }
}

impl Plot for Reliability {
    fn size(&self) -> (u32, u32) {
        (SQUARE_PANEL.0 as u32, (LOWER_PANEL.top + LOWER_PANEL.height + legend_height(&self.legend())) as u32)
    }

    fn plotting_areas(&self) -> Vec<Frame> {
        vec![self.upper_axes().frame(UPPER_PANEL), self.lower_axes().frame(LOWER_PANEL)]
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, scale: PixelScale) -> Result<()> {
        self.draw_upper_panel(area, scale)?;
        self.draw_lower_panel(area, scale)?;
        draw_legend(&self.legend(), area, LOWER_PANEL.top + LOWER_PANEL.height, scale)
    }
}
