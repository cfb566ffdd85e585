//! `scorewise train --out-of-fold`: the predictions of the validation rows, so that other commands can use them.

use scorewise_table::output::AtomicFile;
use scorewise_table::table::{Column, Table, TableFormat, TableWriter, Values};
use scorewise_train::model::Model;
use scorewise_train::train::Trained;

use crate::outcome::Failure;
use crate::predictions::{DECISION, PredictedRows, TRUTH, WEIGHT, file_metadata};

/// Name of the column with the number of the row in the training table, counted from 1 without the header.
const ROW: &str = "row";

/// Writes the predictions of the validation rows in the order of the training table, with the columns that `scorewise predict` writes and a
/// column with the number of each row.
pub fn write(file: AtomicFile, format: TableFormat, trained: &Trained) -> Result<(), Failure> {
    let Trained { model, validation, validation_rows, .. } = trained;
    let classes = if model.decision.threshold().is_some() { 1 } else { model.classes.len() };
    let predicted = PredictedRows {
        predictions: validation.probabilities.clone(),
        threshold: None,
        decisions: validation.probabilities.chunks(classes).map(|row| model.decision.label(row)).collect(),
        truth: Some(validation.labels.clone()),
    };
    let numbers = validation_rows.iter().map(|row| f64::from(*row) + 1.0).collect();
    let table = table(model, &predicted, validation.weights.clone(), numbers);
    let empty = PredictedRows { truth: Some(Vec::new()), ..PredictedRows::default() };
    let header = self::table(model, &empty, validation.weights.as_ref().map(|_| Vec::new()), Vec::new());
    let mut writer = TableWriter::create(file, format, &header, &[DECISION, TRUTH, ROW], &file_metadata(model))?;
    writer.write(&table)?;
    Ok(writer.finish()?.finish()?)
}

/// Makes the table to write: the predictions, the sample weights if there are any, and the number of each row in the training table.
fn table(model: &Model, predicted: &PredictedRows, weights: Option<Vec<f64>>, rows: Vec<f64>) -> Table {
    let column = |name: &str, values: Vec<f64>| Column { name: name.into(), values: Values::Number(values) };
    let mut columns = predicted.columns(model);
    columns.extend(weights.map(|weights| column(WEIGHT, weights)));
    columns.push(column(ROW, rows));
    Table { columns, ..Table::default() }
}
