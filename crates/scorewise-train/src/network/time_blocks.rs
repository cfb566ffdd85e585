//! Batches of a time series: blocks of consecutive rows, for a loss that weights errors by their timing.
//!
//! How much an error counts depends on the rows within a window before and after it, so a batch of single rows would not do. In every epoch, the
//! training rows are cut into blocks of consecutive rows at new places, the blocks are shuffled, and a batch consists of several blocks. The rows of
//! a window before and after a block come with it: they do not count themselves, but they decide how much the rows of the block count, and the
//! gradient reaches them. So the weighted matrices of all blocks sum to the weighted matrix of all training rows.

use std::borrow::Cow;
use std::ops::Range;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise_table::split::shuffle;

use super::training::stratify;
use crate::fit::{Sample, are_neighbours};

/// Number of rows of a block for each row of the window. Longer blocks need fewer additional rows for their windows; shorter blocks mix rows better.
const BLOCK_ROWS_FOR_EACH_WINDOW_ROW: usize = 16;

/// The rows of a batch.
pub(super) struct RowBatch<'a> {
    /// The indices of the rows. If the batch consists of blocks, a row may occur in a block and in the windows of other blocks.
    pub rows: Cow<'a, [u32]>,
    /// If the batch consists of blocks of a time series: the indices in `rows` at which a block begins (or the window before it), and for each row
    /// whether it counts. A row that is only part of a window does not count.
    pub blocks: Option<(Vec<usize>, Vec<bool>)>,
}

/// Cuts the training rows of a time series into blocks.
pub(super) struct TimeBlocks {
    /// The training rows in the order of time.
    rows: Vec<u32>,
    /// Stretches: ranges of indices in `rows` whose rows follow each other in time without a gap.
    stretches: Vec<Range<usize>>,
    /// Number of rows before and after a row that decide how much it counts.
    window: usize,
}

impl TimeBlocks {
    /// Prepares the blocks of the training rows of a sample. `places` are the places of all rows of the sample in the order of time.
    pub fn new(sample: &Sample<'_>, places: &[u32], window: usize) -> Self {
        let rows = sample.in_time_order(sample.training);
        let mut end = 0;
        let stretches = rows
            .chunk_by(|first, second| are_neighbours(places, *first, *second))
            .map(|stretch| {
                end += stretch.len();
                end - stretch.len()..end
            })
            .collect();
        TimeBlocks { rows, stretches, window }
    }

    /// The batches of an epoch with about `batch_size` rows each, not counting the rows of the windows. Blocks with an event (a row of class 1) are
    /// evenly divided among the batches.
    pub fn batches(&self, labels: &[u32], batch_size: usize, random: &mut Xoshiro256PlusPlus) -> Vec<RowBatch<'_>> {
        if batch_size >= self.rows.len() {
            let starts = self.stretches.iter().map(|stretch| stretch.start).collect();
            let counts = vec![true; self.rows.len()];
            return vec![RowBatch { rows: Cow::Borrowed(&self.rows), blocks: Some((starts, counts)) }];
        }
        let length = (self.window * BLOCK_ROWS_FOR_EACH_WINDOW_ROW).min(batch_size).max(1);
        let mut blocks: Vec<(Range<usize>, &Range<usize>)> = Vec::new();
        for stretch in &self.stretches {
            // The first block of a stretch has a random length, so that the blocks begin at other rows in every epoch.
            let mut start = stretch.start;
            let mut end = start + 1 + (random.next_u64() % length as u64) as usize;
            while start < stretch.end {
                blocks.push((start..end.min(stretch.end), stretch));
                (start, end) = (end, end + length);
            }
        }
        let mut order: Vec<u32> = (0..blocks.len() as u32).collect();
        shuffle(&mut order, random);
        let has_event = |(block, _): &(Range<usize>, _)| {
            u32::from(self.rows[block.clone()].iter().any(|row| labels[*row as usize] == 1))
        };
        stratify(&mut order, &blocks.iter().map(has_event).collect::<Vec<_>>(), 2);
        let total = self.rows.len();
        let number = (total as f64 / batch_size as f64).round().max(1.0) as usize;
        let (mut batches, mut batch, mut used) = (Vec::with_capacity(number), OwnedBatch::default(), 0);
        for block in order {
            let (block, stretch) = &blocks[block as usize];
            batch.add(&self.rows, block, stretch, self.window);
            used += block.len();
            // The batch is complete when the batches so far, including this one, have their share of the rows, which is 1/`number` for each batch.
            if used * number >= (batches.len() + 1) * total {
                batches.push(std::mem::take(&mut batch).into_batch());
            }
        }
        batches
    }
}

/// The rows of a batch while blocks are added to it.
#[derive(Default)]
struct OwnedBatch {
    rows: Vec<u32>,
    starts: Vec<usize>,
    counts: Vec<bool>,
}

impl OwnedBatch {
    /// Adds a block and the rows of the windows before and after it. `block` and `stretch` are ranges of indices in `rows`. The rows of the stretch
    /// follow each other without a gap, and rows outside it are left out of the windows.
    fn add(&mut self, rows: &[u32], block: &Range<usize>, stretch: &Range<usize>, window: usize) {
        let with_window = block.start.saturating_sub(window).max(stretch.start)..(block.end + window).min(stretch.end);
        self.starts.push(self.rows.len());
        self.counts.extend(with_window.clone().map(|row| block.contains(&row)));
        self.rows.extend(&rows[with_window]);
    }

    fn into_batch(self) -> RowBatch<'static> {
        RowBatch { rows: Cow::Owned(self.rows), blocks: Some((self.starts, self.counts)) }
    }
}

#[cfg(test)]
mod tests {
    use scorewise::temporal::{TemporalLoss, Weighting};
    use scorewise::{Prior, Purpose, Score};
    use scorewise_table::Matrix;
    use scorewise_table::split::random;

    use super::*;
    use crate::fit::{Batch, Objective};

    /// The labels of 300 rows, and their places in the order of time. The rows are not sorted by time, and two places are left out, as at gaps.
    fn labels_and_places() -> (Vec<u32>, Vec<u32>) {
        let place = |row: u32| {
            let at = row * 7 % 300;
            at + u32::from(at >= 100) + u32::from(at >= 230)
        };
        let labels = (0..300).map(|row| u32::from(place(row) * 37 % 53 < 6)).collect();
        (labels, (0..300).map(place).collect())
    }

    #[test]
    fn the_weighted_matrices_of_the_blocks_sum_to_the_matrix_of_all_rows() {
        let (labels, places) = labels_and_places();
        let (matrix, training) = (Matrix::new(1, &[0.0; 300]).unwrap(), (0..300).collect::<Vec<u32>>());
        let sample = Sample {
            matrix: &matrix,
            binned: None,
            labels: &labels,
            classes: 2,
            weights: None,
            places: Some(&places),
            training: &training,
            validation: &training,
        };
        let logit = |row: &u32| (row * 29 % 97) as f32 / 20.0 - 3.5;
        for weighting in [Weighting::default(), Weighting::sum(&[0.5, 0.25]).unwrap()] {
            let window = weighting.window();
            let loss = TemporalLoss::new(Score::parse("csi").unwrap(), Prior::cosine(0.5, 0.4).unwrap(), weighting);
            let blocks = TimeBlocks::new(&sample, &places, window);
            assert_eq!(blocks.stretches, [0..100, 100..230, 230..300]);
            let mut random = random(3, Purpose::BatchOrder, 0);
            let mut matrix_of = |batch_size: usize| {
                let mut batch = Batch::default();
                let (mut cells, mut counted) = ([0.0; 4], 0);
                let batches = blocks.batches(&labels, batch_size, &mut random);
                for RowBatch { rows, blocks } in &batches {
                    let (starts, counts) = blocks.as_ref().unwrap();
                    batch.gather_series((&labels, None, &places), rows, (starts, Some(counts)));
                    batch.logits = rows.iter().map(logit).collect();
                    let expected = loss.expect(&batch.series().unwrap()).array();
                    cells.iter_mut().zip(expected).for_each(|(cell, more)| *cell += more);
                    counted += counts.iter().filter(|counts| **counts).count();
                }
                assert_eq!(counted, 300);
                (cells, batches.len())
            };
            let (whole, one) = matrix_of(300);
            assert_eq!(one, 1);
            for batch_size in [10, 64, 100] {
                let (cells, number) = matrix_of(batch_size);
                assert!(number > 1 && number <= 300 / batch_size + 1);
                for (cell, whole) in cells.into_iter().zip(whole) {
                    assert!((cell - whole).abs() < 1e-9 * whole.max(1.0), "{cell}, {whole}");
                }
            }
        }
    }

    #[test]
    fn the_gradient_of_a_batch_of_blocks_matches_finite_differences() {
        let (labels, places) = labels_and_places();
        let mut in_time: Vec<u32> = (0..300).collect();
        in_time.sort_by_key(|row| places[*row as usize]);
        let rows: Vec<u32> = [&in_time[..40], &in_time[35..60], &in_time[90..110]].concat();
        let counts: Vec<bool> = (0..rows.len()).map(|index| index % 13 > 1).collect();
        let loss =
            TemporalLoss::new(Score::parse("csi").unwrap(), Prior::cosine(0.5, 0.4).unwrap(), Weighting::default());
        let objective = Objective::Temporal(loss);
        let mut batch = Batch::default();
        batch.gather_series((&labels, None, &places), &rows, (&[0, 40, 65], Some(&counts)));
        // The logits are multiples of 1/64 and all different, so that a step of 1/512 does not change their order and is exact in f32.
        let logits: Vec<f32> = (0..rows.len()).map(|index| (index * 31 % 85) as f32 / 64.0 - 0.7).collect();
        batch.logits.copy_from_slice(&logits);
        objective.value_and_gradient(&mut batch).unwrap();
        let gradient = batch.gradient.clone();
        assert!(gradient.iter().any(|slope| slope.abs() > 1e-3));
        for (index, slope) in gradient.iter().enumerate() {
            let mut at = |step: f32| {
                batch.logits.copy_from_slice(&logits);
                batch.logits[index] += step;
                objective.value(&batch).unwrap()
            };
            let step = 1.0 / 512.0;
            let difference = (at(step) - at(-step)) / f64::from(2.0 * step);
            let slope = f64::from(*slope);
            assert!((slope - difference).abs() < 1e-5, "row {index}: gradient {slope}, finite difference {difference}");
        }
    }
}
