//! Thresholds at which a condition such as `precision >= 0.3 with 95%` holds for future rows, with the stated confidence.
//!
//! If a threshold is chosen because precision is at least 0.3 on some rows, then precision on future rows is below 0.3 about every second time. Here
//! a threshold qualifies only if a statistical test shows that the condition holds for the distribution from which the rows come: *learn then test*.
//! Each threshold has the null hypothesis that the condition does not hold there, and the tests are arranged such that the probability of rejecting
//! any true null hypothesis is at most α = 1 − confidence. Whichever qualifying threshold is then used, the condition holds there with the stated
//! confidence.
//!
//! **The test of one threshold.** A condition on a ratio of counts ([`count_ratio`](super::count_ratio)) of independent rows without weights is
//! tested with exact binomial tails. With weights, blocks or groups, the counts are first reduced to the effective number of rows
//! ([`effective`](super::effective)). Any other condition, and every condition if classes are resampled separately, is tested with bootstrap
//! replicates of the confusion matrix at the threshold: the p-value is about the share of the replicates in which the condition does not hold.
//!
//! **The order of the thresholds.** The thresholds are tested one after the other, each at the full level α, and testing stops at the first that
//! fails (fixed-sequence testing). A threshold that violates the condition can qualify only if the first such threshold of the sequence passes its
//! own test, which happens with a probability of at most α; so there is no penalty for testing many thresholds. The sequence must be likely to begin
//! with thresholds that pass, but it may not depend on the rows by which its first threshold is tested:
//!
//! - If a lower threshold can only help to satisfy the condition (recall ≥ c), the sequence begins at the lowest threshold and rises.
//! - If a higher threshold can only help to satisfy the condition (specificity ≥ c, alarms ≤ c), the sequence begins at the highest threshold and
//!   falls.
//! - If the condition depends only on the rows predicted positive (precision ≥ c), there are few such rows at the highest threshold, and testing
//!   would stop there at once. So the sequence begins at the lowest threshold for which the next rows below it, as many as above it, contain at least
//!   the share c of hits: these rows do not take part in the test of this threshold. From there it falls, and a second sequence rises. The second
//!   sequence assumes that precision on future rows rises with the threshold; where it does not, the stated confidence may be missed.
//! - If the condition depends only on the rows predicted negative (npv ≥ c), the same is done with low and high thresholds exchanged.
//! - Any other condition (F1, TSS) is best somewhere in the middle. Sequences begin at thresholds at which ½, ¼, ⅛, … of the rows are predicted
//!   positive. If there are D sequences, each is tested at the level α/D. It falls and rises from its first threshold.
//!
//! **Several conditions.** Each of J conditions with a confidence is tested at the level α/J (Bonferroni), and a threshold qualifies if it passes the
//! tests of all conditions. So all conditions hold together with the confidence.
//!
//! Angelopoulos, A. N., Bates, S., Candès, E. J., Jordan, M. I. & Lei, L. (2021). Learn then test: calibrating predictive algorithms to achieve risk
//! control. arXiv:2110.01052.

use std::fmt;
use std::sync::Arc;

use super::Condition;
use super::best::middle;
use super::bootstrap::{BlockLength, Bootstrap, Resampling};
use super::cells::{cell_derivatives, cells_at};
use super::count_ratio::{CountRatio, LinearCondition};
use super::effective::CellSample;
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::real::Real;
use crate::rows::{Probabilities, Rows};
use crate::score::Score;

/// If the test of a threshold takes a time that is proportional to the number of rows, only about this many thresholds are tested.
const SLOW_TESTS: usize = 1024;
/// With exact tests, only about this many thresholds are tested, which limits the memory that very many rows need.
const EXACT_TESTS: usize = 1 << 20;
/// If a condition is tested in several sequences, at least this many rows are predicted positive at the first threshold of each sequence.
const FIRST_ALARMS: usize = 8;
/// The search for the number of rows that a test needs stops at this multiple of the given number of rows. No number is reported if the test does not
/// pass there.
const LARGEST_FACTOR: f64 = 1e6;

/// The thresholds at which conditions hold for future rows with their confidence; see [`Bootstrap::guarantee`].
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    /// The thresholds at which all conditions with a confidence have been shown to hold, as intervals from the first end up to but not including the
    /// second, in ascending order. If the two ends are equal, the interval is this single threshold.
    pub thresholds: Vec<(f64, f64)>,
    /// The conditions that were tested.
    pub tests: Vec<ConditionTest>,
    /// How many more rows would probably be enough for a threshold to qualify, if no threshold does; `None` if a threshold qualifies, or if more rows
    /// with the same rates would not help, for example because no threshold satisfies the conditions on the given rows.
    pub needed: Option<NeededRows>,
}

/// How a condition was tested.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionTest {
    /// The condition, with its confidence.
    pub condition: String,
    /// The confidence of the condition, for example 0.95.
    pub confidence: f64,
    /// The level at which the condition is tested: 1 − confidence, divided by the number of conditions with a confidence.
    pub level: f64,
    /// The test that was used for each threshold.
    pub method: TestMethod,
    /// The number of sequences in which the thresholds were tested. The level of each single test is `level` divided by this number.
    pub sequences: usize,
    /// Whether a threshold was shown to satisfy this condition, regardless of the others.
    pub is_met: bool,
}

/// The test by which a condition is shown to hold at one threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestMethod {
    /// Exact binomial tails, used for a ratio of counts if the rows are independent and have no weights.
    Exact,
    /// Binomial tails with the effective number of rows, used for a ratio of counts if the rows have weights or depend on each other.
    EffectiveRows,
    /// Bootstrap replicates of the confusion matrix, used for any other formula and always with [`Resampling::Stratified`].
    Bootstrap,
}

impl fmt::Display for TestMethod {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            TestMethod::Exact => "exact binomial test",
            TestMethod::EffectiveRows => "binomial test with the effective number of rows",
            TestMethod::Bootstrap => "bootstrap",
        })
    }
}

/// How many more rows would probably be enough to show that conditions hold at some threshold, if the rates stay the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeededRows {
    /// The threshold at which the conditions could be shown with the fewest additional rows.
    pub threshold: f64,
    /// The number of rows that would be enough, divided by the number of rows that there are.
    pub factor: f64,
    /// The number of additional events (positive rows).
    pub events: f64,
    /// The number of additional rows.
    pub rows: f64,
}

/// The thresholds between two neighbouring predictions, which all give the same confusion matrix.
struct ThresholdStep {
    /// The number of rows that are predicted positive.
    above: usize,
    /// The interval of the thresholds, from the first end up to but not including the second.
    interval: (f64, f64),
    /// The cells of the confusion matrix: tn, fp, fn, tp.
    cells: [f64; 4],
}

/// The order in which the thresholds are tested for one condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The tests begin at the lowest threshold and go up.
    Rising,
    /// The tests begin at the highest threshold and go down.
    Falling,
    /// The tests begin at a threshold that is chosen by the rows below it, and go down and up from there.
    StartedFromBelow,
    /// The tests begin at a threshold that is chosen by the rows above it, and go down and up from there.
    StartedFromAbove,
    /// The tests begin at several thresholds, and go down and up from each of them.
    ManyStarts,
}

/// A condition with what is needed to test it.
struct Test<'a> {
    condition: &'a Condition,
    /// A score that measures how close the condition is to holding.
    score: Score,
    linear: Option<LinearCondition>,
    ratio: Option<CountRatio>,
    method: TestMethod,
    level: f64,
}

impl Bootstrap<'_> {
    /// Tests at which thresholds the conditions with a confidence hold for future rows. `None` if no condition has a confidence. Conditions without a
    /// confidence are not tested; they only limit the thresholds that are considered for [`Guarantee::needed`].
    ///
    /// ```
    /// use scorewise::sweep::{Bootstrap, Condition, Resampling, TestMethod, sweep};
    /// use scorewise::{Probabilities, Rows, Score};
    ///
    /// // 40 rows at each of three predictions. The event rates are 1/2, 1/4 and 0.
    /// let predictions: Vec<f64> = (0..120).map(|row| [0.8, 0.5, 0.2][row / 40]).collect();
    /// let labels: Vec<bool> = (0..120).map(|row| row < 40 && row % 2 == 0 || (40..80).contains(&row) && row % 4 == 0).collect();
    /// let rows = Rows::new(Probabilities(&predictions), &labels)?;
    /// let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 1000, seed: 0 };
    /// let conditions = Condition::parse("precision >= 0.35 with 95%")?;
    /// let guarantee = bootstrap.guarantee(&rows, &conditions)?.unwrap();
    /// assert_eq!(guarantee.tests[0].method, TestMethod::Exact);
    /// // Between 0.2 and 0.5 precision is 30/80 = 0.375, but that could be chance: only thresholds between 0.5 and 0.8 qualify.
    /// assert_eq!(guarantee.thresholds, [(0.5, 0.8)]);
    /// let best = sweep(&rows)?.best_subject_to(&Score::parse("recall")?, &guarantee.conditions(&conditions)).unwrap();
    /// assert_eq!(best.interval, (0.5, 0.8));
    /// # Ok::<(), scorewise::Error>(())
    /// ```
    pub fn guarantee<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        conditions: &[Condition],
    ) -> Result<Option<Guarantee>> {
        let with_confidence = conditions.iter().filter(|condition| condition.confidence().is_some()).count();
        if with_confidence == 0 {
            return Ok(None);
        }
        self.check_settings_for(rows.len())?;
        rows.check()?;
        let tests: Vec<Test<'_>> = conditions
            .iter()
            .filter_map(|condition| Some((condition, condition.confidence()?)))
            .filter_map(|(condition, confidence)| {
                Test::new(condition, (1.0 - confidence) / with_confidence as f64, rows, self.resampling)
            })
            .collect();
        let is_slow = tests.iter().any(|test| test.method != TestMethod::Exact);
        let candidates = candidates(rows, if is_slow { SLOW_TESTS } else { EXACT_TESTS });
        // A condition whose formula is too large to be tested is missing among the tests; then no threshold qualifies.
        let mut qualifies = vec![tests.len() == with_confidence; candidates.len()];
        let mut described = Vec::with_capacity(tests.len());
        for test in &tests {
            let (passed, sequences) = self.passing(test, rows, &candidates);
            // The lowest possible p-value of the bootstrap is 1/(replicates + 1), which must not be above the level of each sequence of tests.
            let needed = (sequences as f64 / test.level - 1e-9).ceil() as usize - 1;
            if test.method == TestMethod::Bootstrap && self.replicates < needed {
                let reason = format!("must be at least {needed} to test `{}`", test.condition.text());
                return Err(Error::Setting { what: "bootstrap replicates", reason });
            }
            qualifies.iter_mut().zip(&passed).for_each(|(qualifies, passed)| *qualifies &= passed);
            described.push(ConditionTest {
                condition: test.condition.text().to_string(),
                confidence: test.condition.confidence().unwrap_or_default(),
                level: test.level,
                method: test.method,
                sequences,
                is_met: passed.contains(&true),
            });
        }
        let needed = match qualifies.contains(&true) {
            true => None,
            false => self.needed_rows(&tests, conditions, rows, &candidates),
        };
        let thresholds = merged_intervals(candidates.iter().zip(&qualifies).filter(|(_, qualifies)| **qualifies));
        Ok(Some(Guarantee { thresholds, tests: described, needed }))
    }

    /// Returns the conditions after the tests of [`Bootstrap::guarantee`]: conditions with a confidence hold only at the thresholds that qualify. If
    /// all of them have been tested before, they are not tested again.
    pub(crate) fn tested<R: Real>(
        &self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        conditions: &[Condition],
    ) -> Result<Vec<Condition>> {
        if !conditions.iter().any(Condition::is_untested) {
            return Ok(conditions.to_vec());
        }
        let guarantee = self.guarantee(rows, conditions)?;
        Ok(guarantee.map_or_else(|| conditions.to_vec(), |guarantee| guarantee.conditions(conditions)))
    }

    /// For each candidate, whether the tests show that the condition holds there; and the number of sequences in which the candidates were tested.
    fn passing<R: Real>(
        &self,
        test: &Test<'_>,
        rows: &Rows<'_, Probabilities<'_, R>>,
        candidates: &[ThresholdStep],
    ) -> (Vec<bool>, usize) {
        let starts = starts(test, candidates);
        let level = test.level / starts.len().max(1) as f64;
        let mut known: Vec<Option<bool>> = vec![None; candidates.len()];
        let mut passes = |at: usize| {
            *known[at].get_or_insert_with(|| {
                test.condition.holds(&candidates[at].confusion())
                    && self.p_value(test, rows, &candidates[at], 1.0) <= level
            })
        };
        let mut passed = vec![false; candidates.len()];
        for &start in &starts {
            let mut at = start;
            while at < candidates.len() && passes(at) {
                passed[at] = true;
                at += 1;
            }
            let mut at = start;
            // The thresholds above the start are tested only if the start itself passes.
            while passed[start] && at > 0 && passes(at - 1) {
                at -= 1;
                passed[at] = true;
            }
        }
        (passed, starts.len())
    }

    /// The p-value of the hypothesis that the condition does not hold at a candidate, if there were `factor` times as many rows with the same rates.
    fn p_value<R: Real>(
        &self,
        test: &Test<'_>,
        rows: &Rows<'_, Probabilities<'_, R>>,
        candidate: &ThresholdStep,
        factor: f64,
    ) -> f64 {
        let total: f64 = candidate.cells.iter().sum();
        let effective_rows = |derivatives: &[f64; 8]| {
            let cells = cells_at(rows, middle(candidate.interval));
            CellSample::new(rows, &cells).effective_rows(derivatives, self.resampling)
        };
        match (test.method, test.ratio) {
            (TestMethod::Exact, Some(ratio)) => {
                let (successes, failures) = ratio.counts(&candidate.cells);
                ratio.p_value((successes * factor, failures * factor))
            }
            (TestMethod::EffectiveRows, Some(ratio)) => {
                let (successes, failures) = ratio.counts(&candidate.cells);
                // One row is added to the successes and one to the failures, so that the variance is above 0 even if there are no failures.
                let row = total / rows.len() as f64;
                let share = (successes + row) / (successes + failures + 2.0 * row);
                let mut derivatives = [0.0; 8];
                for (cell, derivative) in derivatives.iter_mut().take(4).enumerate() {
                    if ratio.successes[cell] {
                        *derivative = 1.0 - share;
                    } else if ratio.failures[cell] {
                        *derivative = -share;
                    }
                }
                let scale = factor * effective_rows(&derivatives) / total;
                ratio.p_value((successes * scale, failures * scale))
            }
            _ => {
                let confusion = candidate.confusion();
                let effective = factor * effective_rows(&cell_derivatives(&test.score, &confusion, rows.len()));
                let fails = self.map_replicates(|replicate| {
                    let [tn, fp, fn_, tp] = self.draw_cells(replicate, &candidate.cells, [0.5; 4], effective);
                    !test.condition.holds(&Confusion::new(tn, fp, fn_, tp))
                });
                let failures = fails.iter().filter(|fails| **fails).count();
                (failures + 1) as f64 / (self.replicates + 1) as f64
            }
        }
    }

    /// How many more rows would be needed to show that the conditions hold at one candidate. This candidate has the strongest evidence, so it should
    /// need the fewest rows.
    fn needed_rows<R: Real>(
        &self,
        tests: &[Test<'_>],
        conditions: &[Condition],
        rows: &Rows<'_, Probabilities<'_, R>>,
        candidates: &[ThresholdStep],
    ) -> Option<NeededRows> {
        let holds = |candidate: &&ThresholdStep| {
            let confusion = candidate.confusion();
            conditions.iter().all(|condition| condition.holds(&confusion))
        };
        let evidence =
            |candidate: &ThresholdStep| tests.iter().map(|test| test.evidence(candidate)).fold(f64::INFINITY, f64::min);
        let best = candidates
            .iter()
            .filter(holds)
            .map(|candidate| (evidence(candidate), candidate))
            .filter(|(evidence, _)| *evidence > 0.0)
            .max_by(|one, other| one.0.total_cmp(&other.0))?
            .1;
        let mut factor: f64 = 1.0;
        for test in tests {
            let starts = starts(test, candidates);
            let level = test.level / starts.len().max(1) as f64;
            // The factor by which the number of rows must grow, so that the test at a candidate passes.
            let needed_at = |candidate: &ThresholdStep| {
                let passes = |factor: f64| self.p_value(test, rows, candidate, factor) <= level;
                let mut high = 1.0;
                while !passes(high) {
                    high *= 2.0;
                    if high > LARGEST_FACTOR {
                        return None;
                    }
                }
                let mut low: f64 = (0.5 * high).max(1.0);
                while high - low > 1e-3 * low {
                    let between = 0.5 * (low + high);
                    if passes(between) { high = between } else { low = between }
                }
                Some(high)
            };
            factor = factor.max(needed_at(best)?);
            // The test at `best` only counts if the tests before it in the sequence pass too, and first of all the one at the start of a sequence.
            let holding =
                starts.iter().map(|start| &candidates[*start]).filter(|start| test.condition.holds(&start.confusion()));
            factor = factor.max(holding.filter_map(needed_at).min_by(f64::total_cmp).unwrap_or(1.0));
        }
        let labels = rows.labels.iter().filter(|label| **label).count() as f64;
        // If `factor` is 1, a test between the start and `best` has failed. Then about one more event may be enough.
        Some(NeededRows {
            threshold: middle(best.interval),
            factor,
            events: ((factor - 1.0) * labels).ceil().max(1.0),
            rows: ((factor - 1.0) * rows.len() as f64).ceil().max(1.0),
        })
    }
}

impl Guarantee {
    /// Returns the given conditions, but those with a confidence now hold only at the thresholds that qualify. Functions that search for the best
    /// threshold do not test the returned conditions again.
    #[must_use]
    pub fn conditions(&self, conditions: &[Condition]) -> Vec<Condition> {
        let thresholds: Arc<[(f64, f64)]> = self.thresholds.clone().into();
        let restricted = |condition: &Condition| match condition.confidence() {
            Some(_) => condition.restricted_to(thresholds.clone()),
            None => condition.clone(),
        };
        conditions.iter().map(restricted).collect()
    }
}

impl ThresholdStep {
    /// The confusion matrix at these thresholds.
    fn confusion(&self) -> Confusion {
        let [tn, fp, fn_, tp] = self.cells;
        Confusion::new(tn, fp, fn_, tp)
    }
}

impl<'a> Test<'a> {
    /// Chooses how a condition is tested; `None` if its formulas are too large.
    fn new<R: Real>(
        condition: &'a Condition,
        level: f64,
        rows: &Rows<'_, Probabilities<'_, R>>,
        resampling: Resampling<'_>,
    ) -> Option<Self> {
        let total = (0..rows.len()).map(|row| rows.weight(row)).sum();
        let linear = LinearCondition::new(condition, total);
        let ratio = linear.and_then(|linear| linear.ratio());
        let method = match (ratio, resampling) {
            (None, _) | (_, Resampling::Stratified) => TestMethod::Bootstrap,
            (_, Resampling::Poisson | Resampling::Blocks(BlockLength::Rows(1))) if rows.weights.is_none() => {
                TestMethod::Exact
            }
            _ => TestMethod::EffectiveRows,
        };
        Some(Test { condition, score: condition.nearness_score()?, linear, ratio, method, level })
    }

    /// The order in which the thresholds are tested. When the threshold falls, positive rows move from fn to tp, and negative rows from tn to fp.
    fn order(&self) -> Order {
        let Some(LinearCondition([tn, fp, fn_, tp])) = self.linear else { return Order::ManyStarts };
        let (by_positive, by_negative) = (tp - fn_, fp - tn);
        if by_positive >= 0.0 && by_negative >= 0.0 {
            Order::Rising
        } else if by_positive <= 0.0 && by_negative <= 0.0 {
            Order::Falling
        } else if self.ratio.is_some() && tn == 0.0 && fn_ == 0.0 && tp > 0.0 {
            Order::StartedFromBelow
        } else if self.ratio.is_some() && tp == 0.0 && fp == 0.0 && tn > 0.0 {
            Order::StartedFromAbove
        } else {
            Order::ManyStarts
        }
    }

    /// The evidence that the condition holds at a candidate, divided by the evidence that its test needs. The evidence is a log-likelihood ratio for
    /// a ratio of counts, and otherwise half the squared number of standard errors between the score and 0. This is approximate, but it is only used
    /// to find the candidate that needs the fewest additional rows.
    fn evidence(&self, candidate: &ThresholdStep) -> f64 {
        let needed = -self.level.ln();
        if let Some(ratio) = self.ratio {
            let (successes, failures) = ratio.counts(&candidate.cells);
            let total = successes + failures;
            let term = |count: f64, share: f64| if count > 0.0 { count * (count / total / share).ln() } else { 0.0 };
            if successes <= ratio.share * total {
                return 0.0;
            }
            return (term(successes, ratio.share) + term(failures, 1.0 - ratio.share)) / needed;
        }
        let confusion = candidate.confusion();
        let derivatives = cell_derivatives(&self.score, &confusion, 1000);
        let total: f64 = candidate.cells.iter().sum();
        let moment = |power: i32| {
            candidate.cells.iter().zip(derivatives).map(|(cell, slope)| cell * slope.powi(power)).sum::<f64>()
        };
        let variance = moment(2) - moment(1) * moment(1) / total;
        match self.score.checked(&confusion) {
            Some(margin) if margin > 0.0 && variance > 0.0 => 0.5 * margin * margin / variance / needed,
            _ => 0.0,
        }
    }
}

/// The indices of the candidates at which sequences of tests begin. From its first candidate, a sequence goes to lower thresholds (higher indices),
/// and then, again from the first candidate, to higher thresholds.
fn starts(test: &Test<'_>, candidates: &[ThresholdStep]) -> Vec<usize> {
    let last = candidates.len() - 1;
    match (test.order(), test.ratio) {
        (Order::Falling, _) => vec![0],
        (Order::Rising, _) => vec![last],
        (Order::StartedFromBelow, Some(ratio)) => {
            let counts: Vec<(f64, f64)> = candidates.iter().map(|candidate| ratio.counts(&candidate.cells)).collect();
            vec![start_by_next_rows(&counts, ratio.share, test.level)]
        }
        (Order::StartedFromAbove, Some(ratio)) => {
            let counts: Vec<(f64, f64)> =
                candidates.iter().rev().map(|candidate| ratio.counts(&candidate.cells)).collect();
            vec![last - start_by_next_rows(&counts, ratio.share, test.level)]
        }
        _ => {
            let rows = candidates[last].above;
            let mut starts: Vec<usize> = (1..)
                .map(|halvings| rows >> halvings)
                .take_while(|alarms| *alarms >= FIRST_ALARMS)
                .map(|alarms| candidates.partition_point(|candidate| candidate.above < alarms).min(last))
                .collect();
            starts.dedup();
            if starts.is_empty() { vec![last / 2] } else { starts }
        }
    }
}

/// The index of the candidate at which a sequence of tests begins. `counts` contains the numbers of successes and failures up to each candidate. The
/// chosen candidate is the last one for which at least the share `share` of the next rows are successes; the next rows are as many as the rows up to
/// the candidate. Its test uses only the rows up to the candidate, so it is independent of this choice.
fn start_by_next_rows(counts: &[(f64, f64)], share: f64, level: f64) -> usize {
    let rows = |at: usize| counts[at].0 + counts[at].1;
    // With fewer rows than this, the test cannot pass even if all rows are successes.
    let fewest = if share > 0.0 && share < 1.0 { level.ln() / share.ln() } else { 0.0 };
    let mut at = counts.len() - 1;
    while at > 0 && rows(at) > fewest {
        let end = counts.partition_point(|count| count.0 + count.1 < 2.0 * rows(at));
        if end < counts.len() {
            let (successes, next) = (counts[end].0 - counts[at].0, rows(end) - rows(at));
            if successes >= share * next {
                return at;
            }
        }
        at -= 1;
    }
    // No candidate has enough successes among the next rows, so the sequence begins at the first candidate whose test can pass.
    (at + 1).min(counts.len() - 1)
}

/// The candidates (thresholds that may be tested), in descending order of their thresholds. If there are too many, about `at_most` are chosen: half
/// of them evenly over the ranks of the rows, and the others mostly near the highest and the lowest ranks.
fn candidates<R: Real>(rows: &Rows<'_, Probabilities<'_, R>>, at_most: usize) -> Vec<ThresholdStep> {
    let count = rows.len();
    let prediction = |row: usize| rows.predictions.0[row].to_f64();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|one, other| prediction(*other).total_cmp(&prediction(*one)));
    let wanted = |above: usize| {
        let (quarter, half) = ((at_most / 4) as f64, at_most / 2);
        // Three scales divide the ranks into steps: one into equal steps, one into steps that are short at the highest predictions, and one into
        // steps that are short at the lowest predictions. A rank is used if a step of any scale begins there.
        let even = |rank: usize| (rank as u128 * half as u128 / count.max(1) as u128) as usize;
        let geometric = |rank: usize| {
            let scale = quarter / (count as f64).ln_1p();
            ((rank as f64).ln_1p() * scale).floor()
        };
        at_most >= count
            || above == 0
            || above == count
            || even(above) != even(above - 1)
            || geometric(above) != geometric(above - 1)
            || geometric(count - above) != geometric(count - above + 1)
    };
    let (mut positives, mut negatives) = (0.0, 0.0);
    for row in 0..count {
        if rows.labels[row] { positives += rows.weight(row) } else { negatives += rows.weight(row) }
    }
    let mut candidates = Vec::new();
    let (mut tp, mut fp) = (0.0, 0.0);
    for above in 0..=count {
        if above > 0 {
            let row = order[above - 1];
            if rows.labels[row] { tp += rows.weight(row) } else { fp += rows.weight(row) }
        }
        let low = if above == count { 0.0 } else { prediction(order[above]) };
        let high = if above == 0 { 1.0 } else { prediction(order[above - 1]) };
        if (low < high || above == 0) && wanted(above) {
            let cells = [(negatives - fp).max(0.0), fp, (positives - tp).max(0.0), tp];
            candidates.push(ThresholdStep { above, interval: (low, high), cells });
        }
    }
    candidates
}

/// The intervals of the candidates in ascending order, with adjacent intervals joined. The candidates themselves must be in descending order of their
/// thresholds.
fn merged_intervals<'a>(candidates: impl Iterator<Item = (&'a ThresholdStep, &'a bool)>) -> Vec<(f64, f64)> {
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (candidate, _) in candidates {
        let (low, high) = candidate.interval;
        match merged.last_mut() {
            Some(above) if above.0 == high && above.0 < above.1 => above.0 = low,
            _ => merged.push((low, high)),
        }
    }
    merged.reverse();
    merged
}
