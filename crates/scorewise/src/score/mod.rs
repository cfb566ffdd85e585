//! SCORE: what a forecast is judged by, a registered line or a formula of one's own.

pub mod registry;
mod convention;
mod direction;
mod document;

use std::fmt;

pub use convention::Convention;
use direction::{Improvement, improvement};
pub use document::{markdown, no_skill};
pub use registry::{Direction, Parameter, ROWS, Row};

use crate::confusion::Confusion;
use crate::formula::{Dual, Formula, FormulaError, Interval, Number, Reduced, Shape, nearest_name};

/// A score: a formula, and which way is better.
///
/// ```
/// use scorewise::{Confusion, Direction, Score};
///
/// let finley = Confusion::new(2680.0, 72.0, 23.0, 28.0);
/// let heidke = Score::parse("heidke")?; // an alias is read, never printed
/// assert_eq!((heidke.name(), heidke.row().unwrap().range), ("hss", (-1.0, 1.0)));
/// assert_eq!(Score::parse("balanced-accuracy")?.name(), "balanced_accuracy");
/// assert_eq!(Score::parse("far")?.direction(), Direction::Lower);
/// assert_eq!(Score::parse("cost(fp=1, fn=10)")?.value(&finley), (72.0 + 230.0) / 2803.0);
/// assert_eq!(Score::parse("fp + 10*fn")?.direction(), Direction::Lower); // it falls when forecasts improve
/// // A loss needs a number, a report the truth.
/// let silent = Confusion::new(990.0, 0.0, 10.0, 0.0);
/// assert_eq!(Score::parse("precision")?.value(&silent), 0.0);
/// assert_eq!(Score::parse("precision")?.checked(&silent), None);
/// # Ok::<(), scorewise::FormulaError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    name: String,
    formula: Formula,
    row: Option<&'static Row>,
    direction: Direction,
    shape: Shape,
}

impl Score {
    /// A registered name or alias, with parameters where it takes them, or any formula. Which way is better is found from the slopes of
    /// a formula; see [`Score::direction`].
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let trimmed = text.trim();
        // Where the whole text is a name, a hyphen or a point stands for the underscore: balanced-accuracy, f0.5.
        let (head, arguments) = match trimmed.find('(') {
            Some(open) if whole_call(trimmed, open) => trimmed.split_at(open),
            _ => (trimmed, ""),
        };
        let name = head.trim_end().to_ascii_lowercase().replace(['-', '.'], "_");
        let (row, formula) = match registry::row(&name) {
            Some(row) => (
                Some(row),
                Formula::parse(&format!("{}{arguments}", row.name)).map_err(|fault| restated(trimmed, fault))?,
            ),
            None => (None, Formula::parse(text).map_err(|fault| suggest(trimmed, &name, fault))?),
        };
        let name = match row {
            Some(row) => format!("{}{arguments}", row.name),
            None => trimmed.to_string(),
        };
        let shape = formula.shape();
        let direction = match row {
            Some(row) => row.direction,
            None if improvement(&formula) == Improvement::Lowers => Direction::Lower,
            None => Direction::Higher,
        };
        Ok(Score { name, formula, row, direction, shape })
    }

    /// Every registered score that needs no further number, in the registry's order.
    pub fn all() -> impl Iterator<Item = Score> {
        ROWS.iter()
            .filter(|row| row.parameters.iter().all(|parameter| parameter.default.is_some()))
            .filter_map(|row| Score::parse(row.name).ok())
    }

    /// A line of the registry as a score; a parameter without a default stands at 0.1.
    #[must_use]
    pub fn example(row: &Row) -> Option<Score> {
        let needed = row.parameters.iter().filter(|parameter| parameter.default.is_none());
        let values: Vec<_> = needed.map(|parameter| format!("{}=0.1", parameter.name)).collect();
        let arguments = if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
        Score::parse(&format!("{}{arguments}", row.name)).ok()
    }

    /// The registry's name with the given parameters, or the formula as it was written.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line of the registry, where this is a registered score.
    #[must_use]
    pub fn row(&self) -> Option<&'static Row> {
        self.row
    }

    /// The formula.
    #[must_use]
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// Which way is better. A formula of one's own that better forecasts lower and never raise (fewer false alarms at the same number of
    /// negatives, fewer misses at the same number of positives) is a cost, and lower is better; higher is for every other.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// What somebody who trains for this score, or tunes a threshold by it, should know about its direction; nothing where it is as one would
    /// expect. Only for formulas of one's own: registered scores say which way is better.
    #[must_use]
    pub fn caution(&self) -> Option<String> {
        if self.row.is_some() {
            return None;
        }
        let name = &self.name;
        match improvement(&self.formula) {
            Improvement::Raises => None,
            Improvement::Lowers => {
                Some(format!("`{name}` falls when forecasts improve: lower is better, and it is minimised"))
            }
            Improvement::Either => Some(format!(
                "`{name}` rises with some improvements of a forecast and falls with others: higher is taken as better; \
                 write `-({name})` if lower is"
            )),
            Improvement::Nothing => {
                Some(format!("`{name}` is the same for every forecast: no threshold is better than another"))
            }
        }
    }

    /// Linear, linear-fractional or neither in the matrix at fixed class counts, as derived from the formula.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The value as a loss takes it: x/0 := 0.
    #[must_use]
    pub fn value(&self, confusion: &Confusion) -> f64 {
        self.formula.value(confusion)
    }

    /// The value as a report shows it: nothing where it is undefined.
    #[must_use]
    pub fn checked(&self, confusion: &Confusion) -> Option<f64> {
        self.formula.checked(confusion)
    }

    /// How good a value is, higher always better: the value, its negative, or minus its distance from the ideal.
    #[must_use]
    pub fn merit(&self, value: f64) -> f64 {
        match self.direction() {
            Direction::Higher => value,
            Direction::Lower => -value,
            Direction::Toward(ideal) => -(value - ideal).abs(),
        }
    }

    /// The highest merit that a value in this interval can have.
    pub(crate) fn merit_bound(&self, value: Interval) -> f64 {
        match self.direction() {
            Direction::Higher => value.high,
            Direction::Lower => -value.low,
            Direction::Toward(ideal) if value.low <= ideal && ideal <= value.high => 0.0,
            Direction::Toward(_) => self.merit(value.low).max(self.merit(value.high)),
        }
    }

    /// The loss of a value: 1 − s where higher is better, s where lower is, |s − ideal| where a value is aimed at.
    #[must_use]
    pub fn loss(&self, value: f64) -> f64 {
        self.loss_of(value)
    }

    /// The same over numbers of any kind.
    pub(crate) fn loss_of<T: Number>(&self, value: T) -> T {
        match self.direction() {
            Direction::Higher => T::constant(1.0).minus(value),
            Direction::Lower => value,
            Direction::Toward(ideal) => value.minus(T::constant(ideal)).abs(),
        }
    }

    /// The loss of a matrix with its slopes at fixed class counts, over numbers of any kind: what a framework needs to compute a loss
    /// on tensors of its own. The slopes are as the calculus gives them; a class without weight moves nothing, whatever its slope says.
    #[must_use]
    pub fn reduced_loss<T: Number>(&self, tn: T, fp: T, fn_: T, tp: T, positives: T, negatives: T) -> Reduced<T> {
        let score = self.formula.reduced_with(tn, fp, fn_, tp, positives, negatives);
        let loss = self.loss_of(Dual::new(score.value, [score.positive, score.negative]));
        Reduced { value: loss.value, positive: loss.slopes[0], negative: loss.slopes[1] }
    }

    /// d loss / d value.
    #[must_use]
    pub fn loss_slope(&self, value: f64) -> f64 {
        match self.direction() {
            Direction::Higher => -1.0,
            Direction::Lower => 1.0,
            // At the ideal itself the two sides cancel.
            Direction::Toward(ideal) => (f64::from(value > ideal)) - f64::from(value < ideal),
        }
    }
}

/// Whether the bracket opened here is closed by the last character and by none before: a call and nothing else.
pub(crate) fn whole_call(text: &str, open: usize) -> bool {
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

/// A fault found in the registry's spelling, shown on the text as it was written where its columns agree.
fn restated(text: &str, fault: FormulaError) -> FormulaError {
    match Formula::parse(text) {
        Err(own) if own.message() == fault.message() => own,
        _ => fault,
    }
}

/// A text that is one hyphenated word was meant as a name: suggest a name, not the difference of two.
fn suggest(text: &str, name: &str, fault: FormulaError) -> FormulaError {
    let is_word = text.contains('-') && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    match nearest_name(name) {
        Some(known) if is_word => fault.hint(format!("did you mean `{known}`?")),
        _ => fault,
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
