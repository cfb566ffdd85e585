//! Decision curve: what a forecast is worth to users who act at different probabilities.
//!
//! ```text
//! net benefit at p = tp/n − fp/n · p/(1 − p)
//! ```
//!
//! Vickers, A. J., Elkin, E. B. (2006). Decision curve analysis: a novel method for evaluating prediction models. Medical
//! Decision Making 26, 565–574. doi:10.1177/0272989X06295361

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::lines::{NamedLine, draw_lines, line_keys};
use crate::panel::{CHOSEN, Panel};
use crate::picture::Picture;
use crate::sheet::Sheet;

/// Net benefit by threshold probability, of forecasts and of the plain answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DecisionCurve {
    /// Such as `Decision curve`.
    pub title: String,
    /// Threshold probability and net benefit; usually `forecast`, `always yes`, `always no`.
    pub lines: Vec<NamedLine>,
    /// The chosen threshold.
    pub mark: Option<f64>,
}

/// Draws the net benefit from a little below 0: what is worse than doing nothing is cut.
pub fn figure_decision(curve: DecisionCurve) -> Result<Picture> {
    if curve.lines.iter().all(|line| line.stretches().is_empty()) {
        return Err(Error::Empty);
    }
    Picture::of(curve)
}

/// Below 0 and above the highest, as shares of the highest.
const FOOTROOM: f64 = 0.15;
const HEADROOM: f64 = 0.06;

impl Sheet for DecisionCurve {
    fn axes(&self) -> Axes<'_> {
        let highest = self.lines.iter().flat_map(NamedLine::defined).map(|(_, y)| y).fold(0.0, f64::max);
        // Where nothing is better than doing nothing, the axis still needs a length.
        let highest = if highest > 0.0 { highest } else { 0.1 };
        let y = Axis::new("net benefit", -FOOTROOM * highest, (1.0 + HEADROOM) * highest);
        Axes::new(&self.title, Axis::unit("threshold probability"), y).with_flags()
    }

    fn keys(&self) -> Vec<(Mark, String)> {
        let mut keys = line_keys(&self.lines);
        keys.extend(self.mark.map(|_| (Mark::Line(CHOSEN), "chosen threshold".into())));
        keys
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        draw_lines(&self.lines, panel)?;
        panel.chosen(self.mark)
    }
}
