//! The training loop of a network: takes steps, validates and keeps the best weights, as a [`Course`] decides.

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

/// Trains a network. After every epoch `watch` receives its number within the phase and its losses, and may stop the training, which then
/// returns the best weights so far. A training that learns nothing is repeated with new initial weights, and its epochs are numbered from 0
/// again.
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
    /// Cross-entropy, for the warm-up.
    warm_up: Option<Objective>,
    network: Network,
    outputs: usize,
    engine: Engine,
    optimiser: OptimiserState,
    random: Xoshiro256PlusPlus,
    order: Vec<u32>,
    batch: Batch,
    gradient: Vec<f32>,
    /// The best parameters of the phase.
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

    /// Draws new initial weights, and moves the first predictions inside the supports of the priors if asked to.
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

    /// Begins a phase with a new optimiser; returns the validation loss.
    fn start_phase(&mut self, phase: Phase) -> Result<f64> {
        self.optimiser = OptimiserState::new(self.settings.optimiser, &self.network, self.settings.weight_decay);
        self.save_best();
        self.validate(phase).map(|(loss, _)| loss).map_err(|error| self.explain(error))
    }

    fn save_best(&mut self) {
        self.best.copy_from_slice(&self.network.parameters);
    }

    /// One epoch; `None` if it leads to numbers that are not finite.
    fn epoch(&mut self, phase: Phase, learning_rate: f32) -> Result<Option<Epoch>> {
        let Some(training) = finite(self.steps(phase, learning_rate))? else { return Ok(None) };
        // The weights are checked themselves: ReLU turns a NaN into 0, so the loss need not show it.
        if !self.network.parameters.iter().all(|parameter| parameter.is_finite()) {
            return Ok(None);
        }
        let Some((validation, coverage)) = finite(self.validate(phase))? else { return Ok(None) };
        Ok(Some(Epoch { phase, training, validation, coverage }))
    }

    /// Takes the steps of an epoch; returns the mean of their losses.
    fn steps(&mut self, phase: Phase, learning_rate: f32) -> scorewise::Result<f64> {
        let Sample { matrix, labels, weights, .. } = *self.sample;
        let size = self.settings.batch.rows(self.order.len());
        let objective = match (phase, &self.warm_up) {
            (Phase::WarmUp, Some(cross_entropy)) => cross_entropy,
            _ => self.objective,
        };
        // A batch of all rows gives the same gradient in any order, and is fastest in the order of memory.
        if size < self.order.len() {
            shuffle(&mut self.order, &mut self.random);
        }
        let (mut sum, mut count) = (0.0, 0);
        let mut batches = self.order.chunks(size).peekable();
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

    /// Loss of the validation rows, and the share of their predictions inside the supports of the priors.
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

    /// Moves the output biases so that the best thresholds of the validation rows, or of all rows, lie at the means of the priors.
    ///
    /// With one logit this is exact: σ(z) > τ* becomes σ(z − logit τ* + logit E τ) > E τ. With a logit for each class the log-odds of a
    /// class depend on all biases, so the move is an approximation and is undone if the loss of the score does not fall. A score of the
    /// whole matrix has no thresholds, and nothing is moved.
    ///
    /// With few events the best threshold lies next to one of them by chance. The loss averages over the prior, so a `steady` warm start
    /// moves the only bias on to where the loss is lowest.
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
            // The best threshold may be 0 or 1, whose log-odds are infinite; f32 does not distinguish probabilities closer to them than this.
            let threshold = best.threshold.clamp(1e-7, 1.0 - 1e-7);
            self.network.parameters[last.biases + class] += (log_odds(prior.mean()) - log_odds(threshold)) as f32;
        }
        if warm.steady && self.outputs == 1 {
            let moved = self.network.parameters[last.biases] - old[0];
            self.network.parameters[last.biases] += self.batch.lowest_shift(objective, moved)?;
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

    /// The error message if the loss before the first epoch cannot be computed.
    fn explain(&self, error: scorewise::Error) -> Error {
        if self.batch.logits.iter().all(|logit| logit.is_finite()) {
            return error.into(); // the settings are wrong, and the error says so
        }
        let hint = "features must be numbers of a moderate size; standardise them";
        Error::setting("features", "the network's first outputs are not finite", hint)
    }
}

/// `None` if the loss cannot be computed because the network's outputs are not finite.
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
