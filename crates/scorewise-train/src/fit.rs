//! FIT: epochs of steps, early stopping on the validation loss, and a history of what happened.

use std::ops::ControlFlow;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{Error, Logits, Loss, Prior, Result, Rows, stream};

use crate::engine::{Engine, Matrix};
use crate::net::{Network, Shape};
use crate::optim::Adam;
use crate::start::{centre, coverage};

/// Which weights a training leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Those of the epoch with the lowest validation loss.
    Best,
    /// Those of the last epoch: what the paper did.
    Last,
}

/// How to train.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// What is minimised.
    pub loss: Loss,
    /// Rows of a step; all of them where nothing is said.
    pub batch: Option<usize>,
    /// The learning rate; 1e-3 is Adam's usual one.
    pub rate: f32,
    /// Decoupled weight decay.
    pub decay: f32,
    /// Epochs at the most.
    pub epochs: usize,
    /// Epochs without a lower validation loss after which training stops.
    pub patience: usize,
    /// Which weights are left.
    pub keep: Keep,
    /// Whether the first predictions are put inside the prior's support, and a dead start is tried again.
    pub cure: bool,
    /// Where the randomness starts: first weights and the order of the rows.
    pub seed: u64,
}

impl Settings {
    /// The paper's set-up for this loss, with the cure: batches of 64, rate 1e-3, 500 epochs, patience 30.
    #[must_use]
    pub fn new(loss: Loss) -> Self {
        Settings {
            loss,
            batch: Some(64),
            rate: 1e-3,
            decay: 0.0,
            epochs: 500,
            patience: 30,
            keep: Keep::Best,
            cure: true,
            seed: 0,
        }
    }
}

/// What happened in one epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// The mean loss of its steps, each before it was taken.
    pub training: f64,
    /// The loss of the validation rows after it.
    pub validation: f64,
    /// The share of the validation predictions inside the prior's support: at 0 nothing moves any more.
    pub coverage: f64,
}

/// A trained network and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The network that is kept.
    pub network: Network,
    /// Epoch by epoch.
    pub history: Vec<Epoch>,
    /// The epoch whose weights are kept, from 0.
    pub kept: usize,
    /// Whether anything was learnt: the validation loss fell below that of the first weights.
    pub success: bool,
    /// How many dead starts came before this one.
    pub restarts: usize,
}

/// The data of a training: a matrix with its labels, and which rows are for steps and which for validation.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The features.
    pub matrix: &'a Matrix,
    /// One label a row of the matrix.
    pub labels: &'a [bool],
    /// One weight a row of the matrix, where there are any.
    pub weights: Option<&'a [f32]>,
    /// Rows to learn from.
    pub training: &'a [u32],
    /// Rows to stop by.
    pub validation: &'a [u32],
}

/// Starts that stay dead before the last one is taken as it is.
const STARTS: usize = 5;
/// Epochs in which a start must move.
const SIGN_OF_LIFE: usize = 3;

/// Trains a network. After every epoch `watch` sees it and may end the training; what was best so far is kept.
pub fn fit(
    shape: &Shape,
    sample: &Sample<'_>,
    settings: &Settings,
    mut watch: impl FnMut(usize, &Epoch) -> ControlFlow<()>,
) -> Result<Fit> {
    check(shape, sample, settings)?;
    let mut restarts = 0;
    loop {
        let mut training = Training::new(shape, sample, settings, restarts);
        let dead = training.run(&mut watch, settings.cure && restarts + 1 < STARTS)?;
        if !dead {
            return Ok(training.finish(restarts));
        }
        restarts += 1;
    }
}

fn check(shape: &Shape, sample: &Sample<'_>, settings: &Settings) -> Result<()> {
    let refuse = |what: &'static str, reason: String| Err(Error::Setting { what, reason });
    let rows = sample.matrix.rows();
    if shape.widths()[0] != sample.matrix.columns() {
        return refuse("network", format!("has {} inputs for {} features", shape.widths()[0], sample.matrix.columns()));
    }
    if sample.labels.len() != rows {
        return Err(Error::LengthMismatch { what: "labels", expected: rows, got: sample.labels.len() });
    }
    if let Some(weights) = sample.weights.filter(|weights| weights.len() != rows) {
        return Err(Error::LengthMismatch { what: "weights", expected: rows, got: weights.len() });
    }
    if sample.training.is_empty() || sample.validation.is_empty() {
        return Err(Error::Empty);
    }
    if let Some(row) = sample.training.iter().chain(sample.validation).find(|row| **row as usize >= rows) {
        return refuse("rows", format!("must lie below {rows}, and {row} does not"));
    }
    if settings.batch == Some(0) || settings.epochs == 0 {
        return refuse("batch and epochs", "must be at least 1".into());
    }
    if !(settings.rate > 0.0 && settings.rate.is_finite() && settings.decay >= 0.0 && settings.decay.is_finite()) {
        return refuse(
            "rate and decay",
            format!("must be above 0 and not below 0, not {} and {}", settings.rate, settings.decay),
        );
    }
    Ok(())
}

/// One start of a training.
struct Training<'a> {
    sample: &'a Sample<'a>,
    settings: &'a Settings,
    network: Network,
    engine: Engine,
    adam: Adam,
    random: Xoshiro256PlusPlus,
    order: Vec<u32>,
    rows: Gathered,
    gradient: Vec<f32>,
    history: Vec<Epoch>,
    /// The validation loss of the first weights.
    first: f64,
    best: Option<(usize, f64, Vec<f32>)>,
}

/// The rows of a batch, put together.
#[derive(Default)]
struct Gathered {
    logits: Vec<f32>,
    slopes: Vec<f32>,
    labels: Vec<bool>,
    weights: Vec<f32>,
}

impl Gathered {
    fn take(&mut self, sample: &Sample<'_>, rows: &[u32]) {
        self.logits.resize(rows.len(), 0.0);
        self.slopes.resize(rows.len(), 0.0);
        self.labels.clear();
        self.labels.extend(rows.iter().map(|row| sample.labels[*row as usize]));
        self.weights.clear();
        self.weights.extend(sample.weights.iter().flat_map(|weights| rows.iter().map(|row| weights[*row as usize])));
    }

    /// The rows as a loss takes them, and where their slopes go.
    fn parts(&mut self) -> Result<(Rows<'_, Logits<'_, f32>>, &mut [f32])> {
        let rows = Rows::new(Logits(&self.logits), &self.labels)?;
        let rows = if self.weights.is_empty() { rows } else { rows.weighted(&self.weights)? };
        Ok((rows, &mut self.slopes))
    }
}

impl<'a> Training<'a> {
    fn new(shape: &Shape, sample: &'a Sample<'a>, settings: &'a Settings, restarts: usize) -> Self {
        // Each start has its own streams, one for the weights and one for the order of the rows.
        let start = stream(settings.seed, restarts as u64);
        let mut network = Network::glorot(shape.clone(), stream(start, 0));
        let mut engine = Engine::new(shape);
        if let (true, Some(prior)) = (settings.cure, prior(&settings.loss)) {
            centre(&mut network, prior, &mut engine, sample.matrix, sample.training);
        }
        let mut adam = Adam::new(&network);
        adam.decay = settings.decay;
        Training {
            sample,
            settings,
            engine,
            adam,
            random: Xoshiro256PlusPlus::seed_from_u64(stream(start, 1)),
            order: sample.training.to_vec(),
            rows: Gathered::default(),
            gradient: vec![0.0; network.parameters.len()],
            history: Vec::new(),
            first: f64::NAN,
            best: None,
            network,
        }
    }

    /// Runs to the end; true where the start is dead and may be given up.
    fn run(&mut self, watch: &mut impl FnMut(usize, &Epoch) -> ControlFlow<()>, may_give_up: bool) -> Result<bool> {
        self.first = self.validation()?.0;
        for number in 0..self.settings.epochs {
            let training = self.steps()?;
            let (validation, coverage) = self.validation()?;
            let epoch = Epoch { training, validation, coverage };
            self.history.push(epoch);
            if self.best.as_ref().is_none_or(|(_, lowest, _)| validation < *lowest) {
                self.best = Some((number, validation, self.network.parameters.clone()));
            }
            let unmoved = self.history.iter().all(|epoch| epoch.validation == self.first);
            if may_give_up && number + 1 == SIGN_OF_LIFE && unmoved {
                return Ok(true);
            }
            let best = self.best.as_ref().map_or(0, |(best, ..)| *best);
            if watch(number, &epoch).is_break() || number - best >= self.settings.patience {
                break;
            }
        }
        Ok(false)
    }

    /// One epoch of steps; the mean of their losses.
    fn steps(&mut self) -> Result<f64> {
        for at in (1..self.order.len()).rev() {
            let other = ((u128::from(self.random.next_u64()) * (at as u128 + 1)) >> 64) as usize;
            self.order.swap(at, other);
        }
        let batch = self.settings.batch.unwrap_or(self.order.len());
        let (mut sum, mut count) = (0.0, 0);
        for order in self.order.chunks(batch) {
            self.rows.take(self.sample, order);
            self.engine.forward(&self.network, self.sample.matrix, order, &mut self.rows.logits);
            let (rows, slopes) = self.rows.parts()?;
            sum += self.settings.loss.value_and_gradient(&rows, slopes)?;
            count += 1;
            self.engine.backward(&self.network, &self.rows.slopes, &mut self.gradient);
            self.adam.step(&mut self.network.parameters, &self.gradient, self.settings.rate);
        }
        Ok(sum / f64::from(count))
    }

    /// The loss of the validation rows, and their coverage of the prior's support.
    fn validation(&mut self) -> Result<(f64, f64)> {
        self.rows.take(self.sample, self.sample.validation);
        self.engine.forward(&self.network, self.sample.matrix, self.sample.validation, &mut self.rows.logits);
        let value = self.settings.loss.value(&self.rows.parts()?.0)?;
        let coverage = prior(&self.settings.loss).map_or(1.0, |prior| coverage(prior, &self.rows.logits));
        Ok((value, coverage))
    }

    fn finish(self, restarts: usize) -> Fit {
        let Training { mut network, history, first, best, settings, .. } = self;
        let mut kept = history.len().saturating_sub(1);
        let success = history.iter().any(|epoch| epoch.validation < first);
        if let (Keep::Best, Some((number, _, parameters))) = (settings.keep, best) {
            (kept, network.parameters) = (number, parameters);
        }
        Fit { network, history, kept, success, restarts }
    }
}

/// The prior of a loss that has one.
fn prior(loss: &Loss) -> Option<&Prior> {
    match loss {
        Loss::Score(loss) => Some(loss.prior()),
        Loss::Exact(loss) => Some(loss.prior()),
        _ => None,
    }
}
