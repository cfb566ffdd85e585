//! Costs that differ from row to row: each row has its own cost of a false alarm and its own cost of a miss.
//!
//! A false alarm can only happen to a negative row and a miss only to a positive row, so every row has a single cost cᵢ, which is paid if the row is
//! predicted wrongly. The total cost at a threshold is therefore fp + fn of the confusion matrix in which row i has the weight cᵢ, and one sort of
//! the rows gives it at all thresholds:
//!
//! ```text
//! C(τ) = Σ sᵢ cᵢ [row i is predicted wrongly at τ]        mean cost per row = C(τ) / Σ sᵢ        sᵢ: the sample weight of row i, usually 1
//! ```
//!
//! *Intervals.* The mean cost is a mean over rows, and not a ratio of two sums of costs: a row that could have cost much but is predicted correctly
//! counts like any other row. Let μ be the mean cost, V the variance of its error ([`effective`](super::effective)), and S = Σ sᵢ. A replicate is
//!
//! ```text
//! θ Gamma(μ/θ) + θ₀ Gamma(½)        θ = V/μ        θ₀ = Σ (sᵢ cᵢ)² / (S Σ sᵢ cᵢ)
//! ```
//!
//! The first term has the mean μ and the variance V (Fay and Feuer 1997). The second term adds half an error: θ₀ is what an error adds to the mean
//! cost on average, if its row is drawn with a probability proportional to its cost. Without the second term, the interval would have no width if
//! there are no errors. If all costs are 1 and errors are rare, this is the interval of Jeffreys for their number.
//!
//! Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI-01, 973–978.
//!
//! Fay, M. P. & Feuer, E. J. (1997). Confidence intervals for directly standardized rates: a method based on the gamma distribution. Statistics in
//! Medicine 16, 791–801. doi:10.1002/(SICI)1097-0258(19970415)16:7<791::AID-SIM500>3.0.CO;2-#.

use super::Condition;
use super::bootstrap::{BestDistribution, BlockLength, Bootstrap, Resampling};
use super::cells::cell_index;
use super::counts::{correlation, variance_of_rows};
use super::cross_fit::{FOLDS, repeats_for};
use super::distribution::BootstrapDistribution;
use super::draw::random_gamma;
use super::effective::{safe_block_length, share_for};
use super::paired::PairedScores;
use super::scan::{BestInterval, best_interval};
use super::sort::map_parallel;
use crate::confusion::{Confusion, is_positive};
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{Probabilities, Rows, check_same_length};
use crate::score::Score;

/// Predictions and labels whose errors have costs that differ from row to row.
///
/// ```
/// use scorewise::sweep::CostRows;
/// use scorewise::{Probabilities, Rows};
///
/// // Four transactions: the inspection of a good transaction costs 5, and a missed fraud costs its amount.
/// let rows = Rows::new(Probabilities(&[0.9, 0.6, 0.5, 0.1]), &[true, false, true, false])?;
/// let rows = CostRows::new(&rows, &[5.0; 4], &[80.0, 12.0, 300.0, 40.0])?;
/// assert_eq!(rows.at(0.55).misses, 300.0);
/// let best = rows.best(&[]).unwrap();
/// assert_eq!((best.interval, best.costs.total(), best.costs.per_row()), ((0.1, 0.5), 5.0, 1.25));
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CostRows<'a> {
    labels: &'a [bool],
    /// The predicted probability of each row.
    probabilities: Vec<f64>,
    /// The sample weight of each row.
    weights: Vec<f64>,
    /// The cost of each row if it is predicted wrongly, without its sample weight.
    costs: Vec<f64>,
    /// The distinct predictions in descending order.
    predictions: Vec<f64>,
    /// For each row, the index of its prediction in `predictions`.
    ranks: Vec<u32>,
    /// The number θ₀ of the module documentation, the average by which an error on a random row increases the mean cost; 0 if all costs are 0.
    error_on_random_row: f64,
    /// See [`CostRows::score`].
    score: Score,
}

/// The costs of the errors at a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// The total cost of the false alarms.
    pub false_alarms: f64,
    /// The total cost of the misses.
    pub misses: f64,
    /// The total sample weight of all rows: their number, if the rows have no sample weights.
    pub rows: f64,
}

impl Costs {
    /// The total cost of all errors.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.false_alarms + self.misses
    }

    /// The mean cost per row.
    #[must_use]
    pub fn per_row(&self) -> f64 {
        self.total() / self.rows
    }
}

/// The threshold with the lowest total cost.
#[derive(Clone, Debug, PartialEq)]
pub struct BestCost {
    /// The threshold to use, in the middle of `interval`.
    pub threshold: f64,
    /// The widest interval of thresholds with the lowest cost. It contains its lower but not its upper end, unless the upper end is 1 and no
    /// prediction is 1.
    pub interval: (f64, f64),
    /// The number of separate intervals of thresholds with the lowest cost.
    pub intervals: usize,
    /// The costs at the threshold.
    pub costs: Costs,
    /// The confusion matrix at the threshold, in which every row has its sample weight.
    pub confusion: Confusion,
}

/// The mean cost per row on new rows of a threshold that was chosen on the sample; see [`Bootstrap::corrected_best_cost`].
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedCost {
    /// The mean cost per row.
    pub value: f64,
    /// The bootstrap distribution of the mean cost.
    pub distribution: BootstrapDistribution,
}

/// The costs at all thresholds, and the confusion matrices if they are needed. Index i of each vector stands for the thresholds below exactly i
/// distinct predictions.
struct CostsByThreshold {
    /// The total cost of the false alarms at each threshold.
    false_alarms: Vec<f64>,
    /// The total cost of the misses at each threshold.
    misses: Vec<f64>,
    /// The confusion matrix at each threshold; empty if the matrices are not needed.
    matrices: Vec<Confusion>,
}

impl CostsByThreshold {
    /// The best threshold among those that satisfy the conditions.
    fn best(&self, predictions: &[f64], conditions: &[Condition]) -> Option<BestInterval> {
        // Costs are divided by the greatest possible cost, so that rounding errors are judged relative to it.
        let greatest = (self.misses[0] + self.false_alarms[self.false_alarms.len() - 1]).max(f64::MIN_POSITIVE);
        // A condition with a confidence is never satisfied, because there is no test of it here.
        let is_met = |condition: &Condition, matrix| condition.confidence().is_none() && condition.holds(matrix);
        let satisfies = |above: usize| conditions.iter().all(|condition| is_met(condition, &self.matrices[above]));
        best_interval(predictions, |above| {
            satisfies(above).then(|| -(self.false_alarms[above] + self.misses[above]) / greatest)
        })
    }
}

impl<'a> CostRows<'a> {
    /// Combines rows with the cost of a false alarm and the cost of a miss of each row. Only the costs that can be paid are read: those of false
    /// alarms for negative rows, and those of misses for positive rows. They must be finite and not negative.
    pub fn new<R: Real>(rows: &Rows<'a, Probabilities<'_, R>>, false_alarms: &[f64], misses: &[f64]) -> Result<Self> {
        check_same_length("costs of false alarms", rows.len(), false_alarms.len())?;
        check_same_length("costs of misses", rows.len(), misses.len())?;
        rows.check()?;
        let labels = rows.labels;
        let costs: Vec<f64> =
            (0..rows.len()).map(|row| if labels[row] { misses[row] } else { false_alarms[row] }).collect();
        for (row, &value) in costs.iter().enumerate() {
            let what = if labels[row] { "costs of misses" } else { "costs of false alarms" };
            if value.is_nan() {
                return Err(Error::NotANumber { what, row });
            }
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::OutOfRange { what, row, value, bounds: "a finite number at or above 0" });
            }
        }
        let probabilities: Vec<f64> = rows.predictions.0.iter().map(|value| value.to_f64()).collect();
        let mut predictions = probabilities.clone();
        predictions.sort_unstable_by(|a, b| b.total_cmp(a));
        predictions.dedup();
        let rank = |value: &f64| predictions.partition_point(|prediction| prediction > value) as u32;
        let ranks = probabilities.iter().map(rank).collect();
        let weights: Vec<f64> = (0..rows.len()).map(|row| rows.weight(row)).collect();
        if weights.iter().sum::<f64>() == 0.0 {
            let reason = "are 0 for all rows; at least one row needs a weight above 0".into();
            return Err(Error::Setting { what: "weights", reason });
        }
        let all = || weights.iter().zip(&costs).map(|(weight, cost)| weight * cost);
        let (sum, squares) = all().fold((0.0, 0.0), |(sum, squares), cost| (sum + cost, squares + cost * cost));
        if !squares.is_finite() {
            return Err(Error::Setting { what: "costs", reason: "are too large: their sum is not finite".into() });
        }
        let error_on_random_row = if sum > 0.0 { squares / sum / weights.iter().sum::<f64>() } else { 0.0 };
        let score = Score::parse("cost(fp=1, fn=1)")
            .map_err(|error| Error::Setting { what: "costs", reason: error.to_string() })?
            .with_name("cost per row");
        Ok(CostRows { labels, probabilities, weights, costs, predictions, ranks, error_on_random_row, score })
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Always false, because there is at least one row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// A score that has the name and the direction (lower is better) of the mean cost per row. The mean cost itself cannot be computed from a
    /// confusion matrix of counts.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The costs at a threshold.
    #[must_use]
    pub fn at(&self, threshold: f64) -> Costs {
        let mut costs = Costs::default();
        for row in 0..self.len() {
            let cost = self.weights[row] * self.costs[row];
            costs.rows += self.weights[row];
            match (self.labels[row], is_positive(self.probabilities[row], threshold)) {
                (false, true) => costs.false_alarms += cost,
                (true, false) => costs.misses += cost,
                _ => {}
            }
        }
        costs
    }

    /// The costs of the forecast that always gives an alarm: every negative row is a false alarm.
    #[must_use]
    pub fn of_alarm_always(&self) -> Costs {
        self.at(-1.0)
    }

    /// The costs of the forecast that never gives an alarm: every positive row is a miss.
    #[must_use]
    pub fn of_alarm_never(&self) -> Costs {
        self.at(1.0)
    }

    /// The confusion matrix at a threshold, in which every row has its sample weight.
    #[must_use]
    pub fn confusion(&self, threshold: f64) -> Confusion {
        let mut sums = [0.0; 4];
        for row in 0..self.len() {
            sums[usize::from(cell_index(self.labels[row], self.probabilities[row], threshold))] += self.weights[row];
        }
        Confusion::new(sums[0], sums[1], sums[2], sums[3])
    }

    /// The threshold with the lowest total cost among those at which the confusion matrix, in which every row has its sample weight, satisfies the
    /// conditions; `None` if no threshold does.
    #[must_use]
    pub fn best(&self, conditions: &[Condition]) -> Option<BestCost> {
        let found = self.costs_by_threshold(|_| 1.0, !conditions.is_empty()).best(&self.predictions, conditions)?;
        let BestInterval { threshold, interval, intervals, .. } = found;
        let (costs, confusion) = (self.at(threshold), self.confusion(threshold));
        Some(BestCost { threshold, interval, intervals, costs, confusion })
    }

    /// The costs of every interval of thresholds with the same predicted labels, from the highest thresholds to the lowest. An interval (low, high)
    /// contains its lower but not its upper end; only the first interval also contains its upper end, 1.
    pub fn intervals(&self) -> impl Iterator<Item = ((f64, f64), Costs)> {
        let CostsByThreshold { false_alarms, misses, .. } = self.costs_by_threshold(|_| 1.0, false);
        let rows = self.weights.iter().sum();
        let intervals = false_alarms.into_iter().zip(misses).enumerate();
        intervals.filter_map(move |(above, (false_alarms, misses))| {
            let ends = super::scan::interval_below(&self.predictions, above);
            super::scan::has_thresholds(ends, above).then_some((ends, Costs { false_alarms, misses, rows }))
        })
    }

    /// The costs at all thresholds if each row counts `copies(row)` times. `with_matrices` tells whether the confusion matrices are also computed.
    fn costs_by_threshold(&self, copies: impl Fn(usize) -> f64, with_matrices: bool) -> CostsByThreshold {
        let steps = self.predictions.len() + 1;
        // The vectors first contain the costs of the rows with each prediction. Then false alarms are summed from the highest prediction down and
        // misses from the lowest up. So nothing is subtracted, and a cost of 0 is exactly 0.
        let (mut false_alarms, mut misses) = (vec![0.0; steps], vec![0.0; steps]);
        let mut counts = if with_matrices { vec![(0.0, 0.0); steps] } else { Vec::new() };
        let mut totals = (0.0, 0.0);
        for row in 0..self.len() {
            let weight = copies(row) * self.weights[row];
            if weight == 0.0 {
                continue;
            }
            let rank = self.ranks[row] as usize;
            let cost = weight * self.costs[row];
            if self.labels[row] {
                misses[rank] += cost;
            } else {
                false_alarms[rank + 1] += cost;
            }
            if with_matrices {
                let (count, total) = match self.labels[row] {
                    true => (&mut counts[rank + 1].0, &mut totals.0),
                    false => (&mut counts[rank + 1].1, &mut totals.1),
                };
                *count += weight;
                *total += weight;
            }
        }
        for step in 1..steps {
            false_alarms[step] += false_alarms[step - 1];
            misses[steps - 1 - step] += misses[steps - step];
        }
        let classes = crate::formula::ClassCounts { positives: totals.0, negatives: totals.1 };
        let (mut tp, mut fp) = (0.0, 0.0);
        let matrix = |(positives, negatives): &(f64, f64)| {
            (tp, fp) = (tp + positives, fp + negatives);
            Confusion::at(tp, fp, &classes)
        };
        let matrices = counts.iter().map(matrix).collect();
        CostsByThreshold { false_alarms, misses, matrices }
    }

    /// The cost that each row pays, including its sample weight, if `threshold_of_row` returns the threshold for each row.
    fn paid(&self, threshold_of_row: impl Fn(usize) -> f64) -> Vec<f64> {
        let paid = |row: usize| {
            let is_error = is_positive(self.probabilities[row], threshold_of_row(row)) != self.labels[row];
            if is_error { self.weights[row] * self.costs[row] } else { 0.0 }
        };
        (0..self.len()).map(paid).collect()
    }

    /// For each row, its contribution to the error of the mean cost. The error is the mean cost of the sample minus that of the population.
    fn terms(&self, paid: &[f64]) -> Vec<f64> {
        let weight: f64 = self.weights.iter().sum();
        let mean = paid.iter().sum::<f64>() / weight;
        paid.iter().zip(&self.weights).map(|(paid, own)| (paid - own * mean) / weight).collect()
    }

    /// The mean cost per row and the variance of this mean. `paid` contains the cost that each row pays, including its sample weight.
    fn mean_and_variance(&self, paid: &[f64], resampling: Resampling<'_>) -> (f64, f64) {
        let mean = paid.iter().sum::<f64>() / self.weights.iter().sum::<f64>();
        (mean, self.variance(&self.terms(paid), resampling))
    }

    /// The variance of the sum of `terms`, which contains one term for each row. It is increased if it can only be estimated with few degrees of
    /// freedom.
    fn variance(&self, terms: &[f64], resampling: Resampling<'_>) -> f64 {
        let is_present: Vec<bool> = self.weights.iter().map(|weight| *weight > 0.0).collect();
        let (variance, freedom) = variance_of_rows(terms, &is_present, resampling);
        variance / share_for(freedom)
    }

    /// The total sample weight of the rows, where `copies` tells how often each row occurs.
    fn weight_of_copies(&self, copies: &[u32]) -> f64 {
        self.weights.iter().zip(copies).map(|(weight, copies)| weight * f64::from(*copies)).sum()
    }

    /// The best threshold and its mean cost per row, where `copies` tells how often each row occurs; `None` if no threshold satisfies the conditions
    /// or no row occurs.
    fn best_of_copies(&self, copies: &[u32], conditions: &[Condition]) -> Option<(f64, f64)> {
        let weight = self.weight_of_copies(copies);
        let costs = self.costs_by_threshold(|row| f64::from(copies[row]), !conditions.is_empty());
        let found = costs.best(&self.predictions, conditions)?;
        (weight > 0.0)
            .then(|| (found.threshold, (costs.false_alarms[found.above] + costs.misses[found.above]) / weight))
    }
}

impl Bootstrap<'_> {
    /// The distribution of the mean cost per row at a threshold. Rows, blocks of rows or groups of rows can be resampled; with
    /// [`Resampling::Stratified`], rows are treated as with [`Resampling::Poisson`].
    pub fn mean_cost(&self, rows: &CostRows<'_>, threshold: f64) -> Result<BootstrapDistribution> {
        self.check_settings_for(rows.len())?;
        let (mean, variance) = rows.mean_and_variance(&rows.paid(|_| threshold), self.resampling);
        Ok(self.distribution_of_mean_cost(rows, mean, variance / mean))
    }

    /// The bootstrap distribution of a mean cost per row. `mean` and `scale` are μ and θ of the module documentation.
    fn distribution_of_mean_cost(&self, rows: &CostRows<'_>, mean: f64, scale: f64) -> BootstrapDistribution {
        let values = self.map_replicates(|replicate| {
            let mut random = self.generator_of_replicate(replicate);
            let paid = match scale {
                // If there are no errors, or if all rows pay the same, the first term of the replicate does not vary.
                _ if mean == 0.0 || scale == 0.0 => mean,
                scale => scale * random_gamma(&mut random, mean / scale),
            };
            let value = paid + rows.error_on_random_row * random_gamma(&mut random, 0.5);
            value.is_finite().then_some(value)
        });
        BootstrapDistribution::new(values.into_iter())
    }

    /// The same bootstrap with [`BlockLength::Auto`] replaced by a block length that suits the mean cost at `threshold`. This length is computed from
    /// `rows`.
    #[must_use]
    pub fn with_block_length_of_costs(&self, rows: &CostRows<'_>, threshold: f64) -> Self {
        if self.resampling != Resampling::Blocks(BlockLength::Auto) {
            return *self;
        }
        let length = safe_block_length(&rows.terms(&rows.paid(|_| threshold)));
        Bootstrap { resampling: Resampling::Blocks(BlockLength::Rows(length)), ..*self }
    }

    /// The distributions of the threshold with the lowest cost ([`CostRows::best`]), and of the mean cost per row at this threshold.
    pub fn best_cost(&self, rows: &CostRows<'_>, conditions: &[Condition]) -> Result<BestDistribution> {
        let threshold = rows.best(conditions).map_or(0.5, |best| best.threshold);
        let resolved = self.with_block_length_of_costs(rows, threshold);
        resolved.best_of_copies(rows.labels, |copies| rows.best_of_copies(copies, conditions))
    }

    /// An estimate, by cross-fitting, of the mean cost per row that the threshold with the lowest cost has on new rows: each of five folds of the
    /// rows is classified with the threshold that has the lowest cost on the other folds. `None` if there is no best threshold for all rows, or for
    /// the rows outside one of the folds.
    pub fn corrected_best_cost(&self, rows: &CostRows<'_>, conditions: &[Condition]) -> Result<Option<CorrectedCost>> {
        self.check_settings_for(rows.len())?;
        let Some(best) = rows.best(conditions) else { return Ok(None) };
        let resolved = self.with_block_length_of_costs(rows, best.threshold);
        let repeats = repeats_for(rows.len());
        let totals = map_parallel((0..repeats).collect(), |repeat| {
            let folds = resolved.random_folds(rows.labels, repeat);
            let mut thresholds = [0.5; FOLDS];
            for (fold, threshold) in (0u8..).zip(&mut thresholds).filter(|(fold, _)| folds.contains(fold)) {
                let copies: Vec<u32> = folds.iter().map(|other| u32::from(*other != fold)).collect();
                *threshold = rows.best_of_copies(&copies, conditions)?.0;
            }
            Some(rows.paid(|row| thresholds[usize::from(folds[row])]).into_iter().sum::<f64>())
        });
        let Some(totals) = totals.into_iter().collect::<Option<Vec<f64>>>() else { return Ok(None) };
        let value = totals.into_iter().sum::<f64>() / repeats as f64 / best.costs.rows;
        let (mean, variance) = rows.mean_and_variance(&rows.paid(|_| best.threshold), resolved.resampling);
        // If the best threshold has no errors on the sample, the variance says nothing about the errors on new rows.
        let scale = if mean > 0.0 { variance / mean } else { rows.error_on_random_row };
        Ok(Some(CorrectedCost { value, distribution: resolved.distribution_of_mean_cost(rows, value, scale) }))
    }

    /// Compares the mean costs per row of two forecasts of the same rows, each at its own threshold.
    ///
    /// The replicates of the two mean costs are drawn separately and then paired so that they have the right correlation. It is computed from the
    /// variances of the two mean costs and of their difference, as for tables of counts ([`Bootstrap::paired_counts`]).
    pub fn paired_costs(
        &self,
        first: &CostRows<'_>,
        second: &CostRows<'_>,
        thresholds: [f64; 2],
    ) -> Result<PairedScores> {
        check_same_length("the second forecast", first.len(), second.len())?;
        self.check_settings_for(first.len())?;
        let resolved = self.with_block_length_of_costs(first, thresholds[0]);
        let paid = [first.paid(|_| thresholds[0]), second.paid(|_| thresholds[1])];
        let differences: Vec<f64> = paid[0].iter().zip(&paid[1]).map(|(one, other)| one - other).collect();
        let of_difference = first.variance(&first.terms(&differences), resolved.resampling);
        let [(one, one_variance), (other, other_variance)] =
            paid.each_ref().map(|paid| first.mean_and_variance(paid, resolved.resampling));
        let distributions = [(first, one, one_variance), (second, other, other_variance)]
            .map(|(rows, mean, variance)| resolved.distribution_of_mean_cost(rows, mean, variance / mean));
        let pairs = if differences.iter().all(|difference| *difference == 0.0) {
            // Both forecasts pay the same in every row, so their mean costs are equal in every replicate.
            distributions[0].values().iter().map(|value| [Some(*value); 2]).collect()
        } else {
            let correlation = correlation(one_variance, other_variance, of_difference);
            resolved.pairs_with_correlation(&distributions[0], &distributions[1], correlation)
        };
        Ok(PairedScores::new(&first.score, &pairs))
    }

    /// Compares the mean costs per row of two forecasts of the same rows. In each replicate, the threshold with the lowest cost is searched anew for
    /// each forecast.
    pub fn paired_best_costs(&self, first: &CostRows<'_>, second: &CostRows<'_>) -> Result<PairedScores> {
        check_same_length("the second forecast", first.len(), second.len())?;
        let threshold = first.best(&[]).map_or(0.5, |best| best.threshold);
        let resolved = self.with_block_length_of_costs(first, threshold);
        let mean = |rows: &CostRows<'_>, copies: &[u32]| rows.best_of_copies(copies, &[]).map(|best| best.1);
        let values = resolved.map_copies(first.labels, |copies| [mean(first, copies), mean(second, copies)])?;
        Ok(PairedScores::new(&first.score, &values))
    }
}
