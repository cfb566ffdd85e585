//! Scores by threshold, with the chosen threshold, its uncertainty and the prior used in training.

use plotters::prelude::DrawingBackend;
use scorewise::Prior;

use crate::axes::{Axes, Axis};
use crate::curve::{area_under_density, peak_density};
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::lines::{NamedLine, draw_lines, line_entries};
use crate::palette::{FRAME, INK, SKY};
use crate::panel::{CHOSEN_STROKE, Panel};
use crate::picture::Picture;
use crate::single_panel::SinglePanel;

/// Scores by threshold, and the chosen threshold with its uncertainty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreCurves {
    /// Title of the figure, such as `Scores by threshold`.
    pub title: String,
    /// One line per score: threshold as x and score as y. Consecutive points are connected by straight lines.
    pub lines: Vec<NamedLine>,
    /// The prior of the threshold that was used in training.
    pub prior: Option<Prior>,
    /// The chosen threshold, marked with a vertical line.
    pub mark: Option<f64>,
    /// The interval of thresholds with the same score as the chosen one.
    pub interval: Option<(f64, f64)>,
    /// 95 % interval of the best threshold, or of the smoothed threshold, over the bootstrap replicates.
    pub spread: Option<(f64, f64)>,
    /// The ranges of thresholds at which at least one condition of the user is not met; they are hatched.
    pub infeasible: Vec<(f64, f64)>,
    /// Whether the figure is half as wide as usual, so that its text stays legible on a phone or in one column of a paper.
    pub is_narrow: bool,
}

/// Draws scores by threshold. The y axis covers at least [0, 1] and never starts below −1; values outside the axis are clipped.
pub fn figure_scores(curves: ScoreCurves) -> Result<Picture> {
    if curves.lines.iter().all(|line| line.segments().is_empty()) {
        return Err(Error::Empty);
    }
    Picture::new(curves)
}

/// Height of the peak of the prior's density, as a fraction of the height of the panel.
const PRIOR_HEIGHT: f64 = 0.25;
/// Opacity of the area under the prior's density.
const PRIOR_OPACITY: f64 = 0.35;
/// Opacity of the band that shows the 95 % interval of the best threshold.
const SPREAD_OPACITY: f64 = 0.2;
/// Opacity of the band that shows the thresholds that are as good as the chosen one.
const INTERVAL_OPACITY: f64 = 0.35;
/// Some scores grow without bound as the threshold approaches 0 or 1. Let q be the 95th percentile of the values, or 1 if the percentile is below 1.
/// If the maximum is more than `OUTLIER_FACTOR` times q, the y axis ends at q.
const OUTLIER_FACTOR: f64 = 4.0;

impl ScoreCurves {
    /// The range of the y axis, which contains [0, 1].
    fn y_range(&self) -> (f64, f64) {
        let mut values: Vec<f64> = self.lines.iter().flat_map(NamedLine::defined_points).map(|(_, y)| y).collect();
        values.sort_by(f64::total_cmp);
        let (Some(lowest), Some(highest)) = (values.first(), values.last()) else { return (0.0, 1.0) };
        let percentile_95 = values[(values.len() - 1) * 95 / 100].max(1.0);
        (
            lowest.clamp(-1.0, 0.0),
            if *highest > OUTLIER_FACTOR * percentile_95 { percentile_95 } else { highest.max(1.0) },
        )
    }
}

impl SinglePanel for ScoreCurves {
    fn panel_size(&self) -> (f64, f64) {
        if self.is_narrow { (380.0, 320.0) } else { (760.0, 380.0) }
    }

    fn axes(&self) -> Axes<'_> {
        let (low, high) = self.y_range();
        Axes::new(&self.title, Axis::from_0_to_1("threshold"), Axis::new("score", low, high)).with_space_for_label()
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        let mut entries = line_entries(&self.lines);
        if self.mark.is_some() {
            entries.push((Mark::Line(CHOSEN_STROKE), "chosen threshold".into()));
        }
        if self.interval.is_some() {
            entries.push((Mark::Band(INK, INTERVAL_OPACITY), "equally good thresholds".into()));
        }
        if self.spread.is_some() {
            entries.push((Mark::Band(FRAME, SPREAD_OPACITY), "best threshold, 95 % interval".into()));
        }
        if !self.infeasible.is_empty() {
            entries.push((Mark::Hatch, "conditions not met".into()));
        }
        if self.prior.is_some() {
            entries.push((Mark::Band(SKY, PRIOR_OPACITY), "prior density, scaled".into()));
        }
        entries
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        if let Some(spread) = self.spread {
            panel.fill_vertical_band(FRAME, SPREAD_OPACITY, spread)?;
        }
        if let Some(prior) = &self.prior {
            let (peak, (low, high)) = (peak_density(prior), self.y_range());
            let scaled = |(x, f): (f64, f64)| (x, low + PRIOR_HEIGHT * (high - low) * f / peak);
            let area: Vec<_> = area_under_density(prior, peak).into_iter().map(scaled).collect();
            panel.fill_polygon(SKY, PRIOR_OPACITY, &area)?;
        }
        for range in &self.infeasible {
            panel.draw_hatching(*range)?;
        }
        if let Some(interval) = self.interval {
            panel.fill_vertical_band(INK, INTERVAL_OPACITY, interval)?;
        }
        draw_lines(&self.lines, panel)?;
        panel.draw_chosen_threshold(self.mark)
    }
}
