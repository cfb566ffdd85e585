//! Histogram of the bootstrap distribution of the difference of a score between two forecasts; it shows whether the 95 % interval of the
//! difference excludes 0.

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::{BAR_OPACITY, Mark};
use crate::palette::{BLUE, INK, VERMILLION};
use crate::panel::{CAP_HALF_LENGTH, Panel};
use crate::picture::Picture;
use crate::single_panel::SinglePanel;
use crate::stroke::Stroke;

/// Differences of a score, first forecast minus second forecast.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// Title of the figure, such as `network minus climatology`.
    pub title: String,
    /// Name of the score.
    pub score: String,
    /// One difference per bootstrap replicate.
    pub values: Vec<f64>,
    /// Difference of the scores on the original rows, without resampling.
    pub difference: f64,
    /// The 95 % interval of the difference: the central 95 % of `values`.
    pub interval: (f64, f64),
}

/// Draws a histogram of the differences in the bootstrap replicates, and a vertical line at 0. A second vertical line shows the difference on the
/// original rows; above the bars, an error bar shows its 95 % interval.
pub fn figure_difference(differences: Differences) -> Result<Picture> {
    if differences.finite_values().is_empty() {
        return Err(Error::Empty);
    }
    Picture::new(differences)
}

/// Number of bars of the histogram.
const BAR_COUNT: usize = 40;
/// Style of the vertical line at the difference on the original (not resampled) rows, and of its error bar.
const DIFFERENCE_STROKE: Stroke = Stroke::solid(VERMILLION, 2.0);
/// Style of the vertical line at a difference of 0.
const ZERO_STROKE: Stroke = Stroke::solid(INK, 1.25).dashed(4.0, 3.0);
/// Height of the highest bar, as a fraction of the height of the panel.
const HIGHEST_BAR_HEIGHT: f64 = 0.86;
/// Height at which the error bar is drawn, as a fraction of the height of the panel.
const WHISKER_HEIGHT: f64 = 0.93;
/// Margin on both sides of the x axis, as a fraction of its range.
const X_MARGIN: f64 = 0.04;
/// The x axis includes 0 only if the differences then still cover at least this fraction of the length of the axis.
const MIN_DATA_FRACTION: f64 = 0.1;

impl Differences {
    /// The differences that are finite.
    fn finite_values(&self) -> Vec<f64> {
        self.values.iter().copied().filter(|value| value.is_finite()).collect()
    }

    /// Lowest and highest difference. If the two are equal, they are moved apart, so that the bars have a positive width.
    fn lowest_and_highest(&self) -> (f64, f64) {
        let values = self.finite_values();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let axis = Axis::new("", low, high);
        (axis.from, axis.to)
    }

    /// Number of differences in each bar. A difference at the border between two bars is counted in the upper one; the last bar includes its upper
    /// end.
    fn bar_counts(&self) -> Vec<usize> {
        let ((low, high), mut counts) = (self.lowest_and_highest(), vec![0; BAR_COUNT]);
        for value in self.finite_values() {
            counts[(((value - low) / (high - low) * BAR_COUNT as f64) as usize).min(BAR_COUNT - 1)] += 1;
        }
        counts
    }

    /// Number of differences in the highest bar.
    fn highest_count(&self) -> f64 {
        self.bar_counts().into_iter().max().unwrap_or(0) as f64
    }

    /// The range of the x axis: all differences, the 95 % interval, and 0 unless 0 is far from the differences (see [`MIN_DATA_FRACTION`]).
    fn x_range(&self) -> (f64, f64) {
        let ends = [self.difference, self.interval.0, self.interval.1].into_iter().filter(|end| end.is_finite());
        let (low, high) =
            ends.fold(self.lowest_and_highest(), |(low, high): (f64, f64), end| (low.min(end), high.max(end)));
        let (low_with_zero, high_with_zero) = (low.min(0.0), high.max(0.0));
        let is_zero_near = high - low >= MIN_DATA_FRACTION * (high_with_zero - low_with_zero);
        let (low, high) = if is_zero_near { (low_with_zero, high_with_zero) } else { (low, high) };
        let margin = X_MARGIN * (high - low);
        (low - margin, high + margin)
    }
}

impl SinglePanel for Differences {
    fn axes(&self) -> Axes<'_> {
        let (low, high) = self.x_range();
        let x = Axis::new(format!("difference of {} (first − second)", self.score), low, high);
        Axes::new(
            &self.title,
            x,
            Axis::new("bootstrap replicates", 0.0, self.highest_count() / HIGHEST_BAR_HEIGHT).with_integer_ticks(),
        )
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        vec![
            (Mark::Bar(BLUE), "resampled differences".into()),
            (Mark::Whisker(DIFFERENCE_STROKE), "difference and 95 % interval".into()),
            (Mark::Line(ZERO_STROKE), "no difference".into()),
        ]
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        let (low, high) = self.lowest_and_highest();
        let edge = |index: usize| low + (high - low) * index as f64 / BAR_COUNT as f64;
        for (index, count) in self.bar_counts().into_iter().enumerate().filter(|(_, count)| *count > 0) {
            let (from, to, height) = (edge(index), edge(index + 1), count as f64);
            panel.fill_rectangle(BLUE, BAR_OPACITY, ((from, 0.0), (to, height)))?;
            panel.draw_line(Stroke::solid(BLUE, 0.75), &[(from, 0.0), (from, height), (to, height), (to, 0.0)])?;
        }
        panel.draw_vertical_line(ZERO_STROKE, 0.0)?;
        let y = WHISKER_HEIGHT * self.highest_count() / HIGHEST_BAR_HEIGHT;
        panel.draw_line(
            DIFFERENCE_STROKE,
            &[(self.difference, 0.0), (self.difference, y + CAP_HALF_LENGTH * panel.pixel_size().1)],
        )?;
        panel.draw_horizontal_whisker(DIFFERENCE_STROKE, y, self.interval)
    }
}
