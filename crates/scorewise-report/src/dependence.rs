//! Partial dependence: the mean prediction, plotted against the value to which a column is set in every row. For a column of numbers,
//! the predictions are drawn as lines from left to right. For a categorical column, each level has a horizontal row of dots, so that there
//! is room for the name of the level to the left of the dots.

use plotters::prelude::DrawingBackend;

use crate::axes::{Axes, Axis};
use crate::error::{Error, Result};
use crate::legend::{DOT_RADIUS, Mark};
use crate::lines::{NamedLine, draw_lines, line_entries};
use crate::panel::Panel;
use crate::picture::Picture;
use crate::single_panel::SinglePanel;
use crate::stroke::Stroke;

/// Partial dependence on a column: the mean prediction for each value to which the column is set in all rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DependenceCurves {
    /// Title of the figure.
    pub title: String,
    /// Label of the axis that shows the values of the column, such as the name of the column.
    pub label: String,
    /// Names of the levels from top to bottom; empty for a column of numbers.
    pub levels: Vec<String>,
    /// One line for each plotted quantity, such as the mean probability of a class. The x coordinate of a point is the number to which the column is
    /// set, or the index of the level in `levels`. The y coordinate is the plotted quantity.
    pub lines: Vec<NamedLine>,
}

/// Plots the dependence of predictions on a column. A column of numbers gives lines; a categorical column gives a row of dots for each level.
pub fn figure_dependence(curves: DependenceCurves) -> Result<Picture> {
    if curves.lines.iter().all(|line| line.defined_points().next().is_none()) {
        return Err(Error::Empty);
    }
    Picture::new(curves)
}

/// Upper end of the axis of predictions, as a multiple of the greatest prediction.
const HEADROOM: f64 = 1.08;

/// The x axis gets a square-root scale if the lower half of the plotted numbers would take less than this fraction of a linear axis.
const MIN_LOWER_HALF_SHARE: f64 = 0.12;
/// Radius in pixels of the dots on the lines of the figure. Each dot is the mean prediction when all rows have the same number in the plotted column.
const VALUE_RADIUS: f64 = 2.0;

impl DependenceCurves {
    /// The points of all lines, without those whose coordinates are not finite.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        self.lines.iter().flat_map(NamedLine::defined_points)
    }

    /// The axis of predictions, which begins at 0 and does not extend beyond 1.
    fn prediction_axis(&self) -> Axis<'static> {
        let highest = self.points().map(|(_, y)| y).fold(0.0, f64::max);
        Axis::new("mean probability or share of rows", 0.0, (HEADROOM * highest).min(1.0))
    }

    /// The axis of the numbers to which the column is set. It has a square-root scale if the numbers are crowded at the low end and none is
    /// negative.
    fn number_axis(&self) -> Axis<'_> {
        let mut numbers: Vec<f64> = self.points().map(|(x, _)| x).collect();
        numbers.sort_by(f64::total_cmp);
        let (Some(low), Some(high)) = (numbers.first(), numbers.last()) else { return Axis::from_0_to_1("") };
        let axis = Axis::new(self.label.as_str(), *low, *high);
        let is_crowded = axis.relative_position(numbers[numbers.len() / 2]) < MIN_LOWER_HALF_SHARE;
        if axis.from < 0.0 || !is_crowded {
            return axis;
        }
        Axis { label: format!("{} (square-root scale)", self.label).into(), ..axis }.square_root_scale()
    }
}

impl SinglePanel for DependenceCurves {
    fn panel_size(&self) -> (f64, f64) {
        (460.0, 340.0)
    }

    fn axes(&self) -> Axes<'_> {
        match self.levels.is_empty() {
            true => Axes::new(&self.title, self.number_axis(), self.prediction_axis()),
            false => {
                let names = self.levels.iter().rev().map(String::as_str);
                Axes::new(&self.title, self.prediction_axis(), Axis::with_names(self.label.as_str(), names))
            }
        }
    }

    fn legend_entries(&self) -> Vec<(Mark, String)> {
        match self.levels.is_empty() {
            true => line_entries(&self.lines),
            false => {
                let entry =
                    |(index, line): (usize, &NamedLine)| (Mark::Dot(Stroke::for_line(index).colour), line.name.clone());
                self.lines.iter().enumerate().map(entry).collect()
            }
        }
    }

    fn draw_data<DB: DrawingBackend>(&self, panel: &Panel<'_, DB>) -> Result<()> {
        if self.levels.is_empty() {
            draw_lines(&self.lines, panel)?;
            for (index, line) in self.lines.iter().enumerate().rev() {
                let colour = Stroke::for_line(index).colour;
                line.defined_points().try_for_each(|point| panel.draw_dot(colour, VALUE_RADIUS, point))?;
            }
            return Ok(());
        }
        let top = (self.levels.len() - 1) as f64;
        for (index, line) in self.lines.iter().enumerate().rev() {
            for (level, prediction) in line.defined_points() {
                panel.draw_dot(Stroke::for_line(index).colour, DOT_RADIUS, (prediction, top - level))?;
            }
        }
        Ok(())
    }
}
