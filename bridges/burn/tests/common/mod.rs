//! Random batches, and their losses computed by burn; shared by all tests.

#![allow(dead_code, clippy::unwrap_used)] // each test file uses only a part of this module; a failed unwrap fails the test

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use scorewise_burn::ScoreLoss;

/// The SplitMix64 random number generator.
pub struct Random(pub u64);

impl Random {
    /// A random integer; all 64-bit integers are equally likely.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A uniform random number in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
    /// A uniform random number between `low` and `high`.
    pub fn uniform_between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }
    /// Random numbers that f32 represents exactly, so that f32 and f64 computations get the same input.
    pub fn f32_values(&mut self, count: usize, low: f64, high: f64) -> Vec<f64> {
        (0..count).map(|_| f64::from(self.uniform_between(low, high) as f32)).collect()
    }
}

/// Rounds the values to f32.
pub fn to_f32(values: &[f64]) -> Vec<f32> {
    values.iter().map(|value| *value as f32).collect()
}

/// The logits, targets and weights for which a loss is computed. The logits `[rows, classes]` are in row-major order.
pub struct Batch<'a> {
    pub logits: &'a [f64],
    pub classes: usize,
    pub targets: &'a [i64],
    pub weights: Option<&'a [f64]>,
}

impl Batch<'_> {
    /// The loss and its gradient with respect to the logits, computed by burn in the precision `dtype`.
    pub fn value_and_gradient(&self, loss: &ScoreLoss, dtype: DType) -> (f64, Vec<f64>) {
        let device = Device::flex().autodiff();
        let rows = self.logits.len() / self.classes;
        let tensor_data = |values: &[f64], shape: Vec<usize>| TensorData::new(values.to_vec(), shape);
        let logits =
            Tensor::<2>::from_data(tensor_data(self.logits, vec![rows, self.classes]), (&device, dtype)).require_grad();
        let targets =
            Tensor::<1, Int>::from_data(TensorData::new(self.targets.to_vec(), [self.targets.len()]), &device);
        let value = match self.weights {
            None => loss.forward(logits.clone(), targets),
            Some(weights) => {
                let weights = Tensor::<1>::from_data(tensor_data(weights, vec![rows]), (&device, dtype));
                loss.forward_weighted(logits.clone(), targets, weights)
            }
        };
        let gradient = logits.grad(&value.backward()).unwrap();
        (value.into_scalar::<f64>(), gradient.try_into_vec_as::<f64>().unwrap())
    }
}

/// How far a value and its gradient are from the expected ones: the larger of the errors of both. The error of the value is relative if the
/// magnitude of the expected value is above 1, otherwise absolute. The error of the gradient is the largest error of a component, divided by
/// the largest magnitude of an expected component.
pub fn distance(got: &(f64, Vec<f64>), expected: &(f64, Vec<f64>)) -> f64 {
    let value = (got.0 - expected.0).abs() / expected.0.abs().max(1.0);
    let largest = expected.1.iter().fold(0f64, |largest, component| largest.max(component.abs()));
    let differences = got.1.iter().zip(&expected.1).map(|(got, expected)| (got - expected).abs());
    let gradient = differences
        .fold(0f64, |worst, difference| if difference.is_nan() { f64::INFINITY } else { worst.max(difference) });
    assert_eq!(got.1.len(), expected.1.len());
    let gradient = if gradient == 0.0 { 0.0 } else { gradient / largest.max(1e-30) };
    if value.is_nan() { f64::INFINITY } else { value.max(gradient) }
}
