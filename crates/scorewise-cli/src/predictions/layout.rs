//! Which columns of a table of predictions are what, decided by their names.

use scorewise_table::table::{Kind, Reading, nearest};
use scorewise_train::{Error, Place, Result};

use super::Columns;
use super::labels::same;

/// The probability of the positive class.
pub const PROBABILITY: &str = "probability";
/// Before the name of a class: its probability, where there are more than two.
pub const PROBABILITY_OF: &str = "probability of ";
/// What the model decides: 1 or 0, or the name of a class.
pub const DECISION: &str = "decision";
/// What happened: 1 or 0, or the name of a class; empty where it is not known.
pub const TRUTH: &str = "truth";
/// The model's threshold.
pub const THRESHOLD: &str = "threshold";
/// The score that the model was trained for.
pub const SCORE: &str = "score";
/// The name of the negative class.
pub const NEGATIVE: &str = "negative";
/// The name of the positive class.
pub const POSITIVE: &str = "positive";
/// Sample weights.
pub const WEIGHT: &str = "weight";

/// What is read of a table, decided by the names of its columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub(super) label: String,
    /// The columns of the forecasts; with more than two classes, one for each class.
    pub(super) probabilities: Vec<String>,
    /// The classes, where there are more than two and none of them was chosen.
    pub(super) classes: Vec<String>,
    /// Whether one of more than two classes was chosen, against all others.
    pub(super) is_one_of_many: bool,
    pub(super) weight: Option<String>,
    /// Whether `predict` wrote the table.
    pub(super) is_ours: bool,
}

impl Layout {
    pub(super) fn new(file: &str, names: &[&str], columns: &Columns, probabilities: &[String]) -> Result<Self> {
        let has = |name: &str| names.contains(&name);
        let fault = |problem: String, hint: String| Error::data(Place::file(file), problem, hint);
        let is_ours = has(DECISION) && has(SCORE);
        let classes: Vec<String> = match is_ours && !has(PROBABILITY) {
            true => names.iter().filter_map(|name| name.strip_prefix(PROBABILITY_OF)).map(str::to_owned).collect(),
            false => Vec::new(),
        };
        let label = match &columns.label {
            Some(label) => label.clone(),
            None if has(TRUTH) => TRUTH.into(),
            None if has(DECISION) => {
                let problem = "has decisions and no column `truth`: what happened is not known".to_string();
                return Err(fault(
                    problem,
                    "predict a table that holds the target, or name the column: --label COLUMN".into(),
                ));
            }
            None if has("label") => "label".into(),
            None => {
                let near = nearest("label", names.iter().copied()).or_else(|| nearest(TRUTH, names.iter().copied()));
                let hint =
                    near.map_or("name it: --label COLUMN".into(), |near| format!("name it: --label \"{near}\"?"));
                return Err(fault("has no column `truth` or `label` that says what happened".into(), hint));
            }
        };
        let mut layout = Layout { label, is_ours, ..Layout::default() };
        layout.weight = columns.weight.clone().or_else(|| (is_ours && has(WEIGHT)).then(|| WEIGHT.into()));
        match (probabilities, &columns.positive) {
            ([_, ..], _) => layout.probabilities = probabilities.to_vec(),
            ([], _) if classes.is_empty() => layout.probabilities = vec![PROBABILITY.into()],
            ([], Some(positive)) => {
                let Some(class) = classes.iter().find(|class| same(class, positive)) else {
                    let all: Vec<String> = classes.iter().map(|class| format!("`{}`", class.escape_debug())).collect();
                    let problem = format!("`{}` is none of its classes", positive.escape_debug());
                    return Err(fault(problem, format!("the classes are {}", all.join(", "))));
                };
                layout.probabilities = vec![format!("{PROBABILITY_OF}{class}")];
                layout.is_one_of_many = true;
            }
            ([], None) => {
                layout.probabilities = classes.iter().map(|class| format!("{PROBABILITY_OF}{class}")).collect();
                layout.classes = classes;
            }
        }
        Ok(layout)
    }

    /// What is to be read, and as what.
    pub(super) fn apply(&self, names: &[&str], reading: &mut Reading) {
        let numbers = self.probabilities.iter().chain(&self.weight).map(String::as_str).chain([THRESHOLD]);
        reading.kinds.extend(numbers.map(|name| (name.to_owned(), Kind::Number)));
        let texts = [SCORE, NEGATIVE, POSITIVE];
        reading.kinds.extend(texts.map(|name| (name.to_owned(), Kind::Category)));
        let mut only = vec![self.label.clone()];
        only.extend(self.probabilities.iter().chain(&self.weight).cloned());
        if self.is_ours {
            only.extend(
                [THRESHOLD, SCORE, NEGATIVE, POSITIVE]
                    .into_iter()
                    .filter(|name| names.contains(name))
                    .map(str::to_owned),
            );
        }
        if !self.classes.is_empty() {
            only.push(DECISION.into());
            reading.kinds.insert(DECISION.into(), Kind::Category);
        }
        if !self.classes.is_empty() || self.is_one_of_many {
            reading.kinds.insert(self.label.clone(), Kind::Category);
        }
        reading.only = Some(only);
    }
}
