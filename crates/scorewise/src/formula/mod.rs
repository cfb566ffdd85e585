//! Scores as formulas: a formula maps the four cells of a confusion matrix to one number.
//!
//! ```text
//! text → tokens → tree → value, gradient, second derivatives, bounds, shape, text, LaTeX, Python source
//! ```
//!
//! ```
//! use scorewise::{Confusion, Formula};
//!
//! let finley = Confusion::new(2680.0, 72.0, 23.0, 28.0); // tn, fp, fn, tp of Finley's tornado forecasts of 1884
//! let csi = Formula::parse("tp/(tp + fp + fn)")?;
//! assert_eq!(csi.value(&finley), 28.0 / 123.0);
//! assert_eq!(csi.latex(), r"\frac{\mathrm{TP}}{\mathrm{TP} + \mathrm{FP} + \mathrm{FN}}");
//!
//! // A formula may name registered scores, with parameters.
//! let mixed = Formula::parse("0.5*tss + 0.5*fbeta(2)")?;
//! let derivatives = mixed.derivatives(&finley); // ∂/∂tn, ∂/∂fp, ∂/∂fn, ∂/∂tp, computed with dual numbers
//! assert!(derivatives.tp > 0.0 && derivatives.fp < 0.0);
//!
//! let error = Formula::parse("tss + presicion").unwrap_err().to_string();
//! assert!(error.contains("      ^^^^^^^^^") && error.contains("did you mean `precision`?"));
//! # Ok::<(), scorewise::FormulaError>(())
//! ```

mod error;
mod token;
mod tree;
mod parse;
mod number;
mod dual;
mod interval;
mod print;
mod cuda;
mod shape;

use std::fmt;
use std::sync::Arc;

pub use dual::Dual;
pub use error::FormulaError;
pub(crate) use error::excerpt;
pub use interval::Interval;
pub use number::{Checked, LANES, Lanes, Number, Side, ratio};
pub(crate) use parse::{Comparator, nearest_name, parse_conditions};
pub(crate) use print::shortest_decimal;
pub use shape::{LinearFraction, Shape};

use crate::confusion::Confusion;
use tree::{CellValues, ExpressionTree};

/// A function of the confusion matrix, parsed from text.
///
/// Cheap to clone, because clones share the expression tree.
#[derive(Clone, PartialEq)]
pub struct Formula {
    /// The expression tree as it was parsed, used for printing.
    tree: Arc<ExpressionTree>,
    /// The expression tree with tp + fn, fp + tn and p + n replaced by the class counts, used for evaluation.
    with_class_counts: Arc<ExpressionTree>,
}

/// The partial derivatives of a score with respect to the four cells of the confusion matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellDerivatives {
    /// ∂s/∂TN, the derivative of the score s with respect to the true negatives.
    pub tn: f64,
    /// ∂s/∂FP, the derivative of the score s with respect to the false positives.
    pub fp: f64,
    /// ∂s/∂FN, the derivative of the score s with respect to the false negatives.
    pub fn_: f64,
    /// ∂s/∂TP, the derivative of the score s with respect to the true positives.
    pub tp: f64,
}

/// The value of a score, and its derivatives with respect to TP and FP at fixed class counts. When TP grows, FN falls by the same amount; when FP
/// grows, TN falls by the same amount. So each of these derivatives is a difference of two partial derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reduced<T> {
    /// The value s of the score.
    pub value: T,
    /// g₁ = ∂s/∂TP − ∂s/∂FN: the change of the score when a positive row is predicted positive instead of negative.
    pub positive: T,
    /// g₀ = ∂s/∂FP − ∂s/∂TN: the change of the score when a negative row is predicted positive instead of negative (usually below 0).
    pub negative: T,
}

impl Formula {
    /// Parses a formula. An error shows where the formula is wrong.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        Ok(Formula::from_tree(parse::parse_formula(text)?))
    }

    pub(crate) fn from_tree(tree: ExpressionTree) -> Self {
        Formula { with_class_counts: Arc::new(tree.with_class_counts()), tree: Arc::new(tree) }
    }

    /// The value of the formula as a loss uses it, with undefined results such as x/0 replaced by 0.
    #[must_use]
    pub fn value(&self, confusion: &Confusion) -> f64 {
        self.value_of(confusion.array())
    }

    /// The value of the formula as a report shows it: `None` if the value is not finite, or if its computation involves a division by zero, a
    /// logarithm of a number that is not positive, or a root or fractional power of a negative number.
    #[must_use]
    pub fn checked(&self, confusion: &Confusion) -> Option<f64> {
        let checked = self.value_of(confusion.array().map(Checked::constant));
        (checked.defined && checked.value.is_finite()).then_some(checked.value)
    }

    /// The partial derivatives with respect to the four cells of the confusion matrix.
    #[must_use]
    pub fn derivatives(&self, confusion: &Confusion) -> CellDerivatives {
        self.value_and_derivatives(confusion).1
    }

    /// The value and its partial derivatives with respect to the four cells of the confusion matrix.
    #[must_use]
    pub fn value_and_derivatives(&self, confusion: &Confusion) -> (f64, CellDerivatives) {
        let [tn, fp, fn_, tp] = confusion.array();
        let result = self.derivatives_with(tn, fp, fn_, tp, tp + fn_, fp + tn);
        let [tn, fp, fn_, tp] = result.derivatives;
        (result.value, CellDerivatives { tn, fp, fn_, tp })
    }

    /// Same as [`Formula::value_and_derivatives`], but for any [`Number`] type. The class counts are arguments: if they were
    /// computed from cells that are intervals, they would be wider than necessary.
    pub(crate) fn derivatives_with<T: Number>(
        &self,
        tn: T,
        fp: T,
        fn_: T,
        tp: T,
        positives: T,
        negatives: T,
    ) -> Dual<T, 4> {
        let dual = |value: T, derivatives: [f64; 4]| Dual::new(value, derivatives.map(T::constant));
        let cells = CellValues([
            dual(tn, [1.0, 0.0, 0.0, 0.0]),
            dual(fp, [0.0, 1.0, 0.0, 0.0]),
            dual(fn_, [0.0, 0.0, 1.0, 0.0]),
            dual(tp, [0.0, 0.0, 0.0, 1.0]),
            dual(positives, [0.0, 0.0, 1.0, 1.0]),
            dual(negatives, [1.0, 1.0, 0.0, 0.0]),
            dual(positives.plus(negatives), [1.0; 4]),
        ]);
        self.evaluate(cells, &mut Vec::new())
    }

    /// The value, and its derivatives with respect to TP and FP at fixed class counts (see [`Reduced`]). A loss and its gradient are computed from
    /// these.
    #[must_use]
    pub fn reduced(&self, confusion: &Confusion) -> Reduced<f64> {
        let [tn, fp, fn_, tp] = confusion.array();
        self.reduced_with(tn, fp, fn_, tp, tp + fn_, fp + tn)
    }

    /// Same as [`Formula::reduced`], but for any [`Number`] type. The class counts are arguments: computing them from the cells would
    /// make them wider than necessary if the cells are intervals, and would take time if the cells are tensors.
    #[must_use]
    pub fn reduced_with<T: Number>(&self, tn: T, fp: T, fn_: T, tp: T, positives: T, negatives: T) -> Reduced<T> {
        let dual = |value: T, by_tp: f64, by_fp: f64| Dual::new(value, [T::constant(by_tp), T::constant(by_fp)]);
        let cells = CellValues([
            dual(tn, 0.0, -1.0),
            dual(fp, 0.0, 1.0),
            dual(fn_, -1.0, 0.0),
            dual(tp, 1.0, 0.0),
            dual(positives, 0.0, 0.0),
            dual(negatives, 0.0, 0.0),
            dual(positives.plus(negatives), 0.0, 0.0),
        ]);
        let result = self.evaluate(cells, &mut Vec::new());
        Reduced { value: result.value, positive: result.derivatives[0], negative: result.derivatives[1] }
    }

    /// The second derivatives at fixed class counts: [[∂²/∂TP², ∂²/∂TP∂FP], [∂²/∂FP∂TP, ∂²/∂FP²]].
    #[must_use]
    pub fn second_derivatives(&self, confusion: &Confusion) -> [[f64; 2]; 2] {
        let [tn, fp, fn_, tp] = confusion.array();
        let inner = |value: f64, by_tp: f64, by_fp: f64| Dual::new(value, [by_tp, by_fp]);
        let result: Reduced<Dual<f64, 2>> = self.reduced_with(
            inner(tn, 0.0, -1.0),
            inner(fp, 0.0, 1.0),
            inner(fn_, -1.0, 0.0),
            inner(tp, 1.0, 0.0),
            Dual::constant(tp + fn_),
            Dual::constant(fp + tn),
        );
        [result.positive.derivatives, result.negative.derivatives]
    }

    /// An interval that contains the computed value of the formula, rounding errors included, for all TP and FP in the given intervals.
    pub(crate) fn bounds_in_box(
        &self,
        tp: Interval,
        fp: Interval,
        counts: &ClassCounts,
        scratch: &mut Vec<Interval>,
    ) -> Interval {
        self.with_class_counts.evaluate(&CellValues::from_class_counts(tp, fp, counts), scratch)
    }

    /// The values of the formula at eight pairs (TP, FP). A division by zero gives 0.
    pub(crate) fn values_at_lanes(
        &self,
        tp: &[f64; LANES],
        fp: &[f64; LANES],
        counts: &ClassCounts,
        scratch: &mut Vec<Lanes>,
    ) -> [f64; LANES] {
        self.with_class_counts.evaluate(&CellValues::from_class_counts(Lanes(*tp), Lanes(*fp), counts), scratch).0
    }

    /// The value of the formula at one pair (TP, FP), and whether the value is defined.
    pub(crate) fn checked_at(&self, tp: f64, fp: f64, counts: &ClassCounts, scratch: &mut Vec<Checked>) -> Checked {
        self.with_class_counts
            .evaluate(&CellValues::from_class_counts(Checked::constant(tp), Checked::constant(fp), counts), scratch)
    }

    /// The value of the formula for cells of any [`Number`] type, in the order tn, fp, fn, tp. A division by zero gives 0.
    pub(crate) fn value_of<T: Number>(&self, cells: [T; 4]) -> T {
        self.evaluate(CellValues::new(cells), &mut Vec::new())
    }

    /// The value of the formula for cells of any [`Number`] type; `scratch` is a buffer that callers can reuse.
    pub(crate) fn evaluate<T: Number>(&self, cells: CellValues<T>, scratch: &mut Vec<T>) -> T {
        self.with_class_counts.evaluate(&cells, scratch)
    }

    /// Whether the formula, at fixed class counts, is linear, a quotient of linear functions, or neither; derived from the expression tree.
    #[must_use]
    pub fn shape(&self) -> Shape {
        shape::shape(&self.tree)
    }

    /// The shape of the formula at the given class counts. A formula may be linear at some class counts and not at others.
    #[must_use]
    pub fn shape_at(&self, positives: f64, negatives: f64) -> Shape {
        shape::shape_at(&self.tree, positives, negatives)
    }

    /// The coefficients of a linear or linear-fractional formula at the given class counts; `None` for other formulas.
    #[must_use]
    pub fn linear_fraction(&self, positives: f64, negatives: f64) -> Option<LinearFraction> {
        shape::linear_fraction(&self.tree, positives, negatives)
    }

    /// The formula as plain text, which parses back to the same formula.
    #[must_use]
    pub fn text(&self) -> String {
        self.tree.text()
    }

    /// The formula as LaTeX.
    #[must_use]
    pub fn latex(&self) -> String {
        self.tree.latex()
    }

    /// The formula as Python source over the variables `tn fp fn tp p n total` and the functions
    /// `ratio power sqrt ln exp absolute minimum maximum`, which the caller defines for its own tensors. The functions must return 0 where
    /// their result is undefined, as for x/0.
    #[must_use]
    pub fn python(&self) -> String {
        self.tree.python()
    }

    /// The conditions under which the value is undefined, as texts such as `tp + fp = 0`: one for every denominator and one for every argument of a
    /// logarithm, except constants. Negative arguments of logarithms and roots are not listed.
    #[must_use]
    pub fn undefined_when(&self) -> Vec<String> {
        self.tree.undefined_when()
    }
}

/// The weighted numbers of positives P and negatives N of a data set, which stay fixed while the threshold varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassCounts {
    /// P, the total weight of the positive rows.
    pub positives: f64,
    /// N, the total weight of the negative rows.
    pub negatives: f64,
}

impl fmt::Display for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text())
    }
}

impl fmt::Debug for Formula {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Formula({})", self.text())
    }
}
