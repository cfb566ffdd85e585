//! One epoch of the paper's two networks, by batch size, against the fused multiply-add peak of this core.
//!
//! An epoch is a shuffle (where there is more than one batch), all steps (forward, loss, backward, Adam) and the loss of the validation rows. Data of the experiments'
//! sizes, random: the arithmetic does not look at the values.
//!
//! On a rented machine another's thread may sit on the same physical core. It then takes every other turn of the front end: three
//! instructions a cycle are left of six, enough for a loop of nothing but products, too few for kernels that load what they
//! multiply. Products with as many empty instructions between them tell the two states apart; rounds are reported all together, and
//! those with the core to ourselves once more.

use std::hint::black_box;
use std::time::Instant;

use scorewise::{Logits, Rows, Score, ScoreLoss};
use scorewise_train::Matrix;
use scorewise_train::network::Adam;
use scorewise_train::network::{Engine, Network, NetworkShape};

fn main() {
    for (name, inputs, hidden, steps, validation, score) in [
        ("Adult net 48-50-20-5-1", 48, &[50, 20, 5][..], 16_086, 8043, "f1"),
        ("pollution net 8-15-8-1", 8, &[15, 8][..], 8736, 4368, "tss"),
    ] {
        println!("{name}, {steps} rows of steps + {validation} of validation, one thread");
        for batch in [32, 64, 256, 1024, steps] {
            let mut bench = Epoch::new(inputs, hidden, steps, validation, score);
            let widths = bench.network.shape().widths();
            let weights: usize = widths.windows(2).map(|pair| pair[0] * pair[1]).sum();
            let first = widths[0] * widths[1];
            // Forward, the weights' gradient, and back to the inputs of all layers but the first; two operations each.
            let work = (2 * (steps * (3 * weights - first) + validation * weights)) as f64;
            bench.run(batch);
            let mut rounds = Vec::new();
            let mut alone = 0;
            while rounds.len() < LEAST || alone < ENOUGH && rounds.len() < MOST {
                rounds.push(Round::measure(&mut bench, batch, work));
                alone += usize::from(rounds[rounds.len() - 1].alone);
            }
            print!("  batch {batch:>6}: {}", summary(&rounds.iter()));
            match alone {
                all if all == rounds.len() => println!(),
                few if few < ENOUGH => println!("; the core was ours in only {few} of {MOST} rounds"),
                some => {
                    let ours = summary(&rounds.iter().filter(|round| round.alone));
                    println!("; in {some} of {} rounds, with the core to ourselves, {ours}", rounds.len());
                }
            }
        }
    }
}

/// Rounds at the least, and at the most while those with the core to ourselves are not enough.
const LEAST: usize = 45;
const MOST: usize = 2000;
const ENOUGH: usize = 25;

/// Peak and epoch, one right after the other: on a machine that is shared both suffer alike.
struct Round {
    peak: f64,
    seconds: f64,
    share: f64,
    /// Whether no other thread sat on the same physical core, before and after.
    alone: bool,
}

impl Round {
    fn measure(bench: &mut Epoch, batch: usize, work: f64) -> Self {
        let before = alone();
        let (peak, seconds) = (peak(), bench.run(batch));
        Round { peak, seconds, share: 100.0 * work / seconds / peak, alone: before && alone() }
    }
}

/// Medians, with the quartiles.
fn summary<'a>(rounds: &(impl Iterator<Item = &'a Round> + Clone)) -> String {
    let of = |value: fn(&Round) -> f64| {
        let mut values: Vec<f64> = rounds.clone().map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
    };
    let ([_, seconds, _], [low, share, high]) = (of(|round| 1e3 * round.seconds), of(|round| round.share));
    let [_, peak, _] = of(|round| round.peak / 1e9);
    format!("{seconds:.2} ms, {share:.0} % ({low:.0} to {high:.0}) of the peak, which is {peak:.0} GFLOP/s")
}

struct Epoch {
    network: Network,
    matrix: Matrix,
    labels: Vec<bool>,
    order: Vec<u32>,
    steps: usize,
    loss: ScoreLoss,
    engine: Engine,
    adam: Adam,
    gradient: Vec<f32>,
    logits: Vec<f32>,
    slopes: Vec<f32>,
    picked: Vec<bool>,
    random: u64,
}

impl Epoch {
    fn new(inputs: usize, hidden: &[usize], steps: usize, validation: usize, score: &str) -> Self {
        let rows = steps + validation;
        let mut random = 1u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let values: Vec<f32> = (0..rows * inputs).map(|_| next()).collect();
        let network = Network::glorot(NetworkShape::new(inputs, hidden, 1).expect("widths"), 1);
        Epoch {
            matrix: Matrix::new(inputs, &values).expect("whole rows"),
            labels: (0..rows).map(|row| values[row * inputs] + values[row * inputs + 1] > 0.8).collect(),
            order: (0..rows as u32).collect(),
            steps,
            loss: ScoreLoss::new(Score::parse(score).expect("a score"), "cosine:0.5,0.1".parse().expect("a prior")),
            engine: Engine::new(network.shape()),
            adam: Adam::new(&network),
            gradient: vec![0.0; network.parameters.len()],
            logits: vec![0.0; rows],
            slopes: vec![0.0; rows],
            picked: vec![false; rows],
            random: 7,
            network,
        }
    }

    /// The seconds of one epoch.
    fn run(&mut self, batch: usize) -> f64 {
        let start = Instant::now();
        // One batch of all rows is the same in any order: the trainer does not shuffle it either.
        for at in (1..if batch < self.steps { self.steps } else { 1 }).rev() {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.order.swap(at, ((u128::from(self.random) * (at as u128 + 1)) >> 64) as usize);
        }
        for first in (0..self.steps).step_by(batch) {
            let order = &self.order[first..(first + batch).min(self.steps)];
            let (logits, slopes) = (&mut self.logits[..order.len()], &mut self.slopes[..order.len()]);
            for (to, row) in self.picked.iter_mut().zip(order) {
                *to = self.labels[*row as usize];
            }
            self.engine.forward(&self.network, &self.matrix, order, logits);
            let rows = Rows::new(Logits(logits), &self.picked[..order.len()]).expect("rows");
            self.loss.value_and_gradient(&rows, slopes).expect("finite");
            self.engine.prefetch(&self.matrix, &self.order[(first + batch).min(self.steps)..]);
            self.engine.backward(&self.network, slopes, &mut self.gradient);
            self.adam.step(&mut self.network.parameters, &self.gradient, 1e-3);
        }
        let order = &self.order[self.steps..];
        let logits = &mut self.logits[..order.len()];
        self.engine.predict(&self.network, &self.matrix, order, logits);
        let rows = Rows::new(Logits(logits), &self.labels[self.steps..]).expect("rows");
        black_box(self.loss.value(&rows).expect("finite"));
        start.elapsed().as_secs_f64()
    }
}

/// Fused multiply-adds a second times two, from independent chains in registers.
fn peak() -> f64 {
    const ROUNDS: usize = 200_000;
    let start = Instant::now();
    black_box(chains(black_box(ROUNDS)));
    let lanes = if is_avx512() { 16.0 } else { 8.0 };
    2.0 * lanes * 12.0 * ROUNDS as f64 / start.elapsed().as_secs_f64()
}

/// Whether the front end is all ours: twice the instructions then cost products nothing.
fn alone() -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_avx512() {
        let time = |chains: unsafe fn(usize) -> f32| {
            let start = Instant::now();
            // SAFETY: the processor was asked.
            black_box(unsafe { chains(black_box(20_000)) });
            start.elapsed().as_secs_f64()
        };
        return time(chains_among_others) < 1.1 * time(chains_avx512);
    }
    true
}

#[cfg(target_arch = "x86_64")]
fn is_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
}

#[cfg(not(target_arch = "x86_64"))]
fn is_avx512() -> bool {
    false
}

/// Twelve chains, enough for two pipelines of four stages.
fn chains(rounds: usize) -> f32 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_avx512() {
            // SAFETY: the processor was asked.
            return unsafe { chains_avx512(rounds) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor was asked.
            return unsafe { chains_avx2(rounds) };
        }
    }
    let mut sums = [[1.0f32; 8]; 12];
    for _ in 0..rounds {
        for sum in &mut sums {
            sum.iter_mut().for_each(|x| *x = *x * 0.999 + 0.001);
        }
    }
    sums.iter().flatten().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn chains_avx512(rounds: usize) -> f32 {
    use std::arch::x86_64::*;
    let (a, b) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(0.001)));
    let mut sums: [__m512; 12] = std::array::from_fn(|k| _mm512_set1_ps(k as f32));
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, a, b);
        }
    }
    sums.iter().map(|sum| _mm512_reduce_add_ps(*sum)).sum()
}

/// The same chains, an empty instruction after every product.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn chains_among_others(rounds: usize) -> f32 {
    use std::arch::x86_64::*;
    let (a, b) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(0.001)));
    let mut sums: [__m512; 12] = std::array::from_fn(|k| _mm512_set1_ps(k as f32));
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, a, b);
            // SAFETY: it does nothing.
            unsafe { std::arch::asm!("nop", options(nomem, nostack, preserves_flags)) };
        }
    }
    sums.iter().map(|sum| _mm512_reduce_add_ps(*sum)).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn chains_avx2(rounds: usize) -> f32 {
    use std::arch::x86_64::*;
    let (a, b) = (_mm256_set1_ps(black_box(0.999)), _mm256_set1_ps(black_box(0.001)));
    let mut sums: [__m256; 12] = std::array::from_fn(|k| _mm256_set1_ps(k as f32));
    for _ in 0..rounds {
        for sum in &mut sums {
            *sum = _mm256_fmadd_ps(*sum, a, b);
        }
    }
    sums.iter().map(|sum| _mm_cvtss_f32(_mm256_castps256_ps128(*sum))).sum()
}
