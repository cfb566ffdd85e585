//! The threshold with the best score on average over the thresholds near it.
//!
//! The exactly best threshold of a finite number of rows depends by chance on single rows. A *smoothed* threshold is the centre c of the prior
//! under which the score of the expected confusion matrix is best. The prior is a raised cosine on the scale of log-odds z = ln(p/(1 − p)),
//! from c − h to c + h, so a row with log-odds z counts as positive with the probability
//!
//! ```text
//! F(u) = ½ (1 + u + sin(πu)/π),  u = (z − c)/h between −1 and 1;        0 below, 1 above
//! ```
//!
//! Since sin(π(z − c)/h) is a sum of products of a function of z and a function of c, the expected confusion matrix of every c follows exactly
//! from sums of 1, z, sin(πz/h) and cos(πz/h) over the sorted rows. After sorting, every c costs two searches.

use std::f64::consts::PI;

use super::ranked::{RankedRows, RankedTable};
use crate::confusion::Confusion;
use crate::score::Score;

/// Number of centres that are tried on each half-width of the prior. Between them the score hardly changes, and the best place between the
/// neighbours of the best one is searched afterwards.
const CENTRES: f64 = 64.0;
/// Predictions closer to 0 or 1 than 1e-12 are treated as this far away: the log-odds of 0 and 1 are infinite.
const MAX_LOG_ODDS: f64 = 27.6;
/// Number of times that the interval around the best centre is reduced to about 0.62 of its length.
const REFINEMENTS: usize = 24;

/// The threshold with the best score on average over nearby thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothBest {
    /// The threshold, which is the centre of the prior.
    pub threshold: f64,
    /// The score of the expected confusion matrix.
    pub expected_value: f64,
    /// The expected confusion matrix, if the threshold is drawn from the prior.
    pub expected: Confusion,
}

/// The sums over the rows up to a rank: for both classes, the weights times 1, z, sin(πz/h) and cos(πz/h).
type RowSums = [[f64; 4]; 2];

struct SmoothSearch<'a> {
    score: &'a Score,
    half_width: f64,
    /// The log-odds of each rank, in descending order.
    log_odds: Vec<f64>,
    /// The sums of all ranks before each rank.
    sums: Vec<RowSums>,
}

/// The smoothed threshold of a score; `None` if the score of the expected confusion matrix is undefined for every threshold. `half_width` is
/// that of the prior on the scale of log-odds.
pub(crate) fn smooth_best<T: RankedRows>(table: &RankedTable<T>, score: &Score, half_width: f64) -> Option<SmoothBest> {
    let search = SmoothSearch::new(table, score, half_width);
    let (highest, lowest) = (*search.log_odds.first()?, *search.log_odds.last()?);
    // At the ends, all rows are negative or all are positive.
    let (start, end) = (lowest - half_width, highest + half_width);
    let steps = ((end - start) / half_width * CENTRES).ceil().max(1.0);
    let centre = |step: f64| start + (end - start) * step / steps;
    let mut best: Option<(f64, f64)> = None;
    for step in 0..=steps as usize {
        let step = step as f64;
        if let Some(value) = search.value(centre(step))
            && best.is_none_or(|(greatest, _)| value > greatest)
        {
            best = Some((value, step));
        }
    }
    let (_, step) = best?;
    let centre = search.refine(centre((step - 1.0).max(0.0)), centre(step), centre((step + 1.0).min(steps)));
    let expected = search.expected(centre);
    let threshold = 1.0 / (1.0 + (-centre).exp());
    Some(SmoothBest { threshold, expected_value: score.checked(&expected)?, expected })
}

impl<'a> SmoothSearch<'a> {
    fn new<T: RankedRows>(table: &RankedTable<T>, score: &'a Score, half_width: f64) -> Self {
        let rows = &table.rows;
        let mut sums: Vec<RowSums> = Vec::with_capacity(rows.len() + 1);
        let mut log_odds = Vec::with_capacity(rows.len());
        sums.push([[0.0; 4]; 2]);
        for rank in 0..rows.len() {
            let p = rows.prediction(rank);
            let z = (p / (1.0 - p)).ln().clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS);
            let (sin, cos) = (PI * z / half_width).sin_cos();
            let mut sum = sums[rank];
            let (positives, negatives) = rows.class_weights(rank);
            for (sum, weight) in sum.iter_mut().zip([negatives, positives]) {
                for (sum, term) in sum.iter_mut().zip([1.0, z, sin, cos]) {
                    *sum += weight * term;
                }
            }
            sums.push(sum);
            log_odds.push(z);
        }
        SmoothSearch { score, half_width, log_odds, sums }
    }

    /// The expected confusion matrix if the prior has this centre.
    fn expected(&self, centre: f64) -> Confusion {
        let SmoothSearch { half_width, log_odds, sums, .. } = self;
        let above = log_odds.partition_point(|z| *z >= centre + half_width);
        let below = log_odds.partition_point(|z| *z > centre - half_width);
        let (sin, cos) = (PI * centre / half_width).sin_cos();
        let positive = |class: usize| {
            let [full, _, _, _] = sums[above][class];
            let inside: [f64; 4] = std::array::from_fn(|term| sums[below][class][term] - sums[above][class][term]);
            let [weight, z, sin_z, cos_z] = inside;
            let shares = weight + (z - centre * weight) / half_width + (sin_z * cos - cos_z * sin) / PI;
            full + (0.5 * shares).clamp(0.0, weight.max(0.0))
        };
        let [negatives, positives] = [0, 1].map(|class| sums[log_odds.len()][class][0]);
        let (fp, tp) = (positive(0), positive(1));
        Confusion::new((negatives - fp).max(0.0), fp, (positives - tp).max(0.0), tp)
    }

    /// The score of the expected confusion matrix, such that greater is better; `None` if it is undefined.
    fn value(&self, centre: f64) -> Option<f64> {
        self.score.checked(&self.expected(centre)).map(|value| self.score.oriented_value(value))
    }

    /// The best centre between two neighbours of `middle`, by golden-section search; `middle` if none is better.
    fn refine(&self, mut low: f64, middle: f64, mut high: f64) -> f64 {
        let value = |centre: f64| self.value(centre).unwrap_or(f64::NEG_INFINITY);
        let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
        for _ in 0..REFINEMENTS {
            let (first, second) = (high - golden * (high - low), low + golden * (high - low));
            if value(first) >= value(second) {
                high = second;
            } else {
                low = first;
            }
        }
        let found = 0.5 * (low + high);
        if value(found) > value(middle) { found } else { middle }
    }
}
