//! Bar chart of the importance of columns, with 95 % intervals.

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::{BAR_OPACITY, Mark};
use crate::palette::{BLUE, FRAME, INK};
use crate::panel::Panel;
use crate::picture::Picture;
use crate::single_panel::SinglePanel;
use crate::stroke::Stroke;

/// A bar chart of how important each column of a table is for a score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportanceBars {
    /// Title of the figure.
    pub title: String,
    /// Name of the score.
    pub score: String,
    /// The bars from top to bottom; bars whose value is not finite are left out.
    pub bars: Vec<ImportanceBar>,
}

/// The importance of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportanceBar {
    /// Name of the column.
    pub name: String,
    /// By how much the score is worse when the column is shuffled.
    pub value: f64,
    /// The 95 % interval of the importance.
    pub interval: (f64, f64),
}

/// Draws a horizontal bar for each column, its 95 % interval, and a line at 0.
pub fn figure_importance(bars: ImportanceBars) -> Result<Picture> {
    if bars.finite_bars().next().is_none() {
        return Err(Error::Empty);
    }
    Picture::new(bars)
}

/// Style of the error bar of a column.
const INTERVAL_STROKE: Stroke = Stroke::solid(INK, 1.5);
/// Style of the vertical line at an importance of 0.
const ZERO_STROKE: Stroke = Stroke::solid(FRAME, 1.25);
/// Half the thickness of a bar, as a share of the distance between two bars.
const HALF_BAR_THICKNESS: f64 = 0.32;
/// Margin on both sides of the x axis, as a fraction of its range.
const X_MARGIN: f64 = 0.04;
/// Distance between two bars, in pixels.
const BAR_DISTANCE: f64 = 24.0;
/// Height of the panel without its bars, in pixels.
const OTHER_HEIGHT: f64 = 84.0;
/// Minimum height of the panel, in pixels.
const MIN_PANEL_HEIGHT: f64 = 180.0;

impl ImportanceBars {
    /// The bars whose value is finite.
    fn finite_bars(&self) -> impl DoubleEndedIterator<Item = &ImportanceBar> {
        self.bars.iter().filter(|bar| bar.value.is_finite())
    }

    /// The range of the x axis, which contains all values, all 95 % intervals, and 0.
    fn x_range(&self) -> (f64, f64) {
        let numbers = self.finite_bars().flat_map(|bar| [bar.value, bar.interval.0, bar.interval.1]);
        let (low, high) = numbers
            .filter(|number| number.is_finite())
            .fold((0.0, 0.0), |(low, high): (f64, f64), number| (low.min(number), high.max(number)));
        let margin = X_MARGIN * (high - low);
        (if low < 0.0 { low - margin } else { 0.0 }, high + margin)
    }
}

impl SinglePanel for ImportanceBars {
    fn panel_size(&self) -> (f64, f64) {
        (760.0, (OTHER_HEIGHT + BAR_DISTANCE * self.finite_bars().count() as f64).max(MIN_PANEL_HEIGHT))
    }

    fn axes(&self) -> Axes<'_> {
        let (low, high) = self.x_range();
        let x = Axis::new(format!("how much worse {} gets when the column is shuffled", self.score), low, high);
        Axes::new(&self.title, x, Axis::with_names("", self.finite_bars().rev().map(|bar| bar.name.as_str())))
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        vec![(Mark::Bar(BLUE), "importance".into()), (Mark::Whisker(INTERVAL_STROKE), "95 % interval".into())]
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        // The y axis increases upwards and the first bar is at the top, so the bars are numbered in reverse order.
        for (at, bar) in self.finite_bars().rev().enumerate() {
            let y = at as f64;
            let (low, high) = (bar.value.min(0.0), bar.value.max(0.0));
            panel.fill_rectangle(BLUE, BAR_OPACITY, ((low, y - HALF_BAR_THICKNESS), (high, y + HALF_BAR_THICKNESS)))?;
            let corners = [
                (low, y - HALF_BAR_THICKNESS),
                (high, y - HALF_BAR_THICKNESS),
                (high, y + HALF_BAR_THICKNESS),
                (low, y + HALF_BAR_THICKNESS),
            ];
            panel.draw_line(Stroke::solid(BLUE, 0.75), &[&corners[..], &corners[..1]].concat())?;
            if bar.interval.0.is_finite() && bar.interval.1.is_finite() {
                panel.draw_horizontal_whisker(INTERVAL_STROKE, y, bar.interval)?;
            }
        }
        panel.draw_vertical_line(ZERO_STROKE, 0.0)
    }
}
