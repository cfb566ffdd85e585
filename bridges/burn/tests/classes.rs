//! Multiclass and multilabel losses agree with `scorewise::multiclass::OneVersusRest` for every average.

#![allow(clippy::unwrap_used)] // a failed unwrap fails the test

mod common;

use burn::tensor::DType;
use common::{Batch, Random, distance, to_f32};
use scorewise::Score;
use scorewise::multiclass::{AnyOf, Average, ClassRows, OneOf, OneVersusRest};
use scorewise::prior::FAMILIES;
use scorewise::score::REGISTRY;
use scorewise_burn::{ScoreLossConfig, Task};

const CLASSES: usize = 4;
const N_ROWS: usize = 120;

/// Random logits and weights of rows, with two kinds of targets: one class for each row, and any number of labels for each row.
struct ClassData {
    logits: Vec<f64>,
    weights: Vec<f64>,
    class_of_row: Vec<u32>,
    has_label: Vec<bool>,
}

impl ClassData {
    /// Draws data with a fixed seed.
    fn random() -> Self {
        let mut random = Random(11);
        let logits = random.f32_values(N_ROWS * CLASSES, -3.0, 3.0);
        let weights = random.f32_values(N_ROWS, 0.0, 2.0);
        // No row belongs to the last class.
        let class_of_row = (0..N_ROWS).map(|_| (random.uniform().powi(2) * (CLASSES - 1) as f64) as u32).collect();
        let has_label = (0..N_ROWS * CLASSES).map(|index| random.uniform() < 0.15 * (index % CLASSES) as f64).collect();
        ClassData { logits, weights, class_of_row, has_label }
    }

    /// The loss and its gradient, computed by `scorewise` in f64.
    fn scorewise_value_and_gradient(
        &self,
        loss: &OneVersusRest,
        task: Task,
        weights: Option<&[f64]>,
    ) -> (f64, Vec<f64>) {
        let mut gradient = vec![0.0; self.logits.len()];
        let value = if task == Task::MultiClass {
            let rows = ClassRows::new(&self.logits, CLASSES, OneOf(&self.class_of_row)).unwrap();
            let rows = weights.map_or(rows, |weights| rows.weighted(weights).unwrap());
            loss.value_and_gradient(&rows, &mut gradient)
        } else {
            let rows = ClassRows::new(&self.logits, CLASSES, AnyOf(&self.has_label)).unwrap();
            let rows = weights.map_or(rows, |weights| rows.weighted(weights).unwrap());
            loss.value_and_gradient(&rows, &mut gradient)
        };
        (value.unwrap(), gradient)
    }

    /// The targets that a loss for this task takes: class indices for a multi-class task, otherwise 0 or 1 for each row and class.
    fn targets(&self, task: Task) -> Vec<i64> {
        match task {
            Task::MultiClass => self.class_of_row.iter().map(|class| i64::from(*class)).collect(),
            _ => self.has_label.iter().map(|label| i64::from(*label)).collect(),
        }
    }
}

#[test]
fn the_loss_agrees_with_scorewise_for_every_score_and_average() {
    let data = ClassData::random();
    let mut worst = [0f64; 2];
    for task in [Task::MultiLabel, Task::MultiClass] {
        let targets = data.targets(task);
        for average in [Average::Macro, Average::Weighted, Average::Micro] {
            for (index, score) in REGISTRY.iter().filter_map(Score::example).enumerate() {
                let prior = FAMILIES[index % FAMILIES.len()].example;
                let config = ScoreLossConfig::new(score.name().into()).with_prior(prior.into()).with_task(task);
                let burn = config.with_average(average.name().into()).init();
                let loss = OneVersusRest::new(score.clone(), vec![prior.parse().unwrap()], average).unwrap();
                for weights in [None, Some(data.weights.as_slice())] {
                    let batch = Batch { logits: &data.logits, classes: CLASSES, targets: &targets, weights };
                    let expected = data.scorewise_value_and_gradient(&loss, task, weights);
                    for (worst, (dtype, tolerance)) in worst.iter_mut().zip([(DType::F32, 1e-5), (DType::F64, 1e-10)]) {
                        let distance = distance(&batch.value_and_gradient(&burn, dtype), &expected);
                        assert!(distance < tolerance, "{task:?}, {average} {score} under {prior}: distance {distance}");
                        *worst = worst.max(distance);
                    }
                }
            }
        }
    }
    println!("largest distance {:.2e} in f32, {:.2e} in f64", worst[0], worst[1]);
}

#[test]
fn the_loss_of_a_saturated_softmax_agrees_with_scorewise() {
    let logits = [200.0, 0.0, -200.0, 90.0, 89.0, -1e4, 0.0, 0.0, 0.0, 1e5, -1e5, 0.0];
    let f32_logits = to_f32(&logits);
    for prior in FAMILIES {
        let config = ScoreLossConfig::new("f1".into()).with_prior(prior.example.into()).with_task(Task::MultiClass);
        let batch = Batch { logits: &logits, classes: 3, targets: &[1, 0, 2, 0], weights: None };
        let got = batch.value_and_gradient(&config.init(), DType::F32);
        let loss =
            OneVersusRest::new(Score::parse("f1").unwrap(), vec![prior.example.parse().unwrap()], Average::Macro);
        let mut gradient = [0.0; 12];
        let rows = ClassRows::new(&f32_logits, 3, OneOf(&[1, 0, 2, 0])).unwrap();
        let value = loss.unwrap().value_and_gradient(&rows, &mut gradient).unwrap();
        let expected = (value, gradient.iter().map(|component| f64::from(*component)).collect());
        assert!(distance(&got, &expected) < 1e-5, "{}: got {got:?}, expected {expected:?}", prior.example);
    }
}
