//! Dual numbers: a value with its slopes in N directions, by the chain rule and nothing else.
//!
//! ```text
//! (a + a′ε)(b + b′ε) = ab + (a′b + ab′)ε        with ε² = 0
//! ```
//!
//! The parts are themselves [`Number`]s, so nesting gives more without more code: `Dual<f64, 4>` the four slopes,
//! `Dual<Dual<f64, 4>, 4>` the sixteen second derivatives, `Dual<Interval, 2>` bounds of the slopes over a region.
//!
//! Where a guard gives the value 0 the slope is 0 too, and so is the slope of √x at 0, where it would be infinite.

use super::number::{Number, Side};

/// A value with its slopes in `N` directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<T, const N: usize> {
    /// The value.
    pub value: T,
    /// ∂value/∂direction, direction by direction.
    pub slopes: [T; N],
}

impl<T: Number, const N: usize> Dual<T, N> {
    /// A value that moves with the directions as `slopes` says.
    pub fn new(value: T, slopes: [T; N]) -> Self {
        Dual { value, slopes }
    }

    fn slopes_with(self, other: Self, combine: impl Fn(T, T) -> T) -> [T; N] {
        std::array::from_fn(|k| combine(self.slopes[k], other.slopes[k]))
    }
}

impl<T: Number, const N: usize> Number for Dual<T, N> {
    fn constant(value: f64) -> Self {
        Dual { value: T::constant(value), slopes: [T::constant(0.0); N] }
    }
    fn plus(self, other: Self) -> Self {
        Dual { value: self.value.plus(other.value), slopes: self.slopes_with(other, T::plus) }
    }
    fn minus(self, other: Self) -> Self {
        Dual { value: self.value.minus(other.value), slopes: self.slopes_with(other, T::minus) }
    }
    fn times(self, other: Self) -> Self {
        let (a, b) = (self.value, other.value);
        Dual { value: a.times(b), slopes: self.slopes_with(other, |da, db| da.times(b).plus(a.times(db))) }
    }
    fn over(self, other: Self) -> Self {
        // (a/b)′ = (a′ − (a/b) b′) / b: the guard of the second division also gives the slope 0 at b = 0.
        let value = self.value.over(other.value);
        Dual { value, slopes: self.slopes_with(other, |da, db| da.minus(value.times(db)).over(other.value)) }
    }
    fn power(self, other: Self) -> Self {
        let (x, y) = (self.value, other.value);
        let value = x.power(y);
        let by_base = y.times(x.power(y.minus(T::constant(1.0))));
        let by_exponent = value.times(x.ln());
        // A constant exponent has no say, also where ln x, at a base of 0, would be infinite.
        let slope = |dx: T, dy: T| {
            let through_base = by_base.times(dx);
            if dy.is_zero() { through_base } else { through_base.plus(by_exponent.times(dy)) }
        };
        Dual { value, slopes: self.slopes_with(other, slope) }
    }
    fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        let twice = value.plus(value);
        Dual { value, slopes: self.slopes.map(|slope| slope.over(twice)) }
    }
    fn ln(self) -> Self {
        // Below 0 the guarded value is the constant 0; the maximum makes the slope 0 there as well.
        let above_zero = self.value.max(T::constant(0.0));
        Dual { value: self.value.ln(), slopes: self.slopes.map(|slope| slope.over(above_zero)) }
    }
    fn exp(self) -> Self {
        let value = self.value.exp();
        Dual { value, slopes: self.slopes.map(|slope| value.times(slope)) }
    }
    fn negate(self) -> Self {
        Dual { value: self.value.negate(), slopes: self.slopes.map(T::negate) }
    }
    fn min(self, other: Self) -> Self {
        let slopes = self.slopes_with(other, |mine, theirs| self.value.kink(other.value, mine, theirs));
        Dual { value: self.value.min(other.value), slopes }
    }
    fn max(self, other: Self) -> Self {
        let slopes = self.slopes_with(other, |mine, theirs| self.value.kink(other.value, theirs, mine));
        Dual { value: self.value.max(other.value), slopes }
    }
    fn is_zero(self) -> bool {
        self.value.is_zero() && self.slopes.iter().all(|slope| slope.is_zero())
    }
    fn side(self, other: Self) -> Side {
        self.value.side(other.value)
    }
    fn blend(self, other: Self) -> Self {
        Dual { value: self.value.blend(other.value), slopes: self.slopes_with(other, T::blend) }
    }
    fn kink(self, other: Self, below: Self, above: Self) -> Self {
        let choose = |below: T, above: T| self.value.kink(other.value, below, above);
        Dual { value: choose(below.value, above.value), slopes: below.slopes_with(above, choose) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(value: f64) -> Dual<f64, 1> {
        Dual::new(value, [1.0])
    }

    #[test]
    fn slopes_follow_the_rules_of_calculus() {
        let x = variable(3.0);
        let two = Dual::constant(2.0);
        assert_eq!(x.times(x).slopes, [6.0]);
        assert_eq!(two.over(x).slopes, [-2.0 / 9.0]);
        assert_eq!(x.power(two).slopes, [6.0]);
        assert!((two.power(x).slopes[0] - 8.0 * 2f64.ln()).abs() < 1e-14);
        assert_eq!(x.ln().slopes, [1.0 / 3.0]);
        assert_eq!(x.sqrt().slopes, [0.5 / 3f64.sqrt()]);
        assert_eq!(x.negate().abs().slopes, [1.0]);
    }

    #[test]
    fn guards_have_no_slope() {
        let zero = variable(0.0);
        assert_eq!(variable(1.0).over(zero), Dual::new(0.0, [0.0]));
        assert_eq!(zero.sqrt(), Dual::new(0.0, [0.0]));
        assert_eq!(variable(-2.0).ln(), Dual::new(0.0, [0.0]));
        assert_eq!(zero.abs().slopes, [0.0]); // the mean of −1 and 1
    }

    #[test]
    fn nesting_gives_second_derivatives() {
        // x² y at (3, 5): ∂²/∂x² = 2y, ∂²/∂x∂y = 2x.
        type Second = Dual<Dual<f64, 2>, 2>;
        let seed = |value: f64, unit: [f64; 2]| -> Second {
            Dual::new(Dual::new(value, unit), unit.map(|u| Dual::new(u, [0.0; 2])))
        };
        let (x, y) = (seed(3.0, [1.0, 0.0]), seed(5.0, [0.0, 1.0]));
        let result = x.times(x).times(y);
        assert_eq!(result.slopes[0].slopes, [10.0, 6.0]);
        assert_eq!(result.slopes[1].slopes, [6.0, 0.0]);
    }
}
