//! Evaluates formulas with a user-defined number type, as a framework would for its tensors: the numbers are handles to values stored elsewhere.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::cell::RefCell;

use scorewise::formula::{Number, Side, ratio};
use scorewise::score::REGISTRY;
use scorewise::{Confusion, Score};

/// Confusion matrices with the cells tn, fp, fn, tp; most of them make some scores undefined.
const MATRICES: [[f64; 4]; 8] = [
    [2680.0, 72.0, 23.0, 28.0],
    [10.0, 0.0, 3.0, 5.0],
    [4.0, 4.0, 4.0, 4.0], // all cells are equal, so `min` and `max` of two cells have a kink
    [7.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 9.0],
    [0.0, 0.0, 6.0, 0.0],
    [0.0, 5.0, 5.0, 0.0],
    [0.0, 0.0, 0.0, 0.0],
];

/// One value for each confusion matrix of `MATRICES`.
type MatrixValues = [f64; MATRICES.len()];

/// Owns the values that each [`Handle`] points to.
#[derive(Default)]
struct Store(RefCell<Vec<MatrixValues>>);

/// A number: either a constant, or an index into a [`Store`], which holds one value for each confusion matrix of `MATRICES`.
#[derive(Clone, Copy)]
enum Handle<'s> {
    Constant(f64),
    At(&'s Store, usize),
}

impl<'s> Handle<'s> {
    /// Adds values to the store and returns a handle to them.
    fn store(store: &'s Store, values: MatrixValues) -> Self {
        store.0.borrow_mut().push(values);
        Handle::At(store, store.0.borrow().len() - 1)
    }
    /// The values that the handle points to; a constant has the same value for every matrix.
    fn values(self) -> MatrixValues {
        match self {
            Handle::Constant(value) => [value; MATRICES.len()],
            Handle::At(store, index) => store.0.borrow()[index],
        }
    }
    /// Applies a function to the values of the handles, separately for each matrix.
    fn map<const N: usize>(handles: [Self; N], value: impl Fn([f64; N]) -> f64) -> Self {
        let columns = handles.map(Handle::values);
        let values = std::array::from_fn(|matrix| value(columns.map(|column| column[matrix])));
        match handles.iter().find_map(|handle| if let Handle::At(store, _) = handle { Some(*store) } else { None }) {
            Some(store) => Handle::store(store, values),
            None => Handle::Constant(values[0]),
        }
    }
}

impl Number for Handle<'_> {
    fn constant(value: f64) -> Self {
        Handle::Constant(value)
    }
    fn plus(self, other: Self) -> Self {
        Handle::map([self, other], |[x, y]| x + y)
    }
    fn minus(self, other: Self) -> Self {
        Handle::map([self, other], |[x, y]| x - y)
    }
    fn times(self, other: Self) -> Self {
        Handle::map([self, other], |[x, y]| x * y)
    }
    /// The quotient of two numbers, or 0 where the divisor is 0.
    fn over(self, other: Self) -> Self {
        Handle::map([self, other], |[x, y]| ratio(x, y))
    }
    fn power(self, other: Self) -> Self {
        Handle::map([self, other], |[x, y]| x.power(y))
    }
    fn sqrt(self) -> Self {
        Handle::map([self], |[x]| Number::sqrt(x))
    }
    fn ln(self) -> Self {
        Handle::map([self], |[x]| Number::ln(x))
    }
    fn exp(self) -> Self {
        Handle::map([self], |[x]| x.exp())
    }
    fn min(self, other: Self) -> Self {
        Handle::map([self, other], |[x, y]| x.min(y))
    }
    fn max(self, other: Self) -> Self {
        Handle::map([self, other], |[x, y]| x.max(y))
    }
    /// Always [`Side::Both`], because `self` can be smaller than the other number for some matrices and greater for others.
    fn compare(self, _: Self) -> Side {
        Side::Both
    }
    /// Combines the results of both branches of `min`, `max` or `abs`, for each matrix.
    fn merge_branches(self, other: Self) -> Self {
        Handle::map([self, other], |[x, y]| x.merge_branches(y))
    }
    /// Chooses a branch of `min`, `max` or `abs`, for each matrix.
    fn choose_branch(self, other: Self, below: Self, above: Self) -> Self {
        Handle::map([self, other, below, above], |[x, y, below, above]| x.choose_branch(y, below, above))
    }
}

#[test]
fn every_score_evaluated_with_a_user_defined_number_type_has_the_same_value_and_derivatives() {
    let mixed = ["max(tp, fp)^2/(tp + 1)", "abs(tp - fn)", "exp(-fp/10)", "min(max(tp, fn), fp)", "2^(tp/(tp + fp))"];
    let scores: Vec<_> =
        REGISTRY.iter().filter_map(Score::example).chain(mixed.map(|text| Score::parse(text).unwrap())).collect();
    assert_eq!(scores.len(), REGISTRY.len() + mixed.len());
    for score in scores {
        let store = Store::default();
        let cell = |value: fn([f64; 4]) -> f64| Handle::store(&store, MATRICES.map(value));
        let [tn, fp, fn_, tp] = [cell(|c| c[0]), cell(|c| c[1]), cell(|c| c[2]), cell(|c| c[3])];
        let reduced = score.formula().reduced_with(tn, fp, fn_, tp, tp.plus(fn_), fp.plus(tn));
        let loss = score.reduced_loss(tn, fp, fn_, tp, tp.plus(fn_), fp.plus(tn));
        for (at, [tn, fp, fn_, tp]) in MATRICES.into_iter().enumerate() {
            let expected = score.formula().reduced(&Confusion::new(tn, fp, fn_, tp));
            let assert_equal = |got: Handle<'_>, expected: f64| {
                let got = got.values()[at];
                // Values are compared with `==`, which treats −0 and 0 as equal.
                assert!(
                    got == expected || (got.is_nan() && expected.is_nan()),
                    "{score} of matrix {at}: {got}, expected {expected}"
                );
            };
            assert_equal(reduced.value, expected.value);
            assert_equal(reduced.positive, expected.positive);
            assert_equal(reduced.negative, expected.negative);
            let derivative = score.loss_derivative(expected.value);
            assert_equal(loss.value, score.loss(expected.value));
            assert_equal(loss.positive, derivative * expected.positive);
            assert_equal(loss.negative, derivative * expected.negative);
        }
    }
}
