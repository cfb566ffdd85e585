//! The numbers beside an axis: round ones, as many as have room, each written as short as the others allow.

use crate::axes::{Axis, Kind};

/// Places between the ends of an axis and what is written beside them, in rising order.
///
/// `length` is the length of the axis in pixels, `room` what a number needs of it.
pub(crate) fn ticks(axis: &Axis<'_>, length: f64, room: f64) -> Vec<(f64, String)> {
    match axis.kind {
        Kind::Linear | Kind::Whole => linear(axis, length / room),
        Kind::Root | Kind::Log => thinned(axis, length, room),
    }
}

/// At most this many steps, however long the axis: 0 to 1 by tenths.
const MOST: f64 = 10.0;

fn linear(axis: &Axis<'_>, most: f64) -> Vec<(f64, String)> {
    let mut step = round_above((axis.to - axis.from) / most.clamp(2.0, MOST));
    if axis.kind == Kind::Whole {
        step = step.max(1.0);
    }
    // Seen from an axis that ends at 0.3, the number 0.1 + 0.2 lies beyond it.
    let slack = 1e-9;
    let (first, last) = ((axis.from / step - slack).ceil(), (axis.to / step + slack).floor());
    let mut places: Vec<f64> = (0..=(last - first) as usize).map(|number| (first + number as f64) * step).collect();
    // Epochs begin with 1, and a reader wants to see it.
    if axis.kind == Kind::Whole && places.first().is_some_and(|place| place - axis.from > 0.45 * step) {
        places.insert(0, axis.from);
    }
    let greatest = axis.from.abs().max(axis.to.abs());
    places.into_iter().map(|place| (place, number(place, step, greatest))).collect()
}

/// The least of 1, 2, 5 times a power of ten that is not below.
fn round_above(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let least = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= step * (1.0 - 1e-9));
    least.unwrap_or(10.0) * power
}

/// 1, 2 and 5 times powers of ten (powers alone where there are many), each at least `room` beyond the one before.
fn thinned(axis: &Axis<'_>, length: f64, room: f64) -> Vec<(f64, String)> {
    let (low, high) = (axis.from.max(axis.to * 1e-6).log10().floor() as i32, axis.to.log10().ceil() as i32);
    let factors: &[f64] = if axis.kind == Kind::Log && axis.to > 100.0 * axis.from { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let round = (low..=high).flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
    let mut places: Vec<f64> = Vec::new();
    for place in (axis.from == 0.0).then_some(0.0).into_iter().chain(round) {
        let inside = (axis.from..=axis.to * (1.0 + 1e-9)).contains(&place);
        let apart = places.last().is_none_or(|last| (axis.share(place) - axis.share(*last)) * length >= room);
        if inside && apart {
            places.push(place);
        }
    }
    // Each number has a step of its own; the long ones are written by powers.
    let written = |place: f64| number(place, leading(place), if place >= 1e4 { f64::INFINITY } else { place });
    places.into_iter().map(|place| (place, written(place))).collect()
}

/// The power of ten of a number's first digit.
fn leading(place: f64) -> f64 {
    if place > 0.0 { 10f64.powf((place.log10() + 1e-9).floor()) } else { 1.0 }
}

/// A number of an axis with this step, on which `greatest` is the number farthest from 0.
fn number(value: f64, step: f64, greatest: f64) -> String {
    // Seven tenths less five tenths and two tenths is not 0.
    let value = if value.abs() < 1e-9 * step { 0.0 } else { value };
    let words = if greatest >= 1e5 || step < 1e-4 {
        let digits = if value == 0.0 { 0.0 } else { ((value.abs().log10() + 1e-9).floor() - step.log10()).ceil() };
        format!("{value:.*e}", digits.clamp(0.0, 4.0) as usize)
    } else {
        format!("{value:.*}", (-(step.log10() + 1e-9).floor()).max(0.0) as usize)
    };
    words.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(axis: &Axis<'_>, length: f64, room: f64) -> Vec<String> {
        ticks(axis, length, room).into_iter().map(|(_, words)| words).collect()
    }

    #[test]
    fn numbers_are_round_and_written_alike() {
        assert_eq!(words(&Axis::unit(""), 300.0, 50.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(words(&Axis::unit(""), 700.0, 50.0).len(), 11);
        assert_eq!(words(&Axis::new("", -0.2, 0.6), 200.0, 50.0), ["−0.2", "0.0", "0.2", "0.4", "0.6"]);
        assert_eq!(words(&Axis::new("", 0.0, 13.0), 200.0, 60.0), ["0", "5", "10"]);
        assert_eq!(words(&Axis::new("", 0.031, 0.052), 200.0, 40.0), ["0.035", "0.040", "0.045", "0.050"]);
    }

    #[test]
    fn far_and_fine_numbers_are_written_by_powers_of_ten() {
        assert_eq!(words(&Axis::new("", 0.0, 2e9), 200.0, 50.0), ["0e0", "5e8", "1.0e9", "1.5e9", "2.0e9"]);
        assert_eq!(words(&Axis::new("", 0.0, 4e-6), 200.0, 50.0), ["0e0", "1e−6", "2e−6", "3e−6", "4e−6"]);
    }

    #[test]
    fn epochs_are_whole_and_begin_with_1() {
        let epochs = |to: f64| Axis::new("", 1.0, to).whole();
        assert_eq!(words(&epochs(3.0), 300.0, 40.0), ["1", "2", "3"]);
        assert_eq!(words(&epochs(10.0), 230.0, 45.0), ["1", "2", "4", "6", "8", "10"]);
        assert_eq!(words(&epochs(20.0), 200.0, 40.0), ["1", "5", "10", "15", "20"]);
        assert_eq!(words(&epochs(400.0), 200.0, 40.0), ["1", "100", "200", "300", "400"]);
    }

    #[test]
    fn numbers_of_a_bent_axis_keep_their_distance() {
        let root = Axis::new("", 0.0, 32.0).root();
        // √(0.2/32) is 0.08 of the axis, √(0.1/32) only 0.056.
        assert_eq!(words(&root, 300.0, 20.0), ["0", "0.2", "1", "2", "5", "10", "20"]);
        assert_eq!(words(&Axis::new("", 0.8, 3000.0).log(), 100.0, 16.0), ["1", "10", "100", "1000"]);
        assert_eq!(
            words(&Axis::new("", 300.0, 30000.0).log(), 200.0, 16.0),
            ["500", "1000", "2000", "5000", "1e4", "2e4"]
        );
        assert_eq!(words(&Axis::new("", 0.8, 12.0).log(), 100.0, 16.0), ["1", "2", "5", "10"]);
    }

    #[test]
    fn the_numbers_stand_at_their_own_places() {
        for (place, words) in ticks(&Axis::new("", -0.35, 1.1), 300.0, 30.0) {
            assert!((words.replace('−', "-").parse::<f64>().unwrap() - place).abs() < 1e-12, "{words} at {place}");
        }
    }
}
