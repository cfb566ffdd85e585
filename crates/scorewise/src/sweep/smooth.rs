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
//! A prediction of 0 has the log-odds −∞ and never counts as positive, and a prediction of 1 always does, as with any threshold below 1. The
//! threshold 1, at which every row is negative, is tried beside the centres.
//!
//! The centres that are tried are the multiples of h/128, and the rows are summed in bins between them. A row lies at z = (i + t) h/128 in bin i,
//! 0 ≤ t < 1, and for the centre j h/128, with φ = π (i − j + 128)/128 and q = πt/128,
//!
//! ```text
//! 2πF = φ + q − sin(φ + q) = (φ − sin φ) + (q − sin q) + (1 − cos φ) sin q + sin φ (1 − cos q)
//! ```
//!
//! So the sums of 1, sin q, 1 − cos q and q − sin q over the rows of each bin give the expected confusion matrix of every centre exactly, with a small
//! relative error even where nearly all rows are negative.
//!
//! Near the best of all centres, F changes by at most π/4 (1/256)² ≈ 1.2e-5 up to the nearest multiple of h/128, apart from the linear term, which
//! does not change the score there. So trying more centres would not improve the result noticeably.

use std::f64::consts::PI;
use std::ops::Range;

use super::best::count_above;
use super::ranked::{RankedRows, RankedTable};
use super::sort::map_parallel;
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::score::Score;

/// Widths of the prior of a smoothed threshold. With less than 0.001 it would hardly differ from the exactly best threshold; with ½ the prior would
/// reach from 0 to 1.
pub const SMOOTHING_WIDTHS: Range<f64> = 0.001..0.5;

/// Number of centres on each half-width of the prior.
const STEPS: i64 = 128;
/// Number of ranks that one parallel task adds to bins.
const RANKS_PER_TASK: usize = 1 << 16;
/// Scores that differ by less than this share are taken for equal: rounding errors are smaller.
const TOLERANCE: f64 = 1e-12;

/// Positions that differ by less than this share of a bin are taken for equal, for the same reason.
const ROUNDING: f64 = 1e-8;

/// The threshold with the best score on average over nearby thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct SmoothBest {
    /// The threshold, which is the centre of the prior.
    pub threshold: f64,
    /// The score at the threshold; `None` if it is undefined there.
    pub value: Option<f64>,
    /// The confusion matrix at the threshold.
    pub confusion: Confusion,
    /// The score of the expected confusion matrix.
    pub expected_value: f64,
    /// The expected confusion matrix, if the threshold is drawn from the prior.
    pub expected: Confusion,
}

/// The half-width of the prior on the scale of log-odds: the log-odds of ½ + `width`.
pub(super) fn half_width(width: f64) -> Result<f64> {
    let Range { start, end } = SMOOTHING_WIDTHS;
    if !SMOOTHING_WIDTHS.contains(&width) {
        let reason = format!("must be at least {start} and below {end}, not {width}; 0.2 is usual");
        return Err(Error::Setting { what: "smooth", reason });
    }
    Ok(((0.5 + width) / (0.5 - width)).ln())
}

/// Where a prediction lies on the scale of log-odds.
#[derive(Clone, Copy, Debug)]
pub(super) struct BinPosition {
    /// The index i of the bin; [`ALWAYS_POSITIVE`] for a prediction of 1 and [`NEVER_POSITIVE`] for 0.
    bin: i64,
    /// sin q, 1 − cos q and q − sin q, where q = πt/128 is the position inside the bin.
    terms: [f64; 3],
}

/// The bin of predictions of 1, above the windows of all centres.
const ALWAYS_POSITIVE: i64 = i64::MAX;
/// The bin of predictions of 0, below the windows of all centres.
const NEVER_POSITIVE: i64 = i64::MIN;

impl BinPosition {
    pub fn new(prediction: f64, half_width: f64) -> Self {
        let z = (prediction / (1.0 - prediction)).ln() * (STEPS as f64 / half_width);
        if z.is_infinite() {
            return BinPosition { bin: if z > 0.0 { ALWAYS_POSITIVE } else { NEVER_POSITIVE }, terms: [0.0; 3] };
        }
        // Log-odds that are a multiple of h/128 up to rounding errors are that multiple: a row at the very end of a window must not count there.
        let nearest = z.round();
        let z = if (z - nearest).abs() < ROUNDING { nearest } else { z };
        let floor = z.floor();
        let q = (z - floor) * (PI / STEPS as f64);
        // The Taylor series: for q up to π/128 the first terms that are left out are below 1e-17 of the sum, and nothing cancels.
        let t = q * q;
        let rest = q * t * (1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5040.0 - t / 362_880.0)));
        let versine = t * (0.5 - t * (1.0 / 24.0 - t * (1.0 / 720.0 - t / 40_320.0)));
        BinPosition { bin: floor as i64, terms: [q - rest, versine, rest] }
    }
}

/// The rows between two neighbouring centres.
#[derive(Clone, Copy)]
struct LogOddsBin {
    index: i64,
    /// For negatives and positives: the weights times 1, sin q, 1 − cos q and q − sin q.
    sums: [[f64; 4]; 2],
}

/// Adds a row, whose log-odds are not above those of the rows before it.
fn add_to_bins(bins: &mut Vec<LogOddsBin>, position: BinPosition, (positives, negatives): (f64, f64)) {
    if positives == 0.0 && negatives == 0.0 {
        return;
    }
    let [sine, versine, rest] = position.terms;
    let sums = [negatives, positives].map(|weight| [weight, weight * sine, weight * versine, weight * rest]);
    add_bin(bins, LogOddsBin { index: position.bin, sums });
}

fn add_bin(bins: &mut Vec<LogOddsBin>, added: LogOddsBin) {
    match bins.last_mut() {
        Some(bin) if bin.index == added.index => {
            let cells = bin.sums.iter_mut().zip(&added.sums);
            cells.for_each(|(sums, added)| sums.iter_mut().zip(added).for_each(|(sum, added)| *sum += added));
        }
        _ => bins.push(added),
    }
}

/// The smoothed threshold of a score; `None` if the score is undefined for the expected confusion matrix of every centre.
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

/// Same as [`smooth_best`], with the positions of all ranks computed before, because they are the same in all replicates of a bootstrap.
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

struct SmoothSearch<'a> {
    score: &'a Score,
    half_width: f64,
    /// The bins that are not empty, in descending order of log-odds.
    bins: Vec<LogOddsBin>,
    /// The weights of negatives and positives before each bin; the last entry is the total.
    above: Vec<[f64; 2]>,
    /// For each bin of a window, the factors of its sums in 2πF and, for the first sum alone, in 2π(1 − F).
    factors: Vec<WindowFactors>,
}

/// φ − sin φ, 1 − cos φ and sin φ of a bin of the window, and 2π − φ + sin φ.
#[derive(Clone, Copy)]
struct WindowFactors {
    positive: f64,
    sine: f64,
    versine: f64,
    negative: f64,
}

impl WindowFactors {
    /// The factors of the bin at this distance from the lower end of the window.
    fn new(distance: i64) -> Self {
        let angle = |steps: i64| PI * steps as f64 / STEPS as f64;
        // For small angles x − sin x loses its digits by cancellation, so its series is used.
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
        WindowFactors {
            positive: excess(angle(distance)),
            sine: 2.0 * half_sine * half_sine,
            versine: if distance == 0 || distance == STEPS { 0.0 } else { angle(distance).sin() },
            negative: excess(angle(2 * STEPS - distance)),
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
        SmoothSearch { score, half_width, bins, above, factors: (0..2 * STEPS).map(WindowFactors::new).collect() }
    }

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
        value.is_some_and(|value| value - other > TOLERANCE * other.abs())
    }

    /// The centres whose windows contain rows, and their neighbours, in ascending order; 0 if there are none. Between two of them that are not
    /// neighbours, the expected confusion matrix is the same.
    fn centres(&self) -> Vec<i64> {
        let mut centres: Vec<i64> = Vec::new();
        let is_finite = |bin: &&LogOddsBin| bin.index != ALWAYS_POSITIVE && bin.index != NEVER_POSITIVE;
        for bin in self.bins.iter().rev().filter(is_finite) {
            let first = centres.last().map_or(i64::MIN, |last| last + 1).max(bin.index - STEPS);
            centres.extend(first..=bin.index + STEPS + 1);
        }
        if centres.is_empty() {
            centres.push(0);
        }
        centres
    }

    /// The expected confusion matrix if the prior has this centre.
    fn expected(&self, centre: i64) -> Confusion {
        let lowest = centre - STEPS;
        let first = self.bins.partition_point(|bin| bin.index >= centre + STEPS);
        let end = self.bins.partition_point(|bin| bin.index >= lowest);
        let (mut positive, mut negative) = ([0.0; 2], [0.0; 2]);
        for bin in &self.bins[first..end] {
            let factors = self.factors[(bin.index - lowest) as usize];
            for (class, [weight, sine, versine, rest]) in bin.sums.iter().enumerate() {
                let inside = rest + factors.sine * sine + factors.versine * versine;
                positive[class] += factors.positive * weight + inside;
                negative[class] += factors.negative * weight - inside;
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

    /// The score of an expected confusion matrix, such that greater is better; `None` if it is undefined.
    fn value(&self, expected: &Confusion) -> Option<f64> {
        self.score.checked(expected).map(|value| self.score.oriented_value(value))
    }

    /// The threshold of a centre. It is below 1 even if the log-odds are large, because predictions of 1 count as positive.
    fn threshold(&self, centre: i64) -> f64 {
        let z = centre as f64 * (self.half_width / STEPS as f64);
        (1.0 / (1.0 + (-z).exp())).min(1.0_f64.next_down())
    }

    /// The best value, the threshold, and a centre with the same expected confusion matrix.
    ///
    /// If several neighbouring centres are equally good, the threshold is the one in the middle, as for the exactly best threshold; of several
    /// such intervals the widest is used.
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
        // Below the first centre, above the last one, and between two that are not neighbours, no row is inside the window of the prior, so the
        // threshold need not be that of a centre.
        let is_free = match next {
            0 => true,
            _ if next == centres.len() => true,
            _ => next > first && next <= last && centres[next] - centres[next - 1] > 1,
        };
        let nearest = next.saturating_sub(1).max(first);
        Some((best, if is_free { middle } else { self.threshold(centres[nearest]) }, centres[nearest]))
    }
}
