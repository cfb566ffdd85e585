//! The rows on which a model is explained.

use scorewise::Purpose;
use scorewise_table::encode::Encoder;
use scorewise_table::groups::Neighbours;
use scorewise_table::names::{missing_columns, quoted, quoted_list};
use scorewise_table::split::{random, shuffle};
use scorewise_table::table::Table;
use scorewise_train::model::{Model, Predictor};
use scorewise_train::train::{Trained, weights};
use scorewise_train::{Error, Location, Matrix, Note, Result};

use super::ExplainOptions;

/// Encoded rows of a table with their true classes, on which a model is explained.
#[derive(Clone, Debug)]
pub struct ExplainedRows<'a> {
    table: &'a Table,
    /// The encoded rows of the whole table.
    matrix: Matrix,
    /// Indices, in the table, of the rows with a known class.
    rows: Vec<u32>,
    /// The true class of each row in `rows`, as an index into the classes of the model.
    labels: Vec<u32>,
    /// The weight of each row in `rows`; `None` if all rows have the same weight.
    weights: Option<Vec<f64>>,
    part: String,
}

impl<'a> ExplainedRows<'a> {
    /// Selects the rows of a table whose true class is known from the target column. The table must have the target column and all columns that
    /// the model needs, and at least one row must have a known class. The returned notes are about rows that are left out and about
    /// unexpected values.
    pub fn of_table(model: &Model, table: &'a Table) -> Result<(Self, Vec<Note>)> {
        let place = || Location::file(&table.file);
        check_columns(model, table)?;
        let available: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let target = &model.target;
        if table.column(&target.column).is_none() {
            let (problem, hint) = missing_columns(&[&target.column], &available);
            let problem = format!("{problem}, the target of the model: the score needs the true class of each row");
            return Err(Error::data(place(), problem, hint));
        }
        // With a lead time, the true class of a row is found in a later row. Without a lead time it is in the row itself, so the columns that order
        // the rows may be absent.
        let order = if target.lead > 0 { model.encoder.order.clone() } else { Default::default() };
        let (labels, unmatched) = target.known_labels(table, &Neighbours::new(table, &order)?)?;
        let rows = labels.rows();
        if rows.is_empty() {
            let names: Vec<&str> = model.classes.iter().map(String::as_str).collect();
            let problem = "no row has a class of the model, so there is no score to explain";
            let hint = format!("give a table with true classes; the classes are {}", quoted_list(&names));
            return Err(Error::data(place().column(&target.column), problem, hint));
        }
        let mut notes = unmatched.notes(target);
        notes.extend(target.unlabelled_notes(&labels));
        let row_weights = match model.plan.as_ref().and_then(|plan| plan.weight.as_deref()) {
            Some(name) if table.column(name).is_none() => {
                let name = quoted(name);
                let text = format!(
                    "has no column {name}, which held the weights when the model was trained: all rows count alike"
                );
                notes.push(Note::new(format!("{}: {text}", table.file)));
                None
            }
            Some(name) => Some(weights(table, name)?),
            None => None,
        };
        let encoded = model.encoder.encode(table)?;
        notes.extend(encoded.unexpected.notes(&model.encoder));
        let explained = ExplainedRows {
            table,
            matrix: encoded.matrix,
            labels: rows.iter().map(|row| labels.classes[*row as usize]).collect(),
            weights: row_weights.map(|weights| rows.iter().map(|row| weights[*row as usize]).collect()),
            rows,
            part: "rows with a known class".into(),
        };
        Ok((explained, notes))
    }

    /// Uses all rows of a table. `labels` holds the class of each row, as an index into the classes of the model.
    ///
    /// # Panics
    /// If `labels` or `weights` do not have one entry for each row of the table, or if a label is not a class of the model.
    pub fn with_labels(
        model: &Model,
        table: &'a Table,
        labels: Vec<u32>,
        weights: Option<Vec<f64>>,
    ) -> Result<(Self, Vec<Note>)> {
        assert_eq!(labels.len(), table.rows(), "there must be one label for each row");
        assert!(
            weights.as_ref().is_none_or(|weights| weights.len() == labels.len()),
            "there must be one weight for each row"
        );
        assert!(
            labels.iter().all(|label| (*label as usize) < model.classes.len()),
            "every label must be a class of the model"
        );
        let encoded = model.encoder.encode(table)?;
        let notes = encoded.unexpected.notes(&model.encoder);
        let rows = (0..labels.len() as u32).collect();
        let part = "rows with a known class".into();
        Ok((ExplainedRows { table, matrix: encoded.matrix, rows, labels, weights, part }, notes))
    }

    /// Uses the test rows of a training run, or its validation rows if there are no test rows. If the test rows came from a separate table, `table`
    /// must be that table, otherwise the training table.
    #[must_use]
    pub fn of_training(trained: &Trained, table: &'a Table) -> Self {
        let is_cross_fitted = trained.model.plan.as_ref().is_some_and(|plan| plan.cross_fit > 0);
        let (predictions, part) = match &trained.test {
            Some(test) => (test, "test rows not used in training"),
            None if is_cross_fitted => (
                &trained.validation,
                "rows that members of the model were trained on, because there are no test rows: columns may matter less for new rows",
            ),
            None => (
                &trained.validation,
                "validation rows, which also decided when training stopped, because there are no test rows",
            ),
        };
        ExplainedRows {
            table,
            matrix: trained.evaluated.matrix.clone(),
            rows: trained.evaluated.rows.clone(),
            labels: predictions.labels.clone(),
            weights: predictions.weights.clone(),
            part: part.into(),
        }
    }

    /// Number of rows on which the model is explained.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows on which the model could be explained.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Description of the rows on which the model is explained, such as `test rows not used in training`.
    pub(super) fn part(&self) -> &str {
        &self.part
    }
}

/// Returns an error if the table lacks columns that the model needs.
pub(in crate::evaluation) fn check_columns(model: &Model, table: &Table) -> Result<()> {
    let available: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let inputs = model.encoder.columns();
    let missing: Vec<&str> = inputs.iter().map(|(name, _)| *name).filter(|name| table.column(name).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let (problem, hint) = missing_columns(&missing, &available);
    let it_or_them = if missing.len() == 1 { "it" } else { "them" };
    Err(Error::data(Location::file(&table.file), format!("{problem}; the model needs {it_or_them}"), hint))
}

/// A random sample of [`ExplainedRows`], with the model that predicts them.
pub(super) struct SampledRows<'a> {
    pub model: &'a Model,
    pub predictor: Predictor<'a>,
    pub table: &'a Table,
    /// The index, in the table, of each row of the sample.
    pub table_rows: Vec<u32>,
    /// The features of each row of the sample, as the encoder of the model computes them.
    pub matrix: Matrix,
    /// The true class of each row of the sample, as an index into the classes of the model.
    pub labels: Vec<u32>,
    /// The weight of each row of the sample; 1 if there are no weights.
    pub weights: Vec<f64>,
}

/// Rows with changed features are copied and predicted in chunks of this many rows, so that the copies need little memory.
const CHUNK_ROWS: usize = 4096;

impl<'a> SampledRows<'a> {
    /// Takes a random sample of at most [`ExplainOptions::rows`] rows.
    pub fn new(model: &'a Model, rows: &ExplainedRows<'a>, options: &ExplainOptions) -> Result<Self> {
        let width = model.encoder.width();
        assert_eq!(rows.matrix.columns(), width, "the rows must be encoded by the encoder of the model");
        if rows.is_empty() {
            return Err(Error::data(
                Location::file(&rows.table.file),
                "has no rows on which the model can be explained",
                "give more rows",
            ));
        }
        let positions = sampled_positions(rows.len(), options.rows, options.seed, 0);
        let table_rows: Vec<u32> = positions.iter().map(|at| rows.rows[*at]).collect();
        let weight = |at: &usize| rows.weights.as_ref().map_or(1.0, |weights| weights[*at]);
        Ok(SampledRows {
            model,
            predictor: Predictor::new(model),
            table: rows.table,
            matrix: select_matrix_rows(&rows.matrix, table_rows.iter().map(|row| *row as usize)),
            table_rows,
            labels: positions.iter().map(|at| rows.labels[*at]).collect(),
            weights: positions.iter().map(weight).collect(),
        })
    }

    /// Takes a random sample of at most [`ExplainOptions::dependence_rows`] rows from this sample.
    pub fn sample_for_dependence(&self, options: &ExplainOptions) -> Self {
        let positions = sampled_positions(self.len(), options.dependence_rows, options.seed, 1);
        SampledRows {
            model: self.model,
            predictor: self.predictor,
            table: self.table,
            table_rows: positions.iter().map(|at| self.table_rows[*at]).collect(),
            matrix: select_matrix_rows(&self.matrix, positions.iter().copied()),
            labels: positions.iter().map(|at| self.labels[*at]).collect(),
            weights: positions.iter().map(|at| self.weights[*at]).collect(),
        }
    }

    /// Number of rows of the sample.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The encoder that computes the features of the model from the columns of a table.
    pub fn encoder(&self) -> &'a Encoder {
        &self.model.encoder
    }

    /// The predicted probabilities of all rows of the sample, with unchanged features.
    pub fn probabilities(&self) -> Result<Vec<f64>> {
        self.predictor.probabilities(&self.matrix, |at| self.place(at))
    }

    /// The predicted probabilities of the rows at `positions` of the sample. Before the prediction, `change` is called with the position and the
    /// features of each row and may replace features.
    pub fn changed_probabilities(&self, positions: &[u32], change: impl Fn(usize, &mut [f32])) -> Result<Vec<f64>> {
        let width = self.matrix.columns();
        let mut probabilities = Vec::with_capacity(positions.len() * self.predictor.outputs());
        let mut values = Vec::with_capacity(positions.len().min(CHUNK_ROWS) * width);
        for chunk in positions.chunks(CHUNK_ROWS) {
            values.clear();
            for position in chunk {
                let start = values.len();
                values.extend_from_slice(self.matrix.row(*position as usize));
                change(*position as usize, &mut values[start..]);
            }
            let Some(matrix) = Matrix::new(width, &values) else { continue };
            let place = |at: usize| self.place(chunk[at] as usize);
            probabilities.extend(self.predictor.probabilities(&matrix, place)?);
        }
        Ok(probabilities)
    }

    /// Where the row at this position of the sample is found: the file of the table, and the row in it.
    fn place(&self, position: usize) -> Location {
        self.table.place(self.table_rows[position] as usize)
    }
}

/// The positions from 0 to `count − 1`, in ascending order. If there are more than `at_most`, the result is a random sample of `at_most` of them,
/// without replacement. With the same seed, different values of `number` give independent samples.
fn sampled_positions(count: usize, at_most: usize, seed: u64, number: u64) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    if count > at_most {
        shuffle(&mut positions, &mut random(seed, Purpose::ExplainedRows, number));
        positions.truncate(at_most);
        positions.sort_unstable();
    }
    positions
}

/// A matrix of the given rows of another matrix.
fn select_matrix_rows(matrix: &Matrix, rows: impl Iterator<Item = usize>) -> Matrix {
    let values: Vec<f32> = rows.flat_map(|row| matrix.row(row).iter().copied()).collect();
    Matrix::new(matrix.columns(), &values).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_positions_are_used_if_there_are_few_and_a_sorted_sample_if_there_are_many() {
        assert_eq!(sampled_positions(5, 5, 1, 0), [0, 1, 2, 3, 4]);
        let drawn = sampled_positions(1000, 100, 1, 0);
        assert!(drawn.len() == 100 && drawn.is_sorted_by(|a, b| a < b) && drawn[99] > 900);
        assert_eq!(drawn, sampled_positions(1000, 100, 1, 0));
        assert_ne!(drawn, sampled_positions(1000, 100, 2, 0));
        assert_ne!(drawn, sampled_positions(1000, 100, 1, 1));
    }
}
