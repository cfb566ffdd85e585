//! Conventions for the value of a score that is undefined (0/0).
//!
//! Losses use `zero` and reports say "undefined"; the other conventions reproduce the numbers of other tools.

use std::fmt;
use std::str::FromStr;

use super::Score;
use crate::confusion::Confusion;
use crate::error::{Error, Result};

/// Which value is used for an undefined score, such as 0/0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// Every division by zero gives 0: as in Marchetti et al. (2022), in scikit-learn by default, and in every loss of this crate. In a score
    /// that is a sum of several quotients, such as tss, only the undefined quotients are 0.
    Zero,
    /// 1 if there are no positives and no predicted positives (tp = fp = fn = 0), otherwise the same as `Zero`. Most Dice
    /// losses use this convention.
    OneIfBothEmpty,
    /// An undefined score is NaN, as in tools that propagate NaN.
    Nan,
    /// An undefined score has no value, as in tools that average only over defined scores.
    Skip,
    /// An undefined score is replaced by a limit: the same small count is added to every cell of the matrix, and this count tends to 0. For
    /// example, the Matthews correlation (mcc) of a constant forecast has the limit 0.
    Limit,
}

impl Convention {
    /// All conventions with their names.
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
        let found = Convention::ALL.iter().find(|(_, name)| *name == known);
        found.map(|(convention, _)| *convention).ok_or_else(|| Error::Setting {
            what: "undefined scores",
            reason: "must be treated by one of these conventions: zero (a division by zero gives 0), \
                     one-if-both-empty (1 if there are neither positives nor predicted positives, otherwise the same \
                     as zero), nan (the score is NaN), skip (the score has no value), limit (the limit of the score \
                     as the same small count, added to every cell, tends to 0)"
                .into(),
        })
    }
}

impl Score {
    /// The value of the score or, where the score is undefined, the value that the convention gives. `None` if the score is undefined and the
    /// convention is `Skip`, or if the convention is `Limit` and the limit does not exist.
    ///
    /// ```
    /// use scorewise::score::Convention;
    /// use scorewise::{Confusion, Score};
    ///
    /// let no_events = Confusion::new(100.0, 0.0, 0.0, 0.0); // no event, no alarm
    /// let f1 = Score::parse("f1")?;
    /// assert_eq!(f1.value_with_convention(&no_events, Convention::Zero), Some(0.0));
    /// assert_eq!(f1.value_with_convention(&no_events, Convention::OneIfBothEmpty), Some(1.0));
    /// assert_eq!(f1.value_with_convention(&no_events, Convention::Skip), None);
    /// # Ok::<(), scorewise::FormulaError>(())
    /// ```
    #[must_use]
    pub fn value_with_convention(&self, confusion: &Confusion, convention: Convention) -> Option<f64> {
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
            Convention::Limit => self.limit_of_smoothed_score(confusion),
        }
    }

    /// The limit of the value as the same count, added to all cells, tends to 0. The value is computed with two small counts; the result is `None`
    /// if they give different values or if a value is undefined.
    fn limit_of_smoothed_score(&self, confusion: &Confusion) -> Option<f64> {
        let value_near = |fraction: f64| {
            let small = fraction * confusion.total().max(1.0);
            let [tn, fp, fn_, tp] = confusion.array().map(|cell| cell + small);
            self.checked(&Confusion::new(tn, fp, fn_, tp))
        };
        // The added counts are 1e-10 and 1e-12 of the total. If the limit exists, the two values agree to about 1e-5, even if the score contains
        // the square root of a count, because √1e-10 = 1e-5. A larger difference shows that there is no limit.
        let (near, nearer) = (value_near(1e-10)?, value_near(1e-12)?);
        let agrees = (near - nearer).abs() <= 1e-4 * near.abs().max(1.0);
        agrees.then(|| if nearer.abs() < 1e-4 { 0.0 } else { nearer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_convention_parses_to_that_convention() {
        for (convention, name) in Convention::ALL {
            assert_eq!(name.parse::<Convention>().unwrap(), convention);
            assert_eq!(convention.to_string(), name);
        }
        assert_eq!("one_if_both_empty".parse::<Convention>().unwrap(), Convention::OneIfBothEmpty);
        let error = "infinity".parse::<Convention>().unwrap_err().to_string();
        assert_eq!(
            error,
            "undefined scores must be treated by one of these conventions: zero (a division by zero gives 0), \
             one-if-both-empty (1 if there are neither positives nor predicted positives, otherwise the same as zero), \
             nan (the score is NaN), skip (the score has no value), limit (the limit of the score as the same small \
             count, added to every cell, tends to 0)"
        );
    }

    #[test]
    fn conventions_differ_only_for_undefined_scores() {
        let (no_alarms, ordinary) = (Confusion::new(90.0, 0.0, 10.0, 0.0), Confusion::new(80.0, 10.0, 4.0, 6.0));
        let score = |text: &str| Score::parse(text).unwrap();
        for (convention, _) in Convention::ALL {
            assert_eq!(score("mcc").value_with_convention(&ordinary, convention), score("mcc").checked(&ordinary));
        }
        assert_eq!(score("mcc").value_with_convention(&no_alarms, Convention::Limit), Some(0.0));
        // Tss is tp/(tp + fn) − fp/(fp + tn). There are no negatives, so the second quotient is 0/0: it becomes 0, and the first keeps its value.
        let only_positives = Confusion::new(0.0, 0.0, 2.0, 8.0);
        assert_eq!(score("tss").value_with_convention(&only_positives, Convention::Zero), Some(0.8));
        assert_eq!(score("precision").value_with_convention(&no_alarms, Convention::OneIfBothEmpty), Some(0.0));
        assert!(score("precision").value_with_convention(&no_alarms, Convention::Nan).unwrap().is_nan());
        assert_eq!(
            score("odds_ratio").value_with_convention(&Confusion::new(70.0, 0.0, 0.0, 30.0), Convention::Limit),
            None
        );
    }
}
