//! A framework's own numbers in the core's formulas: handles to columns of values that it keeps elsewhere, as tensors are kept.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::cell::RefCell;

use scorewise::formula::{Number, Side, ratio};
use scorewise::score::ROWS;
use scorewise::{Confusion, Score};

const MATRICES: [[f64; 4]; 8] = [
    [2680.0, 72.0, 23.0, 28.0],
    [10.0, 0.0, 3.0, 5.0],
    [4.0, 4.0, 4.0, 4.0], // every min and max stands on its kink
    [7.0, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 9.0],
    [0.0, 0.0, 6.0, 0.0],
    [0.0, 5.0, 5.0, 0.0],
    [0.0, 0.0, 0.0, 0.0],
];

type Values = [f64; MATRICES.len()];

/// Where the values are kept.
#[derive(Default)]
struct Store(RefCell<Vec<Values>>);

/// A constant, or a place in the store: all matrices at once.
#[derive(Clone, Copy)]
enum Handle<'s> {
    Constant(f64),
    At(&'s Store, usize),
}

impl<'s> Handle<'s> {
    fn put(store: &'s Store, values: Values) -> Self {
        store.0.borrow_mut().push(values);
        Handle::At(store, store.0.borrow().len() - 1)
    }
    fn values(self) -> Values {
        match self {
            Handle::Constant(value) => [value; MATRICES.len()],
            Handle::At(store, place) => store.0.borrow()[place],
        }
    }
    fn each<const N: usize>(handles: [Self; N], value: impl Fn([f64; N]) -> f64) -> Self {
        let columns = handles.map(Handle::values);
        let values = std::array::from_fn(|matrix| value(columns.map(|column| column[matrix])));
        match handles.iter().find_map(|handle| if let Handle::At(store, _) = handle { Some(*store) } else { None }) {
            Some(store) => Handle::put(store, values),
            None => Handle::Constant(values[0]),
        }
    }
}

impl Number for Handle<'_> {
    fn constant(value: f64) -> Self {
        Handle::Constant(value)
    }
    fn plus(self, other: Self) -> Self {
        Handle::each([self, other], |[x, y]| x + y)
    }
    fn minus(self, other: Self) -> Self {
        Handle::each([self, other], |[x, y]| x - y)
    }
    fn times(self, other: Self) -> Self {
        Handle::each([self, other], |[x, y]| x * y)
    }
    fn over(self, other: Self) -> Self {
        Handle::each([self, other], |[x, y]| ratio(x, y))
    }
    fn power(self, other: Self) -> Self {
        Handle::each([self, other], |[x, y]| x.power(y))
    }
    fn sqrt(self) -> Self {
        Handle::each([self], |[x]| Number::sqrt(x))
    }
    fn ln(self) -> Self {
        Handle::each([self], |[x]| Number::ln(x))
    }
    fn exp(self) -> Self {
        Handle::each([self], |[x]| x.exp())
    }
    fn min(self, other: Self) -> Self {
        Handle::each([self, other], |[x, y]| x.min(y))
    }
    fn max(self, other: Self) -> Self {
        Handle::each([self, other], |[x, y]| x.max(y))
    }
    fn side(self, _: Self) -> Side {
        Side::Both
    }
    fn blend(self, other: Self) -> Self {
        Handle::each([self, other], |[x, y]| x.blend(y))
    }
    fn kink(self, other: Self, below: Self, above: Self) -> Self {
        Handle::each([self, other, below, above], |[x, y, below, above]| x.kink(y, below, above))
    }
}

#[test]
fn numbers_of_a_host_give_every_score_its_value_and_slopes() {
    let mixed = ["max(tp, fp)^2/(tp + 1)", "abs(tp - fn)", "exp(-fp/10)", "min(max(tp, fn), fp)", "2^(tp/(tp + fp))"];
    let scores: Vec<_> =
        ROWS.iter().filter_map(Score::example).chain(mixed.map(|text| Score::parse(text).unwrap())).collect();
    assert_eq!(scores.len(), ROWS.len() + mixed.len());
    for score in scores {
        let store = Store::default();
        let cell = |value: fn([f64; 4]) -> f64| Handle::put(&store, MATRICES.map(value));
        let [tn, fp, fn_, tp] = [cell(|c| c[0]), cell(|c| c[1]), cell(|c| c[2]), cell(|c| c[3])];
        let reduced = score.formula().reduced_with(tn, fp, fn_, tp, tp.plus(fn_), fp.plus(tn));
        let loss = score.reduced_loss(tn, fp, fn_, tp, tp.plus(fn_), fp.plus(tn));
        for (at, [tn, fp, fn_, tp]) in MATRICES.into_iter().enumerate() {
            let expected = score.formula().reduced(&Confusion::new(tn, fp, fn_, tp));
            let same = |got: Handle<'_>, expected: f64| {
                let got = got.values()[at];
                // −0 and 0 are the same slope.
                assert!(
                    got == expected || (got.is_nan() && expected.is_nan()),
                    "{score} at {at}: {got} for {expected}"
                );
            };
            same(reduced.value, expected.value);
            same(reduced.positive, expected.positive);
            same(reduced.negative, expected.negative);
            let slope = score.loss_slope(expected.value);
            same(loss.value, score.loss(expected.value));
            same(loss.positive, slope * expected.positive);
            same(loss.negative, slope * expected.negative);
        }
    }
}
