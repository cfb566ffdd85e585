//! Formula arithmetic on tensors that hold one value per class.
//!
//! The trait [`Number`] requires `Copy`, which a tensor does not implement, so [`ClassValues`] is an index into a [`TensorArena`] that owns the
//! tensors. Constants stay on the host, because many partial derivatives of a formula are 0 or 1: adding 0 or multiplying by 0 or 1 then needs no
//! device operation.

use std::cell::RefCell;

use burn::tensor::Tensor;
use scorewise::formula::{Number, Side};

/// Owns the tensors that are created while a formula is evaluated.
#[derive(Default)]
pub(crate) struct TensorArena(RefCell<Vec<Tensor<1>>>);

/// A constant, or a tensor with one value per class.
#[derive(Clone, Copy)]
pub(crate) enum ClassValues<'a> {
    Constant(f64),
    Stored(&'a TensorArena, usize),
}

use ClassValues::{Constant, Stored};

impl TensorArena {
    /// Stores a tensor and returns a [`ClassValues`] that refers to it.
    pub fn store(&self, tensor: Tensor<1>) -> ClassValues<'_> {
        let mut tensors = self.0.borrow_mut();
        tensors.push(tensor);
        Stored(self, tensors.len() - 1)
    }

    /// Returns the stored tensor with this index.
    fn get(&self, index: usize) -> Tensor<1> {
        self.0.borrow()[index].clone()
    }
}

impl ClassValues<'_> {
    /// Returns the values as a tensor. A constant becomes a tensor with the shape, type and device of `template`.
    pub fn to_tensor(self, template: &Tensor<1>) -> Tensor<1> {
        match self {
            Constant(value) => template.full_like(value),
            Stored(arena, index) => arena.get(index),
        }
    }

    /// Applies the function `constant` to a constant, and the function `tensor` to a tensor.
    fn map(self, constant: impl Fn(f64) -> f64, tensor: impl Fn(Tensor<1>) -> Tensor<1>) -> Self {
        match self {
            Constant(value) => Constant(constant(value)),
            Stored(arena, index) => arena.store(tensor(arena.get(index))),
        }
    }

    /// Applies the function `constants` to two constants, and the function `tensors` to two tensors. If only one of the values is a constant, it is
    /// converted to a tensor first.
    fn zip_map(
        self,
        other: Self,
        constants: impl Fn(f64, f64) -> f64,
        tensors: impl Fn(Tensor<1>, Tensor<1>) -> Tensor<1>,
    ) -> Self {
        match (self, other) {
            (Constant(x), Constant(y)) => Constant(constants(x, y)),
            (Stored(arena, index), _) => {
                let x = arena.get(index);
                let y = other.to_tensor(&x);
                arena.store(tensors(x, y))
            }
            (_, Stored(arena, index)) => {
                let y = arena.get(index);
                arena.store(tensors(self.to_tensor(&y), y))
            }
        }
    }
}

/// x / y, or 0 where y is 0. Zero denominators are replaced before the division, so the result does not depend on how a device computes 0/0.
fn ratio_or_zero(x: Tensor<1>, y: Tensor<1>) -> Tensor<1> {
    let is_zero = y.clone().equal_scalar(0.0);
    (x / y.mask_fill(is_zero.clone(), 1.0)).mask_fill(is_zero, 0.0)
}

impl Number for ClassValues<'_> {
    fn constant(value: f64) -> Self {
        Constant(value)
    }
    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Constant(0.0), any) | (any, Constant(0.0)) => any,
            (Stored(..), Constant(c)) => self.map(|x| x + c, |x| x.add_scalar(c)),
            (Constant(c), Stored(..)) => other.map(|y| c + y, |y| y.add_scalar(c)),
            _ => self.zip_map(other, |x, y| x + y, |x, y| x + y),
        }
    }
    fn minus(self, other: Self) -> Self {
        match (self, other) {
            (any, Constant(0.0)) => any,
            (Constant(0.0), any) => any.negate(),
            (Stored(..), Constant(c)) => self.map(|x| x - c, |x| x.sub_scalar(c)),
            (Constant(c), Stored(..)) => other.map(|y| c - y, |y| y.neg().add_scalar(c)),
            _ => self.zip_map(other, |x, y| x - y, |x, y| x - y),
        }
    }
    fn times(self, other: Self) -> Self {
        match (self, other) {
            (Constant(0.0), _) | (_, Constant(0.0)) => Constant(0.0),
            (Constant(1.0), any) | (any, Constant(1.0)) => any,
            (Stored(..), Constant(c)) => self.map(|x| x * c, |x| x.mul_scalar(c)),
            (Constant(c), Stored(..)) => other.map(|y| c * y, |y| y.mul_scalar(c)),
            _ => self.zip_map(other, |x, y| x * y, |x, y| x * y),
        }
    }
    /// The quotient of two values, or 0 where the divisor is 0.
    fn over(self, other: Self) -> Self {
        match (self, other) {
            (Constant(0.0), _) | (_, Constant(0.0)) => Constant(0.0),
            (Stored(..), Constant(c)) => self.map(|x| x / c, |x| x.div_scalar(c)),
            _ => self.zip_map(other, scorewise::formula::ratio, ratio_or_zero),
        }
    }
    fn power(self, other: Self) -> Self {
        self.zip_map(other, Number::power, |x, y| {
            // The power is computed from |x|, because a device may compute x^y by logarithms. For negative x and odd y the result is negated.
            let is_negative = x.clone().lower_scalar(0.0);
            let is_zero = x.clone().equal_scalar(0.0);
            let is_integer = y.clone().floor().equal(y.clone());
            let is_odd = y.clone().remainder_scalar(2.0).not_equal_scalar(0.0);
            let magnitude = x.abs().powf(y.clone());
            let signed = magnitude.clone().mask_where(is_negative.clone().bool_and(is_odd), magnitude.neg());
            let is_undefined =
                is_negative.bool_and(is_integer.bool_not()).bool_or(is_zero.bool_and(y.lower_scalar(0.0)));
            signed.mask_fill(is_undefined, 0.0)
        })
    }
    fn sqrt(self) -> Self {
        self.map(Number::sqrt, |x| x.clamp_min(0.0).sqrt())
    }
    fn ln(self) -> Self {
        self.map(Number::ln, |x| {
            let is_undefined = x.clone().lower_equal_scalar(0.0);
            x.mask_fill(is_undefined, 1.0).log()
        })
    }
    fn exp(self) -> Self {
        self.map(f64::exp, Tensor::exp)
    }
    fn negate(self) -> Self {
        self.map(|x| -x, Tensor::neg)
    }
    fn min(self, other: Self) -> Self {
        self.zip_map(other, f64::min, Tensor::min_pair)
    }
    fn max(self, other: Self) -> Self {
        self.zip_map(other, f64::max, Tensor::max_pair)
    }
    /// Whether the value is the constant 0. False for every tensor, because the values of a tensor are not read back from the device.
    fn is_zero(self) -> bool {
        matches!(self, Constant(0.0))
    }
    /// Compares two constants. If `self` or `other` is a tensor, the result is [`Side::Both`], because the comparison may differ between the classes.
    fn compare(self, other: Self) -> Side {
        match (self, other) {
            (Constant(x), Constant(y)) => x.compare(y),
            // `choose_branch` compares tensors class by class.
            _ => Side::Both,
        }
    }
    /// The mean of `self` and `other`, which are the results of the two branches of `min`, `max` or `abs`. It is used for the classes in which the
    /// two values that are compared are equal.
    fn merge_branches(self, other: Self) -> Self {
        self.plus(other).times(Constant(0.5))
    }
    /// Chooses a branch of `min`, `max` or `abs` for each class: `below` where `self` is less than `other`, `above` where it is greater, and the
    /// mean of both branches where the two are equal.
    fn choose_branch(self, other: Self, below: Self, above: Self) -> Self {
        let ((Stored(arena, _), _) | (_, Stored(arena, _))) = (self, other) else {
            return match self.compare(other) {
                Side::Below => below,
                Side::Above => above,
                Side::Both => below.merge_branches(above),
            };
        };
        if let (Constant(below), Constant(above)) = (below, above)
            && below == above
        {
            return Constant(below);
        }
        let template = arena.get(0);
        let (x, y) = (self.to_tensor(&template), other.to_tensor(&template));
        let merged = below.merge_branches(above).to_tensor(&template);
        let with_below = merged.mask_where(x.clone().lower(y.clone()), below.to_tensor(&template));
        arena.store(with_below.mask_where(x.greater(y), above.to_tensor(&template)))
    }
}
