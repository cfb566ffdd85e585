//! Lines that have a name in the legend. Most figures consist of such lines.

use plotters::prelude::DrawingBackend;

use crate::curve::PlotPoint;
use crate::error::Result;
use crate::legend::Mark;
use crate::panel::Panel;
use crate::stroke::Stroke;

/// A line and its name in the legend.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedLine {
    /// Name of the line in the legend, such as `tss`.
    pub name: String,
    /// Points (x, y) in drawing order. The line is interrupted where y is `None`.
    pub points: Vec<(f64, Option<f64>)>,
}

impl NamedLine {
    /// The parts of the line between its interruptions. The line is interrupted where y is `None` and where a coordinate is not finite.
    pub(crate) fn segments(&self) -> Vec<Vec<PlotPoint>> {
        let defined = |(x, y): &(f64, Option<f64>)| y.filter(|y| x.is_finite() && y.is_finite()).map(|y| (*x, y));
        let mut segments = vec![Vec::new()];
        for point in &self.points {
            match (defined(point), segments.last_mut()) {
                (Some(point), Some(segment)) => segment.push(point),
                (None, Some(segment)) if !segment.is_empty() => segments.push(Vec::new()),
                _ => {}
            }
        }
        segments.retain(|segment| !segment.is_empty());
        segments
    }

    /// All points with finite coordinates.
    pub(crate) fn defined_points(&self) -> impl Iterator<Item = PlotPoint> {
        self.segments().into_iter().flatten()
    }
}

/// Draws the lines in the styles of [`Stroke::for_line`]; the first line is drawn last, on top of the others.
pub(crate) fn draw_lines<DB: DrawingBackend>(lines: &[NamedLine], panel: &Panel<'_, DB>) -> Result<()> {
    for (index, line) in lines.iter().enumerate().rev() {
        for segment in line.segments() {
            match segment[..] {
                // A segment of only one point would be invisible as a line, so it is drawn as a dot.
                [single] => panel.draw_dot(Stroke::for_line(index).colour, 1.5, single)?,
                _ => panel.draw_line(Stroke::for_line(index), &segment)?,
            }
        }
    }
    Ok(())
}

/// One legend entry for each line.
pub(crate) fn line_entries(lines: &[NamedLine]) -> Vec<(Mark, String)> {
    let entry = |(index, line): (usize, &NamedLine)| (Mark::Line(Stroke::for_line(index)), line.name.clone());
    lines.iter().enumerate().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_values_interrupt_a_line() {
        let points = vec![
            (0.0, None),
            (0.1, Some(1.0)),
            (0.2, Some(2.0)),
            (0.3, None),
            (0.4, Some(f64::NAN)),
            (0.5, Some(3.0)),
            (f64::INFINITY, Some(3.0)),
        ];
        let line = NamedLine { name: "a line".into(), points };
        assert_eq!(line.segments(), [vec![(0.1, 1.0), (0.2, 2.0)], vec![(0.5, 3.0)]]);
        assert!(NamedLine::default().segments().is_empty());
    }
}
