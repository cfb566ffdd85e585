//! The training loop of a network: takes optimiser steps, computes the validation loss and saves the best weights. A [`Course`] decides what
//! comes next.

use std::ops::ControlFlow;

use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{Purpose, stream};

use super::engine::Engine;
use super::optimiser::OptimiserState;
use super::settings::{NetworkSettings, WarmStart};
use super::{Network, NetworkShape, centre, coverage, log_odds};
use crate::fit::{Action, Batch, Course, Epoch, Fit, Objective, Phase, Sample};
use crate::learner::Member;
use scorewise_table::error::{Error, Result};
use scorewise_table::split::{random, shuffle};

/// Trains a network. After every epoch, `watch` receives the number of the epoch within its phase and the losses. If `watch` stops the
/// training, the best weights so far are returned. An attempt that learns nothing is repeated with new initial weights, and its epochs are
/// numbered from 0 again.
///
/// Large batches are divided among `threads`. The same seed gives the same bits for any number of threads.
pub fn fit(
    settings: &NetworkSettings,
    objective: &Objective,
    seed: u64,
    sample: &Sample<'_>,
    threads: usize,
    watch: &mut dyn FnMut(usize, &Epoch) -> ControlFlow<()>,
) -> Result<Fit> {
    settings.check(objective)?;
    sample.check()?;
    let outputs = objective.outputs(sample.classes);
    let shape = settings.shape(sample.matrix.columns(), outputs)?;
    let mut course = Course::new(settings.policy(objective, outputs));
    let mut training = NetworkTraining::new(&shape, sample, settings, objective, threads);
    loop {
        match course.action() {
            Action::Initialise { restart, centre } => {
                training.initialise(stream(seed, Purpose::Restart, restart as u64), centre);
                course.initialised();
            }
            Action::StartPhase(phase) => {
                let loss = training.start_phase(phase)?;
                course.phase_started(loss);
            }
            Action::TrainEpoch { phase, learning_rate } => match training.epoch(phase, learning_rate)? {
                Some(epoch) => {
                    let stop = watch(course.epoch_number(), &epoch).is_break();
                    if course.record(epoch, stop) {
                        training.save_best();
                    }
                }
                None => course.diverged(),
            },
            Action::RestoreBest => {
                training.network.parameters.copy_from_slice(&training.best);
                course.restored();
            }
            Action::MoveBias => {
                if let Some(warm) = settings.warm_start_for(objective, outputs) {
                    training.move_biases(&warm)?;
                }
                course.bias_moved();
            }
            Action::CheckOneSided => {
                let one_sided = training.is_one_sided()?;
                course.checked(one_sided);
            }
            Action::Finish => return Ok(Fit::new(Member::Network(training.network), course.summary())),
        }
    }
}

/// A network in training, with the buffers that every batch uses.
struct NetworkTraining<'a> {
    sample: &'a Sample<'a>,
    settings: &'a NetworkSettings,
    objective: &'a Objective,
    /// The loss of the warm-up, which is cross-entropy; `None` if the objective is itself a cross-entropy.
    warm_up: Option<Objective>,
    network: Network,
    outputs: usize,
    engine: Engine,
    optimiser: OptimiserState,
    random: Xoshiro256PlusPlus,
    order: Vec<u32>,
    batch: Batch,
    gradient: Vec<f32>,
    /// The best parameters of the current phase so far.
    best: Vec<f32>,
}

impl<'a> NetworkTraining<'a> {
    fn new(
        shape: &NetworkShape,
        sample: &'a Sample<'a>,
        settings: &'a NetworkSettings,
        objective: &'a Objective,
        threads: usize,
    ) -> Self {
        let network = Network::glorot(shape.clone(), 0);
        NetworkTraining {
            sample,
            settings,
            objective,
            warm_up: objective.warm_up(),
            outputs: shape.outputs(),
            engine: Engine::new(shape).with_threads(threads),
            optimiser: OptimiserState::new(settings.optimiser, &network, settings.weight_decay),
            random: random(0, Purpose::BatchOrder, 0),
            order: Vec::new(),
            batch: Batch::default(),
            gradient: vec![0.0; network.parameters.len()],
            best: network.parameters.clone(),
            network,
        }
    }

    /// Draws new initial weights. If `centre_predictions` is set, the output layer is changed so that the first predictions lie inside the
    /// supports of the priors.
    fn initialise(&mut self, seed: u64, centre_predictions: bool) {
        self.network = Network::glorot(self.network.shape().clone(), seed);
        self.random = random(seed, Purpose::BatchOrder, 0);
        self.order.clear();
        self.order.extend(self.sample.training);
        if centre_predictions {
            let priors = self.objective.priors();
            centre(&mut self.network, priors, &mut self.engine, self.sample.matrix, self.sample.training);
        }
    }

    fn objective(&self, phase: Phase) -> &Objective {
        match (phase, &self.warm_up) {
            (Phase::WarmUp, Some(cross_entropy)) => cross_entropy,
            _ => self.objective,
        }
    }

    /// Begins a phase with a new optimiser. Returns the validation loss of the current weights.
    fn start_phase(&mut self, phase: Phase) -> Result<f64> {
        self.optimiser = OptimiserState::new(self.settings.optimiser, &self.network, self.settings.weight_decay);
        self.save_best();
        self.validate(phase).map(|(loss, _)| loss).map_err(|error| self.explain(error))
    }

    fn save_best(&mut self) {
        self.best.copy_from_slice(&self.network.parameters);
    }

    /// Trains one epoch; `None` if a loss or a weight is not finite afterwards.
    fn epoch(&mut self, phase: Phase, learning_rate: f32) -> Result<Option<Epoch>> {
        let Some(training) = finite(self.steps(phase, learning_rate))? else { return Ok(None) };
        // The weights are checked too, because ReLU turns NaN into 0, so that the loss may be finite although a weight is not.
        if !self.network.parameters.iter().all(|parameter| parameter.is_finite()) {
            return Ok(None);
        }
        let Some((validation, coverage)) = finite(self.validate(phase))? else { return Ok(None) };
        Ok(Some(Epoch { phase, training, validation, coverage }))
    }

    /// Takes the optimiser steps of an epoch. Returns the mean loss of the batches.
    fn steps(&mut self, phase: Phase, learning_rate: f32) -> scorewise::Result<f64> {
        let Sample { matrix, labels, weights, .. } = *self.sample;
        let batch_size = self.settings.batch.rows(self.order.len());
        let objective = match (phase, &self.warm_up) {
            (Phase::WarmUp, Some(cross_entropy)) => cross_entropy,
            _ => self.objective,
        };
        // If a batch contains all rows, their order does not affect the gradient. The order of memory is the fastest, so nothing is shuffled.
        if batch_size < self.order.len() {
            shuffle(&mut self.order, &mut self.random);
        }
        let (mut sum, mut count) = (0.0, 0);
        let mut batches = self.order.chunks(batch_size).peekable();
        while let Some(rows) = batches.next() {
            self.batch.gather(labels, weights, rows, self.outputs);
            self.engine.forward(&self.network, matrix, rows, &mut self.batch.logits);
            sum += objective.value_and_gradient(&mut self.batch)?;
            count += 1;
            self.engine.prefetch(matrix, batches.peek().copied().unwrap_or_default());
            self.engine.backward(&self.network, &self.batch.gradient, &mut self.gradient);
            self.optimiser.step(&mut self.network.parameters, &self.gradient, learning_rate);
        }
        Ok(sum / f64::from(count))
    }

    /// The loss of the validation rows, and the share of their predictions that lie inside the supports of the priors.
    fn validate(&mut self, phase: Phase) -> scorewise::Result<(f64, f64)> {
        self.predict_validation();
        let objective = self.objective(phase);
        Ok((objective.value(&self.batch)?, coverage(objective.priors(), &self.batch.logits, self.outputs)))
    }

    fn predict_validation(&mut self) {
        self.predict(self.sample.validation);
    }

    fn predict(&mut self, rows: &[u32]) {
        let Sample { matrix, labels, weights, .. } = *self.sample;
        self.batch.gather(labels, weights, rows, self.outputs);
        self.engine.predict(&self.network, matrix, rows, &mut self.batch.logits);
    }

    /// Changes the output biases so that the best thresholds on the validation rows, or on all rows, lie at the means of the priors.
    ///
    /// With one logit z this is exact: σ(z) > τ* becomes σ(z − logit τ* + logit E τ) > E τ, where τ* is the best threshold and E τ the mean of
    /// the prior. With one logit for each class, the log-odds of a class depend on all biases, so the change is an approximation; it is undone if
    /// it does not reduce the loss. A score of the whole confusion matrix has no thresholds, so nothing is changed.
    ///
    /// With few events, the position of the best threshold depends by chance on a single event. The loss depends less on chance, because it
    /// averages over the prior. So a `steady` warm start then changes the bias of the single logit to the value at which the loss is lowest.
    fn move_biases(&mut self, warm: &WarmStart) -> Result<()> {
        let objective = self.objective;
        let (Some(score), priors) = (objective.score(), objective.priors()) else { return Ok(()) };
        let Some(last) = self.network.shape().layers().last().copied() else { return Ok(()) };
        let (before, _) = self.validate(Phase::Main)?;
        if warm.on_all {
            self.predict(&[self.sample.training, self.sample.validation].concat());
        }
        let old = self.network.parameters[last.biases..last.biases + self.outputs].to_vec();
        for class in 0..self.outputs {
            let Some(prior) = priors.get(class).or(priors.first()) else { continue };
            let Some(best) = self.batch.best_threshold(score, class)? else { continue };
            // The log-odds of the thresholds 0 and 1 are infinite, so the threshold is kept 1e-7 away from both. f32 numbers just below 1 are about
            // 6e-8 apart.
            let threshold = best.threshold.clamp(1e-7, 1.0 - 1e-7);
            self.network.parameters[last.biases + class] += (log_odds(prior.mean()) - log_odds(threshold)) as f32;
        }
        if warm.steady && self.outputs == 1 {
            let moved = self.network.parameters[last.biases] - old[0];
            self.network.parameters[last.biases] += self.batch.shift_with_lowest_loss(objective, moved)?;
        }
        if self.outputs > 1 && self.validate(Phase::Main)?.0 >= before {
            self.network.parameters[last.biases..last.biases + self.outputs].copy_from_slice(&old);
        }
        Ok(())
    }

    /// Whether all validation rows get the same label.
    fn is_one_sided(&mut self) -> Result<bool> {
        self.predict_validation();
        Ok(self.objective.is_one_sided(&self.batch)?)
    }

    /// Explains the error if the loss before the first epoch cannot be computed.
    fn explain(&self, error: scorewise::Error) -> Error {
        if self.batch.logits.iter().all(|logit| logit.is_finite()) {
            return error.into(); // The network's outputs are fine, so a setting is wrong, and the error names it.
        }
        let hint = "features must be numbers of a moderate size; standardise them";
        Error::setting("features", "the network's first outputs are not finite", hint)
    }
}

/// Turns an error into `None` if the loss could not be computed because the network's outputs are not finite. Other errors are returned.
fn finite<T>(result: scorewise::Result<T>) -> scorewise::Result<Option<T>> {
    use scorewise::Error::{Logit, NotANumber, NotFinite};
    match result {
        Ok(value) => Ok(Some(value)),
        Err(NotANumber { .. } | Logit { .. } | NotFinite { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;
    use scorewise::{CrossEntropy, Loss};

    use super::*;
    use scorewise_table::Matrix;

    #[test]
    fn batch_order_shares_no_random_numbers_with_any_other_purpose() {
        let (matrix, rows) = (Matrix::new(1, &[0.0, 1.0]).unwrap(), [0, 1]);
        let sample =
            Sample { matrix: &matrix, labels: &[0, 1], classes: 2, weights: None, training: &rows, validation: &rows };
        let shape = NetworkShape::new(1, &[], 1).unwrap();
        let (settings, objective) = (NetworkSettings::default(), Loss::CrossEntropy(CrossEntropy::plain()).into());
        for seed in [0, 1, u64::MAX] {
            let member = stream(seed, Purpose::Member, 0);
            let start = stream(member, Purpose::Restart, 0);
            let mut training = NetworkTraining::new(&shape, &sample, &settings, &objective, 1);
            training.initialise(start, false);
            let order = training.random.next_u64();
            for purpose in Purpose::ALL {
                for from in [seed, member, start] {
                    let is_itself = from == start && *purpose == Purpose::BatchOrder;
                    for number in u64::from(is_itself)..100 {
                        let other = random(from, *purpose, number).next_u64();
                        assert_ne!(order, other, "seed {seed}: {} {number}", purpose.name());
                    }
                }
            }
        }
    }
}
