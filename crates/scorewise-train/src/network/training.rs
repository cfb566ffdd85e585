//! The training loop of a network: takes optimiser steps, computes the validation loss and saves the best weights. A [`Course`] decides what
//! comes next.

use std::ops::ControlFlow;

use rand_xoshiro::Xoshiro256PlusPlus;
use scorewise::{Purpose, stream};

use super::engine::Engine;
use super::look_up::{LookUpParameters, LookUpTraining};
use super::optimiser::OptimiserState;
use super::settings::{NetworkSettings, WarmStart};
use super::time_blocks::{RowBatch, TimeBlocks};
use super::{Network, NetworkShape, centre, coverage, log_odds};
use crate::fit::{Action, Batch, Course, Epoch, Fit, Objective, Phase, Sample};
use crate::learner::Member;
use scorewise_table::AlignedBuffer;
use scorewise_table::error::{Error, Result};
use scorewise_table::split::{random, shuffle};

/// Trains a network. After every epoch, `watch` receives the number of the epoch within its phase (warm-up or main phase) and the losses. If
/// `watch` returns `Break`, the training ends with the weights that [`NetworkSettings::keep`] selects among the epochs so far. An attempt that learns
/// nothing is repeated with new initial weights, and the epochs of the new attempt are numbered from 0 again.
///
/// Large batches are divided among `threads` threads. The same seed gives bit-identical results for any number of threads.
pub fn fit(
    settings: &NetworkSettings,
    objective: &Objective,
    seed: u64,
    sample: &Sample<'_>,
    threads: usize,
    watch: &mut dyn FnMut(usize, &Epoch) -> ControlFlow<()>,
) -> Result<Fit> {
    let mut run = NetworkRun::new(settings, objective, seed, sample, threads)?;
    while let Some((phase, learning_rate)) = run.next_epoch()? {
        match run.training.epoch(phase, learning_rate)? {
            Some(epoch) => {
                let stop = watch(run.course.epoch_number(), &epoch).is_break();
                if run.course.record(epoch, stop) {
                    run.training.save_best();
                }
            }
            None => run.course.diverged(),
        }
    }
    Ok(run.finish())
}

/// A training run of a network: the network, and the course that decides what comes next. Whoever owns the run trains the epochs.
pub(crate) struct NetworkRun<'a> {
    course: Course,
    training: NetworkTraining<'a>,
    seed: u64,
}

impl<'a> NetworkRun<'a> {
    /// Prepares a training run; an error if the settings or the rows are invalid.
    pub fn new(
        settings: &'a NetworkSettings,
        objective: &'a Objective,
        seed: u64,
        sample: &'a Sample<'a>,
        threads: usize,
    ) -> Result<Self> {
        settings.check(objective)?;
        sample.check()?;
        if matches!(objective, Objective::Temporal(_)) && sample.places.is_none() {
            let problem = "errors are weighted by their timing, but the order of the rows in time is not known";
            return Err(Error::setting("temporal", problem, "give the place of each row in the order of time"));
        }
        let outputs = objective.outputs(sample.classes);
        let shape = settings.shape(sample, outputs)?;
        let course = Course::new(settings.policy(objective, outputs));
        Ok(NetworkRun { course, training: NetworkTraining::new(&shape, sample, settings, objective, threads), seed })
    }

    /// Does everything that comes before the next epoch, such as drawing initial weights. Returns the phase and the learning rate of the next epoch;
    /// `None` if the training run has ended.
    pub fn next_epoch(&mut self) -> Result<Option<(Phase, f32)>> {
        let NetworkRun { course, training, seed } = self;
        loop {
            match course.action() {
                Action::Initialise { restart, centre } => {
                    training.initialise(stream(*seed, Purpose::Restart, restart as u64), centre);
                    course.initialised();
                }
                Action::StartPhase(phase) => {
                    let loss = training.start_phase(phase)?;
                    course.phase_started(loss);
                }
                Action::TrainEpoch { phase, learning_rate } => return Ok(Some((phase, learning_rate))),
                Action::RestoreBest => {
                    training.restore_best();
                    course.restored();
                }
                Action::MoveBias => {
                    if let Some(warm) = training.settings.warm_start_for(training.objective, training.outputs) {
                        training.move_biases(&warm)?;
                    }
                    course.bias_moved();
                }
                Action::CheckOneSided => {
                    let one_sided = training.is_one_sided()?;
                    course.checked(one_sided);
                }
                Action::Finish => return Ok(None),
            }
        }
    }

    /// The fitted network and its history.
    pub fn finish(self) -> Fit {
        Fit::new(Member::Network(self.training.network), self.course.summary())
    }
}

/// What a backend needs that trains the epochs of a run by itself. The parameters and the best parameters of the phase are then kept by the backend.
#[cfg(feature = "cuda")]
impl NetworkRun<'_> {
    /// Number of phases that have begun; the optimiser begins anew with each phase.
    pub fn phases(&self) -> usize {
        self.training.phases
    }

    /// The parameters at the start of the phase.
    pub fn parameters(&self) -> &[f32] {
        &self.training.network.parameters
    }

    /// Number of training rows.
    pub fn rows(&self) -> usize {
        self.training.order.len()
    }

    /// Number of rows in a batch.
    pub fn batch_rows(&self) -> usize {
        self.training.batch_size(Phase::Main)
    }

    /// Weight decay of the optimiser.
    pub fn weight_decay(&self) -> f32 {
        self.training.settings.weight_decay
    }

    /// The training rows in the order of the next epoch.
    pub fn next_order(&mut self) -> &[u32] {
        self.training.shuffle_order(self.batch_rows());
        &self.training.order
    }

    /// The course, which receives the losses of the epochs.
    pub fn course(&mut self) -> &mut Course {
        &mut self.course
    }

    /// Replaces the parameters by those after the last epoch, and the best parameters of the phase.
    pub fn set_parameters(&mut self, parameters: &[f32], best: &[f32]) {
        self.training.network.parameters.copy_from_slice(parameters);
        self.training.best.copy_from_slice(best);
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
    /// The optimiser of all parameters that come after the table of the look-up layer; of all parameters if the first layer is dense.
    optimiser: OptimiserState,
    /// Trains the table of the look-up layer; `None` if the first layer is dense.
    look_up: Option<LookUpTraining<'a>>,
    random: Xoshiro256PlusPlus,
    order: Vec<u32>,
    batch: Batch,
    gradient: AlignedBuffer,
    /// For each position (knot, frequent value or level) of each binned column, whether it is used in training; empty if the columns are not binned.
    used_positions: Vec<bool>,
    /// Number of training rows of the rarest class.
    rare_rows: usize,
    /// The training rows as blocks of a time series, and the place of each row of the sample in the order of time; `None` unless the loss weights
    /// errors by their timing.
    blocks: Option<(TimeBlocks, &'a [u32])>,
    /// Number of phases that have begun.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(dead_code, reason = "only backends that train epochs by themselves read it")
    )]
    phases: usize,
    /// The best parameters of the current phase so far.
    best: AlignedBuffer,
    /// The parameters from which the table of the look-up layer in `best` was computed; `None` if the first layer is dense.
    best_look_up: Option<LookUpParameters>,
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
            optimiser: dense_optimiser(&network, settings),
            look_up: None,
            best_look_up: None,
            random: random(0, Purpose::BatchOrder, 0),
            order: Vec::new(),
            batch: Batch::default(),
            gradient: AlignedBuffer::zeros(network.parameters.len()),
            used_positions: used_positions(sample),
            rare_rows: count_rarest_class(sample),
            blocks: match (objective, sample.places) {
                (Objective::Temporal(loss), Some(places)) => {
                    Some((TimeBlocks::new(sample, places, loss.weighting().window()), places))
                }
                _ => None,
            },
            phases: 0,
            best: network.parameters.clone(),
            network,
        }
    }

    /// Draws new initial weights. If `centre_predictions` is set, the output layer is changed so that the first predictions lie inside the
    /// supports of the priors.
    fn initialise(&mut self, seed: u64, centre_predictions: bool) {
        self.network = Network::glorot(self.network.shape().clone(), seed);
        if let Some(columns) = self.sample.binned {
            let widths = self.network.shape().widths();
            let look_up =
                LookUpTraining::new(columns, (widths[1], widths.len() == 2), &self.used_positions, self.settings, seed);
            let length = self.network.shape().table_length();
            look_up.write_table(&mut self.network.parameters[..length]);
            self.look_up = Some(look_up);
        }
        self.random = random(seed, Purpose::BatchOrder, 0);
        self.order.clear();
        self.order.extend(self.sample.training);
        if centre_predictions {
            let priors = self.objective.priors();
            centre(&mut self.network, priors, &mut self.engine, self.sample.matrix, self.sample.training);
        }
    }

    /// The loss that a phase minimises: cross-entropy in the warm-up, and the user's loss in the main phase.
    fn objective(&self, phase: Phase) -> &Objective {
        match (phase, &self.warm_up) {
            (Phase::WarmUp, Some(cross_entropy)) => cross_entropy,
            _ => self.objective,
        }
    }

    /// Begins a phase with a new optimiser. Returns the validation loss of the current weights.
    fn start_phase(&mut self, phase: Phase) -> Result<f64> {
        self.phases += 1;
        self.optimiser = dense_optimiser(&self.network, self.settings);
        if let Some(look_up) = &mut self.look_up {
            look_up.reset_optimiser(self.settings);
        }
        self.save_best();
        self.validate(phase).map(|(loss, _)| loss).map_err(|error| self.initial_loss_error(error))
    }

    /// Saves the current parameters as the best of this phase.
    fn save_best(&mut self) {
        self.best.copy_from_slice(&self.network.parameters);
        match (&self.look_up, &mut self.best_look_up) {
            (Some(look_up), Some(best)) => best.copy_from(&look_up.parameters),
            (look_up, best) => *best = look_up.as_ref().map(|look_up| look_up.parameters.clone()),
        }
    }

    /// Replaces the current parameters by the best that were saved.
    fn restore_best(&mut self) {
        self.network.parameters.copy_from_slice(&self.best);
        if let (Some(look_up), Some(best)) = (&mut self.look_up, &self.best_look_up) {
            look_up.parameters.copy_from(best);
        }
    }

    /// Trains one epoch; `None` if a loss or a weight is not finite afterwards.
    fn epoch(&mut self, phase: Phase, learning_rate: f32) -> Result<Option<Epoch>> {
        let Some(training) = none_if_not_finite(self.steps(phase, learning_rate))? else { return Ok(None) };
        // The weights are checked too, because ReLU turns NaN into 0, so that the loss may be finite although a weight is not.
        if !self.network.parameters.iter().all(|parameter| parameter.is_finite()) {
            return Ok(None);
        }
        let Some((validation, coverage)) = none_if_not_finite(self.validate(phase))? else { return Ok(None) };
        Ok(Some(Epoch { phase, training, validation, coverage }))
    }

    /// Number of rows in a batch of this phase.
    fn batch_size(&self, phase: Phase) -> usize {
        let rows = self.order.len();
        match phase {
            Phase::Main if self.warm_up.is_some() => self.settings.batch.rows_for_score(rows, self.rare_rows),
            _ => self.settings.batch.rows(rows),
        }
    }

    /// Shuffles the training rows for an epoch with batches of this size. If a batch contains all rows, their order does not affect the gradient. Then
    /// the rows are not shuffled, because they are read fastest in the order in which they lie in memory.
    fn shuffle_order(&mut self, batch_size: usize) {
        if batch_size < self.order.len() {
            shuffle(&mut self.order, &mut self.random);
            if self.settings.stratified {
                stratify(&mut self.order, self.sample.labels, self.sample.classes);
            }
        }
    }

    /// Takes the optimiser steps of an epoch. Returns the mean loss of the batches.
    fn steps(&mut self, phase: Phase, learning_rate: f32) -> scorewise::Result<f64> {
        let Sample { matrix, labels, weights, .. } = *self.sample;
        let batch_size = self.batch_size(phase);
        if self.blocks.is_none() || phase != Phase::Main {
            self.shuffle_order(batch_size);
        }
        let objective = match (phase, &self.warm_up) {
            (Phase::WarmUp, Some(cross_entropy)) => cross_entropy,
            _ => self.objective,
        };
        let blocks = self.blocks.as_ref().filter(|_| phase == Phase::Main);
        let batches: Vec<RowBatch<'_>> = if let Some((blocks, _)) = blocks {
            blocks.batches(labels, batch_size, &mut self.random)
        } else {
            self.order.chunks(batch_size).map(|rows| RowBatch { rows: rows.into(), blocks: None }).collect()
        };
        let (mut sum, mut count) = (0.0, 0);
        let mut batches = batches.iter().peekable();
        while let Some(RowBatch { rows, blocks }) = batches.next() {
            match (blocks, self.blocks.as_ref()) {
                (Some((starts, counts)), Some((_, places))) => {
                    self.batch.gather_series((labels, weights, places), rows, (starts, Some(counts)));
                }
                _ => self.batch.gather(labels, weights, rows, self.outputs),
            }
            self.engine.forward(&self.network, matrix, rows, &mut self.batch.logits);
            sum += objective.value_and_gradient(&mut self.batch)?;
            count += 1;
            self.engine.prefetch(matrix, batches.peek().map_or(&[], |batch| &batch.rows));
            self.engine.backward_without_table(&self.network, &self.batch.gradient, &mut self.gradient);
            let table = self.network.shape().table_length();
            self.optimiser.step(&mut self.network.parameters[table..], &self.gradient[table..], learning_rate);
            if let Some(look_up) = &mut self.look_up {
                let table_gradient = self.engine.table_gradient(&self.gradient[..table]);
                look_up.step(table_gradient, learning_rate, &mut self.network.parameters[..table]);
            }
        }
        Ok(sum / f64::from(count))
    }

    /// The loss of the validation rows, and the share of their predictions that lie inside the supports of the priors.
    fn validate(&mut self, phase: Phase) -> scorewise::Result<(f64, f64)> {
        self.predict_validation();
        let objective = self.objective(phase);
        Ok((objective.value(&self.batch)?, coverage(objective.priors(), &self.batch.logits, self.outputs)))
    }

    /// Writes the logits of the validation rows to `batch`.
    fn predict_validation(&mut self) {
        self.predict(self.sample.validation);
    }

    /// Writes the labels, weights and logits of the given rows to `batch`.
    fn predict(&mut self, rows: &[u32]) {
        let Sample { matrix, labels, weights, .. } = *self.sample;
        match &self.blocks {
            Some((_, places)) => {
                let rows = self.sample.in_time_order(rows);
                self.batch.gather_series((labels, weights, places), &rows, (&[], None));
                self.engine.predict(&self.network, matrix, &rows, &mut self.batch.logits);
            }
            None => {
                self.batch.gather(labels, weights, rows, self.outputs);
                self.engine.predict(&self.network, matrix, rows, &mut self.batch.logits);
            }
        }
    }

    /// Changes the output biases so that the best thresholds on the validation rows, or on all rows, lie at the means of the priors.
    ///
    /// With one logit z this is exact: σ(z) > τ* becomes σ(z − logit τ* + logit E τ) > E τ, where τ* is the best threshold and E τ the mean of
    /// the prior. With one logit for each class, the log-odds of a class depend on all biases, so the change is an approximation; it is undone if
    /// it does not reduce the loss. A simplex loss has no thresholds on single logits, so nothing is changed.
    ///
    /// With few events, the position of the best threshold depends by chance on a single event. The loss depends less on chance, because it
    /// averages over the prior. So if [`WarmStart::steady`] is set, the bias of the single logit is then changed to the value at which the loss is
    /// lowest.
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
            let Some(best) = objective.best_threshold(&self.batch, score, class)? else { continue };
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

    /// Whether the network predicts the same label for all validation rows.
    fn is_one_sided(&mut self) -> Result<bool> {
        self.predict_validation();
        Ok(self.objective.is_one_sided(&self.batch)?)
    }

    /// The error for the user if the loss before the first epoch cannot be computed because of `error`.
    fn initial_loss_error(&self, error: scorewise::Error) -> Error {
        if self.batch.logits.iter().all(|logit| logit.is_finite()) {
            return error.into(); // The network's outputs are fine, so a setting is wrong, and the error names it.
        }
        let hint = "features must be numbers of a moderate size; standardise them";
        Error::setting("features", "the network's first outputs are not finite", hint)
    }
}

/// Changes the order of the rows so that the rows of each class are evenly spaced. The rows of a class keep their order among themselves.
pub(super) fn stratify(order: &mut Vec<u32>, labels: &[u32], classes: usize) {
    let mut counts = vec![0u64; classes];
    order.iter().for_each(|row| counts[labels[*row as usize] as usize] += 1);
    // The row with index i of the n rows of a class is placed at the fraction (i + ½)/n of the whole order; ties are decided by the class.
    let mut seen = vec![0u64; classes];
    let mut keyed: Vec<(u64, u32, u32)> = Vec::with_capacity(order.len());
    for row in order.iter() {
        let class = labels[*row as usize];
        let (seen, count) = (&mut seen[class as usize], counts[class as usize]);
        keyed.push((((2 * *seen + 1) << 31) / count, class, *row));
        *seen += 1;
    }
    keyed.sort_unstable();
    order.clear();
    order.extend(keyed.into_iter().map(|(_, _, row)| row));
}

/// For each position (knot, frequent value or level) of each binned column, whether it is used in training. A frequent value or level is used if a
/// training row has it. Knots always count as used, because a value between two knots uses both of them.
fn used_positions(sample: &Sample<'_>) -> Vec<bool> {
    let mut used = Vec::new();
    for (number, column) in sample.binned.into_iter().flatten().enumerate() {
        let first = used.len();
        used.extend((0..column.positions()).map(|position| position < column.knots.len()));
        for row in sample.training {
            let position = sample.matrix.row(*row as usize)[number] as usize;
            used[first + position.min(column.positions() - 1)] = true;
        }
    }
    used
}

/// Number of training rows of the rarest class.
fn count_rarest_class(sample: &Sample<'_>) -> usize {
    let mut counts = vec![0; sample.classes];
    sample.training.iter().for_each(|row| counts[sample.labels[*row as usize] as usize] += 1);
    counts.into_iter().min().unwrap_or(0)
}

/// The optimiser of all parameters that come after the table of the look-up layer; of all parameters if the first layer is dense.
fn dense_optimiser(network: &Network, settings: &NetworkSettings) -> OptimiserState {
    let table = network.shape().table_length();
    let dense = network.weight_ranges().filter(|range| range.start >= table && !range.is_empty());
    let weights = dense.map(|range| range.start - table..range.end - table).collect();
    OptimiserState::new(settings.optimiser, network.parameters.len() - table, weights, settings.weight_decay)
}

/// Turns an error into `None` if the loss could not be computed because the network's outputs are not finite. Other errors are returned.
fn none_if_not_finite<T>(result: scorewise::Result<T>) -> scorewise::Result<Option<T>> {
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
    fn classes_are_evenly_spaced_in_a_stratified_order() {
        let labels: Vec<u32> = (0..1000).map(|row| if row < 50 { 2 } else { u32::from(row < 300) }).collect();
        let mut order: Vec<u32> = (0..1000).collect();
        stratify(&mut order, &labels, 3);
        for batch in order.chunks(100) {
            let count = |class: u32| batch.iter().filter(|row| labels[**row as usize] == class).count();
            assert!(count(2).abs_diff(5) <= 1 && count(1).abs_diff(25) <= 1, "{} {}", count(2), count(1));
        }
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..1000));
    }

    #[test]
    fn the_random_numbers_of_the_batch_order_are_used_for_nothing_else() {
        let (matrix, rows) = (Matrix::new(1, &[0.0, 1.0]).unwrap(), [0, 1]);
        let sample = Sample {
            matrix: &matrix,
            binned: None,
            labels: &[0, 1],
            classes: 2,
            weights: None,
            places: None,
            training: &rows,
            validation: &rows,
        };
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
