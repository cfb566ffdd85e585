//! Compares combinations of settings by cross-validation inside the training windows of the pollution experiment. The settings of the recipe `strong`
//! were chosen with this program.
//!
//! ```text
//! cargo run --release -p scorewise-train --example recipes -- "loss=ce own=true decay=1 batch=128 inputs=last,Iws" \
//!     "slower=0.1 on_all=true steady=true own=true decay=1 batch=128 inputs=last,Iws"
//! ```
//!
//! Each argument is one combination of settings. Every tenth training window is divided into three consecutive folds, then into four, five and
//! six. Each fold is predicted by networks that are trained on the other folds. The output is the mean TSS and CSI at the threshold ½ and at the
//! threshold that is best on the training rows. Means are computed over all 180 folds and, separately, for each number of folds, because settings
//! that are better only by chance are seldom better for all four numbers of folds.

use std::ops::ControlFlow;

use scorewise::sweep::{confusion, sweep};
use scorewise::{CrossEntropy, ExactLoss, Loss, Probabilities, Purpose, Rows, Score, ScoreLoss, stream};
use scorewise_train::backend::{Backend, Cpu, in_parallel};
use scorewise_train::ensemble::Ensemble;
use scorewise_train::fit::Fit;
use scorewise_train::job::Job;
use scorewise_train::learner::Learner;
use scorewise_train::network::{BatchSize, NetworkSettings};
use scorewise_train::reproduce::{Pollution, PollutionInputs, WINDOWS, Window};
use scorewise_train::{Error, Result};

/// One of the combinations of settings that are compared.
struct Candidate {
    loss: String,
    prior: String,
    inputs: PollutionInputs,
    members: usize,
    /// Whether every network has validation rows of its own.
    own: bool,
    settings: NetworkSettings,
}

impl Candidate {
    /// Parses settings such as `loss=ce batch=128`.
    fn parse(text: &str) -> Result<Self> {
        let (loss, prior) = ("sol".into(), "cosine:0.5,0.1".into());
        let settings =
            NetworkSettings { hidden: "15,8".parse()?, batch: BatchSize::Rows(512), ..NetworkSettings::default() };
        let mut candidate =
            Candidate { loss, prior, inputs: PollutionInputs::one_hot(), members: 6, own: false, settings };
        for word in text.split_whitespace() {
            let refuse = || {
                Error::setting(
                    word,
                    "is not a valid setting",
                    "write NAME=VALUE, where NAME is one of: loss (sol, exact or ce), prior (distribution of \
                     the threshold), inputs (such as last,Iws), members (number of networks), own (true: each network has its own \
                     validation rows), batch (rows of a batch), rate (learning rate), decay (weight decay), \
                     patience (epochs), hidden (units of the hidden layers), slower (factor of the learning rate \
                     after the warm-up), on_all (true: after the warm-up, the best threshold is found on all rows, not only \
                     on the validation rows), steady (true: the output bias is then changed to give the lowest loss)",
                )
            };
            let (name, value) = word.split_once('=').ok_or_else(refuse)?;
            let number = || value.parse::<f32>().map_err(|_| refuse());
            let settings = &mut candidate.settings;
            match name {
                "loss" => candidate.loss = value.into(),
                "prior" => candidate.prior = value.into(),
                "slower" => settings.warm_start.get_or_insert_default().slower = number()?,
                "on_all" => settings.warm_start.get_or_insert_default().on_all = value == "true",
                "steady" => settings.warm_start.get_or_insert_default().steady = value == "true",
                "batch" => settings.batch = value.parse()?,
                "rate" => settings.learning_rate = number()?,
                "decay" => settings.weight_decay = number()?,
                "members" => candidate.members = number()? as usize,
                "own" => candidate.own = value == "true",
                "inputs" => candidate.inputs = value.parse()?,
                "patience" => settings.patience = value.parse().map_err(|_| refuse())?,
                "hidden" => settings.hidden = value.parse()?,
                _ => return Err(refuse()),
            }
        }
        Ok(candidate)
    }

    /// Trains networks on the training hours of `window`. Returns the score of the test hours at the threshold ½ and at the threshold that is best on
    /// the training hours.
    fn scores(&self, data: &Pollution, window: &Window, score: &Score, seed: u64) -> Result<[f64; 2]> {
        let rows = data.window_rows(window, &self.inputs, seed);
        let loss = match self.loss.as_str() {
            "sol" => Loss::Score(ScoreLoss::new(score.clone(), self.prior.parse()?)),
            "exact" => Loss::Exact(ExactLoss::new(score.clone(), self.prior.parse()?)),
            _ => Loss::CrossEntropy(CrossEntropy::plain()),
        };
        let mut dataset = rows.dataset();
        if self.own {
            dataset.splits.extend(rows.member_splits(self.members, seed));
        }
        let job = |member: usize| Job {
            dataset: 0,
            split: if self.own { 1 + member } else { 0 },
            learner: Learner::Network(self.settings.clone()),
            objective: loss.clone().into(),
            seed: stream(seed, Purpose::Member, member as u64),
        };
        let jobs: Vec<Job> = (0..self.members).map(job).collect();
        let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
        let fits: Vec<Fit> = Cpu { threads: 1 }.fit(&[dataset], &jobs, &watch)?.into_iter().flatten().collect();
        let ensemble = Ensemble::of_fits(&fits)?;
        let (seen, events) = (ensemble.probabilities(&rows.matrix, &rows.seen), rows.events(&rows.seen));
        let best = sweep(&Rows::new(Probabilities(&seen), &events)?)?.best(score);
        let (test, events) = (ensemble.probabilities(&rows.matrix, &rows.test), rows.events(&rows.test));
        let test = Rows::new(Probabilities(&test), &events)?;
        let score_at = |threshold: f64| -> Result<f64> { Ok(score.value(&confusion(&test, threshold)?)) };
        Ok([score_at(0.5)?, score_at(best.map_or(0.5, |best| best.threshold))?])
    }
}

/// Numbers of folds into which a training window is divided.
const FOLD_COUNTS: [usize; 4] = [3, 4, 5, 6];

fn main() -> Result<()> {
    let data = Pollution::read()?;
    // The folds of a window. Each fold is given by the index of the window, the index of the fold, and the number of folds.
    let folds_of = |window: usize| {
        FOLD_COUNTS.into_iter().flat_map(move |count| (0..count).map(move |fold| (window, fold, count)))
    };
    let folds: Vec<(usize, usize, usize)> = (0..WINDOWS).step_by(10).flat_map(folds_of).collect();
    let scores: Vec<Score> = ["tss", "csi"].iter().flat_map(|name| Score::parse(name)).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    print!("{:<8} {:>15}", "", "all");
    FOLD_COUNTS.iter().for_each(|count| print!(" {count:>9} folds"));
    println!();
    for text in std::env::args().skip(1) {
        let candidate = Candidate::parse(&text)?;
        let results = in_parallel(folds.len() * scores.len(), threads, |job| {
            let (window, fold, count) = folds[job / scores.len()];
            // The seed depends only on the window, so all combinations of settings are trained with the same random numbers and can be compared.
            candidate.scores(&data, &Window::fold(window, fold, count), &scores[job % scores.len()], window as u64)
        })?;
        let results = results.into_iter().collect::<Result<Vec<[f64; 2]>>>()?;
        println!("{text}");
        for (index, name) in ["at 1/2", "tuned"].iter().enumerate() {
            print!("{name:<8}");
            for count in [None].into_iter().chain(FOLD_COUNTS.map(Some)) {
                let mean = |score: usize| {
                    let is_included = |(job, _): &(usize, &[f64; 2])| {
                        job % scores.len() == score && count.is_none_or(|count| folds[job / scores.len()].2 == count)
                    };
                    let values: Vec<f64> =
                        results.iter().enumerate().filter(is_included).map(|(_, values)| values[index]).collect();
                    values.iter().sum::<f64>() / values.len() as f64
                };
                print!(" {:>15}", format!("{:.4} {:.4}", mean(0), mean(1)));
            }
            println!();
        }
    }
    Ok(())
}
