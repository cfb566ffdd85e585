//! The loop: steps, validation, best weights. Made once for a start; its buffers are used by every batch.

use std::ops::ControlFlow;

use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::Purpose;

use super::batch::Batch;
use super::objective::Objective;
use super::optimiser::Optimiser;
use super::settings::{Keep, Settings, WarmStart};
use super::{Epoch, Outcome, Phase, Sample};
use crate::engine::Engine;
use crate::net::{Network, Shape};
use crate::start::{centre, coverage, log_odds};
use scorewise_table::error::{Error, Result};
use scorewise_table::split::{random, shuffle};

/// Epochs in which a start must move.
const SIGN_OF_LIFE: usize = 3;

/// What one run of the loop is to do.
pub(super) struct Plan<'a> {
    objective: &'a Objective,
    phase: Phase,
    rate: f32,
    pub epochs: usize,
    patience: usize,
    /// Whether to end where nothing moves.
    may_give_up: bool,
    /// Whether the weights it begins with are worth keeping.
    start_counts: bool,
}

impl<'a> Plan<'a> {
    pub fn new(settings: &'a Settings, may_give_up: bool) -> Self {
        Plan {
            objective: &settings.objective,
            phase: Phase::Main,
            rate: settings.learning_rate,
            epochs: settings.epochs,
            patience: settings.patience,
            may_give_up,
            start_counts: false,
        }
    }

    pub fn warm_up(settings: &Settings, warm: &WarmStart, objective: &'a Objective, may_give_up: bool) -> Self {
        Plan {
            objective,
            phase: Phase::WarmUp,
            rate: settings.learning_rate,
            epochs: warm.epochs.unwrap_or(settings.epochs),
            patience: warm.patience.unwrap_or(settings.patience),
            may_give_up,
            start_counts: false,
        }
    }

    /// The same from where a warm-up led: slower, and that it does not move is no failure.
    pub fn after(self, warm: &WarmStart) -> Self {
        Plan { rate: warm.slower * self.rate, may_give_up: false, start_counts: true, ..self }
    }
}

/// What came of it.
pub(super) struct Run {
    /// The validation loss of the weights it began with.
    pub first: f64,
    pub history: Vec<Epoch>,
    pub kept: Option<usize>,
    pub outcome: Outcome,
    /// Whether it was given up because nothing moved.
    pub is_dead: bool,
}

impl Default for Run {
    fn default() -> Self {
        Run { first: f64::NAN, history: Vec::new(), kept: None, outcome: Outcome::Epochs, is_dead: false }
    }
}

impl Run {
    /// Whether the validation loss ever fell below the first.
    pub fn fell(&self) -> bool {
        self.history.iter().any(|epoch| epoch.validation < self.first)
    }

    fn is_unmoved(&self) -> bool {
        self.history.iter().all(|epoch| epoch.validation == self.first)
    }
}

/// A network in training.
pub(super) struct Training<'a> {
    sample: &'a Sample<'a>,
    settings: &'a Settings,
    pub network: Network,
    outputs: usize,
    engine: Engine,
    random: Xoshiro256PlusPlus,
    order: Vec<u32>,
    batch: Batch,
    gradient: Vec<f32>,
    /// The best parameters of a run.
    best: Vec<f32>,
}

impl<'a> Training<'a> {
    pub fn new(shape: &Shape, sample: &'a Sample<'a>, settings: &'a Settings, seed: u64) -> Self {
        let network = Network::glorot(shape.clone(), seed);
        Training {
            sample,
            settings,
            outputs: shape.widths().last().copied().unwrap_or(1),
            engine: Engine::new(shape).with_threads(settings.threads),
            random: random(seed, Purpose::BatchOrder, 0),
            order: sample.training.to_vec(),
            batch: Batch::default(),
            gradient: vec![0.0; network.parameters.len()],
            best: network.parameters.clone(),
            network,
        }
    }

    /// Puts the first predictions inside the supports of the objective's priors.
    pub fn centre(&mut self) {
        let priors = self.settings.objective.priors();
        centre(&mut self.network, priors, &mut self.engine, self.sample.matrix, self.sample.training);
    }

    /// Epochs until one of the reasons to end.
    pub fn run(&mut self, plan: &Plan<'_>, watch: &mut dyn FnMut(usize, &Epoch) -> ControlFlow<()>) -> Result<Run> {
        let mut optimiser = Optimiser::new(self.settings.method, &self.network, self.settings.weight_decay);
        let (first, _) = self.validate(plan.objective).map_err(|error| self.explained(error))?;
        let mut run = Run { first, ..Run::default() };
        self.best.copy_from_slice(&self.network.parameters);
        let mut lowest = if plan.start_counts { first } else { f64::INFINITY };
        for number in 0..plan.epochs {
            let Some(epoch) = self.epoch(plan, &mut optimiser)? else {
                run.outcome = Outcome::Diverged;
                break;
            };
            run.history.push(epoch);
            if epoch.validation < lowest {
                (lowest, run.kept) = (epoch.validation, Some(number));
                self.best.copy_from_slice(&self.network.parameters);
            }
            if watch(number, &epoch).is_break() {
                run.outcome = Outcome::Stopped;
                break;
            }
            if plan.may_give_up && number + 1 == SIGN_OF_LIFE && run.is_unmoved() {
                run.is_dead = true;
                break;
            }
            if number + 1 - run.kept.map_or(0, |kept| kept + 1) >= plan.patience {
                run.outcome = Outcome::Patience;
                break;
            }
        }
        if self.settings.keep == Keep::Last && run.outcome != Outcome::Diverged {
            run.kept = run.history.len().checked_sub(1);
        } else {
            self.network.parameters.copy_from_slice(&self.best);
        }
        Ok(run)
    }

    /// One epoch; nothing where it leads to numbers that are not finite.
    fn epoch(&mut self, plan: &Plan<'_>, optimiser: &mut Optimiser) -> Result<Option<Epoch>> {
        let Some(training) = finite(self.steps(plan, optimiser))? else { return Ok(None) };
        // Looked at itself: between layers a NaN may become a 0, and the loss would not show it.
        if !self.network.parameters.iter().all(|parameter| parameter.is_finite()) {
            return Ok(None);
        }
        let Some((validation, coverage)) = finite(self.validate(plan.objective))? else { return Ok(None) };
        Ok(Some(Epoch { phase: plan.phase, training, validation, coverage }))
    }

    /// The steps of an epoch; the mean of their losses.
    fn steps(&mut self, plan: &Plan<'_>, optimiser: &mut Optimiser) -> scorewise::Result<f64> {
        let Sample { matrix, labels, weights, .. } = *self.sample;
        let size = self.settings.batch.unwrap_or(usize::MAX).min(self.order.len());
        // One batch of all rows is the same in any order, and fastest in the order of the memory.
        if size < self.order.len() {
            shuffle(&mut self.order, &mut self.random);
        }
        let (mut sum, mut count) = (0.0, 0);
        let mut batches = self.order.chunks(size).peekable();
        while let Some(rows) = batches.next() {
            self.batch.take(labels, weights, rows, self.outputs);
            self.engine.forward(&self.network, matrix, rows, &mut self.batch.logits);
            sum += plan.objective.value_and_slopes(&mut self.batch)?;
            count += 1;
            self.engine.prefetch(matrix, batches.peek().copied().unwrap_or_default());
            self.engine.backward(&self.network, &self.batch.slopes, &mut self.gradient);
            optimiser.step(&mut self.network.parameters, &self.gradient, plan.rate);
        }
        Ok(sum / f64::from(count))
    }

    /// The loss of the validation rows, and their coverage of the priors' supports.
    fn validate(&mut self, objective: &Objective) -> scorewise::Result<(f64, f64)> {
        self.predict_validation();
        Ok((objective.value(&self.batch)?, coverage(objective.priors(), &self.batch.logits, self.outputs)))
    }

    fn predict_validation(&mut self) {
        self.predict(self.sample.validation);
    }

    fn predict(&mut self, rows: &[u32]) {
        let Sample { matrix, labels, weights, .. } = *self.sample;
        self.batch.take(labels, weights, rows, self.outputs);
        self.engine.predict(&self.network, matrix, rows, &mut self.batch.logits);
    }

    /// Moves the output biases so that the best thresholds of the validation rows, or of all, stand at the means of the priors.
    ///
    /// With one logit that is exact: σ(z) > τ* becomes σ(z − logit τ* + logit E τ) > E τ. With a logit for each class the log-odds of a
    /// class move by its own bias and, against it, by a mean of the others': an approximation, taken back where the loss of
    /// the score does not fall. A score of the whole matrix has no thresholds, and nothing is moved.
    ///
    /// Of few events the best threshold is a matter of chance: it stands beside one of them, and jumps to another when one is left out. The
    /// loss averages over the prior, so a `steady` warm start moves the only bias on from there to where the loss is lowest.
    pub fn move_biases(&mut self, warm: &WarmStart) -> Result<()> {
        let settings = self.settings;
        let (Some(score), priors) = (settings.objective.score(), settings.objective.priors()) else { return Ok(()) };
        let Some(last) = self.network.shape().layers().last().copied() else { return Ok(()) };
        let (before, _) = self.validate(&settings.objective)?;
        if warm.on_all {
            self.predict(&[self.sample.training, self.sample.validation].concat());
        }
        let old = self.network.parameters[last.biases..last.biases + self.outputs].to_vec();
        for class in 0..self.outputs {
            let Some(prior) = priors.get(class).or(priors.first()) else { continue };
            let Some(best) = self.batch.best_threshold(score, class)? else { continue };
            // Where all or none above the threshold is best it may stand at 0 or 1; farther than f32 can tell is far enough.
            let threshold = best.threshold.clamp(1e-7, 1.0 - 1e-7);
            self.network.parameters[last.biases + class] += (log_odds(prior.mean()) - log_odds(threshold)) as f32;
        }
        if warm.steady && self.outputs == 1 {
            let moved = self.network.parameters[last.biases] - old[0];
            self.network.parameters[last.biases] += self.batch.lowest_shift(&settings.objective, moved)?;
        }
        if self.outputs > 1 && self.validate(&settings.objective)?.0 >= before {
            self.network.parameters[last.biases..last.biases + self.outputs].copy_from_slice(&old);
        }
        Ok(())
    }

    /// Whether the network gives all validation rows the same answer.
    pub fn is_one_sided(&mut self) -> Result<bool> {
        self.predict_validation();
        Ok(self.settings.objective.is_one_sided(&self.batch)?)
    }

    /// What is wrong where the very first loss cannot be computed.
    fn explained(&self, error: scorewise::Error) -> Error {
        if self.batch.logits.iter().all(|logit| logit.is_finite()) {
            return error.into(); // of the settings, and it says so itself
        }
        let hint = "features must be numbers of a moderate size; standardise them";
        Error::setting("features", "the network's first outputs are not finite", hint)
    }
}

/// Nothing where a loss is not finite because the network's outputs are not.
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
    use scorewise::{CrossEntropy, Loss, stream};

    use super::*;
    use scorewise_table::Matrix;

    #[test]
    fn the_batch_order_of_a_member_is_that_of_no_split_no_replicate_and_no_first_weights() {
        let (matrix, rows) = (Matrix::new(1, &[0.0, 1.0]).unwrap(), [0, 1]);
        let sample = Sample { matrix: &matrix, labels: &[0, 1], weights: None, training: &rows, validation: &rows };
        let shape = Shape::new(1, &[], 1).unwrap();
        for seed in [0, 1, u64::MAX] {
            let member = stream(seed, Purpose::Member, 0);
            let settings = Settings { seed: member, ..Settings::new(Loss::CrossEntropy(CrossEntropy::plain())) };
            let start = stream(settings.seed, Purpose::Restart, 0);
            let order = Training::new(&shape, &sample, &settings, start).random.next_u64();
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
