//! Computes means and standard deviations without overflow, the knots of binned numbers, and the phases of times in calendar cycles.

use super::{ColumnEncoding, Cycle, Standardisation, TimePart};
use crate::table::Values;

/// Standard deviations below this value are treated as 0, because dividing by such a small number could overflow.
pub(super) const MIN_DEVIATION: f64 = 1e-300;

/// Statistics of a column of numbers over the training rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberSummary {
    pub count: usize,
    pub missing: usize,
    pub min: f64,
    pub max: f64,
    pub scale: Standardisation,
}

/// Computes the statistics of a sequence of numbers. NaN and infinities count as missing.
pub(super) fn summarise(values: impl Iterator<Item = f64> + Clone) -> NumberSummary {
    let (mut count, mut missing, mut min, mut max) = (0, 0, f64::INFINITY, f64::NEG_INFINITY);
    for x in values.clone() {
        if x.is_finite() {
            (count, min, max) = (count + 1, min.min(x), max.max(x));
        } else {
            missing += 1;
        }
    }
    let mut scale = Standardisation { mean: if count > 0 { min } else { 0.0 }, deviation: 1.0 };
    if min < max {
        // All numbers are divided by a unit close to the largest magnitude, so that neither the sum nor a square can overflow or underflow.
        // The unit is a power of two, so the division is exact.
        let unit = 2f64.powi(min.abs().max(max.abs()).log2().floor().clamp(-1020.0, 1020.0) as i32);
        let finite = values.filter(|x| x.is_finite()).map(|x| x / unit);
        let mean = finite.clone().sum::<f64>() / count as f64;
        // `squares` is the sum of the squared differences from the mean. `sum`, the sum of the signed differences, would be 0 if the mean were exact;
        // it corrects the variance for the rounding error of the mean.
        let (squares, sum) = finite.fold((0.0, 0.0), |(squares, sum), x| {
            let difference = x - mean;
            (squares + difference * difference, sum + difference)
        });
        let variance = (squares - sum * sum / count as f64) / count as f64;
        let deviation = (variance.max(0.0).sqrt() * unit).min(f64::MAX);
        scale.mean = (mean * unit).clamp(min, max);
        scale.deviation = if deviation >= MIN_DEVIATION { deviation } else { 1.0 };
    }
    NumberSummary { count, missing, min, max, scale }
}

/// The mean and standard deviation of a column of the matrix that is 1 in `ones` of the rows and 0 in the others.
pub(super) fn indicator_scale(ones: usize, rows: usize) -> Standardisation {
    let mean = ones as f64 / rows.max(1) as f64;
    let deviation = (mean * (1.0 - mean)).sqrt();
    Standardisation { mean, deviation: if deviation > 0.0 { deviation } else { 1.0 } }
}

/// Whether the values could be row numbers in any order: distinct integers in a range that contains no more integers than the table has rows.
pub(super) fn are_row_numbers(values: impl Iterator<Item = f64>, summary: &NumberSummary, table_rows: usize) -> bool {
    if summary.count == 0 || summary.max - summary.min >= table_rows as f64 {
        return false;
    }
    let mut seen = vec![false; table_rows];
    values.filter(|x| x.is_finite()).all(|x| {
        let offset = x - summary.min;
        x.fract() == 0.0 && offset.fract() == 0.0 && !std::mem::replace(&mut seen[offset as usize], true)
    })
}

/// A number is frequent if more than this share of the training rows with a value hold this number. It is then encoded by an integer of its own
/// instead of its position among the knots.
const FREQUENT_VALUE_SHARE: f64 = 0.25;

/// The number of quantiles is limited so that about this many training rows or more lie between two neighbouring quantiles, but
/// [`MIN_INTERVALS`] intervals are always allowed. With fewer rows in an interval, what is learnt at a knot would be mostly chance.
const ROWS_PER_INTERVAL: usize = 300;
/// The number of intervals between quantiles that is always allowed, however few training rows there are.
const MIN_INTERVALS: usize = 48;

/// The binned encoding of a column of numbers. Its knots are all distinct values if there are at most `bins` + 1, otherwise at most `bins` + 1
/// quantiles together with the smallest and the greatest value. NaN and infinities count as missing. `None` if all values are missing.
pub(super) fn knots(values: impl Iterator<Item = f64>, bins: usize) -> Option<ColumnEncoding> {
    let (mut sorted, mut missing) = (Vec::new(), false);
    for x in values {
        if x.is_finite() {
            sorted.push(x + 0.0); // −0 becomes 0
        } else {
            missing = true;
        }
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let quantile = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let (median, quartiles) = (quantile(0.5), [quantile(0.25), quantile(0.75)]);
    let mut spread = quartiles[1] - quartiles[0];
    if !(MIN_DEVIATION..f64::MAX).contains(&spread) {
        spread = summarise(sorted.iter().copied()).scale.deviation;
    }
    let mut distinct: Vec<(f64, usize)> = Vec::new();
    for x in &sorted {
        match distinct.last_mut() {
            Some((value, count)) if value == x => *count += 1,
            _ => distinct.push((*x, 1)),
        }
    }
    if distinct.len() <= bins + 1 {
        let knots = distinct.into_iter().map(|(value, _)| value).collect();
        return Some(ColumnEncoding::Knots { knots, own: Vec::new(), median, spread, missing });
    }
    let bins = bins.min((sorted.len() / ROWS_PER_INTERVAL).max(MIN_INTERVALS));
    let is_frequent = |count: usize| count as f64 > FREQUENT_VALUE_SHARE * sorted.len() as f64;
    let own: Vec<f64> = distinct.iter().filter(|(_, count)| is_frequent(*count)).map(|(value, _)| *value).collect();
    sorted.retain(|x| !own.contains(x));
    // `sorted` no longer contains the frequent values. If all values of the column are frequent, `sorted` is empty and there are no quantiles.
    let quantile_of_the_rest = |at: usize| sorted.get(at * sorted.len().saturating_sub(1) / bins).copied();
    let mut knots: Vec<f64> = (0..=bins).filter_map(quantile_of_the_rest).collect();
    // A number outside the range of the knots gets the position of the nearest knot, so the knots must span the range of the training rows.
    knots.extend([first, last]);
    knots.sort_unstable_by(f64::total_cmp);
    knots.dedup();
    Some(ColumnEncoding::Knots { knots, own, median, spread, missing })
}

/// The position of the number `x` among ascending knots: the index of the knot at or below `x`, plus how far `x` is on the way to the next knot, as
/// a fraction. A number below the first knot has the position of the first knot, and a number above the last knot that of the last knot.
pub(super) fn position(knots: &[f64], x: f64) -> f64 {
    let after = knots.partition_point(|knot| *knot <= x);
    if after == 0 || after == knots.len() {
        return after.saturating_sub(1) as f64;
    }
    let (low, high) = (knots[after - 1], knots[after]);
    // All terms are halved, because the difference of two large finite numbers could overflow.
    (after - 1) as f64 + (x * 0.5 - low * 0.5) / (high * 0.5 - low * 0.5)
}

/// A part of a time as a number; NaN for a missing time.
pub(super) fn time_part(part: TimePart, time: i64) -> f64 {
    if time == Values::NO_TIME {
        return f64::NAN;
    }
    match part {
        TimePart::Hour => time.rem_euclid(DAY) as f64 / HOUR as f64,
        // Day 0 is 1970-01-01, a Thursday, which is weekday 3.
        TimePart::Weekday => (time.div_euclid(DAY) + 3).rem_euclid(7) as f64,
        // All years are taken to have the mean length of the Gregorian calendar, so that the day does not jump at leap years.
        TimePart::YearDay => (time.rem_euclid(YEAR) / DAY) as f64,
    }
}

/// The time with one part replaced by a whole number; see [`TimePart::set`].
pub(super) fn with_time_part(part: TimePart, time: i64, value: u32) -> i64 {
    if time == Values::NO_TIME {
        return time;
    }
    let value = i64::from(value);
    match part {
        TimePart::Hour => time.saturating_sub(time.rem_euclid(DAY)).saturating_add(value * HOUR),
        TimePart::Weekday => {
            let weekday = (time.div_euclid(DAY) + 3).rem_euclid(7);
            time.saturating_add((value - weekday) * DAY)
        }
        TimePart::YearDay => time.saturating_add((value - time.rem_euclid(YEAR) / DAY) * DAY),
    }
}

/// The mean length of a year of the Gregorian calendar in seconds: 365.2425 days.
const YEAR: i64 = 31_556_952;

/// The number of seconds in an hour.
const HOUR: i64 = 3600;
/// The number of seconds in a day.
const DAY: i64 = 24 * HOUR;

/// The cycles in which the times vary: [`Cycle::Day`] if there are at least two different hours of the day, [`Cycle::Week`] if the times span
/// more than 7 days, [`Cycle::Year`] if they span more than 61 days.
pub(super) fn cycles(times: impl Iterator<Item = i64>) -> Vec<Cycle> {
    let (mut low, mut high, mut hours) = (i64::MAX, i64::MIN, 0u32);
    for time in times.filter(|time| *time != Values::NO_TIME) {
        (low, high) = (low.min(time), high.max(time));
        hours |= 1 << (time.rem_euclid(DAY) / HOUR);
    }
    // The difference between two numbers of type i64 may overflow i64, but not u64.
    let span = if low > high { 0 } else { high.abs_diff(low) };
    let varies = [
        (Cycle::Day, hours.count_ones() > 1),
        (Cycle::Week, span > 7 * DAY as u64),
        (Cycle::Year, span > 61 * DAY as u64),
    ];
    varies.into_iter().filter(|(_, varies)| *varies).map(|(cycle, _)| cycle).collect()
}

/// The sine and cosine of the phase of a time within a cycle.
pub(super) fn phase(cycle: Cycle, time: i64) -> (f64, f64) {
    // Every year is taken to have the mean length of the Gregorian calendar, 365.2425 days. The phase then differs from that of the calendar
    // year by at most two days, and does not jump at leap years.
    let (begin, length) = match cycle {
        Cycle::Day => (0, DAY),
        // 1970 began on a Thursday, and weeks begin on Monday.
        Cycle::Week => (-3 * DAY, 7 * DAY),
        Cycle::Year => (0, YEAR),
    };
    let fraction = (time.rem_euclid(length) - begin) as f64 / length as f64;
    (std::f64::consts::TAU * fraction).sin_cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_ignore_missing_values() {
        let summary = summarise([1.0, f64::NAN, 2.0, 6.0].into_iter());
        assert_eq!((summary.count, summary.missing, summary.min, summary.max), (3, 1, 1.0, 6.0));
        assert_eq!(summary.scale.mean, 9.0 / 3.0);
        assert!((summary.scale.deviation - (14.0f64 / 3.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn huge_and_tiny_numbers_neither_overflow_nor_underflow() {
        for size in [1e308, f64::MAX, 1e-290] {
            let summary = summarise([-size, size, size, -size].into_iter());
            assert_eq!((summary.scale.mean, summary.scale.deviation), (0.0, size), "{size:e}");
        }
        let far = summarise([1e15, 1e15 + 2.0].into_iter());
        assert_eq!((far.scale.mean, far.scale.deviation), (1e15 + 1.0, 1.0));
    }

    #[test]
    fn the_standard_deviation_of_a_constant_or_empty_column_is_set_to_1() {
        assert_eq!(summarise([0.1; 7].into_iter()).scale, Standardisation { mean: 0.1, deviation: 1.0 });
        assert_eq!(summarise([f64::NAN; 2].into_iter()).scale, Standardisation { mean: 0.0, deviation: 1.0 });
        assert_eq!(summarise([f64::from_bits(1), 0.0].into_iter()).scale.deviation, 1.0);
    }

    #[test]
    fn knots_are_quantiles_unless_a_column_has_only_few_distinct_values() {
        let Some(ColumnEncoding::Knots { knots: few, own, missing, .. }) =
            knots([3.0, 1.0, f64::NAN, 1.0, -0.0].into_iter(), 4)
        else {
            panic!("the encoding must have knots")
        };
        assert_eq!((few, own, missing), (vec![0.0, 1.0, 3.0], vec![], true));
        let values = (0..1000).map(|row| if row % 3 == 0 { 0.0 } else { f64::from(row).sqrt() });
        let Some(ColumnEncoding::Knots { knots: many, own, missing, .. }) = knots(values.clone(), 10) else {
            panic!("the encoding must have knots")
        };
        assert_eq!((own, missing), (vec![0.0], false));
        assert!(many.len() <= 13 && many.is_sorted_by(|a, b| a < b), "{many:?}");
        assert_eq!((many[0], many[many.len() - 1]), (0.0, 998f64.sqrt()));
        let inside = |low: f64, high: f64| values.clone().filter(|x| low < *x && *x <= high).count();
        for pair in many.windows(2).skip(1) {
            assert!((60..=72).contains(&inside(pair[0], pair[1])), "{pair:?}");
        }
        assert!(knots([f64::NAN, f64::INFINITY].into_iter(), 4).is_none());
        let three = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0];
        let Some(ColumnEncoding::Knots { knots: ends, own, .. }) = knots(three.into_iter(), 1) else {
            panic!("the encoding must have knots")
        };
        assert_eq!((ends, own), (vec![1.0, 3.0], vec![1.0, 2.0, 3.0]));
    }

    #[test]
    fn positions_are_interpolated_between_knots_and_clamped_outside() {
        let knots = [-1.0, 0.0, 4.0];
        for (x, expected) in [(-9.0, 0.0), (-1.0, 0.0), (-0.5, 0.5), (0.0, 1.0), (1.0, 1.25), (4.0, 2.0), (1e308, 2.0)]
        {
            assert_eq!(position(&knots, x), expected, "{x}");
        }
        assert_eq!(position(&[-f64::MAX, f64::MAX], 0.0), 0.5);
        assert_eq!(position(&[7.0], 8.0), 0.0);
    }

    #[test]
    fn parts_of_a_time_follow_the_calendar() {
        // The time is 12:30 on Monday, 2024-01-01.
        let time = 1_704_067_200 + 12 * HOUR + HOUR / 2;
        assert_eq!(TimePart::ALL.map(|part| time_part(part, time)), [12.5, 0.0, 0.0]);
        assert!(time_part(TimePart::Hour, Values::NO_TIME).is_nan());
        assert_eq!(time_part(TimePart::Weekday, -DAY), 2.0);
    }

    #[test]
    fn a_part_of_a_time_is_set_to_the_given_value() {
        let time = 1_704_067_200 + 200 * DAY + 12 * HOUR + HOUR / 2;
        let parts = |time: i64| TimePart::ALL.map(|part| time_part(part, time));
        let [hour, weekday, year_day] = parts(time);
        for value in 0..24 {
            let changed = parts(TimePart::Hour.set(time, value));
            assert_eq!(changed[..2], [f64::from(value), weekday]);
            // A year of the mean length does not begin at midnight, so a change of the hour may change the day of the year by 1.
            assert!((changed[2] - year_day).abs() <= 1.0);
        }
        for value in 0..7 {
            let changed = parts(TimePart::Weekday.set(time, value));
            assert_eq!(changed[..2], [hour, f64::from(value)]);
            assert!((changed[2] - year_day).abs() <= 6.0);
        }
        for value in 0..365 {
            let changed = parts(TimePart::YearDay.set(time, value));
            assert_eq!([changed[0], changed[2]], [hour, f64::from(value)]);
        }
        for part in TimePart::ALL {
            assert_eq!(part.set(Values::NO_TIME, 3), Values::NO_TIME);
            // The calculation must not overflow for the greatest and the smallest time.
            let _ = (part.set(i64::MAX, 3), part.set(i64::MIN + 1, 3));
        }
    }

    #[test]
    fn only_distinct_integers_in_a_short_range_are_taken_for_row_numbers() {
        let could_be_row_numbers =
            |values: &[f64], rows| are_row_numbers(values.iter().copied(), &summarise(values.iter().copied()), rows);
        assert!(could_be_row_numbers(&[7.0, 5.0, 6.0], 3));
        assert!(could_be_row_numbers(&[5.0, 7.0], 3));
        assert!(!could_be_row_numbers(&[5.0, 6.0, 6.0], 3));
        assert!(!could_be_row_numbers(&[5.0, 6.0, 9.0], 3));
        assert!(!could_be_row_numbers(&[1.0, 1.5, 2.0], 3));
        assert!(!could_be_row_numbers(&[f64::NAN], 3));
    }

    #[test]
    fn a_calendar_cycle_is_encoded_only_if_the_times_vary_in_it() {
        assert_eq!(cycles([0, HOUR].into_iter()), [Cycle::Day]);
        assert_eq!(cycles([0, 8 * DAY].into_iter()), [Cycle::Week]);
        assert_eq!(cycles([0, 90 * DAY + HOUR, Values::NO_TIME].into_iter()), [Cycle::Day, Cycle::Week, Cycle::Year]);
        assert_eq!(cycles([i64::MIN + 1, i64::MAX].into_iter()).len(), 3);
        assert!(cycles([Values::NO_TIME].into_iter()).is_empty());
    }

    #[test]
    fn the_phase_of_a_cycle_follows_the_clock_and_the_calendar() {
        let near = |(sin, cos): (f64, f64), a: f64, b: f64| (sin - a).abs() < 1e-12 && (cos - b).abs() < 1e-12;
        assert!(near(phase(Cycle::Day, 6 * HOUR), 1.0, 0.0));
        // 1970-01-05 was a Monday.
        assert!(near(phase(Cycle::Week, 4 * DAY), 0.0, 1.0));
        assert!(near(phase(Cycle::Year, 31_556_952 / 2), 0.0, -1.0));
        assert!(near(phase(Cycle::Day, -6 * HOUR), -1.0, 0.0));
    }
}
