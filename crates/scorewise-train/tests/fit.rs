//! Tests of training: a network learns, training stops and restarts when it should, and the same seed gives the same result.

#![allow(clippy::unwrap_used)] // Tests may call `unwrap`, because a panic fails the test.

use std::ops::ControlFlow;

use crate::patterns::{
    TestData, TrainingSetup, blobs, disc, fit_all, hidden_layers, network, ring, score_loss, threshold_sweep,
};
use scorewise::multiclass::{Average, OneVersusRest, SimplexLoss, SoftmaxCrossEntropy};
use scorewise::{CrossEntropy, ExactLoss, Logits, Loss, Prior, Rows, Score, ScoreLoss};
use scorewise_train::Matrix;
use scorewise_train::backend::{Backend, Cpu};
use scorewise_train::ensemble::Ensemble;
use scorewise_train::fit::{Fit, Keep, Objective, Phase, Sample, StopReason};
use scorewise_train::job::Job;
use scorewise_train::network::{BatchSize, NetworkSettings, Optimiser, WarmStart, fit};

/// The F1 score on all rows at the threshold ½ and at the best threshold.
fn f1_on_all_rows(fit: &Fit, data: &TestData) -> (f64, f64) {
    let ensemble = Ensemble::new(vec![fit.member.clone()]).unwrap();
    let sweep = threshold_sweep(&ensemble, &data.sample(), &data.all_rows());
    let f1 = Score::parse("f1").unwrap();
    (f1.value(&sweep.at(0.5)), sweep.best(&f1).unwrap().value)
}

/// The loss that compares every class with all others, for this score and this prior of the threshold.
fn one_versus_rest(score: &str, prior: &str) -> Objective {
    let (score, prior) = (Score::parse(score).unwrap(), prior.parse().unwrap());
    Objective::OneVersusRest(OneVersusRest::new(score, vec![prior], Average::Macro).unwrap())
}

/// The simplex loss for this multiclass score. It compares all classes at once, with a random threshold for each class.
fn simplex(score: &str) -> Objective {
    Objective::Simplex(SimplexLoss::new(score.parse().unwrap()))
}

fn softmax_cross_entropy() -> Objective {
    Objective::Softmax(SoftmaxCrossEntropy::plain())
}

fn cross_entropy() -> Objective {
    Loss::CrossEntropy(CrossEntropy::plain()).into()
}

/// The share of all rows whose true class has the highest probability.
fn accuracy(fit: &Fit, data: &TestData) -> f64 {
    let ensemble = Ensemble::new(vec![fit.member.clone()]).unwrap();
    let probabilities = ensemble.probabilities(&data.matrix, &data.all_rows());
    let is_right = |(row, label): (&[f64], &u32)| row.iter().all(|other| *other <= row[*label as usize]);
    probabilities.chunks_exact(ensemble.outputs()).zip(&data.labels).filter(|pair| is_right(*pair)).count() as f64
        / data.labels.len() as f64
}

#[test]
fn score_oriented_training_moves_the_best_threshold_to_the_centre_of_the_prior() {
    let data = disc(3000);
    let mut settings = TrainingSetup::new(score_loss("f1", "cosine:0.5,0.1"));
    (settings.epochs, settings.patience, settings.batch, settings.learning_rate) =
        (400, 100, BatchSize::Rows(256), 5e-3);
    let trained = data.train(&[24, 12], &settings);
    assert!(trained.success && trained.restarts == 0);
    let (at_half, best) = f1_on_all_rows(&trained, &data);
    assert!(at_half > 0.85, "{at_half}");
    assert!(best - at_half < 0.02, "F1 is {at_half} at the threshold ½ and {best} at the best threshold");
}

#[test]
fn the_setting_named_cure_moves_the_first_predictions_into_the_support_of_the_prior() {
    let data = disc(600);
    let mut settings = TrainingSetup::new(score_loss("tss", "cosine:0.05,0.04"));
    (settings.epochs, settings.patience) = (40, 40);
    settings.cure = false;
    let stuck = data.train(&[24, 12], &settings);
    assert!(!stuck.success && stuck.history.iter().all(|epoch| epoch.coverage == 0.0), "{stuck:?}");
    settings.cure = true;
    let cured = data.train(&[24, 12], &settings);
    assert!(cured.success && cured.history[0].coverage > 0.5, "{:?}", cured.history[0]);
}

#[test]
fn a_training_run_whose_predictions_leave_the_support_of_the_prior_is_restarted() {
    // The learning rate is so large that one step moves all predictions out of the narrow support of the prior.
    let data = disc(300);
    let mut settings = TrainingSetup::new(score_loss("f1", "cosine:0.5,0.05"));
    (settings.epochs, settings.patience, settings.learning_rate, settings.batch) = (6, 6, 1e3, BatchSize::Full);
    settings.optimiser = Optimiser::Sgd;
    let trained = data.train(&[], &settings);
    assert!(trained.restarts > 0 && network(&trained).parameters.iter().all(|x| x.is_finite()), "{trained:?}");
    settings.cure = false;
    assert_eq!(data.train(&[], &settings).restarts, 0);
}

#[test]
fn equal_seeds_give_equal_bits_and_different_seeds_give_different_bits() {
    let data = disc(500);
    let mut settings = TrainingSetup::new(score_loss("csi", "uniform"));
    settings.epochs = 5;
    let first = data.train(&[24, 12], &settings);
    assert_eq!(data.train(&[24, 12], &settings), first);
    settings.seed = 1;
    assert_ne!(data.train(&[24, 12], &settings).member, first.member);
}

#[test]
fn networks_learn_with_every_loss_and_keep_the_best_or_last_weights_as_requested() {
    let data = disc(800);
    for loss in [
        Loss::CrossEntropy(CrossEntropy::plain()),
        Loss::CrossEntropy(CrossEntropy::weighted(6.0, 1.0).unwrap()),
        Loss::Exact(ExactLoss::new(Score::parse("f1").unwrap(), Prior::uniform())),
        score_loss("hss", "uniform"),
    ] {
        let mut settings = TrainingSetup::new(loss);
        (settings.epochs, settings.patience, settings.batch) = (30, 4, BatchSize::Full);
        settings.learning_rate = 1e-2;
        let best = data.train(&[24, 12], &settings);
        assert!(best.success);
        let lowest = best.history.iter().map(|epoch| epoch.validation).fold(f64::INFINITY, f64::min);
        let kept = best.kept.unwrap();
        assert_eq!(best.history[kept].validation, lowest);
        assert!(best.history.len() <= kept + 1 + 4);
        let expected = if best.history.len() == kept + 1 + 4 { StopReason::Patience } else { StopReason::Epochs };
        assert_eq!(best.stop_reason, expected);
        settings.keep = Keep::Last;
        let last = data.train(&[24, 12], &settings);
        assert_eq!((last.kept, &last.history), (Some(last.history.len() - 1), &best.history));
    }
}

#[test]
fn gradient_descent_with_momentum_learns() {
    let data = disc(800);
    let mut settings = TrainingSetup::new(cross_entropy());
    settings.optimiser = Optimiser::Sgd;
    (settings.epochs, settings.learning_rate, settings.weight_decay) = (150, 3e-2, 1e-4);
    let (_, best) = f1_on_all_rows(&data.train(&[16, 8], &settings), &data);
    assert!(best > 0.85, "{best}");
}

#[test]
fn a_row_of_weight_two_has_the_same_effect_as_a_repeated_row() {
    let mut data = disc(300);
    let rows_of_weight_two: Vec<u32> = data.all_rows().into_iter().filter(|row| row % 5 == 0).collect();
    data.weights = Some((0..300).map(|row| if row % 5 == 0 { 2.0 } else { 1.0 }).collect());
    let mut repeated = disc(300);
    for rows in [&mut repeated.training, &mut repeated.validation] {
        let again: Vec<u32> = rows.iter().copied().filter(|row| rows_of_weight_two.contains(row)).collect();
        rows.extend(again);
    }
    for objective in [score_loss("f1", "cosine:0.5,0.3").into(), cross_entropy()] {
        let mut settings = TrainingSetup::new(objective);
        (settings.epochs, settings.batch) = (5, BatchSize::Full);
        let (weighted, doubled) = (data.train(&[8], &settings), repeated.train(&[8], &settings));
        for (a, b) in weighted.history.iter().zip(&doubled.history) {
            assert!((a.validation - b.validation).abs() < 1e-6, "got {a:?}, expected {b:?}");
            assert!((a.training - b.training).abs() < 1e-6, "got {a:?}, expected {b:?}");
        }
        for (a, b) in network(&weighted).parameters.iter().zip(network(&doubled).parameters.iter()) {
            assert!((a - b).abs() < 1e-5, "got {a}, expected {b}");
        }
    }
}

#[test]
fn every_multiclass_objective_separates_three_clusters() {
    let data = blobs(1500);
    let balanced = SoftmaxCrossEntropy::balanced(&data.sample().class_weights()).unwrap();
    for objective in [
        softmax_cross_entropy(),
        Objective::Softmax(balanced),
        simplex("mcc"),
        simplex("macro(f1)"),
        one_versus_rest("f1", "uniform"),
        one_versus_rest("tss", "cosine:0.5,0.3"),
        one_versus_rest("f1", "cosine:0.5,0.1"),
    ] {
        let mut settings = TrainingSetup::new(objective);
        (settings.epochs, settings.learning_rate) = (40, 5e-3);
        let trained = data.train(&[12], &settings);
        let share = accuracy(&trained, &data);
        assert!(trained.success && share > 0.95, "{share} with {:?}", settings.objective);
    }
}

#[test]
fn a_warm_start_is_used_if_the_first_predictions_cannot_all_lie_inside_the_supports_of_their_priors() {
    // Three probabilities cannot all be near ½, so `cure` uses a warm start. Without `cure`, some class is never predicted.
    let data = blobs(600);
    let mut settings = TrainingSetup::new(one_versus_rest("f1", "cosine:0.5,0.02"));
    (settings.epochs, settings.patience, settings.learning_rate) = (60, 60, 5e-3);
    let mut shares = |cure: bool| -> Vec<f64> {
        settings.cure = cure;
        let mut share = |seed| {
            settings.seed = seed;
            let trained = data.train(&[8], &settings);
            assert_eq!(trained.warm_up.is_empty(), !cure);
            accuracy(&trained, &data)
        };
        (0..4).map(&mut share).collect()
    };
    let (cured, uncured) = (shares(true), shares(false));
    assert!(cured.iter().all(|share| *share > 0.95), "{cured:?}");
    assert!(uncured.iter().any(|share| *share < 0.95), "{uncured:?}");
}

#[test]
fn softmax_with_two_logits_learns_as_well_as_sigmoid_with_one_logit() {
    let data = disc(1500);
    let train = |objective: Objective| {
        let mut settings = TrainingSetup::new(objective);
        (settings.epochs, settings.learning_rate) = (120, 5e-3);
        data.train(&[16, 8], &settings)
    };
    let lowest = |fit: &Fit| fit.history.iter().map(|epoch| epoch.validation).fold(f64::INFINITY, f64::min);
    let (one, two) = (train(cross_entropy()), train(softmax_cross_entropy()));
    assert!((lowest(&one) - lowest(&two)).abs() < 0.04, "{} and {}", lowest(&one), lowest(&two));
    assert!(accuracy(&two, &data) > 0.95);
}

#[test]
fn a_warm_start_learns_a_ring_that_the_score_loss_alone_does_not_learn() {
    let data = ring(4000);
    let mut settings = TrainingSetup::new(score_loss("f1", "cosine:0.5,0.1"));
    (settings.epochs, settings.patience, settings.learning_rate) = (200, 30, 5e-3);
    let (cold, _) = f1_on_all_rows(&data.train(&[24, 12], &settings), &data);
    settings.warm_start = Some(WarmStart::default());
    let trained = data.train(&[24, 12], &settings);
    let (warm, best) = f1_on_all_rows(&trained, &data);
    assert!(warm > 0.9 && cold < 0.8, "F1 is {warm} with a warm start and {cold} without");
    assert!(best - warm < 0.02, "F1 is {warm} at the threshold ½ and {best} at the best threshold");
    assert!(trained.success && trained.warm_up.iter().all(|epoch| epoch.phase == Phase::WarmUp));
    assert!(trained.history.iter().all(|epoch| epoch.phase == Phase::Main));
}

#[test]
fn a_warm_start_moves_the_best_threshold_to_the_mean_of_the_prior() {
    // The learning rate of the main phase is so small that the bias stays where the warm start has moved it.
    let data = disc(1200);
    let mut settings = TrainingSetup::new(score_loss("f1", "cosine:0.3,0.2"));
    (settings.epochs, settings.learning_rate) = (40, 5e-3);
    let all = [&data.training[..], &data.validation].concat();
    for (on_all, rows) in [(false, &data.validation), (true, &all)] {
        settings.warm_start =
            Some(WarmStart { epochs: Some(60), patience: Some(20), slower: 1e-9, on_all, steady: false });
        let trained = data.train(&[16, 8], &settings);
        let sample = data.sample();
        let sweep = threshold_sweep(&Ensemble::new(vec![trained.member]).unwrap(), &sample, rows);
        let f1 = Score::parse("f1").unwrap();
        let best = sweep.best(&f1).unwrap();
        assert!((f1.value(&sweep.at(0.3)) - best.value).abs() < 1e-3 && best.value > 0.85, "{best:?}");
        assert!(trained.warm_up.len() <= 60 && !trained.warm_up.is_empty());
    }
}

#[test]
fn the_setting_named_steady_moves_the_output_bias_to_the_value_with_the_lowest_loss() {
    let data = disc(1200);
    let loss = ScoreLoss::new(Score::parse("csi").unwrap(), "cosine:0.4,0.2".parse().unwrap());
    let mut settings = TrainingSetup::new(Loss::Score(loss.clone()));
    (settings.epochs, settings.learning_rate) = (40, 5e-3);
    let all = [&data.training[..], &data.validation].concat();
    let sample = data.sample();
    let events: Vec<bool> = all.iter().map(|row| sample.labels[*row as usize] == 1).collect();
    // Trains a network and returns its loss at several shifts of the output bias. The learning rate of the main phase is so small that the bias
    // stays where the warm start has moved it.
    let mut losses = |steady: bool| {
        let warm = WarmStart { epochs: Some(4), patience: Some(4), slower: 1e-9, on_all: true, steady };
        settings.warm_start = Some(warm);
        let ensemble = Ensemble::new(vec![data.train(&[16, 8], &settings).member]).unwrap();
        let logits = ensemble.probabilities(sample.matrix, &all).into_iter().map(|p| (p / (1.0 - p)).ln());
        let logits: Vec<f64> = logits.collect();
        [0.0, 0.1, -0.1, 0.3, -0.3].map(|shift| {
            let moved: Vec<f64> = logits.iter().map(|logit| logit + shift).collect();
            loss.value(&Rows::new(Logits(&moved), &events).unwrap()).unwrap()
        })
    };
    let [steady, others @ ..] = losses(true);
    assert!(others.iter().all(|other| *other > steady - 1e-6), "{steady} and {others:?}");
    let exact = losses(false)[0];
    assert!(exact > steady + 1e-3, "the loss is {exact} without the setting `steady` and {steady} with it");
}

#[test]
fn a_warm_start_works_with_many_classes() {
    let data = blobs(900);
    for objective in [one_versus_rest("f1", "cosine:0.5,0.1"), simplex("mcc")] {
        let mut settings = TrainingSetup::new(objective);
        (settings.epochs, settings.learning_rate) = (30, 5e-3);
        settings.warm_start = Some(WarmStart::default());
        let trained = data.train(&[8], &settings);
        let share = accuracy(&trained, &data);
        assert!(trained.success && share > 0.95, "{share} with {:?}", settings.objective);
    }
}

#[test]
fn a_diverged_training_run_keeps_the_best_finite_weights() {
    let data = disc(300);
    for objective in [cross_entropy(), softmax_cross_entropy()] {
        let mut settings = TrainingSetup::new(objective);
        settings.optimiser = Optimiser::Sgd;
        settings.learning_rate = 1e30;
        let trained = data.train(&[24, 12], &settings);
        assert_eq!(trained.stop_reason, StopReason::Diverged);
        assert!(network(&trained).parameters.iter().all(|x| x.is_finite()));
        assert_eq!(trained.history.len(), trained.kept.map_or(0, |kept| kept + 1));
        settings.keep = Keep::Last;
        assert!(network(&data.train(&[24, 12], &settings)).parameters.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn training_is_not_a_success_if_the_network_predicts_a_constant() {
    // The features carry no information. The loss falls only because the constant prediction moves to a better value.
    let labels: Vec<u32> = (0..90).map(|row| u32::from(row % 5 == 0)).collect();
    let data = TestData::new(1, &[1.0; 90], labels);
    for objective in [score_loss("f1", "cosine:0.5,0.3").into(), cross_entropy()] {
        let mut settings = TrainingSetup::new(objective);
        (settings.epochs, settings.learning_rate) = (20, 1e-2);
        let trained = data.train(&[], &settings);
        assert!(trained.history.iter().any(|epoch| epoch.validation < trained.first) && !trained.success);
    }
}

#[test]
fn a_watcher_can_stop_the_training_and_the_best_weights_are_kept() {
    let data = disc(200);
    let mut settings = TrainingSetup::new(score_loss("f1", "uniform"));
    settings.hidden = hidden_layers(&[3]);
    let fit_stopped_in_third_epoch = |settings: &TrainingSetup| {
        let stop =
            &mut |number: usize, _: &_| if number == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        fit(&settings.network, &settings.objective, settings.seed, &data.sample(), 1, stop).unwrap()
    };
    let first = fit_stopped_in_third_epoch(&settings);
    assert_eq!((first.history.len(), first.stop_reason), (3, StopReason::Stopped));
    settings.epochs = first.kept.unwrap() + 1;
    assert_eq!(data.train(&[3], &settings).member, first.member);
    // A training run that is stopped during its warm-up has no epochs in the main phase.
    settings.warm_start = Some(WarmStart { epochs: Some(9), ..WarmStart::default() });
    let second = fit_stopped_in_third_epoch(&settings);
    assert_eq!((second.warm_up.len(), second.history.len(), second.stop_reason), (3, 0, StopReason::Stopped));
}

#[test]
fn jobs_give_the_same_bits_in_parallel_as_one_at_a_time() {
    let datasets = [disc(400).dataset(), blobs(400).dataset()];
    let mut jobs = Vec::new();
    for seed in 0..3 {
        let job = |dataset: usize, hidden: &[usize], objective: Objective| {
            let mut settings = TrainingSetup::new(objective);
            (settings.epochs, settings.hidden) = (4, hidden_layers(hidden));
            Job { dataset, ..settings.job(0, seed) }
        };
        jobs.push(job(0, &[10, 5], score_loss("tss", "cosine:0.5,0.1").into()));
        jobs.push(job(1, &[10], simplex("mcc")));
        jobs.push(job(1, &[10], one_versus_rest("csi", "uniform")));
    }
    let expected: Vec<Fit> = jobs.iter().flat_map(|job| fit_all(&datasets, std::slice::from_ref(job), 1)).collect();
    assert_eq!(fit_all(&datasets, &jobs, 1), expected);
    assert_eq!(fit_all(&datasets, &jobs, 2), expected);
    // Serialising and parsing jobs does not change them.
    let again: Vec<Job> = serde_json::from_str(&serde_json::to_string(&jobs).unwrap()).unwrap();
    assert_eq!(again, jobs);
    // If the watcher returns `Break`, the running job ends and no other job is started.
    let stop = |job: usize, _: usize, _: &_| if job == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let fits = Cpu { threads: 1 }.fit(&datasets, &jobs, &stop).unwrap();
    let lengths: Vec<_> = fits.into_iter().map(|fit| fit.map(|fit| fit.history.len())).collect();
    assert_eq!(lengths, [Some(4), Some(1), None, None, None, None, None, None, None]);
}

#[test]
fn the_error_for_an_invalid_setting_names_the_setting() {
    let objective: Objective = score_loss("f1", "uniform").into();
    let valid = NetworkSettings::default();
    let refused = |settings: NetworkSettings| settings.check(&objective).unwrap_err().to_string();
    assert!(valid.check(&objective).is_ok());
    assert_eq!(
        refused(NetworkSettings { batch: BatchSize::Rows(0), ..valid.clone() }),
        "batch: must be at least 1, not 0\nhint: `batch full` takes all rows in every step"
    );
    assert_eq!(refused(NetworkSettings { epochs: 0, ..valid.clone() }), "epochs: must be at least 1, not 0");
    let none = NetworkSettings { patience: 0, ..valid.clone() };
    assert!(refused(none).starts_with("patience: must be at least 1, not 0"));
    for learning_rate in [f32::NAN, 0.0, -1.0, f32::INFINITY] {
        let settings = NetworkSettings { learning_rate, ..valid.clone() };
        assert!(refused(settings).starts_with("learning-rate: must be above 0"));
    }
    for weight_decay in [-0.1, f32::NAN, 1e4] {
        let settings = NetworkSettings { weight_decay, ..valid.clone() };
        assert!(refused(settings).starts_with("weight-decay: must be 0 or above"));
    }
    let warm = NetworkSettings { warm_start: Some(WarmStart::default()), ..valid };
    let error = warm.check(&cross_entropy()).unwrap_err().to_string();
    assert!(error.starts_with("warm-start: trains with cross-entropy before the loss of a score"), "{error}");
}

#[test]
fn inconsistent_data_are_refused() {
    let data = disc(200);
    let sample = data.sample();
    let settings = NetworkSettings { hidden: hidden_layers(&[3]), ..NetworkSettings::default() };
    let refused_with = |settings: &NetworkSettings, sample: &Sample<'_>, objective: &Objective| {
        let watch = &mut |_, _: &_| ControlFlow::Continue(());
        fit(settings, objective, 0, sample, 1, watch).unwrap_err().to_string()
    };
    let f1: Objective = score_loss("f1", "uniform").into();
    let refused = |sample: &Sample<'_>| refused_with(&settings, sample, &f1);
    assert!(refused(&Sample { training: &[], ..sample }).contains("no rows"));
    assert!(refused(&Sample { training: &[200], ..sample }).contains("must be below 200"));
    assert!(refused(&Sample { labels: &data.labels[1..], ..sample }).contains("wrong number of rows in labels: 199"));
    assert!(refused(&Sample { labels: &[2; 200], ..sample }).contains("has class 2, but the classes are 0 to 1"));
    assert!(refused(&Sample { weights: Some(&[-1.0; 200]), ..sample }).contains("has weight -1"));
    let priors = vec![Prior::uniform(), Prior::uniform()];
    let two = OneVersusRest::new(Score::parse("f1").unwrap(), priors, Average::Macro).unwrap();
    let three = Sample { classes: 3, ..sample };
    assert!(refused_with(&settings, &three, &Objective::OneVersusRest(two)).contains("one for each of the 3 classes"));
    let linear = NetworkSettings { hidden: hidden_layers(&[]), ..NetworkSettings::default() };
    let infinite = Matrix::new(4, &[f32::NAN; 800]).unwrap();
    let error = refused_with(&linear, &Sample { matrix: &infinite, ..sample }, &f1);
    assert!(error.contains("the network's first outputs are not finite"), "{error}");
}
