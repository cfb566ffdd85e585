//! The policy of one training run as a state machine: the warm-up, the best epoch so far, when to restart, and when to stop.
//!
//! A [`Course`] computes no loss and holds no weights. It says which action comes next ([`Course::action`]) and receives the result of the
//! action, one epoch (or one boosting round) at a time. All backends and learners use it, so all follow the same policy. A training run is
//! *dead* if it learns nothing because all predictions lie outside the support of the prior, where the gradient is 0.
//!
//! ```
//! use scorewise_train::fit::{Action, Course, Epoch, Keep, Phase, Policy};
//!
//! let policy = Policy { epochs: 10, patience: 2, learning_rate: 0.1, keep: Keep::Best, restarts: true, centre: true, warm_up: None };
//! let mut course = Course::new(policy);
//! let losses = [0.9, 0.7, 0.8, 0.8, 0.6]; // training stops after the fourth epoch, after two epochs without a new lowest loss
//! let mut epoch = 0;
//! loop {
//!     match course.action() {
//!         Action::Initialise { .. } => course.initialised(),
//!         Action::StartPhase(_) => course.phase_started(1.0),
//!         Action::TrainEpoch { phase, .. } => {
//!             course.record(Epoch { phase, training: 0.0, validation: losses[epoch], coverage: 1.0 }, false);
//!             epoch += 1;
//!         }
//!         Action::RestoreBest => course.restored(),
//!         Action::MoveBias => course.bias_moved(),
//!         Action::CheckOneSided => course.checked(false),
//!         Action::Finish => break,
//!     }
//! }
//! let summary = course.summary();
//! assert_eq!((summary.history.len(), summary.kept, summary.success), (4, Some(1), true));
//! ```

use serde::{Deserialize, Serialize};

use super::{Epoch, Phase, StopReason};

/// Maximum number of attempts of a training run. If the policy allows restarts, an attempt that learns nothing is followed by another one with new
/// initial weights; the last attempt is accepted even if it learnt nothing.
const MAX_ATTEMPTS: usize = 5;

/// Number of epochs after which an attempt is given up if its validation loss has not changed at all.
const MAX_EPOCHS_WITH_CONSTANT_LOSS: usize = 3;

/// Which weights are kept at the end of a training run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Keep {
    /// The weights of the epoch with the lowest validation loss
    #[default]
    Best,
    /// The weights of the last epoch, as in Marchetti et al. (2022)
    Last,
}

/// Determines when a training run stops, when it starts again with new weights, and which weights it keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Maximum number of epochs of the main phase.
    pub epochs: usize,
    /// Number of epochs without a new minimum of the validation loss after which the main phase stops.
    pub patience: usize,
    /// Learning rate of the optimiser.
    pub learning_rate: f32,
    /// Which weights are kept at the end.
    pub keep: Keep,
    /// Whether a training run that learns nothing is repeated with new initial weights.
    pub restarts: bool,
    /// Whether the output layer is changed before training so that the first predictions lie inside the support of the prior. This field is ignored
    /// if there is a warm-up, which makes the change unnecessary.
    pub centre: bool,
    /// Policy of the warm-up with cross-entropy; `None` if there is no warm-up.
    pub warm_up: Option<WarmUpPolicy>,
}

/// How long the warm-up with cross-entropy lasts, and how the learning rate changes afterwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUpPolicy {
    /// Maximum number of epochs of the warm-up.
    pub epochs: usize,
    /// Number of epochs without a new minimum of the validation loss after which the warm-up stops.
    pub patience: usize,
    /// Factor by which the learning rate is multiplied after the warm-up.
    pub rate_factor: f32,
}

/// The next action of a trainer. When the action is done, the trainer calls the method of [`Course`] that is named in the variant's
/// documentation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Draw new initial weights; if `centre` is set, change the output layer so that the first predictions lie inside the support of the prior.
    /// Then call [`Course::initialised`].
    Initialise {
        /// Number of earlier attempts, 0 for the first attempt.
        restart: usize,
        /// Whether to change the output layer so that the first predictions lie inside the support of the prior.
        centre: bool,
    },
    /// Reset the optimiser, save the current weights as the best weights of the phase, and compute the validation loss of the phase. Then call
    /// [`Course::phase_started`].
    StartPhase(Phase),
    /// Train one epoch and compute the validation loss. Then call [`Course::record`], or [`Course::diverged`] if a number is not finite.
    TrainEpoch {
        /// The phase, which determines the loss to minimise.
        phase: Phase,
        /// The learning rate of the epoch.
        learning_rate: f32,
    },
    /// Load the best weights of the phase. Then call [`Course::restored`].
    RestoreBest,
    /// Change the output bias so that the best threshold lies at the centre of the prior. Then call [`Course::bias_moved`].
    MoveBias,
    /// Determine whether all validation rows get the same label. Then call [`Course::checked`].
    CheckOneSided,
    /// Do nothing: the training run has ended, and [`Course::summary`] returns its result.
    Finish,
}

/// What happened in a training run: the losses of all epochs, and how the run ended. The trained model is not included.
#[derive(Clone, Debug, PartialEq)]
pub struct CourseSummary {
    /// Epochs of the warm-up with cross-entropy; empty if there was no warm-up.
    pub warm_up: Vec<Epoch>,
    /// Validation loss before the first epoch of the main phase.
    pub first: f64,
    /// Epochs of the main phase.
    pub history: Vec<Epoch>,
    /// Index in `history` of the epoch whose weights are kept; `None` if the weights before the main phase are kept.
    pub kept: Option<usize>,
    /// Why the training run ended.
    pub stop_reason: StopReason,
    /// Whether anything was learnt: in the warm-up or in the main phase the validation loss fell below its value at the start of that phase, and
    /// the validation rows do not all get the same label.
    pub success: bool,
    /// Number of earlier attempts that were given up because they learnt nothing.
    pub restarts: usize,
}

/// How far a phase can still go ([`Course::limits`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochLimits {
    /// The lowest validation loss of the phase so far.
    pub lowest: f64,
    /// Number of epochs since the epoch with the lowest validation loss, or since the start of the phase.
    pub since_best: usize,
    /// The phase ends when `since_best` reaches this number.
    pub patience: usize,
    /// Number of epochs after which the phase ends in any case.
    pub epochs_left: usize,
}

/// A training run as a state machine. It says which action comes next, and receives the result of each action.
#[derive(Clone, Debug)]
pub struct Course {
    policy: Policy,
    restarts: usize,
    state: CourseState,
    /// The epochs of the phase in progress or, after the end of the training run, of the last phase.
    run: PhaseRun,
    /// The epochs of the finished warm-up of the current attempt.
    warm_up: PhaseRun,
    success: bool,
}

/// The state of a [`Course`], which determines the next [`Action`].
#[derive(Clone, Copy, Debug, PartialEq)]
enum CourseState {
    Initialise,
    Start(Phase),
    Train(Phase),
    Restore(Phase),
    MoveBias,
    Check,
    Done,
}

/// The epochs of one phase so far, and the index of the epoch whose weights are kept.
#[derive(Clone, Debug)]
struct PhaseRun {
    first: f64,
    lowest: f64,
    history: Vec<Epoch>,
    kept: Option<usize>,
    stop_reason: StopReason,
}

impl Default for PhaseRun {
    fn default() -> Self {
        PhaseRun {
            first: f64::NAN,
            lowest: f64::INFINITY,
            history: Vec::new(),
            kept: None,
            stop_reason: StopReason::Epochs,
        }
    }
}

impl PhaseRun {
    /// Whether the validation loss was lower after some epoch than before the first epoch.
    fn loss_fell(&self) -> bool {
        self.history.iter().any(|epoch| epoch.validation < self.first)
    }

    /// Whether the validation loss after every epoch is equal to that before the first epoch.
    fn has_constant_loss(&self) -> bool {
        self.history.iter().all(|epoch| epoch.validation == self.first)
    }

    /// Whether the phase ended because the user stopped it or because a loss or a weight was no longer finite.
    fn was_stopped_or_diverged(&self) -> bool {
        matches!(self.stop_reason, StopReason::Stopped | StopReason::Diverged)
    }
}

impl Course {
    /// Creates the state of a training run that has not begun.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let (run, warm_up) = (PhaseRun::default(), PhaseRun::default());
        Course { policy, restarts: 0, state: CourseState::Initialise, run, warm_up, success: false }
    }

    /// The next action of the trainer.
    #[must_use]
    pub fn action(&self) -> Action {
        match self.state {
            CourseState::Initialise => Action::Initialise {
                restart: self.restarts,
                centre: self.policy.centre && self.policy.warm_up.is_none(),
            },
            CourseState::Start(phase) => Action::StartPhase(phase),
            CourseState::Train(phase) => Action::TrainEpoch { phase, learning_rate: self.learning_rate(phase) },
            CourseState::Restore(_) => Action::RestoreBest,
            CourseState::MoveBias => Action::MoveBias,
            CourseState::Check => Action::CheckOneSided,
            CourseState::Done => Action::Finish,
        }
    }

    /// Tells the course that the initial weights have been drawn.
    pub fn initialised(&mut self) {
        self.warm_up = PhaseRun::default();
        self.state = CourseState::Start(if self.policy.warm_up.is_some() { Phase::WarmUp } else { Phase::Main });
    }

    /// Tells the course that a phase has begun. `validation` is the validation loss before the first epoch of the phase.
    pub fn phase_started(&mut self, validation: f64) {
        let CourseState::Start(phase) = self.state else { return };
        // The weights at the end of a warm-up are a candidate for the best weights; random initial weights are not.
        let is_candidate = phase == Phase::Main && self.policy.warm_up.is_some();
        let lowest = if is_candidate { validation } else { f64::INFINITY };
        self.run = PhaseRun { first: validation, lowest, ..PhaseRun::default() };
        self.state = CourseState::Train(phase);
        if self.max_epochs(phase) == 0 {
            self.run.stop_reason = self.warm_up.stop_reason;
            self.end_phase(phase);
        }
    }

    /// The index of the next epoch within its phase, counted from 0.
    #[must_use]
    pub fn epoch_number(&self) -> usize {
        self.run.history.len()
    }

    /// Tells the course that an epoch has ended; `stop` is true if the user wants training to end. Returns true if the current weights are the best
    /// of the phase so far, so that the trainer must save them.
    pub fn record(&mut self, epoch: Epoch, stop: bool) -> bool {
        let CourseState::Train(phase) = self.state else { return false };
        let run = &mut self.run;
        run.history.push(epoch);
        let is_best = epoch.validation < run.lowest;
        if is_best {
            (run.lowest, run.kept) = (epoch.validation, Some(run.history.len() - 1));
        }
        let count = run.history.len();
        let since_best = count - run.kept.map_or(0, |kept| kept + 1);
        // A constant loss in a main phase after a warm-up does not mean that the attempt cannot learn: the warm-up may have left nothing to improve.
        let may_be_dead = phase == Phase::WarmUp || self.policy.warm_up.is_none();
        if stop {
            self.run.stop_reason = StopReason::Stopped;
            self.end_phase(phase);
        } else if may_be_dead
            && self.may_restart()
            && count == MAX_EPOCHS_WITH_CONSTANT_LOSS
            && self.run.has_constant_loss()
        {
            self.restart();
        } else if since_best >= self.patience(phase) {
            self.run.stop_reason = StopReason::Patience;
            self.end_phase(phase);
        } else if count >= self.max_epochs(phase) {
            self.end_phase(phase);
        }
        is_best
    }

    /// Tells the course that an epoch led to a loss or a weight that is not finite.
    pub fn diverged(&mut self) {
        let CourseState::Train(phase) = self.state else { return };
        self.run.stop_reason = StopReason::Diverged;
        self.end_phase(phase);
    }

    /// Tells the course that the best weights of the phase have been loaded.
    pub fn restored(&mut self) {
        if let CourseState::Restore(phase) = self.state {
            self.leave_phase(phase);
        }
    }

    /// Tells the course that the output bias has been changed.
    pub fn bias_moved(&mut self) {
        self.state = CourseState::Start(Phase::Main);
    }

    /// Tells the course whether all validation rows get the same label, in which case the training run is not a success.
    pub fn checked(&mut self, one_sided: bool) {
        self.success = (self.warm_up.loss_fell() || self.run.loss_fell()) && !one_sided;
        // In any epoch, a step of the optimiser can move all predictions out of the support of the prior. Then the gradient is 0, so
        // the attempt cannot learn any more, and a new attempt is started if that is allowed.
        let has_no_gradient = self.run.history.last().is_some_and(|epoch| epoch.coverage == 0.0);
        if self.may_restart() && has_no_gradient && !self.success && !self.run.was_stopped_or_diverged() {
            self.restart();
        } else {
            self.state = CourseState::Done;
        }
    }

    /// The result of the training run so far.
    #[must_use]
    pub fn summary(&self) -> CourseSummary {
        CourseSummary {
            warm_up: self.warm_up.history.clone(),
            first: self.run.first,
            history: self.run.history.clone(),
            kept: self.run.kept,
            stop_reason: self.run.stop_reason,
            success: self.success,
            restarts: self.restarts,
        }
    }

    /// The limits of the phase in progress, for a backend that trains several epochs before it tells the course about them; `None` if the next action
    /// is not an epoch.
    #[must_use]
    pub fn limits(&self) -> Option<EpochLimits> {
        let CourseState::Train(phase) = self.state else { return None };
        let count = self.run.history.len();
        Some(EpochLimits {
            lowest: self.run.lowest,
            since_best: count - self.run.kept.map_or(0, |kept| kept + 1),
            patience: self.patience(phase),
            epochs_left: self.max_epochs(phase) - count,
        })
    }

    /// Whether another attempt is allowed.
    fn may_restart(&self) -> bool {
        self.policy.restarts && self.restarts + 1 < MAX_ATTEMPTS
    }

    /// Gives up the current attempt and begins the next one.
    fn restart(&mut self) {
        self.restarts += 1;
        self.state = CourseState::Initialise;
    }

    /// Ends the training of a phase. The next action restores the best weights. If the policy keeps the last weights, the best weights
    /// are restored only after a divergence.
    fn end_phase(&mut self, phase: Phase) {
        if self.policy.keep == Keep::Last && self.run.stop_reason != StopReason::Diverged {
            self.run.kept = self.run.history.len().checked_sub(1);
            self.leave_phase(phase);
        } else {
            self.state = CourseState::Restore(phase);
        }
    }

    /// Leaves a phase whose weights are final. After the warm-up, the next action is [`Action::MoveBias`]; after the main phase, it is
    /// [`Action::CheckOneSided`].
    fn leave_phase(&mut self, phase: Phase) {
        match phase {
            Phase::WarmUp => {
                self.warm_up = std::mem::take(&mut self.run);
                self.state = CourseState::MoveBias;
            }
            Phase::Main => self.state = CourseState::Check,
        }
    }

    /// Maximum number of epochs of a phase.
    fn max_epochs(&self, phase: Phase) -> usize {
        match (phase, self.policy.warm_up) {
            (Phase::WarmUp, Some(warm_up)) => warm_up.epochs,
            // A training run that was stopped or diverged during the warm-up has no epochs in the main phase.
            (Phase::Main, Some(_)) if self.warm_up.was_stopped_or_diverged() => 0,
            _ => self.policy.epochs,
        }
    }

    /// Number of epochs of a phase without a lower validation loss after which the phase ends.
    fn patience(&self, phase: Phase) -> usize {
        match (phase, self.policy.warm_up) {
            (Phase::WarmUp, Some(warm_up)) => warm_up.patience,
            _ => self.policy.patience,
        }
    }

    /// The learning rate of a phase. In a main phase after a warm-up, this is the learning rate of the policy times the rate factor of the warm-up.
    fn learning_rate(&self, phase: Phase) -> f32 {
        match (phase, self.policy.warm_up) {
            (Phase::Main, Some(warm_up)) => warm_up.rate_factor * self.policy.learning_rate,
            _ => self.policy.learning_rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy without warm-up, which the tests change as they need.
    const POLICY: Policy = Policy {
        epochs: 6,
        patience: 2,
        learning_rate: 0.1,
        keep: Keep::Best,
        restarts: true,
        centre: true,
        warm_up: None,
    };
    /// A short warm-up that halves the learning rate of the main phase.
    const WARM_UP: WarmUpPolicy = WarmUpPolicy { epochs: 4, patience: 4, rate_factor: 0.5 };

    /// The results that a simulated trainer reports. `warm_up` and `main` hold the validation losses of each phase, beginning with the loss before
    /// its first epoch.
    #[derive(Clone)]
    struct TrainerScript {
        warm_up: Vec<f64>,
        main: Vec<f64>,
        coverage: f64,
        one_sided: bool,
        stop_at: Option<(Phase, usize)>,
        diverge_at: Option<(Phase, usize)>,
    }

    impl TrainerScript {
        /// The results of a trainer that reports these validation losses in the main phase, and falling losses in a warm-up.
        fn new(main: &[f64]) -> Self {
            let warm_up = vec![1.0, 0.9, 0.8, 0.7, 0.6];
            TrainerScript {
                warm_up,
                main: main.to_vec(),
                coverage: 1.0,
                one_sided: false,
                stop_at: None,
                diverge_at: None,
            }
        }
    }

    /// Runs a course to its end, with a simulated trainer that reports the results of `script`. Returns the actions and the summary of the course.
    fn run_course(policy: Policy, script: &TrainerScript) -> (Vec<Action>, CourseSummary) {
        let mut course = Course::new(policy);
        let mut actions = Vec::new();
        loop {
            let action = course.action();
            actions.push(action);
            assert!(actions.len() < 1000, "the simulated training run must end");
            let losses = |phase| if phase == Phase::WarmUp { &script.warm_up } else { &script.main };
            match action {
                Action::Initialise { .. } => course.initialised(),
                Action::StartPhase(phase) => course.phase_started(losses(phase)[0]),
                Action::TrainEpoch { phase, .. } => {
                    let number = course.epoch_number();
                    if script.diverge_at == Some((phase, number)) {
                        course.diverged();
                        continue;
                    }
                    let validation = losses(phase)[number + 1];
                    let epoch = Epoch { phase, training: 0.0, validation, coverage: script.coverage };
                    course.record(epoch, script.stop_at == Some((phase, number)));
                }
                Action::RestoreBest => course.restored(),
                Action::MoveBias => course.bias_moved(),
                Action::CheckOneSided => course.checked(script.one_sided),
                Action::Finish => return (actions, course.summary()),
            }
        }
    }

    /// Counts the actions that draw new initial weights, which is the number of attempts of the training run.
    fn count_initialisations(actions: &[Action]) -> usize {
        actions.iter().filter(|action| matches!(action, Action::Initialise { .. })).count()
    }

    #[test]
    fn patience_counts_epochs_since_the_lowest_validation_loss() {
        let (_, summary) = run_course(POLICY, &TrainerScript::new(&[1.0, 0.9, 0.8, 0.8, 0.9, 0.1, 0.1]));
        assert_eq!((summary.history.len(), summary.kept, summary.stop_reason), (4, Some(1), StopReason::Patience));
        assert!(summary.success);
    }

    #[test]
    fn all_epochs_are_run_while_the_loss_falls() {
        let (actions, summary) = run_course(POLICY, &TrainerScript::new(&[1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4]));
        assert_eq!((summary.history.len(), summary.kept, summary.stop_reason), (6, Some(5), StopReason::Epochs));
        assert_eq!(actions[0], Action::Initialise { restart: 0, centre: true });
        assert_eq!(actions[actions.len() - 3..], [Action::RestoreBest, Action::CheckOneSided, Action::Finish]);
    }

    #[test]
    fn the_setting_keep_last_restores_the_best_weights_only_after_a_divergence() {
        let policy = Policy { keep: Keep::Last, ..POLICY };
        let (actions, summary) = run_course(policy, &TrainerScript::new(&[1.0, 0.9, 0.8, 0.8, 0.9]));
        assert!(!actions.contains(&Action::RestoreBest));
        assert_eq!(summary.kept, Some(3));
        // After a divergence the last weights are not finite, so the best weights are restored even with `Keep::Last`.
        let script = TrainerScript { diverge_at: Some((Phase::Main, 1)), ..TrainerScript::new(&[1.0, 0.9]) };
        let (actions, summary) = run_course(policy, &script);
        assert!(actions.contains(&Action::RestoreBest));
        assert_eq!((summary.stop_reason, summary.kept), (StopReason::Diverged, Some(0)));
    }

    #[test]
    fn training_with_a_constant_loss_is_restarted_and_the_last_attempt_is_accepted() {
        let (actions, summary) = run_course(POLICY, &TrainerScript::new(&[1.0; 7]));
        assert_eq!((count_initialisations(&actions), summary.restarts), (MAX_ATTEMPTS, MAX_ATTEMPTS - 1));
        assert!(!summary.success);
        let (actions, summary) = run_course(Policy { restarts: false, ..POLICY }, &TrainerScript::new(&[1.0; 7]));
        assert_eq!((count_initialisations(&actions), summary.restarts), (1, 0));
    }

    #[test]
    fn a_run_whose_predictions_left_the_support_of_the_prior_restarts_unless_it_succeeded_or_was_stopped() {
        let rising = TrainerScript { coverage: 0.0, ..TrainerScript::new(&[1.0, 1.1, 1.2, 1.3]) };
        assert_eq!(run_course(POLICY, &rising).1.restarts, MAX_ATTEMPTS - 1);
        let falling = TrainerScript { coverage: 0.0, ..TrainerScript::new(&[1.0, 0.9, 0.9, 0.9]) };
        assert_eq!(run_course(POLICY, &falling).1.restarts, 0);
        let stopped = TrainerScript { stop_at: Some((Phase::Main, 1)), ..rising };
        let (_, summary) = run_course(POLICY, &stopped);
        assert_eq!((summary.restarts, summary.stop_reason), (0, StopReason::Stopped));
    }

    #[test]
    fn a_warm_up_comes_first_and_reduces_the_learning_rate_of_the_main_phase() {
        let policy = Policy { warm_up: Some(WARM_UP), ..POLICY };
        let (actions, summary) = run_course(policy, &TrainerScript::new(&[0.5, 0.6, 0.7]));
        assert_eq!(actions[0], Action::Initialise { restart: 0, centre: false });
        let rates: Vec<f32> = actions
            .iter()
            .filter_map(|action| match action {
                Action::TrainEpoch { learning_rate, .. } => Some(*learning_rate),
                _ => None,
            })
            .collect();
        assert_eq!(rates, [0.1, 0.1, 0.1, 0.1, 0.05, 0.05]);
        assert!(actions.contains(&Action::MoveBias));
        // No epoch of the main phase has a lower loss than the weights at the end of the warm-up, so those weights are kept.
        assert_eq!((summary.warm_up.len(), summary.history.len(), summary.kept), (4, 2, None));
        assert!(summary.success, "the warm-up with cross-entropy has learnt something");
    }

    #[test]
    fn a_warm_up_with_constant_loss_is_restarted_but_a_main_phase_after_a_warm_up_is_not() {
        let policy = Policy { warm_up: Some(WARM_UP), patience: 5, ..POLICY };
        let dead = TrainerScript { warm_up: vec![1.0; 5], ..TrainerScript::new(&[0.5; 7]) };
        assert_eq!(run_course(policy, &dead).1.restarts, MAX_ATTEMPTS - 1);
        let (_, summary) = run_course(policy, &TrainerScript::new(&[0.5; 7]));
        assert_eq!((summary.restarts, summary.history.len(), summary.stop_reason), (0, 5, StopReason::Patience));
    }

    #[test]
    fn a_stop_or_a_divergence_in_the_warm_up_ends_the_training_run() {
        let policy = Policy { warm_up: Some(WARM_UP), ..POLICY };
        let stopped = TrainerScript { stop_at: Some((Phase::WarmUp, 1)), ..TrainerScript::new(&[0.5, 0.4]) };
        let (actions, summary) = run_course(policy, &stopped);
        assert_eq!((summary.warm_up.len(), summary.history.len()), (2, 0));
        assert_eq!((summary.stop_reason, summary.first), (StopReason::Stopped, 0.5));
        assert!(actions.contains(&Action::MoveBias), "the bias is moved even if the warm-up was stopped");
        let diverged = TrainerScript { diverge_at: Some((Phase::WarmUp, 0)), ..TrainerScript::new(&[0.5, 0.4]) };
        let (_, summary) = run_course(policy, &diverged);
        assert_eq!((summary.warm_up.len(), summary.stop_reason, summary.success), (0, StopReason::Diverged, false));
    }

    #[test]
    fn a_training_run_that_gives_all_rows_the_same_label_is_not_a_success() {
        let script = TrainerScript { one_sided: true, ..TrainerScript::new(&[1.0, 0.9, 0.8, 0.8, 0.8]) };
        assert!(!run_course(POLICY, &script).1.success);
    }
}
