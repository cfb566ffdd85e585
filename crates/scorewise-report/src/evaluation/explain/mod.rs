//! Explains a model by its score: how much each column of the table helps, and how the predictions depend on a column.
//!
//! Let s be the score of the decisions of the model, converted to a scale on which greater is better (a score whose lower values are better is
//! multiplied by −1, for example). The *importance* of a column is
//!
//! ```text
//! I = 1/R Σᵣ (s(original rows) − s(rows in which permutation r has shuffled the column))
//! ```
//!
//! where R is the number of permutations.
//!
//! All features that stem from one column of the table (its levels, its lags, the parts of a time) are shuffled together. A positive importance says
//! that the model needs the column; the importance of a column that the model does not use is exactly 0. Columns that carry the same information each
//! get less importance, because the model can use one in place of the other.
//!
//! The 95 % interval of the importance takes into account that both the rows and the permutations are random. Each bootstrap replicate resamples
//! the rows, in the same way before and after shuffling, and draws R of the R permutations with replacement.
//!
//! The *partial dependence* on a column is the mean predicted probability over all rows when the column is set to one value in every row.
//!
//! Breiman, L. (2001). Random forests. Machine Learning 45, 5–32. doi:10.1023/A:1010933404324.
//! Friedman, J. H. (2001). Greedy function approximation: a gradient boosting machine. Annals of Statistics 29, 1189–1232.
//!
//! | file | contents |
//! |---|---|
//! | `rows` | the rows on which a model is explained |
//! | `importance` | permutations of columns and their bootstrap |
//! | `dependence` | grids of values, and mean predictions |

mod dependence;
mod importance;
mod rows;

use std::ops::ControlFlow;

use scorewise::sweep::MAX_REPLICATES;
use scorewise_train::learner::Member;
use scorewise_train::model::Model;
use scorewise_train::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::number::format_optional;
use importance::{DecidedScore, column_importance};
pub use rows::ExplainedRows;
use rows::SampledRows;
pub(super) use rows::check_columns;

/// Settings of an explanation: the numbers of permutations, rows and bootstrap replicates, and the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplainOptions {
    /// Number of permutations of each column, R.
    pub permutations: usize,
    /// The maximum number of rows on which the importance of columns is measured. If there are more rows, a random sample of this size is used.
    pub rows: usize,
    /// The maximum number of rows over which partial dependence is averaged, sampled from the rows on which the importance of columns is
    /// measured.
    pub dependence_rows: usize,
    /// Number of bootstrap replicates of the intervals.
    pub replicates: usize,
    /// Seed of the sample of rows, the permutations and the bootstrap.
    pub seed: u64,
}

impl Default for ExplainOptions {
    /// The default is 10 permutations and 10,000 rows. More permutations hardly make the interval of an importance narrower, because most of its
    /// width comes from the choice of rows. With 10,000 rows, the standard error of a share of rows is at most 0.005.
    fn default() -> Self {
        ExplainOptions { permutations: 10, rows: 10_000, dependence_rows: 1000, replicates: 1000, seed: 0 }
    }
}

impl ExplainOptions {
    /// Settings for the explanation in the report of a training run. The explanation should not make the training run noticeably longer, so it
    /// uses 2000 rows and 5 permutations, or fewer for a model whose predictions are slow or that has many columns. These numbers depend on an
    /// estimate of the work and not on a clock, so that the same training gives the same report. `None` if even the fewest rows and permutations
    /// would take too long.
    #[must_use]
    pub fn for_report(model: &Model) -> Option<Self> {
        let columns = model.encoder.matrix_columns().len() as f64;
        let affordable = REPORT_NANOSECONDS / row_nanoseconds(model);
        let is_slow = affordable < columns * 5.0 * 500.0;
        let permutations = if is_slow { 2 } else { 5 };
        let rows = 0.8 * affordable / (columns * permutations as f64);
        let dependence_rows = 0.2 * affordable / DEPENDENCE_PREDICTIONS;
        let options = ExplainOptions {
            permutations,
            rows: rows.clamp(200.0, 2000.0) as usize,
            dependence_rows: dependence_rows.clamp(50.0, 300.0) as usize,
            replicates: 400,
            seed: model.seed,
        };
        let predictions =
            (options.rows * permutations) as f64 * columns + options.dependence_rows as f64 * DEPENDENCE_PREDICTIONS;
        (predictions < 10.0 * affordable).then_some(options)
    }

    /// Returns an error if a setting is outside its range.
    fn check(&self) -> Result<()> {
        if !(1..=MAX_PERMUTATIONS).contains(&self.permutations) {
            let problem = format!("must be from 1 to {MAX_PERMUTATIONS}, not {}", self.permutations);
            return Err(Error::setting("permutations", problem, "10 are usual"));
        }
        if self.rows == 0 || self.dependence_rows == 0 {
            return Err(Error::setting("rows", "must be at least 1, not 0", "10000 are usual"));
        }
        if !(1..=MAX_REPLICATES).contains(&self.replicates) {
            let problem = format!("must be from 1 to {MAX_REPLICATES}, not {}", self.replicates);
            return Err(Error::setting("replicates", problem, "1000 are usual"));
        }
        Ok(())
    }
}

/// The time in nanoseconds that the explanation in the report of a training run should take on one core. With a slow model it may take up
/// to ten times as long.
const REPORT_NANOSECONDS: f64 = 1e9;

/// How many times each row is usually predicted for partial dependence: four columns with about 20 values each.
const DEPENDENCE_PREDICTIONS: f64 = 80.0;

/// The approximate time in nanoseconds that one core takes to predict a row. The factors are measured times of networks and of trees.
fn row_nanoseconds(model: &Model) -> f64 {
    let member = |member: &Member| match member {
        Member::Network(network) => {
            let products = network.shape().widths().windows(2).map(|pair| (pair[0] * pair[1]) as f64);
            products.sum::<f64>() / 20.0
        }
        Member::Trees(trees) => 30.0 * trees.roots().len() as f64,
    };
    100.0 + model.members.iter().map(member).sum::<f64>()
}

/// The maximum number of permutations of each column. More permutations hardly make the interval narrower.
pub const MAX_PERMUTATIONS: usize = 1000;

/// Number of columns whose partial dependence is computed.
pub const DEPENDENCE_COLUMNS: usize = 4;

/// The importance of the columns of a table for the score of a model, and the partial dependence on the most important columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// Name of the score that the model was trained for.
    pub score: String,
    /// The decision threshold of the model; `None` with more than two classes.
    pub threshold: Option<f64>,
    /// Number of rows on which the importance of columns is measured.
    pub rows: usize,
    /// The score of the model on the rows on which the importance of columns is measured; `None` when it is undefined.
    pub value: Option<f64>,
    /// Number of permutations of each column.
    pub permutations: usize,
    /// The importance of each column that the model was trained with; the most important column comes first.
    pub importance: Vec<ColumnImportance>,
    /// The partial dependence on the four most important columns. A column with only missing values is left out.
    pub partial_dependence: Vec<PartialDependence>,
    /// Number of rows with a known class. The importance was measured on `rows` of them.
    #[serde(default)]
    pub available_rows: usize,
    /// Number of rows over which partial dependence is averaged.
    #[serde(default)]
    pub dependence_rows: usize,
    /// Number of bootstrap replicates.
    #[serde(default)]
    pub replicates: usize,
    /// Seed of the sample of rows, the permutations and the bootstrap.
    #[serde(default)]
    pub seed: u64,
    /// Names of the classes; with two classes, the second is the positive one.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Description of the rows on which the model is explained, such as `test rows not used in training`.
    #[serde(default)]
    pub part: String,
}

/// The importance of a column for the score of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnImportance {
    /// Name of the column of the table.
    pub column: String,
    /// By how much the score is worse when the column is shuffled; `None` when the score is undefined.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval of the importance.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval of the importance.
    pub high: Option<f64>,
    /// The share of the column in the total gain of all splits of the model's trees; `None` if the model has no trees with known gains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
}

/// The mean predictions of a model when a column is set to one value in every row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartialDependence {
    /// Name of the column of the table.
    pub column: String,
    /// For a column of times: the part of the time that is set, `hour`, `weekday` (0 is Monday) or `day of the year` (from 0). The other
    /// parts keep their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// The values to which the column is set: quantiles of numbers, the most frequent levels, or the hours, weekdays or days of the year of
    /// a time.
    pub values: Vec<GridValue>,
    /// For each of `values`, the mean predicted probability of the positive class; with more than two classes, that of each class.
    pub probability: ClassMeans,
    /// For each of `values`, the share of the rows that the model predicts positive; with more than two classes, the share of the rows that the
    /// model assigns to each class.
    pub positive_share: ClassMeans,
}

/// A value to which a column is set for its partial dependence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GridValue {
    /// A number.
    Number(f64),
    /// A level of a categorical column, or a boolean.
    Text(String),
}

/// Partial dependence of the mean probabilities, or of the shares of rows, on the value to which a column is set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ClassMeans {
    /// With two classes: for each value to which the column is set, the mean probability or share of the positive class.
    Positive(Vec<f64>),
    /// With more than two classes: for each value to which the column is set, the mean probability or share of every class.
    Classes(Vec<Vec<f64>>),
}

impl Explanation {
    /// A few sentences that say what the importance of a column means, and on which rows it was measured.
    #[must_use]
    pub fn sentence(&self) -> String {
        let drawn = match self.available_rows > self.rows {
            true => format!("{} drawn from {} {}", self.rows, self.available_rows, self.part),
            false => format!("{} {}", self.rows, self.part),
        };
        let value = format_optional(self.value);
        format!(
            "The importance of a column is how much worse {0} gets when the column's values are shuffled among the rows. Above 0, the column helps the model. Without shuffling, {0} is {value} on {drawn}.",
            self.score
        )
    }
}

/// Measures the importance of every column that the model was trained with, and the partial dependence on the four most important columns.
///
/// After each step, `watch` is called with the number of finished steps and the number of all steps. If `watch` returns `Break`, the work is
/// stopped and the result is `None`. The work is distributed over the threads of the current rayon pool; their number does not change the result.
pub fn explain(
    model: &Model,
    rows: &ExplainedRows<'_>,
    options: &ExplainOptions,
    watch: &(dyn Fn(usize, usize) -> ControlFlow<()> + Sync),
) -> Result<Option<Explanation>> {
    options.check()?;
    let drawn = SampledRows::new(model, rows, options)?;
    let score = DecidedScore::new(model)?;
    let columns = model.encoder.matrix_columns();
    let dependence_columns = columns.len().min(DEPENDENCE_COLUMNS);
    let steps = columns.len() * options.permutations + dependence_columns;
    let Some((value, estimates)) =
        column_importance(&drawn, &columns, &score, options, &|done| watch(done, steps).is_continue())?
    else {
        return Ok(None);
    };
    let mut order: Vec<usize> = (0..columns.len()).collect();
    // Columns whose importance is undefined come last. The sort is stable, so columns with equal importance keep their order.
    let key = |column: &usize| estimates[*column].value.unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|first, second| key(second).total_cmp(&key(first)));
    let dependence_drawn = drawn.sample_for_dependence(options);
    let mut partial_dependence = Vec::new();
    for (number, column) in order.iter().take(dependence_columns).enumerate() {
        let (name, matrix_columns) = &columns[*column];
        partial_dependence.extend(dependence::partial_dependence(&drawn, &dependence_drawn, name, matrix_columns)?);
        if watch(columns.len() * options.permutations + number + 1, steps).is_break() {
            return Ok(None);
        }
    }
    // `gains` and `columns` list the columns in the same order, so an index of `columns` is also an index of `gains`.
    let gains = model.gain_of_columns();
    let importance = |column: &usize| ColumnImportance {
        column: columns[*column].0.to_owned(),
        value: estimates[*column].value,
        low: estimates[*column].low,
        high: estimates[*column].high,
        gain: gains.as_ref().map(|gains| gains[*column].1),
    };
    Ok(Some(Explanation {
        score: model.score.clone(),
        threshold: model.probability_threshold(),
        rows: drawn.len(),
        value,
        permutations: options.permutations,
        importance: order.iter().map(importance).collect(),
        partial_dependence,
        available_rows: rows.len(),
        dependence_rows: dependence_drawn.len(),
        replicates: options.replicates,
        seed: options.seed,
        classes: model.classes.clone(),
        part: rows.part().to_owned(),
    }))
}
