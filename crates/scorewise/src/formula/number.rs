//! What a formula computes with: anything that adds, multiplies and divides with a guard.
//!
//! One tree, many numbers. With `f64` a formula gives its value, with [`Checked`] also whether that value is defined,
//! with [`Dual`](super::Dual) its slopes, with `Dual<Dual<f64>>` its second derivatives, with
//! [`Interval`](super::Interval) a bound over a whole range of matrices, with [`Lanes`] eight values at once.
//!
//! A framework that computes on tensors of its own brings a `Number` of its own: a handle that can be copied, to a tensor that it keeps
//! elsewhere. [`Formula::reduced_with`](super::Formula::reduced_with) and [`Score::reduced_loss`](crate::Score::reduced_loss) then give
//! value and slopes on its device, with the guards and the calculus of this module.

/// x / y, and 0 where y is 0: the one place where division by zero is decided.
///
/// A loss wants a number in every batch, so x/0 := 0 for every x (the paper sets 0/0 := 0). A report does not: it asks
/// [`Checked`], which remembers that the guard was used, and says "undefined".
#[inline]
#[must_use]
pub fn ratio(x: f64, y: f64) -> f64 {
    if y == 0.0 { 0.0 } else { x / y }
}

/// How two numbers lie to each other: what a kink (`min`, `max`, `abs`) needs to know to choose a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first is certainly smaller.
    Below,
    /// The first is certainly greater.
    Above,
    /// Equal, or not certain: both sides have a say in the slope.
    Both,
}

/// A number that a formula can be evaluated with.
pub trait Number: Copy {
    /// The number that stands for a constant.
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
    /// The guarded quotient: self / other, 0 where other is 0.
    #[must_use]
    fn over(self, other: Self) -> Self;
    /// self to the power of other, 0 where that is no real number.
    #[must_use]
    fn power(self, other: Self) -> Self;
    /// √self, 0 below 0.
    #[must_use]
    fn sqrt(self) -> Self;
    /// ln self, 0 at and below 0.
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
    /// The smaller of the two.
    #[must_use]
    fn min(self, other: Self) -> Self;
    /// The greater of the two.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// |self|, the greater of self and −self.
    #[must_use]
    fn abs(self) -> Self {
        self.max(self.negate())
    }
    /// Whether this is certainly 0, so that a product with it needs no look at the other factor.
    fn is_zero(self) -> bool {
        false
    }
    /// How the two lie to each other.
    fn side(self, other: Self) -> Side;
    /// Where a kink leaves both sides possible: their mean, or for intervals their hull.
    #[must_use]
    fn blend(self, other: Self) -> Self;
    /// What holds at a kink: `below` where self is the smaller, `above` where it is the greater, both blended where neither is certain.
    ///
    /// A number that is many values at once chooses for each of them, and so needs its own.
    #[must_use]
    fn kink(self, other: Self, below: Self, above: Self) -> Self {
        match self.side(other) {
            Side::Below => below,
            Side::Above => above,
            Side::Both => below.blend(above),
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
    #[inline]
    fn over(self, other: Self) -> Self {
        ratio(self, other)
    }
    fn power(self, other: Self) -> Self {
        // 0 to a negative power is a division by zero, a root of a negative number is none: both take the guard.
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
    #[inline]
    fn side(self, other: Self) -> Side {
        if self < other {
            Side::Below
        } else if self > other {
            Side::Above
        } else {
            Side::Both
        }
    }
    #[inline]
    fn blend(self, other: Self) -> Self {
        0.5 * (self + other)
    }
}

/// A value that remembers whether a guard was needed on the way to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checked {
    /// The guarded value, the same as the `f64` evaluation gives.
    pub value: f64,
    /// False as soon as one division by zero, logarithm of 0 or root of a negative number took part.
    pub defined: bool,
}

impl Checked {
    fn of(value: f64, parts: [bool; 2], here: bool) -> Self {
        Checked { value, defined: parts[0] && parts[1] && here }
    }
}

impl Number for Checked {
    fn constant(value: f64) -> Self {
        Checked { value, defined: true }
    }
    fn plus(self, other: Self) -> Self {
        Self::of(self.value + other.value, [self.defined, other.defined], true)
    }
    fn minus(self, other: Self) -> Self {
        Self::of(self.value - other.value, [self.defined, other.defined], true)
    }
    fn times(self, other: Self) -> Self {
        Self::of(self.value * other.value, [self.defined, other.defined], true)
    }
    fn over(self, other: Self) -> Self {
        Self::of(ratio(self.value, other.value), [self.defined, other.defined], other.value != 0.0)
    }
    fn power(self, other: Self) -> Self {
        let divides_by_zero = self.value == 0.0 && other.value < 0.0;
        let here = !(divides_by_zero || self.value.powf(other.value).is_nan());
        Self::of(self.value.power(other.value), [self.defined, other.defined], here)
    }
    fn sqrt(self) -> Self {
        Self::of(Number::sqrt(self.value), [self.defined, true], self.value >= 0.0)
    }
    fn ln(self) -> Self {
        Self::of(Number::ln(self.value), [self.defined, true], self.value > 0.0)
    }
    fn exp(self) -> Self {
        Self::of(self.value.exp(), [self.defined, true], true)
    }
    fn negate(self) -> Self {
        Checked { value: -self.value, ..self }
    }
    fn min(self, other: Self) -> Self {
        Self::of(f64::min(self.value, other.value), [self.defined, other.defined], true)
    }
    fn max(self, other: Self) -> Self {
        Self::of(f64::max(self.value, other.value), [self.defined, other.defined], true)
    }
    fn side(self, other: Self) -> Side {
        self.value.side(other.value)
    }
    fn blend(self, other: Self) -> Self {
        Self::of(self.value.blend(other.value), [self.defined, other.defined], true)
    }
}

/// How many matrices [`Lanes`] takes through a formula at once: one AVX-512 register of f64.
pub const LANES: usize = 8;

/// Eight values side by side, so that walking the formula costs once what eight values need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes(pub [f64; LANES]);

impl Lanes {
    #[inline]
    fn each(self, one: impl Fn(f64) -> f64) -> Self {
        Lanes(self.0.map(one))
    }
    #[inline]
    fn pair(self, other: Self, two: impl Fn(f64, f64) -> f64) -> Self {
        let mut result = self.0;
        for (x, y) in result.iter_mut().zip(other.0) {
            *x = two(*x, y);
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
        self.pair(other, |x, y| x + y)
    }
    #[inline]
    fn minus(self, other: Self) -> Self {
        self.pair(other, |x, y| x - y)
    }
    #[inline]
    fn times(self, other: Self) -> Self {
        self.pair(other, |x, y| x * y)
    }
    #[inline]
    fn over(self, other: Self) -> Self {
        self.pair(other, ratio)
    }
    fn power(self, other: Self) -> Self {
        self.pair(other, Number::power)
    }
    fn sqrt(self) -> Self {
        self.each(Number::sqrt)
    }
    fn ln(self) -> Self {
        self.each(Number::ln)
    }
    fn exp(self) -> Self {
        self.each(f64::exp)
    }
    #[inline]
    fn negate(self) -> Self {
        self.each(|x| -x)
    }
    #[inline]
    fn min(self, other: Self) -> Self {
        self.pair(other, f64::min)
    }
    #[inline]
    fn max(self, other: Self) -> Self {
        self.pair(other, f64::max)
    }
    fn side(self, _: Self) -> Side {
        // Eight values need not agree on a side: `kink` chooses for each.
        Side::Both
    }
    fn blend(self, other: Self) -> Self {
        self.pair(other, f64::blend)
    }
    fn kink(self, other: Self, below: Self, above: Self) -> Self {
        Lanes(std::array::from_fn(|lane| self.0[lane].kink(other.0[lane], below.0[lane], above.0[lane])))
    }
}
