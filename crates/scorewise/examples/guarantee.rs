//! Simulates data sets whose true scores are known, and counts how often a condition with a confidence of 95 % is violated on future rows.
//!
//! `cargo run --release -p scorewise --example guarantee -- 2000` simulates 2000 data sets of each kind. For each data set it chooses the best
//! threshold of a score among the thresholds at which a condition such as `precision >= 0.3 with 95%` was shown to hold. The table shows
//!
//! - in how many data sets the condition does not hold in the population, which should be at most 5 %,
//! - the same for the plain condition without a confidence, for comparison,
//! - in how many data sets no threshold qualifies,
//! - the mean loss: how much lower the score in the population is than the best score of all thresholds that satisfy the condition in the population,
//! - the same for the plain condition,
//! - the mean error of the corrected score, which is reported as the score on new rows.
//!
//! Each kind optimises a score that pulls the threshold towards violating the condition. With other scores, violations would be rare.

use std::sync::atomic::{AtomicUsize, Ordering};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use scorewise::sweep::{BlockLength, Bootstrap, Condition, Resampling, TestMethod, sweep};
use scorewise::{Confusion, Probabilities, Purpose, Rows, Score, stream};
use statrs::distribution::{ContinuousCDF, Normal};

/// The mean forecast for events minus that for other rows, in standard deviations of the noise of the forecast.
const SKILL: f64 = 1.8;
/// Number of rows of a group.
const GROUP_ROWS: usize = 10;
/// Number of bootstrap replicates of each test.
const REPLICATES: usize = 1000;

/// How the rows of a simulated data set depend on each other.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Design {
    Independent,
    /// Rows of the same group have a correlation of ½.
    Groups,
    /// Neighbouring rows are correlated with this coefficient.
    Autoregression(f64),
    /// The rows are independent, and every second row has the weight 3.
    Weights,
}

/// A kind of simulated data sets, with a condition and the score that is optimised subject to it.
#[derive(Clone)]
struct Kind {
    design: Design,
    rows: usize,
    rate: f64,
    condition: String,
    score: &'static str,
}

/// A source of normally distributed numbers.
struct Random(Xoshiro256PlusPlus);

impl Random {
    #[expect(clippy::disallowed_methods, reason = "a simulation seeds its own random number generator")]
    /// The random numbers of the simulated data set with this index.
    fn new(data_set: usize) -> Self {
        Random(Xoshiro256PlusPlus::seed_from_u64(stream(2, Purpose::Repeat, data_set as u64)))
    }

    /// A random number with the standard normal distribution.
    fn normal(&mut self) -> f64 {
        let mut uniform = || ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos()
    }
}

impl Design {
    /// Normally distributed numbers with the dependence of the design.
    fn noise(self, random: &mut Random, rows: usize) -> Vec<f64> {
        match self {
            Design::Independent | Design::Weights => (0..rows).map(|_| random.normal()).collect(),
            Design::Groups => {
                let groups = rows.div_ceil(GROUP_ROWS);
                let shared: Vec<f64> = (0..groups).map(|_| random.normal()).collect();
                (0..rows).map(|row| 0.5f64.sqrt() * (shared[row / GROUP_ROWS] + random.normal())).collect()
            }
            Design::Autoregression(correlation) => {
                let mut value = random.normal();
                let rest = (1.0 - correlation * correlation).sqrt();
                let mut next = || {
                    value = correlation * value + rest * random.normal();
                    value
                };
                (0..rows).map(|_| next()).collect()
            }
        }
    }
}

/// The true confusion matrix, as shares of the rows, if rows whose forecast is above `threshold` are predicted positive.
fn truth(rate: f64, threshold: f64) -> Confusion {
    let normal = Normal::standard();
    let (hit, alarm) = (normal.sf(threshold - SKILL), normal.sf(threshold));
    Confusion::new((1.0 - rate) * (1.0 - alarm), (1.0 - rate) * alarm, rate * (1.0 - hit), rate * hit)
}

/// The thresholds, on the scale of the forecast, among which the best possible score in the population is searched.
fn grid() -> impl Iterator<Item = f64> {
    (0..4000).map(|step| -4.0 + 0.0025 * f64::from(step))
}

impl Kind {
    /// All kinds. The limits of the conditions are such that some thresholds satisfy them in the population, and others do not.
    fn all() -> Vec<Kind> {
        let sizes = [(200, 0.02), (200, 0.2), (2000, 0.02), (2000, 0.2)];
        let mut kinds = Vec::new();
        for design in [Design::Independent, Design::Weights, Design::Groups, Design::Autoregression(0.8)] {
            for (rows, rate) in sizes {
                // The limit of the precision is its value in the population at the threshold where the recall is 0.7. The limits of TSS and CSI
                // are three quarters of their greatest values.
                let at_recall = Normal::standard().inverse_cdf(0.3) + SKILL;
                let value = |name: &str, confusion: &Confusion| Score::parse(name).expect("a score").value(confusion);
                let greatest = |name: &str| grid().map(|at| value(name, &truth(rate, at))).fold(0.0, f64::max);
                let limits = [
                    (format!("precision >= {:.3}", value("precision", &truth(rate, at_recall))), "recall"),
                    ("recall >= 0.7".to_string(), "precision"),
                    (format!("alarms <= {:.0} per 1000", 1500.0 * rate), "recall"),
                    (format!("csi >= {:.3}", 0.75 * greatest("csi")), "recall"),
                    (format!("tss >= {:.3}", 0.75 * greatest("tss")), "precision"),
                ];
                for (condition, score) in limits {
                    kinds.push(Kind { design, rows, rate, condition, score });
                }
            }
        }
        kinds
    }

    /// The columns of the table that describe the kind.
    fn label(&self) -> String {
        let design = match self.design {
            Design::Independent => "independent".to_string(),
            Design::Weights => "weights 1 and 3".into(),
            Design::Groups => format!("groups of {GROUP_ROWS}"),
            Design::Autoregression(correlation) => format!("AR({correlation})"),
        };
        format!("| {design} | {} | {} % | {} |", self.rows, 100.0 * self.rate, self.condition)
    }

    /// The labels and the predictions of a data set.
    fn simulate(&self, random: &mut Random) -> (Vec<bool>, Vec<f64>) {
        let limit = Normal::standard().inverse_cdf(1.0 - self.rate);
        let labels: Vec<bool> = self.design.noise(random, self.rows).iter().map(|value| *value > limit).collect();
        let errors = self.design.noise(random, self.rows);
        let values = errors.iter().zip(&labels).map(|(error, label)| error + if *label { SKILL } else { 0.0 });
        let values: Vec<f64> = values.map(|value| 1.0 / (1.0 + (-value).exp())).collect();
        (labels, values)
    }
}

/// Sums over the data sets of one kind.
#[derive(Default)]
struct Sums {
    violated: f64,
    none: f64,
    loss: f64,
    plain: f64,
    plain_violated: f64,
    plain_loss: f64,
    corrected: f64,
    bias: f64,
    method: Option<TestMethod>,
}

/// Simulates the data sets of one kind.
fn simulate(kind: &Kind, data_sets: usize) -> Sums {
    let mut sums = Sums::default();
    let score = Score::parse(kind.score).expect("a registered score");
    let plain = Condition::parse(&kind.condition).expect("a valid condition");
    let conditions = Condition::parse(&format!("{} with 95%", kind.condition)).expect("a valid condition");
    let groups: Vec<u32> = (0..kind.rows).map(|row| (row / GROUP_ROWS) as u32).collect();
    let weights: Vec<f64> = (0..kind.rows).map(|row| if row % 2 == 0 { 1.0 } else { 3.0 }).collect();
    let resampling = match kind.design {
        Design::Independent | Design::Weights => Resampling::Poisson,
        Design::Groups => Resampling::Groups(&groups),
        Design::Autoregression(_) => Resampling::Blocks(BlockLength::Auto),
    };
    let holds = |confusion: &Confusion| plain[0].holds(confusion);
    let feasible = grid().map(|at| truth(kind.rate, at)).filter(holds);
    let oracle = feasible.map(|confusion| score.value(&confusion)).fold(0.0, f64::max);
    for data_set in 0..data_sets {
        let (labels, predictions) = kind.simulate(&mut Random::new(data_set));
        let rows = Rows::new(Probabilities(&predictions), &labels).expect("every data set has rows");
        let rows = if kind.design == Design::Weights { rows.weighted(&weights).expect("valid weights") } else { rows };
        let bootstrap = Bootstrap { resampling, replicates: REPLICATES, seed: data_set as u64 };
        let swept = sweep(&rows).expect("valid rows");
        let population = |threshold: f64| truth(kind.rate, (threshold / (1.0 - threshold)).ln());
        if let Some(best) = swept.best_subject_to(&score, &plain) {
            let truth = population(best.threshold);
            sums.plain += 1.0;
            sums.plain_violated += f64::from(u8::from(!holds(&truth)));
            sums.plain_loss += oracle - score.value(&truth);
        }
        let guarantee = bootstrap.guarantee(&rows, &conditions).expect("valid rows").expect("a confidence");
        sums.method = Some(guarantee.tests[0].method);
        let tested = guarantee.conditions(&conditions);
        let Some(best) = swept.best_subject_to(&score, &tested) else {
            sums.none += 1.0;
            continue;
        };
        let truth = population(best.threshold);
        sums.violated += f64::from(u8::from(!holds(&truth)));
        sums.loss += oracle - score.value(&truth);
        // The corrected score needs many searches, so it is computed for every tenth data set only.
        if data_set % 10 == 0 {
            let runs = swept.runs(usize::MAX);
            let few = Bootstrap { replicates: 1, ..bootstrap };
            if let Some(corrected) = few.corrected_best(&rows, &runs, &score, &tested).expect("valid rows")
                && let Some(value) = corrected.value
            {
                sums.corrected += 1.0;
                sums.bias += value - score.value(&truth);
            }
        }
    }
    sums
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let data_sets = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(200);
    let only = arguments.next().unwrap_or_default();
    let kinds: Vec<Kind> = Kind::all().into_iter().filter(|kind| kind.label().contains(&only)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some(kind) = kinds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let sums = simulate(kind, data_sets);
            eprintln!("{} done", kind.label());
            done.push((kind.label(), kind, sums));
        }
        done
    };
    let mut results: Vec<(String, &Kind, Sums)> = std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a simulation failed")).collect()
    });
    results.sort_by_key(|(label, ..)| kinds.iter().position(|kind| kind.label() == *label));
    println!("{data_sets} data sets of each kind\n");
    println!(
        "| dependence | rows | event rate | condition | score | test | violated | violated without confidence | no threshold | loss | \
         loss without confidence | error of corrected score |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (label, kind, sums) in &results {
        let percent = |count: f64, of: f64| format!("{:.1} %", 100.0 * count / of.max(1.0));
        let all = data_sets as f64;
        println!(
            "{label} {} | {} | {} | {} | {} | {:.3} | {:.3} | {:+.3} |",
            kind.score,
            sums.method.map_or(String::new(), |method| method.to_string()),
            percent(sums.violated, all),
            percent(sums.plain_violated, sums.plain),
            percent(sums.none, all),
            sums.loss / (all - sums.none).max(1.0),
            sums.plain_loss / sums.plain.max(1.0),
            sums.bias / sums.corrected.max(1.0),
        );
    }
}
