//! Rows with similar predictions, pooled so that a calibration can be fitted to any number of rows.

use crate::error::Result;
use crate::prior::Probability;
use crate::rows::{Probabilities, Rows};
use crate::sweep::order_descending;

/// Maximum number of bins. The predictions in one bin differ so little that a fit to the bins gives practically the same calibration as a fit to the
/// rows.
const MAX_BINS: usize = 4096;

/// Rows with similar predictions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bin {
    /// The mean logit of the predictions.
    pub logit: f64,
    /// The sum of the weights of the positive rows.
    pub positives: f64,
    /// The sum of the weights of the negative rows.
    pub negatives: f64,
}

/// A division of rows into bins with similar predictions. The bins are in ascending order of their logits.
pub(super) struct BinnedRows {
    /// The mean logit of each bin.
    pub logits: Vec<f64>,
    /// The index of the bin of each row.
    bin_of_row: Vec<u32>,
    /// The weight of each row, divided by the mean weight; empty if every row counts as 1.
    weights: Vec<f64>,
}

impl BinnedRows {
    /// Sorts the rows and divides them into bins of about the same number of rows. Equal predictions are in the same bin.
    pub fn new(rows: &Rows<'_, Probabilities<'_, f64>>) -> Result<Self> {
        rows.check()?;
        let values = rows.predictions.0;
        let mut order = order_descending(values)?;
        order.reverse();
        let in_bin = values.len().div_ceil(MAX_BINS);
        let mut bin_of_row = vec![0; values.len()];
        let (mut logits, mut sum, mut count) = (Vec::new(), 0.0, 0usize);
        for (position, row) in order.iter().enumerate() {
            let value = values[*row as usize];
            bin_of_row[*row as usize] = logits.len() as u32;
            (sum, count) = (sum + logit(value), count + 1);
            let next = order.get(position + 1).map(|next| values[*next as usize]);
            if next.is_none_or(|next| count >= in_bin && next != value) {
                logits.push(sum / count as f64);
                (sum, count) = (0.0, 0);
            }
        }
        let total: f64 = (0..values.len()).map(|row| rows.weight(row)).sum();
        let mean = total / values.len() as f64;
        let weights = match rows.weights {
            Some(weights) if mean > 0.0 => weights.iter().map(|weight| weight / mean).collect(),
            _ => Vec::new(),
        };
        Ok(BinnedRows { logits, bin_of_row, weights })
    }

    /// All bins. Their weights count only the rows for which `is_included` is true.
    pub fn bins(&self, labels: &[bool], is_included: impl Fn(usize) -> bool) -> Vec<Bin> {
        let mut bins: Vec<Bin> = self.logits.iter().map(|logit| Bin { logit: *logit, ..Bin::default() }).collect();
        for (row, bin) in self.bin_of_row.iter().enumerate().filter(|(row, _)| is_included(*row)) {
            let weight = self.weights.get(row).copied().unwrap_or(1.0);
            let bin = &mut bins[*bin as usize];
            *(if labels[row] { &mut bin.positives } else { &mut bin.negatives }) += weight;
        }
        bins
    }
}

/// The logit of a probability; 0 and 1 are replaced by probabilities very close to them, so that the logit is finite.
fn logit(value: f64) -> f64 {
    let at = Probability::new(value.clamp(f64::MIN_POSITIVE, 1.0f64.next_down()));
    at.ln_p() - at.ln_q()
}
