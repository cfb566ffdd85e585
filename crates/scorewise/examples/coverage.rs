//! Simulates data sets whose true scores are known, and counts how often confidence intervals contain the true scores.
//!
//! `cargo run --release -p scorewise --example coverage -- 2000` simulates 2000 data sets of each kind. Every data set has events with a known rate,
//! and a forecast whose errors are normally distributed. The rows are independent, or follow a first-order autoregression, or are correlated within
//! groups of ten rows. Three tables show
//!
//! - how often the 95 % interval of a score at a fixed threshold contains the true score,
//! - how often the comparison of two equally good forecasts says that one is better, which should happen in 5 % of the data sets,
//! - the bias of the score at the best threshold of the data set, and the bias and the coverage of the corrected score. Cross-fitting corrects the
//!   score for the choice of the threshold on the same data set.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use scorewise::sweep::{BlockLength, Bootstrap, Resampling, sweep};
use scorewise::{Confusion, Probabilities, Purpose, Rows, Score, stream};
use statrs::distribution::{ContinuousCDF, Normal};

/// The mean forecast for events minus that for other rows, in standard deviations of the noise of the forecast.
const SKILL: f64 = 1.8;
/// The scores that are computed for every simulated data set.
const SCORES: [&str; 6] = ["f1", "tss", "csi", "hss", "precision", "recall"];
/// Number of rows of a group.
const GROUP_ROWS: usize = 10;
/// Number of bootstrap replicates of each interval.
const REPLICATES: usize = 1000;

/// How the rows of a simulated data set depend on each other.
#[derive(Clone, Copy)]
enum Design {
    Independent,
    /// Neighbouring rows are correlated with this coefficient.
    Autoregression(f64),
    /// Rows of the same group have a correlation of ½.
    Groups,
}

impl Design {
    const ALL: [Design; 5] = [
        Design::Independent,
        Design::Groups,
        Design::Autoregression(0.5),
        Design::Autoregression(0.8),
        Design::Autoregression(0.95),
    ];

    /// The name of the design in the tables.
    fn name(self) -> String {
        match self {
            Design::Independent => "independent".into(),
            Design::Autoregression(correlation) => format!("AR({correlation})"),
            Design::Groups => format!("groups of {GROUP_ROWS}"),
        }
    }

    /// Normally distributed numbers with the dependence of the design.
    fn noise(self, random: &mut Random, rows: usize) -> Vec<f64> {
        match self {
            Design::Independent => (0..rows).map(|_| random.normal()).collect(),
            Design::Autoregression(correlation) => {
                let mut last = random.normal();
                let next = |random: &mut Random| {
                    let value = last;
                    last = correlation * last + (1.0 - correlation * correlation).sqrt() * random.normal();
                    value
                };
                let mut next = next;
                (0..rows).map(|_| next(random)).collect()
            }
            Design::Groups => {
                let mut shared = 0.0;
                let mut next = |row: usize| {
                    if row.is_multiple_of(GROUP_ROWS) {
                        shared = random.normal();
                    }
                    0.5f64.sqrt() * (shared + random.normal())
                };
                (0..rows).map(&mut next).collect()
            }
        }
    }
}

/// A source of normally distributed numbers.
struct Random(Xoshiro256PlusPlus);

impl Random {
    #[expect(clippy::disallowed_methods, reason = "a simulation seeds its own random number generator")]
    /// The random numbers of the simulated data set with this index.
    fn new(data_set: usize) -> Self {
        Random(Xoshiro256PlusPlus::seed_from_u64(stream(1, Purpose::Repeat, data_set as u64)))
    }

    /// A random number with the standard normal distribution.
    fn normal(&mut self) -> f64 {
        let mut uniform = || ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
    }
}

/// A kind of simulated data sets: how their rows depend on each other, the number of rows, and the event rate. Each kind has one row in the tables.
#[derive(Clone, Copy)]
struct Kind {
    design: Design,
    rows: usize,
    rate: f64,
}

impl Kind {
    /// All combinations of a design with a number of rows and an event rate.
    fn all() -> impl Iterator<Item = Kind> {
        let sizes = [(200, 0.02), (200, 0.2), (2000, 0.02), (2000, 0.2)];
        Design::ALL.into_iter().flat_map(move |design| sizes.map(|(rows, rate)| Kind { design, rows, rate }))
    }

    /// The label of the kind in the tables.
    fn label(self) -> String {
        format!("{:12} {:5} rows, rate {:4}", self.design.name(), self.rows, self.rate)
    }

    /// The threshold at which scores are evaluated, on the scale of the forecast before it is converted to a probability.
    fn threshold(self) -> f64 {
        if self.rate < 0.1 { 1.3 } else { 0.9 }
    }

    /// The true confusion matrix, as shares of the rows, if rows whose forecast is above `threshold` are predicted positive.
    fn truth(self, threshold: f64) -> Confusion {
        let normal = Normal::standard();
        let (hit, alarm) = (normal.sf(threshold - SKILL), normal.sf(threshold));
        let (p, n) = (self.rate, 1.0 - self.rate);
        Confusion::new(n * (1.0 - alarm), n * alarm, p * (1.0 - hit), p * hit)
    }

    /// The labels of a data set, and the predictions of two forecasts with the same skill whose errors are correlated.
    fn simulate(self, random: &mut Random) -> (Vec<bool>, [Vec<f64>; 2]) {
        let limit = Normal::standard().inverse_cdf(1.0 - self.rate);
        let labels: Vec<bool> = self.design.noise(random, self.rows).iter().map(|value| *value > limit).collect();
        let [shared, first, second] = std::array::from_fn(|_| self.design.noise(random, self.rows));
        let forecast = |own: &[f64]| -> Vec<f64> {
            let error = shared.iter().zip(own).map(|(shared, own)| 0.5f64.sqrt() * (shared + own));
            error.zip(&labels).map(|(error, label)| error + if *label { SKILL } else { 0.0 }).collect()
        };
        let forecasts = [forecast(&first), forecast(&second)];
        (labels, forecasts)
    }
}

/// Converts a prediction to a probability.
fn probability(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

/// The logit of a probability, which is the inverse of [`probability`].
fn logit(probability: f64) -> f64 {
    (probability / (1.0 - probability)).ln()
}

/// Counts and sums over all simulated data sets of one [`Kind`]. Every array has one element for each score.
#[derive(Clone, Default)]
struct CoverageCounts {
    data_sets: f64,
    /// Number of data sets in which the interval of the score contains the true score.
    covered: [f64; SCORES.len()],
    /// Number of data sets in which the score is defined.
    defined: [f64; SCORES.len()],
    /// Number of data sets in which one of the two equally good forecasts seems better.
    rejected: [f64; SCORES.len()],
    /// Two sums of errors over the data sets that `corrected` counts: of the apparent score, which is the score on the rows on which the threshold
    /// was chosen, and of the corrected score, which cross-fitting corrects for this choice.
    bias: [(f64, f64); SCORES.len()],
    /// Number of data sets in which the best threshold has both an apparent score and a corrected score.
    corrected: [f64; SCORES.len()],
    /// Number of data sets in which the interval of the corrected score contains the true score.
    corrected_covered: [f64; SCORES.len()],
}

/// Simulates data sets of one kind and counts how often their intervals contain the true scores.
fn simulate(kind: Kind, data_sets: usize, scores: &[Score]) -> CoverageCounts {
    let mut counts = CoverageCounts { data_sets: data_sets as f64, ..CoverageCounts::default() };
    let groups: Vec<u32> = (0..kind.rows).map(|row| (row / GROUP_ROWS) as u32).collect();
    let resampling = match kind.design {
        Design::Independent => Resampling::Poisson,
        Design::Autoregression(_) => Resampling::Blocks(BlockLength::Auto),
        Design::Groups => Resampling::Groups(&groups),
    };
    let threshold = probability(kind.threshold());
    for data_set in 0..data_sets {
        let (labels, forecasts) = kind.simulate(&mut Random::new(data_set));
        let [first, second] = forecasts.map(|values| values.into_iter().map(probability).collect::<Vec<_>>());
        let rows = Rows::new(Probabilities(&first), &labels).expect("every simulated data set has rows");
        let bootstrap = Bootstrap { resampling, replicates: REPLICATES, seed: data_set as u64 };
        let matrix = sweep(&rows).expect("valid rows").at(threshold);
        let intervals = bootstrap.scores(&rows, threshold, scores).expect("valid rows");
        let pairs =
            bootstrap.paired(&rows, Probabilities(&second), (threshold, threshold), scores).expect("valid rows");
        let runs = sweep(&rows).expect("valid rows").runs(usize::MAX);
        for (k, score) in scores.iter().enumerate() {
            let truth = score.value(&kind.truth(kind.threshold()));
            if score.checked(&matrix).is_some() {
                let (low, high) = intervals[k].interval(0.95).expect("replicates");
                counts.defined[k] += 1.0;
                counts.covered[k] += f64::from(u8::from(low <= truth && truth <= high));
            }
            if let Some((low, high)) = pairs[k].difference.interval(0.95) {
                counts.rejected[k] += f64::from(u8::from(low > 0.0 || high < 0.0));
            }
            if k >= 4 {
                continue; // precision and recall alone have no best threshold of interest
            }
            let best = sweep(&rows).expect("valid rows").best(score);
            let corrected = bootstrap.corrected_best(&rows, &runs, score, &[]).expect("valid rows");
            if let (Some(best), Some(corrected)) = (best, corrected)
                && let Some(value) = corrected.value
            {
                let truth = score.value(&kind.truth(logit(best.threshold)));
                let (low, high) = corrected.distribution.interval(0.95).expect("replicates");
                counts.bias[k].0 += best.value - truth;
                counts.bias[k].1 += value - truth;
                counts.corrected[k] += 1.0;
                counts.corrected_covered[k] += f64::from(u8::from(low <= truth && truth <= high));
            }
        }
    }
    counts
}

/// A line of a table: a label, and one cell for each score.
fn line(label: &str, cells: impl Iterator<Item = String>) -> String {
    let mut line = format!("{label:34}");
    cells.for_each(|cell| write!(line, "{cell:>16}").expect("writing to a string"));
    line
}

fn main() {
    let data_sets = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200);
    let scores: Vec<Score> = SCORES.iter().map(|name| Score::parse(name).expect("a registered score")).collect();
    let next = AtomicUsize::new(0);
    let kinds: Vec<Kind> = Kind::all().collect();
    let work = || {
        let mut done = Vec::new();
        while let Some(kind) = kinds.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*kind, simulate(*kind, data_sets, &scores)));
            eprintln!("{} done", kind.label());
        }
        done
    };
    let mut results: Vec<(Kind, CoverageCounts)> = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a simulation failed")).collect()
    });
    let order: Vec<String> = Kind::all().map(Kind::label).collect();
    results.sort_by_key(|(kind, _)| order.iter().position(|label| *label == kind.label()));
    let header = line("", SCORES.iter().map(ToString::to_string));
    println!("Share of {data_sets} data sets whose 95 % interval contains the true score, in percent\n{header}");
    for (kind, counts) in &results {
        let cell = |k: usize| format!("{:.1}", 100.0 * counts.covered[k] / counts.defined[k].max(1.0));
        println!("{}", line(&kind.label(), (0..SCORES.len()).map(cell)));
    }
    println!("\nShare of data sets in which one of two equally good forecasts seems better, in percent\n{header}");
    for (kind, counts) in &results {
        let cell = |k: usize| format!("{:.1}", 100.0 * counts.rejected[k] / counts.data_sets);
        println!("{}", line(&kind.label(), (0..SCORES.len()).map(cell)));
    }
    println!(
        "\nAt the best threshold: bias of the apparent score, bias of the corrected score (coverage of its interval in percent)\n{header}"
    );
    for (kind, counts) in &results {
        let cell = |k: usize| {
            let count = counts.corrected[k].max(1.0);
            let (apparent, corrected) = counts.bias[k];
            format!(
                "{:.3} {:.3} ({:.0})",
                apparent / count,
                corrected / count,
                100.0 * counts.corrected_covered[k] / count
            )
        };
        println!("{}", line(&kind.label(), (0..4).map(cell)));
    }
}
