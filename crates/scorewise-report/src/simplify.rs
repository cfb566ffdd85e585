//! A line with as few points as it needs.
//!
//! plotters rounds every point to whole units. A smooth curve of close points gets a ragged edge from that, a straight line
//! of many points a wobble; long segments hide it. The fewest points also make the smallest SVG.
//!
//! Douglas, D. H., Peucker, T. K. (1973). Algorithms for the reduction of the number of points required to represent a
//! digitized line or its caricature. Cartographica 10, 112–122. doi:10.3138/FM57-6770-U75U-7727

use crate::curve::Point;

/// The same line without the points that lie within `tolerance` of the rest.
pub(crate) fn simplified(line: &[Point], tolerance: f64) -> Vec<Point> {
    let Some(last) = line.len().checked_sub(1) else { return Vec::new() };
    let mut kept = vec![false; line.len()];
    (kept[0], kept[last]) = (true, true);
    // A stack and not a recursion: the depth may be as great as the line is long.
    let mut stretches = vec![(0, last)];
    while let Some((from, to)) = stretches.pop() {
        let far = (from + 1..to)
            .map(|at| (at, distance(line[at], (line[from], line[to]))))
            .max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((at, distance)) = far
            && distance > tolerance
        {
            kept[at] = true;
            stretches.extend([(from, at), (at, to)]);
        }
    }
    line.iter().zip(kept).filter(|(_, kept)| *kept).map(|(point, _)| *point).collect()
}

/// From a point to a stretch of line, its ends included.
fn distance(point: Point, (from, to): (Point, Point)) -> f64 {
    let between = |a: Point, b: Point| (b.0 - a.0, b.1 - a.1);
    let (along, away) = (between(from, to), between(from, point));
    let square = along.0 * along.0 + along.1 * along.1;
    let share = if square > 0.0 { ((along.0 * away.0 + along.1 * away.1) / square).clamp(0.0, 1.0) } else { 0.0 };
    (away.0 - share * along.0).hypot(away.1 - share * along.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_two_points() {
        let line: Vec<Point> = (0..=100).map(|step| (3.0 * f64::from(step), 1.6 * f64::from(step))).collect();
        assert_eq!(simplified(&line, 0.1), [(0.0, 0.0), (300.0, 160.0)]);
    }

    #[test]
    fn corners_stay() {
        let line = [(0.0, 0.0), (60.0, 0.0), (60.0, 200.0), (120.0, 200.0), (180.0, 200.0), (180.0, 0.0), (300.0, 0.0)];
        let kept = simplified(&line, 0.1);
        assert_eq!(kept, [(0.0, 0.0), (60.0, 0.0), (60.0, 200.0), (180.0, 200.0), (180.0, 0.0), (300.0, 0.0)]);
    }

    #[test]
    fn what_is_left_out_was_near() {
        let line: Vec<Point> =
            (0..=500).map(|step| (0.6 * f64::from(step), 80.0 * (f64::from(step) / 50.0).sin())).collect();
        let kept = simplified(&line, 0.1);
        assert!(kept.len() < 120, "{}", kept.len());
        for point in line {
            let near = kept.windows(2).map(|pair| distance(point, (pair[0], pair[1])));
            assert!(near.fold(f64::INFINITY, f64::min) <= 0.1 + 1e-12);
        }
    }

    #[test]
    fn short_lines_stay_as_they_are() {
        assert_eq!(simplified(&[], 0.1), []);
        assert_eq!(simplified(&[(0.5, 0.5)], 0.1), [(0.5, 0.5)]);
        assert_eq!(simplified(&[(0.5, 0.5), (0.5, 0.5)], 0.1).len(), 2);
    }
}
