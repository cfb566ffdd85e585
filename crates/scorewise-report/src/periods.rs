//! Figure of a score over time. Each period has a dot for its score and a whisker for the 95 % interval. A line and a band show an earlier score and
//! its 95 % interval.

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::palette::{BLUE, INK, ORANGE};
use crate::panel::Panel;
use crate::picture::Picture;
use crate::single_panel::SinglePanel;
use crate::stroke::Stroke;

/// A score and its 95 % interval. Each of them is `None` if it is undefined.
pub type ScoreWithInterval = (Option<f64>, Option<(f64, f64)>);

/// A score in each period of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeriodScores {
    /// Title of the figure.
    pub title: String,
    /// Label of the x axis, which counts periods from 1.
    pub label: String,
    /// Name of the score.
    pub score: String,
    /// The score of each period, in the order of time.
    pub periods: Vec<ScoreWithInterval>,
    /// The earlier score with which the periods are compared.
    pub before: Option<f64>,
    /// The 95 % interval of the earlier score.
    pub interval_before: Option<(f64, f64)>,
}

/// Draws the score of each period as a dot with a whisker for its 95 % interval. A line and a band show the earlier score and its interval.
pub fn figure_periods(scores: PeriodScores) -> Result<Picture> {
    if scores.values().next().is_none() {
        return Err(Error::Empty);
    }
    Picture::new(scores)
}

/// Style of the whisker of a period.
const WHISKER: Stroke = Stroke::solid(INK, 1.25);
/// Style of the line that shows the earlier score.
const EARLIER_SCORE: Stroke = Stroke::solid(ORANGE, 1.5);
/// Style of the line that joins the scores of the periods.
const LINE: Stroke = Stroke::solid(BLUE, 1.0);
/// Opacity of the bands that show 95 % intervals.
const BAND_OPACITY: f64 = 0.2;
/// Radius of the dot of a period, in pixels.
const RADIUS: f64 = 3.0;
/// Greatest number of periods whose intervals are drawn as whiskers. More whiskers would cover each other, so a band is drawn instead.
const MAX_WHISKERS: usize = 60;
/// Margin below and above the values on the y axis, as a fraction of their range.
const Y_MARGIN: f64 = 0.06;

impl PeriodScores {
    /// The periods with a finite score. Each item is the number of the period, counted from 1, and its score.
    fn values(&self) -> impl Iterator<Item = (f64, f64)> {
        let value = |(at, (value, _)): (usize, &ScoreWithInterval)| Some(((at + 1) as f64, (*value)?));
        self.periods.iter().enumerate().filter_map(value).filter(|(_, value)| value.is_finite())
    }

    /// The periods with a finite interval. Each item is the number of the period, counted from 1, and its interval.
    fn intervals(&self) -> impl Iterator<Item = (f64, (f64, f64))> {
        let interval = |(at, (_, ends)): (usize, &ScoreWithInterval)| Some(((at + 1) as f64, (*ends)?));
        let is_finite = |(_, (low, high)): &(f64, (f64, f64))| low.is_finite() && high.is_finite();
        self.periods.iter().enumerate().filter_map(interval).filter(is_finite)
    }

    /// The range of the x axis, with half a period on both sides.
    fn x_range(&self) -> (f64, f64) {
        (0.5, self.periods.len() as f64 + 0.5)
    }

    /// The range of the y axis, which contains all scores and intervals.
    fn y_range(&self) -> (f64, f64) {
        let before =
            self.before.into_iter().chain(self.interval_before.into_iter().flat_map(|(low, high)| [low, high]));
        let ends = self.intervals().flat_map(|(_, (low, high))| [low, high]);
        let numbers =
            self.values().map(|(_, value)| value).chain(ends).chain(before).filter(|number| number.is_finite());
        let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        (low - Y_MARGIN * (high - low), high + Y_MARGIN * (high - low))
    }
}

impl SinglePanel for PeriodScores {
    fn panel_size(&self) -> (f64, f64) {
        (760.0, 340.0)
    }

    fn axes(&self) -> Axes<'_> {
        let (low, high) = self.y_range();
        let (from, to) = self.x_range();
        let x = Axis::new(self.label.as_str(), from, to).with_integer_ticks();
        Axes::new(&self.title, x, Axis::new(self.score.as_str(), low, high))
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        let mut entries = vec![(Mark::Dot(BLUE), "score of a period".to_string())];
        entries.push(match self.periods.len() > MAX_WHISKERS {
            true => (Mark::Band(BLUE, BAND_OPACITY), "95 % interval".into()),
            false => (Mark::Whisker(WHISKER), "95 % interval".into()),
        });
        if self.before.is_some() {
            entries.push((Mark::Line(EARLIER_SCORE), "earlier score".into()));
        }
        if self.interval_before.is_some() {
            entries.push((Mark::Band(ORANGE, BAND_OPACITY), "95 % interval of the earlier score".into()));
        }
        entries
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        let (from, to) = self.x_range();
        if let Some((low, high)) = self.interval_before.filter(|(low, high)| low.is_finite() && high.is_finite()) {
            panel.fill_rectangle(ORANGE, BAND_OPACITY, ((from, low), (to, high)))?;
        }
        if let Some(before) = self.before.filter(|before| before.is_finite()) {
            panel.draw_horizontal_line(EARLIER_SCORE, before)?;
        }
        let intervals: Vec<_> = self.intervals().collect();
        if self.periods.len() > MAX_WHISKERS {
            let upper = intervals.iter().map(|(at, (_, high))| (*at, *high));
            let band: Vec<_> = upper.chain(intervals.iter().rev().map(|(at, (low, _))| (*at, *low))).collect();
            panel.fill_polygon(BLUE, BAND_OPACITY, &band)?;
        } else {
            for (at, ends) in intervals {
                panel.draw_vertical_whisker(WHISKER, at, ends)?;
            }
        }
        let line: Vec<_> = self.values().collect();
        if line.len() > 1 {
            panel.draw_line(LINE, &line)?;
        }
        line.into_iter().try_for_each(|point| panel.draw_dot(BLUE, RADIUS, point))
    }
}
