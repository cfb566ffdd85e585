//! Tables of forecasts and what happened: labels, probabilities, and weights if there are any, read chunk by chunk.
//!
//! `predict` writes such tables with columns that say what is what (`layout` names them), and then nothing has to be said again: the
//! truth, the threshold, the score, the classes and the weights are those of the model. A decision is never taken for the truth.

mod labels;
mod layout;
mod numbers;

use std::collections::HashMap;

use crate::outcome::{Failure, note};
use scorewise::Score;
use scorewise::multiclass::MultiScore;
use scorewise_report::document::DataSource;
use scorewise_report::evaluation::{FloatColumn, class_predictions_data, predictions_data, unnamed_classes};
use scorewise_table::spreadsheet::spreadsheet_text;
use scorewise_table::table::{Category, Column, Reader, Reading, Source, Table, Values};
use scorewise_train::plan::multi_score;
use scorewise_train::{Error, Place, Result};

use labels::Marks;
use layout::Layout;
pub use layout::{DECISION, NEGATIVE, POSITIVE, PROBABILITY, PROBABILITY_OF, SCORE, THRESHOLD, TRUTH, WEIGHT};
pub use numbers::Numbers;
use numbers::checked;

/// Which columns of the table are which.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Columns {
    /// The column of what happened: 0 and 1, or true and false [default: truth, else label]
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// The label that counts as positive, where labels are other texts or numbers; of many classes, the one against all others
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub positive: Option<String>,
    /// The column of weights, 0 or above [default: the model's, else every row weighs 1]
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
}

/// A table with one forecast: what `score`, `tune` and `theory` look at.
#[derive(clap::Args)]
pub struct Forecast {
    /// A table with a label and a probability in each row; - for standard input
    pub predictions: String,
    #[command(flatten)]
    pub columns: Columns,
    /// The column of the forecast [default: probability]
    #[arg(long, value_name = "COLUMN")]
    pub probability: Option<String>,
}

/// Forecasts of two classes or of more.
#[derive(Debug)]
pub enum Forecasts {
    /// Two classes.
    Binary(Predictions),
    /// More classes.
    Classes(ClassPredictions),
}

impl Forecast {
    /// Reads it.
    pub fn read(&self) -> Result<Forecasts> {
        read(&self.predictions, &self.columns, self.probability.as_slice())
    }

    /// Reads a forecast of two classes; one of more is an error that says how to choose one class.
    pub fn read_binary(&self) -> Result<Predictions> {
        self.read()?.binary()
    }
}

impl Forecasts {
    /// The forecasts of two classes; those of more are an error that says how to choose one class.
    pub fn binary(self) -> Result<Predictions> {
        match self {
            Forecasts::Binary(predictions) => Ok(predictions),
            Forecasts::Classes(predictions) => {
                let problem = format!("holds predictions of {} classes", predictions.classes.len());
                let example = predictions.classes.first().map_or("CLASS", String::as_str);
                let hint = format!("choose one against all others: --positive \"{}\"", example.escape_debug());
                Err(Error::data(Place::file(&predictions.file), problem, hint))
            }
        }
    }
}

/// Forecasts of the same rows, with their labels and, if there are, weights.
#[derive(Debug)]
pub struct Predictions {
    /// The file as the user named it.
    pub file: String,
    /// What happened.
    pub labels: Vec<bool>,
    /// One or more forecasts, in the order asked for.
    pub forecasts: Vec<Numbers>,
    /// One a row.
    pub weights: Option<Numbers>,
    /// What the predictions say of the model that made them.
    pub model: Origin,
}

/// What predictions say of the model that made them; `None` for what they do not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// The model's threshold.
    pub threshold: Option<f64>,
    /// The score that it was trained for.
    pub score: Option<String>,
    /// Negative, positive.
    pub classes: Option<[String; 2]>,
}

/// Decisions between more than two classes, and what happened.
#[derive(Debug)]
pub struct ClassPredictions {
    /// The file as the user named it.
    pub file: String,
    /// In the order of the columns.
    pub classes: Vec<String>,
    /// The class of each row, as a place in `classes`.
    pub labels: Vec<u32>,
    /// What was decided for each row.
    pub decisions: Vec<u32>,
    /// For each class, the probability of each row.
    pub probabilities: Vec<Vec<f64>>,
    /// One a row.
    pub weights: Option<Vec<f64>>,
    /// The score that the model was trained for.
    pub score: Option<String>,
}

/// Runs a body with the rows of a forecast, whatever their number type.
macro_rules! with_rows {
    ($predictions:expr, $forecast:expr, $rows:ident => $body:expr) => {{
        use $crate::predictions::Numbers;
        let predictions: &$crate::predictions::Predictions = $predictions;
        let labels = &predictions.labels;
        match &predictions.forecasts[$forecast] {
            Numbers::F32(values) => {
                let $rows = scorewise::Rows::new(scorewise::Probabilities(values.as_slice()), labels)?;
                let $rows = match &predictions.weights {
                    Some(Numbers::F32(weights)) => $rows.weighted(weights)?,
                    _ => $rows,
                };
                $body
            }
            Numbers::F64(values) => {
                let $rows = scorewise::Rows::new(scorewise::Probabilities(values.as_slice()), labels)?;
                let $rows = match &predictions.weights {
                    Some(Numbers::F64(weights)) => $rows.weighted(weights)?,
                    _ => $rows,
                };
                $body
            }
        }
    }};
}
pub(crate) use with_rows;

/// What all rows of a column say alike.
#[derive(Clone, Debug, Default, PartialEq)]
enum Constant<T> {
    #[default]
    Absent,
    Is(T),
    /// Two values that rows differ in.
    Differs(T, T),
}

impl<T: Clone + PartialEq> Constant<T> {
    fn add(&mut self, value: T) {
        match self {
            Constant::Absent => *self = Constant::Is(value),
            Constant::Is(known) if *known != value => *self = Constant::Differs(known.clone(), value),
            _ => {}
        }
    }

    fn value(self) -> Option<T> {
        match self {
            Constant::Is(value) => Some(value),
            _ => None,
        }
    }
}

fn texts_of(table: &Table, name: &str, constant: &mut Constant<String>) {
    if let Some(Column { values: Values::Category(Category { codes, levels }), .. }) = table.column(name) {
        let mut last = None;
        for code in codes {
            if last != Some(*code) {
                last = Some(*code);
                levels.get(*code as usize).into_iter().for_each(|text| constant.add(spreadsheet_text(text).to_owned()));
            }
        }
    }
}

/// The score of two classes that a model's score stands for: itself, or what a score of many classes is the mean of. A score of a whole
/// matrix without one of two classes by its name is judged by F1.
pub fn class_score(text: &str) -> std::result::Result<Score, Failure> {
    match Score::parse(text) {
        Ok(score) => Ok(score),
        Err(_) => match multi_score(text)? {
            MultiScore::Classwise(_, score) => Ok(score),
            _ => Ok(Score::parse("f1")?),
        },
    }
}

/// Reads the labels, these forecasts and the weights; all numbers come out equally wide. Without names, the forecast is `probability`.
pub fn read(file: &str, columns: &Columns, probabilities: &[String]) -> Result<Forecasts> {
    let source = Source::parse(file);
    let name = source.name();
    let layout = std::cell::RefCell::new(Layout::default());
    let reader = Reader::open_with(&source, &Reading::default(), &|names, reading| {
        let found = Layout::new(&name, names, columns, probabilities)?;
        found.apply(names, reading);
        *layout.borrow_mut() = found;
        Ok(())
    })?;
    let layout = layout.into_inner();
    if layout.classes.is_empty() {
        read_binary(name, reader, columns, &layout).map(Forecasts::Binary)
    } else {
        read_classes(name, reader, &layout).map(Forecasts::Classes)
    }
}

fn read_binary(name: String, reader: Reader, columns: &Columns, layout: &Layout) -> Result<Predictions> {
    let (mut threshold, mut score) = (Constant::default(), Constant::default());
    let (mut negative, mut positive) = (Constant::default(), Constant::default());
    let mut marks: Option<Marks> = None;
    let mut found = Predictions {
        file: name,
        labels: Vec::new(),
        forecasts: vec![Numbers::default(); layout.probabilities.len()],
        weights: layout.weight.as_ref().map(|_| Numbers::default()),
        model: Origin::default(),
    };
    let mut unknown = 0;
    for table in reader {
        let table = known(table?, &layout.label, &mut unknown)?;
        if layout.is_ours {
            if let Some(Column { values: Values::Number(values), .. }) = table.column(THRESHOLD) {
                values.iter().filter(|value| !value.is_nan()).for_each(|value| threshold.add(*value));
            }
            texts_of(&table, SCORE, &mut score);
            texts_of(&table, NEGATIVE, &mut negative);
            texts_of(&table, POSITIVE, &mut positive);
        }
        let marks = match &mut marks {
            Some(marks) => marks,
            // The labels of our own predictions are 1 and 0, whatever the positive class is called.
            None => {
                let named = columns.positive.as_deref().filter(|named| positive != Constant::Is((*named).to_owned()));
                marks.insert(Marks::new(named, layout.is_one_of_many))
            }
        };
        marks.add(&table, column(&table, &layout.label)?, &mut found.labels)?;
        for (name, forecast) in layout.probabilities.iter().zip(&mut found.forecasts) {
            let is_good = |value: f64| (0.0..=1.0).contains(&value);
            forecast.add(&table, column(&table, name)?, "probability", &is_good, BETWEEN)?;
        }
        if let (Some(name), Some(weights)) = (&layout.weight, &mut found.weights) {
            weights.add(&table, column(&table, name)?, "weight", &|value| value >= 0.0, ABOVE)?;
        }
    }
    note_unknown(&found.file, found.labels.len(), unknown)?;
    if let Constant::Differs(one, other) = threshold {
        note(format!(
            "{}: rows have different thresholds ({one} and {other}): they come from several models, whose thresholds are not used",
            found.file
        ));
    }
    let classes = negative.value().zip(positive.value()).map(|(negative, positive)| [negative, positive]);
    found.model = Origin { threshold: threshold.value(), score: score.value(), classes };
    found.align();
    Ok(found)
}

fn read_classes(name: String, reader: Reader, layout: &Layout) -> Result<ClassPredictions> {
    let places: HashMap<&str, u32> = (0..).zip(&layout.classes).map(|(at, class)| (class.as_str(), at)).collect();
    let mut found = ClassPredictions {
        file: name,
        classes: layout.classes.clone(),
        labels: Vec::new(),
        decisions: Vec::new(),
        probabilities: vec![Vec::new(); layout.classes.len()],
        weights: layout.weight.as_ref().map(|_| Vec::new()),
        score: None,
    };
    let mut score = Constant::default();
    let mut unknown = 0;
    for table in reader {
        let table = known(table?, &layout.label, &mut unknown)?;
        texts_of(&table, SCORE, &mut score);
        let classes = |name: &str, into: &mut Vec<u32>| -> Result<()> {
            let column = column(&table, name)?;
            for row in 0..column.values.len() {
                let text = column.values.text(row);
                let class = places.get(text.as_str()).or_else(|| places.get(spreadsheet_text(&text)));
                let Some(class) = class else {
                    let problem =
                        format!("`{}` is none of the classes that the table has probabilities of", text.escape_debug());
                    return Err(Error::data(table.place(row).column(name), problem, "correct or remove the row"));
                };
                into.push(*class);
            }
            Ok(())
        };
        classes(&layout.label, &mut found.labels)?;
        classes(DECISION, &mut found.decisions)?;
        for (name, all) in layout.probabilities.iter().zip(&mut found.probabilities) {
            all.extend(checked(
                &table,
                column(&table, name)?,
                "probability",
                &|value| (0.0..=1.0).contains(&value),
                BETWEEN,
            )?);
        }
        if let (Some(name), Some(weights)) = (&layout.weight, &mut found.weights) {
            weights.extend(checked(&table, column(&table, name)?, "weight", &|value| value >= 0.0, ABOVE)?);
        }
    }
    note_unknown(&found.file, found.labels.len(), unknown)?;
    found.score = score.value();
    Ok(found)
}

/// The rows whose label is known: what happened may not be known yet, or was never observed, and such rows judge nothing.
fn known(table: Table, label: &str, unknown: &mut usize) -> Result<Table> {
    let values = &column(&table, label)?.values;
    if !(0..values.len()).any(|row| values.is_missing(row)) {
        return Ok(table);
    }
    let known: Vec<usize> = (0..values.len()).filter(|row| !values.is_missing(*row)).collect();
    *unknown += values.len() - known.len();
    Ok(table.taken(&known))
}

/// Says how many rows were left out; an error when no row is left.
fn note_unknown(file: &str, rows: usize, unknown: usize) -> Result<()> {
    if rows == 0 {
        let problem = if unknown == 0 { "there are no rows; at least one is needed" } else { "no row has a label" };
        return Err(Error::data(Place::file(file), problem, ""));
    }
    match unknown {
        0 => {}
        1 => note(format!("{file}: 1 row has no label and is left out")),
        rows => note(format!("{file}: {rows} rows have no label and are left out")),
    }
    Ok(())
}

const BETWEEN: &str = "probabilities lie between 0 and 1; divide per cent by 100, put logits z through 1/(1 + exp(-z))";
const ABOVE: &str = "weights are numbers, 0 or above";

fn column<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    let problem = || format!("there is no column `{}`", name.escape_debug());
    table.column(name).ok_or_else(|| Error::data(Place::file(&table.file), problem(), ""))
}

impl ClassPredictions {
    /// The name of the file, and a fingerprint of what was read from it.
    pub fn data(&self) -> DataSource {
        let columns = self.probabilities.iter().chain(&self.weights);
        class_predictions_data(&self.file, &self.classes, &self.labels, &self.decisions, columns)
    }
}

impl Predictions {
    /// The threshold to judge by: the one given, else the model's, else one half; and how it came about.
    pub fn threshold(&self, given: Option<f64>) -> (f64, &'static str) {
        match (given, self.model.threshold) {
            (Some(given), _) => (given, "as given"),
            (None, Some(threshold)) => (threshold, "the model's"),
            (None, None) => (0.5, "one half, by default"),
        }
    }

    /// The names of the classes, as the model had them.
    pub fn classes(&self) -> [String; 2] {
        self.model.classes.clone().unwrap_or_else(unnamed_classes)
    }

    /// The score by its name or formula: the one given, else the model's, else tss.
    pub fn score(&self, given: Option<&str>) -> std::result::Result<Score, Failure> {
        match (given, &self.model.score) {
            (Some(text), _) => Ok(Score::parse(text)?),
            (None, Some(text)) => class_score(text),
            (None, None) => Ok(Score::parse("tss")?),
        }
    }

    /// The name of the file, and a fingerprint of what was read from it.
    pub fn data(&self) -> DataSource {
        let columns = self.forecasts.iter().chain(&self.weights).map(|numbers| match numbers {
            Numbers::F32(values) => FloatColumn::F32(values),
            Numbers::F64(values) => FloatColumn::F64(values),
        });
        predictions_data(&self.file, &self.labels, columns)
    }

    /// How many rows are positive.
    pub fn positives(&self) -> usize {
        self.labels.iter().filter(|label| **label).count()
    }

    /// The core takes rows of one number type.
    fn align(&mut self) {
        let all = || self.forecasts.iter().chain(&self.weights);
        if all().any(|numbers| matches!(numbers, Numbers::F64(_))) {
            self.forecasts.iter_mut().chain(&mut self.weights).for_each(Numbers::widen);
        }
    }

    /// Takes the forecasts of another file for the same rows: equally many, with the same labels.
    pub fn join(&mut self, other: Predictions) -> Result<()> {
        let place = || Place::file(&other.file);
        let hint = "both files must hold the same rows in the same order";
        if self.labels.len() != other.labels.len() {
            let problem = format!("{} rows, but {} in {}", other.labels.len(), self.labels.len(), self.file);
            return Err(Error::data(place(), problem, hint));
        }
        if let Some(row) = (0..self.labels.len()).find(|row| self.labels[*row] != other.labels[*row]) {
            let say = |label: bool| if label { "positive" } else { "negative" };
            let (here, there) = (say(other.labels[row]), say(self.labels[row]));
            let problem = format!("the label is {here}, but {there} in {}", self.file);
            return Err(Error::data(Place { row: Some(row as u64 + 1), ..place() }, problem, hint));
        }
        self.forecasts.extend(other.forecasts);
        self.align();
        Ok(())
    }
}
