//! The density f and the cumulative distribution function F of a prior as points of a line.

use scorewise::Prior;

/// A point (x, y), in axis coordinates or in drawing units.
pub(crate) type PlotPoint = (f64, f64);

/// The number of points at which the central 99.9 % of a prior is evaluated, enough for a smooth line that is a few hundred pixels wide.
const CENTRAL_POINTS: usize = 160;

/// The thresholds from 0 to 1, in increasing order, at which a prior is evaluated for plotting. They are dense where most of the probability lies
/// and sparse elsewhere, so that a narrow prior gets as many points as a wide one.
fn sample_thresholds(prior: &Prior) -> Vec<f64> {
    let (low, high) = prior.support();
    let (from, to) = (prior.quantile(0.0005), prior.quantile(0.9995));
    let mut thresholds = vec![0.0];
    for (start, end, steps) in
        [(low, from, tail_point_count(from - low)), (from, to, CENTRAL_POINTS), (to, high, tail_point_count(high - to))]
    {
        thresholds.extend((0..steps).map(|step| start + (end - start) * step as f64 / steps as f64));
    }
    thresholds.extend([high, 1.0]);
    thresholds.dedup();
    thresholds
}

/// The number of points at which a prior is evaluated in a tail of this width. The distance between two points is at most 0.01.
fn tail_point_count(width: f64) -> usize {
    (width * 100.0).ceil() as usize
}

/// Points of the density f. Where f jumps at an end of the support, there are two points, one at each end of the jump. Values of f may be
/// infinite.
fn density_points(prior: &Prior) -> Vec<PlotPoint> {
    let (low, high) = prior.support();
    let mut points = Vec::new();
    for x in sample_thresholds(prior) {
        // At an end of the support the density f may jump to 0, so two points are added there: one at 0 and one at the value of f.
        if x == low && low > 0.0 {
            points.push((x, 0.0));
        }
        points.push((x, prior.pdf(x)));
        if x == high && high < 1.0 {
            points.push((x, 0.0));
        }
    }
    points
}

/// The parts of the density f below `ceiling`, as lines that end where f crosses the ceiling.
pub(crate) fn density_lines_below(prior: &Prior, ceiling: f64) -> Vec<Vec<PlotPoint>> {
    let mut lines = vec![Vec::new()];
    let mut previous: Option<PlotPoint> = None;
    for point in density_points(prior) {
        if let Some(last) = previous
            && (last.1 > ceiling) != (point.1 > ceiling)
        {
            let (inside, outside) = if point.1 > ceiling { (last, point) } else { (point, last) };
            // If the density is infinite at the point above the ceiling, the line ends at the x coordinate of that point.
            let fraction = if outside.1.is_finite() { (ceiling - inside.1) / (outside.1 - inside.1) } else { 1.0 };
            let border = (inside.0 + fraction * (outside.0 - inside.0), ceiling);
            if point.1 > ceiling {
                lines.last_mut().expect("`lines` is never empty").push(border);
                lines.push(Vec::new());
            } else {
                lines.push(vec![border]);
            }
        }
        if point.1 <= ceiling {
            lines.last_mut().expect("`lines` is never empty").push(point);
        }
        previous = Some(point);
    }
    lines.retain(|line| line.len() > 1);
    lines
}

/// The polygon under the density f, truncated at `ceiling`.
pub(crate) fn area_under_density(prior: &Prior, ceiling: f64) -> Vec<PlotPoint> {
    let truncated = density_points(prior).into_iter().map(|(x, f)| (x, f.min(ceiling)));
    [(0.0, 0.0)].into_iter().chain(truncated).chain([(1.0, 0.0)]).collect()
}

/// The maximum of the density f, which determines the range of the y axis. If f is infinite at 0 or 1, the result is the maximum over
/// [0.01, 0.99], or 1 if that maximum is below 1.
pub(crate) fn peak_density(prior: &Prior) -> f64 {
    let points = density_points(prior);
    let greatest = points.iter().map(|(_, f)| *f).fold(0.0, f64::max);
    if greatest.is_finite() {
        return greatest;
    }
    let inner = points.iter().filter(|(x, _)| (0.01..=0.99).contains(x)).map(|(_, f)| *f);
    // If nearly all of the probability lies outside [0.01, 0.99], the density inside is small. The y axis nevertheless extends at least to 1.
    inner.chain([prior.pdf(0.01), prior.pdf(0.99), 1.0]).fold(0.0, f64::max)
}

/// Points of the cumulative distribution function F.
pub(crate) fn cdf_points(prior: &Prior) -> Vec<PlotPoint> {
    sample_thresholds(prior).into_iter().map(|x| (x, prior.cdf(x))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a valid prior.
    fn prior(text: &str) -> Prior {
        text.parse().unwrap()
    }

    #[test]
    fn plotted_thresholds_lie_between_0_and_1_and_increase_along_each_line() {
        for text in [
            "uniform",
            "uniform:0.2,0.6",
            "cosine:0.3,0.3",
            "cosine:0.5,1e-9",
            "beta:0.01,0.01",
            "beta:900,2",
            "normal:0,0.001",
            "mix:0.05,cosine:0.9,0.1",
        ] {
            let line = cdf_points(&prior(text));
            assert!(line[0].0 == 0.0 && line.last() == Some(&(1.0, 1.0)), "{text}");
            // Rounding errors may make the distribution function decrease in its last digit.
            assert!(line.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1 + 1e-12), "{text}");
            let peak = peak_density(&prior(text));
            assert!(peak.is_finite() && peak > 0.0, "{text}");
            for line in density_lines_below(&prior(text), peak) {
                assert!(line.iter().all(|(x, f)| (0.0..=1.0).contains(x) && (0.0..=peak).contains(f)), "{text}");
                assert!(line.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{text}");
            }
        }
    }

    #[test]
    fn a_jump_of_the_density_is_drawn_as_a_vertical_line() {
        let line = &density_lines_below(&prior("uniform:0.2,0.6"), 3.0)[0];
        assert_eq!(&line[..3], &[(0.0, 0.0), (0.2, 0.0), (0.2, 1.0 / 0.4)]);
        assert_eq!(&line[line.len() - 3..], &[(0.6, 1.0 / 0.4), (0.6, 0.0), (1.0, 0.0)]);
    }

    #[test]
    fn the_line_of_an_infinite_density_ends_at_the_ceiling() {
        let arcsine = prior("beta:0.5,0.5");
        assert!((peak_density(&arcsine) - 1.0 / (std::f64::consts::PI * (0.01f64 * 0.99).sqrt())).abs() < 1e-9);
        let lines = density_lines_below(&arcsine, 3.0);
        assert_eq!(lines.len(), 1);
        assert!(lines[0][0].1 == 3.0 && lines[0][lines[0].len() - 1].1 == 3.0);
        // The arcsine density f(x) = 1/(π√(x(1 − x))) equals the ceiling 3 where x(1 − x) = 1/(9π²).
        let x = 0.5 - (0.25 - 1.0 / (9.0 * std::f64::consts::PI.powi(2))).sqrt();
        assert!((lines[0][0].0 - x).abs() < 2e-3, "{:?}", lines[0][0]);
    }

    #[test]
    fn the_peak_density_of_a_raised_cosine_is_1_over_its_half_width() {
        assert!((peak_density(&prior("cosine:0.3,0.1")) - 10.0).abs() < 0.01);
    }
}
