//! The exact distribution of the confusion matrix: every matrix that occurs as the threshold falls from 1 to 0, with its
//! probability.
//!
//! ```text
//! E[TP] = Σ w y F(p)        E[FP] = Σ w (1 − y) F(p)        Cov = Σ mₖ (CMₖ − E[CM])(CMₖ − E[CM])ᵀ
//! ```
//!
//! Here w, y and p are the weight, the label and the probability of a row, F is the distribution function of the prior, and mₖ the probability of
//! the matrix CMₖ.
//!
//! TP + FN = P and FP + TN = N at every threshold, so a matrix has two free cells, TP and FP. TP and FP rise
//! as the threshold falls.

use super::score_distribution::ScoreDistribution;
use super::sum::compensated_sum;
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::formula::ClassCounts;
use crate::loss::{Steps, score_values};
use crate::prior::Prior;
use crate::rows::{Predictions, Rows};
use crate::score::Score;

/// All confusion matrices of a data set under a prior, with their probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    /// True positives of each matrix, from the highest threshold to the lowest.
    tp: Vec<f64>,
    /// False positives of each matrix, from the highest threshold to the lowest.
    fp: Vec<f64>,
    probabilities: Vec<f64>,
    counts: ClassCounts,
    /// The number of matrices that occur at thresholds in [0, 1]. A prediction of 0 is never above such a threshold, so the last matrix,
    /// in which all rows are predicted positive, may not occur.
    reachable: usize,
}

impl Matrices {
    /// Sorts the rows and computes all matrices with their probabilities.
    pub fn new<P: Predictions>(prior: &Prior, rows: &Rows<'_, P>) -> Result<Self> {
        let Steps { tp, fp, masses: probabilities, counts, .. } = Steps::new(prior, rows)?;
        let has_zero = rows.predictions.values().iter().any(|value| P::probability(*value).p == 0.0);
        let reachable = tp.len() - usize::from(has_zero);
        Ok(Matrices { tp, fp, probabilities, counts, reachable })
    }

    /// The class counts P and N, which are the same in every matrix.
    #[must_use]
    pub fn counts(&self) -> ClassCounts {
        self.counts
    }

    /// Iterates over all matrices with their probabilities (possibly 0), from the highest threshold to the lowest.
    pub fn iter(&self) -> impl Iterator<Item = (Confusion, f64)> + '_ {
        let cells = self.tp.iter().zip(&self.fp).zip(&self.probabilities);
        cells.map(|((tp, fp), probability)| (Confusion::at(*tp, *fp, &self.counts), *probability))
    }

    /// The expectation `E[g(CM)]` of a function of the matrix.
    fn expectation(&self, g: impl Fn(&Confusion) -> f64) -> f64 {
        compensated_sum(self.iter().map(|(confusion, probability)| probability * g(&confusion)))
    }

    /// The expected confusion matrix `E[CM]`. Each cell is summed separately, so that small cells are accurate.
    #[must_use]
    pub fn expected(&self) -> Confusion {
        let cell = |k: usize| self.expectation(|confusion| confusion.array()[k]);
        Confusion::new(cell(0), cell(1), cell(2), cell(3))
    }

    /// The covariance matrix [[Var TP, Cov(TP, FP)], [Cov(TP, FP), Var FP]]; the covariances of the other cells follow from
    /// FN = P − TP and TN = N − FP.
    #[must_use]
    pub fn covariance(&self) -> [[f64; 2]; 2] {
        let mean = self.expected();
        let tp = |confusion: &Confusion| confusion.tp - mean.tp;
        let fp = |confusion: &Confusion| confusion.fp - mean.fp;
        let mixed = self.expectation(|confusion| tp(confusion) * fp(confusion));
        [[self.expectation(|c| tp(c) * tp(c)), mixed], [mixed, self.expectation(|c| fp(c) * fp(c))]]
    }

    /// The expected absolute difference between the absolute deviations of TN and of TP from their means,
    /// `J_F = E| |TN − E[TN]| − |TP − E[TP]| |`, as in Theorem 2 of Marchetti et al. (2022).
    #[must_use]
    pub fn deviation_difference(&self) -> f64 {
        let mean = self.expected();
        self.expectation(|confusion| ((confusion.tn - mean.tn).abs() - (confusion.tp - mean.tp).abs()).abs())
    }

    /// The distribution of a score under the random threshold.
    pub fn score_distribution(&self, score: &Score) -> Result<ScoreDistribution> {
        let mut values = vec![0.0; self.tp.len()];
        score_values(score, &self.tp, &self.fp, &self.counts, &mut values);
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Error::NotFinite { score: score.name().to_string() });
        }
        Ok(ScoreDistribution::from_values_and_probabilities(values.into_iter().zip(self.probabilities.iter().copied())))
    }

    /// The distribution of any function of the confusion matrix, such as one of its cells or its trace.
    #[must_use]
    pub fn distribution_of(&self, number: impl Fn(&Confusion) -> f64) -> ScoreDistribution {
        ScoreDistribution::from_values_and_probabilities(
            self.iter().map(|(confusion, probability)| (number(&confusion), probability)),
        )
    }

    /// The score of the expected matrix, `s(E[CM])`, which training with a score-oriented loss maximises.
    pub fn score_of_expectation(&self, score: &Score) -> Result<f64> {
        let value = score.value(&self.expected());
        if value.is_finite() { Ok(value) } else { Err(Error::NotFinite { score: score.name().to_string() }) }
    }

    /// The Jensen gap `E[s] − s(E[CM])`, which is 0 for a linear score.
    pub fn jensen_gap(&self, score: &Score) -> Result<f64> {
        Ok(self.score_distribution(score)?.mean() - self.score_of_expectation(score)?)
    }

    /// The best value of a score over all thresholds, including those of probability 0; `None` if the score is undefined at
    /// every threshold.
    #[must_use]
    pub fn best(&self, score: &Score) -> Option<f64> {
        let mut scratch = Vec::new();
        let all = self.tp.iter().zip(&self.fp).take(self.reachable);
        let checked = all.map(|(tp, fp)| score.formula().checked_at(*tp, *fp, &self.counts, &mut scratch));
        let defined =
            checked.filter(|checked| checked.defined && checked.value.is_finite()).map(|checked| checked.value);
        defined.max_by(|a, b| score.oriented_value(*a).total_cmp(&score.oriented_value(*b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Probabilities;

    #[test]
    fn three_different_predictions_give_four_confusion_matrices() {
        let rows = Rows::new(Probabilities(&[0.75, 0.5, 0.25]), &[true, false, true]).unwrap();
        let matrices = Matrices::new(&Prior::uniform(), &rows).unwrap();
        let cells: Vec<_> = matrices.iter().map(|(confusion, probability)| (confusion.array(), probability)).collect();
        let quarter = 0.25;
        assert_eq!(
            cells,
            [
                ([1.0, 0.0, 2.0, 0.0], quarter),
                ([1.0, 0.0, 1.0, 1.0], quarter),
                ([0.0, 1.0, 1.0, 1.0], quarter),
                ([0.0, 1.0, 0.0, 2.0], quarter)
            ]
        );
        assert_eq!(matrices.expected(), Confusion::new(0.5, 0.5, 1.0, 1.0));
        assert_eq!(matrices.covariance(), [[0.5, 0.25], [0.25, 0.25]]);
        // |TN − its mean| is ½ in all four matrices, and |TP − its mean| is 1, 0, 0 and 1. In every matrix these two numbers differ by ½, so the
        // mean of their absolute difference is ½.
        assert_eq!(matrices.deviation_difference(), 0.5);
        assert_eq!(matrices.distribution_of(|confusion| confusion.tn + confusion.tp).range(), (1.0, 2.0));
    }

    #[test]
    fn best_score_never_counts_a_prediction_of_zero_as_positive() {
        let recall = Score::parse("recall").unwrap();
        let rows = Rows::new(Probabilities(&[0.5, 0.0]), &[true, true]).unwrap();
        assert_eq!(Matrices::new(&Prior::uniform(), &rows).unwrap().best(&recall), Some(0.5));
        let rows = Rows::new(Probabilities(&[0.5, 1e-9]), &[true, true]).unwrap();
        assert_eq!(Matrices::new(&Prior::uniform(), &rows).unwrap().best(&recall), Some(1.0));
    }
}
