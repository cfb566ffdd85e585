//! Tests of the losses for time series. Time-weighted matrices are compared with matrices that are computed row by row from the definition.

#![allow(clippy::unwrap_used)] // a panic fails the test

use scorewise::temporal::{Series, TemporalLoss, Weighting};
use scorewise::{Confusion, Error, Logits, Prior, Probabilities, Rows, Score, ScoreLoss};

const PRIORS: [&str; 5] = ["uniform", "cosine:0.5,0.4", "quartic:0.4,0.3", "beta:2,5", "mix:0.2,cosine:0.6,0.1"];

/// A generator of uniform random numbers in [0, 1); the seed determines the sequence.
fn uniform_random_numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A random series with predictions, labels, weights, and sequences of five to twelve rows.
struct RandomSeries {
    logits: Vec<f64>,
    probabilities: Vec<f64>,
    labels: Vec<bool>,
    weights: Vec<f64>,
    sequences: Vec<u32>,
}

impl RandomSeries {
    /// A random series. If `steps` is given, predictions are multiples of 1 / steps, so that many predictions are equal.
    fn new(seed: u64, rows: usize, steps: Option<f64>) -> Self {
        let mut next = uniform_random_numbers(seed);
        let (mut sequence, mut remaining) = (0u32, 0);
        let mut sample =
            RandomSeries { logits: vec![], probabilities: vec![], labels: vec![], weights: vec![], sequences: vec![] };
        for _ in 0..rows {
            if remaining == 0 {
                (sequence, remaining) = (sequence + 1, 5 + (8.0 * next()) as usize);
            }
            remaining -= 1;
            let p = 0.02 + 0.96 * next();
            let p = steps.map_or(p, |steps| (p * steps).round() / steps);
            sample.probabilities.push(p);
            sample.logits.push((p / (1.0 - p)).ln());
            sample.labels.push(next() < 0.3);
            sample.weights.push(0.2 + next());
            sample.sequences.push(sequence);
        }
        sample
    }

    fn series_of_probabilities(&self) -> Series<'_, Probabilities<'_, f64>> {
        let rows = Rows::new(Probabilities(&self.probabilities), &self.labels).unwrap();
        Series::new(rows.weighted(&self.weights).unwrap()).unwrap().with_sequences(&self.sequences).unwrap()
    }

    fn series_of_logits<'a>(&'a self, logits: &'a [f64]) -> Series<'a, Logits<'a, f64>> {
        let rows = Rows::new(Logits(logits), &self.labels).unwrap().weighted(&self.weights).unwrap();
        Series::new(rows).unwrap().with_sequences(&self.sequences).unwrap()
    }
}

/// The weightings to test, each with the name by which [`matrix_by_definition`] selects its formula.
fn weightings() -> [(&'static str, Weighting); 5] {
    [
        ("value", Weighting::default()),
        ("value", Weighting::value_weighted(&[0.9, 0.9, 0.4, 0.3, 0.0]).unwrap()),
        ("sum", Weighting::sum(&Weighting::WEIGHTS).unwrap()),
        ("maximum", Weighting::maximum(&Weighting::WEIGHTS).unwrap()),
        ("maximum", Weighting::maximum(&[1.0, 0.25]).unwrap()),
    ]
}

fn temporal_loss(score: &str, prior: &str, weighting: &Weighting) -> TemporalLoss {
    TemporalLoss::new(Score::parse(score).unwrap(), prior.parse().unwrap(), weighting.clone())
}

/// The time-weighted matrix at a threshold, computed directly from the definition of the weighting with the name `form`.
fn matrix_by_definition(sample: &RandomSeries, form: &str, weights: &[f64], threshold: f64) -> Confusion {
    let rows = sample.labels.len() as i64;
    let mut matrix = Confusion::default();
    for t in 0..rows {
        let inside = |at: i64| at >= 0 && at < rows && sample.sequences[at as usize] == sample.sequences[t as usize];
        let event = |at: i64| inside(at) && sample.labels[at as usize];
        let alarm = |at: i64| inside(at) && sample.probabilities[at as usize] > threshold;
        let window = weights.len() as i64;
        let any_near = |what: &dyn Fn(i64) -> bool| (t - window..=t + window).any(what);
        let weigh = |is_isolated: bool, credits: &dyn Fn(i64) -> bool| {
            let credits = (1..=window).filter(|k| credits(*k)).map(|k| weights[k as usize - 1]);
            match form {
                "value" if is_isolated => 2.0,
                "sum" => 1.0 - credits.sum::<f64>(),
                _ => 1.0 - credits.fold(0.0, f64::max),
            }
        };
        let weight = sample.weights[t as usize];
        match (event(t), alarm(t)) {
            (false, false) => matrix.tn += weight,
            (false, true) => matrix.fp += weight * weigh(!any_near(&event), &|k| event(t + k)),
            (true, false) => matrix.fn_ += weight * weigh(!any_near(&alarm), &|k| alarm(t - k)),
            (true, true) => matrix.tp += weight,
        }
    }
    matrix
}

#[track_caller]
fn assert_close(got: &Confusion, expected: &Confusion, tolerance: f64) {
    for (a, b) in got.array().into_iter().zip(expected.array()) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{got:?}, expected {expected:?}");
    }
}

#[test]
fn value_weighted_matrix_matches_a_matrix_counted_by_hand() {
    // row:       0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21
    let events = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0];
    let alarms = [1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let labels = events.map(|event| event == 1);
    let probabilities = alarms.map(|alarm| if alarm == 1 { 0.9 } else { 0.1 });
    let series = Series::new(Rows::new(Probabilities(&probabilities), &labels).unwrap()).unwrap();
    let loss = temporal_loss("csi", "uniform", &Weighting::default());
    let false_alarms = [
        1.0 - 1.0 / 3.0, // row 0: an event two rows later
        1.0,             // row 3: an event one row before, but no event in the three rows after row 3
        2.0,             // row 6: no event in rows 3 to 9
        1.0 - 1.0 / 3.0, // row 8: events two and three rows later; the nearer one counts
        1.0,             // row 21: an event one row before
    ];
    let misses = [
        1.0 - 1.0 / 3.0, // row 2: an alarm two rows before; the alarm in row 3, after the event, gives no credit
        1.0 - 1.0 / 3.0, // row 10: an alarm two rows before
        2.0,             // row 16: no alarm in rows 13 to 19
        1.0,             // row 20: an alarm, but one row too late
    ];
    let expected = Confusion::new(12.0, false_alarms.iter().sum(), misses.iter().sum(), 1.0);
    assert_eq!(loss.at(&series, 0.5), expected);

    // The threshold τ is uniform. For τ < 0.1 all rows are alarms, for 0.1 ≤ τ < 0.9 only the rows marked in `alarms`, and for τ ≥ 0.9 none.
    // If all rows are alarms, 17 rows are false alarms. Rows 1, 9, 15, 19 lie one row before an event and count 1/2 (rows 10 and 11 are
    // events). Rows 0, 8, 14, 18 lie two rows before an event and count 2/3. Rows 7, 13, 17 lie three rows before an event and count 3/4. Rows
    // 3, 4, 5, 12, 21 lie within three rows after an event and count 1. Row 6 is isolated and counts 2.
    let all = Confusion::new(0.0, 4.0 / 2.0 + 4.0 * 2.0 / 3.0 + 3.0 * 3.0 / 4.0 + 5.0 + 2.0, 0.0, 5.0);
    let none = Confusion::new(17.0, 0.0, 5.0 * 2.0, 0.0);
    let mean = |cell: fn(&Confusion) -> f64| 0.1 * cell(&all) + 0.8 * cell(&expected) + 0.1 * cell(&none);
    let expected = Confusion::new(mean(|c| c.tn), mean(|c| c.fp), mean(|c| c.fn_), mean(|c| c.tp));
    assert_close(&loss.expect(&series), &expected, 1e-14);
}

#[test]
fn time_weighted_matrix_at_a_threshold_matches_its_definition() {
    for seed in 1..20 {
        let sample = RandomSeries::new(seed, 60, (seed % 2 == 0).then_some(8.0));
        for (form, weighting) in weightings() {
            let loss = temporal_loss("csi", "uniform", &weighting);
            for threshold in [0.0, 0.25, 0.5, 0.777, 1.0] {
                let expected = matrix_by_definition(&sample, form, weighting.weights(), threshold);
                assert_close(&loss.at(&sample.series_of_probabilities(), threshold), &expected, 1e-14);
            }
        }
    }
}

#[test]
fn expected_matrix_is_the_sum_over_threshold_intervals_weighted_by_their_probability() {
    for seed in 1..12 {
        let sample = RandomSeries::new(seed, 45, (seed % 2 == 0).then_some(10.0));
        let mut edges = sample.probabilities.clone();
        edges.extend([0.0, 1.0]);
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        for text in PRIORS {
            let prior: Prior = text.parse().unwrap();
            for (form, weighting) in weightings() {
                let mut expected = Confusion::default();
                for edge in edges.windows(2) {
                    // The matrix is the same for all thresholds between two consecutive sorted predictions.
                    let mass = prior.cdf(edge[1]) - prior.cdf(edge[0]);
                    let matrix = matrix_by_definition(&sample, form, weighting.weights(), edge[0]);
                    expected += Confusion::new(mass * matrix.tn, mass * matrix.fp, mass * matrix.fn_, mass * matrix.tp);
                }
                let loss = temporal_loss("csi", text, &weighting);
                assert_close(&loss.expect(&sample.series_of_probabilities()), &expected, 1e-12);
                assert_close(&loss.expect(&sample.series_of_logits(&sample.logits)), &expected, 1e-12);
            }
        }
    }
}

#[test]
fn expected_matrix_agrees_with_the_mean_over_random_thresholds() {
    let sample = RandomSeries::new(3, 40, None);
    let draws = 20_000;
    for (_, weighting) in weightings() {
        let loss = temporal_loss("csi", "cosine:0.5,0.4", &weighting);
        let series = sample.series_of_probabilities();
        let sum: Confusion = loss.prior().sample(7).take(draws).map(|threshold| loss.at(&series, threshold)).sum();
        let mean = sum.array().map(|cell| cell / draws as f64);
        for (estimate, exact) in mean.into_iter().zip(loss.expect(&series).array()) {
            // Every cell of the matrix lies between 0 and about 40, so its standard deviation is at most 20, and the standard error of the mean
            // of 20 000 draws is at most 20 / √20 000 ≈ 0.14.
            assert!((estimate - exact).abs() < 0.2, "{estimate}, expected {exact}");
        }
    }
}

#[test]
fn gradient_matches_central_difference_for_every_score() {
    let step = 1e-5;
    let sample = RandomSeries::new(11, 36, None);
    for (which, prior) in ["uniform", "cosine:0.5,0.5", "beta:2,5"].into_iter().enumerate() {
        for (_, weighting) in weightings() {
            for score in Score::all().skip(which).step_by(3) {
                let loss = TemporalLoss::new(score.clone(), prior.parse().unwrap(), weighting.clone());
                let mut gradient = vec![0.0; sample.logits.len()];
                let value = loss.value_and_gradient(&sample.series_of_logits(&sample.logits), &mut gradient).unwrap();
                assert_eq!(value, loss.value(&sample.series_of_logits(&sample.logits)).unwrap());
                for (row, derivative) in gradient.iter().enumerate() {
                    let value_after = |by: f64| {
                        let mut logits = sample.logits.clone();
                        logits[row] += by;
                        loss.value(&sample.series_of_logits(&logits)).unwrap()
                    };
                    let difference = (value_after(step) - value_after(-step)) / (2.0 * step);
                    let error = (derivative - difference).abs();
                    assert!(
                        error <= 1e-6 * derivative.abs() + 1e-9 * (1.0 + value.abs()),
                        "{score} under {prior}, {weighting:?}, row {row}: {derivative}, expected {difference}"
                    );
                }
            }
        }
    }
}

#[test]
fn tied_logits_have_the_same_gradient_as_logits_that_increase_slightly_from_row_to_row() {
    let sample = RandomSeries::new(5, 60, Some(4.0));
    let distinct: Vec<f64> = sample.logits.iter().enumerate().map(|(row, z)| z + 1e-10 * row as f64).collect();
    for (_, weighting) in weightings() {
        let loss = temporal_loss("csi", "beta:2,2", &weighting);
        let gradient = |logits: &[f64]| {
            let mut gradient = vec![0.0; logits.len()];
            loss.value_and_gradient(&sample.series_of_logits(logits), &mut gradient).unwrap();
            gradient
        };
        for (tied, limit) in gradient(&sample.logits).into_iter().zip(gradient(&distinct)) {
            assert!((tied - limit).abs() < 1e-9, "{tied}, expected {limit}");
        }
    }
}

#[test]
fn losses_and_gradients_in_f32_agree_with_f64() {
    let sample = RandomSeries::new(21, 400, None);
    let logits_f32: Vec<f32> = sample.logits.iter().map(|z| *z as f32).collect();
    let weights_f32: Vec<f32> = sample.weights.iter().map(|w| *w as f32).collect();
    let logits_f64: Vec<f64> = logits_f32.iter().map(|z| f64::from(*z)).collect();
    let rows = Rows::new(Logits(&logits_f32), &sample.labels).unwrap().weighted(&weights_f32).unwrap();
    let series = Series::new(rows).unwrap().with_sequences(&sample.sequences).unwrap();
    for prior in PRIORS {
        for (_, weighting) in weightings() {
            let loss = temporal_loss("tss", prior, &weighting);
            let (mut single, mut double) = (vec![0f32; logits_f32.len()], vec![0f64; logits_f64.len()]);
            let value = loss.value_and_gradient(&series, &mut single).unwrap();
            let expected = loss.value_and_gradient(&sample.series_of_logits(&logits_f64), &mut double).unwrap();
            assert!((value - expected).abs() < 1e-5, "{value}, expected {expected}");
            let largest = double.iter().fold(0.0, |most: f64, derivative| most.max(derivative.abs()));
            for (a, b) in single.iter().zip(&double) {
                assert!((f64::from(*a) - b).abs() <= 1e-5 * largest, "{prior}: {a}, expected {b}");
            }
        }
    }
}

#[test]
fn matrix_of_several_sequences_is_the_sum_of_their_matrices() {
    let (mut a, mut b) = (RandomSeries::new(1, 9, None), RandomSeries::new(2, 14, None));
    // The first sequence ends with an alarm, and the second begins with an event. Without sequence identifiers, the alarm would count
    // as an early warning of the event.
    (a.logits[8], a.labels[8]) = (2.0, false);
    (b.logits[0], b.labels[0]) = (-1.0, true);
    let logits = [&a.logits[..], &b.logits].concat();
    let labels = [&a.labels[..], &b.labels].concat();
    let sequences = [vec![7; 9], vec![3; 14]].concat();
    fn series_without_sequences(sample: &RandomSeries) -> Series<'_, Logits<'_, f64>> {
        Series::new(Rows::new(Logits(&sample.logits), &sample.labels).unwrap()).unwrap()
    }
    let joined = Series::new(Rows::new(Logits(&logits), &labels).unwrap()).unwrap();
    let divided = joined.with_sequences(&sequences).unwrap();
    for (_, weighting) in weightings() {
        let loss = temporal_loss("csi", "uniform", &weighting);
        let sum = loss.expect(&series_without_sequences(&a)) + loss.expect(&series_without_sequences(&b));
        assert_close(&loss.expect(&divided), &sum, 1e-14);
        assert!((loss.expect(&joined).fn_ - sum.fn_).abs() + (loss.expect(&joined).fp - sum.fp).abs() > 1e-3);

        // The gradient computed in two passes over batches of whole sequences equals the gradient of all rows in one batch.
        let mut all_rows = vec![0.0; logits.len()];
        loss.value_and_gradient(&divided, &mut all_rows).unwrap();
        let derivatives = loss.derivatives(&sum).unwrap();
        let (mut first, mut second) = (vec![0.0; 9], vec![0.0; 14]);
        loss.gradient_with(derivatives, &series_without_sequences(&a), &mut first).unwrap();
        loss.gradient_with(derivatives, &series_without_sequences(&b), &mut second).unwrap();
        for (got, expected) in [first, second].concat().iter().zip(&all_rows) {
            assert!((got - expected).abs() < 1e-15);
        }
    }
}

#[test]
fn windows_end_at_the_borders_of_a_sequence() {
    // There is an alarm at the end of one sequence and an event at the start of the next.
    let (probabilities, labels) = ([0.1, 0.9, 0.1, 0.1], [false, false, true, false]);
    let series = Series::new(Rows::new(Probabilities(&probabilities), &labels).unwrap()).unwrap();
    let divided = series.with_sequences(&[1, 1, 2, 2]).unwrap();
    let matrices = |weighting: Weighting| {
        let loss = temporal_loss("csi", "uniform", &weighting);
        (loss.at(&series, 0.5), loss.at(&divided, 0.5))
    };
    let with_credit = Confusion::new(2.0, 0.5, 0.5, 0.0);
    assert_eq!(matrices(Weighting::default()), (with_credit, Confusion::new(2.0, 2.0, 2.0, 0.0)));
    let plain = Confusion::new(2.0, 1.0, 1.0, 0.0);
    assert_eq!(matrices(Weighting::sum(&Weighting::WEIGHTS).unwrap()), (with_credit, plain));
    assert_eq!(matrices(Weighting::maximum(&Weighting::WEIGHTS).unwrap()), (with_credit, plain));
    // A window longer than the series ends where the series ends; in a series of one row, the window contains no other row.
    let long = Weighting::value_weighted(&[0.5; 100]).unwrap();
    assert_eq!((long.window(), matrices(long)), (100, (with_credit, Confusion::new(2.0, 2.0, 2.0, 0.0))));
    let single = Series::new(Rows::new(Probabilities(&[0.1f32]), &[true]).unwrap()).unwrap();
    assert_eq!(
        temporal_loss("csi", "uniform", &Weighting::default()).at(&single, 0.5),
        Confusion::new(0.0, 0.0, 2.0, 0.0)
    );
}

#[test]
fn temporal_weights_of_zero_give_the_score_loss_without_time_weighting() {
    let sample = RandomSeries::new(8, 80, None);
    let rows = Rows::new(Logits(&sample.logits), &sample.labels).unwrap().weighted(&sample.weights).unwrap();
    for weighting in [Weighting::sum(&[0.0, 0.0]).unwrap(), Weighting::maximum(&[0.0; 3]).unwrap()] {
        for (score, prior) in [("tss", "uniform"), ("f1", "cosine:0.5,0.3"), ("far", "beta:2,5")] {
            let plain = ScoreLoss::new(Score::parse(score).unwrap(), prior.parse().unwrap());
            let loss = temporal_loss(score, prior, &weighting);
            let series = sample.series_of_logits(&sample.logits);
            assert_close(&loss.expect(&series), &plain.expect(&rows).unwrap(), 1e-13);
            let (mut got, mut expected) = (vec![0.0; 80], vec![0.0; 80]);
            let value = loss.value_and_gradient(&series, &mut got).unwrap();
            assert!((value - plain.value_and_gradient(&rows, &mut expected).unwrap()).abs() < 1e-13);
            for (a, b) in got.iter().zip(&expected) {
                assert!((a - b).abs() <= 1e-14, "{a}, expected {b}");
            }
        }
    }
}

#[test]
fn an_alarm_shortly_before_an_event_costs_less_than_an_alarm_after_it() {
    let matrix = |probabilities: &[f64]| {
        let labels = [false, false, true, false, false];
        let series = Series::new(Rows::new(Probabilities(probabilities), &labels).unwrap()).unwrap();
        temporal_loss("csi", "uniform", &Weighting::default()).value(&series).unwrap()
    };
    assert!(matrix(&[0.1, 0.8, 0.4, 0.1, 0.1]) < matrix(&[0.1, 0.1, 0.4, 0.8, 0.1]));
}

#[test]
fn a_row_with_weight_zero_still_affects_the_rows_before_and_after_it() {
    let (probabilities, labels) = ([0.9, 0.1], [false, true]);
    let matrix = |weights: &[f64]| {
        let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap().weighted(weights).unwrap();
        temporal_loss("csi", "uniform", &Weighting::default()).at(&Series::new(rows).unwrap(), 0.5)
    };
    assert_eq!(matrix(&[0.0, 1.0]), Confusion::new(0.0, 0.0, 0.5, 0.0));
    assert_eq!(matrix(&[1e12, 1.0]), Confusion::new(0.0, 0.5e12, 0.5, 0.0));
}

#[test]
fn temporal_losses_stay_finite_at_extreme_logits_and_weights() {
    let logits = [1e4, -1e4, 40.0, -40.0, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY];
    let logits_f32 = logits.map(|z| z as f32);
    let labels = [true, false, false, true, true, false, false, true];
    let weights = [0.0, 1e12, 1.0, 1e-12, 1e12, 0.0, 1.0, 1.0];
    let weights_f32 = weights.map(|weight| weight as f32);
    let zero_weights = [0.0; 8];
    for prior in PRIORS.into_iter().chain(["cosine:0.5,0.001", "beta:0.5,0.5"]) {
        for (_, weighting) in weightings() {
            for score in ["tss", "f1", "mcc", "hss"] {
                let loss = temporal_loss(score, prior, &weighting);
                for weights in [&weights, &zero_weights] {
                    let rows = Rows::new(Logits(&logits), &labels).unwrap().weighted(weights).unwrap();
                    let mut gradient = [0.0; 8];
                    let value = loss.value_and_gradient(&Series::new(rows).unwrap(), &mut gradient).unwrap();
                    assert!(
                        value.is_finite() && gradient.iter().all(|derivative| derivative.is_finite()),
                        "{prior} {score}"
                    );
                }
                let rows = Rows::new(Logits(&logits_f32), &labels).unwrap().weighted(&weights_f32).unwrap();
                let mut gradient = [0f32; 8];
                let value = loss.value_and_gradient(&Series::new(rows).unwrap(), &mut gradient).unwrap();
                assert!(
                    value.is_finite() && gradient.iter().all(|derivative| derivative.is_finite()),
                    "{prior} {score}"
                );
            }
        }
    }
}

#[test]
fn time_weighted_errors_are_never_negative() {
    // A miss counts as 1 minus the sum of the weights of the alarms shortly before it. If there are alarms at all four distances, this sum is
    // 1 only up to rounding, so the result could be slightly below 0.
    let weighting = Weighting::sum(&[0.4, 0.3, 0.2, 0.1]).unwrap();
    for seed in 1..50 {
        let mut sample = RandomSeries::new(seed, 12, None);
        sample.labels.iter_mut().enumerate().for_each(|(row, label)| *label = row >= 4);
        sample.probabilities.iter_mut().take(8).for_each(|p| *p = 1.0);
        sample.sequences.fill(1);
        let matrix = temporal_loss("csi", "uniform", &weighting).expect(&sample.series_of_probabilities());
        assert!(matrix.fn_ >= 0.0 && matrix.fp >= 0.0, "{matrix:?}");
    }
}

#[test]
fn invalid_weightings_sequences_and_logits_are_reported() {
    let message = |result: Result<Weighting, Error>| result.unwrap_err().to_string();
    assert_eq!(
        message(Weighting::sum(&[0.75, 0.5])),
        "weights must sum to at most 1, not 1.25; make the weights smaller, or use their maximum instead of their sum"
    );
    assert_eq!(
        message(Weighting::maximum(&[0.25, 0.5])),
        "weights must not increase with distance, but 0.5 follows 0.25"
    );
    assert_eq!(message(Weighting::value_weighted(&[1.5])), "masks must be between 0 and 1, not 1.5");
    assert_eq!(message(Weighting::value_weighted(&[f64::NAN])), "masks must be between 0 and 1, not NaN");
    assert_eq!(
        message(Weighting::value_weighted(&[])),
        "masks must not be empty; the first one applies to errors one row away from an event or an alarm"
    );

    let labels = [false, true, false];
    let series = Series::new(Rows::new(Logits(&[0.1, 0.2, 0.3]), &labels).unwrap()).unwrap();
    let message = |sequences: &[u32]| series.with_sequences(sequences).unwrap_err().to_string();
    assert_eq!(message(&[1, 1]), "wrong number of rows in sequences: 2, expected 3");
    assert_eq!(
        message(&[5, 6, 5]),
        "sequences, row 2: sequence 5 occurs again after another sequence; put all rows of a sequence together, in time order"
    );
    let invalid = Series::new(Rows::new(Logits(&[0.1, f64::NAN, 0.3]), &labels).unwrap());
    assert_eq!(invalid.unwrap_err().to_string(), "logits, row 1: not a number");

    let loss = temporal_loss("csi", "uniform", &Weighting::default());
    let short = loss.value_and_gradient(&series, &mut [0.0; 2]);
    assert_eq!(short.unwrap_err().to_string(), "wrong number of rows in gradient: 2, expected 3");
}

#[test]
fn accessors_return_score_prior_and_weighting_of_a_temporal_loss() {
    let loss = temporal_loss("csi", "uniform", &Weighting::default());
    assert_eq!((loss.score().name(), loss.prior().to_string()), ("csi", "uniform".to_string()));
    assert_eq!(loss.weighting(), &Weighting::value_weighted(&Weighting::MASKS).unwrap());
    let finley = Confusion::new(2680.0, 72.0, 23.0, 28.0);
    assert_eq!(loss.of(&finley).unwrap(), 1.0 - 28.0 / 123.0);
    let series = Series::new(Rows::new(Logits(&[0.5]), &[true]).unwrap()).unwrap();
    assert_eq!((series.len(), series.is_empty()), (1, false));
}
