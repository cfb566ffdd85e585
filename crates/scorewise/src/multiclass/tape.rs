//! Reverse-mode differentiation: all derivatives of a function with many arguments, at the cost of a few evaluations of the function.
//!
//! A score of m classes has m² derivatives, and [`Dual`] numbers would compute all of them in every operation. A tape records
//! for each operation its two operands and the derivatives with respect to them, and is then traversed once in reverse. The
//! differentiation rules are not repeated here: each operation takes its two derivatives from `Dual<f64, 2>`, so divisions
//! by zero and kinks are handled in the same way as by dual numbers.

use std::cell::RefCell;

use crate::formula::{Dual, Number, Side};

/// A recorded operation: the indices of its two operands on the tape, and the derivatives of its result with respect to the operands.
struct Operation {
    operands: [usize; 2],
    derivatives: [f64; 2],
}

/// The list of all operations in the order in which they were computed.
#[derive(Default)]
struct Tape(RefCell<Vec<Operation>>);

/// A number that records on a tape how it was computed. Constants are not recorded.
#[derive(Clone, Copy)]
pub(super) struct Variable<'t> {
    value: f64,
    index: Option<(&'t Tape, usize)>,
}

/// The value of a function and its derivatives with respect to every argument.
pub(super) fn value_and_derivatives(
    arguments: &[f64],
    function: impl for<'t> FnOnce(&[Variable<'t>]) -> Variable<'t>,
) -> (f64, Vec<f64>) {
    let tape = Tape::default();
    let variables: Vec<_> = arguments.iter().map(|value| tape.record(*value, [0; 2], [0.0; 2])).collect();
    let result = function(&variables);
    let operations = tape.0.borrow();
    let mut derivatives = vec![0.0; operations.len()];
    if let Some((_, index)) = result.index {
        derivatives[index] = 1.0;
    }
    for at in (arguments.len()..operations.len()).rev() {
        let derivative = derivatives[at];
        for (operand, by_operand) in operations[at].operands.iter().zip(operations[at].derivatives) {
            derivatives[*operand] += derivative * by_operand;
        }
    }
    derivatives.truncate(arguments.len());
    (result.value, derivatives)
}

impl Tape {
    /// Appends an operation to the tape and returns its result.
    fn record(&self, value: f64, operands: [usize; 2], derivatives: [f64; 2]) -> Variable<'_> {
        let mut operations = self.0.borrow_mut();
        operations.push(Operation { operands, derivatives });
        Variable { value, index: Some((self, operations.len() - 1)) }
    }
}

impl Variable<'_> {
    /// Applies an operation, given as a function of dual numbers, and records it on the tape.
    fn apply(self, other: Self, rule: impl Fn(Dual<f64, 2>, Dual<f64, 2>) -> Dual<f64, 2>) -> Self {
        // A constant becomes a dual number with derivative 0, so that the derivative with respect to the constant, which could be infinite, is not
        // computed.
        let direction = |variable: &Self| f64::from(u8::from(variable.index.is_some()));
        let result =
            rule(Dual::new(self.value, [direction(&self), 0.0]), Dual::new(other.value, [0.0, direction(&other)]));
        let index = |variable: Self| variable.index.map_or(0, |(_, index)| index);
        match self.index.or(other.index) {
            Some((tape, _)) => tape.record(result.value, [index(self), index(other)], result.derivatives),
            None => Self::constant(result.value),
        }
    }
}

impl Number for Variable<'_> {
    fn constant(value: f64) -> Self {
        Variable { value, index: None }
    }
    fn plus(self, other: Self) -> Self {
        self.apply(other, Number::plus)
    }
    fn minus(self, other: Self) -> Self {
        self.apply(other, Number::minus)
    }
    fn times(self, other: Self) -> Self {
        self.apply(other, Number::times)
    }
    /// self / other, or 0 if other is 0; the operation is recorded on the tape.
    fn over(self, other: Self) -> Self {
        self.apply(other, Number::over)
    }
    fn power(self, other: Self) -> Self {
        self.apply(other, Number::power)
    }
    fn sqrt(self) -> Self {
        self.apply(Self::constant(0.0), |x, _| x.sqrt())
    }
    fn ln(self) -> Self {
        self.apply(Self::constant(0.0), |x, _| x.ln())
    }
    fn exp(self) -> Self {
        self.apply(Self::constant(0.0), |x, _| x.exp())
    }
    fn min(self, other: Self) -> Self {
        self.apply(other, Number::min)
    }
    fn max(self, other: Self) -> Self {
        self.apply(other, Number::max)
    }
    /// Which of the two values is smaller; the comparison is not recorded on the tape.
    fn compare(self, other: Self) -> Side {
        self.value.compare(other.value)
    }
    /// The mean of the results of the two branches of `min`, `max` or `abs`, recorded on the tape. This method is called only if the two compared
    /// values are equal, so that neither branch is chosen.
    fn merge_branches(self, other: Self) -> Self {
        self.apply(other, Number::merge_branches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confusion::Confusion;
    use crate::score::Score;

    #[test]
    fn reverse_mode_gives_the_analytic_derivatives() {
        let two = Variable::constant(2.0);
        let (value, derivatives) =
            value_and_derivatives(&[3.0, 5.0], |x| x[0].times(x[0]).times(x[1]).plus(two.over(x[1])));
        assert_eq!(value, 45.0 + 0.4);
        assert!((derivatives[0] - 30.0).abs() < 1e-14 && (derivatives[1] - (9.0 - 2.0 / 25.0)).abs() < 1e-14);
        assert_eq!(value_and_derivatives(&[3.0, 5.0], |_| Variable::constant(2.0)), (2.0, vec![0.0, 0.0]));
        assert_eq!(value_and_derivatives(&[3.0], |x| x[0]), (3.0, vec![1.0]));
    }

    #[test]
    fn derivatives_of_every_registered_score_match_dual_numbers() {
        let matrices = [[2680.0, 72.0, 23.0, 28.0], [10.0, 0.0, 3.0, 5.0], [4.0, 4.0, 4.0, 4.0], [7.0, 0.0, 0.0, 0.0]];
        for score in Score::all() {
            for cells in matrices {
                let [tn, fp, fn_, tp] = cells;
                let (value, expected) = score.formula().value_and_derivatives(&Confusion::new(tn, fp, fn_, tp));
                let expected = [expected.tn, expected.fp, expected.fn_, expected.tp];
                let (got, derivatives) =
                    value_and_derivatives(&cells, |c| score.formula().value_of([c[0], c[1], c[2], c[3]]));
                assert_eq!(got, value, "{score} at {cells:?}");
                let scale = expected.iter().fold(0.0, |scale: f64, derivative| scale.max(derivative.abs()));
                for (got, expected) in derivatives.iter().zip(expected) {
                    assert!(
                        (got - expected).abs() <= 1e-12 * scale,
                        "{score} at {cells:?}: the derivative is {got}, expected {expected}"
                    );
                }
            }
        }
    }
}
