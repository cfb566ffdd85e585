//! Benchmark: loss and gradient for ten million f32 logits on one thread, compared with only reading and writing the same bytes.
//!
//! The baseline reads logits and labels and writes a gradient with minimal computation, so its time is limited by the memory bandwidth. The
//! loss reads logits and labels twice (for the sums, then for the gradient), so it would take about one and a half times as long even if its
//! arithmetic took no time.

mod timing;

use std::hint::black_box;

use scorewise::{CrossEntropy, ExactLoss, Logits, Prior, Rows, Score, ScoreLoss};
use timing::{Candidate, Random, measure, print_requirement, print_timings};

/// Number of logits for which the loss is computed.
const ROWS: usize = 10_000_000;

fn main() {
    let mut random = Random(1);
    let labels: Vec<bool> = (0..ROWS).map(|_| random.uniform() < 0.02).collect();
    let logits: Vec<f32> =
        labels.iter().map(|label| (random.normal() * 1.5 + if *label { 1.0 } else { -2.0 }) as f32).collect();
    let weights: Vec<f32> = (0..ROWS).map(|_| random.uniform() as f32).collect();
    let mut gradients = vec![vec![0f32; ROWS]; 5];
    let mut buffers = gradients.iter_mut();
    let mut buffer = || buffers.next().expect("there is a gradient buffer for each measured function");
    let rows = Rows::new(Logits(&logits), &labels).expect("rows");
    let weighted = rows.weighted(&weights).expect("weights");
    let loss = |score: &str, prior: &str| {
        ScoreLoss::new(Score::parse(score).expect("a score"), prior.parse::<Prior>().expect("a prior"))
    };
    let (uniform, cosine) = (loss("tss", "uniform"), loss("f1", "cosine:0.5,0.1"));
    let mut candidates = vec![
        Candidate {
            name: "reading and writing the rows without computing",
            run: {
                let out = buffer();
                let (z, y) = (&logits, &labels);
                Box::new(move || read_and_write_rows(z, y, out))
            },
        },
        Candidate {
            name: "tss, uniform: value and gradient",
            run: {
                let out = buffer();
                let (loss, rows) = (&uniform, &rows);
                Box::new(move || {
                    black_box(loss.value_and_gradient(rows, out).expect("finite"));
                })
            },
        },
        Candidate {
            name: "f1, cosine:0.5,0.1: value and gradient",
            run: {
                let out = buffer();
                let (loss, rows) = (&cosine, &rows);
                Box::new(move || {
                    black_box(loss.value_and_gradient(rows, out).expect("finite"));
                })
            },
        },
        Candidate {
            name: "f1, cosine:0.5,0.1, weighted",
            run: {
                let out = buffer();
                let (loss, rows) = (&cosine, &weighted);
                Box::new(move || {
                    black_box(loss.value_and_gradient(rows, out).expect("finite"));
                })
            },
        },
        Candidate {
            name: "f1, cosine:0.5,0.1: value only",
            run: {
                let (loss, rows) = (&cosine, &rows);
                Box::new(move || {
                    black_box(loss.value(rows).expect("finite"));
                })
            },
        },
    ];
    println!("loss: {ROWS} f32 logits, one thread");
    let timings = measure(15, &mut candidates);
    print_timings(&candidates, &timings);
    let bytes = (2 * size_of::<f32>() + 1) * ROWS;
    println!(
        "  memory traffic when rows are read and written without computing: {:.1} GB/s",
        bytes as f64 / timings[0].median / 1e9
    );
    print_requirement(
        "time of the loss of tss with the prior uniform, relative to reading and writing the rows",
        timings[1].median / timings[0].median,
        3.0,
        " x",
    );
    print_requirement(
        "time of the loss of f1 with the prior cosine, relative to reading and writing the rows",
        timings[2].median / timings[0].median,
        3.0,
        " x",
    );
    drop(candidates);

    println!("other losses, 1 000 000 rows, one thread");
    let subset = Rows::new(Logits(&logits[..1_000_000]), &labels[..1_000_000]).expect("rows");
    let exact = ExactLoss::new(Score::parse("f1").expect("a score"), "cosine:0.5,0.1".parse().expect("a prior"));
    let beta = loss("f1", "beta:2,5");
    let mut outs = gradients.iter_mut().map(|gradient| &mut gradient[..1_000_000]);
    let mut out = || outs.next().expect("there is a gradient buffer for each measured function");
    let mut candidates = vec![
        Candidate {
            name: "f1, beta:2,5: computed row by row in f64",
            run: {
                let out = out();
                let (loss, rows) = (&beta, &subset);
                Box::new(move || {
                    black_box(loss.value_and_gradient(rows, out).expect("finite"));
                })
            },
        },
        Candidate {
            name: "f1, cosine, exact expected score",
            run: {
                let out = out();
                let (loss, rows) = (&exact, &subset);
                Box::new(move || {
                    black_box(loss.value_and_gradient(rows, out).expect("finite"));
                })
            },
        },
        Candidate {
            name: "cross-entropy",
            run: {
                let out = out();
                let rows = &subset;
                Box::new(move || {
                    black_box(CrossEntropy::plain().value_and_gradient(rows, out).expect("finite"));
                })
            },
        },
    ];
    let timings = measure(5, &mut candidates);
    print_timings(&candidates, &timings);
}

/// Reads the logits and labels and writes a gradient, as the loss does, but with minimal computation.
fn read_and_write_rows(logits: &[f32], labels: &[bool], gradient: &mut [f32]) {
    for ((out, z), label) in gradient.iter_mut().zip(logits).zip(labels) {
        *out = if *label { *z } else { -*z };
    }
    black_box(&gradient[0]);
}
