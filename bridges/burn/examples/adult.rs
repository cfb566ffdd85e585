//! Trains a small burn network on the Adult census data for F1: `cargo run --example adult`.
//!
//! The prior (the distribution of the decision threshold) is centred at ½, so the network learns probabilities whose best threshold is near ½:
//! F1 at ½ is close to F1 at the exact best threshold. The network is trained on the rows of `adult.data` and evaluated on those of `adult.test`.

use std::error::Error;
use std::fs::File;

use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::prelude::*;
use burn::tensor::Distribution;
use burn::tensor::activation::{relu, sigmoid};
use csv::StringRecord;
use scorewise::sweep::sweep;
use scorewise::{Probabilities, Rows, Score};
use scorewise_burn::ScoreLossConfig;

/// The folder with the files of the Adult data set.
const DATA_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/scorewise-table/data");
/// Indices of the numeric columns.
const NUMERIC: [usize; 6] = [0, 2, 4, 10, 11, 12];
/// Indices of the categorical columns. Column 3, education, is left out because column 4 holds the same information as a number.
const CATEGORICAL: [usize; 7] = [1, 5, 6, 7, 8, 9, 13];
/// Index of the column `income`, which is the label.
const INCOME: usize = 14;

const SEED: u64 = 0;
const EPOCHS: usize = 5;
const BATCH_SIZE: usize = 512;
const LEARNING_RATE: f64 = 2e-3;

/// Reads the rows of a gzip file in [`DATA_FOLDER`].
fn read_records(file: &str) -> Result<Vec<StringRecord>, Box<dyn Error>> {
    let text = flate2::read::GzDecoder::new(File::open(format!("{DATA_FOLDER}/{file}"))?);
    // The first line of `adult.test` starts with `|` and is not a row.
    let reader =
        csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).comment(Some(b'|')).from_reader(text);
    Ok(reader.into_records().collect::<Result<_, _>>()?)
}

/// Standardises numeric columns and one-hot encodes categorical columns. Means, standard deviations and categories are those of the training rows.
struct Encoder {
    /// Mean and standard deviation of each numeric column.
    moments: Vec<(f32, f32)>,
    /// Values of each categorical column. A value that is not listed is encoded as zeros.
    levels: Vec<Vec<String>>,
}

impl Encoder {
    /// Computes the means and standard deviations, and lists the categories, from the training rows.
    fn fit(records: &[StringRecord]) -> Result<Self, Box<dyn Error>> {
        let mut moments = Vec::new();
        for column in NUMERIC {
            let values = records.iter().map(|record| record[column].parse()).collect::<Result<Vec<f64>, _>>()?;
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
            moments.push((mean as f32, variance.sqrt() as f32));
        }
        let levels = CATEGORICAL.map(|column| {
            let mut levels: Vec<String> = records.iter().map(|record| record[column].to_owned()).collect();
            levels.sort_unstable();
            levels.dedup();
            levels
        });
        Ok(Encoder { moments, levels: levels.into() })
    }

    /// The number of features of a row after encoding.
    fn n_features(&self) -> usize {
        self.moments.len() + self.levels.iter().map(Vec::len).sum::<usize>()
    }

    /// Returns the features as a tensor `[rows, n_features]`.
    fn features(&self, records: &[StringRecord], device: &Device) -> Result<Tensor<2>, Box<dyn Error>> {
        let mut features = Vec::with_capacity(records.len() * self.n_features());
        for record in records {
            for (column, (mean, deviation)) in NUMERIC.iter().zip(&self.moments) {
                features.push((record[*column].parse::<f32>()? - mean) / deviation);
            }
            for (column, levels) in CATEGORICAL.iter().zip(&self.levels) {
                features.extend(levels.iter().map(|level| f32::from(u8::from(*level == record[*column]))));
            }
        }
        Ok(Tensor::from_data(TensorData::new(features, [records.len(), self.n_features()]), device))
    }
}

/// Whether the income of each row is above 50,000 dollars.
fn labels(records: &[StringRecord]) -> Vec<bool> {
    records.iter().map(|record| record[INCOME].starts_with(">50K")).collect()
}

/// A network with two hidden layers of 50 and 20 units.
#[derive(Module, Debug)]
struct Network {
    first: Linear,
    second: Linear,
    last: Linear,
}

impl Network {
    /// Creates a network with random weights for this number of features.
    fn new(features: usize, device: &Device) -> Self {
        Network {
            first: LinearConfig::new(features, 50).init(device),
            second: LinearConfig::new(50, 20).init(device),
            last: LinearConfig::new(20, 1).init(device),
        }
    }

    /// Returns the logits as a tensor `[batch_size, 1]`.
    fn forward(&self, rows: Tensor<2>) -> Tensor<2> {
        self.last.forward(relu(self.second.forward(relu(self.first.forward(rows)))))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::flex().autodiff();
    device.seed(SEED);
    let (training, test) = (read_records("adult.data.gz")?, read_records("adult.test.gz")?);
    let encoder = Encoder::fit(&training)?;
    let features = encoder.features(&training, &device)?;
    let targets: Vec<i64> = labels(&training).into_iter().map(i64::from).collect();
    let targets = Tensor::<1, Int>::from_data(TensorData::new(targets, [training.len()]), &device);

    let mut network = Network::new(encoder.n_features(), &device);
    let mut adam = AdamConfig::new().init();
    let loss = ScoreLossConfig::new("f1".into()).with_prior("cosine:0.5,0.4".into()).init();
    println!("{loss}");
    for epoch in 1..=EPOCHS {
        let order = Tensor::<1>::random([training.len()], Distribution::Default, &device).argsort(0);
        let mut sum = Tensor::<1>::zeros([1], &device);
        let batches = training.len() / BATCH_SIZE;
        for batch in 0..batches {
            let rows = order.clone().narrow(0, batch * BATCH_SIZE, BATCH_SIZE);
            let logits = network.forward(features.clone().select(0, rows.clone()));
            let value = loss.forward(logits, targets.clone().select(0, rows));
            sum = sum + value.clone().detach();
            let gradients = GradientsParams::from_grads(value.backward(), &network);
            network = adam.step(LEARNING_RATE, network, gradients);
        }
        println!("epoch {epoch}: loss {:.4}", sum.into_scalar::<f64>() / batches as f64);
    }

    let logits = network.forward(encoder.features(&test, &device)?);
    let probabilities = sigmoid(logits).try_into_vec_as::<f32>()?;
    let labels = labels(&test);
    let sweep = sweep(&Rows::new(Probabilities(&probabilities), &labels)?)?;
    let f1 = Score::parse("f1")?;
    let best = sweep.best(&f1).ok_or("f1 is undefined on the test rows")?;
    println!("{} test rows", sweep.rows());
    println!("f1 at 0.5:                       {:.4}", f1.value(&sweep.at(0.5)));
    println!("f1 at the best threshold, {:.4}: {:.4}", best.threshold, best.value);
    Ok(())
}
