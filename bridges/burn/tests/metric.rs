//! The metric accumulates batches into the score of the whole epoch.

#![cfg(feature = "train")]
#![allow(clippy::unwrap_used)] // a failed unwrap fails the test

mod common;

use burn::data::dataloader::Progress;
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use burn::train::metric::{Adaptor, Metric, MetricAttributes, MetricMetadata, Numeric};
use burn::train::{ClassificationOutput, MultiLabelClassificationOutput};
use common::Random;
use scorewise::score::REGISTRY;
use scorewise::{Confusion, Score, is_positive};
use scorewise_burn::{ScoreInput, ScoreMetric};

/// Metadata that `ScoreMetric::update` takes but does not use.
fn metadata() -> MetricMetadata {
    let progress = Progress { items_processed: 1, items_total: 1, unit: None };
    MetricMetadata { progress, iteration: Some(0), lr: None }
}

/// Makes the input of a metric from predictions and targets in row-major order.
fn score_input(predictions: &[f64], targets: &[bool], classes: usize) -> ScoreInput {
    let (device, shape) = (Device::flex(), [targets.len() / classes, classes]);
    let targets = Tensor::<2, Bool>::from_data(TensorData::new(targets.to_vec(), shape), &device);
    ScoreInput::new(Tensor::from_data(TensorData::new(predictions.to_vec(), shape), &device), targets)
}

/// The confusion matrix of the probabilities at a threshold, counted element by element.
fn confusion_at(probabilities: &[f64], targets: &[bool], threshold: f64) -> Confusion {
    let mut matrix = Confusion::default();
    for (p, target) in probabilities.iter().zip(targets) {
        let cell = match (is_positive(*p, threshold), target) {
            (false, false) => &mut matrix.tn,
            (true, false) => &mut matrix.fp,
            (false, true) => &mut matrix.fn_,
            (true, true) => &mut matrix.tp,
        };
        *cell += 1.0;
    }
    matrix
}

#[test]
fn the_score_of_several_batches_is_the_score_of_all_their_rows() {
    let mut random = Random(3);
    // Some probabilities equal 0.3 rounded to f32, which is slightly above the threshold 0.3. The first batch has no positives.
    let mut probabilities = random.f32_values(97, 0.0, 1.0);
    probabilities[..20].fill(f64::from(0.3f32));
    let targets: Vec<bool> = (0..97).map(|row| row >= 10 && random.uniform() < 0.2).collect();
    let whole = confusion_at(&probabilities, &targets, 0.3);
    for score in REGISTRY.iter().filter_map(Score::example) {
        let mut metric = ScoreMetric::new(score.name()).unwrap().with_threshold(0.3).unwrap().with_from_logits(false);
        for (probabilities, targets) in probabilities.chunks(10).zip(targets.chunks(10)) {
            metric.update(&score_input(probabilities, targets, 1), &metadata()).unwrap();
            let batch_score = score.checked(&confusion_at(probabilities, targets, 0.3));
            assert_eq!(metric.value().map(|entry| entry.current()), batch_score, "{score}");
        }
        assert_eq!(metric.confusion(), whole);
        assert_eq!(metric.running_value().map(|entry| entry.current()), score.checked(&whole), "{score}");
        assert_eq!(metric.final_value().current(), score.value(&whole), "{score}");
        assert!(metric.compute().unwrap().serialized.ends_with(",final"));
        metric.clear();
        assert_eq!(metric.confusion(), Confusion::default());
    }
}

#[test]
fn the_threshold_is_a_probability_even_if_predictions_are_logits() {
    let logits = [-3.0, -0.1, 0.0, 0.1, 2.0];
    let mut metric = ScoreMetric::new("accuracy").unwrap();
    metric.update(&score_input(&logits, &[false, false, false, true, true], 1), &metadata()).unwrap();
    assert_eq!(metric.final_value().current(), 1.0);
    let mut metric = ScoreMetric::new("recall").unwrap().with_threshold(0.8).unwrap();
    metric.update(&score_input(&logits, &[true; 5], 1), &metadata()).unwrap();
    assert_eq!(metric.final_value().current(), 1.0 / 5.0);
}

#[test]
fn an_undefined_score_is_reported_as_undefined_and_has_a_final_value_of_zero() {
    let mut metric = ScoreMetric::new("precision").unwrap();
    let entry = metric.update(&score_input(&[-1.0, -2.0], &[true, false], 1), &metadata()).unwrap();
    assert_eq!(entry.formatted, "epoch undefined - batch undefined");
    assert!(entry.is_not_available() && metric.value().is_none());
    assert_eq!(metric.final_value().current(), 0.0);
}

#[test]
fn the_classification_outputs_of_burn_can_be_converted_to_score_input() {
    let device = Device::flex();
    let loss = Tensor::<1>::zeros([1], &device);
    let output = Tensor::<2>::from_floats([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.6, 0.3, 0.1]], &device);
    let multi_class =
        ClassificationOutput::new(loss.clone(), output.clone(), Tensor::<1, Int>::from_ints([0, 1, 2], &device));
    let mut metric = ScoreMetric::new("f1").unwrap().with_from_logits(false);
    metric.update(&multi_class.adapt(), &metadata()).unwrap();
    assert_eq!(metric.confusion(), Confusion::new(5.0, 1.0, 1.0, 2.0));
    let mut metric = ScoreMetric::new("f1").unwrap().with_from_logits(false).with_class(0);
    metric.update(&multi_class.adapt(), &metadata()).unwrap();
    assert_eq!(metric.confusion(), Confusion::new(1.0, 1.0, 0.0, 1.0));
    assert_eq!(*metric.name(), "f1 at 0.5, class 0");
    assert_eq!(metric.description().unwrap(), "2*tp/(2*tp + fp + fn)");

    let targets = Tensor::<2, Int>::from_ints([[1, 0, 1], [0, 1, 0], [0, 0, 0]], &device);
    let multi_label = MultiLabelClassificationOutput::new(loss, output, targets);
    let mut metric = ScoreMetric::new("pofd").unwrap().with_from_logits(false);
    metric.update(&multi_label.adapt(), &metadata()).unwrap();
    assert_eq!(metric.confusion(), Confusion::new(5.0, 1.0, 1.0, 2.0));
    assert!(matches!(metric.attributes(), MetricAttributes::Numeric(numeric) if !numeric.higher_is_better));
}

#[test]
fn invalid_thresholds_and_score_names_are_refused() {
    let error = ScoreMetric::new("f1").unwrap().with_threshold(1.5).unwrap_err();
    assert_eq!(error.to_string(), "threshold must be a probability between 0 and 1, not 1.5");
    assert!(ScoreMetric::new("presicion").unwrap_err().to_string().contains("did you mean `precision`?"));
}
