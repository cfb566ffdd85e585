//! The number types that a formula can be evaluated with. Their arithmetic is guarded: an undefined result, such as x/0, is replaced by 0.
//!
//! The same expression tree is evaluated with different types. `f64` gives the value, [`Checked`] also whether that value is defined,
//! [`Dual`](super::Dual) the first derivatives, `Dual<Dual<f64>>` the second derivatives, [`Interval`](super::Interval) a
//! bound over a range of confusion matrices, and [`Lanes`] the values at eight matrices at once.
//!
//! A framework with its own tensors implements `Number` for a copyable handle, which identifies a tensor that is stored elsewhere.
//! [`Formula::reduced_with`](super::Formula::reduced_with) and [`Score::reduced_loss`](crate::Score::reduced_loss) then compute
//! value and derivatives on the device of the framework. Undefined results and derivatives follow the rules of this module.

/// x / y, or 0 if y is 0. Every division of f64 numbers in a formula uses this function.
///
/// A loss needs a number in every batch, so x/0 := 0 for every x (Marchetti et al. 2022 set 0/0 := 0). A report evaluates the formula
/// with [`Checked`] instead, which records that a division by zero occurred, and prints "undefined".
#[inline]
#[must_use]
pub fn ratio(x: f64, y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { x / y }
}

/// Which of two numbers is smaller. This decides the branch of `min`, `max` and `abs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first number is certainly smaller than the second.
    Below,
    /// The first number is certainly greater than the second.
    Above,
    /// The numbers are equal, or their order is not certain.
    Both,
}

/// A type that a formula can be evaluated with.
pub trait Number: Copy {
    /// A constant as a number of this type.
    fn constant(value: f64) -> Self;
    /// self + other.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// self − other.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// self · other.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// self / other, or 0 if other is 0.
    #[must_use]
    fn over(self, other: Self) -> Self;
    /// self to the power of other, or 0 if the result is not a real number or is a division by zero.
    #[must_use]
    fn power(self, other: Self) -> Self;
    /// √self, or 0 if self is negative.
    #[must_use]
    fn sqrt(self) -> Self;
    /// ln self, or 0 if self is not positive.
    #[must_use]
    fn ln(self) -> Self;
    /// e to the power of self.
    #[must_use]
    fn exp(self) -> Self;
    /// −self.
    #[must_use]
    fn negate(self) -> Self {
        Self::constant(0.0).minus(self)
    }
    /// The smaller of self and other.
    #[must_use]
    fn min(self, other: Self) -> Self;
    /// The greater of self and other.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// |self|, the greater of self and −self.
    #[must_use]
    fn abs(self) -> Self {
        self.max(self.negate())
    }
    /// Whether self is certainly 0, so that a product of self and a finite number need not be computed.
    fn is_zero(self) -> bool {
        false
    }
    /// Whether self is certainly smaller than other, certainly greater, or neither.
    fn compare(self, other: Self) -> Side;
    /// Combines the results of the two branches of `min`, `max` or `abs` if it is not certain which branch applies: their mean, or for
    /// intervals the smallest interval that contains both.
    #[must_use]
    fn merge_branches(self, other: Self) -> Self;
    /// Selects a branch of `min`, `max` or `abs`: `below` if self is smaller than `other`, `above` if self is greater, and the
    /// [combined result](Number::merge_branches) of both if the two are equal or their order is not certain.
    ///
    /// A type that holds several values must override this method to choose a branch for each value separately.
    #[must_use]
    fn choose_branch(self, other: Self, below: Self, above: Self) -> Self {
        match self.compare(other) {
            Side::Below => below,
            Side::Above => above,
            Side::Both => below.merge_branches(above),
        }
    }
}

impl Number for f64 {
    #[inline]
    fn constant(value: f64) -> Self {
        value
    }
    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline]
    fn minus(self, other: Self) -> Self {
        self - other
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        self * other
    }
    /// self / other, or 0 if other is 0.
    #[inline]
    fn over(self, other: Self) -> Self {
        ratio(self, other)
    }
    fn power(self, other: Self) -> Self {
        // 0 to a negative power is a division by zero, and a fractional power of a negative number is not real. Both give 0.
        if self == 0.0 && other < 0.0 {
            return 0.0;
        }
        let value = self.powf(other);
        if value.is_nan() { 0.0 } else { value }
    }
    #[inline]
    fn sqrt(self) -> Self {
        if self > 0.0 { f64::sqrt(self) } else { 0.0 }
    }
    #[inline]
    fn ln(self) -> Self {
        if self > 0.0 { f64::ln(self) } else { 0.0 }
    }
    #[inline]
    fn exp(self) -> Self {
        f64::exp(self)
    }
    #[inline]
    fn negate(self) -> Self {
        -self
    }
    #[inline]
    fn min(self, other: Self) -> Self {
        f64::min(self, other)
    }
    #[inline]
    fn max(self, other: Self) -> Self {
        f64::max(self, other)
    }
    #[inline]
    fn abs(self) -> Self {
        f64::abs(self)
    }
    #[inline]
    fn is_zero(self) -> bool {
        self == 0.0
    }
    /// Whether self is smaller than other, greater, or equal; a NaN counts as equal.
    #[inline]
    fn compare(self, other: Self) -> Side {
        if self < other {
            Side::Below
        } else if self > other {
            Side::Above
        } else {
            Side::Both
        }
    }
    /// The mean of the results of the two branches of `min`, `max` or `abs`. This method is called only if the two compared values are equal (or one
    /// is NaN), so that neither branch is chosen.
    #[inline]
    fn merge_branches(self, other: Self) -> Self {
        0.5 * (self + other)
    }
}

/// A value, and whether it was computed without replacing an undefined result by 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checked {
    /// The value, with undefined results replaced by 0: the same number that evaluation with plain `f64` gives.
    pub value: f64,
    /// False if the computation involved a division by zero, a logarithm of a number that is not positive, or a root or fractional power of a
    /// negative number.
    pub defined: bool,
}

impl Checked {
    /// The result of an operation, which is defined if both operands and the operation itself are defined.
    fn from_operation(value: f64, operands_defined: [bool; 2], operation_defined: bool) -> Self {
        Checked { value, defined: operands_defined[0] && operands_defined[1] && operation_defined }
    }
}

impl Number for Checked {
    fn constant(value: f64) -> Self {
        Checked { value, defined: true }
    }
    fn plus(self, other: Self) -> Self {
        Self::from_operation(self.value + other.value, [self.defined, other.defined], true)
    }
    fn minus(self, other: Self) -> Self {
        Self::from_operation(self.value - other.value, [self.defined, other.defined], true)
    }
    fn times(self, other: Self) -> Self {
        Self::from_operation(self.value * other.value, [self.defined, other.defined], true)
    }
    /// self / other; if other is 0, the value is 0 and marked as not defined.
    fn over(self, other: Self) -> Self {
        Self::from_operation(ratio(self.value, other.value), [self.defined, other.defined], other.value != 0.0)
    }
    fn power(self, other: Self) -> Self {
        let divides_by_zero = self.value == 0.0 && other.value < 0.0;
        let operation_defined = !(divides_by_zero || self.value.powf(other.value).is_nan());
        Self::from_operation(self.value.power(other.value), [self.defined, other.defined], operation_defined)
    }
    fn sqrt(self) -> Self {
        Self::from_operation(Number::sqrt(self.value), [self.defined, true], self.value >= 0.0)
    }
    fn ln(self) -> Self {
        Self::from_operation(Number::ln(self.value), [self.defined, true], self.value > 0.0)
    }
    fn exp(self) -> Self {
        Self::from_operation(self.value.exp(), [self.defined, true], true)
    }
    fn negate(self) -> Self {
        Checked { value: -self.value, ..self }
    }
    fn min(self, other: Self) -> Self {
        Self::from_operation(f64::min(self.value, other.value), [self.defined, other.defined], true)
    }
    fn max(self, other: Self) -> Self {
        Self::from_operation(f64::max(self.value, other.value), [self.defined, other.defined], true)
    }
    /// Which of the two values is smaller, whether or not the values are defined.
    fn compare(self, other: Self) -> Side {
        self.value.compare(other.value)
    }
    /// The mean of the results of the two branches of `min`, `max` or `abs`, which is defined if both results are defined. This method is called only
    /// if the two compared values are equal, so that neither branch is chosen.
    fn merge_branches(self, other: Self) -> Self {
        Self::from_operation(self.value.merge_branches(other.value), [self.defined, other.defined], true)
    }
}

/// The number of matrices that [`Lanes`] evaluates at once: eight f64 numbers fill one AVX-512 register.
pub const LANES: usize = 8;

/// Eight values that are evaluated together, so that the expression tree is traversed once for all eight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes(pub [f64; LANES]);

impl Lanes {
    /// Applies a function to each of the eight values.
    #[inline]
    fn map(self, function: impl Fn(f64) -> f64) -> Self {
        Lanes(self.0.map(function))
    }
    /// Applies a function to each of the eight pairs of a value of self and the corresponding value of other.
    #[inline]
    fn zip_with(self, other: Self, function: impl Fn(f64, f64) -> f64) -> Self {
        let mut result = self.0;
        for (x, y) in result.iter_mut().zip(other.0) {
            *x = function(*x, y);
        }
        Lanes(result)
    }
}

impl Number for Lanes {
    #[inline]
    fn constant(value: f64) -> Self {
        Lanes([value; LANES])
    }
    #[inline]
    fn plus(self, other: Self) -> Self {
        self.zip_with(other, |x, y| x + y)
    }
    #[inline]
    fn minus(self, other: Self) -> Self {
        self.zip_with(other, |x, y| x - y)
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        self.zip_with(other, |x, y| x * y)
    }
    /// The eight quotients self / other, each 0 where the value of other is 0.
    #[inline]
    fn over(self, other: Self) -> Self {
        self.zip_with(other, ratio)
    }
    fn power(self, other: Self) -> Self {
        self.zip_with(other, Number::power)
    }
    fn sqrt(self) -> Self {
        self.map(Number::sqrt)
    }
    fn ln(self) -> Self {
        self.map(Number::ln)
    }
    fn exp(self) -> Self {
        self.map(f64::exp)
    }
    #[inline]
    fn negate(self) -> Self {
        self.map(|x| -x)
    }
    #[inline]
    fn min(self, other: Self) -> Self {
        self.zip_with(other, f64::min)
    }
    #[inline]
    fn max(self, other: Self) -> Self {
        self.zip_with(other, f64::max)
    }
    /// Always [`Side::Both`], because the eight values may compare differently.
    fn compare(self, _: Self) -> Side {
        // The branch is chosen for each of the eight values in `choose_branch`.
        Side::Both
    }
    /// The mean of the results of the two branches of `min`, `max` or `abs`, for each of the eight values.
    fn merge_branches(self, other: Self) -> Self {
        self.zip_with(other, f64::merge_branches)
    }
    /// Selects a branch of `min`, `max` or `abs` for each of the eight values.
    fn choose_branch(self, other: Self, below: Self, above: Self) -> Self {
        Lanes(std::array::from_fn(|lane| self.0[lane].choose_branch(other.0[lane], below.0[lane], above.0[lane])))
    }
}
