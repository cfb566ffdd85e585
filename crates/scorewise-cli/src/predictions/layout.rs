//! Recognises the columns of a table of predictions by their names.

use scorewise_table::table::{ColumnKind, Reading, nearest};
use scorewise_train::{Error, Location, Result};

use super::PredictionColumns;
use super::labels::is_same_label;

/// Name of the column with the probability of the positive class.
pub const PROBABILITY: &str = "probability";
/// With more than two classes, each class has a column of probabilities. The name of the column is this text followed by the name of the class.
pub const PROBABILITY_OF: &str = "probability of ";
/// Name of the column with the predicted class: 1 or 0, or the name of the class.
pub const DECISION: &str = "decision";
/// Name of the column with the true class: 1 or 0, or the name of the class; the cell is empty if the true class is unknown.
pub const TRUTH: &str = "truth";
/// Name of the column with the model's threshold.
pub const THRESHOLD: &str = "threshold";
/// Name of the column with the score that the model was trained for.
pub const SCORE: &str = "score";
/// Name of the column with the name of the negative class.
pub const NEGATIVE: &str = "negative";
/// Name of the column with the name of the positive class.
pub const POSITIVE: &str = "positive";
/// Name of the column with sample weights.
pub const WEIGHT: &str = "weight";

/// Name of the column with the raw prediction, before the calibration; only if the model has a calibration.
pub const RAW: &str = "raw";
/// Name of the column with the threshold on the scale of raw predictions; only if the model has a calibration.
pub const RAW_THRESHOLD: &str = "raw_threshold";

/// The columns to read from a table of predictions.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The name of the column of the true class.
    pub(super) label: String,
    /// The names of the probability columns: one for each forecast, or one for each class when there are more than two.
    pub(super) probabilities: Vec<String>,
    /// The names of the classes, if there are more than two and `--positive` does not select one of them; otherwise empty.
    pub(super) classes: Vec<String>,
    /// Whether `--positive` selects one of more than two classes.
    pub(super) is_one_versus_rest: bool,
    pub(super) weight: Option<String>,
    /// The column of the groups that are resampled.
    pub(super) group: Option<String>,
    /// The costs of false alarms and of misses; `None` if errors have no costs.
    pub(super) costs: Option<[CostSource; 2]>,
    /// Whether the table was written by `scorewise predict` or `scorewise train --out-of-fold`, judged by its columns `decision` and `score`.
    pub(super) is_from_predict: bool,
}

/// Where the cost of an error comes from.
#[derive(Clone, Debug)]
pub(super) enum CostSource {
    /// A column of the table.
    Column(String),
    /// A number that is the same for all rows.
    Number(f64),
}

impl CostSource {
    /// A number if `text` is a number and no column has this name; otherwise the column called `text`. `names` are the columns of the table.
    fn new(text: &str, names: &[&str]) -> Self {
        match text.trim().parse::<f64>() {
            Ok(number) if !names.contains(&text) => CostSource::Number(number),
            _ => CostSource::Column(text.to_owned()),
        }
    }

    /// The name of the column; `None` for a number.
    pub(super) fn column(&self) -> Option<&String> {
        match self {
            CostSource::Column(name) => Some(name),
            CostSource::Number(_) => None,
        }
    }
}

impl Layout {
    /// The names of the columns of costs.
    fn cost_columns(&self) -> impl Iterator<Item = &String> {
        self.costs.iter().flatten().filter_map(CostSource::column)
    }

    /// Chooses the columns from the names of a table's columns and the user's options.
    pub(super) fn new(
        file: &str,
        names: &[&str],
        columns: &PredictionColumns,
        probabilities: &[String],
    ) -> Result<Self> {
        let has = |name: &str| names.contains(&name);
        let data_error = |problem: String, hint: String| Error::data(Location::file(file), problem, hint);
        let is_from_predict = has(DECISION) && has(SCORE);
        let classes: Vec<String> = match is_from_predict && !has(PROBABILITY) {
            true => names.iter().filter_map(|name| name.strip_prefix(PROBABILITY_OF)).map(str::to_owned).collect(),
            false => Vec::new(),
        };
        let label = match &columns.label {
            Some(label) => label.clone(),
            None if has(TRUTH) => TRUTH.into(),
            None if has(DECISION) => {
                let problem =
                    "has a column `decision` but no column `truth`, so the true classes are unknown".to_string();
                return Err(data_error(
                    problem,
                    "run `scorewise predict` on a table that has the target, or name the column of true classes: --label COLUMN".into(),
                ));
            }
            None if has("label") => "label".into(),
            None => {
                let near = nearest("label", names.iter().copied()).or_else(|| nearest(TRUTH, names.iter().copied()));
                let hint = near.map_or("name the column of true classes: --label COLUMN".into(), |near| {
                    format!("name the column of true classes; did you mean --label \"{near}\"?")
                });
                return Err(data_error("has no column `truth` or `label`".into(), hint));
            }
        };
        let group = columns.group.clone();
        let costs = columns.costs.as_ref().map(|texts| texts.each_ref().map(|text| CostSource::new(text, names)));
        let mut layout = Layout { label, group, costs, is_from_predict, ..Layout::default() };
        layout.weight = columns.weight.clone().or_else(|| (is_from_predict && has(WEIGHT)).then(|| WEIGHT.into()));
        match (probabilities, &columns.positive) {
            ([_, ..], _) => layout.probabilities = probabilities.to_vec(),
            ([], _) if classes.is_empty() => layout.probabilities = vec![PROBABILITY.into()],
            ([], Some(positive)) => {
                let Some(class) = classes.iter().find(|class| is_same_label(class, positive)) else {
                    let names: Vec<String> =
                        classes.iter().map(|class| format!("`{}`", class.escape_debug())).collect();
                    let problem = format!("`{}` is not one of the classes in this table", positive.escape_debug());
                    return Err(data_error(problem, format!("the classes are {}", names.join(", "))));
                };
                layout.probabilities = vec![format!("{PROBABILITY_OF}{class}")];
                layout.is_one_versus_rest = true;
            }
            ([], None) => {
                layout.probabilities = classes.iter().map(|class| format!("{PROBABILITY_OF}{class}")).collect();
                layout.classes = classes;
            }
        }
        Ok(layout)
    }

    /// Restricts `reading` to the columns of this layout and sets their column types.
    pub(super) fn configure_reading(&self, names: &[&str], reading: &mut Reading) {
        let numbers = self
            .probabilities
            .iter()
            .chain(&self.weight)
            .chain(self.cost_columns())
            .map(String::as_str)
            .chain([THRESHOLD, RAW_THRESHOLD]);
        reading.kinds.extend(numbers.map(|name| (name.to_owned(), ColumnKind::Number)));
        let strings = [SCORE, NEGATIVE, POSITIVE];
        reading.kinds.extend(strings.map(|name| (name.to_owned(), ColumnKind::Category)));
        let mut only = vec![self.label.clone()];
        only.extend(
            self.probabilities.iter().chain(&self.weight).chain(&self.group).chain(self.cost_columns()).cloned(),
        );
        if self.is_from_predict {
            only.extend(
                [THRESHOLD, RAW_THRESHOLD, SCORE, NEGATIVE, POSITIVE]
                    .into_iter()
                    .filter(|name| names.contains(name))
                    .map(str::to_owned),
            );
        }
        if !self.classes.is_empty() {
            only.push(DECISION.into());
            reading.kinds.insert(DECISION.into(), ColumnKind::Category);
        }
        if !self.classes.is_empty() || self.is_one_versus_rest {
            reading.kinds.insert(self.label.clone(), ColumnKind::Category);
        }
        reading.only = Some(only);
    }
}
