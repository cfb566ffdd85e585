//! Positions and labels of the ticks of an axis: round numbers, as many as fit.

use crate::axes::{Axis, AxisKind};

/// Positions and labels of the ticks, in increasing order.
///
/// `length` is the length of the axis in pixels, `spacing` the minimum distance between two ticks in pixels.
pub(crate) fn ticks(axis: &Axis<'_>, length: f64, spacing: f64) -> Vec<(f64, String)> {
    if !axis.names.is_empty() {
        return axis.names.iter().enumerate().map(|(at, name)| (at as f64, name.clone())).collect();
    }
    match axis.kind {
        AxisKind::Linear | AxisKind::Integer => evenly_spaced_ticks(axis, length / spacing),
        AxisKind::SquareRoot | AxisKind::Log => unevenly_spaced_ticks(axis, length, spacing),
    }
}

/// The maximum number of intervals between ticks, for an axis of any length. An axis from 0 to 1 is thus divided into at most ten intervals.
const MAX_STEPS: f64 = 10.0;

/// Ticks at multiples of a round step, with at most `max_steps` intervals between them.
fn evenly_spaced_ticks(axis: &Axis<'_>, max_steps: f64) -> Vec<(f64, String)> {
    let mut step = round_step_above((axis.to - axis.from) / max_steps.clamp(2.0, MAX_STEPS));
    if axis.kind == AxisKind::Integer {
        step = step.max(1.0);
    }
    // In floating-point arithmetic 0.1 + 0.2 is greater than 0.3. Without this tolerance, an axis that ends at 0.3 would have no tick at 0.3.
    let slack = 1e-9;
    let (first, last) = ((axis.from / step - slack).ceil(), (axis.to / step + slack).floor());
    let mut positions: Vec<f64> = (0..=(last - first) as usize).map(|index| (first + index as f64) * step).collect();
    // An axis of epochs starts at 1. The first epoch should have a tick even if 1 is not a multiple of the step.
    if axis.kind == AxisKind::Integer && positions.first().is_some_and(|position| position - axis.from > 0.45 * step) {
        positions.insert(0, axis.from);
    }
    let greatest = axis.from.abs().max(axis.to.abs());
    positions.into_iter().map(|position| (position, tick_label(position, step, greatest))).collect()
}

/// The smallest number that is 1, 2 or 5 times a power of ten and not below `step`.
fn round_step_above(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let least = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= step * (1.0 - 1e-9));
    least.unwrap_or(10.0) * power
}

/// Ticks at 1, 2 and 5 times a power of ten, at least `spacing` pixels apart. If the upper end of a logarithmic axis is more than 100 times the lower
/// end, the ticks are at powers of ten only.
fn unevenly_spaced_ticks(axis: &Axis<'_>, length: f64, spacing: f64) -> Vec<(f64, String)> {
    let (low, high) = (axis.from.max(axis.to * 1e-6).log10().floor() as i32, axis.to.log10().ceil() as i32);
    let factors: &[f64] =
        if axis.kind == AxisKind::Log && axis.to > 100.0 * axis.from { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let round = (low..=high).flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
    let mut positions: Vec<f64> = Vec::new();
    for position in (axis.from == 0.0).then_some(0.0).into_iter().chain(round) {
        let is_inside = (axis.from..=axis.to * (1.0 + 1e-9)).contains(&position);
        let is_apart = positions
            .last()
            .is_none_or(|last| (axis.relative_position(position) - axis.relative_position(*last)) * length >= spacing);
        if is_inside && is_apart {
            positions.push(position);
        }
    }
    // The number of decimals is chosen for each tick separately. Numbers from 10 000 on are written in scientific notation.
    let label = |position: f64| {
        tick_label(position, leading_power_of_ten(position), if position >= 1e4 { f64::INFINITY } else { position })
    };
    positions.into_iter().map(|position| (position, label(position))).collect()
}

/// The power of ten of the first digit of `position`: 10 for 57 and 0.01 for 0.03; 1 for 0.
fn leading_power_of_ten(position: f64) -> f64 {
    if position > 0.0 { 10f64.powf((position.log10() + 1e-9).floor()) } else { 1.0 }
}

/// Formats the label of a tick. `step` is the distance between ticks, `greatest` the largest absolute value on the axis.
fn tick_label(value: f64, step: f64, greatest: f64) -> String {
    // Values near 0 are rounding errors: 0.7 − 0.5 − 0.2 is not exactly 0.
    let value = if value.abs() < 1e-9 * step { 0.0 } else { value };
    let formatted = if greatest >= 1e5 || step < 1e-4 {
        let digits = if value == 0.0 { 0.0 } else { ((value.abs().log10() + 1e-9).floor() - step.log10()).ceil() };
        format!("{value:.*e}", digits.clamp(0.0, 4.0) as usize)
    } else {
        format!("{value:.*}", (-(step.log10() + 1e-9).floor()).max(0.0) as usize)
    };
    formatted.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels of the ticks of an axis.
    fn labels(axis: &Axis<'_>, length: f64, spacing: f64) -> Vec<String> {
        ticks(axis, length, spacing).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn linear_ticks_are_round_numbers_with_the_same_number_of_decimals() {
        assert_eq!(labels(&Axis::from_0_to_1(""), 300.0, 50.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::from_0_to_1(""), 700.0, 50.0).len(), 11);
        assert_eq!(labels(&Axis::new("", -0.2, 0.6), 200.0, 50.0), ["−0.2", "0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(labels(&Axis::new("", 0.0, 13.0), 200.0, 60.0), ["0", "5", "10"]);
        assert_eq!(labels(&Axis::new("", 0.031, 0.052), 200.0, 40.0), ["0.035", "0.040", "0.045", "0.050"]);
    }

    #[test]
    fn very_large_and_very_small_ticks_use_scientific_notation() {
        assert_eq!(labels(&Axis::new("", 0.0, 2e9), 200.0, 50.0), ["0e0", "5e8", "1.0e9", "1.5e9", "2.0e9"]);
        assert_eq!(labels(&Axis::new("", 0.0, 4e-6), 200.0, 50.0), ["0e0", "1e−6", "2e−6", "3e−6", "4e−6"]);
    }

    #[test]
    fn epoch_ticks_are_integers_and_include_the_first_epoch() {
        let epochs = |to: f64| Axis::new("", 1.0, to).with_integer_ticks();
        assert_eq!(labels(&epochs(3.0), 300.0, 40.0), ["1", "2", "3"]);
        assert_eq!(labels(&epochs(10.0), 230.0, 45.0), ["1", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&epochs(20.0), 200.0, 40.0), ["1", "5", "10", "15", "20"]);
        assert_eq!(labels(&epochs(400.0), 200.0, 40.0), ["1", "100", "200", "300", "400"]);
    }

    #[test]
    fn ticks_of_a_nonlinear_axis_keep_the_required_spacing() {
        let root = Axis::new("", 0.0, 32.0).square_root_scale();
        // On this square-root axis from 0 to 32 with a length of 300 pixels, the tick 0.2 is at √(0.2/32) = 0.079 of the length. 0.1 has no tick,
        // because it would be at √(0.1/32) = 0.056, nearer to the tick 0 than the minimum distance 20/300 = 0.067.
        assert_eq!(labels(&root, 300.0, 20.0), ["0", "0.2", "1", "2", "5", "10", "20"]);
        assert_eq!(labels(&Axis::new("", 0.8, 3000.0).log_scale(), 100.0, 16.0), ["1", "10", "100", "1000"]);
        assert_eq!(
            labels(&Axis::new("", 300.0, 30000.0).log_scale(), 200.0, 16.0),
            ["500", "1000", "2000", "5000", "1e4", "2e4"]
        );
        assert_eq!(labels(&Axis::new("", 0.8, 12.0).log_scale(), 100.0, 16.0), ["1", "2", "5", "10"]);
    }

    #[test]
    fn tick_labels_equal_their_positions() {
        for (position, label) in ticks(&Axis::new("", -0.35, 1.1), 300.0, 30.0) {
            assert!(
                (label.replace('−', "-").parse::<f64>().unwrap() - position).abs() < 1e-12,
                "{label} at {position}"
            );
        }
    }
}
