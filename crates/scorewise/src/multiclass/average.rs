//! Averages of a binary score over the classes.
//!
//! ```text
//! macro     Σ sₖ / m                          every class has the same weight
//! weighted  Σ rₖ sₖ / Σ rₖ                    every class is weighted by its support rₖ = tpₖ + fnₖ, the weight of its rows
//! micro     s(Σ tnₖ, Σ fpₖ, Σ fnₖ, Σ tpₖ)     every pair (row, class) has the same weight
//! ```
//!
//! A class without rows is included in a macro average; its score is computed with the rule x/0 := 0, as in scikit-learn.

use std::fmt;
use std::str::FromStr;

use super::square::sum;
use crate::error::{Error, Result};
use crate::formula::{Number, Side};

/// How the scores of the classes are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// The mean of the scores over the classes.
    Macro,
    /// The mean of the scores over the classes, where each class is weighted by the total weight of its rows.
    Weighted,
    /// The score of the sum of all binary matrices. Each of these matrices compares one class with the rest.
    Micro,
}

impl Average {
    const ALL: [Average; 3] = [Average::Macro, Average::Weighted, Average::Micro];

    /// The name of the average in strings such as `macro(f1)`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Average::Macro => "macro",
            Average::Weighted => "weighted",
            Average::Micro => "micro",
        }
    }

    /// The kind of average with this name; `None` if no kind has this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|average| average.name().eq_ignore_ascii_case(name.trim()))
    }

    /// The average over the classes of the score that `measure` computes. `binaries` contains, for each class, the cells tn, fp, fn, tp of the matrix
    /// of this class against the rest.
    pub(super) fn over_classes<T: Number>(self, binaries: &[[T; 4]], measure: impl Fn([T; 4]) -> T) -> T {
        if self == Average::Micro {
            return measure(std::array::from_fn(|cell| sum(binaries.iter().map(|cells| cells[cell]))));
        }
        let weights = self.class_weights(binaries);
        let weighted = binaries.iter().zip(&weights).map(|(cells, weight)| weight.times(measure(*cells)));
        sum(weighted).over(sum(weights.iter().copied()))
    }

    /// The weight of each class in a macro or weighted average; the weights need not sum to 1.
    pub(super) fn class_weights<T: Number>(self, binaries: &[[T; 4]]) -> Vec<T> {
        let (zero, one) = (T::constant(0.0), T::constant(1.0));
        let supports: Vec<_> = binaries.iter().map(|[_, _, fn_, tp]| tp.plus(*fn_)).collect();
        // If no row has a positive weight, the support (the total weight of the rows) of every class is 0. All classes then get the same weight.
        let is_empty = sum(supports.iter().copied()).compare(zero) == Side::Both;
        if self == Average::Weighted && !is_empty { supports } else { vec![one; binaries.len()] }
    }
}

impl fmt::Display for Average {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Average {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let reason = || format!("must be macro, weighted or micro, not `{}`", text.trim());
        Average::from_name(text).ok_or_else(|| Error::Setting { what: "average", reason: reason() })
    }
}
