//! Benchmark of the exact sweep over ten million predictions: its time compared with that of sorting the predictions, the time to find the
//! best thresholds of all scores, and its memory use. A second benchmark measures the bootstrap of 100 000 predictions. Both benchmarks
//! also measure the time of the smoothed threshold.

mod timing;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use scorewise::sweep::{BlockLength, Bootstrap, Condition, Resampling, sweep};
use scorewise::{Probabilities, Rows, Score};
use timing::{Candidate, Random, measure, print_requirement, print_timings};

/// Number of predictions in the benchmark of the sweep.
const ROWS: usize = 10_000_000;
const NINE_SCORES: [&str; 9] = ["accuracy", "precision", "recall", "specificity", "f1", "tss", "csi", "hss1", "hss"];

/// An allocator that tracks the current and the largest number of allocated bytes.
struct CountingAllocator;

static ALLOCATED_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all calls are forwarded to the system allocator; only sizes are counted.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let allocated = ALLOCATED_BYTES.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK_BYTES.fetch_max(allocated, Ordering::Relaxed);
        // SAFETY: the caller guarantees that `layout` is valid for `alloc`, and it is passed on unchanged.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller guarantees that `pointer` was allocated by this allocator with `layout`, and both are passed on unchanged.
        unsafe { System.dealloc(pointer, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() {
    let mut random = Random(2);
    let labels: Vec<bool> = (0..ROWS).map(|_| random.uniform() < 0.2).collect();
    let probabilities: Vec<f32> = labels
        .iter()
        .map(|label| (1.0 / (1.0 + (-random.normal() - if *label { 0.5 } else { -1.5 }).exp())) as f32)
        .collect();
    let probabilities_f64: Vec<f64> = probabilities.iter().map(|p| f64::from(*p)).collect();
    let rows = Rows::new(Probabilities(&probabilities), &labels).expect("rows");
    let rows_f64 = Rows::new(Probabilities(&probabilities_f64), &labels).expect("rows");
    let pairs: Vec<(f32, bool)> = probabilities.iter().copied().zip(labels.iter().copied()).collect();
    let nine: Vec<Score> = NINE_SCORES.iter().map(|name| Score::parse(name).expect("a score")).collect();
    let all: Vec<Score> = Score::all().collect();

    println!("sweep: {ROWS} f32 predictions, {} threads", rayon::current_num_threads());
    let mut spare = pairs.clone();
    let pairs_f64: Vec<(f64, bool)> = probabilities_f64.iter().copied().zip(labels.iter().copied()).collect();
    let mut spare_f64 = pairs_f64.clone();
    let mut candidates = vec![
        Candidate {
            name: "copying pairs (prediction, label)",
            run: {
                let mut spare = pairs.clone();
                let pairs = &pairs;
                Box::new(move || {
                    spare.copy_from_slice(pairs);
                    black_box(&spare);
                })
            },
        },
        Candidate {
            name: "copying and sorting pairs (sort_unstable)",
            run: Box::new(|| {
                spare.copy_from_slice(&pairs);
                spare.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
                black_box(&spare);
            }),
        },
        Candidate {
            name: "sweep + nine optima",
            run: Box::new(|| {
                let sweep = sweep(&rows).expect("sorted");
                black_box(sweep.all_best(&nine));
            }),
        },
        Candidate {
            name: "sweep only",
            run: Box::new(|| {
                black_box(sweep(&rows).expect("sorted"));
            }),
        },
        Candidate {
            name: "f64: copying and sorting pairs (sort_unstable)",
            run: Box::new(|| {
                spare_f64.copy_from_slice(&pairs_f64);
                spare_f64.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
                black_box(&spare_f64);
            }),
        },
        Candidate {
            name: "f64: sweep + nine optima",
            run: Box::new(|| {
                let sweep = sweep(&rows_f64).expect("sorted");
                black_box(sweep.all_best(&nine));
            }),
        },
    ];
    let timings = measure(5, &mut candidates);
    print_timings(&candidates, &timings);
    drop(candidates);
    // The time of sorting without the time of copying the pairs.
    let sorted = timings[1].median - timings[0].median;
    print_requirement(
        "time of the sweep and nine best thresholds, relative to sort_unstable",
        timings[2].median / sorted,
        1.0,
        " x",
    );

    let sweep_of_rows = sweep(&rows).expect("sorted");
    let start = Instant::now();
    let found = black_box(sweep_of_rows.all_best(&all));
    println!(
        "  best thresholds of {} registered scores after the sweep: {:.0} ms; {} scores have a best threshold",
        all.len(),
        1e3 * start.elapsed().as_secs_f64(),
        found.iter().flatten().count()
    );
    print_requirement(
        "time of the sweep and the best thresholds of all registered scores",
        timings[3].median + start.elapsed().as_secs_f64(),
        5.0,
        " s",
    );
    let start = Instant::now();
    let condition = Condition::parse("precision >= 0.5 and recall >= 0.3").expect("a condition");
    black_box(sweep_of_rows.best_subject_to(&nine[4], &condition));
    println!("  best threshold of f1 under two conditions: {:.1} ms", 1e3 * start.elapsed().as_secs_f64());
    let start = Instant::now();
    black_box(sweep_of_rows.best(&nine[4]));
    let exact = start.elapsed().as_secs_f64();
    let start = Instant::now();
    black_box(sweep_of_rows.smooth_best(&nine[4], 0.2).expect("0.2 is an allowed smoothing width"));
    let smooth = start.elapsed().as_secs_f64();
    println!(
        "  best threshold of f1 after the sweep: exact in {:.1} ms, smoothed in {:.1} ms",
        1e3 * exact,
        1e3 * smooth
    );
    print_requirement("time of the smoothed threshold, relative to the sweep", smooth / timings[3].median, 5.0, " x");
    drop(sweep_of_rows);

    for (name, input) in [("f32", 5 * ROWS), ("f64", 9 * ROWS)] {
        let before = ALLOCATED_BYTES.load(Ordering::Relaxed);
        PEAK_BYTES.store(before, Ordering::Relaxed);
        let sweep = if name == "f32" { sweep(&rows) } else { sweep(&rows_f64) }.expect("sorted");
        black_box(sweep.all_best(&nine));
        let extra = PEAK_BYTES.load(Ordering::Relaxed) - before;
        print_requirement(
            &format!("{name}: peak memory of the input and the sweep together, relative to the input"),
            (input + extra) as f64 / input as f64,
            3.0,
            " x",
        );
    }

    let subset = Rows::new(Probabilities(&probabilities[..100_000]), &labels[..100_000]).expect("rows");
    println!("bootstrap: 1000 replicates of 100 000 rows");
    for resampling in [Resampling::Poisson, Resampling::Stratified, Resampling::Blocks(BlockLength::Rows(24))] {
        let bootstrap = Bootstrap { resampling, replicates: 1000, seed: 0 };
        let start = Instant::now();
        let best = bootstrap.best(&subset, &nine[5], &[]).expect("replicates");
        let seconds = start.elapsed().as_secs_f64();
        let start = Instant::now();
        black_box(bootstrap.scores(&subset, 0.3, &all).expect("replicates"));
        println!(
            "  {resampling:?}: best threshold of tss computed in {seconds:.2} s, 95 % interval {:?}; {} scores at threshold 0.3 in {:.2} s",
            best.threshold.interval(0.95),
            all.len(),
            start.elapsed().as_secs_f64()
        );
        print_requirement("time of the best thresholds in 1000 replicates", seconds, 2.0, " s");
        let start = Instant::now();
        let smooth = bootstrap.smooth_best(&subset, &nine[5], 0.2).expect("replicates");
        let interval = smooth.threshold.interval(0.95);
        println!("    smoothed threshold of tss in {:.2} s, 95 % interval {interval:?}", start.elapsed().as_secs_f64());
    }
}
