//! Scores by threshold: where the best threshold lies, how sure that is, and under which prior the network was trained.

use plotters::prelude::DrawingBackend;
use scorewise::Prior;

use crate::axes::{Axes, Axis};
use crate::curve::{area_below, peak};
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::lines::{NamedLine, draw_lines, line_keys};
use crate::palette::{FRAME, INK, SKY};
use crate::panel::{CHOSEN, Panel};
use crate::picture::Picture;
use crate::sheet::Sheet;

/// Lines over the threshold, and what is known about the best one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreCurves {
    /// Such as `Scores by threshold`.
    pub title: String,
    /// Threshold and score; drawn straight through the points given.
    pub lines: Vec<NamedLine>,
    /// What the threshold was drawn from in training.
    pub prior: Option<Prior>,
    /// The chosen threshold.
    pub mark: Option<f64>,
    /// Thresholds as good as the chosen one.
    pub interval: Option<(f64, f64)>,
    /// Where 95 % of the best thresholds of resampled rows lie.
    pub spread: Option<(f64, f64)>,
    /// Ranges of thresholds at which a condition is broken.
    pub infeasible: Vec<(f64, f64)>,
    /// Half as wide, so that its words can be read on a phone or in one column of a paper.
    pub is_narrow: bool,
}

/// Draws scores over the threshold, at least from 0 to 1 and never from below −1; what lies outside is cut.
pub fn figure_scores(curves: ScoreCurves) -> Result<Picture> {
    if curves.lines.iter().all(|line| line.stretches().is_empty()) {
        return Err(Error::Empty);
    }
    Picture::of(curves)
}

/// How much of the panel's height the peak of the prior takes.
const PRIOR_HEIGHT: f64 = 0.25;
const PRIOR_COVER: f64 = 0.35;
const SPREAD_COVER: f64 = 0.2;
const INTERVAL_COVER: f64 = 0.35;
/// Some scores grow without bound at the ends. An axis longer than this many times what 95 of 100 points need shows those.
const STRETCH: f64 = 4.0;

impl ScoreCurves {
    fn range(&self) -> (f64, f64) {
        let mut values: Vec<f64> = self.lines.iter().flat_map(NamedLine::defined).map(|(_, y)| y).collect();
        values.sort_by(f64::total_cmp);
        let (Some(lowest), Some(highest)) = (values.first(), values.last()) else { return (0.0, 1.0) };
        let usual = values[(values.len() - 1) * 95 / 100].max(1.0);
        (lowest.clamp(-1.0, 0.0), if *highest > STRETCH * usual { usual } else { highest.max(1.0) })
    }
}

impl Sheet for ScoreCurves {
    fn panel(&self) -> (f64, f64) {
        if self.is_narrow { (380.0, 320.0) } else { (760.0, 380.0) }
    }

    fn axes(&self) -> Axes<'_> {
        let (low, high) = self.range();
        Axes::new(&self.title, Axis::unit("threshold"), Axis::new("score", low, high)).with_flags()
    }

    fn keys(&self) -> Vec<(Mark, String)> {
        let mut keys = line_keys(&self.lines);
        if self.mark.is_some() {
            keys.push((Mark::Line(CHOSEN), "chosen threshold".into()));
        }
        if self.interval.is_some() {
            keys.push((Mark::Band(INK, INTERVAL_COVER), "equally good thresholds".into()));
        }
        if self.spread.is_some() {
            keys.push((Mark::Band(FRAME, SPREAD_COVER), "95 % of best thresholds, resampled".into()));
        }
        if !self.infeasible.is_empty() {
            keys.push((Mark::Hatch, "conditions not met".into()));
        }
        if self.prior.is_some() {
            keys.push((Mark::Band(SKY, PRIOR_COVER), "prior density, scaled".into()));
        }
        keys
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        if let Some(spread) = self.spread {
            panel.band(FRAME, SPREAD_COVER, spread)?;
        }
        if let Some(prior) = &self.prior {
            let (peak, (low, high)) = (peak(prior), self.range());
            let scaled = |(x, f): (f64, f64)| (x, low + PRIOR_HEIGHT * (high - low) * f / peak);
            let area: Vec<_> = area_below(prior, peak).into_iter().map(scaled).collect();
            panel.fill(SKY, PRIOR_COVER, &area)?;
        }
        for range in &self.infeasible {
            panel.hatch(*range)?;
        }
        if let Some(interval) = self.interval {
            panel.band(INK, INTERVAL_COVER, interval)?;
        }
        draw_lines(&self.lines, panel)?;
        panel.chosen(self.mark)
    }
}
