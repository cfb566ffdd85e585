//! Training curves: losses, score, and the fraction of predictions inside the support of the prior, by epoch.
//!
//! An ensemble is shown as a band from the lowest to the highest value of its members, and a line through the median of the members that are still
//! training.

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::palette::{BLUE, GREEN, INK, PURPLE, VERMILLION};
use crate::panel::Panel;
use crate::panel_grid::{GridPanel, PanelGrid};
use crate::picture::{Area, Picture, PixelScale, Rect};
use crate::stroke::Stroke;

/// The losses of one epoch, and the fraction of predictions inside the support of the prior.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EpochValues {
    /// Loss on the training rows in this epoch.
    pub training: f64,
    /// Loss on the validation rows after the epoch.
    pub validation: f64,
    /// Fraction of predictions inside the support of the prior. The gradient of the loss is 0 for all other predictions.
    pub coverage: f64,
}

/// The training history of one ensemble member.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemberCurves {
    /// Epochs of the warm-up, in which cross-entropy is minimised; may be empty.
    pub warm_up: Vec<EpochValues>,
    /// Epochs after the warm-up, in which the main loss is minimised.
    pub main: Vec<EpochValues>,
    /// Index, from 0, of the epoch in `main` whose weights were kept.
    pub kept: Option<usize>,
}

/// A score on the validation rows, epoch by epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoreByEpoch {
    /// Title of the panel, such as `tss`.
    pub name: String,
    /// One vector per ensemble member, with one value per epoch of the main loss.
    pub values: Vec<Vec<f64>>,
}

/// Training curves of all members of an ensemble.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingCurves {
    /// The members of the ensemble. At least one member must have at least one epoch.
    pub members: Vec<MemberCurves>,
    /// Title of the panel of the main loss.
    pub loss: String,
    /// The score by epoch; `None` when the score was not measured.
    pub score: Option<ScoreByEpoch>,
}

/// Draws the warm-up loss, the main loss, the score, and the fraction of predictions inside the support of the prior. Each has its own panel.
/// Panels without data are left out.
pub fn figure_training(training: &TrainingCurves) -> Result<Picture> {
    let panels = training.panels();
    if panels.is_empty() {
        return Err(Error::Empty);
    }
    let entries = training.legend_entries(&panels);
    Picture::new(PanelGrid { panels, entries, size: PANEL_SIZE })
}

/// One quantity (such as the training loss) of all ensemble members, by epoch.
struct EpochSeries {
    stroke: Stroke,
    /// One vector per ensemble member, with one value per epoch.
    members: Vec<Vec<f64>>,
}

/// A panel that shows quantities by epoch.
struct EpochPanel {
    title: String,
    label: &'static str,
    /// Range of the y axis; `None` to use the range of the values.
    range: Option<(f64, f64)>,
    series: Vec<EpochSeries>,
    /// One dot for each member with a kept epoch. A pair holds this epoch, counted from 0, and the y value of the dot.
    kept: Vec<(usize, f64)>,
}

/// Width and height of a panel, in pixels.
const PANEL_SIZE: (f64, f64) = (360.0, 270.0);
/// Style of the line that shows the training loss.
const TRAINING_STROKE: Stroke = Stroke::solid(BLUE, 1.75);
/// Style of the line that shows the validation loss.
const VALIDATION_STROKE: Stroke = Stroke::solid(VERMILLION, 1.75);
/// Style of the line that shows the score.
const SCORE_STROKE: Stroke = Stroke::solid(GREEN, 1.75);
/// Style of the line that shows the fraction of predictions inside the support of the prior.
const COVERAGE_STROKE: Stroke = Stroke::solid(PURPLE, 1.75);
/// Opacity of the band from the lowest to the highest value of the ensemble members.
const BAND_OPACITY: f64 = 0.2;
/// Radius of the dot at an epoch whose weights were kept, in pixels.
const KEPT_RADIUS: f64 = 3.0;
/// Margin below and above the values on the y axis, as a fraction of the range of the values.
const Y_MARGIN: f64 = 0.06;

impl TrainingCurves {
    /// The panels that have data.
    fn panels(&self) -> Vec<EpochPanel> {
        let has_main_epochs = self.members.iter().any(|member| !member.main.is_empty());
        let coverage = self.values_by_member(
            |member| if has_main_epochs { &member.main } else { &member.warm_up },
            |values| values.coverage,
        );
        let mut panels = vec![
            self.loss_panel("Cross-entropy warm-up", |member| &member.warm_up, Vec::new()),
            self.loss_panel(
                &self.loss,
                |member| &member.main,
                self.kept_epochs_by_member(|member, epoch| Some(member.main.get(epoch)?.validation)),
            ),
        ];
        if let Some(score) = &self.score {
            panels.push(EpochPanel {
                title: score.name.clone(),
                label: "score",
                range: None,
                series: vec![EpochSeries {
                    stroke: SCORE_STROKE,
                    members: score.values.iter().take(self.members.len()).cloned().collect(),
                }],
                kept: self.kept_epochs_by_index(|index, epoch| score.values.get(index)?.get(epoch).copied()),
            });
        }
        panels.push(EpochPanel {
            title: "Predictions in the prior's support".into(),
            label: "coverage",
            range: Some((0.0, 1.0)),
            series: vec![EpochSeries { stroke: COVERAGE_STROKE, members: coverage }],
            kept: Vec::new(),
        });
        panels.retain(|panel| panel.series.iter().any(|series| !series.summaries().is_empty()));
        panels
    }

    /// The values of one quantity for every ensemble member, by epoch.
    fn values_by_member<'a>(
        &'a self,
        epochs: impl Fn(&'a MemberCurves) -> &'a Vec<EpochValues>,
        quantity: fn(&EpochValues) -> f64,
    ) -> Vec<Vec<f64>> {
        self.members.iter().map(|member| epochs(member).iter().map(quantity).collect()).collect()
    }

    /// The panel with the training and the validation loss.
    fn loss_panel(
        &self,
        title: &str,
        epochs: fn(&MemberCurves) -> &Vec<EpochValues>,
        kept: Vec<(usize, f64)>,
    ) -> EpochPanel {
        let series = vec![
            EpochSeries { stroke: TRAINING_STROKE, members: self.values_by_member(epochs, |values| values.training) },
            EpochSeries {
                stroke: VALIDATION_STROKE,
                members: self.values_by_member(epochs, |values| values.validation),
            },
        ];
        EpochPanel { title: title.into(), label: "loss", range: None, series, kept }
    }

    /// A pair of epoch and value for each ensemble member. The epoch is the one whose weights were kept, and `value` computes the value from the
    /// member and this epoch. Members without such an epoch or without a finite value are left out.
    fn kept_epochs_by_member(&self, value: impl Fn(&MemberCurves, usize) -> Option<f64>) -> Vec<(usize, f64)> {
        self.kept_epochs_by_index(|index, epoch| value(&self.members[index], epoch))
    }

    /// Like [`Self::kept_epochs_by_member`], but `value` gets the index of the member instead of the member.
    fn kept_epochs_by_index(&self, value: impl Fn(usize, usize) -> Option<f64>) -> Vec<(usize, f64)> {
        let dot = |(index, member): (usize, &MemberCurves)| {
            let epoch = member.kept?;
            Some((epoch, value(index, epoch).filter(|value| value.is_finite())?))
        };
        self.members.iter().enumerate().filter_map(dot).collect()
    }
}

/// Minimum, median and maximum of a quantity over the ensemble members after one epoch; epochs are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct EpochSummary {
    epoch: f64,
    low: f64,
    median: f64,
    high: f64,
}

impl EpochSeries {
    /// One summary for every epoch that any member reached; values that are not finite are ignored.
    fn summaries(&self) -> Vec<EpochSummary> {
        let epochs = self.members.iter().map(Vec::len).max().unwrap_or(0);
        let summary = |epoch: usize| {
            let mut values: Vec<f64> = self.members.iter().filter_map(|member| member.get(epoch)).copied().collect();
            values.retain(|value| value.is_finite());
            values.sort_by(f64::total_cmp);
            let (low, high) = (*values.first()?, *values.last()?);
            let median = 0.5 * (values[(values.len() - 1) / 2] + values[values.len() / 2]);
            Some(EpochSummary { epoch: (epoch + 1) as f64, low, median, high })
        };
        (0..epochs).filter_map(summary).collect()
    }

    /// Draws the median of the members as a line and, if there are several members, their range as a band.
    fn draw<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        let summaries = self.summaries();
        let upper = summaries.iter().map(|summary| (summary.epoch, summary.high));
        let band: Vec<_> = upper.chain(summaries.iter().rev().map(|summary| (summary.epoch, summary.low))).collect();
        if self.members.len() > 1 {
            panel.fill_polygon(self.stroke.colour, BAND_OPACITY, &band)?;
        }
        let line: Vec<_> = summaries.iter().map(|summary| (summary.epoch, summary.median)).collect();
        match line[..] {
            [single] => panel.draw_dot(self.stroke.colour, 2.5, single),
            _ => panel.draw_line(self.stroke, &line),
        }
    }
}

impl GridPanel for EpochPanel {
    fn axes(&self) -> Axes<'_> {
        let all: Vec<EpochSummary> = self.series.iter().flat_map(EpochSeries::summaries).collect();
        let epochs = all.iter().map(|summary| summary.epoch).fold(1.0, f64::max);
        let (low, high) = self.range.unwrap_or_else(|| {
            let low = all.iter().map(|summary| summary.low).fold(f64::INFINITY, f64::min);
            let high = all.iter().map(|summary| summary.high).fold(f64::NEG_INFINITY, f64::max);
            (low - Y_MARGIN * (high - low), high + Y_MARGIN * (high - low))
        });
        Axes::new(&self.title, Axis::new("epoch", 1.0, epochs).with_integer_ticks(), Axis::new(self.label, low, high))
    }

    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, rect: Rect, scale: PixelScale) -> Result<()> {
        let panel = self.axes().draw(area, rect, scale)?;
        for series in &self.series {
            series.draw(&panel)?;
        }
        self.kept.iter().try_for_each(|(epoch, value)| panel.draw_dot(INK, KEPT_RADIUS, ((epoch + 1) as f64, *value)))
    }
}

impl TrainingCurves {
    /// The entries of the legend, each with its symbol and its name.
    fn legend_entries(&self, panels: &[EpochPanel]) -> Vec<(Mark, String)> {
        let is_drawn =
            |stroke: Stroke| panels.iter().flat_map(|panel| &panel.series).any(|series| series.stroke == stroke);
        let names = [
            (TRAINING_STROKE, "training"),
            (VALIDATION_STROKE, "validation"),
            (SCORE_STROKE, "score"),
            (COVERAGE_STROKE, "coverage"),
        ];
        let mut entries: Vec<(Mark, String)> = names
            .into_iter()
            .filter(|(stroke, _)| is_drawn(*stroke))
            .map(|(stroke, name)| {
                (Mark::Line(stroke), if self.members.len() > 1 { format!("{name}, median") } else { name.into() })
            })
            .collect();
        if self.members.len() > 1 {
            entries.push((Mark::Band(BLUE, BAND_OPACITY), "range over the ensemble members".into()));
        }
        if panels.iter().any(|panel| !panel.kept.is_empty()) {
            entries.push((Mark::Dot(INK), if self.members.len() > 1 { "epochs kept" } else { "epoch kept" }.into()));
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_epoch_is_taken_over_the_members_that_reached_it() {
        let members = vec![vec![4.0, 3.0, 2.0], vec![1.0, f64::NAN], vec![2.0]];
        let summaries = EpochSeries { stroke: TRAINING_STROKE, members }.summaries();
        let at = |epoch: f64, low: f64, median: f64, high: f64| EpochSummary { epoch, low, median, high };
        assert_eq!(summaries, [at(1.0, 1.0, 2.0, 4.0), at(2.0, 3.0, 3.0, 3.0), at(3.0, 2.0, 2.0, 2.0)]);
        let two = EpochSeries { stroke: TRAINING_STROKE, members: vec![vec![1.0], vec![2.0]] }.summaries();
        assert_eq!(two, [at(1.0, 1.0, (1.0 + 2.0) / 2.0, 2.0)]);
    }
}
