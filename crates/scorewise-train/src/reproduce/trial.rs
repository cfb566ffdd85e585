//! One training of an experiment, and what came of it.

use std::ops::ControlFlow;
use std::time::Instant;

use scorewise::sweep::{confusion, sweep};
use scorewise::{CrossEntropy, Loss, Probabilities, Purpose, Rows, Score, ScoreLoss, stream};
use serde::{Deserialize, Serialize};

use super::contender::Contender;
use super::part::Part;
use super::pollution::Window;
use super::strong;
use super::{Experiment, Stage};
use crate::ensemble::{Ensemble, ensemble};
use crate::fit::{Epoch, Fit, Keep, Settings};
use crate::net::Shape;
use scorewise_table::error::Result;

/// One training that is to be done.
#[derive(Clone, Debug)]
pub struct Task {
    /// The score that is trained for and judged by.
    pub score: Score,
    /// How.
    pub contender: Contender,
    /// Whether the first predictions are put inside the prior's support, and dead starts are tried again.
    pub cured: bool,
    /// Which repeat, from 0.
    pub repeat: usize,
}

/// One that is done: a line of the file of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The version of this crate.
    pub version: String,
    /// `adult` or `pollution`.
    pub experiment: String,
    /// Where all randomness of the experiment starts.
    pub seed: u64,
    /// The score.
    pub score: String,
    /// How it was forecast: a prior, `ce`, …
    pub contender: String,
    /// A number for the settings behind that name, so that a line from before a change of them is not taken for one of today.
    pub recipe: String,
    /// Whether with the cure.
    pub cured: bool,
    /// Which repeat, from 0.
    pub repeat: usize,
    /// Whether anything was learnt.
    pub success: bool,
    /// Dead starts before.
    pub restarts: usize,
    /// Epochs of all phases; the mean over members.
    pub epochs: f64,
    /// τ*, the best threshold on the training rows.
    pub threshold: Option<f64>,
    /// Whether τ* lies outside the prior's support.
    pub outside: bool,
    /// The score of the training rows at ½.
    pub train_half: f64,
    /// At τ*.
    pub train_best: Option<f64>,
    /// The score of the test rows at ½. A score that is 0/0 there is 0, as in the paper.
    pub test_half: f64,
    /// At τ*.
    pub test_best: Option<f64>,
    /// How long it took.
    pub seconds: f64,
}

/// How random numbers come from the seed. Results of other streams are other draws, and are not mixed with these.
const STREAMS: &str = "streams by purpose";

/// What tells one training from all others of an experiment with one seed.
pub(super) type Key = (String, String, bool, usize);

impl Task {
    pub(super) fn key(&self) -> Key {
        (self.score.to_string(), self.contender.to_string(), self.cured, self.repeat)
    }

    /// A number for all that decides the result but score, repeat, seed and code: settings, inputs, networks.
    pub(super) fn recipe(&self, experiment: Experiment) -> Result<String> {
        let (settings, inputs) = (self.settings(experiment)?, self.contender.inputs()?);
        let all =
            format!("{settings:?} {inputs:?} {:?} {} {STREAMS}", self.hidden(experiment), self.contender.members());
        Ok(format!("{:016x}", name(&all)))
    }

    /// Widths of the hidden layers.
    fn hidden(&self, experiment: Experiment) -> &'static [usize] {
        if matches!(self.contender, Contender::Logistic(_)) { &[] } else { experiment.hidden() }
    }

    /// Does it; nothing where `watch` ended it before its time. Whatever else is done, and in whichever order, the result is the same.
    pub fn attempt(
        &self,
        stage: &Stage,
        seed: u64,
        watch: &(dyn Fn(&Epoch) -> ControlFlow<()> + Sync),
    ) -> Result<Option<Trial>> {
        let start = Instant::now();
        // Rows are drawn alike for all contenders, so that they can be compared repeat by repeat.
        let part =
            stage.part(self.repeat, &self.contender.inputs()?, stream(seed, Purpose::RepeatRows, self.repeat as u64));
        let found = match (&self.contender, stage) {
            (Contender::Persistence, Stage::Pollution(pollution)) => {
                let certain = pollution.persistence(&Window::of_paper(self.repeat)).into_iter();
                let certain: Vec<f64> = certain.map(f64::from).collect();
                Some(Found::new(&part, &self.score, |rows| rows.iter().map(|row| certain[*row as usize]).collect())?)
            }
            _ => self.train(stage, &part, seed, watch)?,
        };
        found.map(|found| self.trial(stage.experiment(), seed, &found, start.elapsed().as_secs_f64())).transpose()
    }

    fn train(
        &self,
        stage: &Stage,
        part: &Part,
        seed: u64,
        watch: &(dyn Fn(&Epoch) -> ControlFlow<()> + Sync),
    ) -> Result<Option<Found>> {
        let mut settings = self.settings(stage.experiment())?;
        let contender = stream(seed, Purpose::Contender, name(&self.contender.to_string()));
        settings.seed = stream(contender, Purpose::Repeat, self.repeat as u64);
        let shape = Shape::new(part.matrix.columns(), self.hidden(stage.experiment()), 1)
            .ok_or_else(|| crate::Error::setting("network", "a width of 0", ""))?;
        let members = self.contender.members();
        // Several networks have validation rows of their own, so that between them they learn from every event.
        let hands = part.hands(members, settings.seed);
        let samples = match members {
            1 => vec![part.sample()],
            _ => hands.iter().map(|hand| part.sample().with(hand)).collect(),
        };
        let trained = ensemble(&shape, &samples, &settings, 1, |_, _, epoch| watch(epoch))?;
        if trained.fits.len() < members || trained.fits.iter().any(|fit| fit.outcome == crate::fit::Outcome::Stopped) {
            return Ok(None);
        }
        let mut found = Found::of(&trained.ensemble, part, &self.score)?;
        found.take(&trained.fits);
        if matches!(self.contender, Contender::Strong) {
            // The point of the recipe: ½, the centre of its prior, is the threshold, and none is looked for.
            (found.threshold, found.train[1], found.test[1]) = (None, None, None);
        }
        Ok(Some(found))
    }

    /// The paper's set-up, or the recipe's.
    fn settings(&self, experiment: Experiment) -> Result<Settings> {
        let sol = |prior: &scorewise::Prior| Loss::Score(ScoreLoss::new(self.score.clone(), prior.clone()));
        let plain = Settings { keep: Keep::Last, cure: self.cured, ..experiment.settings() };
        Ok(match &self.contender {
            Contender::Sol(prior) => Settings { objective: sol(prior).into(), ..plain },
            Contender::CrossEntropy | Contender::Persistence => plain,
            Contender::Logistic(_) => strong::logistic(),
            Contender::Tuned => strong::tuned(),
            Contender::Strong => strong::strong(&self.score)?,
        })
    }

    fn trial(&self, experiment: Experiment, seed: u64, found: &Found, seconds: f64) -> Result<Trial> {
        let outside = match (found.threshold, self.contender.prior()) {
            (Some(threshold), Some(prior)) => threshold < prior.support().0 || threshold > prior.support().1,
            _ => false,
        };
        let (score, contender, cured, repeat) = self.key();
        Ok(Trial {
            version: env!("CARGO_PKG_VERSION").into(),
            experiment: experiment.name().into(),
            seed,
            score,
            contender,
            recipe: self.recipe(experiment)?,
            cured,
            repeat,
            success: found.success,
            restarts: found.restarts,
            epochs: found.epochs,
            threshold: found.threshold,
            outside,
            train_half: found.train[0].unwrap_or(0.0),
            train_best: found.train[1],
            test_half: found.test[0].unwrap_or(0.0),
            test_best: found.test[1],
            seconds,
        })
    }
}

impl Trial {
    pub(super) fn key(&self) -> Key {
        (self.score.clone(), self.contender.clone(), self.cured, self.repeat)
    }
}

/// What a forecast is worth: scores at ½ and at τ*.
struct Found {
    success: bool,
    restarts: usize,
    epochs: f64,
    threshold: Option<f64>,
    train: [Option<f64>; 2],
    test: [Option<f64>; 2],
}

impl Found {
    fn of(ensemble: &Ensemble, part: &Part, score: &Score) -> Result<Self> {
        Found::new(part, score, |rows| ensemble.probabilities(&part.matrix, rows))
    }

    fn new(part: &Part, score: &Score, probabilities: impl Fn(&[u32]) -> Vec<f64>) -> Result<Self> {
        let (seen, events) = (probabilities(&part.seen), part.events(&part.seen));
        let rows = Rows::new(Probabilities(&seen), &events)?;
        let best = sweep(&rows)?.best(score);
        let (unseen, unseen_events) = (probabilities(&part.test), part.events(&part.test));
        let test = Rows::new(Probabilities(&unseen), &unseen_events)?;
        let at = |rows: &Rows<'_, Probabilities<'_, f64>>, threshold: f64| -> Result<Option<f64>> {
            Ok(Some(score.value(&confusion(rows, threshold)?)))
        };
        let threshold = best.map(|best| best.threshold);
        let both = |rows: &Rows<'_, Probabilities<'_, f64>>| -> Result<[Option<f64>; 2]> {
            Ok([at(rows, 0.5)?, threshold.map_or(Ok(None), |threshold| at(rows, threshold))?])
        };
        Ok(Found { success: true, restarts: 0, epochs: 0.0, threshold, train: both(&rows)?, test: both(&test)? })
    }

    /// How its trainings went.
    fn take(&mut self, fits: &[Fit]) {
        self.success = fits.iter().any(|fit| fit.success);
        self.restarts = fits.iter().map(|fit| fit.restarts).sum();
        let epochs: usize = fits.iter().map(|fit| fit.warm_up.len() + fit.history.len()).sum();
        self.epochs = epochs as f64 / fits.len() as f64;
    }
}

/// A number for a name (FNV-1a), so that a row's randomness does not depend on which other rows there are.
fn name(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The loss of cross-entropy, plain.
pub(super) fn cross_entropy() -> Loss {
    Loss::CrossEntropy(CrossEntropy::plain())
}
