//! From the probabilities of a row to its label.

use scorewise::is_positive;
use scorewise::sweep::Best;
use serde::{Deserialize, Serialize};

/// The rule that gives a label. Where several classes are equally good the first of them is taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "lowercase", deny_unknown_fields)]
pub enum Decision {
    /// Two classes: positive where p > τ, strictly.
    Threshold {
        /// τ.
        threshold: f64,
        /// All thresholds from the first up to but not including the second are equally good on the rows it was chosen on.
        interval: Option<(f64, f64)>,
        /// The score on those rows at τ.
        value: Option<f64>,
        /// How it was chosen, for programs.
        chosen: Chosen,
        /// How it was chosen, for people.
        words: String,
    },
    /// More classes: the greatest pₖ.
    Greatest,
    /// More classes, one against the rest: the greatest pₖ − τₖ, the class that is farthest above its own threshold.
    Thresholds {
        /// τₖ, one a class.
        thresholds: Vec<f64>,
        /// How they were chosen, for programs.
        chosen: Chosen,
        /// How they were chosen, for people.
        words: String,
    },
    /// More classes on the simplex: the greatest ln pₖ − μₖ, computed as the greatest pₖ exp(−μₖ).
    Centres {
        /// μₖ, one a class: the centres of the random thresholds on the scale of the logits.
        centres: Vec<f64>,
    },
}

/// How thresholds were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// The best on the validation rows.
    ValidationSweep,
    /// The best on the training rows.
    TrainingSweep,
    /// The best on the held-out rows of a cross-validation.
    FoldSweep,
    /// The centre of the prior.
    Prior,
    /// The user gave it.
    Given,
}

impl Decision {
    /// Two classes, at a threshold that no sweep has found.
    #[must_use]
    pub fn at(threshold: f64, chosen: Chosen, words: impl Into<String>) -> Self {
        Decision::Threshold { threshold, interval: None, value: None, chosen, words: words.into() }
    }

    /// Two classes, at the best threshold of a sweep.
    #[must_use]
    pub fn best(best: &Best, chosen: Chosen, words: impl Into<String>) -> Self {
        Decision::Threshold {
            threshold: best.threshold,
            interval: Some(best.interval),
            value: Some(best.value),
            chosen,
            words: words.into(),
        }
    }

    /// τ, where there are two classes.
    #[must_use]
    pub fn threshold(&self) -> Option<f64> {
        match self {
            Decision::Threshold { threshold, .. } => Some(*threshold),
            _ => None,
        }
    }

    /// How it was chosen, in words.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Decision::Threshold { words, .. } | Decision::Thresholds { words, .. } => words,
            Decision::Greatest => "the class of the greatest probability",
            Decision::Centres { .. } => "the class that is farthest above the centre of its threshold",
        }
    }

    /// The label of a row from its probabilities: one with two classes, else one a class.
    #[must_use]
    pub fn label(&self, probabilities: &[f64]) -> u32 {
        match self {
            Decision::Threshold { threshold, .. } => {
                probabilities.first().is_some_and(|p| is_positive(*p, *threshold)).into()
            }
            Decision::Greatest => greatest(probabilities.iter().copied()),
            Decision::Thresholds { thresholds, .. } => {
                greatest(probabilities.iter().zip(thresholds).map(|(p, threshold)| p - threshold))
            }
            Decision::Centres { centres } => greatest(probabilities.iter().zip(factors(centres)).map(|(p, by)| p * by)),
        }
    }
}

/// exp(−μₖ), all divided by the greatest, so that none overflows.
pub(crate) fn factors(centres: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let lowest = centres.iter().copied().fold(f64::INFINITY, f64::min);
    centres.iter().map(move |centre| (lowest - centre).exp())
}

/// The place of the first greatest.
fn greatest(values: impl Iterator<Item = f64>) -> u32 {
    let mut best = (0, f64::NEG_INFINITY);
    for (place, value) in (0..).zip(values) {
        if value > best.1 {
            best = (place, value);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positive_is_strictly_above_the_threshold() {
        let decision = Decision::at(0.25, Chosen::Given, "");
        assert_eq!([0.0, 0.25, 0.25 + f64::EPSILON, 1.0].map(|p| decision.label(&[p])), [0, 0, 1, 1]);
    }

    #[test]
    fn each_rule_of_many_classes_has_its_own_winner() {
        let p = [0.5, 0.3, 0.2];
        assert_eq!(Decision::Greatest.label(&p), 0);
        // −0.1, 0.1, 0.05
        let thresholds = vec![0.6, 0.2, 0.15];
        assert_eq!(Decision::Thresholds { thresholds, chosen: Chosen::Given, words: String::new() }.label(&p), 1);
        // ln 0.5 − 1 = −1.69, ln 0.3 − 0.5 = −1.70, ln 0.2 + 0.5 = −1.11
        assert_eq!(Decision::Centres { centres: vec![1.0, 0.5, -0.5] }.label(&p), 2);
        assert_eq!(Decision::Greatest.label(&[0.2, 0.4, 0.4]), 1);
    }
}
