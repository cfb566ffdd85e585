//! The published results: Tables 1 and 2 of Marchetti, Guastavino, Piana, Campi (2022). Score-oriented loss (SOL) functions.
//! Pattern Recognition 132, 108913.

use scorewise::MeanAndDeviation;

use super::Experiment;
use super::summary::ResultRow;

/// Mean and standard deviation as printed in Marchetti et al. (2022).
type PrintedSpread = (f64, f64);

/// Rows of Table 1: prior, number of successes, number of trials whose best threshold τ* lies outside the support of the prior, number of
/// epochs, τ*, F1 score at τ*.
const TABLE_1: [(&str, usize, usize, PrintedSpread, PrintedSpread, PrintedSpread); 7] = [
    ("uniform", 100, 0, (119.46, 43.95), (0.53, 0.36), (0.7510, 0.01)),
    ("cosine:0.3,0.1", 90, 8, (125.21, 44.39), (0.31, 0.06), (0.7578, 0.01)),
    ("cosine:0.3,0.3", 100, 13, (121.05, 46.14), (0.35, 0.22), (0.7556, 0.01)),
    ("cosine:0.5,0.1", 100, 14, (124.07, 42.27), (0.50, 0.07), (0.7557, 0.01)),
    ("cosine:0.5,0.3", 100, 9, (131.12, 48.89), (0.52, 0.19), (0.7571, 0.01)),
    ("cosine:0.7,0.1", 83, 13, (124.00, 44.97), (0.70, 0.08), (0.7549, 0.01)),
    ("cosine:0.7,0.3", 100, 13, (123.08, 38.51), (0.66, 0.20), (0.7546, 0.01)),
];

/// Rows of Table 2: score; prior, or `ce` for cross-entropy; number of successes; mean and standard deviation of: number of epochs, training
/// score at ½, best threshold τ*, training score at τ*, test score at ½, test score at τ*.
const TABLE_2: [(&str, &str, usize, [PrintedSpread; 6]); 10] = [
    ("tss", "ce", 100, [(1000.00, 0.00), (0.6130, 0.26), (0.06, 0.03), (0.9302, 0.01), (0.5180, 0.31), (0.8608, 0.19)]),
    (
        "tss",
        "uniform",
        100,
        [(898.11, 209.45), (0.9515, 0.02), (0.65, 0.15), (0.9579, 0.01), (0.8634, 0.20), (0.8681, 0.19)],
    ),
    (
        "tss",
        "cosine:0.5,0.1",
        87,
        [(499.29, 327.05), (0.9517, 0.02), (0.52, 0.02), (0.9568, 0.02), (0.8699, 0.18), (0.8649, 0.18)],
    ),
    (
        "tss",
        "cosine:0.5,0.3",
        94,
        [(794.95, 292.17), (0.9561, 0.01), (0.57, 0.06), (0.9624, 0.01), (0.8641, 0.20), (0.8617, 0.20)],
    ),
    (
        "tss",
        "cosine:0.5,0.5",
        99,
        [(877.49, 231.40), (0.9562, 0.01), (0.61, 0.08), (0.9616, 0.01), (0.8676, 0.19), (0.8653, 0.19)],
    ),
    ("csi", "ce", 100, [(1000.00, 0.00), (0.5222, 0.22), (0.44, 0.09), (0.6201, 0.06), (0.3583, 0.23), (0.4345, 0.18)]),
    (
        "csi",
        "uniform",
        100,
        [(697.03, 258.69), (0.6718, 0.12), (0.62, 0.14), (0.6962, 0.07), (0.4514, 0.17), (0.4613, 0.17)],
    ),
    (
        "csi",
        "cosine:0.5,0.1",
        91,
        [(398.26, 221.41), (0.6769, 0.12), (0.51, 0.02), (0.6913, 0.09), (0.4454, 0.19), (0.4427, 0.21)],
    ),
    (
        "csi",
        "cosine:0.5,0.3",
        100,
        [(528.04, 251.06), (0.6720, 0.12), (0.53, 0.05), (0.6951, 0.06), (0.4486, 0.18), (0.4582, 0.18)],
    ),
    (
        "csi",
        "cosine:0.5,0.5",
        100,
        [(618.63, 267.47), (0.6698, 0.14), (0.55, 0.08), (0.6955, 0.08), (0.4530, 0.19), (0.4582, 0.19)],
    ),
];

/// The rows of the table of Marchetti et al. (2022) for an experiment, in the printed order.
#[must_use]
pub fn paper(experiment: Experiment) -> Vec<ResultRow> {
    let spread = |(mean, deviation): PrintedSpread| Some(MeanAndDeviation { mean, deviation: Some(deviation) });
    let row = |score: &str, contender: &str, successes: usize| ResultRow {
        score: score.into(),
        contender: contender.into(),
        cured: false,
        repeats: 100,
        successes,
        outside: None,
        epochs: None,
        threshold: None,
        train_half: None,
        train_best: None,
        test_half: None,
        test_best: None,
    };
    match experiment {
        Experiment::Adult => TABLE_1
            .iter()
            .map(|(prior, successes, outside, epochs, threshold, best)| ResultRow {
                outside: Some(*outside),
                epochs: spread(*epochs),
                threshold: spread(*threshold),
                train_best: spread(*best),
                ..row("f1", prior, *successes)
            })
            .collect(),
        Experiment::Pollution => TABLE_2
            .iter()
            .map(|(score, contender, successes, [epochs, train_half, threshold, train_best, test_half, test_best])| {
                ResultRow {
                    epochs: spread(*epochs),
                    threshold: spread(*threshold),
                    train_half: spread(*train_half),
                    train_best: spread(*train_best),
                    test_half: spread(*test_half),
                    test_best: spread(*test_best),
                    ..row(score, contender, *successes)
                }
            })
            .collect(),
    }
}
