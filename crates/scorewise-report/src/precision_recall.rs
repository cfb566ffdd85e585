//! Precision against recall over all thresholds, which is more informative than the ROC curve when events are rare.
//!
//! Davis, J., Goadrich, M. (2006). The relationship between precision-recall and ROC curves. ICML 2006, 233–240.
//! doi:10.1145/1143844.1143874

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::Mark;
use crate::lines::{NamedLine, draw_lines, line_entries};
use crate::palette::INK;
use crate::panel::{Panel, REFERENCE_STROKE};
use crate::picture::Picture;
use crate::single_panel::{SQUARE_PANEL, SinglePanel};

/// Precision-recall curves of one or more forecasts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrecisionRecall {
    /// Title of the figure, such as `Precision and recall`.
    pub title: String,
    /// One line per forecast: recall tp/(tp + fn) as x, precision tp/(tp + fp) as y. Precision is undefined when no row is predicted positive.
    pub lines: Vec<NamedLine>,
    /// The fraction of positive rows, which is the precision of a forecast without skill.
    pub base_rate: Option<f64>,
    /// Recall and precision at the chosen threshold.
    pub mark: Option<(f64, f64)>,
}

/// Draws the precision-recall curves and a horizontal line at the base rate.
pub fn figure_precision_recall(curves: PrecisionRecall) -> Result<Picture> {
    if curves.mark.is_none() && curves.lines.iter().all(|line| line.segments().is_empty()) {
        return Err(Error::Empty);
    }
    Picture::new(curves)
}

impl SinglePanel for PrecisionRecall {
    fn panel_size(&self) -> (f64, f64) {
        SQUARE_PANEL
    }

    fn axes(&self) -> Axes<'_> {
        Axes::new(&self.title, Axis::from_0_to_1("recall"), Axis::from_0_to_1("precision"))
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        let mut entries = line_entries(&self.lines);
        entries.extend(self.base_rate.map(|rate| (Mark::Line(REFERENCE_STROKE), format!("base rate {rate:.3}"))));
        entries.extend(self.mark.map(|_| (Mark::Dot(INK), "chosen threshold".into())));
        entries
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        if let Some(rate) = self.base_rate {
            panel.draw_horizontal_line(REFERENCE_STROKE, rate)?;
        }
        draw_lines(&self.lines, panel)?;
        panel.draw_chosen_point(self.mark)
    }
}
