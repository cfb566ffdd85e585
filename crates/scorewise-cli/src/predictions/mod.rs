//! Reading of tables of predictions, chunk by chunk: labels, probabilities and optional weights.
//!
//! The columns of tables written by `predict` have fixed names (see `layout`), so the truth, threshold, score, classes and weights are found
//! without options. The column `decision` is never read as the truth.

mod labels;
mod layout;
mod floats;
mod output;

use std::collections::HashMap;

use crate::formatting::count_text;
use crate::outcome::{Failure, note};
use scorewise::Score;
use scorewise::multiclass::MultiScore;
use scorewise_report::document::DataSource;
use scorewise_report::evaluation::{FloatColumn, class_predictions_data, predictions_data, unnamed_classes};
use scorewise_table::names::missing_columns;
use scorewise_table::spreadsheet::unescape_formula;
use scorewise_table::table::{Category, Column, Reader, Reading, Source, Table, Values};
use scorewise_train::plan::multi_score;
use scorewise_train::{Error, Location, Result};

pub use floats::FloatValues;
use floats::checked_values;
use labels::LabelParser;
use layout::{CostSource, Layout};
pub use layout::{
    DECISION, NEGATIVE, POSITIVE, PROBABILITY, PROBABILITY_OF, RAW, RAW_THRESHOLD, SCORE, THRESHOLD, TRUTH, WEIGHT,
};
pub use output::{PredictedRows, file_metadata};

/// Options that name the columns of a table of predictions.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct PredictionColumns {
    /// Column of the true labels, 0 and 1 or true and false [default: truth, else label]
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// Label that counts as positive, if labels are not 0 and 1 or true and false; with more than two classes, the class to evaluate against the
    /// others
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub positive: Option<String>,
    /// Column of sample weights, 0 or above [default: the column weight of a table that predict has written, else 1 for every row]
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
    /// Column of the groups that are resampled; set by the option `--resample` of the command
    #[arg(skip)]
    pub group: Option<String>,
    /// Cost of a false alarm and cost of a miss, each the name of a column or a number; set by the options `--cost-fp` and `--cost-fn` of the command
    #[arg(skip)]
    pub costs: Option<[String; 2]>,
}

/// Arguments that name a table with one forecast, for `score`, `tune` and `theory`.
#[derive(clap::Args)]
pub struct ForecastArguments {
    /// Table with a label and a probability in each row; - for standard input
    pub predictions: String,
    #[command(flatten)]
    pub columns: PredictionColumns,
    /// Column of the probabilities [default: probability]
    #[arg(long, value_name = "COLUMN")]
    pub probability: Option<String>,
}

/// A table of predictions for two or more classes.
#[derive(Debug)]
pub enum PredictionTable {
    /// Predictions for two classes.
    Binary(BinaryPredictions),
    /// Predictions for more than two classes.
    Classes(ClassPredictions),
}

impl ForecastArguments {
    /// Reads the table, and the columns of groups and of costs if they are given.
    pub fn read(&self, group: Option<&str>, costs: Option<[String; 2]>) -> Result<PredictionTable> {
        let columns = PredictionColumns { group: group.map(str::to_owned), costs, ..self.columns.clone() };
        read(&self.predictions, &columns, self.probability.as_slice())
    }

    /// Reads a table with two classes. Returns an error with a hint on how to select one class if there are more than two.
    pub fn read_binary(&self) -> Result<BinaryPredictions> {
        self.read(None, None)?.into_binary()
    }
}

impl PredictionTable {
    /// The predictions for two classes, or an error with a hint on how to select one class if there are more than two.
    pub fn into_binary(self) -> Result<BinaryPredictions> {
        match self {
            PredictionTable::Binary(predictions) => Ok(predictions),
            PredictionTable::Classes(predictions) => {
                let problem = format!("has predictions for {} classes", predictions.classes.len());
                let example = predictions.classes.first().map_or("CLASS", String::as_str);
                let hint = format!("select one class against all others: --positive \"{}\"", example.escape_debug());
                Err(Error::data(Location::file(&predictions.file), problem, hint))
            }
        }
    }
}

/// One or more forecasts of two classes for the same rows, with labels and optional weights.
#[derive(Debug)]
pub struct BinaryPredictions {
    /// The name of the file as the user wrote it.
    pub file: String,
    /// The true labels.
    pub labels: Vec<bool>,
    /// Probabilities of the positive class: one list for each forecast, in the order given on the command line.
    pub forecasts: Vec<FloatValues>,
    /// For each forecast, the threshold of the model that made it, if the table contains it; otherwise `None`. Only forecasts in the columns
    /// `probability` and `raw` have a threshold, because the model's thresholds were chosen for these columns.
    pub thresholds: Vec<Option<f64>>,
    /// Sample weights, one for each row; `None` if the table has no weights.
    pub weights: Option<FloatValues>,
    /// The number of the group of each row; `None` unless groups are resampled.
    pub groups: Option<Vec<u32>>,
    /// The costs of a false alarm and of a miss in each row; `None` if errors have no costs. A cost that cannot be paid, such as that of a miss in a
    /// negative row, may be missing (NaN).
    pub costs: Option<[Vec<f64>; 2]>,
    /// The score and the class names of the model that made the predictions, as far as the table names them.
    pub model: SourceModel,
}

/// What a table of predictions says about the model that made them; a field is `None` if the table does not say it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceModel {
    /// The name or formula of the score that the model was trained for; `None` if the table does not say it.
    pub score: Option<String>,
    /// Names of the negative and the positive class; `None` if the table does not say them.
    pub classes: Option<[String; 2]>,
}

/// Predictions for more than two classes, with labels and optional weights.
#[derive(Debug)]
pub struct ClassPredictions {
    /// The name of the file as the user wrote it.
    pub file: String,
    /// The names of the classes, in the order of their probability columns.
    pub classes: Vec<String>,
    /// The true class of each row, as an index into `classes`.
    pub labels: Vec<u32>,
    /// The predicted class of each row, as an index into `classes`.
    pub decisions: Vec<u32>,
    /// Probabilities: one list for each class, with one value for each row.
    pub probabilities: Vec<Vec<f64>>,
    /// Sample weights, one for each row; `None` if the table has no weights.
    pub weights: Option<Vec<f64>>,
    /// The number of the group of each row; `None` unless groups are resampled.
    pub groups: Option<Vec<u32>>,
    /// The name or formula of the score that the model was trained for; `None` if the table does not say it.
    pub score: Option<String>,
}

/// Evaluates `$body`, in which `$rows` stands for the rows of the forecast with index `$forecast`. It works for forecasts of f32 and for forecasts of
/// f64.
macro_rules! with_rows {
    ($predictions:expr, $forecast:expr, $rows:ident => $body:expr) => {{
        use $crate::predictions::FloatValues;
        let predictions: &$crate::predictions::BinaryPredictions = $predictions;
        let labels = &predictions.labels;
        match &predictions.forecasts[$forecast] {
            FloatValues::F32(values) => {
                let $rows = scorewise::Rows::new(scorewise::Probabilities(values.as_slice()), labels)?;
                let $rows = match &predictions.weights {
                    Some(FloatValues::F32(weights)) => $rows.weighted(weights)?,
                    _ => $rows,
                };
                $body
            }
            FloatValues::F64(values) => {
                let $rows = scorewise::Rows::new(scorewise::Probabilities(values.as_slice()), labels)?;
                let $rows = match &predictions.weights {
                    Some(FloatValues::F64(weights)) => $rows.weighted(weights)?,
                    _ => $rows,
                };
                $body
            }
        }
    }};
}
pub(crate) use with_rows;

/// The value of a column in which all rows should have the same value.
#[derive(Clone, Debug, Default, PartialEq)]
enum ColumnConstant<T> {
    /// No row read so far has a value.
    #[default]
    Absent,
    /// All rows read so far have this value.
    Constant(T),
    /// Two rows have these two different values.
    Different(T, T),
}

impl<T: Clone + PartialEq> ColumnConstant<T> {
    /// Takes the value of another row into account.
    fn add(&mut self, value: T) {
        match self {
            ColumnConstant::Absent => *self = ColumnConstant::Constant(value),
            ColumnConstant::Constant(known) if *known != value => {
                *self = ColumnConstant::Different(known.clone(), value);
            }
            _ => {}
        }
    }

    /// The value of all rows; `None` if no row has a value or if rows have different values.
    fn value(self) -> Option<T> {
        match self {
            ColumnConstant::Constant(value) => Some(value),
            _ => None,
        }
    }
}

/// Passes the strings in the column `name` to `constant`, which notices if they differ; does nothing if the table has no such column.
fn record_column_values(table: &Table, name: &str, constant: &mut ColumnConstant<String>) {
    if let Some(Column { values: Values::Category(Category { codes, levels }), .. }) = table.column(name) {
        let mut last = None;
        for code in codes {
            if last != Some(*code) {
                last = Some(*code);
                levels.get(*code as usize).into_iter().for_each(|text| constant.add(unescape_formula(text).to_owned()));
            }
        }
    }
}

/// The score for evaluating one class against all others. `text` is the score of the model. A score for two classes is used unchanged. An
/// average over the classes, such as `macro(f1)`, is replaced by the score that it averages, here `f1`. Any other score is replaced by F1.
pub fn one_versus_rest_score(text: &str) -> std::result::Result<Score, Failure> {
    match Score::parse(text) {
        Ok(score) => Ok(score),
        Err(_) => match multi_score(text)? {
            MultiScore::Classwise(_, score) => Ok(score),
            _ => Ok(Score::parse("f1")?),
        },
    }
}

/// Reads labels, forecasts and weights. `probabilities` names the probability columns; if it is empty, the columns with the
/// names that `scorewise predict` writes are read. With two classes, forecasts and weights are either all f32 or all f64.
pub fn read(file: &str, columns: &PredictionColumns, probabilities: &[String]) -> Result<PredictionTable> {
    let source = Source::parse(file);
    let name = source.name();
    let layout = std::cell::RefCell::new(Layout::default());
    let reader = Reader::open_with(&source, &Reading::default(), &|names, reading| {
        let chosen = Layout::new(&name, names, columns, probabilities)?;
        chosen.configure_reading(names, reading);
        *layout.borrow_mut() = chosen;
        Ok(())
    })?;
    let layout = layout.into_inner();
    if layout.classes.is_empty() {
        read_two_classes(name, reader, columns, &layout).map(PredictionTable::Binary)
    } else {
        read_many_classes(name, reader, &layout).map(PredictionTable::Classes)
    }
}

/// Reads predictions for two classes.
fn read_two_classes(
    name: String,
    reader: Reader,
    columns: &PredictionColumns,
    layout: &Layout,
) -> Result<BinaryPredictions> {
    let (mut threshold, mut raw_threshold) = (ColumnConstant::default(), ColumnConstant::default());
    let mut score = ColumnConstant::default();
    let (mut negative, mut positive) = (ColumnConstant::default(), ColumnConstant::default());
    let mut label_parser: Option<LabelParser> = None;
    let mut predictions = BinaryPredictions {
        file: name,
        labels: Vec::new(),
        forecasts: vec![FloatValues::default(); layout.probabilities.len()],
        thresholds: Vec::new(),
        weights: layout.weight.as_ref().map(|_| FloatValues::default()),
        groups: None,
        costs: layout.costs.as_ref().map(|_| Default::default()),
        model: SourceModel::default(),
    };
    let mut unlabelled = 0;
    let mut groups = GroupNumbers::default();
    for table in reader {
        let table = rows_with_label(table?, &layout.label, &mut unlabelled)?;
        groups.append(&table, layout.group.as_deref())?;
        if layout.is_from_predict {
            for (name, threshold) in [(THRESHOLD, &mut threshold), (RAW_THRESHOLD, &mut raw_threshold)] {
                if let Some(Column { values: Values::Number(values), .. }) = table.column(name) {
                    values.iter().filter(|value| !value.is_nan()).for_each(|value| threshold.add(*value));
                }
            }
            record_column_values(&table, SCORE, &mut score);
            record_column_values(&table, NEGATIVE, &mut negative);
            record_column_values(&table, POSITIVE, &mut positive);
        }
        let label_parser = match &mut label_parser {
            Some(label_parser) => label_parser,
            // In a table written by `predict`, the labels are 1 and 0 whatever the classes are called. So `--positive` with the name of the positive
            // class is accepted and has no effect.
            None => {
                let named = columns
                    .positive
                    .as_deref()
                    .filter(|named| positive != ColumnConstant::Constant((*named).to_owned()));
                label_parser.insert(LabelParser::new(named, layout.is_one_versus_rest))
            }
        };
        let first = predictions.labels.len();
        label_parser.append_labels(&table, required_column(&table, &layout.label)?, &mut predictions.labels)?;
        if let (Some(sources), Some(costs)) = (&layout.costs, &mut predictions.costs) {
            append_costs(&table, sources, &predictions.labels[first..], costs)?;
        }
        for (name, forecast) in layout.probabilities.iter().zip(&mut predictions.forecasts) {
            let is_valid = |value: f64| (0.0..=1.0).contains(&value);
            forecast.append_checked(
                &table,
                required_column(&table, name)?,
                "probability",
                &is_valid,
                PROBABILITY_HINT,
            )?;
        }
        if let (Some(name), Some(weights)) = (&layout.weight, &mut predictions.weights) {
            weights.append_checked(
                &table,
                required_column(&table, name)?,
                "weight",
                &|value| value >= 0.0,
                WEIGHT_HINT,
            )?;
        }
    }
    note_unlabelled_rows(&predictions.file, predictions.labels.len(), unlabelled)?;
    if let ColumnConstant::Different(one, other) = threshold {
        note(format!(
            "{}: rows have different thresholds ({one} and {other}), so they come from several models; the column `threshold` is ignored",
            predictions.file
        ));
    }
    predictions.groups = groups.numbers(layout.group.as_deref());
    let (threshold, raw_threshold) = (threshold.value(), raw_threshold.value());
    let threshold_of = |name: &String| match name.as_str() {
        PROBABILITY => threshold,
        RAW => raw_threshold,
        _ => None,
    };
    predictions.thresholds = layout.probabilities.iter().map(threshold_of).collect();
    let classes = negative.value().zip(positive.value()).map(|(negative, positive)| [negative, positive]);
    predictions.model = SourceModel { score: score.value(), classes };
    predictions.unify_float_type();
    Ok(predictions)
}

/// Appends the costs of the rows of a chunk, with their true labels. Only costs that can be paid are checked: those of false alarms in negative rows,
/// and those of misses in positive rows.
fn append_costs(table: &Table, sources: &[CostSource; 2], labels: &[bool], costs: &mut [Vec<f64>; 2]) -> Result<()> {
    for (which, (source, costs)) in sources.iter().zip(costs).enumerate() {
        let (option, quantity) = [("cost-fp", "cost of a false alarm"), ("cost-fn", "cost of a miss")][which];
        let is_cost = |value: f64| value >= 0.0 && value.is_finite();
        match source {
            CostSource::Number(number) if is_cost(*number) => costs.extend(labels.iter().map(|_| *number)),
            CostSource::Number(number) => {
                return Err(Error::setting(option, format!("{number} is not a {quantity}"), COST_HINT));
            }
            CostSource::Column(name) => {
                let column = required_column(table, name)?;
                let is_paid = |row: usize| labels.get(row).is_some_and(|label| *label == (which == 1));
                let Values::Number(values) = &column.values else {
                    return Err(Error::data(
                        table.place(0).column(name),
                        format!("a {quantity} must be a number"),
                        COST_HINT,
                    ));
                };
                if let Some(row) = (0..values.len()).find(|row| is_paid(*row) && !is_cost(values[*row])) {
                    let problem = match values[row].is_nan() {
                        true => format!("the {quantity} is missing"),
                        false => format!("`{}` is not a {quantity}", values[row]),
                    };
                    return Err(Error::data(table.place(row).column(name), problem, COST_HINT));
                }
                costs.extend(values);
            }
        }
    }
    Ok(())
}

/// Reads predictions for more than two classes.
fn read_many_classes(name: String, reader: Reader, layout: &Layout) -> Result<ClassPredictions> {
    let class_indices: HashMap<&str, u32> =
        (0..).zip(&layout.classes).map(|(at, class)| (class.as_str(), at)).collect();
    let mut predictions = ClassPredictions {
        file: name,
        classes: layout.classes.clone(),
        labels: Vec::new(),
        decisions: Vec::new(),
        probabilities: vec![Vec::new(); layout.classes.len()],
        weights: layout.weight.as_ref().map(|_| Vec::new()),
        groups: None,
        score: None,
    };
    let mut score = ColumnConstant::default();
    let mut unlabelled = 0;
    let mut groups = GroupNumbers::default();
    for table in reader {
        let table = rows_with_label(table?, &layout.label, &mut unlabelled)?;
        groups.append(&table, layout.group.as_deref())?;
        record_column_values(&table, SCORE, &mut score);
        let read_class_column = |name: &str, indices: &mut Vec<u32>| -> Result<()> {
            let column = required_column(&table, name)?;
            for row in 0..column.values.len() {
                let text = column.values.text(row);
                let class = class_indices.get(text.as_str()).or_else(|| class_indices.get(unescape_formula(&text)));
                let Some(class) = class else {
                    let problem =
                        format!("`{}` is not one of the classes with a probability column", text.escape_debug());
                    return Err(Error::data(table.place(row).column(name), problem, "correct or remove the row"));
                };
                indices.push(*class);
            }
            Ok(())
        };
        read_class_column(&layout.label, &mut predictions.labels)?;
        read_class_column(DECISION, &mut predictions.decisions)?;
        for (name, values) in layout.probabilities.iter().zip(&mut predictions.probabilities) {
            values.extend(checked_values(
                &table,
                required_column(&table, name)?,
                "probability",
                &|value| (0.0..=1.0).contains(&value),
                PROBABILITY_HINT,
            )?);
        }
        if let (Some(name), Some(weights)) = (&layout.weight, &mut predictions.weights) {
            weights.extend(checked_values(
                &table,
                required_column(&table, name)?,
                "weight",
                &|value| value >= 0.0,
                WEIGHT_HINT,
            )?);
        }
    }
    note_unlabelled_rows(&predictions.file, predictions.labels.len(), unlabelled)?;
    predictions.groups = groups.numbers(layout.group.as_deref());
    predictions.score = score.value();
    Ok(predictions)
}

/// Assigns a number to each group of rows, while the table is read chunk by chunk.
#[derive(Default)]
struct GroupNumbers {
    /// The number of each group. The key is the value that the rows of the group have in the column of groups.
    by_value: HashMap<String, u32>,
    /// The number of the group of each row read so far.
    of_rows: Vec<u32>,
}

impl GroupNumbers {
    /// Appends the rows of a chunk, if there is a column of groups.
    fn append(&mut self, table: &Table, column: Option<&str>) -> Result<()> {
        let Some(name) = column else { return Ok(()) };
        let values = &required_column(table, name)?.values;
        for row in 0..values.len() {
            let next = self.by_value.len() as u32;
            self.of_rows.push(*self.by_value.entry(values.text(row)).or_insert(next));
        }
        Ok(())
    }

    /// The number of the group of each row; `None` if there is no column of groups.
    fn numbers(self, column: Option<&str>) -> Option<Vec<u32>> {
        column.map(|_| self.of_rows)
    }
}

/// Returns the rows that have a label. Rows without a label cannot be evaluated; their number is added to `unlabelled`.
fn rows_with_label(table: Table, label: &str, unlabelled: &mut usize) -> Result<Table> {
    let values = &required_column(&table, label)?.values;
    if !(0..values.len()).any(|row| values.is_missing(row)) {
        return Ok(table);
    }
    let known: Vec<usize> = (0..values.len()).filter(|row| !values.is_missing(*row)).collect();
    *unlabelled += values.len() - known.len();
    Ok(table.select_rows(&known))
}

/// Prints a note with the number of rows without a label; returns an error if no row has a label.
fn note_unlabelled_rows(file: &str, rows: usize, unlabelled: usize) -> Result<()> {
    if rows == 0 {
        let problem = if unlabelled == 0 { "has no rows; at least one is needed" } else { "no row has a label" };
        return Err(Error::data(Location::file(file), problem, ""));
    }
    match unlabelled {
        0 => {}
        1 => note(format!("{file}: 1 row has no label and is ignored")),
        rows => note(format!("{file}: {rows} rows have no label and are ignored")),
    }
    Ok(())
}

/// The hint in the error message for a cell that is not a probability.
const PROBABILITY_HINT: &str =
    "probabilities must lie between 0 and 1; divide percentages by 100, and convert logits z with 1/(1 + exp(-z))";
/// The hint in the error message for a cell that is not a weight.
const WEIGHT_HINT: &str = "weights must be numbers, 0 or above";
/// The hint in the error message for a cell that is not a cost.
const COST_HINT: &str = "costs must be finite numbers, 0 or above; false alarms need costs only in negative rows, misses only in positive rows";

/// The column with this name; an error with a suggestion if there is none.
fn required_column<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    table.column(name).ok_or_else(|| {
        let available: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let (problem, hint) = missing_columns(&[name], &available);
        Error::data(Location::file(&table.file), problem, hint)
    })
}

impl ClassPredictions {
    /// The name of the file and a fingerprint of the data read from it.
    pub fn data_source(&self) -> DataSource {
        let columns = self.probabilities.iter().chain(&self.weights);
        class_predictions_data(&self.file, &self.classes, &self.labels, &self.decisions, columns)
    }
}

impl BinaryPredictions {
    /// The threshold at which the first forecast is evaluated, and where it comes from: from the user, else from the model, else 0.5.
    pub fn threshold(&self, user: Option<f64>) -> (f64, &'static str) {
        match (user, self.thresholds[0]) {
            (Some(threshold), _) => (threshold, "set by the user"),
            (None, Some(threshold)) => (threshold, "the model's threshold"),
            (None, None) => (0.5, "default"),
        }
    }

    /// The names of the negative and the positive class, or default names if the table does not name them.
    pub fn classes(&self) -> [String; 2] {
        self.model.classes.clone().unwrap_or_else(unnamed_classes)
    }

    /// The score to evaluate: the one that the user gave, else the score of the model, else tss.
    pub fn score(&self, user: Option<&str>) -> std::result::Result<Score, Failure> {
        match (user, &self.model.score) {
            (Some(text), _) => Ok(Score::parse(text)?),
            (None, Some(text)) => one_versus_rest_score(text),
            (None, None) => Ok(Score::parse("tss")?),
        }
    }

    /// The name of the file and a fingerprint of the data read from it.
    pub fn data_source(&self) -> DataSource {
        let columns = self.forecasts.iter().chain(&self.weights).map(|numbers| match numbers {
            FloatValues::F32(values) => FloatColumn::F32(values),
            FloatValues::F64(values) => FloatColumn::F64(values),
        });
        predictions_data(&self.file, &self.labels, columns)
    }

    /// The number of positive rows.
    pub fn positives(&self) -> usize {
        self.labels.iter().filter(|label| **label).count()
    }

    /// Converts all forecasts and weights to f64 if one of them is f64, because `Rows` needs the same type for all.
    fn unify_float_type(&mut self) {
        let all = || self.forecasts.iter().chain(&self.weights);
        if all().any(|numbers| matches!(numbers, FloatValues::F64(_))) {
            self.forecasts.iter_mut().chain(&mut self.weights).for_each(FloatValues::convert_to_f64);
        }
    }

    /// Appends the forecasts of another file, which must have the same number of rows with the same labels.
    pub fn join(&mut self, other: BinaryPredictions) -> Result<()> {
        let place = || Location::file(&other.file);
        let hint = "both files must have the same rows in the same order";
        if self.labels.len() != other.labels.len() {
            let rows = count_text(other.labels.len() as u64, "row");
            let problem = format!("has {rows}, but {} has {}", self.file, self.labels.len());
            return Err(Error::data(place(), problem, hint));
        }
        if let Some(row) = (0..self.labels.len()).find(|row| self.labels[*row] != other.labels[*row]) {
            let name = |label: bool| if label { "positive" } else { "negative" };
            let (here, there) = (name(other.labels[row]), name(self.labels[row]));
            let problem = format!("the label is {here}, but it is {there} in {}", self.file);
            return Err(Error::data(Location { row: Some(row as u64 + 1), ..place() }, problem, hint));
        }
        self.forecasts.extend(other.forecasts);
        self.thresholds.extend(other.thresholds);
        self.unify_float_type();
        Ok(())
    }
}
