//! Receiver operating characteristic: recall against false-alarm rate over all thresholds.
//!
//! Fawcett, T. (2006). An introduction to ROC analysis. Pattern Recognition Letters 27, 861–874.
//! doi:10.1016/j.patrec.2005.10.010

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::lines::{NamedLine, draw_lines, line_entries};
use crate::palette::INK;
use crate::panel::{Panel, REFERENCE_STROKE};
use crate::picture::Picture;
use crate::single_panel::{SQUARE_PANEL, SinglePanel};

/// ROC curves of one or more forecasts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roc {
    /// Title of the figure, such as `Receiver operating characteristic`.
    pub title: String,
    /// One line per forecast: false-alarm rate fp/(fp + tn) as x and recall tp/(tp + fn) as y.
    pub lines: Vec<NamedLine>,
    /// Area under the curve of each forecast, in the order of `lines`; `None` to omit the area from the legend.
    pub areas: Vec<Option<f64>>,
    /// False-alarm rate and recall at the chosen threshold.
    pub mark: Option<(f64, f64)>,
}

/// Draws the ROC curves and the diagonal of a forecast without skill.
pub fn figure_roc(roc: Roc) -> Result<Picture> {
    if roc.mark.is_none() && roc.lines.iter().all(|line| line.segments().is_empty()) {
        return Err(Error::Empty);
    }
    Picture::new(roc)
}

impl SinglePanel for Roc {
    fn panel_size(&self) -> (f64, f64) {
        SQUARE_PANEL
    }

    fn axes(&self) -> Axes<'_> {
        Axes::new(
            &self.title,
            Axis::from_0_to_1("false-alarm rate (1 − specificity)"),
            Axis::from_0_to_1("recall (hit rate)"),
        )
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        let mut entries = line_entries(&self.lines);
        for ((_, name), area) in entries.iter_mut().zip(&self.areas) {
            if let Some(area) = area {
                *name = format!("{name} (area {area:.3})");
            }
        }
        entries.push((Mark::Line(REFERENCE_STROKE), "no skill".into()));
        entries.extend(self.mark.map(|_| (Mark::Dot(INK), "chosen threshold".into())));
        entries
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        panel.draw_line(REFERENCE_STROKE, &[(0.0, 0.0), (1.0, 1.0)])?;
        draw_lines(&self.lines, panel)?;
        panel.draw_chosen_point(self.mark)
    }
}
