//! How a training went, epoch by epoch: losses, score, and how much of the data the prior's support covers.
//!
//! An ensemble is a band from its lowest to its highest member and a line through their median, over those still running.

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};

use crate::legend::Mark;
use crate::palette::{BLUE, GREEN, INK, PURPLE, VERMILLION};
use crate::panel::Panel;
use crate::panes::{Pane, Panes};
use crate::picture::{Area, Picture, Place, Scale};
use crate::stroke::Stroke;

/// What was measured after one epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EpochValues {
    /// Loss on the rows that are learned from.
    pub training: f64,
    /// Loss on the rows kept back.
    pub validation: f64,
    /// The share of predictions in the prior's support: elsewhere the loss has no slope.
    pub coverage: f64,
}

/// One member of an ensemble.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemberCurves {
    /// Epochs with cross-entropy, before the score takes over; often none.
    pub warm_up: Vec<EpochValues>,
    /// Epochs with the main loss.
    pub main: Vec<EpochValues>,
    /// The main epoch, from 0, whose weights were kept.
    pub kept: Option<usize>,
}

/// A score on the rows kept back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreByEpoch {
    /// Such as `tss`.
    pub name: String,
    /// For each member, in order, one value for each main epoch.
    pub values: Vec<Vec<f64>>,
}

/// The training of all members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingCurves {
    /// At least one with an epoch.
    pub members: Vec<MemberCurves>,
    /// The name of the main loss.
    pub loss: String,
    /// The score by epoch, where it was measured.
    pub score: Option<ScoreByEpoch>,
}

/// Draws the losses (warm-up only if there was one), the score if there is one, and the coverage, each in its own panel.
pub fn figure_training(training: &TrainingCurves) -> Result<Picture> {
    let panes = training.panels();
    if panes.is_empty() {
        return Err(Error::Empty);
    }
    let keys = training.keys(&panes);
    Picture::of(Panes { panes, keys, size: PANEL })
}

/// A quantity of all members by epoch.
struct Series {
    stroke: Stroke,
    /// One for each member.
    members: Vec<Vec<f64>>,
}

struct EpochPanel {
    title: String,
    label: &'static str,
    /// Where the y axis ends, if that is known before.
    range: Option<(f64, f64)>,
    series: Vec<Series>,
    /// Kept epochs, from 0, with the value there.
    kept: Vec<(usize, f64)>,
}

const PANEL: (f64, f64) = (360.0, 270.0);
const TRAINING: Stroke = Stroke::solid(BLUE, 1.75);
const VALIDATION: Stroke = Stroke::solid(VERMILLION, 1.75);
const SCORE: Stroke = Stroke::solid(GREEN, 1.75);
const COVERAGE: Stroke = Stroke::solid(PURPLE, 1.75);
const BAND_COVER: f64 = 0.2;
const KEPT_RADIUS: f64 = 3.0;
/// Below and above the values, as a share of their range.
const ROOM: f64 = 0.06;

impl TrainingCurves {
    fn panels(&self) -> Vec<EpochPanel> {
        let coverage_of_main = self.members.iter().any(|member| !member.main.is_empty());
        let coverage =
            self.every(|member| if coverage_of_main { &member.main } else { &member.warm_up }, |v| v.coverage);
        let mut panels = vec![
            self.losses("Cross-entropy first", |member| &member.warm_up, Vec::new()),
            self.losses(
                &self.loss,
                |member| &member.main,
                self.kept(|member, at| Some(member.main.get(at)?.validation)),
            ),
        ];
        if let Some(score) = &self.score {
            panels.push(EpochPanel {
                title: score.name.clone(),
                label: "score",
                range: None,
                series: vec![Series {
                    stroke: SCORE,
                    members: score.values.iter().take(self.members.len()).cloned().collect(),
                }],
                kept: self.kept_of(|number, at| score.values.get(number)?.get(at).copied()),
            });
        }
        panels.push(EpochPanel {
            title: "Predictions in the prior's support".into(),
            label: "coverage",
            range: Some((0.0, 1.0)),
            series: vec![Series { stroke: COVERAGE, members: coverage }],
            kept: Vec::new(),
        });
        panels.retain(|panel| panel.series.iter().any(|series| !series.summary().is_empty()));
        panels
    }

    /// One quantity of every member.
    fn every<'a>(
        &'a self,
        epochs: impl Fn(&'a MemberCurves) -> &'a Vec<EpochValues>,
        of: fn(&EpochValues) -> f64,
    ) -> Vec<Vec<f64>> {
        self.members.iter().map(|member| epochs(member).iter().map(of).collect()).collect()
    }

    fn losses(
        &self,
        title: &str,
        epochs: fn(&MemberCurves) -> &Vec<EpochValues>,
        kept: Vec<(usize, f64)>,
    ) -> EpochPanel {
        let series = vec![
            Series { stroke: TRAINING, members: self.every(epochs, |values| values.training) },
            Series { stroke: VALIDATION, members: self.every(epochs, |values| values.validation) },
        ];
        EpochPanel { title: title.into(), label: "loss", range: None, series, kept }
    }

    fn kept(&self, value: impl Fn(&MemberCurves, usize) -> Option<f64>) -> Vec<(usize, f64)> {
        self.kept_of(|number, at| value(&self.members[number], at))
    }

    /// The kept epoch of each member that has one, with the value there.
    fn kept_of(&self, value: impl Fn(usize, usize) -> Option<f64>) -> Vec<(usize, f64)> {
        let dot = |(number, member): (usize, &MemberCurves)| {
            let at = member.kept?;
            Some((at, value(number, at).filter(|value| value.is_finite())?))
        };
        self.members.iter().enumerate().filter_map(dot).collect()
    }
}

/// Lowest, middle and highest member after an epoch, from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Summary {
    epoch: f64,
    low: f64,
    median: f64,
    high: f64,
}

impl Series {
    /// Of every epoch that some member has; values that are no numbers do not count.
    fn summary(&self) -> Vec<Summary> {
        let epochs = self.members.iter().map(Vec::len).max().unwrap_or(0);
        let at = |epoch: usize| {
            let mut values: Vec<f64> = self.members.iter().filter_map(|member| member.get(epoch)).copied().collect();
            values.retain(|value| value.is_finite());
            values.sort_by(f64::total_cmp);
            let (low, high) = (*values.first()?, *values.last()?);
            let median = 0.5 * (values[(values.len() - 1) / 2] + values[values.len() / 2]);
            Some(Summary { epoch: (epoch + 1) as f64, low, median, high })
        };
        (0..epochs).filter_map(at).collect()
    }

    fn draw<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        let summary = self.summary();
        let upper = summary.iter().map(|at| (at.epoch, at.high));
        let band: Vec<_> = upper.chain(summary.iter().rev().map(|at| (at.epoch, at.low))).collect();
        if self.members.len() > 1 {
            panel.fill(self.stroke.colour, BAND_COVER, &band)?;
        }
        let line: Vec<_> = summary.iter().map(|at| (at.epoch, at.median)).collect();
        match line[..] {
            [alone] => panel.dot(self.stroke.colour, 2.5, alone),
            _ => panel.line(self.stroke, &line),
        }
    }
}

impl Pane for EpochPanel {
    fn axes(&self) -> Axes<'_> {
        let all: Vec<Summary> = self.series.iter().flat_map(Series::summary).collect();
        let epochs = all.iter().map(|at| at.epoch).fold(1.0, f64::max);
        let (low, high) = self.range.unwrap_or_else(|| {
            let low = all.iter().map(|at| at.low).fold(f64::INFINITY, f64::min);
            let high = all.iter().map(|at| at.high).fold(f64::NEG_INFINITY, f64::max);
            (low - ROOM * (high - low), high + ROOM * (high - low))
        });
        Axes::new(&self.title, Axis::new("epoch", 1.0, epochs).whole(), Axis::new(self.label, low, high))
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, place: Place, scale: Scale) -> Result<()> {
        let panel = self.axes().draw(area, place, scale)?;
        for series in &self.series {
            series.draw(&panel)?;
        }
        self.kept.iter().try_for_each(|(epoch, value)| panel.dot(INK, KEPT_RADIUS, ((epoch + 1) as f64, *value)))
    }
}

impl TrainingCurves {
    /// What stands below the panels.
    fn keys(&self, panels: &[EpochPanel]) -> Vec<(Mark, String)> {
        let shown = |stroke: Stroke| panels.iter().flat_map(|panel| &panel.series).any(|one| one.stroke == stroke);
        let names = [(TRAINING, "training"), (VALIDATION, "validation"), (SCORE, "score"), (COVERAGE, "coverage")];
        let mut keys: Vec<(Mark, String)> = names
            .into_iter()
            .filter(|(stroke, _)| shown(*stroke))
            .map(|(stroke, name)| {
                (Mark::Line(stroke), if self.members.len() > 1 { format!("{name}, median") } else { name.into() })
            })
            .collect();
        if self.members.len() > 1 {
            keys.push((Mark::Band(BLUE, BAND_COVER), "lowest to highest member".into()));
        }
        if panels.iter().any(|panel| !panel.kept.is_empty()) {
            keys.push((Mark::Dot(INK), if self.members.len() > 1 { "epochs kept" } else { "epoch kept" }.into()));
        }
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_over_members_still_running() {
        let members = vec![vec![4.0, 3.0, 2.0], vec![1.0, f64::NAN], vec![2.0]];
        let summary = Series { stroke: TRAINING, members }.summary();
        let at = |epoch: f64, low: f64, median: f64, high: f64| Summary { epoch, low, median, high };
        assert_eq!(summary, [at(1.0, 1.0, 2.0, 4.0), at(2.0, 3.0, 3.0, 3.0), at(3.0, 2.0, 2.0, 2.0)]);
        let two = Series { stroke: TRAINING, members: vec![vec![1.0], vec![2.0]] }.summary();
        assert_eq!(two, [at(1.0, 1.0, (1.0 + 2.0) / 2.0, 2.0)]);
    }
}
