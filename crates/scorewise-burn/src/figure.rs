//! The numbers of a formula on a device: one a class, computed with by the core's own rules.
//!
//! The core's [`Number`] can be copied and a tensor cannot, so a [`Figure`] is a place on a [`Slate`] that keeps the tensors. Constants
//! stay on the host, where 0 and 1 save the operation: most slopes of a formula are one or the other.

use std::cell::RefCell;

use burn::tensor::Tensor;
use scorewise::formula::{Number, Side};

/// What figures are written on.
#[derive(Default)]
pub(crate) struct Slate(RefCell<Vec<Tensor<1>>>);

/// A constant, or one number a class on the device.
#[derive(Clone, Copy)]
pub(crate) enum Figure<'s> {
    Constant(f64),
    Written(&'s Slate, usize),
}

use Figure::{Constant, Written};

impl Slate {
    pub fn write(&self, tensor: Tensor<1>) -> Figure<'_> {
        let mut tensors = self.0.borrow_mut();
        tensors.push(tensor);
        Written(self, tensors.len() - 1)
    }

    fn read(&self, place: usize) -> Tensor<1> {
        self.0.borrow()[place].clone()
    }
}

impl<'s> Figure<'s> {
    /// The figure as a tensor like another one.
    pub fn like(self, other: &Tensor<1>) -> Tensor<1> {
        match self {
            Constant(value) => other.full_like(value),
            Written(slate, place) => slate.read(place),
        }
    }

    fn each(self, constant: impl Fn(f64) -> f64, tensor: impl Fn(Tensor<1>) -> Tensor<1>) -> Self {
        match self {
            Constant(value) => Constant(constant(value)),
            Written(slate, place) => slate.write(tensor(slate.read(place))),
        }
    }

    /// Of two figures, a constant taken as a tensor where the other is one.
    fn pair(
        self,
        other: Self,
        constants: impl Fn(f64, f64) -> f64,
        tensors: impl Fn(Tensor<1>, Tensor<1>) -> Tensor<1>,
    ) -> Self {
        match (self, other) {
            (Constant(x), Constant(y)) => Constant(constants(x, y)),
            (Written(slate, place), _) => {
                let x = slate.read(place);
                let y = other.like(&x);
                slate.write(tensors(x, y))
            }
            (_, Written(slate, place)) => {
                let y = slate.read(place);
                slate.write(tensors(self.like(&y), y))
            }
        }
    }
}

/// x / y, and 0 where y is 0. The denominator is filled before it divides, so that no device has to make sense of 0/0.
fn ratio(x: Tensor<1>, y: Tensor<1>) -> Tensor<1> {
    let is_zero = y.clone().equal_scalar(0.0);
    (x / y.mask_fill(is_zero.clone(), 1.0)).mask_fill(is_zero, 0.0)
}

impl Number for Figure<'_> {
    fn constant(value: f64) -> Self {
        Constant(value)
    }
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Constant(0.0), any) | (any, Constant(0.0)) => any,
            (Written(..), Constant(c)) => self.each(|x| x + c, |x| x.add_scalar(c)),
            (Constant(c), Written(..)) => other.each(|y| c + y, |y| y.add_scalar(c)),
            _ => self.pair(other, |x, y| x + y, |x, y| x + y),
        }
    }
    fn minus(self, other: Self) -> Self {
        match (self, other) {
            (any, Constant(0.0)) => any,
            (Constant(0.0), any) => any.negate(),
            (Written(..), Constant(c)) => self.each(|x| x - c, |x| x.sub_scalar(c)),
            (Constant(c), Written(..)) => other.each(|y| c - y, |y| y.neg().add_scalar(c)),
            _ => self.pair(other, |x, y| x - y, |x, y| x - y),
        }
    }
    fn times(self, other: Self) -> Self {
        match (self, other) {
            (Constant(0.0), _) | (_, Constant(0.0)) => Constant(0.0),
            (Constant(1.0), any) | (any, Constant(1.0)) => any,
            (Written(..), Constant(c)) => self.each(|x| x * c, |x| x.mul_scalar(c)),
            (Constant(c), Written(..)) => other.each(|y| c * y, |y| y.mul_scalar(c)),
            _ => self.pair(other, |x, y| x * y, |x, y| x * y),
        }
    }
    fn over(self, other: Self) -> Self {
        match (self, other) {
            (Constant(0.0), _) | (_, Constant(0.0)) => Constant(0.0),
            (Written(..), Constant(c)) => self.each(|x| x / c, |x| x.div_scalar(c)),
            _ => self.pair(other, scorewise::formula::ratio, ratio),
        }
    }
    fn power(self, other: Self) -> Self {
        self.pair(other, Number::power, |x, y| {
            // |x|^y with the sign of a whole y: a device may take x^y by logarithms, which a negative x has none of.
            let below = x.clone().lower_scalar(0.0);
            let is_zero = x.clone().equal_scalar(0.0);
            let is_whole = y.clone().floor().equal(y.clone());
            let is_odd = y.clone().remainder_scalar(2.0).not_equal_scalar(0.0);
            let size = x.abs().powf(y.clone());
            let signed = size.clone().mask_where(below.clone().bool_and(is_odd), size.neg());
            let is_none = below.bool_and(is_whole.bool_not()).bool_or(is_zero.bool_and(y.lower_scalar(0.0)));
            signed.mask_fill(is_none, 0.0)
        })
    }
    fn sqrt(self) -> Self {
        self.each(Number::sqrt, |x| x.clamp_min(0.0).sqrt())
    }
    fn ln(self) -> Self {
        self.each(Number::ln, |x| {
            let has_none = x.clone().lower_equal_scalar(0.0);
            x.mask_fill(has_none, 1.0).log()
        })
    }
    fn exp(self) -> Self {
        self.each(f64::exp, Tensor::exp)
    }
    fn negate(self) -> Self {
        self.each(|x| -x, Tensor::neg)
    }
    fn min(self, other: Self) -> Self {
        self.pair(other, f64::min, Tensor::min_pair)
    }
    fn max(self, other: Self) -> Self {
        self.pair(other, f64::max, Tensor::max_pair)
    }
    fn is_zero(self) -> bool {
        matches!(self, Constant(0.0))
    }
    fn side(self, other: Self) -> Side {
        match (self, other) {
            (Constant(x), Constant(y)) => x.side(y),
            // The classes need not agree on a side: `kink` chooses for each.
            _ => Side::Both,
        }
    }
    fn blend(self, other: Self) -> Self {
        self.plus(other).times(Constant(0.5))
    }
    fn kink(self, other: Self, below: Self, above: Self) -> Self {
        let ((Written(slate, _), _) | (_, Written(slate, _))) = (self, other) else {
            return match self.side(other) {
                Side::Below => below,
                Side::Above => above,
                Side::Both => below.blend(above),
            };
        };
        if let (Constant(below), Constant(above)) = (below, above)
            && below == above
        {
            return Constant(below);
        }
        let like = slate.read(0);
        let (x, y) = (self.like(&like), other.like(&like));
        let blend = below.blend(above).like(&like);
        let with_below = blend.mask_where(x.clone().lower(y.clone()), below.like(&like));
        slate.write(with_below.mask_where(x.greater(y), above.like(&like)))
    }
}
