//! Scores. A score consists of a formula, from the registry or written by the user, and of a direction, which says which values are better.

pub mod registry;
mod convention;
mod direction;
mod document;

use std::fmt;

pub use convention::Convention;
use direction::{ImprovementEffect, effect_of_improvement};
pub use document::{markdown, no_skill};
pub use registry::{Direction, Parameter, REGISTRY, RegistryEntry};

use crate::confusion::Confusion;
use crate::formula::{Dual, Formula, FormulaError, Interval, Number, Reduced, Shape, nearest_name};

/// A score: a formula and a [`Direction`], which says which values are better.
///
/// ```
/// use scorewise::{Confusion, Direction, Score};
///
/// let finley = Confusion::new(2680.0, 72.0, 23.0, 28.0);
/// let heidke = Score::parse("heidke")?; // aliases are accepted; `name` returns the registered name
/// assert_eq!((heidke.name(), heidke.row().unwrap().range), ("hss", (-1.0, 1.0)));
/// assert_eq!(Score::parse("balanced-accuracy")?.name(), "balanced_accuracy");
/// assert_eq!(Score::parse("far")?.direction(), Direction::Lower);
/// assert_eq!(Score::parse("cost(fp=1, fn=10)")?.value(&finley), (72.0 + 230.0) / 2803.0);
/// assert_eq!(Score::parse("fp + 10*fn")?.direction(), Direction::Lower); // its value falls when forecasts improve
/// // A division by zero gives 0 in a loss; in a report the score is undefined (`None`).
/// let no_alarms = Confusion::new(990.0, 0.0, 10.0, 0.0);
/// assert_eq!(Score::parse("precision")?.value(&no_alarms), 0.0);
/// assert_eq!(Score::parse("precision")?.checked(&no_alarms), None);
/// # Ok::<(), scorewise::FormulaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    name: String,
    formula: Formula,
    row: Option<&'static RegistryEntry>,
    direction: Direction,
    shape: Shape,
}

impl Score {
    /// Parses a registered name or alias, with parameters if the score has any, or any formula. The direction of a formula is
    /// derived from its derivatives; see [`Score::direction`].
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let trimmed = text.trim();
        // If the whole text is the name of a score, a hyphen or a dot in it is read as an underscore: balanced-accuracy, f0.5.
        let (head, arguments) = match trimmed.find('(') {
            Some(open) if is_single_call(trimmed, open) => trimmed.split_at(open),
            _ => (trimmed, ""),
        };
        let name = head.trim_end().to_ascii_lowercase().replace(['-', '.'], "_");
        let (row, formula) = match registry::row(&name) {
            Some(row) => (
                Some(row),
                Formula::parse(&format!("{}{arguments}", row.name))
                    .map_err(|error| error_in_original_text(trimmed, error))?,
            ),
            None => (None, Formula::parse(text).map_err(|error| error_with_suggestion(trimmed, &name, error))?),
        };
        let name = match row {
            Some(row) => format!("{}{arguments}", row.name),
            None => trimmed.to_string(),
        };
        let shape = formula.shape();
        let direction = match row {
            Some(row) => row.direction,
            None if effect_of_improvement(&formula) == ImprovementEffect::Decreases => Direction::Lower,
            None => Direction::Higher,
        };
        Ok(Score { name, formula, row, direction, shape })
    }

    /// The same score, but with the given direction instead of its own.
    pub(crate) fn with_direction(self, direction: Direction) -> Self {
        Score { direction, ..self }
    }

    /// The same score under another name.
    pub(crate) fn with_name(self, name: &str) -> Self {
        Score { name: name.to_owned(), ..self }
    }

    /// Every registered score without mandatory parameters, in the order of the registry.
    pub fn all() -> impl Iterator<Item = Score> {
        REGISTRY
            .iter()
            .filter(|row| row.parameters.iter().all(|parameter| parameter.default.is_some()))
            .filter_map(|row| Score::parse(row.name).ok())
    }

    /// The score of a registry entry. Its mandatory parameters are set to 0.1. `None` if the score cannot be parsed.
    #[must_use]
    pub fn example(row: &RegistryEntry) -> Option<Score> {
        let needed = row.parameters.iter().filter(|parameter| parameter.default.is_none());
        let values: Vec<_> = needed.map(|parameter| format!("{}=0.1", parameter.name)).collect();
        let arguments = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
        Score::parse(&format!("{}{arguments}", row.name)).ok()
    }

    /// The registered name of the score, followed by its parameters as the user wrote them. For a user's formula, the text of the formula.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The registry entry of the score; `None` for a formula written by the user.
    #[must_use]
    pub fn row(&self) -> Option<&'static RegistryEntry> {
        self.row
    }

    /// The formula of the score.
    #[must_use]
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// Which values are better: higher values, lower values, or values nearer to an ideal value. For registered scores the registry says this.
    /// For a user's formula, lower is better if its value never rises and sometimes falls as forecasts improve (fewer false alarms for the same
    /// number of negatives, fewer misses for the same number of positives). For all other formulas of users, higher is better.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// A warning about the direction of a user's formula, for users who train with it or tune a threshold for it. `None` if the formula rises
    /// when forecasts improve, and for registered scores, whose direction is declared.
    #[must_use]
    pub fn caution(&self) -> Option<String> {
        if self.row.is_some() {
            return None;
        }
        let name = &self.name;
        match effect_of_improvement(&self.formula) {
            ImprovementEffect::Increases => None,
            ImprovementEffect::Decreases => Some(format!(
                "`{name}` falls when forecasts improve: lower values are better, so the formula is minimised"
            )),
            ImprovementEffect::Mixed => Some(format!(
                "`{name}` rises with some improvements of a forecast and falls with others: higher values are taken as better; \
                 write `-({name})` if lower values are better"
            )),
            ImprovementEffect::Constant => {
                Some(format!("`{name}` is the same for every forecast: no threshold is better than another"))
            }
        }
    }

    /// The form of the score as a function of (tp, fp) at fixed class counts: linear, linear-fractional or neither. It is derived from the formula.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The value of the score as a loss uses it, with undefined results such as x/0 replaced by 0.
    #[must_use]
    pub fn value(&self, confusion: &Confusion) -> f64 {
        self.formula.value(confusion)
    }

    /// The value of the score as a report shows it; `None` if the score is undefined for this matrix.
    #[must_use]
    pub fn checked(&self, confusion: &Confusion) -> Option<f64> {
        self.formula.checked(confusion)
    }

    /// Converts a value of the score to a scale on which higher is always better: the value itself if higher is better, its negative if lower is
    /// better, minus its distance from the ideal if there is an ideal value.
    #[must_use]
    pub fn oriented_value(&self, value: f64) -> f64 {
        match self.direction() {
            Direction::Higher => value,
            Direction::Lower => -value,
            Direction::Toward(ideal) => -(value - ideal).abs(),
        }
    }

    /// The highest [`oriented_value`](Score::oriented_value) of any value in the interval.
    pub(crate) fn oriented_bound(&self, value: Interval) -> f64 {
        match self.direction() {
            Direction::Higher => value.high,
            Direction::Lower => -value.low,
            Direction::Toward(ideal) if value.low <= ideal && ideal <= value.high => 0.0,
            Direction::Toward(_) => self.oriented_value(value.low).max(self.oriented_value(value.high)),
        }
    }

    /// The loss of a value s of the score: 1 − s if higher is better, s if lower is better, |s − ideal| if there is an ideal value.
    #[must_use]
    pub fn loss(&self, value: f64) -> f64 {
        self.loss_of(value)
    }

    /// Same as [`Score::loss`], but for any [`Number`] type.
    pub(crate) fn loss_of<T: Number>(&self, value: T) -> T {
        match self.direction() {
            Direction::Higher => T::constant(1.0).minus(value),
            Direction::Lower => value,
            Direction::Toward(ideal) => value.minus(T::constant(ideal)).abs(),
        }
    }

    /// The loss of a confusion matrix and its derivatives with respect to tp and fp at fixed class counts, for any [`Number`] type. A framework
    /// uses this method to compute the loss on its own tensors. If the total weight of a class is 0, the caller must ignore the derivative for
    /// this class: it is not set to 0.
    #[must_use]
    pub fn reduced_loss<T: Number>(&self, tn: T, fp: T, fn_: T, tp: T, positives: T, negatives: T) -> Reduced<T> {
        let score = self.formula.reduced_with(tn, fp, fn_, tp, positives, negatives);
        let loss = self.loss_of(Dual::new(score.value, [score.positive, score.negative]));
        Reduced { value: loss.value, positive: loss.derivatives[0], negative: loss.derivatives[1] }
    }

    /// The derivative of the loss with respect to the value of the score.
    #[must_use]
    pub fn loss_derivative(&self, value: f64) -> f64 {
        match self.direction() {
            Direction::Higher => -1.0,
            Direction::Lower => 1.0,
            // At the ideal value the derivative is 0, the mean of the one-sided derivatives −1 and 1.
            Direction::Toward(ideal) => (f64::from(value > ideal)) - f64::from(value < ideal),
        }
    }
}

/// Whether the bracket at `open` is closed by the last character and not before, so that the text is a single call such as `fbeta(2)`.
pub(crate) fn is_single_call(text: &str, open: usize) -> bool {
    let mut depth = 0usize;
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1 == text.len();
        }
    }
    false
}

/// Moves the marked position of a parse error from the text with the registered name of a score to `text`, which the user wrote, perhaps with an
/// alias. For this, `text` is parsed as well. If this gives no error or an error with another message, `error` is returned unchanged.
fn error_in_original_text(text: &str, error: FormulaError) -> FormulaError {
    match Formula::parse(text) {
        Err(original) if original.message() == error.message() => original,
        _ => error,
    }
}

/// Adds a suggestion to the error if the text is a single hyphenated word, which was probably meant as a name and not as a difference.
fn error_with_suggestion(text: &str, name: &str, error: FormulaError) -> FormulaError {
    let is_word = text.contains('-') && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    match nearest_name(name) {
        Some(known) if is_word => error.with_hint(format!("did you mean `{known}`?")),
        _ => error,
    }
}

impl fmt::Display for Score {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

impl std::str::FromStr for Score {
    type Err = FormulaError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Score::parse(text)
    }
}
