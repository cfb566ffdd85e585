//! Interval arithmetic: the range of values that a formula can take while the cells of the confusion matrix vary within given intervals.
//!
//! The sweep, the search over all thresholds, uses interval arithmetic to skip whole ranges of thresholds: where the upper end of the
//! interval is below the best score found so far, no threshold of the range can be better. This requires a bound on the *computed* values,
//! rounding included. The operations +, −, ·, /, √, min and max round to nearest, and rounding is monotone, so the ends of the interval,
//! computed by the same operations, enclose every computed value in between. Only ln, exp and powers come from a library that does not
//! guarantee monotone results; their ends are moved outwards by a few units in the last place.

use super::number::{Number, Side};

/// The interval of all numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// True if the value is certainly defined for every confusion matrix in the given range, so that no undefined result, such as x/0, was replaced
    /// by 0.
    pub defined: bool,
}

/// The interval that is used where no bound is known: the value may be any number, and it may be undefined.
const EVERYTHING: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, defined: false };
/// The interval that replaces an undefined value: [0, 0], marked as not defined.
const UNDEFINED: Interval = Interval { low: 0.0, high: 0.0, defined: false };

impl Interval {
    /// The interval from `low` to `high`; all numbers if `low` is greater than `high` or an end is NaN (from ∞ − ∞ or 0 · ∞).
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        if low <= high { Interval { low, high, defined: true } } else { EVERYTHING }
    }

    /// The greatest absolute value in the interval.
    #[must_use]
    pub fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// Whether the interval contains exactly one number.
    #[must_use]
    pub fn is_point(self) -> bool {
        self.low == self.high
    }

    /// The smallest interval that contains the four values; the interval of all numbers if a value is NaN.
    fn hull_of(values: [f64; 4]) -> Self {
        if values.iter().any(|value| value.is_nan()) {
            return EVERYTHING;
        }
        let (low, high) =
            (values.into_iter().fold(f64::INFINITY, f64::min), values.into_iter().fold(f64::NEG_INFINITY, f64::max));
        Interval { low, high, defined: true }
    }

    /// The same interval, but marked as not defined if `operands_defined` is false.
    fn defined_if(mut self, operands_defined: bool) -> Self {
        self.defined &= operands_defined;
        self
    }

    /// The interval with both ends moved outwards by at least four units in the last place, which is more than the error of any common maths
    /// library.
    fn widened(self) -> Self {
        let margin = |x: f64| 4.0 * f64::EPSILON * x.abs() + f64::MIN_POSITIVE;
        Interval::new(self.low - margin(self.low), self.high + margin(self.high)).defined_if(self.defined)
    }

    /// Whether the interval, including its ends, contains 0.
    fn contains_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// The smallest interval that contains both intervals.
    fn hull(self, other: Self) -> Self {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            defined: self.defined && other.defined,
        }
    }
}

impl Number for Interval {
    fn constant(value: f64) -> Self {
        Interval::new(value, value)
    }
    fn plus(self, other: Self) -> Self {
        Interval::new(self.low + other.low, self.high + other.high).defined_if(self.defined && other.defined)
    }
    fn minus(self, other: Self) -> Self {
        Interval::new(self.low - other.high, self.high - other.low).defined_if(self.defined && other.defined)
    }
    fn times(self, other: Self) -> Self {
        let (a, b) = (self, other);
        let corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
        Interval::hull_of(corners).defined_if(self.defined && other.defined)
    }
    /// The interval of all quotients self / other. It is `UNDEFINED` if other contains only 0, and `EVERYTHING` if other contains 0 and more.
    fn over(self, other: Self) -> Self {
        if other.low == 0.0 && other.high == 0.0 {
            return UNDEFINED;
        }
        if other.contains_zero() {
            return EVERYTHING;
        }
        let (a, b) = (self, other);
        let corners = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high];
        Interval::hull_of(corners).defined_if(self.defined && other.defined)
    }
    fn power(self, other: Self) -> Self {
        let whole_exponent = other.is_point() && other.low.fract() == 0.0;
        if self.low > 0.0 || (whole_exponent && other.low > 0.0) {
            // If all bases are positive, the power is monotone in the base at every fixed exponent and monotone in the exponent at every fixed
            // base, so its extremes lie where both base and exponent are at an end of their interval. If the exponent is a fixed positive integer,
            // the power is monotone in the base on each side of 0, so its extremes lie at the ends of the interval of bases or at base 0.
            let (a, b) = (self, other);
            let corners =
                Interval::hull_of([a.low.powf(b.low), a.low.powf(b.high), a.high.powf(b.low), a.high.powf(b.high)]);
            let zero = Interval::constant(0.0);
            let with_zero = if self.contains_zero() { corners.hull(zero) } else { corners };
            return with_zero.widened().defined_if(self.defined && other.defined);
        }
        EVERYTHING
    }
    fn sqrt(self) -> Self {
        Interval::new(Number::sqrt(self.low), Number::sqrt(self.high)).defined_if(self.defined && self.low >= 0.0)
    }
    fn ln(self) -> Self {
        if self.high <= 0.0 {
            return UNDEFINED;
        }
        if self.low <= 0.0 {
            return Interval { low: f64::NEG_INFINITY, high: f64::ln(self.high).max(0.0), defined: false }.widened();
        }
        Interval::new(f64::ln(self.low), f64::ln(self.high)).widened().defined_if(self.defined)
    }
    fn exp(self) -> Self {
        Interval::new(self.low.exp(), self.high.exp()).widened().defined_if(self.defined)
    }
    fn negate(self) -> Self {
        Interval { low: -self.high, high: -self.low, ..self }
    }
    fn min(self, other: Self) -> Self {
        Interval::new(self.low.min(other.low), self.high.min(other.high)).defined_if(self.defined && other.defined)
    }
    fn max(self, other: Self) -> Self {
        Interval::new(self.low.max(other.low), self.high.max(other.high)).defined_if(self.defined && other.defined)
    }
    fn is_zero(self) -> bool {
        self.low == 0.0 && self.high == 0.0
    }
    /// Whether all numbers of self are below, or above, all numbers of other; [`Side::Both`] if the intervals share a number.
    fn compare(self, other: Self) -> Side {
        if self.high < other.low {
            Side::Below
        } else if self.low > other.high {
            Side::Above
        } else {
            Side::Both
        }
    }
    /// The smallest interval that contains the results of both branches of `min`, `max` or `abs`. This method is called if the two compared
    /// intervals overlap, so that either branch may apply.
    fn merge_branches(self, other: Self) -> Self {
        self.hull(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_quotients_of_intervals_enclose_all_results_for_mixed_signs() {
        let a = Interval::new(-2.0, 3.0);
        assert_eq!(a.times(a), Interval::new(-6.0, 9.0));
        assert_eq!(a.over(Interval::new(2.0, 4.0)), Interval::new(-1.0, 1.5));
        assert_eq!(a.over(a), EVERYTHING);
        assert_eq!(a.over(Interval::constant(0.0)), UNDEFINED);
        assert_eq!(a.abs(), Interval::new(-2.0, 3.0).max(Interval::new(-3.0, 2.0)));
    }

    #[test]
    fn an_even_power_of_an_interval_around_zero_contains_zero() {
        let square = Interval::new(-2.0, 3.0).power(Interval::constant(2.0));
        assert!(square.low <= 0.0 && square.high >= 9.0 && square.high < 9.001);
    }
}
