//! How the classes' own scores become one number.
//!
//! ```text
//! macro     Σ sₖ / m                     every class counts alike
//! weighted  Σ rₖ sₖ / Σ rₖ               every class by its support rₖ = tpₖ + fnₖ, the weight of its rows
//! micro     s(Σ tnₖ, Σ fpₖ, Σ fnₖ, Σ tpₖ)     every decision counts alike
//! ```
//!
//! A class without rows takes part in a macro average with what x/0 := 0 leaves of its score, as in scikit-learn.

use std::fmt;
use std::str::FromStr;

use super::square::sum;
use crate::error::{Error, Result};
use crate::formula::{Number, Side};

/// How the classes' own scores become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// The mean over the classes.
    Macro,
    /// The mean over the classes, each by the weight of its rows.
    Weighted,
    /// The score of the classes' matrices summed.
    Micro,
}

impl Average {
    const ALL: [Average; 3] = [Average::Macro, Average::Weighted, Average::Micro];

    /// Its name, as it is typed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Average::Macro => "macro",
            Average::Weighted => "weighted",
            Average::Micro => "micro",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|average| average.name().eq_ignore_ascii_case(name.trim()))
    }

    /// The average of a measure over the matrices of the classes, each tn, fp, fn, tp.
    pub(super) fn of<T: Number>(self, binaries: &[[T; 4]], measure: impl Fn([T; 4]) -> T) -> T {
        if self == Average::Micro {
            return measure(std::array::from_fn(|cell| sum(binaries.iter().map(|cells| cells[cell]))));
        }
        let shares = self.shares(binaries);
        let weighted = binaries.iter().zip(&shares).map(|(cells, share)| share.times(measure(*cells)));
        sum(weighted).over(sum(shares.iter().copied()))
    }

    /// What each class counts; not yet divided by their sum.
    pub(super) fn shares<T: Number>(self, binaries: &[[T; 4]]) -> Vec<T> {
        let (zero, one) = (T::constant(0.0), T::constant(1.0));
        let supports: Vec<_> = binaries.iter().map(|[_, _, fn_, tp]| tp.plus(*fn_)).collect();
        // Where no class has a row (all weights 0) there is nothing to weigh by.
        let is_empty = sum(supports.iter().copied()).side(zero) == Side::Both;
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
        Average::named(text).ok_or_else(|| Error::Setting { what: "average", reason: reason() })
    }
}
