//! Mean and deviation of the training rows, safe for every finite number.

use super::{Cycle, Scale};
use crate::table::Values;

/// Below this a deviation is taken as none: its inverse would overflow.
pub(super) const SMALLEST: f64 = 1e-300;

/// What the training rows of a column of numbers have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Numbers {
    pub count: usize,
    pub missing: usize,
    pub low: f64,
    pub high: f64,
    pub scale: Scale,
}

/// Of numbers, of which those that are not finite are missing.
pub(super) fn numbers(values: impl Iterator<Item = f64> + Clone) -> Numbers {
    let (mut count, mut missing, mut low, mut high) = (0, 0, f64::INFINITY, f64::NEG_INFINITY);
    for x in values.clone() {
        if x.is_finite() {
            (count, low, high) = (count + 1, low.min(x), high.max(x));
        } else {
            missing += 1;
        }
    }
    let mut scale = Scale { mean: if count > 0 { low } else { 0.0 }, deviation: 1.0 };
    if low < high {
        // In units of the largest number neither the sum nor a square can overflow or vanish; a power of two rounds nothing.
        let unit = 2f64.powi(low.abs().max(high.abs()).log2().floor().clamp(-1020.0, 1020.0) as i32);
        let finite = values.filter(|x| x.is_finite()).map(|x| x / unit);
        let mean = finite.clone().sum::<f64>() / count as f64;
        // Squares about the mean, less what the mean's own rounding adds.
        let (squares, sum) = finite.fold((0.0, 0.0), |(squares, sum), x| {
            let away = x - mean;
            (squares + away * away, sum + away)
        });
        let variance = (squares - sum * sum / count as f64) / count as f64;
        let deviation = (variance.max(0.0).sqrt() * unit).min(f64::MAX);
        scale.mean = (mean * unit).clamp(low, high);
        scale.deviation = if deviation >= SMALLEST { deviation } else { 1.0 };
    }
    Numbers { count, missing, low, high, scale }
}

/// Of a column that is 1 in so many of the rows and 0 in the others.
pub(super) fn share(ones: usize, rows: usize) -> Scale {
    let mean = ones as f64 / rows.max(1) as f64;
    let deviation = (mean * (1.0 - mean)).sqrt();
    Scale { mean, deviation: if deviation > 0.0 { deviation } else { 1.0 } }
}

/// Whether whole numbers are all different and lie as close as the rows of the table do: a row's number, in whatever order.
pub(super) fn are_row_numbers(values: impl Iterator<Item = f64>, numbers: &Numbers, table_rows: usize) -> bool {
    if numbers.count == 0 || numbers.high - numbers.low >= table_rows as f64 {
        return false;
    }
    let mut seen = vec![false; table_rows];
    values.filter(|x| x.is_finite()).all(|x| {
        let place = x - numbers.low;
        x.fract() == 0.0 && place.fract() == 0.0 && !std::mem::replace(&mut seen[place as usize], true)
    })
}

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The cycles in which times vary: at least two hours of the day, more than a week, more than two months.
pub(super) fn cycles(times: impl Iterator<Item = i64>) -> Vec<Cycle> {
    let (mut low, mut high, mut hours) = (i64::MAX, i64::MIN, 0u32);
    for time in times.filter(|time| *time != Values::NO_TIME) {
        (low, high) = (low.min(time), high.max(time));
        hours |= 1 << (time.rem_euclid(DAY) / HOUR);
    }
    // Distances as u64: the first and the last second that i64 knows are farther apart than i64 holds.
    let span = if low > high { 0 } else { high.abs_diff(low) };
    let varies = [
        (Cycle::Day, hours.count_ones() > 1),
        (Cycle::Week, span > 7 * DAY as u64),
        (Cycle::Year, span > 61 * DAY as u64),
    ];
    varies.into_iter().filter(|(_, varies)| *varies).map(|(cycle, _)| cycle).collect()
}

/// Sine and cosine of where in the cycle a time lies.
pub(super) fn phase(cycle: Cycle, time: i64) -> (f64, f64) {
    // The year is the calendar's mean, 365.2425 days: at most two days from the calendar's own, and without its jumps.
    let (begin, length) = match cycle {
        Cycle::Day => (0, DAY),
        // 1970 began on a Thursday, weeks begin on Mondays.
        Cycle::Week => (-3 * DAY, 7 * DAY),
        Cycle::Year => (0, 31_556_952),
    };
    let turn = (time.rem_euclid(length) - begin) as f64 / length as f64;
    (std::f64::consts::TAU * turn).sin_cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_of_a_few_numbers() {
        let found = numbers([1.0, f64::NAN, 2.0, 6.0].into_iter());
        assert_eq!((found.count, found.missing, found.low, found.high), (3, 1, 1.0, 6.0));
        assert_eq!(found.scale.mean, 9.0 / 3.0);
        assert!((found.scale.deviation - (14.0f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn huge_and_tiny_numbers_neither_overflow_nor_vanish() {
        for size in [1e308, f64::MAX, 1e-290] {
            let found = numbers([-size, size, size, -size].into_iter());
            assert_eq!((found.scale.mean, found.scale.deviation), (0.0, size), "{size:e}");
        }
        let far = numbers([1e15, 1e15 + 2.0].into_iter());
        assert_eq!((far.scale.mean, far.scale.deviation), (1e15 + 1.0, 1.0));
    }

    #[test]
    fn constant_and_empty_columns_have_deviation_1() {
        assert_eq!(numbers([0.1; 7].into_iter()).scale, Scale { mean: 0.1, deviation: 1.0 });
        assert_eq!(numbers([f64::NAN; 2].into_iter()).scale, Scale { mean: 0.0, deviation: 1.0 });
        assert_eq!(numbers([f64::from_bits(1), 0.0].into_iter()).scale.deviation, 1.0);
    }

    #[test]
    fn row_numbers_are_whole_different_and_close() {
        let are =
            |values: &[f64], rows| are_row_numbers(values.iter().copied(), &numbers(values.iter().copied()), rows);
        assert!(are(&[7.0, 5.0, 6.0], 3));
        assert!(are(&[5.0, 7.0], 3));
        assert!(!are(&[5.0, 6.0, 6.0], 3));
        assert!(!are(&[5.0, 6.0, 9.0], 3));
        assert!(!are(&[1.0, 1.5, 2.0], 3));
        assert!(!are(&[f64::NAN], 3));
    }

    #[test]
    fn cycles_are_those_the_times_vary_in() {
        assert_eq!(cycles([0, HOUR].into_iter()), [Cycle::Day]);
        assert_eq!(cycles([0, 8 * DAY].into_iter()), [Cycle::Week]);
        assert_eq!(cycles([0, 90 * DAY + HOUR, Values::NO_TIME].into_iter()), [Cycle::Day, Cycle::Week, Cycle::Year]);
        assert_eq!(cycles([i64::MIN + 1, i64::MAX].into_iter()).len(), 3);
        assert!(cycles([Values::NO_TIME].into_iter()).is_empty());
    }

    #[test]
    fn a_phase_is_where_the_clock_stands() {
        let near = |(sin, cos): (f64, f64), a: f64, b: f64| (sin - a).abs() < 1e-12 && (cos - b).abs() < 1e-12;
        assert!(near(phase(Cycle::Day, 6 * HOUR), 1.0, 0.0));
        // 1970-01-05 was a Monday.
        assert!(near(phase(Cycle::Week, 4 * DAY), 0.0, 1.0));
        assert!(near(phase(Cycle::Year, 31_556_952 / 2), 0.0, -1.0));
        assert!(near(phase(Cycle::Day, -6 * HOUR), -1.0, 0.0));
    }
}
