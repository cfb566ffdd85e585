//! A score over time. A line with a band for the 95 % interval shows the score of all rows up to each time, and dots show the score of each time
//! step alone.

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::palette::{BLUE, FRAME};
use crate::panel::Panel;
use crate::picture::Picture;
use crate::single_panel::SinglePanel;
use crate::stroke::Stroke;

/// A score over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesCurve {
    /// Title of the figure.
    pub title: String,
    /// Label of the x axis, which counts time steps from 1.
    pub label: String,
    /// Name of the score.
    pub score: String,
    /// The score of all rows up to each time step, in the order of time.
    pub points: Vec<CumulativeScore>,
    /// The score of each time step alone; may be empty.
    pub steps: Vec<Option<f64>>,
}

/// The score of all rows up to a time step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CumulativeScore {
    /// The time step, counted from 1.
    pub step: f64,
    /// The score; `None` where it is undefined.
    pub value: Option<f64>,
    /// The 95 % interval of the score.
    pub interval: Option<(f64, f64)>,
}

/// Draws a score over time. A line with a band for the 95 % interval shows the score of all rows up to each time, and dots show the score of each
/// time step alone.
pub fn figure_series(curve: SeriesCurve) -> Result<Picture> {
    if curve.values().next().is_none() {
        return Err(Error::Empty);
    }
    Picture::new(curve)
}

/// Style of the line that shows the score of all rows up to a time.
const LINE_STROKE: Stroke = Stroke::solid(BLUE, 1.75);
/// Opacity of the band of 95 % intervals.
const BAND_OPACITY: f64 = 0.2;
/// Radius of the dot of a time step, in pixels.
const STEP_RADIUS: f64 = 2.0;
/// Margin below and above the values on the y axis, as a fraction of the range of the values.
const Y_MARGIN: f64 = 0.06;
/// Fraction of the time steps, from the first one on, whose 95 % intervals do not widen the y axis. These intervals come from few rows and may be
/// very wide.
const EARLY_SHARE: f64 = 0.2;

impl SeriesCurve {
    /// Each time step that has a finite score, with this score.
    fn values(&self) -> impl Iterator<Item = (f64, f64)> {
        let point = |point: &CumulativeScore| Some((point.step, point.value?)).filter(|(_, value)| value.is_finite());
        self.points.iter().filter_map(point)
    }

    /// Each time step that has a finite 95 % interval, with this interval.
    fn intervals(&self) -> impl Iterator<Item = (f64, (f64, f64))> {
        let is_finite = |(_, (low, high)): &(f64, (f64, f64))| low.is_finite() && high.is_finite();
        self.points.iter().filter_map(move |point| Some((point.step, point.interval?)).filter(is_finite))
    }

    /// The last time step.
    fn last_step(&self) -> f64 {
        self.points.iter().map(|point| point.step).filter(|step| step.is_finite()).fold(1.0, f64::max)
    }

    /// The range of the y axis, which contains the whole line and all dots.
    fn y_range(&self) -> (f64, f64) {
        let late = EARLY_SHARE * self.last_step();
        let ends = self.intervals().filter(|(step, _)| *step >= late).flat_map(|(_, (low, high))| [low, high]);
        let steps = self.steps.iter().flatten().copied().filter(|value| value.is_finite());
        let (low, high) = (self.values().map(|(_, value)| value).chain(ends).chain(steps))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        (low - Y_MARGIN * (high - low), high + Y_MARGIN * (high - low))
    }
}

impl SinglePanel for SeriesCurve {
    fn panel_size(&self) -> (f64, f64) {
        (760.0, 340.0)
    }

    fn axes(&self) -> Axes<'_> {
        let (low, high) = self.y_range();
        let x = Axis::new(self.label.as_str(), 1.0, self.last_step()).with_integer_ticks();
        Axes::new(&self.title, x, Axis::new(self.score.as_str(), low, high))
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        let mut entries = vec![
            (Mark::Line(LINE_STROKE), "score up to each time".to_string()),
            (Mark::Band(BLUE, BAND_OPACITY), "95 % interval".into()),
        ];
        if !self.steps.is_empty() {
            entries.push((Mark::Dot(FRAME), "score of each time alone".into()));
        }
        entries
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        let intervals: Vec<_> = self.intervals().collect();
        let upper = intervals.iter().map(|(step, (_, high))| (*step, *high));
        let band: Vec<_> = upper.chain(intervals.iter().rev().map(|(step, (low, _))| (*step, *low))).collect();
        panel.fill_polygon(BLUE, BAND_OPACITY, &band)?;
        for (at, value) in self.steps.iter().enumerate() {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                panel.draw_dot(FRAME, STEP_RADIUS, ((at + 1) as f64, value))?;
            }
        }
        let line: Vec<_> = self.values().collect();
        match line[..] {
            [single] => panel.draw_dot(BLUE, STEP_RADIUS, single),
            _ => panel.draw_line(LINE_STROKE, &line),
        }
    }
}
