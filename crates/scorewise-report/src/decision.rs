//! Decision curve: the net benefit of a forecast for users who act at different probability thresholds.
//!
//! ```text
//! net benefit at p = tp/n − fp/n · p/(1 − p)
//! ```
//!
//! Here p is the threshold, tp and fp are the numbers of true and false positives at this threshold, and n is the number of rows.
//!
//! Vickers, A. J., Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction models. Medical
//! Decision Making 26, 565–574. doi:10.1177/0272989X06295361

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::lines::{NamedLine, draw_lines, line_entries};
use crate::palette::BLUE;
use crate::panel::{CHOSEN_STROKE, Panel};
use crate::picture::Picture;
use crate::single_panel::SinglePanel;

/// Net benefit by threshold probability, for a forecast and for the constant forecasts `always yes` and `always no`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionCurve {
    /// Title of the figure, such as `Decision curve`.
    pub title: String,
    /// One line per forecast, usually `forecast`, `always yes` and `always no`: threshold probability (x) and net benefit (y).
    pub lines: Vec<NamedLine>,
    /// The 95 % interval of the net benefit of the forecast: threshold probability and the two ends of the interval, in ascending order of the
    /// threshold probability; empty if the interval is not known.
    pub band: Vec<(f64, (f64, f64))>,
    /// The threshold to mark with a vertical line.
    pub mark: Option<f64>,
}

/// Draws the net benefit at each threshold probability. The y axis starts slightly below 0, and lines are clipped there.
pub fn figure_decision(curve: DecisionCurve) -> Result<Picture> {
    if curve.lines.iter().all(|line| line.segments().is_empty()) {
        return Err(Error::Empty);
    }
    Picture::new(curve)
}

/// How far the y axis extends below 0, as a fraction of the highest net benefit.
const FOOTROOM: f64 = 0.15;
/// How far the y axis extends above the highest net benefit, as a fraction of that benefit.
const HEADROOM: f64 = 0.06;
/// Opacity of the band of 95 % intervals.
const BAND_OPACITY: f64 = 0.2;

impl DecisionCurve {
    /// The intervals whose ends are finite.
    fn finite_band(&self) -> impl Iterator<Item = (f64, (f64, f64))> {
        let is_finite = |(x, (low, high)): &(f64, (f64, f64))| x.is_finite() && low.is_finite() && high.is_finite();
        self.band.iter().copied().filter(is_finite)
    }
}

impl SinglePanel for DecisionCurve {
    fn axes(&self) -> Axes<'_> {
        let highest = self.lines.iter().flat_map(NamedLine::defined_points).map(|(_, y)| y);
        let highest = highest.chain(self.finite_band().map(|(_, (_, high))| high)).fold(0.0, f64::max);
        // The y axis needs a positive length even when no net benefit is positive.
        let highest = if highest > 0.0 { highest } else { 0.1 };
        let y = Axis::new("net benefit", -FOOTROOM * highest, (1.0 + HEADROOM) * highest);
        Axes::new(&self.title, Axis::from_0_to_1("threshold probability"), y).with_space_for_label()
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        let mut entries = line_entries(&self.lines);
        if self.finite_band().next().is_some() {
            entries.insert(1.min(entries.len()), (Mark::Band(BLUE, BAND_OPACITY), "95 % interval".into()));
        }
        entries.extend(self.mark.map(|_| (Mark::Line(CHOSEN_STROKE), "chosen threshold".into())));
        entries
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        let upper = self.finite_band().map(|(x, (_, high))| (x, high));
        let mut lower: Vec<_> = self.finite_band().map(|(x, (low, _))| (x, low)).collect();
        lower.reverse();
        panel.fill_polygon(BLUE, BAND_OPACITY, &upper.chain(lower).collect::<Vec<_>>())?;
        draw_lines(&self.lines, panel)?;
        panel.draw_chosen_threshold(self.mark)
    }
}
