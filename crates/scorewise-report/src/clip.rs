//! What of a line lies inside a rectangle.
//!
//! Liang, Y.-D., Barsky, B. A. (1984). A new concept and method for line clipping. ACM Transactions on Graphics 3, 1–22.
//! doi:10.1145/357332.357333

use crate::curve::Point;

/// The pieces of a line between two corners (least x and y, greatest x and y). Places that are no numbers break it.
pub(crate) fn clipped(line: &[Point], corners: (Point, Point)) -> Vec<Vec<Point>> {
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    for pair in line.windows(2) {
        let Some((start, end)) = inside(pair[0], pair[1], corners) else { continue };
        match pieces.last_mut() {
            Some(piece) if piece.last() == Some(&start) && start == pair[0] => piece.push(end),
            _ => pieces.push(vec![start, end]),
        }
    }
    pieces
}

/// The part of one stretch.
fn inside(from: Point, to: Point, (low, high): (Point, Point)) -> Option<(Point, Point)> {
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
    for (towards, room) in borders {
        if towards == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if towards < 0.0 {
            enter = enter.max(room / towards);
        } else {
            leave = leave.min(room / towards);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |share: f64| (from.0 + share * along.0, from.1 + share * along.1);
    // The ends themselves stay as they are, so that pieces can be joined.
    Some((if enter == 0.0 { from } else { at(enter) }, if leave == 1.0 { to } else { at(leave) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: (Point, Point) = ((0.0, 0.0), (1.0, 1.0));

    #[test]
    fn a_line_inside_stays_whole() {
        let line = [(0.0, 0.0), (0.5, 1.0), (1.0, 0.25)];
        assert_eq!(clipped(&line, SQUARE), [line.to_vec()]);
    }

    #[test]
    fn a_line_is_cut_where_it_crosses_the_border() {
        let line = [(0.0, 0.5), (0.5, 1.5), (1.0, 0.5)];
        assert_eq!(clipped(&line, SQUARE), [[(0.0, 0.5), (0.25, 1.0)], [(0.75, 1.0), (1.0, 0.5)]]);
        assert_eq!(clipped(&[(-1.0, -1.0), (2.0, 2.0)], SQUARE).len(), 1);
    }

    #[test]
    fn a_line_outside_vanishes() {
        assert!(clipped(&[(0.0, 1.5), (1.0, 1.5)], SQUARE).is_empty());
        assert!(clipped(&[(-1.0, 0.5), (0.5, 2.5)], SQUARE).is_empty());
        assert!(clipped(&[(0.5, 0.5)], SQUARE).is_empty());
    }

    #[test]
    fn places_that_are_no_numbers_break_a_line() {
        let line = [(0.0, 0.5), (0.2, 0.5), (0.4, f64::NAN), (0.6, 0.5), (0.8, 0.5), (1.0, f64::INFINITY)];
        assert_eq!(clipped(&line, SQUARE), [[(0.0, 0.5), (0.2, 0.5)], [(0.6, 0.5), (0.8, 0.5)]]);
    }
}
