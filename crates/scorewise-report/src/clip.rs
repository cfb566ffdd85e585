//! Clipping of lines to a rectangle.
//!
//! Liang, Y.-D., Barsky, B. A. (1984). A new concept and method for line clipping. ACM Transactions on Graphics 3, 1–22.
//! doi:10.1145/357332.357333

use crate::curve::PlotPoint;

/// The pieces of a line that lie inside a rectangle. `corners` are the corner with the smallest x and y and the corner with the largest x and y. A
/// point that is not finite interrupts the line.
pub(crate) fn clipped_pieces(line: &[PlotPoint], corners: (PlotPoint, PlotPoint)) -> Vec<Vec<PlotPoint>> {
    let mut pieces: Vec<Vec<PlotPoint>> = Vec::new();
    for pair in line.windows(2) {
        let Some((start, end)) = clipped_segment(pair[0], pair[1], corners) else { continue };
        match pieces.last_mut() {
            Some(piece) if piece.last() == Some(&start) && start == pair[0] => piece.push(end),
            _ => pieces.push(vec![start, end]),
        }
    }
    pieces
}

/// The part of a line segment that lies inside a rectangle; `None` when the whole segment lies outside.
fn clipped_segment(
    from: PlotPoint,
    to: PlotPoint,
    (low, high): (PlotPoint, PlotPoint),
) -> Option<(PlotPoint, PlotPoint)> {
    let along = (to.0 - from.0, to.1 - from.1);
    if !(along.0.is_finite() && along.1.is_finite()) {
        return None;
    }
    let (mut enter, mut leave) = (0.0f64, 1.0f64);
    let borders = [
        (-along.0, from.0 - low.0),
        (along.0, high.0 - from.0),
        (-along.1, from.1 - low.1),
        (along.1, high.1 - from.1),
    ];
    for (direction, distance) in borders {
        if direction == 0.0 {
            if distance < 0.0 {
                return None;
            }
        } else if direction < 0.0 {
            enter = enter.max(distance / direction);
        } else {
            leave = leave.min(distance / direction);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |fraction: f64| (from.0 + fraction * along.0, from.1 + fraction * along.1);
    // End points inside the rectangle are returned unchanged, so that consecutive segments meet exactly and can be joined.
    Some((if enter == 0.0 { from } else { at(enter) }, if leave == 1.0 { to } else { at(leave) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT_SQUARE: (PlotPoint, PlotPoint) = ((0.0, 0.0), (1.0, 1.0));

    #[test]
    fn a_line_inside_the_rectangle_is_unchanged() {
        let line = [(0.0, 0.0), (0.5, 1.0), (1.0, 0.25)];
        assert_eq!(clipped_pieces(&line, UNIT_SQUARE), [line.to_vec()]);
    }

    #[test]
    fn a_line_is_cut_where_it_crosses_the_border() {
        let line = [(0.0, 0.5), (0.5, 1.5), (1.0, 0.5)];
        assert_eq!(clipped_pieces(&line, UNIT_SQUARE), [[(0.0, 0.5), (0.25, 1.0)], [(0.75, 1.0), (1.0, 0.5)]]);
        assert_eq!(clipped_pieces(&[(-1.0, -1.0), (2.0, 2.0)], UNIT_SQUARE).len(), 1);
    }

    #[test]
    fn a_line_outside_the_rectangle_is_removed() {
        assert!(clipped_pieces(&[(0.0, 1.5), (1.0, 1.5)], UNIT_SQUARE).is_empty());
        assert!(clipped_pieces(&[(-1.0, 0.5), (0.5, 2.5)], UNIT_SQUARE).is_empty());
        assert!(clipped_pieces(&[(0.5, 0.5)], UNIT_SQUARE).is_empty());
    }

    #[test]
    fn points_that_are_not_finite_interrupt_a_line() {
        let line = [(0.0, 0.5), (0.2, 0.5), (0.4, f64::NAN), (0.6, 0.5), (0.8, 0.5), (1.0, f64::INFINITY)];
        assert_eq!(clipped_pieces(&line, UNIT_SQUARE), [[(0.0, 0.5), (0.2, 0.5)], [(0.6, 0.5), (0.8, 0.5)]]);
    }
}
