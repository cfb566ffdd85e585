//! Measures the training time of scorewise for the comparison in `bench/train_peers.py`. The program reads tables that Python has written.
//! Every line of standard input is a command; the program runs it once, and prints its duration in seconds and the resulting validation loss.

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use scorewise::{Logits, Rows, Score, ScoreLoss};
use scorewise_train::Matrix;
use scorewise_train::network::{Adam, Engine, Network, NetworkShape};

/// A result with any type of error.
type AnyResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> AnyResult<()> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("usage: time_epochs FOLDER, with the folder that bench/train_peers.py has written")?;
    let mut tables: BTreeMap<String, TimingTable> = BTreeMap::new();
    let mut trainings: BTreeMap<String, TimedTraining> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = *words.get(1).ok_or("the name of the table is missing")?;
        if !tables.contains_key(name) {
            tables.insert(name.into(), TimingTable::read(&folder, name)?);
        }
        let table = &tables[name];
        let (seconds, loss) = match words.as_slice() {
            // Trains one more epoch of a single network on one thread.
            ["epoch", _, batch] => {
                let training = trainings.entry(line.clone()).or_insert_with(|| TimedTraining::new(table, 1, 1));
                let (start, batch) = (Instant::now(), batch.parse()?);
                let loss = training.epoch(table, batch)?;
                (start.elapsed().as_secs_f64(), loss)
            }
            // Trains independent networks from scratch, as many at a time as there are threads.
            ["members", _, batch, members, epochs, threads] => {
                let (batch, members, epochs): (usize, u32, usize) = (batch.parse()?, members.parse()?, epochs.parse()?);
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?).build()?;
                let start = Instant::now();
                let losses = pool.install(|| {
                    (0..members)
                        .into_par_iter()
                        .with_max_len(1)
                        .map(|seed| {
                            let mut training = TimedTraining::new(table, u64::from(seed), 1);
                            (0..epochs).try_fold(0.0, |_, _| training.epoch(table, batch))
                        })
                        .collect::<AnyResult<Vec<f64>>>()
                })?;
                (start.elapsed().as_secs_f64(), losses.iter().sum::<f64>() / f64::from(members))
            }
            // Trains one more epoch of a single network on several threads, with all rows in one batch.
            ["full", _, threads] => {
                let threads = threads.parse()?;
                let training = trainings.entry(line.clone()).or_insert_with(|| TimedTraining::new(table, 1, threads));
                let start = Instant::now();
                let loss = training.epoch(table, table.training_rows)?;
                (start.elapsed().as_secs_f64(), loss)
            }
            _ => {
                let commands =
                    "`epoch TABLE BATCH`, `members TABLE BATCH MEMBERS EPOCHS THREADS` or `full TABLE THREADS`";
                return Err(format!("`{line}` is not a command: write {commands}").into());
            }
        };
        println!("{seconds} {loss}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// A table whose first `training_rows` rows are training rows; the other rows are validation rows.
struct TimingTable {
    matrix: Matrix,
    labels: Vec<bool>,
    training_rows: usize,
    shape: NetworkShape,
    loss: ScoreLoss,
}

impl TimingTable {
    /// Reads three files from the folder: NAME.txt (number of columns, number of training rows, hidden widths, score, prior), NAME.f32 (features) and
    /// NAME.u8 (labels).
    fn read(folder: &str, name: &str) -> AnyResult<Self> {
        let path = |extension: &str| Path::new(folder).join(format!("{name}.{extension}"));
        let words = std::fs::read_to_string(path("txt"))?;
        let [columns, training_rows, hidden, score, prior] = words.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err(format!("{name}.txt must contain columns, training rows, widths, score and prior").into());
        };
        let values: Vec<f32> = std::fs::read(path("f32"))?
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]))
            .collect();
        let hidden = hidden.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
        let columns = columns.parse()?;
        Ok(TimingTable {
            matrix: Matrix::new(columns, &values).ok_or("the last row of the .f32 file is incomplete")?,
            labels: std::fs::read(path("u8"))?.iter().map(|byte| *byte != 0).collect(),
            training_rows: training_rows.parse()?,
            shape: NetworkShape::new(columns, &hidden, 1).ok_or("every layer needs a width of at least 1")?,
            loss: ScoreLoss::new(Score::parse(score)?, prior.parse()?),
        })
    }
}

/// A network in training, with its optimiser and buffers.
struct TimedTraining {
    network: Network,
    engine: Engine,
    adam: Adam,
    order: Vec<u32>,
    random: u64,
    gradient: Vec<f32>,
    logits: Vec<f32>,
    logit_gradient: Vec<f32>,
    labels: Vec<bool>,
}

impl TimedTraining {
    /// Creates a network with random initial weights for this table, and the optimiser and buffers that train it.
    fn new(table: &TimingTable, seed: u64, threads: usize) -> Self {
        let network = Network::glorot(table.shape.clone(), seed);
        let rows = table.labels.len();
        TimedTraining {
            engine: Engine::new(&table.shape).with_threads(threads),
            adam: Adam::new(&network),
            order: (0..rows as u32).collect(),
            random: seed,
            gradient: vec![0.0; network.parameters.len()],
            logits: vec![0.0; rows],
            logit_gradient: vec![0.0; rows],
            labels: vec![false; rows],
            network,
        }
    }

    /// Runs one epoch: takes an optimiser step for each batch, and returns the loss of the validation rows. If there are several batches, the
    /// training rows are shuffled first. `batch` is the number of rows in a batch.
    fn epoch(&mut self, table: &TimingTable, batch: usize) -> AnyResult<f64> {
        let TimedTraining { network, engine, adam, order, random, gradient, logits, logit_gradient, labels } = self;
        let (training, validation) = order.split_at_mut(table.training_rows);
        if batch < training.len() {
            for index in (1..training.len()).rev() {
                *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                training.swap(index, ((u128::from(*random) * (index as u128 + 1)) >> 64) as usize);
            }
        }
        for first in (0..training.len()).step_by(batch) {
            let (now, later) = training[first..].split_at(batch.min(training.len() - first));
            let (logits, logit_gradient) = (&mut logits[..now.len()], &mut logit_gradient[..now.len()]);
            for (label, row) in labels.iter_mut().zip(now) {
                *label = table.labels[*row as usize];
            }
            engine.forward(network, &table.matrix, now, logits);
            table.loss.value_and_gradient(&Rows::new(Logits(logits), &labels[..now.len()])?, logit_gradient)?;
            engine.prefetch(&table.matrix, later);
            engine.backward(network, logit_gradient, gradient);
            adam.step(&mut network.parameters, gradient, 1e-3);
        }
        let logits = &mut logits[..validation.len()];
        engine.predict(network, &table.matrix, validation, logits);
        Ok(table.loss.value(&Rows::new(Logits(logits), &table.labels[table.training_rows..])?)?)
    }
}
