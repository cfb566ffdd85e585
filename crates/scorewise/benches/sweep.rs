//! The exact sweep of ten million predictions against sorting the same pairs, all scores, bootstrap, memory.

mod timing;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use scorewise::sweep::{Bootstrap, Condition, Resampling, sweep};
use scorewise::{Probabilities, Rows, Score};
use timing::{Contestant, Random, bar, print, race};

const ROWS: usize = 10_000_000;
const NINE: [&str; 9] = ["accuracy", "precision", "recall", "specificity", "f1", "tss", "csi", "hss1", "hss"];

/// Counts what is allocated, and remembers the most.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(place, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let mut random = Random(2);
    let labels: Vec<bool> = (0..ROWS).map(|_| random.next() < 0.2).collect();
    let probabilities: Vec<f32> = labels
        .iter()
        .map(|label| (1.0 / (1.0 + (-random.normal() - if *label { 0.5 } else { -1.5 }).exp())) as f32)
        .collect();
    let wide: Vec<f64> = probabilities.iter().map(|p| f64::from(*p)).collect();
    let rows = Rows::new(Probabilities(&probabilities), &labels).expect("rows");
    let wide_rows = Rows::new(Probabilities(&wide), &labels).expect("rows");
    let pairs: Vec<(f32, bool)> = probabilities.iter().copied().zip(labels.iter().copied()).collect();
    let nine: Vec<Score> = NINE.iter().map(|name| Score::parse(name).expect("a score")).collect();
    let all: Vec<Score> = Score::all().collect();

    println!("sweep: {ROWS} f32 predictions, {} threads", rayon::current_num_threads());
    let mut spare = pairs.clone();
    let wide_pairs: Vec<(f64, bool)> = wide.iter().copied().zip(labels.iter().copied()).collect();
    let mut wide_spare = wide_pairs.clone();
    let mut contestants = vec![
        Contestant {
            name: "copy of the pairs (subtracted from the next)",
            work: {
                let mut spare = pairs.clone();
                let pairs = &pairs;
                Box::new(move || {
                    spare.copy_from_slice(pairs);
                    black_box(&spare);
                })
            },
        },
        Contestant {
            name: "sort_unstable of the pairs, copied first",
            work: Box::new(|| {
                spare.copy_from_slice(&pairs);
                spare.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
                black_box(&spare);
            }),
        },
        Contestant {
            name: "sweep + nine optima",
            work: Box::new(|| {
                let sweep = sweep(&rows).expect("sorted");
                black_box(sweep.all_best(&nine));
            }),
        },
        Contestant {
            name: "sweep alone",
            work: Box::new(|| {
                black_box(sweep(&rows).expect("sorted"));
            }),
        },
        Contestant {
            name: "f64: sort_unstable of the pairs, copied first",
            work: Box::new(|| {
                wide_spare.copy_from_slice(&wide_pairs);
                wide_spare.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
                black_box(&wide_spare);
            }),
        },
        Contestant {
            name: "f64: sweep + nine optima",
            work: Box::new(|| {
                let sweep = sweep(&wide_rows).expect("sorted");
                black_box(sweep.all_best(&nine));
            }),
        },
    ];
    let timings = race(5, &mut contestants);
    print(&contestants, &timings);
    drop(contestants);
    let sorted = timings[1].median - timings[0].median;
    bar("sweep + nine optima over sort_unstable", timings[2].median / sorted, 1.0, " x");

    let sweep_of_rows = sweep(&rows).expect("sorted");
    let start = Instant::now();
    let found = black_box(sweep_of_rows.all_best(&all));
    println!(
        "  {} registered scores after the sweep: {:.0} ms, {} with an optimum",
        all.len(),
        1e3 * start.elapsed().as_secs_f64(),
        found.iter().flatten().count()
    );
    bar("sweep + all registered scores", timings[3].median + start.elapsed().as_secs_f64(), 5.0, " s");
    let start = Instant::now();
    let condition = Condition::parse("precision >= 0.5 and recall >= 0.3").expect("a condition");
    black_box(sweep_of_rows.best_subject_to(&nine[4], &condition));
    println!("  one constrained optimum: {:.1} ms", 1e3 * start.elapsed().as_secs_f64());
    drop(sweep_of_rows);

    for (name, input) in [("f32", 5 * ROWS), ("f64", 9 * ROWS)] {
        let before = NOW.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let sweep = if name == "f32" { sweep(&rows) } else { sweep(&wide_rows) }.expect("sorted");
        black_box(sweep.all_best(&nine));
        let extra = MOST.load(Ordering::Relaxed) - before;
        bar(
            &format!("{name}: input and all that the sweep allocates, over input"),
            (input + extra) as f64 / input as f64,
            3.0,
            " x",
        );
    }

    let few = Rows::new(Probabilities(&probabilities[..100_000]), &labels[..100_000]).expect("rows");
    println!("bootstrap: 1000 replicates of 100 000 rows");
    for resampling in [Resampling::Poisson, Resampling::Stratified, Resampling::Blocks(24)] {
        let bootstrap = Bootstrap { resampling, replicates: 1000, seed: 0 };
        let start = Instant::now();
        let best = bootstrap.best(&few, &nine[5], &[]).expect("replicates");
        let of_best = start.elapsed().as_secs_f64();
        let start = Instant::now();
        black_box(bootstrap.scores(&few, 0.3, &all).expect("replicates"));
        println!(
            "  {resampling:?}: tau* of tss {of_best:.2} s, {:?}; {} scores at 0.3 {:.2} s",
            best.threshold.interval(0.95),
            all.len(),
            start.elapsed().as_secs_f64()
        );
        bar("tau* over 1000 replicates", of_best, 2.0, " s");
    }
}
