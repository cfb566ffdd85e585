//! The difference of a score between two forecasts, resample by resample: does its interval leave 0 out?

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::{BAR_COVER, Mark};
use crate::palette::{BLUE, INK, VERMILLION};
use crate::panel::{Panel, WHISKER_END};
use crate::picture::Picture;
use crate::sheet::Sheet;
use crate::stroke::Stroke;

/// Differences of a score, first forecast less second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// Such as `Network against climatology`.
    pub title: String,
    /// The score's name.
    pub score: String,
    /// One difference for each resample.
    pub values: Vec<f64>,
    /// The difference itself.
    pub difference: f64,
    /// Where 95 % of the differences lie.
    pub interval: (f64, f64),
}

/// Draws how often each difference came out, the difference itself with its interval above them, and the line of no difference.
pub fn figure_difference(differences: Differences) -> Result<Picture> {
    if differences.values().is_empty() {
        return Err(Error::Empty);
    }
    Picture::of(differences)
}

const BARS: usize = 40;
const MEAN: Stroke = Stroke::solid(VERMILLION, 2.0);
const ZERO: Stroke = Stroke::solid(INK, 1.25).dashed(4.0, 3.0);
/// Of the panel's height, from below: the bars, and the whisker above them.
const DATA: f64 = 0.86;
const WHISKER: f64 = 0.93;
/// To both sides, as a share of the width.
const SIDE: f64 = 0.04;
/// How much of the picture the differences must keep when 0 is taken in.
const LEAST_SHARE: f64 = 0.1;

impl Differences {
    fn values(&self) -> Vec<f64> {
        self.values.iter().copied().filter(|value| value.is_finite()).collect()
    }

    /// From the lowest to the highest difference; equal ones get a little width.
    fn span(&self) -> (f64, f64) {
        let values = self.values();
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let axis = Axis::new("", low, high);
        (axis.from, axis.to)
    }

    /// How many differences fell into each of the equal bars, the last of which holds its upper end.
    fn counts(&self) -> Vec<usize> {
        let ((low, high), mut counts) = (self.span(), vec![0; BARS]);
        for value in self.values() {
            counts[(((value - low) / (high - low) * BARS as f64) as usize).min(BARS - 1)] += 1;
        }
        counts
    }

    fn highest(&self) -> f64 {
        self.counts().into_iter().max().unwrap_or(0) as f64
    }

    /// All differences, the difference and its interval, and 0 unless they would shrink to a sliver beside it.
    fn range(&self) -> (f64, f64) {
        let ends = [self.difference, self.interval.0, self.interval.1].into_iter().filter(|end| end.is_finite());
        let (low, high) = ends.fold(self.span(), |(low, high): (f64, f64), end| (low.min(end), high.max(end)));
        let (far_low, far_high) = (low.min(0.0), high.max(0.0));
        let keeps_its_share = high - low >= LEAST_SHARE * (far_high - far_low);
        let (low, high) = if keeps_its_share { (far_low, far_high) } else { (low, high) };
        let side = SIDE * (high - low);
        (low - side, high + side)
    }
}

impl Sheet for Differences {
    fn axes(&self) -> Axes<'_> {
        let (low, high) = self.range();
        let x = Axis::new(format!("difference of {} (first − second)", self.score), low, high);
        Axes::new(&self.title, x, Axis::new("resamples", 0.0, self.highest() / DATA).whole())
    }

    fn keys(&self) -> Vec<(Mark, String)> {
        vec![
            (Mark::Bar(BLUE), "resampled differences".into()),
            (Mark::Whisker(MEAN), "difference and 95 % interval".into()),
            (Mark::Line(ZERO), "no difference".into()),
        ]
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        let (low, high) = self.span();
        let edge = |number: usize| low + (high - low) * number as f64 / BARS as f64;
        for (number, count) in self.counts().into_iter().enumerate().filter(|(_, count)| *count > 0) {
            let (from, to, height) = (edge(number), edge(number + 1), count as f64);
            panel.bar(BLUE, BAR_COVER, ((from, 0.0), (to, height)))?;
            panel.line(Stroke::solid(BLUE, 0.75), &[(from, 0.0), (from, height), (to, height), (to, 0.0)])?;
        }
        panel.upright(ZERO, 0.0)?;
        let y = WHISKER * self.highest() / DATA;
        panel.line(MEAN, &[(self.difference, 0.0), (self.difference, y + WHISKER_END * panel.pixel().1)])?;
        panel.whisker(MEAN, y, self.interval)
    }
}
