//! The calibration as ONNX nodes, with the same operations in the same order as in
//! [`Calibration::probability`](scorewise::calibration::Calibration::probability), so that the probabilities are the same.
//!
//! ```text
//! raw → binary search of the knot below → c + (raw − p) · slope, at most the next c → limited by the threshold → probability
//!
//! A knot is a point (p, c) of the curve: c is the calibrated probability of the prediction p.
//! ```

use scorewise::calibration::Calibration;

use super::GraphBuilder;
use super::proto::INT64;

/// Adds the nodes that compute `probability` from `raw` and from `above`, which says whether a row is predicted positive at `threshold`.
pub(super) fn add_nodes(graph: &mut GraphBuilder, calibration: &Calibration, threshold: f64) {
    let (knots, mut slopes) = (calibration.knots(), calibration.slopes());
    let last = knots.len() - 1;
    let length = knots.len().next_power_of_two();
    // The padding is infinite. No prediction reaches it, so a search never ends there.
    let padded = |knot: usize| knots.get(knot).map_or(f64::INFINITY, |(p, _)| *p);
    let search = graph.doubles("calibration.search", &[length], &(0..length).map(padded).collect::<Vec<_>>());
    let mut found = String::new();
    let mut step = length / 2;
    while step > 0 {
        let name = |part: &str| format!("calibration.{step}.{part}");
        let size = graph.integers(&name("size"), &[step as i64]);
        // The search of every row begins at knot 0, so the first candidate is the same knot for all rows.
        let candidate =
            if found.is_empty() { size.clone() } else { graph.node("Add", &[&found, &size], &name("candidate"), &[]) };
        let knot = graph.node("Gather", &[&search, &candidate], &name("knot"), &[("axis", 0)]);
        let is_above = graph.node("Greater", &[&knot, "raw"], &name("is_above"), &[]);
        let is_above = graph.node("Cast", &[&is_above], &name("count"), &[("to", INT64.into())]);
        let back = graph.node("Mul", &[&is_above, &size], &name("back"), &[]);
        found = graph.node("Sub", &[&candidate, &back], &name("found"), &[]);
        step /= 2;
    }
    // For a prediction of 1, the search ends at the last knot. No line begins there, so the line before this knot is used.
    slopes.push(slopes[last - 1]);
    let line = |knot: usize| knot.min(last - 1);
    let mut part = |name: &str, value: &dyn Fn(usize) -> f64| {
        let values: Vec<f64> = (0..knots.len()).map(value).collect();
        let values = graph.doubles(&format!("calibration.{name}s"), &[values.len()], &values);
        graph.node("Gather", &[&values, &found], &format!("calibration.{name}"), &[("axis", 0)])
    };
    let start = part("start", &|knot| knots[line(knot)].0);
    let low = part("low", &|knot| knots[line(knot)].1);
    let high = part("high", &|knot| knots[line(knot) + 1].1);
    let slope = part("slope", &|knot| slopes[knot]);
    let distance = graph.node("Sub", &["raw", &start], "calibration.distance", &[]);
    let rise = graph.node("Mul", &[&distance, &slope], "calibration.rise", &[]);
    let sum = graph.node("Add", &[&low, &rise], "calibration.sum", &[]);
    let value = graph.node("Min", &[&sum, &high], "calibration.value", &[]);
    let limits = calibration.limits(threshold);
    let at_most = graph.doubles("calibration.at_most", &[], &limits[..1]);
    let at_least = graph.doubles("calibration.at_least", &[], &limits[1..]);
    let negative = graph.node("Min", &[&value, &at_most], "calibration.negative", &[]);
    let positive = graph.node("Max", &[&value, &at_least], "calibration.positive", &[]);
    graph.node("Where", &["above", &positive, &negative], "probability", &[]);
}
