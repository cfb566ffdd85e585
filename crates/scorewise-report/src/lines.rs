//! Lines with names, as most figures have them.

use plotters::prelude::DrawingBackend;

use crate::curve::Point;
use crate::error::Result;
use crate::legend::Mark;
use crate::panel::Panel;
use crate::stroke::Stroke;

/// A line and what the legend calls it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedLine {
    /// Such as `tss`.
    pub name: String,
    /// x and y in the order of drawing. Where y is not defined, it is `None` and the line is broken.
    pub points: Vec<(f64, Option<f64>)>,
}

impl NamedLine {
    /// The unbroken stretches; numbers that are none break the line as well.
    pub(crate) fn stretches(&self) -> Vec<Vec<Point>> {
        let defined = |(x, y): &(f64, Option<f64>)| y.filter(|y| x.is_finite() && y.is_finite()).map(|y| (*x, y));
        let mut stretches = vec![Vec::new()];
        for point in &self.points {
            match (defined(point), stretches.last_mut()) {
                (Some(point), Some(stretch)) => stretch.push(point),
                (None, Some(stretch)) if !stretch.is_empty() => stretches.push(Vec::new()),
                _ => {}
            }
        }
        stretches.retain(|stretch| !stretch.is_empty());
        stretches
    }

    /// All points that are defined.
    pub(crate) fn defined(&self) -> impl Iterator<Item = Point> {
        self.stretches().into_iter().flatten()
    }
}

/// Draws lines in the colours of their order, the first on top.
pub(crate) fn draw_lines<DB: DrawingBackend>(lines: &[NamedLine], panel: &Panel<'_, DB>) -> Result<()> {
    for (number, line) in lines.iter().enumerate().rev() {
        for stretch in line.stretches() {
            match stretch[..] {
                // A value between two that are not defined has no line; a dot shows it.
                [alone] => panel.dot(Stroke::of_line(number).colour, 1.5, alone)?,
                _ => panel.line(Stroke::of_line(number), &stretch)?,
            }
        }
    }
    Ok(())
}

/// The keys of lines in the colours of their order.
pub(crate) fn line_keys(lines: &[NamedLine]) -> Vec<(Mark, String)> {
    let key = |(number, line): (usize, &NamedLine)| (Mark::Line(Stroke::of_line(number)), line.name.clone());
    lines.iter().enumerate().map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_values_break_a_line() {
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
        assert_eq!(line.stretches(), [vec![(0.1, 1.0), (0.2, 2.0)], vec![(0.5, 3.0)]]);
        assert!(NamedLine::default().stretches().is_empty());
    }
}
