//! Simplifies lines by removing points without a visible change of the line.
//!
//! plotters rounds every point to integer units, which makes lines with many close points look ragged; with fewer points and longer segments
//! the rounding is not visible. The SVG also becomes smaller.
//!
//! Douglas, D. H., Peucker, T. K. (1973). Algorithms for the reduction of the number of points required to represent a
//! digitized line or its caricature. Cartographica 10, 112–122. doi:10.3138/FM57-6770-U75U-7727

use crate::curve::PlotPoint;

/// Removes points by the Douglas–Peucker algorithm, such that no removed point is farther than `tolerance` from the remaining line. The first and
/// the last point are kept.
pub(crate) fn simplified_line(line: &[PlotPoint], tolerance: f64) -> Vec<PlotPoint> {
    let Some(last) = line.len().checked_sub(1) else { return Vec::new() };
    let mut kept = vec![false; line.len()];
    (kept[0], kept[last]) = (true, true);
    // A stack of segments is used in place of recursion, because the recursion could become as deep as the number of points.
    let mut segments = vec![(0, last)];
    while let Some((from, to)) = segments.pop() {
        let farthest = (from + 1..to)
            .map(|at| (at, distance_to_segment(line[at], (line[from], line[to]))))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((at, distance)) = farthest
            && distance > tolerance
        {
            kept[at] = true;
            segments.extend([(from, at), (at, to)]);
        }
    }
    line.iter().zip(kept).filter(|(_, kept)| *kept).map(|(point, _)| *point).collect()
}

/// Distance from a point to a line segment.
fn distance_to_segment(point: PlotPoint, (from, to): (PlotPoint, PlotPoint)) -> f64 {
    let between = |a: PlotPoint, b: PlotPoint| (b.0 - a.0, b.1 - a.1);
    let (along, away) = (between(from, to), between(from, point));
    let square = along.0 * along.0 + along.1 * along.1;
    let fraction = if square > 0.0 { ((along.0 * away.0 + along.1 * away.1) / square).clamp(0.0, 1.0) } else { 0.0 };
    (away.0 - fraction * along.0).hypot(away.1 - fraction * along.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_is_reduced_to_its_two_ends() {
        let line: Vec<PlotPoint> = (0..=100).map(|step| (3.0 * f64::from(step), 1.6 * f64::from(step))).collect();
        assert_eq!(simplified_line(&line, 0.1), [(0.0, 0.0), (300.0, 160.0)]);
    }

    #[test]
    fn simplification_keeps_the_corners_of_a_line() {
        let line = [(0.0, 0.0), (60.0, 0.0), (60.0, 200.0), (120.0, 200.0), (180.0, 200.0), (180.0, 0.0), (300.0, 0.0)];
        let kept = simplified_line(&line, 0.1);
        assert_eq!(kept, [(0.0, 0.0), (60.0, 0.0), (60.0, 200.0), (180.0, 200.0), (180.0, 0.0), (300.0, 0.0)]);
    }

    #[test]
    fn removed_points_lie_within_the_tolerance_of_the_simplified_line() {
        let line: Vec<PlotPoint> =
            (0..=500).map(|step| (0.6 * f64::from(step), 80.0 * (f64::from(step) / 50.0).sin())).collect();
        let kept = simplified_line(&line, 0.1);
        assert!(kept.len() < 120, "{}", kept.len());
        for point in line {
            let near = kept.windows(2).map(|pair| distance_to_segment(point, (pair[0], pair[1])));
            assert!(near.fold(f64::INFINITY, f64::min) <= 0.1 + 1e-12);
        }
    }

    #[test]
    fn lines_of_at_most_two_points_are_unchanged() {
        assert_eq!(simplified_line(&[], 0.1), []);
        assert_eq!(simplified_line(&[(0.5, 0.5)], 0.1), [(0.5, 0.5)]);
        assert_eq!(simplified_line(&[(0.5, 0.5), (0.5, 0.5)], 0.1).len(), 2);
    }
}
