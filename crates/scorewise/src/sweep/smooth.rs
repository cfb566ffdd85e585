//! The threshold with the best score on average over the thresholds near it.
//!
//! The exactly best threshold of a finite number of rows depends by chance on single rows. A *smoothed* threshold is the centre c of the prior
//! under which the score of the expected confusion matrix is best. The prior is a raised cosine on the scale of log-odds z = ln(p/(1 − p)),
//! from c − h to c + h, so a row with log-odds z counts as positive with the probability
//!
//! ```text
//! F(u) = ½ (1 + u + sin(πu)/π)  with u = (z − c)/h;        F is 0 for u below −1 and 1 for u above 1
//! ```
//!
//! A prediction of 0 has the log-odds −∞ and never counts as positive; a prediction of 1 always does, as with any threshold below 1. Besides the
//! centres, the threshold 1 is tried, at which no row is predicted positive.
//!
//! The centres that are tried are the multiples of h/128, and the rows are summed in bins between neighbouring centres. A row in bin i has the
//! log-odds z = (i + t) h/128 with 0 ≤ t < 1. For the centre j h/128, with φ = π (i − j + 128)/128 and q = πt/128,
//!
//! ```text
//! 2πF = φ + q − sin(φ + q) = (φ − sin φ) + (q − sin q) + (1 − cos φ) sin q + sin φ (1 − cos q)
//! ```
//!
//! So the sums of 1, sin q, 1 − cos q and q − sin q over the rows of each bin give the expected confusion matrix of every centre exactly, with a
//! small relative error even where nearly all rows are negative.
//!
//! The best of all possible centres is at most h/256 away from a centre that is tried. A shift of the prior by this distance changes F by a term that
//! is linear in the distance, and by at most π/4 (1/256)² ≈ 1.2e-5 more. The score is at its maximum at the best centre, so the linear term hardly
//! changes it there. Trying more centres would therefore not improve the result noticeably.

use std::f64::consts::PI;
use std::ops::Range;

use super::best::count_above;
use super::ranked::{RankedRows, RankedTable};
use super::sort::map_parallel;
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::score::Score;

/// The allowed values of `width`, the half-width of the prior of a smoothed threshold: a prior centred at ½ reaches from ½ − `width` to ½ + `width`.
/// With a width below 0.001, the smoothed threshold would hardly differ from the exactly best one. With a width of ½, the prior would reach from 0
/// to 1.
pub const SMOOTHING_WIDTHS: Range<f64> = 0.001..0.5;

/// Number of centres that are tried in an interval of log-odds as long as the half-width of the prior.
const CENTRES_PER_HALF_WIDTH: i64 = 128;
/// Number of rows (ranks) that one parallel task adds to bins.
const RANKS_PER_TASK: usize = 1 << 16;
/// If the relative difference of two scores is below this number, they are treated as equal. Rounding errors are smaller.
const SCORE_TOLERANCE: f64 = 1e-12;

/// Log-odds that differ from the centre of a prior by less than this fraction of the width of a bin are set to the centre. Rounding errors are
/// smaller than this tolerance.
const POSITION_TOLERANCE: f64 = 1e-8;

/// The threshold with the best score on average over nearby thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothBest {
    /// The threshold, which is the centre of the best prior, or 1 if it is best to predict no row positive.
    pub threshold: f64,
    /// The score at the threshold; `None` if it is undefined there.
    pub value: Option<f64>,
    /// The confusion matrix at the threshold.
    pub confusion: Confusion,
    /// The score of the expected confusion matrix, which is the best over all centres of the prior.
    pub expected_value: f64,
    /// The expected confusion matrix if the threshold is random and follows the prior.
    pub expected: Confusion,
}

/// The half-width of the prior on the scale of log-odds: the log-odds of ½ + `width`. Returns an error if `width` is not in
/// [`SMOOTHING_WIDTHS`].
pub(crate) fn half_width(width: f64) -> Result<f64> {
    let Range { start, end } = SMOOTHING_WIDTHS;
    if !SMOOTHING_WIDTHS.contains(&width) {
        let reason = format!("must be at least {start} and below {end}, not {width}; 0.2 is usual");
        return Err(Error::Setting { what: "smooth", reason });
    }
    Ok(((0.5 + width) / (0.5 - width)).ln())
}

/// The position of a prediction on the scale of log-odds, which is divided into bins.
#[derive(Clone, Copy, Debug)]
pub(super) struct BinPosition {
    /// The index of the bin; [`ALWAYS_POSITIVE`] for a prediction of 1 and [`NEVER_POSITIVE`] for a prediction of 0.
    bin: i64,
    /// Let t be the position of the prediction inside the bin, from 0 at the lower end of the bin to 1 at its upper end, and q = πt/128. The terms
    /// are sin q, 1 − cos q and q − sin q. Half the width of the prior contains 128 bins.
    terms: [f64; 3],
}

/// The index of the bin for predictions of 1. Their log-odds are +∞, so they count as positive wherever the centre of the prior is.
const ALWAYS_POSITIVE: i64 = i64::MAX;
/// The index of the bin for predictions of 0. Their log-odds are −∞, so they never count as positive, wherever the centre of the prior is.
const NEVER_POSITIVE: i64 = i64::MIN;

impl BinPosition {
    /// The position of a prediction among the bins of a prior with this half-width on the scale of log-odds.
    pub fn new(prediction: f64, half_width: f64) -> Self {
        let z = (prediction / (1.0 - prediction)).ln() * (CENTRES_PER_HALF_WIDTH as f64 / half_width);
        if z.is_infinite() {
            return BinPosition { bin: if z > 0.0 { ALWAYS_POSITIVE } else { NEVER_POSITIVE }, terms: [0.0; 3] };
        }
        // Centres are multiples of 1/128 of the half-width. Log-odds that differ from such a multiple only by rounding errors are set to the
        // multiple, so that a row exactly at an end of the prior counts as outside.
        let nearest = z.round();
        let z = if (z - nearest).abs() < POSITION_TOLERANCE { nearest } else { z };
        let floor = z.floor();
        let q = (z - floor) * (PI / CENTRES_PER_HALF_WIDTH as f64);
        // q − sin q and 1 − cos q are computed by their Taylor series, which lose no digits by cancellation. For q up to π/128 the omitted terms
        // are below 1e-17 of the sum.
        let t = q * q;
        let rest = q * t * (1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5040.0 - t / 362_880.0)));
        let versine = t * (0.5 - t * (1.0 / 24.0 - t * (1.0 / 720.0 - t / 40_320.0)));
        BinPosition { bin: floor as i64, terms: [q - rest, versine, rest] }
    }
}

/// Sums over the rows whose log-odds lie between two neighbouring centres.
#[derive(Clone, Copy)]
struct LogOddsBin {
    index: i64,
    /// Let t be the position of a row inside the bin, from 0 to 1, and q = πt/128; half the width of the prior contains 128 bins. The first array
    /// contains the sums of weight, weight · sin q, weight · (1 − cos q) and weight · (q − sin q) over the negatives in the bin, the second array the
    /// same sums over the positives.
    sums: [[f64; 4]; 2],
}

/// Adds a row to the bins. Rows must be added in descending order of their log-odds.
fn add_to_bins(bins: &mut Vec<LogOddsBin>, position: BinPosition, (positives, negatives): (f64, f64)) {
    if positives == 0.0 && negatives == 0.0 {
        return;
    }
    let [sine, versine, rest] = position.terms;
    let sums = [negatives, positives].map(|weight| [weight, weight * sine, weight * versine, weight * rest]);
    add_bin(bins, LogOddsBin { index: position.bin, sums });
}

/// Adds the sums of a bin to those of the last bin if both have the same index; otherwise appends the bin.
fn add_bin(bins: &mut Vec<LogOddsBin>, added: LogOddsBin) {
    match bins.last_mut() {
        Some(bin) if bin.index == added.index => {
            let cells = bin.sums.iter_mut().zip(&added.sums);
            cells.for_each(|(sums, added)| sums.iter_mut().zip(added).for_each(|(sum, added)| *sum += added));
        }
        _ => bins.push(added),
    }
}

/// The smoothed threshold of a score; `None` if the score is undefined at the threshold 1 and for the expected confusion matrix of every
/// centre.
pub(super) fn smooth_best<T: RankedRows>(table: &RankedTable<T>, score: &Score, half_width: f64) -> Option<SmoothBest> {
    let ranks: Vec<usize> = (0..table.rows.len()).step_by(RANKS_PER_TASK).collect();
    let bins_of_tasks = map_parallel(ranks, |first| {
        let mut bins = Vec::new();
        for rank in first..(first + RANKS_PER_TASK).min(table.rows.len()) {
            let position = BinPosition::new(table.rows.prediction(rank), half_width);
            add_to_bins(&mut bins, position, table.rows.class_weights(rank));
        }
        bins
    });
    let mut bins = Vec::new();
    bins_of_tasks.into_iter().flatten().for_each(|bin| add_bin(&mut bins, bin));
    SmoothSearch::new(score, half_width, bins).best(table)
}

/// Same as [`smooth_best`], but with the positions of all predictions given. A bootstrap computes these positions only once, because they are the
/// same in all replicates.
pub(super) fn smooth_best_at_positions<T: RankedRows>(
    table: &RankedTable<T>,
    positions: &[BinPosition],
    score: &Score,
    half_width: f64,
) -> Option<SmoothBest> {
    let mut bins = Vec::new();
    for (rank, position) in positions.iter().enumerate() {
        add_to_bins(&mut bins, *position, table.rows.class_weights(rank));
    }
    SmoothSearch::new(score, half_width, bins).best(table)
}

/// The data for the search of the smoothed threshold: the score, the sums over the rows of each bin, and the coefficients by which these sums are
/// multiplied.
struct SmoothSearch<'a> {
    score: &'a Score,
    half_width: f64,
    /// The bins that are not empty, in descending order of log-odds.
    bins: Vec<LogOddsBin>,
    /// For each bin, the total weights of the negatives and of the positives in all higher bins. One more entry at the end contains the total weights
    /// of both classes in all bins.
    above: Vec<[f64; 2]>,
    /// The coefficients by which the sums over the rows of a bin are multiplied. The index is the number of bins between the lower end of the prior
    /// and the bin.
    coefficients: Vec<BinCoefficients>,
}

/// The factors by which the four sums over the rows of a bin ([`LogOddsBin`]) are multiplied. The products give 2π times the expected numbers of rows
/// in the bin that are predicted positive and negative, under a threshold with a raised-cosine prior. If d bins lie between the lower end of the
/// prior and this bin, the factors depend on the angle φ = πd/128; half the width of the prior contains 128 bins.
#[derive(Clone, Copy)]
struct BinCoefficients {
    /// φ − sin φ, the factor of the sum of the weights: 2π times the probability that the threshold lies below the lower end of the bin.
    /// [`BinCoefficients`] defines the angle φ.
    positive: f64,
    /// 1 − cos φ, the factor of the sum of weight · sin q. [`BinCoefficients`] defines the angle φ, and [`LogOddsBin::sums`] the angle q.
    sine: f64,
    /// sin φ, the factor of the sum of weight · (1 − cos q), where 1 − cos q is the versine of q. [`BinCoefficients`] defines the angle φ, and
    /// [`LogOddsBin::sums`] the angle q.
    versine: f64,
    /// 2π − φ + sin φ, the factor of the sum of the weights: 2π times the probability that the threshold lies above the lower end of the bin.
    /// [`BinCoefficients`] defines the angle φ.
    negative: f64,
}

impl BinCoefficients {
    /// The coefficients for a bin. `distance` is the number of bins between the lower end of the prior and this bin.
    fn new(distance: i64) -> Self {
        let angle = |steps: i64| PI * steps as f64 / CENTRES_PER_HALF_WIDTH as f64;
        // For small angles x, the difference x − sin x loses its digits by cancellation, so its Taylor series is used.
        let excess = |x: f64| {
            let t = x * x;
            if x < 0.5 {
                let series = 1.0 / 362_880.0 - t * (1.0 / 39_916_800.0 - t / 6_227_020_800.0);
                x * t * (1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5040.0 - t * series)))
            } else {
                x - x.sin()
            }
        };
        let half_sine = (0.5 * angle(distance)).sin();
        BinCoefficients {
            positive: excess(angle(distance)),
            sine: 2.0 * half_sine * half_sine,
            versine: if distance == 0 || distance == CENTRES_PER_HALF_WIDTH { 0.0 } else { angle(distance).sin() },
            negative: excess(angle(2 * CENTRES_PER_HALF_WIDTH - distance)),
        }
    }
}

impl<'a> SmoothSearch<'a> {
    fn new(score: &'a Score, half_width: f64, bins: Vec<LogOddsBin>) -> Self {
        let mut above = Vec::with_capacity(bins.len() + 1);
        let mut sum = [0.0; 2];
        above.push(sum);
        for bin in &bins {
            sum = [0, 1].map(|class| sum[class] + bin.sums[class][0]);
            above.push(sum);
        }
        SmoothSearch {
            score,
            half_width,
            bins,
            above,
            coefficients: (0..2 * CENTRES_PER_HALF_WIDTH).map(BinCoefficients::new).collect(),
        }
    }

    /// The smoothed threshold; `None` if the score is undefined at the threshold 1 and for every centre.
    fn best<T: RankedRows>(&self, table: &RankedTable<T>) -> Option<SmoothBest> {
        let centres = self.centres();
        let values: Vec<Option<f64>> = centres.iter().map(|centre| self.value(&self.expected(*centre))).collect();
        let all_negative = Confusion::new(self.above[self.bins.len()][0], 0.0, self.above[self.bins.len()][1], 0.0);
        let (threshold, expected) = match self.best_centre(&centres, &values) {
            Some((value, threshold, centre)) if !self.is_better(self.value(&all_negative), value) => {
                (threshold, self.expected(centre))
            }
            _ => (1.0, all_negative),
        };
        let expected_value = self.score.checked(&expected)?;
        let (tp, fp) = table.hits_and_alarms(count_above(&table.rows, threshold));
        let confusion = Confusion::at(tp, fp, &table.counts);
        Some(SmoothBest { threshold, value: self.score.checked(&confusion), confusion, expected_value, expected })
    }

    /// Whether a value is better than another by more than a rounding error.
    fn is_better(&self, value: Option<f64>, other: f64) -> bool {
        value.is_some_and(|value| value - other > SCORE_TOLERANCE * other.abs())
    }

    /// The centres that are tried, in ascending order: those whose prior contains at least one row, and the neighbours of these centres. If no prior
    /// contains a row, only the centre 0 is tried. Centres that are left out between two entries of the list all have the same expected confusion
    /// matrix.
    fn centres(&self) -> Vec<i64> {
        let mut centres: Vec<i64> = Vec::new();
        let is_finite = |bin: &&LogOddsBin| bin.index != ALWAYS_POSITIVE && bin.index != NEVER_POSITIVE;
        for bin in self.bins.iter().rev().filter(is_finite) {
            let first = centres.last().map_or(i64::MIN, |last| last + 1).max(bin.index - CENTRES_PER_HALF_WIDTH);
            centres.extend(first..=bin.index + CENTRES_PER_HALF_WIDTH + 1);
        }
        if centres.is_empty() {
            centres.push(0);
        }
        centres
    }

    /// The expected confusion matrix for the prior whose centre is `centre` / 128 times its half-width.
    fn expected(&self, centre: i64) -> Confusion {
        let lowest = centre - CENTRES_PER_HALF_WIDTH;
        let first = self.bins.partition_point(|bin| bin.index >= centre + CENTRES_PER_HALF_WIDTH);
        let end = self.bins.partition_point(|bin| bin.index >= lowest);
        let (mut positive, mut negative) = ([0.0; 2], [0.0; 2]);
        for bin in &self.bins[first..end] {
            let coefficients = self.coefficients[(bin.index - lowest) as usize];
            for (class, [weight, sine, versine, rest]) in bin.sums.iter().enumerate() {
                let inside = rest + coefficients.sine * sine + coefficients.versine * versine;
                positive[class] += coefficients.positive * weight + inside;
                negative[class] += coefficients.negative * weight - inside;
            }
        }
        let total = self.above[self.bins.len()];
        let predicted = |class: usize| {
            let below = total[class] - self.above[end][class];
            [below + negative[class].max(0.0) / (2.0 * PI), self.above[first][class] + positive[class] / (2.0 * PI)]
        };
        let ([tn, fp], [fn_, tp]) = (predicted(0), predicted(1));
        Confusion::new(tn, fp, fn_, tp)
    }

    /// The score of an expected confusion matrix, transformed so that greater is better; `None` if it is undefined.
    fn value(&self, expected: &Confusion) -> Option<f64> {
        self.score.checked(expected).map(|value| self.score.oriented_value(value))
    }

    /// The centre of a prior as a threshold between 0 and 1. It is below 1 even if its log-odds are large, so that predictions of 1 count
    /// as positive.
    fn threshold(&self, centre: i64) -> f64 {
        let z = centre as f64 * (self.half_width / CENTRES_PER_HALF_WIDTH as f64);
        (1.0 / (1.0 + (-z).exp())).min(1.0_f64.next_down())
    }

    /// The best value over all centres, the threshold with this value, and a centre that has the same expected confusion matrix as this threshold.
    ///
    /// If an interval of neighbouring centres is equally good, the threshold is the middle of the interval, as for the exactly best threshold. If
    /// there are several such intervals, the widest is used.
    fn best_centre(&self, centres: &[i64], values: &[Option<f64>]) -> Option<(f64, f64, i64)> {
        let best = values.iter().flatten().copied().max_by(f64::total_cmp)?;
        let is_best = |value: &Option<f64>| value.is_some_and(|value| !self.is_better(Some(best), value));
        let ends = |first: usize, last: usize| {
            let low = if first == 0 { 0.0 } else { self.threshold(centres[first]) };
            let high = if last + 1 == centres.len() { 1.0 } else { self.threshold(centres[last]) };
            (low, high)
        };
        let mut widest: Option<((f64, f64), usize, usize)> = None;
        let mut first = 0;
        for run in values.chunk_by(|a, b| is_best(a) == is_best(b)) {
            let last = first + run.len() - 1;
            let (low, high) = ends(first, last);
            if is_best(&run[0])
                && widest.is_none_or(|((widest_low, widest_high), ..)| high - low > widest_high - widest_low)
            {
                widest = Some(((low, high), first, last));
            }
            first = last + 1;
        }
        let ((low, high), first, last) = widest?;
        let middle = (0.5 * (low + high)).min(1.0_f64.next_down());
        let next = first + centres[first..=last].partition_point(|centre| self.threshold(*centre) <= middle);
        // Centres are left out of the list where no row lies inside the prior: below the first entry, above the last entry, and between two entries
        // that are not neighbouring centres. There the threshold is the exact middle of the interval, even if the middle is not a centre.
        let is_free = match next {
            0 => true,
            _ if next == centres.len() => true,
            _ => next > first && next <= last && centres[next] - centres[next - 1] > 1,
        };
        let nearest = next.saturating_sub(1).max(first);
        Some((best, if is_free { middle } else { self.threshold(centres[nearest]) }, centres[nearest]))
    }
}
