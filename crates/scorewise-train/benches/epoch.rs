//! Measures the time of one epoch of three networks, two of them those of Marchetti et al. (2022), for several batch sizes, and compares it with the
//! peak rate of fused multiply-adds of this core. Then it compares a look-up layer on binned inputs with a dense layer on piecewise-linear inputs.
//!
//! An epoch is a shuffle (if there is more than one batch), all steps (forward, loss, backward, Adam) and the loss of the validation rows. The
//! data have the sizes of the experiments but random values, because the time does not depend on the values.
//!
//! On a shared machine another thread may run on the same physical core. Then only three of six instructions per cycle are left for this
//! benchmark. That is enough for a loop of multiply-adds alone, but not for kernels that also load their operands. Rounds in which another thread
//! runs on the core are detected with a loop that has a `nop` after each multiply-add. The report covers all rounds, and separately the rounds
//! without another thread on the core.
//!
//! `cargo bench -p scorewise-train --bench epoch -- look-up` runs only the parts whose names contain "look-up".

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use scorewise::{CrossEntropy, InstructionSet, Logits, Loss, Rows, Score, ScoreLoss};
use scorewise_table::encode::BinnedColumn;
use scorewise_train::Matrix;
use scorewise_train::fit::{Epoch, Sample};
use scorewise_train::network::{Adam, BatchSize, Engine, HiddenLayers, Network, NetworkSettings, NetworkShape, fit};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let is_selected = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    for (name, inputs, hidden, training, validation, score) in [
        ("Adult network 48-50-20-5-1", 48, &[50, 20, 5][..], 16_086, 8043, "f1"),
        ("pollution network 8-15-8-1", 8, &[15, 8][..], 8736, 4368, "tss"),
        ("network 64-32-1 (the second and later layers of a larger network)", 64, &[32][..], 16_086, 8043, "f1"),
    ] {
        if !is_selected(name) {
            continue;
        }
        println!("{name}, {training} training rows + {validation} validation rows, one thread");
        for batch in [32, 64, 256, 1024, training] {
            let mut bench = EpochBench::new(inputs, hidden, training, validation, score);
            let widths = bench.network.shape().widths();
            let weights: usize = widths.windows(2).map(|pair| pair[0] * pair[1]).sum();
            let first = widths[0] * widths[1];
            // The forward pass multiplies each weight once for each row. Training needs as many multiplications again for the gradient of the weights
            // and, in all layers except the first, for the gradient of the inputs. Each multiplication and each addition is one operation.
            let operations = (2 * (training * (3 * weights - first) + validation * weights)) as f64;
            bench.run(batch);
            let mut rounds = Vec::new();
            let mut undisturbed = 0;
            while rounds.len() < MIN_ROUNDS || undisturbed < MIN_UNDISTURBED && rounds.len() < MAX_ROUNDS {
                rounds.push(Round::measure(&mut bench, batch, operations));
                undisturbed += usize::from(rounds[rounds.len() - 1].is_undisturbed);
            }
            print!("  batch {batch:>6}: {}", summary(&rounds.iter()));
            match undisturbed {
                all if all == rounds.len() => println!(),
                few if few < MIN_UNDISTURBED => {
                    println!("; only {few} of {MAX_ROUNDS} rounds had the core to themselves");
                }
                some => {
                    let summary = summary(&rounds.iter().filter(|round| round.is_undisturbed));
                    println!("; in the {some} of {} rounds that had the core to themselves: {summary}", rounds.len());
                }
            }
        }
    }
    if is_selected("look-up layer") {
        for batch in [256, 1024] {
            compare_first_layers(batch);
        }
    }
}

/// Compares the epoch times of two networks with 64 and 32 hidden units on the same columns. The first network reads binned columns with a look-up
/// layer; the second network reads a dense matrix of piecewise-linear inputs. Both are trained with the real training loop and the same settings.
fn compare_first_layers(batch: usize) {
    const COLUMNS: usize = 14;
    const BINS: usize = 48;
    const ROWS: usize = 20_000;
    let mut random = 3u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 40) as f32 / (1 << 24) as f32
    };
    let positions: Vec<f32> = (0..ROWS * COLUMNS).map(|_| next() * BINS as f32).collect();
    let labels: Vec<u32> = positions.chunks(COLUMNS).map(|row| u32::from(row[0] + row[1] > 60.0)).collect();
    let piecewise_linear: Vec<f32> = positions
        .iter()
        .flat_map(|position| (0..BINS).map(move |bin| (position - bin as f32).clamp(0.0, 1.0)))
        .collect();
    let knots: Vec<f32> = (0..=BINS).map(|knot| 2.0 * knot as f32 / BINS as f32 - 1.0).collect();
    let columns = vec![BinnedColumn { knots, ..BinnedColumn::default() }; COLUMNS];
    let binned = Matrix::new(COLUMNS, &positions).expect("complete rows");
    let dense = Matrix::new(COLUMNS * BINS, &piecewise_linear).expect("complete rows");
    let (validation, training): (Vec<u32>, Vec<u32>) = (0..ROWS as u32).partition(|row| row % 5 == 0);
    let settings = NetworkSettings {
        hidden: HiddenLayers::new(vec![64, 32]).expect("widths"),
        batch: BatchSize::Rows(batch),
        epochs: 3,
        ..NetworkSettings::default()
    };
    let objective = Loss::CrossEntropy(CrossEntropy::plain()).into();
    let epoch_seconds = |matrix: &Matrix, binned: Option<&[BinnedColumn]>| {
        let (training, validation) = (&training[..], &validation[..]);
        let sample =
            Sample { matrix, binned, labels: &labels, classes: 2, weights: None, places: None, training, validation };
        let mut times = vec![Instant::now()];
        let watch = &mut |_: usize, _: &Epoch| {
            times.push(Instant::now());
            ControlFlow::Continue(())
        };
        fit(&settings, &objective, 1, &sample, 1, watch).expect("training");
        // The first epoch is left out, because its time includes the initialisation.
        (times[times.len() - 1] - times[1]).as_secs_f64() / (times.len() - 2) as f64
    };
    let mut rounds: Vec<[f64; 2]> =
        (0..15).map(|_| [epoch_seconds(&binned, Some(&columns)), epoch_seconds(&dense, None)]).collect();
    let median = |of: &dyn Fn(&[f64; 2]) -> f64, rounds: &mut Vec<[f64; 2]>| {
        rounds.sort_by(|a, b| of(a).total_cmp(&of(b)));
        of(&rounds[rounds.len() / 2])
    };
    let [look_up, dense] = [0, 1].map(|which| 1e3 * median(&|round| round[which], &mut rounds));
    let ratio = median(&|round| round[1] / round[0], &mut rounds);
    let (low, high) = (rounds[0][1] / rounds[0][0], rounds[rounds.len() - 1][1] / rounds[rounds.len() - 1][0]);
    println!("epoch of a network 64-32 over {COLUMNS} columns × {BINS} bins, 16000 + 4000 rows, batches of {batch}");
    println!(
        "  look-up layer {look_up:.1} ms, dense piecewise-linear inputs {dense:.1} ms: ratio {ratio:.1} ({low:.1} to {high:.1}; target: 5)"
    );
}

/// Minimum number of rounds of a measurement.
const MIN_ROUNDS: usize = 45;
/// Maximum number of rounds of a measurement.
const MAX_ROUNDS: usize = 2000;
/// A measurement continues until this many rounds had the core to themselves, or until the maximum number of rounds.
const MIN_UNDISTURBED: usize = 25;

/// One round of a measurement: the peak rate and the time of an epoch, measured immediately after each other, so that the load of a shared machine
/// affects both.
struct Round {
    /// Peak rate in floating-point operations per second.
    peak: f64,
    seconds: f64,
    /// Rate of the floating-point operations of the epoch, in percent of the peak rate.
    share: f64,
    /// Whether no other thread ran on the same physical core, checked before and after the round.
    is_undisturbed: bool,
}

impl Round {
    /// Measures one round with batches of `batch` rows. `operations` is the number of floating-point operations of an epoch.
    fn measure(bench: &mut EpochBench, batch: usize, operations: f64) -> Self {
        let before = is_undisturbed();
        let (peak, seconds) = (peak_rate(), bench.run(batch));
        Round { peak, seconds, share: 100.0 * operations / seconds / peak, is_undisturbed: before && is_undisturbed() }
    }
}

/// A line of text with the median time and the median peak rate over the rounds, and the quartiles of the share of the peak rate.
fn summary<'a>(rounds: &(impl Iterator<Item = &'a Round> + Clone)) -> String {
    let quartiles = |value: fn(&Round) -> f64| {
        let mut values: Vec<f64> = rounds.clone().map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
    };
    let ([_, seconds, _], [low, share, high]) =
        (quartiles(|round| 1e3 * round.seconds), quartiles(|round| round.share));
    let [_, peak, _] = quartiles(|round| round.peak / 1e9);
    format!("{seconds:.2} ms, {share:.0} % ({low:.0} to {high:.0}) of the peak, which is {peak:.0} GFLOP/s")
}

/// A network with its data, and the buffers of the training loop.
struct EpochBench {
    network: Network,
    matrix: Matrix,
    labels: Vec<bool>,
    order: Vec<u32>,
    training: usize,
    loss: ScoreLoss,
    engine: Engine,
    adam: Adam,
    gradient: Vec<f32>,
    logits: Vec<f32>,
    logit_gradient: Vec<f32>,
    batch_labels: Vec<bool>,
    random: u64,
}

impl EpochBench {
    /// Makes random data with `training` training rows and `validation` validation rows, and a network that is trained with the loss of `score`.
    fn new(inputs: usize, hidden: &[usize], training: usize, validation: usize, score: &str) -> Self {
        let rows = training + validation;
        let mut random = 1u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let values: Vec<f32> = (0..rows * inputs).map(|_| next()).collect();
        let network = Network::glorot(NetworkShape::new(inputs, hidden, 1).expect("widths"), 1);
        EpochBench {
            matrix: Matrix::new(inputs, &values).expect("the values form complete rows"),
            labels: (0..rows).map(|row| values[row * inputs] + values[row * inputs + 1] > 0.8).collect(),
            order: (0..rows as u32).collect(),
            training,
            loss: ScoreLoss::new(Score::parse(score).expect("a score"), "cosine:0.5,0.1".parse().expect("a prior")),
            engine: Engine::new(network.shape()),
            adam: Adam::new(&network),
            gradient: vec![0.0; network.parameters.len()],
            logits: vec![0.0; rows],
            logit_gradient: vec![0.0; rows],
            batch_labels: vec![false; rows],
            random: 7,
            network,
        }
    }

    /// Runs one epoch and returns its duration in seconds.
    fn run(&mut self, batch: usize) -> f64 {
        let start = Instant::now();
        // If a batch contains all rows, their order does not matter. Then the rows are not shuffled, as in the training loop of networks.
        for index in (1..if batch < self.training { self.training } else { 1 }).rev() {
            self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            self.order.swap(index, ((u128::from(self.random) * (index as u128 + 1)) >> 64) as usize);
        }
        for first in (0..self.training).step_by(batch) {
            let order = &self.order[first..(first + batch).min(self.training)];
            let (logits, logit_gradient) = (&mut self.logits[..order.len()], &mut self.logit_gradient[..order.len()]);
            for (to, row) in self.batch_labels.iter_mut().zip(order) {
                *to = self.labels[*row as usize];
            }
            self.engine.forward(&self.network, &self.matrix, order, logits);
            let rows = Rows::new(Logits(logits), &self.batch_labels[..order.len()]).expect("rows");
            self.loss.value_and_gradient(&rows, logit_gradient).expect("finite");
            self.engine.prefetch(&self.matrix, &self.order[(first + batch).min(self.training)..]);
            self.engine.backward(&self.network, logit_gradient, &mut self.gradient);
            self.adam.step(&mut self.network.parameters, &self.gradient, 1e-3);
        }
        let order = &self.order[self.training..];
        let logits = &mut self.logits[..order.len()];
        self.engine.predict(&self.network, &self.matrix, order, logits);
        let rows = Rows::new(Logits(logits), &self.labels[self.training..]).expect("rows");
        black_box(self.loss.value(&rows).expect("finite"));
        start.elapsed().as_secs_f64()
    }
}

/// Peak rate in floating-point operations per second, measured with independent multiply-adds in registers. A fused multiply-add counts as two
/// operations.
fn peak_rate() -> f64 {
    const REPETITIONS: usize = 200_000;
    let start = Instant::now();
    black_box(chains(black_box(REPETITIONS)));
    let lanes = if is_avx512() { 16.0 } else { 8.0 };
    2.0 * lanes * 12.0 * REPETITIONS as f64 / start.elapsed().as_secs_f64()
}

/// Whether this thread has its physical core to itself. This is measured with a `nop` after each multiply-add, which costs no time unless
/// another thread shares the core. Without AVX-512 nothing is measured, and the result is always true.
fn is_undisturbed() -> bool {
    #[cfg(target_arch = "x86_64")]
    if is_avx512() {
        let time = |chains: unsafe fn(usize) -> f32| {
            let start = Instant::now();
            // SAFETY: the instruction set was checked, so the processor supports these instructions.
            black_box(unsafe { chains(black_box(20_000)) });
            start.elapsed().as_secs_f64()
        };
        return time(multiply_add_chains_with_nops) < 1.1 * time(multiply_add_chains_avx512);
    }
    true
}

/// Whether this processor supports AVX-512.
#[cfg(target_arch = "x86_64")]
fn is_avx512() -> bool {
    InstructionSet::Avx512.is_supported()
}

/// False, because only x86-64 processors have AVX-512.
#[cfg(not(target_arch = "x86_64"))]
fn is_avx512() -> bool {
    false
}

/// Computes twelve independent chains of multiply-adds, each with `repetitions` links. A multiply-add waits for the one before it in its chain, so
/// several chains are needed to fill the pipelines of the processor; twelve are enough for two pipelines of four stages.
fn chains(repetitions: usize) -> f32 {
    #[cfg(target_arch = "x86_64")]
    {
        if is_avx512() {
            // SAFETY: the instruction set was checked, so the processor supports these instructions.
            return unsafe { multiply_add_chains_avx512(repetitions) };
        }
        if InstructionSet::Avx2.is_supported() {
            // SAFETY: the instruction set was checked, so the processor supports these instructions.
            return unsafe { multiply_add_chains_avx2(repetitions) };
        }
    }
    let mut sums = [[1.0f32; 8]; 12];
    for _ in 0..repetitions {
        for sum in &mut sums {
            sum.iter_mut().for_each(|x| *x = *x * 0.999 + 0.001);
        }
    }
    sums.iter().flatten().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn multiply_add_chains_avx512(repetitions: usize) -> f32 {
    use std::arch::x86_64::*;
    let (a, b) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(0.001)));
    let mut sums: [__m512; 12] = std::array::from_fn(|k| _mm512_set1_ps(k as f32));
    for _ in 0..repetitions {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, a, b);
        }
    }
    sums.iter().map(|sum| _mm512_reduce_add_ps(*sum)).sum()
}

/// Computes the same multiply-adds as `multiply_add_chains_avx512`, with a `nop` after each of them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn multiply_add_chains_with_nops(repetitions: usize) -> f32 {
    use std::arch::x86_64::*;
    let (a, b) = (_mm512_set1_ps(black_box(0.999)), _mm512_set1_ps(black_box(0.001)));
    let mut sums: [__m512; 12] = std::array::from_fn(|k| _mm512_set1_ps(k as f32));
    for _ in 0..repetitions {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, a, b);
            // SAFETY: `nop` does nothing.
            unsafe { std::arch::asm!("nop", options(nomem, nostack, preserves_flags)) };
        }
    }
    sums.iter().map(|sum| _mm512_reduce_add_ps(*sum)).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn multiply_add_chains_avx2(repetitions: usize) -> f32 {
    use std::arch::x86_64::*;
    let (a, b) = (_mm256_set1_ps(black_box(0.999)), _mm256_set1_ps(black_box(0.001)));
    let mut sums: [__m256; 12] = std::array::from_fn(|k| _mm256_set1_ps(k as f32));
    for _ in 0..repetitions {
        for sum in &mut sums {
            *sum = _mm256_fmadd_ps(*sum, a, b);
        }
    }
    sums.iter().map(|sum| _mm_cvtss_f32(_mm256_castps256_ps128(*sum))).sum()
}
