//! Reverse mode: the slopes of one number by very many, at the price of a few evaluations.
//!
//! A score of m classes has m² slopes; [`Dual`] numbers would carry all of them through every sum. A tape notes for every
//! step its two parents and the slopes by them, and is then walked once from the end. The rules of calculus are not
//! written again: each step asks `Dual<f64, 2>` for its two slopes, so guards and kinks are decided where they always are.

use std::cell::RefCell;

use crate::formula::{Dual, Number, Side};

/// One step: where its arguments stand on the tape, and the slopes by them.
struct Step {
    parents: [usize; 2],
    slopes: [f64; 2],
}

#[derive(Default)]
struct Tape(RefCell<Vec<Step>>);

/// A number that notes on a tape how it came about. A constant stands on none.
#[derive(Clone, Copy)]
pub(super) struct Variable<'t> {
    value: f64,
    place: Option<(&'t Tape, usize)>,
}

/// The value of a function, and its slopes by every argument.
pub(super) fn value_and_slopes(
    arguments: &[f64],
    function: impl for<'t> FnOnce(&[Variable<'t>]) -> Variable<'t>,
) -> (f64, Vec<f64>) {
    let tape = Tape::default();
    let variables: Vec<_> = arguments.iter().map(|value| tape.note(*value, [0; 2], [0.0; 2])).collect();
    let result = function(&variables);
    let steps = tape.0.borrow();
    let mut slopes = vec![0.0; steps.len()];
    if let Some((_, place)) = result.place {
        slopes[place] = 1.0;
    }
    for at in (arguments.len()..steps.len()).rev() {
        let slope = slopes[at];
        for (parent, by_parent) in steps[at].parents.iter().zip(steps[at].slopes) {
            slopes[*parent] += slope * by_parent;
        }
    }
    slopes.truncate(arguments.len());
    (result.value, slopes)
}

impl Tape {
    fn note(&self, value: f64, parents: [usize; 2], slopes: [f64; 2]) -> Variable<'_> {
        let mut steps = self.0.borrow_mut();
        steps.push(Step { parents, slopes });
        Variable { value, place: Some((self, steps.len() - 1)) }
    }
}

impl Variable<'_> {
    fn step(self, other: Self, rule: impl Fn(Dual<f64, 2>, Dual<f64, 2>) -> Dual<f64, 2>) -> Self {
        // The slope by a constant goes nowhere, and must not be ∞ · 0 on the way.
        let direction = |variable: &Self| f64::from(u8::from(variable.place.is_some()));
        let result =
            rule(Dual::new(self.value, [direction(&self), 0.0]), Dual::new(other.value, [0.0, direction(&other)]));
        let place = |variable: Self| variable.place.map_or(0, |(_, place)| place);
        match self.place.or(other.place) {
            Some((tape, _)) => tape.note(result.value, [place(self), place(other)], result.slopes),
            None => Self::constant(result.value),
        }
    }
}

impl Number for Variable<'_> {
    fn constant(value: f64) -> Self {
        Variable { value, place: None }
    }
    fn plus(self, other: Self) -> Self {
        self.step(other, Number::plus)
    }
    fn minus(self, other: Self) -> Self {
        self.step(other, Number::minus)
    }
    fn times(self, other: Self) -> Self {
        self.step(other, Number::times)
    }
    fn over(self, other: Self) -> Self {
        self.step(other, Number::over)
    }
    fn power(self, other: Self) -> Self {
        self.step(other, Number::power)
    }
    fn sqrt(self) -> Self {
        self.step(Self::constant(0.0), |x, _| x.sqrt())
    }
    fn ln(self) -> Self {
        self.step(Self::constant(0.0), |x, _| x.ln())
    }
    fn exp(self) -> Self {
        self.step(Self::constant(0.0), |x, _| x.exp())
    }
    fn min(self, other: Self) -> Self {
        self.step(other, Number::min)
    }
    fn max(self, other: Self) -> Self {
        self.step(other, Number::max)
    }
    fn side(self, other: Self) -> Side {
        self.value.side(other.value)
    }
    fn blend(self, other: Self) -> Self {
        self.step(other, Number::blend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confusion::Confusion;
    use crate::score::Score;

    #[test]
    fn slopes_follow_the_rules_of_calculus() {
        let two = Variable::constant(2.0);
        let (value, slopes) = value_and_slopes(&[3.0, 5.0], |x| x[0].times(x[0]).times(x[1]).plus(two.over(x[1])));
        assert_eq!(value, 45.0 + 0.4);
        assert!((slopes[0] - 30.0).abs() < 1e-14 && (slopes[1] - (9.0 - 2.0 / 25.0)).abs() < 1e-14);
        assert_eq!(value_and_slopes(&[3.0, 5.0], |_| Variable::constant(2.0)), (2.0, vec![0.0, 0.0]));
        assert_eq!(value_and_slopes(&[3.0], |x| x[0]), (3.0, vec![1.0]));
    }

    #[test]
    fn every_registered_score_has_the_slopes_of_dual_numbers() {
        let matrices = [[2680.0, 72.0, 23.0, 28.0], [10.0, 0.0, 3.0, 5.0], [4.0, 4.0, 4.0, 4.0], [7.0, 0.0, 0.0, 0.0]];
        for score in Score::all() {
            for cells in matrices {
                let [tn, fp, fn_, tp] = cells;
                let (value, expected) = score.formula().value_and_slopes(&Confusion::new(tn, fp, fn_, tp));
                let expected = [expected.tn, expected.fp, expected.fn_, expected.tp];
                let (got, slopes) = value_and_slopes(&cells, |c| score.formula().value_of([c[0], c[1], c[2], c[3]]));
                assert_eq!(got, value, "{score} at {cells:?}");
                let scale = expected.iter().fold(0.0, |scale: f64, slope| scale.max(slope.abs()));
                for (got, expected) in slopes.iter().zip(expected) {
                    assert!((got - expected).abs() <= 1e-12 * scale, "{score} at {cells:?}: {got} for {expected}");
                }
            }
        }
    }
}
