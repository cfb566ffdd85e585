//! Training learns, stops, starts again where it must, and is the same for the same seed.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::ops::ControlFlow;

use scorewise::sweep::sweep;
use scorewise::{CrossEntropy, ExactLoss, Loss, Prior, Probabilities, Rows, Score, ScoreLoss};
use scorewise_train::fit::{Fit, Keep, Sample, Settings, fit};
use scorewise_train::start::coverage;
use scorewise_train::{Engine, Matrix, Shape};

/// A rare event in a disc, which a linear model cannot see; reproducible.
fn disc(rows: usize) -> (Matrix, Vec<bool>) {
    let mut state = 9u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let values: Vec<f32> = (0..rows * 4).map(|_| next()).collect();
    let inside = |x: f32, y: f32| x * x + y * y < 0.15;
    let labels = values.chunks_exact(4).map(|row| inside(row[0], row[1])).collect();
    (Matrix::new(4, &values).unwrap(), labels)
}

fn score_loss(score: &str, prior: &str) -> Loss {
    Loss::Score(ScoreLoss::new(Score::parse(score).unwrap(), prior.parse().unwrap()))
}

fn train(settings: &Settings, matrix: &Matrix, labels: &[bool]) -> Fit {
    let rows = matrix.rows() as u32;
    let (training, validation): (Vec<u32>, Vec<u32>) = (0..rows).partition(|row| row % 3 != 0);
    let sample = Sample { matrix, labels, weights: None, training: &training, validation: &validation };
    fit(&Shape::new(4, &[24, 12], 1).unwrap(), &sample, settings, |_, _| ControlFlow::Continue(())).unwrap()
}

fn probabilities(fit: &Fit, matrix: &Matrix) -> Vec<f64> {
    let order: Vec<u32> = (0..matrix.rows() as u32).collect();
    let mut logits = vec![0.0; order.len()];
    Engine::new(fit.network.shape()).forward(&fit.network, matrix, &order, &mut logits);
    logits.iter().map(|z| 1.0 / (1.0 + (-f64::from(*z)).exp())).collect()
}

#[test]
fn score_oriented_training_has_its_best_threshold_where_the_prior_is() {
    let (matrix, labels) = disc(3000);
    let mut settings = Settings::new(score_loss("f1", "cosine:0.5,0.1"));
    (settings.epochs, settings.patience, settings.batch, settings.rate) = (400, 100, Some(256), 5e-3);
    let trained = train(&settings, &matrix, &labels);
    assert!(trained.success && trained.restarts == 0);
    let probabilities = probabilities(&trained, &matrix);
    let sweep = sweep(&Rows::new(Probabilities(&probabilities), &labels).unwrap()).unwrap();
    let f1 = Score::parse("f1").unwrap();
    let (at_half, best) = (f1.value(&sweep.at(0.5)), sweep.best(&f1).unwrap());
    assert!(at_half > 0.85, "{at_half}");
    assert!(best.value - at_half < 0.02, "{best:?} for {at_half}");
}

#[test]
fn a_start_outside_the_support_is_dead_without_the_cure_and_lives_with_it() {
    let (matrix, labels) = disc(600);
    let prior: Prior = "cosine:0.05,0.04".parse().unwrap();
    let mut settings = Settings::new(score_loss("tss", "cosine:0.05,0.04"));
    (settings.epochs, settings.patience) = (40, 40);
    settings.cure = false;
    let stuck = train(&settings, &matrix, &labels);
    assert!(!stuck.success && stuck.history.iter().all(|epoch| epoch.coverage == 0.0), "{stuck:?}");
    settings.cure = true;
    let cured = train(&settings, &matrix, &labels);
    assert!(cured.success && cured.history[0].coverage > 0.5, "{:?}", cured.history[0]);
    assert_eq!(coverage(&prior, &[-2.9, 0.0]), 0.5);
}

#[test]
fn same_seed_same_bits_and_another_seed_others() {
    let (matrix, labels) = disc(500);
    let mut settings = Settings::new(score_loss("csi", "uniform"));
    settings.epochs = 5;
    let first = train(&settings, &matrix, &labels);
    assert_eq!(train(&settings, &matrix, &labels), first);
    settings.seed = 1;
    assert_ne!(train(&settings, &matrix, &labels).network, first.network);
}

#[test]
fn every_loss_trains_and_stopping_keeps_what_it_says() {
    let (matrix, labels) = disc(800);
    for loss in [
        Loss::CrossEntropy(CrossEntropy::plain()),
        Loss::CrossEntropy(CrossEntropy::weighted(6.0, 1.0).unwrap()),
        Loss::Exact(ExactLoss::new(Score::parse("f1").unwrap(), Prior::uniform())),
        score_loss("hss", "uniform"),
    ] {
        let mut settings = Settings::new(loss);
        (settings.epochs, settings.patience, settings.batch) = (30, 4, None);
        settings.rate = 1e-2;
        let best = train(&settings, &matrix, &labels);
        assert!(best.success);
        let lowest = best.history.iter().map(|epoch| epoch.validation).fold(f64::INFINITY, f64::min);
        assert_eq!(best.history[best.kept].validation, lowest);
        assert!(best.history.len() <= best.kept + 1 + 4);
        settings.keep = Keep::Last;
        let last = train(&settings, &matrix, &labels);
        assert_eq!((last.kept, &last.history), (last.history.len() - 1, &best.history));
    }
}

#[test]
fn a_watcher_may_end_it_and_wrong_settings_are_refused() {
    let (matrix, labels) = disc(200);
    let (training, validation): (Vec<u32>, Vec<u32>) = (0..200).partition(|row| row % 2 == 0);
    let sample =
        Sample { matrix: &matrix, labels: &labels, weights: None, training: &training, validation: &validation };
    let shape = Shape::new(4, &[3], 1).unwrap();
    let settings = Settings::new(score_loss("f1", "uniform"));
    let stop = |number: usize, _: &_| if number == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    assert_eq!(fit(&shape, &sample, &settings, stop).unwrap().history.len(), 3);
    let refused = |shape: &Shape, sample: &Sample<'_>, settings: &Settings| {
        fit(shape, sample, settings, |_, _| ControlFlow::Continue(())).unwrap_err().to_string()
    };
    let wrong = Shape::new(5, &[3], 1).unwrap();
    assert_eq!(refused(&wrong, &sample, &settings), "network has 5 inputs for 4 features");
    assert!(refused(&shape, &Sample { training: &[], ..sample }, &settings).contains("no rows"));
    assert!(refused(&shape, &Sample { training: &[200], ..sample }, &settings).contains("must lie below 200"));
    assert!(refused(&shape, &Sample { labels: &labels[1..], ..sample }, &settings).contains("labels has 199 rows"));
    assert!(refused(&shape, &sample, &Settings { batch: Some(0), ..settings.clone() }).contains("at least 1"));
    assert!(refused(&shape, &sample, &Settings { rate: f32::NAN, ..settings.clone() }).contains("rate and decay"));
}
