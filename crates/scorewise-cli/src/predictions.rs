//! A table of forecasts and what happened: labels, probabilities, and weights if there are any, read chunk by chunk.

use std::collections::BTreeMap;

use crate::outcome::note;
use scorewise_train::table::{Column, Kind, Reader, Reading, Source, Table, Values};
use scorewise_train::{Error, Place, Result};

/// Which columns of the table are which.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Columns {
    /// The column of what happened: 0 and 1, or true and false [default: truth, else label]
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// The label that counts as positive, where labels are other texts or numbers
    #[arg(long, value_name = "VALUE")]
    pub positive: Option<String>,
    /// The column of weights, 0 or above [default: every row weighs 1]
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
    #[arg(long, value_name = "COLUMN", default_value = "probability", hide_default_value = true)]
    pub probability: String,
}

impl Forecast {
    /// Reads it.
    pub fn read(&self) -> Result<Predictions> {
        read(&self.predictions, &self.columns, std::slice::from_ref(&self.probability))
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
}

/// Numbers as narrow as they are: predictions by the hundred million should not take twice their room.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// All of them are f32 numbers.
    Narrow(Vec<f32>),
    /// At least one is not.
    Wide(Vec<f64>),
}

/// Runs a body with the rows of a forecast, whatever their number type.
macro_rules! with_rows {
    ($predictions:expr, $forecast:expr, $rows:ident => $body:expr) => {{
        use $crate::predictions::Numbers;
        let predictions: &$crate::predictions::Predictions = $predictions;
        let labels = &predictions.labels;
        match &predictions.forecasts[$forecast] {
            Numbers::Narrow(values) => {
                let $rows = scorewise::Rows::new(scorewise::Probabilities(values.as_slice()), labels)?;
                let $rows = match &predictions.weights {
                    Some(Numbers::Narrow(weights)) => $rows.weighted(weights)?,
                    _ => $rows,
                };
                $body
            }
            Numbers::Wide(values) => {
                let $rows = scorewise::Rows::new(scorewise::Probabilities(values.as_slice()), labels)?;
                let $rows = match &predictions.weights {
                    Some(Numbers::Wide(weights)) => $rows.weighted(weights)?,
                    _ => $rows,
                };
                $body
            }
        }
    }};
}
pub(crate) use with_rows;

/// What happened, where no column is named: `truth`, as `predict` writes it beside its own decision, else `label`. (Standard input can
/// be opened only once, so there it is `label`.)
fn usual_label(source: &Source) -> &'static str {
    let is_truth = |reader: Reader| reader.fields().iter().any(|field| field.name == "truth");
    let has_truth = *source != Source::Stdin && Reader::open(source, &Reading::default()).is_ok_and(is_truth);
    if has_truth { "truth" } else { "label" }
}

/// Reads the labels, these forecasts and the weights; all numbers come out equally wide.
pub fn read(file: &str, columns: &Columns, probabilities: &[String]) -> Result<Predictions> {
    let source = Source::parse(file);
    let label = columns.label.clone().unwrap_or_else(|| usual_label(&source).into());
    let mut names = vec![label.clone()];
    names.extend(probabilities.iter().chain(&columns.weight).cloned());
    let numbers = probabilities.iter().chain(&columns.weight);
    let kinds: BTreeMap<String, Kind> = numbers.map(|name| (name.clone(), Kind::Number)).collect();
    let reader = Reader::open(&source, &Reading { only: Some(names), kinds, ..Reading::default() })?;
    let mut marks = Marks::new(columns.positive.as_deref());
    let mut found = Predictions {
        file: source.name(),
        labels: Vec::new(),
        forecasts: vec![Numbers::default(); probabilities.len()],
        weights: columns.weight.as_ref().map(|_| Numbers::default()),
    };
    let mut unknown = 0;
    for table in reader {
        let mut table = table?;
        // What happened may not be known yet, or was never observed: such rows judge nothing.
        let values = &column(&table, &label)?.values;
        if (0..values.len()).any(|row| values.is_missing(row)) {
            let known: Vec<usize> = (0..values.len()).filter(|row| !values.is_missing(*row)).collect();
            unknown += values.len() - known.len();
            table = table.taken(&known);
        }
        marks.add(&table, column(&table, &label)?, &mut found.labels)?;
        for (name, forecast) in probabilities.iter().zip(&mut found.forecasts) {
            forecast.add(
                &table,
                column(&table, name)?,
                "probability",
                &|value| (0.0..=1.0).contains(&value),
                BETWEEN,
            )?;
        }
        if let (Some(name), Some(weights)) = (&columns.weight, &mut found.weights) {
            weights.add(&table, column(&table, name)?, "weight", &|value| value >= 0.0, ABOVE)?;
        }
    }
    if found.labels.is_empty() {
        let problem = if unknown == 0 { "there are no rows; at least one is needed" } else { "no row has a label" };
        return Err(Error::data(Place::file(&found.file), problem, ""));
    }
    if unknown > 0 {
        let rows = if unknown == 1 {
            "1 row has no label and is".into()
        } else {
            format!("{unknown} rows have no label and are")
        };
        note(format!("{}: {rows} left out", found.file));
    }
    found.align();
    Ok(found)
}

const BETWEEN: &str = "probabilities lie between 0 and 1; divide per cent by 100, put logits z through 1/(1 + exp(-z))";
const ABOVE: &str = "weights are numbers, 0 or above";

fn column<'a>(table: &'a Table, name: &str) -> Result<&'a Column> {
    let problem = || format!("there is no column `{}`", name.escape_debug());
    table.column(name).ok_or_else(|| Error::data(Place::file(&table.file), problem(), ""))
}

impl Predictions {
    /// How many rows are positive.
    pub fn positives(&self) -> usize {
        self.labels.iter().filter(|label| **label).count()
    }

    /// The core takes rows of one number type.
    fn align(&mut self) {
        let all = || self.forecasts.iter().chain(&self.weights);
        if all().any(|numbers| matches!(numbers, Numbers::Wide(_))) {
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

impl Default for Numbers {
    fn default() -> Self {
        Numbers::Narrow(Vec::new())
    }
}

impl Numbers {
    fn add(
        &mut self,
        table: &Table,
        column: &Column,
        what: &str,
        is_good: &dyn Fn(f64) -> bool,
        hint: &str,
    ) -> Result<()> {
        let fault = |row: usize, problem: String, hint: &str| {
            Err(Error::data(table.place(row).column(&column.name), problem, hint))
        };
        let Values::Number(values) = &column.values else {
            return fault(0, format!("a {what} is a number"), hint);
        };
        if let Some(row) = values.iter().position(|value| !is_good(*value)) {
            return if values[row].is_nan() {
                fault(row, format!("the {what} is missing"), "remove the rows without one from the file")
            } else {
                fault(row, format!("`{}` is not a {what}", values[row]), hint)
            };
        }
        self.extend(values);
        Ok(())
    }

    fn extend(&mut self, values: &[f64]) {
        match self {
            Numbers::Wide(all) => all.extend_from_slice(values),
            Numbers::Narrow(all) if values.iter().all(|value| f64::from(*value as f32) == *value) => {
                all.extend(values.iter().map(|value| *value as f32));
            }
            Numbers::Narrow(_) => {
                self.widen();
                self.extend(values);
            }
        }
    }

    fn widen(&mut self) {
        if let Numbers::Narrow(all) = self {
            *self = Numbers::Wide(all.iter().map(|value| f64::from(*value)).collect());
        }
    }
}

/// What the labels say: which value is positive, and which others there are.
struct Marks<'a> {
    positive: Option<&'a str>,
    /// The one other label, where a positive one was named.
    negative: Option<String>,
}

const LABELS: &str = "labels are 0 and 1, or true and false; of two others name the positive one: --positive VALUE";

impl<'a> Marks<'a> {
    fn new(positive: Option<&'a str>) -> Self {
        Marks { positive, negative: None }
    }

    /// The labels of a chunk.
    fn add(&mut self, table: &Table, column: &Column, labels: &mut Vec<bool>) -> Result<()> {
        let start = labels.len();
        let fault =
            |row: usize, problem: String, hint: &str| Error::data(table.place(row).column(&column.name), problem, hint);
        match (&column.values, self.positive) {
            (Values::Number(values), None) => labels.extend(values.iter().map(|value| *value == 1.0)),
            (Values::Boolean(values), None) => labels.extend(values.iter().map(|value| *value == Some(true))),
            _ => {}
        }
        if labels.len() > start {
            let is_other = |row: &usize| matches!(&column.values, Values::Number(values) if values[*row] != 0.0 && values[*row] != 1.0);
            return match (0..column.values.len()).find(is_other) {
                Some(row) => Err(fault(row, format!("`{}` is not a label", column.values.text(row)), LABELS)),
                None => Ok(()),
            };
        }
        for row in 0..column.values.len() {
            let shown = column.values.text(row);
            let label = match self.positive {
                None => match shown.to_ascii_lowercase().as_str() {
                    "1" | "true" => true,
                    "0" | "false" => false,
                    _ => return Err(fault(row, format!("`{}` is not a label", shown.escape_debug()), LABELS)),
                },
                Some(positive) => same(&shown, positive),
            };
            if !label && let Some(positive) = self.positive {
                let negative = self.negative.get_or_insert_with(|| shown.clone());
                if *negative != shown {
                    let (third, second) = (shown.escape_debug(), negative.escape_debug());
                    let problem = format!("`{third}` is a third label beside `{positive}` and `{second}`");
                    return Err(fault(row, problem, "two different labels are needed, or 0 and 1"));
                }
            }
            labels.push(label);
        }
        Ok(())
    }
}

/// Whether a label is the one named: the same text, or the same number however it is written.
fn same(shown: &str, named: &str) -> bool {
    shown == named || matches!((shown.parse::<f64>(), named.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}
