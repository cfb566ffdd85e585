//! A small burn network on the built-in Adult census data, trained for F1 itself: `cargo run -p scorewise-burn --example adult`.
//!
//! The prior lies around ½, so the best threshold is learnt to lie there: F1 at ½ is close to that at the exact best threshold.

use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::prelude::*;
use burn::tensor::Distribution;
use burn::tensor::activation::{relu, sigmoid};
use scorewise::sweep::sweep;
use scorewise::{Probabilities, Rows, Score};
use scorewise_burn::ScoreLossConfig;
use scorewise_train::reproduce::{Adult, Part};

const SEED: u64 = 0;
const EPOCHS: usize = 10;
const BATCH: usize = 512;
const LEARNING_RATE: f64 = 2e-3;

#[derive(Module, Debug)]
struct Network {
    first: Linear,
    second: Linear,
    last: Linear,
}

impl Network {
    fn new(features: usize, device: &Device) -> Self {
        Network {
            first: LinearConfig::new(features, 50).init(device),
            second: LinearConfig::new(50, 20).init(device),
            last: LinearConfig::new(20, 1).init(device),
        }
    }

    /// Logits, `[batch_size, 1]`.
    fn forward(&self, rows: Tensor<2>) -> Tensor<2> {
        self.last.forward(relu(self.second.forward(relu(self.first.forward(rows)))))
    }
}

/// The features and labels of these rows, on the device.
fn tensors(part: &Part, rows: &[u32], device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let columns = part.matrix.columns();
    let features: Vec<f32> = rows.iter().flat_map(|row| part.matrix.row(*row as usize)).copied().collect();
    let labels: Vec<i64> = rows.iter().map(|row| i64::from(part.labels[*row as usize])).collect();
    (
        Tensor::from_data(TensorData::new(features, [rows.len(), columns]), device),
        Tensor::from_data(TensorData::new(labels, [rows.len()]), device),
    )
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::flex().autodiff();
    device.seed(SEED);
    let part = Adult::read()?.part(SEED);
    let (features, labels) = tensors(&part, &part.training, &device);

    let mut network = Network::new(part.matrix.columns(), &device);
    let mut adam = AdamConfig::new().init();
    let loss = ScoreLossConfig::new("f1".into()).with_prior("cosine:0.5,0.4".into()).init();
    println!("{loss}");
    for epoch in 1..=EPOCHS {
        let order = Tensor::<1>::random([part.training.len()], Distribution::Default, &device).argsort(0);
        let mut sum = Tensor::<1>::zeros([1], &device);
        let batches = part.training.len() / BATCH;
        for batch in 0..batches {
            let rows = order.clone().narrow(0, batch * BATCH, BATCH);
            let logits = network.forward(features.clone().select(0, rows.clone()));
            let value = loss.forward(logits, labels.clone().select(0, rows));
            sum = sum + value.clone().detach();
            let gradients = GradientsParams::from_grads(value.backward(), &network);
            network = adam.step(LEARNING_RATE, network, gradients);
        }
        println!("epoch {epoch:2}: loss {:.4}", sum.into_scalar::<f64>() / batches as f64);
    }

    let (features, _) = tensors(&part, &part.test, &device);
    let probabilities = sigmoid(network.forward(features)).try_into_vec_as::<f32>()?;
    let labels = part.events(&part.test);
    let all = sweep(&Rows::new(Probabilities(&probabilities), &labels)?)?;
    let f1 = Score::parse("f1")?;
    let best = all.best(&f1).ok_or("f1 is undefined on the test rows")?;
    println!("{} test rows", all.rows());
    println!("f1 at 0.5:                       {:.4}", f1.value(&all.at(0.5)));
    println!("f1 at the best threshold, {:.4}: {:.4}", best.threshold, best.value);
    Ok(())
}
