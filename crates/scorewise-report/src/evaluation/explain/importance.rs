//! The importance of columns: how much worse the score becomes when a column is shuffled.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;
use scorewise::multiclass::{MultiConfusion, MultiScore};
use scorewise::sweep::{BlockLength, Bootstrap, BootstrapDistribution, Resampling};
use scorewise::{Confusion, Purpose, Score, stream};
use scorewise_table::split::{random, shuffle};
use scorewise_train::Result;
use scorewise_train::model::Model;
use scorewise_train::plan::TrainingScore;

use super::ExplainOptions;
use super::rows::SampledRows;
use crate::evaluation::Estimate;

/// Number of rows in a block of the bootstrap. Blocks are resampled in place of single rows if the model uses or predicts values of other rows.
const BLOCK_ROWS: usize = 48;

/// The score that a model was trained for, computed from the confusion matrix of the decisions of the model.
pub(super) struct DecidedScore {
    classes: usize,
    kind: ScoreKind,
}

/// A score for two classes, or for more than two classes.
enum ScoreKind {
    Binary(Score),
    Classes(MultiScore),
}

impl DecidedScore {
    /// Returns the score that `model` was trained for.
    pub fn new(model: &Model) -> Result<Self> {
        let score: TrainingScore = model.score.parse()?;
        let kind = match model.decision.threshold() {
            Some(_) => ScoreKind::Binary(score.binary()?),
            None => ScoreKind::Classes(score.multiclass()),
        };
        Ok(DecidedScore { classes: model.classes.len(), kind })
    }

    /// The index of the cell of the confusion matrix for this true class and this decision. With two classes, the cells are in the order tn, fp,
    /// fn, tp.
    fn cell(&self, truth: u32, decision: u32) -> u16 {
        (truth as usize * self.classes + decision as usize) as u16
    }

    /// Number of cells of the confusion matrix.
    fn cells(&self) -> usize {
        self.classes * self.classes
    }

    /// The score of a confusion matrix; `None` when it is undefined.
    fn value(&self, cells: &[f64]) -> Option<f64> {
        match (&self.kind, cells) {
            (ScoreKind::Binary(score), &[tn, fp, fn_, tp]) => score.checked(&Confusion::new(tn, fp, fn_, tp)),
            (ScoreKind::Binary(_), _) => None,
            (ScoreKind::Classes(score), _) => score.checked(&MultiConfusion::new(self.classes, cells.to_vec()).ok()?),
        }
    }

    /// The score of a confusion matrix, converted to a scale on which greater is better; `None` when it is undefined.
    fn oriented_value(&self, cells: &[f64]) -> Option<f64> {
        let value = self.value(cells)?;
        Some(match &self.kind {
            ScoreKind::Binary(score) | ScoreKind::Classes(MultiScore::Classwise(_, score)) => {
                score.oriented_value(value)
            }
            ScoreKind::Classes(MultiScore::Costs(_)) => -value,
            ScoreKind::Classes(_) => value,
        })
    }
}

/// A row whose decision changes when a column is shuffled: the position of the row in the sample, and the cell of the confusion matrix in which
/// the row is counted before and after the shuffling.
#[derive(Clone, Copy)]
struct ChangedDecision {
    position: u32,
    before: u16,
    after: u16,
}

/// The score of the decisions on the rows, and for each column its importance with a 95 % interval. After each permutation of a column, `watch` is
/// called with the number of permutations that are finished. If `watch` returns false, the work is stopped and the result is `None`.
pub(super) fn column_importance(
    rows: &SampledRows<'_>,
    columns: &[(&str, Vec<usize>)],
    score: &DecidedScore,
    options: &ExplainOptions,
    watch: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Option<(Option<f64>, Vec<Estimate>)>> {
    let decisions = rows.predictor.labels(&rows.probabilities()?);
    let cells: Vec<u16> = rows.labels.iter().zip(&decisions).map(|(truth, label)| score.cell(*truth, *label)).collect();
    // All columns are shuffled by the same permutations, so that differences between columns depend less on chance.
    let permutations: Vec<Vec<u32>> = (0..options.permutations as u64)
        .map(|number| {
            let mut order: Vec<u32> = (0..rows.len() as u32).collect();
            shuffle(&mut order, &mut random(options.seed, Purpose::ColumnPermutation, number));
            order
        })
        .collect();
    let (done, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let changes_of_column = |(_, matrix_columns): &(&str, Vec<usize>)| -> Result<Vec<Vec<ChangedDecision>>> {
        let changes_of_permutation = |order: &Vec<u32>| {
            if is_stopped.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            let changes = changed_decisions(rows, matrix_columns, order, &cells, score)?;
            if !watch(done.fetch_add(1, Ordering::Relaxed) + 1) {
                is_stopped.store(true, Ordering::Relaxed);
            }
            Ok(changes)
        };
        permutations.iter().map(changes_of_permutation).collect()
    };
    let changes: Vec<Vec<Vec<ChangedDecision>>> = columns.par_iter().map(changes_of_column).collect::<Result<_>>()?;
    if is_stopped.into_inner() {
        return Ok(None);
    }

    let original = WeightedMatrix::new(&cells, &rows.weights, score);
    let once = vec![1; options.permutations];
    let values: Vec<Option<f64>> =
        changes.iter().map(|changes| original.importance(changes, &once, &rows.weights)).collect();
    let replicates = bootstrap_importance(rows, &cells, &changes, score, options)?;
    let estimate = |(column, value): (usize, &Option<f64>)| {
        let distribution = BootstrapDistribution::new(replicates.iter().map(|values| values[column]));
        Estimate::new(*value, value.and(distribution.interval(0.95)))
    };
    let estimates = values.iter().enumerate().map(estimate).collect();
    Ok(Some((score.value(&original.cells), estimates)))
}

/// The decisions that change when a column of the table is shuffled: row i gets its features in `matrix_columns` from the row `order[i]`.
fn changed_decisions(
    rows: &SampledRows<'_>,
    matrix_columns: &[usize],
    order: &[u32],
    cells: &[u16],
    score: &DecidedScore,
) -> Result<Vec<ChangedDecision>> {
    let matrix = &rows.matrix;
    // A row whose new features are equal to its own features keeps its decision, so it need not be predicted again.
    let differs = |position: &u32| {
        let (own, other) = (matrix.row(*position as usize), matrix.row(order[*position as usize] as usize));
        matrix_columns.iter().any(|column| own[*column] != other[*column])
    };
    let positions: Vec<u32> = (0..rows.len() as u32).filter(differs).collect();
    let probabilities = rows.changed_probabilities(&positions, |position, features| {
        let other = matrix.row(order[position] as usize);
        matrix_columns.iter().for_each(|column| features[*column] = other[*column]);
    })?;
    let changed = |(position, decision): (&u32, u32)| {
        let before = cells[*position as usize];
        let after = score.cell(rows.labels[*position as usize], decision);
        (before != after).then_some(ChangedDecision { position: *position, before, after })
    };
    Ok(positions.iter().zip(rows.predictor.labels(&probabilities)).filter_map(changed).collect())
}

/// The confusion matrix before any column is shuffled, and its score, converted to a scale on which greater is better. Each row counts with its
/// weight.
struct WeightedMatrix<'a> {
    score: &'a DecidedScore,
    cells: Vec<f64>,
    value: Option<f64>,
}

impl<'a> WeightedMatrix<'a> {
    /// Sums the weights of the rows in each cell of the confusion matrix. `cells_of_rows` holds the index of the cell of each row.
    fn new(cells_of_rows: &[u16], weights: &[f64], score: &'a DecidedScore) -> Self {
        let mut cells = vec![0.0; score.cells()];
        for (cell, weight) in cells_of_rows.iter().zip(weights) {
            cells[usize::from(*cell)] += weight;
        }
        let value = score.oriented_value(&cells);
        WeightedMatrix { score, cells, value }
    }

    /// The importance of a column: the mean of (score of the original rows − score after permutation r) over the permutations r, where
    /// permutation r counts `copies[r]` times. Permutations after which the score is undefined are left out. The result is `None` if no
    /// permutation is left.
    fn importance(&self, changes: &[Vec<ChangedDecision>], copies: &[u32], weights: &[f64]) -> Option<f64> {
        let original = self.value?;
        let (mut sum, mut count) = (0.0, 0.0);
        for (changes, copies) in changes.iter().zip(copies).filter(|(_, copies)| **copies > 0) {
            let copies = f64::from(*copies);
            if changes.is_empty() {
                count += copies;
                continue;
            }
            let mut cells = self.cells.clone();
            for ChangedDecision { position, before, after } in changes {
                let weight = weights[*position as usize];
                cells[usize::from(*before)] -= weight;
                cells[usize::from(*after)] += weight;
            }
            // Rounding errors may make a cell slightly negative after weights are subtracted from it.
            cells.iter_mut().for_each(|cell| *cell = cell.max(0.0));
            if let Some(value) = self.score.oriented_value(&cells) {
                sum += copies * (original - value);
                count += copies;
            }
        }
        (count > 0.0).then(|| sum / count)
    }
}

/// The importance of each column in each bootstrap replicate: one vector per replicate, with one number per column.
fn bootstrap_importance(
    rows: &SampledRows<'_>,
    cells: &[u16],
    changes: &[Vec<Vec<ChangedDecision>>],
    score: &DecidedScore,
    options: &ExplainOptions,
) -> Result<Vec<Vec<Option<f64>>>> {
    let is_series = rows.model.target.lead > 0 || rows.model.encoder.lags() > 0;
    let resampling = match is_series {
        true => Resampling::Blocks(BlockLength::Rows(BLOCK_ROWS)),
        false => Resampling::Poisson,
    };
    let bootstrap = Bootstrap { resampling, replicates: options.replicates, seed: options.seed };
    // Rows are resampled one by one (Poisson) or in blocks. Neither method uses the labels, so any labels may be passed.
    let unused_labels = vec![false; rows.len()];
    // The permutations are drawn with replacement. Stratified resampling does this if all permutations get the same label.
    let permutations = Bootstrap {
        resampling: Resampling::Stratified,
        seed: stream(options.seed, Purpose::PermutationBootstrap, 0),
        ..bootstrap
    };
    let one_class = vec![true; options.permutations];
    let replicate = |number: usize| -> Result<Vec<Option<f64>>> {
        let mut row_copies = vec![0; rows.len()];
        bootstrap.copies(number, &unused_labels, &mut row_copies)?;
        let mut permutation_copies = vec![0; options.permutations];
        permutations.copies(number, &one_class, &mut permutation_copies)?;
        let weights: Vec<f64> =
            row_copies.iter().zip(&rows.weights).map(|(copies, weight)| f64::from(*copies) * weight).collect();
        let original = WeightedMatrix::new(cells, &weights, score);
        Ok(changes.iter().map(|changes| original.importance(changes, &permutation_copies, &weights)).collect())
    };
    (0..options.replicates).into_par_iter().map(replicate).collect()
}
