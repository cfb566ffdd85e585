//! Reports the tests of conditions with a confidence, such as `precision >= 0.3 with 95%`: which thresholds were shown to satisfy them, and, if none
//! was, how many more events would be needed.

use scorewise::Score;
use scorewise::sweep::{Condition, Guarantee, Sweep};
use serde::{Deserialize, Serialize};

use super::tuning::unmet_conditions;
use crate::number::format_number;

/// The tests of conditions with a confidence, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuaranteeSummary {
    /// The conditions with a confidence, and how each was tested.
    pub conditions: Vec<GuaranteedCondition>,
    /// The intervals of thresholds at which all these conditions were shown to hold for future rows. An interval contains its lower but not its upper
    /// end; if both ends are equal, it is this single threshold.
    pub thresholds: Vec<(f64, f64)>,
    /// How many more events would be needed; `None` if a threshold qualifies, or if more rows like the given ones would not help.
    pub needed: Option<NeededEvents>,
}

/// A condition that must hold for future rows with a given confidence, and how this was tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuaranteedCondition {
    /// The condition, such as `precision >= 0.3 with 95%`.
    pub condition: String,
    /// The confidence, such as 0.95.
    pub confidence: f64,
    /// The test, such as `exact binomial test`.
    pub test: String,
    /// The level of the tests. It is 1 − confidence, divided by the number of conditions with a confidence.
    pub level: f64,
    /// Whether a threshold was shown to satisfy this condition, regardless of the other conditions.
    pub met: bool,
}

/// The numbers of additional events and rows with which the conditions could probably be shown to hold, if the additional rows have the same rates of
/// hits and errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeededEvents {
    /// The number of additional events.
    pub events: f64,
    /// The number of additional rows, of which the additional events are a part.
    pub rows: f64,
    /// The threshold at which the conditions could be shown to hold with these additional rows.
    pub threshold: f64,
}

/// The reason why there is no best threshold.
#[derive(Debug)]
pub struct NoBestThreshold {
    /// The confusion matrices at all thresholds.
    pub sweep: Sweep,
    /// The tests of the conditions with a confidence; `None` if no condition has one.
    pub guarantee: Option<GuaranteeSummary>,
}

impl From<&Guarantee> for GuaranteeSummary {
    /// Converts the result of the tests to the form that is written as JSON.
    fn from(guarantee: &Guarantee) -> Self {
        let conditions = guarantee.tests.iter().map(|test| GuaranteedCondition {
            condition: test.condition.clone(),
            confidence: test.confidence,
            test: test.method.to_string(),
            level: test.level,
            met: test.is_met,
        });
        GuaranteeSummary {
            conditions: conditions.collect(),
            thresholds: guarantee.thresholds.clone(),
            needed: guarantee.needed.map(|needed| NeededEvents {
                events: needed.events,
                rows: needed.rows,
                threshold: needed.threshold,
            }),
        }
    }
}

impl GuaranteeSummary {
    /// How the conditions were tested, in words, such as `exact binomial test at the level 5 %`.
    #[must_use]
    pub fn text(&self) -> String {
        let percent = |share: f64| format_number((1e6 * share).round() / 1e4);
        let test = |tested: &GuaranteedCondition| format!("{} at the level {} %", tested.test, percent(tested.level));
        match self.conditions.as_slice() {
            [only] => test(only),
            several => {
                let texts: Vec<_> =
                    several.iter().map(|tested| format!("{}: {}", tested.condition, test(tested))).collect();
                texts.join("; ")
            }
        }
    }

    /// A sentence for the case that there is no best threshold; `None` if the score is undefined at every threshold. `sweep` holds the confusion
    /// matrices at all thresholds.
    #[must_use]
    pub fn no_best_threshold(&self, sweep: &Sweep, score: &Score, conditions: &[Condition]) -> Option<String> {
        sweep.best(score)?;
        let plain: Vec<Condition> = conditions.iter().map(Condition::without_confidence).collect();
        match sweep.best_subject_to(score, &plain) {
            // No threshold satisfies the conditions even on the given rows, without any confidence.
            None => unmet_conditions(sweep, score, &plain),
            Some(_) => Some(self.unmet()),
        }
    }

    /// A sentence for the case that no threshold was shown to satisfy all conditions, with the number of events that would be needed.
    #[must_use]
    pub fn unmet(&self) -> String {
        let unmet: Vec<_> = self.conditions.iter().filter(|tested| !tested.met).collect();
        let named = if unmet.is_empty() { self.conditions.iter().collect() } else { unmet };
        let texts: Vec<_> = named.iter().map(|tested| format!("`{}`", tested.condition)).collect();
        let head = format!("no threshold was shown to satisfy {} for future rows", texts.join(" and "));
        let plural = |number: f64, one: &str| {
            format!("{} more {one}{}", format_number(number), if number == 1.0 { "" } else { "s" })
        };
        match self.needed {
            Some(NeededEvents { events, rows, threshold }) => format!(
                "{head}; about {} ({} like these) would be needed, with a threshold near {}",
                plural(events, "event"),
                plural(rows, "row"),
                format_number(threshold)
            ),
            None => format!("{head}, and more rows like these would not help"),
        }
    }
}

impl NoBestThreshold {
    /// A sentence that says which conditions cannot be met; `None` if the score is undefined at every threshold.
    #[must_use]
    pub fn sentence(&self, score: &Score, conditions: &[Condition]) -> Option<String> {
        match &self.guarantee {
            Some(guarantee) => guarantee.no_best_threshold(&self.sweep, score, conditions),
            None => unmet_conditions(&self.sweep, score, conditions),
        }
    }
}
