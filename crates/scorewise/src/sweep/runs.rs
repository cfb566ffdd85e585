//! Sorted rows cut into runs of neighbours: what a bootstrap of very many rows needs to know of them.
//!
//! A threshold between two runs is exact, matrix and score are those of the rows; a threshold inside a run is not looked at.

use super::Condition;
use super::best::{Best, best};
use super::ranked::{Ranked, Table};
use crate::score::Score;

/// Runs of neighbours in falling order of their predictions.
///
/// ```
/// use scorewise::sweep::sweep;
/// use scorewise::{Probabilities, Rows};
///
/// let rows = Rows::new(Probabilities(&[0.1, 0.2, 0.3, 0.8, 0.8, 0.9]), &[false, false, false, true, true, false])?;
/// assert_eq!(sweep(&rows)?.runs(3).len(), 3); // 0.9; 0.8, 0.8, 0.3; 0.2, 0.1
/// assert_eq!(sweep(&rows)?.runs(usize::MAX).len(), 5); // equal predictions stay together
/// # Ok::<(), scorewise::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    pub(super) steps: Vec<Step>,
    pub(super) rows: usize,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    low: f64,
    high: f64,
    /// Weight of positives and of negatives.
    pub mass: (f64, f64),
}

impl Runs {
    pub(super) fn new<T: Ranked>(table: &Table<T>, at_most: usize) -> Self {
        Runs { steps: cut(table, at_most.max(1)), rows: table.rows.len() }
    }

    /// How many runs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Never: there is at least one row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The run that a prediction of these rows is in.
    pub(super) fn run_of(&self, prediction: f64) -> usize {
        self.steps.partition_point(|step| step.low > prediction)
    }

    /// The best threshold between runs, with these weights of positives and negatives in each.
    pub(super) fn best(&self, masses: Vec<(f64, f64)>, score: &Score, conditions: &[Condition]) -> Option<Best> {
        best(&Table::new(Replicate { steps: &self.steps, masses }), score, conditions)
    }
}

fn cut<T: Ranked>(table: &Table<T>, at_most: usize) -> Vec<Step> {
    let (rows, counts) = (&table.rows, &table.counts);
    let each_group = at_most >= rows.len();
    let part = |weight: f64, total: f64| if total > 0.0 { weight / total } else { 0.0 };
    let share = |mass: (f64, f64)| part(mass.0, counts.positives) + part(mass.1, counts.negatives);
    let scale = at_most as f64 / share((counts.positives, counts.negatives));
    let mut steps: Vec<Step> = Vec::new();
    let (mut seen, mut next) = ((0.0, 0.0), 1.0);
    let (mut mass, mut first) = ((0.0, 0.0), None);
    for rank in 0..rows.len() {
        let (positive, negative) = rows.mass(rank);
        seen = (seen.0 + positive, seen.1 + negative);
        mass = (mass.0 + positive, mass.1 + negative);
        let high = *first.get_or_insert_with(|| rows.value(rank));
        let is_last = rank + 1 == rows.len();
        // The last place may be passed by rounding: the last run ends with the last row and no sooner.
        let place = scale * share(seen);
        let is_full = each_group || (place >= next && next < at_most as f64);
        if is_last || (is_full && rows.ends_group(rank)) {
            steps.push(Step { low: rows.value(rank), high, mass });
            (mass, first, next) = ((0.0, 0.0), None, place.floor() + 1.0);
        }
    }
    steps
}

/// The runs with the weights of one replicate.
struct Replicate<'a> {
    steps: &'a [Step],
    masses: Vec<(f64, f64)>,
}

impl Ranked for Replicate<'_> {
    fn len(&self) -> usize {
        self.steps.len()
    }
    #[inline(always)]
    fn value(&self, rank: usize) -> f64 {
        self.steps[rank].low
    }
    #[inline(always)]
    fn mass(&self, rank: usize) -> (f64, f64) {
        self.masses[rank]
    }
    #[inline(always)]
    fn ends_group(&self, _: usize) -> bool {
        true
    }
    #[inline(always)]
    fn ceiling(&self, rank: usize) -> f64 {
        self.steps[rank].high
    }
}
