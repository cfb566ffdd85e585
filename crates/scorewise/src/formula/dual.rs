//! Dual numbers: a value together with its derivatives in N directions, propagated by the chain rule.
//!
//! ```text
//! (a + a′ε)(b + b′ε) = ab + (a′b + ab′)ε        with ε² = 0
//! ```
//!
//! The components are themselves [`Number`]s, so dual numbers can be nested: `Dual<f64, 4>` holds the four first
//! derivatives, `Dual<Dual<f64, 4>, 4>` the sixteen second derivatives, `Dual<Interval, 2>` bounds of the derivatives
//! over a region.
//!
//! Where an undefined value is replaced by 0 (as in x/0 := 0), its derivative is 0 as well. The derivative of √x at 0 is infinite and is also
//! replaced by 0.

use super::number::{Number, Side};

/// A value and its derivatives in `N` directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<T, const N: usize> {
    /// The value of the dual number.
    pub value: T,
    /// The derivative of the value in each direction.
    pub derivatives: [T; N],
}

impl<T: Number, const N: usize> Dual<T, N> {
    /// A dual number from a value and its derivatives.
    pub fn new(value: T, derivatives: [T; N]) -> Self {
        Dual { value, derivatives }
    }

    /// The derivatives of the result of an operation on two dual numbers. In each direction, `combine` computes the derivative of the result from
    /// the derivatives of the two operands.
    fn combine_derivatives(self, other: Self, combine: impl Fn(T, T) -> T) -> [T; N] {
        std::array::from_fn(|k| combine(self.derivatives[k], other.derivatives[k]))
    }
}

impl<T: Number, const N: usize> Number for Dual<T, N> {
    fn constant(value: f64) -> Self {
        Dual { value: T::constant(value), derivatives: [T::constant(0.0); N] }
    }
    fn plus(self, other: Self) -> Self {
        Dual { value: self.value.plus(other.value), derivatives: self.combine_derivatives(other, T::plus) }
    }
    fn minus(self, other: Self) -> Self {
        Dual { value: self.value.minus(other.value), derivatives: self.combine_derivatives(other, T::minus) }
    }
    fn times(self, other: Self) -> Self {
        let (a, b) = (self.value, other.value);
        Dual { value: a.times(b), derivatives: self.combine_derivatives(other, |da, db| da.times(b).plus(a.times(db))) }
    }
    /// self / other with its derivatives; if other is 0, the value and all derivatives are 0.
    fn over(self, other: Self) -> Self {
        // (a/b)′ = (a′ − (a/b) b′) / b. At b = 0 the outer division gives 0 (x/0 := 0), so the derivative is 0.
        let value = self.value.over(other.value);
        Dual {
            value,
            derivatives: self.combine_derivatives(other, |da, db| da.minus(value.times(db)).over(other.value)),
        }
    }
    fn power(self, other: Self) -> Self {
        let (x, y) = (self.value, other.value);
        let value = x.power(y);
        let by_base = y.times(x.power(y.minus(T::constant(1.0))));
        let by_exponent = value.times(x.ln());
        // If the exponent is constant, its derivative dy is 0, and the term with dy is left out, because 0 · ln x would not be 0 where ln x is
        // infinite.
        let derivative = |dx: T, dy: T| {
            let through_base = by_base.times(dx);
            if dy.is_zero() { through_base } else { through_base.plus(by_exponent.times(dy)) }
        };
        Dual { value, derivatives: self.combine_derivatives(other, derivative) }
    }
    fn sqrt(self) -> Self {
        let value = self.value.sqrt();
        let twice = value.plus(value);
        Dual { value, derivatives: self.derivatives.map(|derivative| derivative.over(twice)) }
    }
    fn ln(self) -> Self {
        // For x < 0 the value is the constant 0. Dividing by max(x, 0) = 0 gives 0 (x/0 := 0), so the derivative is 0 as well.
        let above_zero = self.value.max(T::constant(0.0));
        Dual { value: self.value.ln(), derivatives: self.derivatives.map(|derivative| derivative.over(above_zero)) }
    }
    fn exp(self) -> Self {
        let value = self.value.exp();
        Dual { value, derivatives: self.derivatives.map(|derivative| value.times(derivative)) }
    }
    fn negate(self) -> Self {
        Dual { value: self.value.negate(), derivatives: self.derivatives.map(T::negate) }
    }
    /// The smaller of the two values, with its derivatives. If the two values are equal or their order is not certain, the derivatives of both are
    /// [combined](Number::merge_branches).
    fn min(self, other: Self) -> Self {
        let derivatives =
            self.combine_derivatives(other, |mine, theirs| self.value.choose_branch(other.value, mine, theirs));
        Dual { value: self.value.min(other.value), derivatives }
    }
    /// The greater of the two values, with its derivatives. If the two values are equal or their order is not certain, the derivatives of both are
    /// [combined](Number::merge_branches).
    fn max(self, other: Self) -> Self {
        let derivatives =
            self.combine_derivatives(other, |mine, theirs| self.value.choose_branch(other.value, theirs, mine));
        Dual { value: self.value.max(other.value), derivatives }
    }
    /// Whether the value and all its derivatives are certainly 0.
    fn is_zero(self) -> bool {
        self.value.is_zero() && self.derivatives.iter().all(|derivative| derivative.is_zero())
    }
    /// Which of the two values is smaller; the derivatives are not compared.
    fn compare(self, other: Self) -> Side {
        self.value.compare(other.value)
    }
    /// Merges the results of the two branches of `min`, `max` or `abs`: their values, and their derivatives in each direction. This method is called
    /// if the two compared values are equal, or if their order is not certain.
    fn merge_branches(self, other: Self) -> Self {
        Dual {
            value: self.value.merge_branches(other.value),
            derivatives: self.combine_derivatives(other, T::merge_branches),
        }
    }
    /// Selects the branch `below` or `above` by comparing the values of self and other.
    fn choose_branch(self, other: Self, below: Self, above: Self) -> Self {
        let choose = |below: T, above: T| self.value.choose_branch(other.value, below, above);
        Dual { value: choose(below.value, above.value), derivatives: below.combine_derivatives(above, choose) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dual number for the variable itself: its derivative is 1.
    fn variable(value: f64) -> Dual<f64, 1> {
        Dual::new(value, [1.0])
    }

    #[test]
    fn dual_numbers_give_the_analytic_derivatives() {
        let x = variable(3.0);
        let two = Dual::constant(2.0);
        assert_eq!(x.times(x).derivatives, [6.0]);
        assert_eq!(two.over(x).derivatives, [-2.0 / 9.0]);
        assert_eq!(x.power(two).derivatives, [6.0]);
        assert!((two.power(x).derivatives[0] - 8.0 * 2f64.ln()).abs() < 1e-14);
        assert_eq!(x.ln().derivatives, [1.0 / 3.0]);
        assert_eq!(x.sqrt().derivatives, [0.5 / 3f64.sqrt()]);
        assert_eq!(x.negate().abs().derivatives, [1.0]);
    }

    #[test]
    fn undefined_values_replaced_by_0_have_zero_derivative() {
        let zero = variable(0.0);
        assert_eq!(variable(1.0).over(zero), Dual::new(0.0, [0.0]));
        assert_eq!(zero.sqrt(), Dual::new(0.0, [0.0]));
        assert_eq!(variable(-2.0).ln(), Dual::new(0.0, [0.0]));
        assert_eq!(zero.abs().derivatives, [0.0]); // |x| at x = 0: the mean of the one-sided derivatives −1 and 1
    }

    #[test]
    fn nested_dual_numbers_give_second_derivatives() {
        // The function is x² y at the point (3, 5): ∂²/∂x² = 2y and ∂²/∂x∂y = 2x.
        type SecondOrderDual = Dual<Dual<f64, 2>, 2>;
        let seed = |value: f64, unit: [f64; 2]| -> SecondOrderDual {
            Dual::new(Dual::new(value, unit), unit.map(|u| Dual::new(u, [0.0; 2])))
        };
        let (x, y) = (seed(3.0, [1.0, 0.0]), seed(5.0, [0.0, 1.0]));
        let result = x.times(x).times(y);
        assert_eq!(result.derivatives[0].derivatives, [10.0, 6.0]);
        assert_eq!(result.derivatives[1].derivatives, [6.0, 0.0]);
    }
}
