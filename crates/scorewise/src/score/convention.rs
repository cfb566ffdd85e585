//! What to say of a score that is 0/0: the conventions of other tools, by name.
//!
//! Our losses take `zero`, our reports say undefined; who must agree with another tool asks for its convention.

use std::fmt;
use std::str::FromStr;

use super::Score;
use crate::confusion::Confusion;
use crate::error::{Error, Result};

/// What an undefined score counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// Every division by zero gives 0: the paper, scikit-learn by default, and every loss here. (A score of several quotients, such
    /// as tss, keeps those that are defined.)
    Zero,
    /// 1 where there was nothing to find and nothing was found (tp = fp = fn = 0), else as `Zero`: most Dice losses.
    OneIfBothEmpty,
    /// Not a number: tools that pass NaN on.
    Nan,
    /// Left out: tools that average only what is defined.
    Skip,
    /// The limit as one and the same small count is added to every cell: 0 for the correlation of a constant forecast.
    Limit,
}

impl Convention {
    /// All of them with their names.
    pub const ALL: [(Convention, &'static str); 5] = [
        (Convention::Zero, "zero"),
        (Convention::OneIfBothEmpty, "one-if-both-empty"),
        (Convention::Nan, "nan"),
        (Convention::Skip, "skip"),
        (Convention::Limit, "limit"),
    ];
}

impl fmt::Display for Convention {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(Convention::ALL[*self as usize].1)
    }
}

impl FromStr for Convention {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let known = text.trim().to_ascii_lowercase().replace('_', "-");
        Convention::ALL.iter().find(|(_, name)| *name == known).map(|(convention, _)| *convention).ok_or_else(|| {
            let names: Vec<_> = Convention::ALL.iter().map(|(_, name)| *name).collect();
            Error::Setting { what: "undefined scores", reason: format!("count as one of {}", names.join(", ")) }
        })
    }
}

impl Score {
    /// The value, or what the convention says where it is undefined; nothing where that is to leave it out.
    ///
    /// ```
    /// use scorewise::score::Convention;
    /// use scorewise::{Confusion, Score};
    ///
    /// let quiet = Confusion::new(100.0, 0.0, 0.0, 0.0); // no event, no alarm
    /// let f1 = Score::parse("f1")?;
    /// assert_eq!(f1.value_under(&quiet, Convention::Zero), Some(0.0));
    /// assert_eq!(f1.value_under(&quiet, Convention::OneIfBothEmpty), Some(1.0));
    /// assert_eq!(f1.value_under(&quiet, Convention::Skip), None);
    /// # Ok::<(), scorewise::FormulaError>(())
    /// ```
    #[must_use]
    pub fn value_under(&self, confusion: &Confusion, convention: Convention) -> Option<f64> {
        if let Some(value) = self.checked(confusion) {
            return Some(value);
        }
        match convention {
            Convention::OneIfBothEmpty if confusion.tp == 0.0 && confusion.fp == 0.0 && confusion.fn_ == 0.0 => {
                Some(1.0)
            }
            Convention::Zero | Convention::OneIfBothEmpty => Some(self.value(confusion)),
            Convention::Nan => Some(f64::NAN),
            Convention::Skip => None,
            Convention::Limit => self.limit(confusion),
        }
    }

    /// The limit of the value as the same small count is added to all cells, if two small counts agree on it.
    fn limit(&self, confusion: &Confusion) -> Option<f64> {
        let beside = |part: f64| {
            let small = part * confusion.total().max(1.0);
            let [tn, fp, fn_, tp] = confusion.array().map(|cell| cell + small);
            self.checked(&Confusion::new(tn, fp, fn_, tp))
        };
        // Of √ε the larger step leaves 1e-5: what has a limit agrees to that, what grows without end does not.
        let (near, nearer) = (beside(1e-10)?, beside(1e-12)?);
        let agrees = (near - nearer).abs() <= 1e-4 * near.abs().max(1.0);
        agrees.then(|| if nearer.abs() < 1e-4 { 0.0 } else { nearer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for (convention, name) in Convention::ALL {
            assert_eq!(name.parse::<Convention>().unwrap(), convention);
            assert_eq!(convention.to_string(), name);
        }
        assert_eq!("one_if_both_empty".parse::<Convention>().unwrap(), Convention::OneIfBothEmpty);
        let error = "infinity".parse::<Convention>().unwrap_err().to_string();
        assert_eq!(error, "undefined scores count as one of zero, one-if-both-empty, nan, skip, limit");
    }

    #[test]
    fn conventions_differ_only_where_a_score_is_undefined() {
        let (never, usual) = (Confusion::new(90.0, 0.0, 10.0, 0.0), Confusion::new(80.0, 10.0, 4.0, 6.0));
        let score = |text: &str| Score::parse(text).unwrap();
        for (convention, _) in Convention::ALL {
            assert_eq!(score("mcc").value_under(&usual, convention), score("mcc").checked(&usual));
        }
        assert_eq!(score("mcc").value_under(&never, Convention::Limit), Some(0.0));
        // What a loss takes: the quotient of the absent class counts 0, the other stays.
        let only_positives = Confusion::new(0.0, 0.0, 2.0, 8.0);
        assert_eq!(score("tss").value_under(&only_positives, Convention::Zero), Some(0.8));
        assert_eq!(score("precision").value_under(&never, Convention::OneIfBothEmpty), Some(0.0));
        assert!(score("precision").value_under(&never, Convention::Nan).unwrap().is_nan());
        assert_eq!(score("odds_ratio").value_under(&Confusion::new(70.0, 0.0, 0.0, 30.0), Convention::Limit), None);
    }
}
