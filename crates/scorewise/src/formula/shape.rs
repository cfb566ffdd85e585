//! The shape of a formula at fixed class counts: linear, a quotient of two linear functions, or neither.
//!
//! Once P and N are fixed, a matrix has two free cells, TP and FP, since FN = P − TP and TN = N − FP. A rational formula
//! becomes a rational function of TP and FP, and its shape follows from the degrees of numerator and denominator. The shape is found by
//! evaluating the tree with [`RationalFunction`], a number type that holds numerator and denominator. So no score has to declare its shape, and the
//! shape of a user's own formula is known as well.
//!
//! The result is conservative: common factors are not cancelled, so a formula that is linear only after cancellation
//! (`tp*fp/fp`) counts as nonlinear.

use super::number::{Number, Side};
use super::tree::{CellValues, ExpressionTree};

/// The form of a score as a function of (TP, FP) at fixed class counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Linear: the score of the expected matrix equals the expected score, and the loss of a mini-batch, computed with the class counts of the
    /// whole data set, is an unbiased estimate of the loss of the whole data set.
    Linear,
    /// A quotient of two linear functions. For a calibrated model, the best threshold can usually be computed from the best value of the score.
    LinearFractional,
    /// Neither linear nor a quotient of linear functions, or not recognised as one of the two.
    Nonlinear,
}

/// The coefficients of a score s = (a₀ + a₁ TP + a₂ FP) / (b₀ + b₁ TP + b₂ FP).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearFraction {
    /// The coefficients a₀, a₁, a₂ of the numerator.
    pub above: [f64; 3],
    /// The coefficients b₀, b₁, b₂ of the denominator.
    pub below: [f64; 3],
}

/// The shape of a formula in general: the least simple of its shapes at three pairs of class counts.
pub(crate) fn shape(tree: &ExpressionTree) -> Shape {
    // The class counts are integers, so that the coefficients are exact, and terms that cancel give exactly 0 and not 1e-16.
    let mut shapes = [(97.0, 1013.0), (641.0, 229.0), (31.0, 31.0)].map(|(p, n)| shape_at(tree, p, n));
    // At some class counts a formula can be simpler than in general, so the least simple of the three shapes is the general one.
    shapes.sort_by_key(|shape| *shape as u8);
    shapes[2]
}

/// The shape of a formula at the given class counts.
pub(crate) fn shape_at(tree: &ExpressionTree, positives: f64, negatives: f64) -> Shape {
    match to_rational_function(tree, positives, negatives) {
        RationalFunction::Quotient(numerator, denominator, guarded) => match (numerator.degree(), denominator.degree())
        {
            (0 | 1, 0) if !guarded => Shape::Linear,
            (0 | 1, 0 | 1) => Shape::LinearFractional,
            _ => Shape::Nonlinear,
        },
        RationalFunction::Unknown => Shape::Nonlinear,
    }
}

/// The coefficients of a linear or linear-fractional formula at the given class counts.
pub(crate) fn linear_fraction(tree: &ExpressionTree, positives: f64, negatives: f64) -> Option<LinearFraction> {
    match to_rational_function(tree, positives, negatives) {
        RationalFunction::Quotient(numerator, denominator, _)
            if numerator.degree() <= 1 && denominator.degree() <= 1 =>
        {
            let coefficients = |linear: Polynomial| [linear.0[0][0], linear.0[1][0], linear.0[0][1]];
            Some(LinearFraction { above: coefficients(numerator), below: coefficients(denominator) })
        }
        _ => None,
    }
}

/// The formula as a rational function of TP and FP at the given class counts.
fn to_rational_function(tree: &ExpressionTree, positives: f64, negatives: f64) -> RationalFunction {
    let tp = RationalFunction::polynomial(Polynomial::monomial(1, 0));
    let fp = RationalFunction::polynomial(Polynomial::monomial(0, 1));
    let (p, n) = (RationalFunction::constant(positives), RationalFunction::constant(negatives));
    let cells = CellValues([n.minus(fp), fp, p.minus(tp), tp, p, n, p.plus(n)]);
    tree.evaluate(&cells, &mut Vec::new())
}

/// In a [`Polynomial`], the exponents of TP and FP must be below this number. A formula with higher exponents counts as nonlinear.
const EXPONENT_LIMIT: usize = 5;

/// The polynomial Σ c[i][j] TPⁱ FPʲ, stored as the array of its coefficients c[i][j].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Polynomial([[f64; EXPONENT_LIMIT]; EXPONENT_LIMIT]);

impl Polynomial {
    /// The polynomial TPⁱ FPʲ.
    fn monomial(i: usize, j: usize) -> Self {
        let mut result = [[0.0; EXPONENT_LIMIT]; EXPONENT_LIMIT];
        result[i][j] = 1.0;
        Polynomial(result)
    }

    fn scaled(mut self, factor: f64) -> Self {
        self.0.iter_mut().flatten().for_each(|c| *c *= factor);
        self
    }

    fn plus(mut self, other: Self) -> Self {
        // A sum as small as the rounding error of its terms counts as 0, because parameters such as 0.3 are not exact in binary.
        for (a, b) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            let sum = *a + b;
            *a = if sum.abs() <= 1e-12 * (a.abs() + b.abs()) { 0.0 } else { sum };
        }
        self
    }

    /// The product of two polynomials; `None` if an exponent of TP or FP would be `EXPONENT_LIMIT` or higher.
    fn times(self, other: Self) -> Option<Self> {
        let mut result = Polynomial([[0.0; EXPONENT_LIMIT]; EXPONENT_LIMIT]);
        for (i, j, a) in self.terms() {
            for (k, l, b) in other.terms() {
                if i + k >= EXPONENT_LIMIT || j + l >= EXPONENT_LIMIT {
                    return None;
                }
                result = result.plus(Polynomial::monomial(i + k, j + l).scaled(a * b));
            }
        }
        Some(result)
    }

    /// The exponents of TP and FP and the coefficient of each term that is not 0.
    fn terms(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let rows = self.0.iter().enumerate();
        rows.flat_map(|(i, row)| row.iter().enumerate().map(move |(j, c)| (i, j, *c))).filter(|(_, _, c)| *c != 0.0)
    }

    /// The degree of the polynomial in TP and FP together; 0 for a constant.
    fn degree(&self) -> usize {
        self.terms().map(|(i, j, _)| i + j).max().unwrap_or(0)
    }

    fn is_constant(&self) -> bool {
        self.degree() == 0
    }
}

/// A quotient of two polynomials in TP and FP, or `Unknown` for any other function.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant)] // `Number` requires `Copy`, so the large variant cannot be boxed; only a few values exist at a time
enum RationalFunction {
    /// Numerator, denominator, and whether the formula divides by an expression that is not constant. Where such an expression is 0, x/0 := 0
    /// applies, which the quotient of polynomials does not show: `1/(1 + fn/tp)` is tp/p except at tp = 0, where it is 1.
    Quotient(Polynomial, Polynomial, bool),
    Unknown,
}

impl RationalFunction {
    /// A polynomial as a rational function with denominator 1.
    fn polynomial(numerator: Polynomial) -> Self {
        RationalFunction::Quotient(numerator, Polynomial::monomial(0, 0), false)
    }

    /// The value of a constant function; `None` for any other function.
    fn as_constant(self) -> Option<f64> {
        match self {
            RationalFunction::Quotient(numerator, denominator, false)
                if numerator.is_constant() && denominator.is_constant() =>
            {
                Some(numerator.0[0][0].over(denominator.0[0][0]))
            }
            _ => None,
        }
    }

    /// Applies a function that is not rational. The result is a constant if both arguments are constants, otherwise it is `Unknown`.
    fn apply_to_constants(self, other: Self, function: impl Fn(f64, f64) -> f64) -> Self {
        match (self.as_constant(), other.as_constant()) {
            (Some(a), Some(b)) => RationalFunction::constant(function(a, b)),
            _ => RationalFunction::Unknown,
        }
    }

    /// The quotient of two polynomials, or `Unknown` if one of them is `None`. `guarded` is true if the formula divides by an expression that is not
    /// constant and may therefore be 0.
    fn from_polynomials(numerator: Option<Polynomial>, denominator: Option<Polynomial>, guarded: bool) -> Self {
        match (numerator, denominator) {
            (Some(numerator), Some(denominator)) => RationalFunction::Quotient(numerator, denominator, guarded),
            _ => RationalFunction::Unknown,
        }
    }

    /// self + other if `sign` is 1, self − other if `sign` is −1.
    fn add_or_subtract(self, other: Self, sign: f64) -> Self {
        let (RationalFunction::Quotient(a, b, first), RationalFunction::Quotient(c, d, second)) = (self, other) else {
            return RationalFunction::Unknown;
        };
        if b == d {
            return RationalFunction::Quotient(a.plus(c.scaled(sign)), b, first || second);
        }
        let numerator = a.times(d).zip(c.times(b)).map(|(ad, cb)| ad.plus(cb.scaled(sign)));
        RationalFunction::from_polynomials(numerator, b.times(d), first || second)
    }
}

impl Number for RationalFunction {
    fn constant(value: f64) -> Self {
        RationalFunction::polynomial(Polynomial::monomial(0, 0).scaled(value))
    }
    fn plus(self, other: Self) -> Self {
        self.add_or_subtract(other, 1.0)
    }
    fn minus(self, other: Self) -> Self {
        self.add_or_subtract(other, -1.0)
    }
    fn times(self, other: Self) -> Self {
        let (RationalFunction::Quotient(a, b, first), RationalFunction::Quotient(c, d, second)) = (self, other) else {
            return RationalFunction::Unknown;
        };
        RationalFunction::from_polynomials(a.times(c), b.times(d), first || second)
    }
    /// self / other as a rational function; 0 if other is 0 for every matrix.
    fn over(self, other: Self) -> Self {
        let (RationalFunction::Quotient(a, b, first), RationalFunction::Quotient(c, d, second)) = (self, other) else {
            return RationalFunction::Unknown;
        };
        if c.terms().next().is_none() {
            return RationalFunction::constant(0.0); // the divisor is 0 for every matrix, and x/0 := 0
        }
        RationalFunction::from_polynomials(a.times(d), b.times(c), first || second || !c.is_constant())
    }
    fn power(self, other: Self) -> Self {
        match other.as_constant() {
            Some(exponent)
                if self.as_constant().is_none() && (1.0..5.0).contains(&exponent) && exponent.fract() == 0.0 =>
            {
                (1..exponent as usize).fold(self, |result, _| result.times(self))
            }
            _ => self.apply_to_constants(other, Number::power),
        }
    }
    fn sqrt(self) -> Self {
        self.apply_to_constants(self, |a, _| Number::sqrt(a))
    }
    fn ln(self) -> Self {
        self.apply_to_constants(self, |a, _| Number::ln(a))
    }
    fn exp(self) -> Self {
        self.apply_to_constants(self, |a, _| a.exp())
    }
    fn min(self, other: Self) -> Self {
        self.apply_to_constants(other, f64::min)
    }
    fn max(self, other: Self) -> Self {
        self.apply_to_constants(other, f64::max)
    }
    /// Always [`Side::Both`], because a function may be smaller than another for some matrices and greater for others.
    fn compare(self, _: Self) -> Side {
        Side::Both
    }
    /// Always `Unknown`, because a function that has two branches is not rational.
    fn merge_branches(self, _: Self) -> Self {
        RationalFunction::Unknown
    }
}
