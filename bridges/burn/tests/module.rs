//! The loss as a burn module: configuration, shapes, precisions, probabilities and display.

#![allow(clippy::unwrap_used)] // a failed unwrap fails the test

use burn::config::Config;
use burn::module::Module;
use burn::tensor::activation::{sigmoid, softmax};
use burn::tensor::{DType, Device, FloatDType, Int, Tensor};
use scorewise_burn::{ScoreLoss, ScoreLossConfig, Task};

/// The device of burn's CPU backend `flex`, with automatic differentiation.
fn device() -> Device {
    Device::flex().autodiff()
}

/// The gradient of `value` with respect to `input`.
fn gradient<const D: usize>(input: &Tensor<D>, value: &Tensor<1>) -> Vec<f64> {
    input.grad(&value.backward()).unwrap().try_into_vec_as::<f64>().unwrap()
}

/// Asserts that two lists have the same length and that their elements differ by at most `tolerance`.
fn assert_close(got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() <= tolerance, "got {got}, expected {expected}");
    }
}

#[test]
fn a_configuration_is_saved_and_read_back() {
    let config = ScoreLossConfig::new("fbeta(2)".into()).with_prior("beta:2,5".into()).with_task(Task::MultiClass);
    assert_eq!(ScoreLossConfig::load_binary(config.to_string().as_bytes()).unwrap(), config);
    let default = ScoreLossConfig::new("f1".into());
    assert_eq!((default.prior.as_str(), default.task, default.average.as_str()), ("uniform", Task::Binary, "macro"));
    assert!(default.from_logits);
}

#[test]
fn an_invalid_configuration_gives_an_error_that_says_why() {
    let message = |config: &ScoreLossConfig| config.try_init().unwrap_err().to_string();
    let config = ScoreLossConfig::new("presicion".into());
    assert!(message(&config).contains("did you mean `precision`?"));
    let config = ScoreLossConfig::new("f1".into()).with_prior("cosine:0.95,0.1".into());
    assert!(message(&config).contains("must lie in [0, 1]"));
    let config = ScoreLossConfig::new("f1".into()).with_average("harmonic".into());
    assert_eq!(message(&config), "average must be macro, weighted or micro, not `harmonic`");
}

#[test]
fn a_loss_is_displayed_with_the_names_of_its_score_and_prior() {
    let loss = ScoreLossConfig::new("jaccard".into()).with_prior("cosine:0.5,0.1".into()).init();
    let display = loss.to_string();
    assert!(display.contains("csi") && display.contains("cosine:0.5,0.1"), "{display}");
    assert_eq!((loss.score().name(), loss.prior().to_string().as_str()), ("csi", "cosine:0.5,0.1"));
}

#[test]
fn a_loss_can_be_a_field_of_a_module() {
    /// A burn module with the loss as one of its fields.
    #[derive(Module, Debug)]
    struct Model {
        linear: burn::nn::Linear,
        loss: ScoreLoss,
    }
    let linear = burn::nn::LinearConfig::new(2, 1).init(&device());
    let model = Model { linear, loss: ScoreLossConfig::new("tss".into()).init() };
    let rows = Tensor::<2>::from_floats([[1.0, 0.5], [-1.0, 0.3], [0.2, -0.7]], &device());
    let value = model.loss.forward(model.linear.forward(rows), Tensor::<1, Int>::from_ints([1, 0, 1], &device()));
    let gradient = model.linear.weight.grad(&value.backward()).unwrap();
    assert!(gradient.abs().sum().into_scalar::<f32>() > 0.0);
}

#[test]
fn binary_logits_of_any_shape_give_the_same_loss() {
    let loss = ScoreLossConfig::new("mcc".into()).init();
    let logits = Tensor::<1>::from_floats([1.0, -0.5, 0.3, 2.0, -1.0, 0.1], &device());
    let targets = Tensor::<1, Int>::from_ints([1, 0, 0, 1, 0, 1], &device());
    let flat = loss.forward(logits.clone(), targets.clone()).into_scalar::<f32>();
    let column: Tensor<2> = logits.clone().reshape([6, 1]);
    assert_eq!(loss.forward(column, targets.clone()).into_scalar::<f32>(), flat);
    let (mask, truth): (Tensor<3>, Tensor<3, Int>) = (logits.reshape([1, 2, 3]), targets.reshape([1, 2, 3]));
    assert_eq!(loss.forward(mask, truth).into_scalar::<f32>(), flat);
}

#[test]
fn the_loss_is_the_same_without_autodiff() {
    let loss = ScoreLossConfig::new("f1".into()).init();
    let value = |device: &Device| {
        let targets = Tensor::<1, Int>::from_ints([1, 0, 1], device);
        loss.forward(Tensor::<1>::from_floats([1.0, -0.5, 0.3], device), targets).into_scalar::<f32>()
    };
    assert_eq!(value(&device()), value(&Device::flex()));
}

#[test]
fn probabilities_give_the_same_loss_as_their_logits() {
    let targets = Tensor::<1, Int>::from_ints([1, 0, 0, 1, 1], &device());
    let logits = Tensor::<1>::from_floats([1.0, -0.5, 0.3, -2.0, 0.4], &device()).require_grad();
    for (score, prior) in [("f1", "uniform"), ("hss", "cosine:0.5,0.3"), ("mcc", "beta:2,5")] {
        let config = ScoreLossConfig::new(score.into()).with_prior(prior.into());
        let loss_of_logits = config.init().forward(logits.clone(), targets.clone());
        let config = config.with_from_logits(false);
        let loss_of_probabilities = config.init().forward(sigmoid(logits.clone()), targets.clone());
        assert_close(&gradient(&logits, &loss_of_probabilities), &gradient(&logits, &loss_of_logits), 1e-6);
        assert!((loss_of_logits.into_scalar::<f64>() - loss_of_probabilities.into_scalar::<f64>()).abs() < 1e-6);
    }
    // Probabilities of 0 and 1 contribute to the value and have a finite gradient.
    let with_certain = Tensor::<1>::from_floats([1.0, 0.0, 0.5, 0.25, 1.0], &device()).require_grad();
    let value = ScoreLossConfig::new("f1".into()).with_from_logits(false).init().forward(with_certain.clone(), targets);
    assert!(gradient(&with_certain, &value).iter().all(|component| component.is_finite()));
    // In this batch, the expected number of true positives is 1 + 1/4 + 1 and of false positives 1/2, and three rows are positive.
    assert!((value.into_scalar::<f64>() - (1.0 - 4.5 / (4.5 + 0.5 + 0.75))).abs() < 1e-6);
}

#[test]
fn softmax_probabilities_give_the_same_gradient_as_their_logits() {
    let targets = Tensor::<1, Int>::from_ints([0, 1, 2], &device());
    let logits =
        Tensor::<2>::from_floats([[2.0, 0.5, -1.0], [0.1, 1.2, 0.3], [-0.5, 0.4, 0.2]], &device()).require_grad();
    let config = ScoreLossConfig::new("f1".into()).with_prior("cosine:0.4,0.4".into()).with_task(Task::MultiClass);
    let loss_of_logits = config.init().forward(logits.clone(), targets.clone());
    let loss_of_probabilities = config.with_from_logits(false).init().forward(softmax(logits.clone(), 1), targets);
    assert_close(&gradient(&logits, &loss_of_probabilities), &gradient(&logits, &loss_of_logits), 1e-6);
}

#[test]
fn f16_logits_are_summed_in_f32() {
    // f16 cannot represent every integer above 2048, so 5000 rows must be summed in f32.
    let rows = 5000;
    let logits = Tensor::<1>::zeros([rows], (&device(), DType::F16)).require_grad();
    let targets = Tensor::<1, Int>::ones([rows], &device());
    let value = ScoreLossConfig::new("recall".into()).init().forward(logits.clone(), targets);
    let gradient = gradient(&logits, &value);
    assert_eq!(value.dtype(), DType::F32);
    assert_eq!(value.into_scalar::<f32>(), 0.5);
    assert!(gradient.iter().all(|component| (component + 0.25 / rows as f64).abs() < 1e-7));
}

#[test]
fn a_nan_logit_makes_the_loss_nan() {
    let logits = Tensor::<1>::from_floats([1.0, f32::NAN, 0.3], &device());
    let value =
        ScoreLossConfig::new("f1".into()).init().forward(logits, Tensor::<1, Int>::from_ints([1, 0, 1], &device()));
    assert!(value.cast(FloatDType::F64).into_scalar::<f64>().is_nan());
}

#[test]
#[should_panic(expected = "targets have 2 elements, expected 3")]
fn forward_panics_if_the_number_of_targets_differs_from_the_number_of_logits() {
    let logits = Tensor::<1>::from_floats([1.0, 2.0, 0.3], &device());
    ScoreLossConfig::new("f1".into()).init().forward(logits, Tensor::<1, Int>::from_ints([1, 0], &device()));
}

#[test]
#[should_panic(expected = "weights have 2 elements, expected one for each of the 3 rows")]
fn forward_weighted_panics_if_the_number_of_weights_differs_from_the_number_of_rows() {
    let logits = Tensor::<1>::from_floats([1.0, 2.0, 0.3], &device());
    let weights = Tensor::<1>::from_floats([1.0, 2.0], &device());
    let targets = Tensor::<1, Int>::from_ints([1, 0, 1], &device());
    ScoreLossConfig::new("f1".into()).init().forward_weighted(logits, targets, weights);
}
