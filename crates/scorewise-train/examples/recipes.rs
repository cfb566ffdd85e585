//! Looks for a recipe inside the training windows of the pollution experiment: how `--recipe strong` was found.
//!
//! ```text
//! cargo run --release -p scorewise-train --example recipes -- "loss=ce own=true decay=1 batch=128 inputs=last,Iws" \
//!     "slower=0.1 on_all=true steady=true own=true decay=1 batch=128 inputs=last,Iws"
//! ```
//!
//! Each argument is a setting. Every tenth training window is cut into three parts that follow each other, then into four, five and six; each
//! part judges what the others teach. Printed are the means of the scores, TSS and CSI, at ½ and at the best threshold of the training
//! rows, over all 180 parts and over those of each cut: what is better by chance is seldom so in all four.

use std::ops::ControlFlow;

use scorewise::sweep::{confusion, sweep};
use scorewise::{CrossEntropy, ExactLoss, Loss, Probabilities, Purpose, Rows, Score, ScoreLoss, stream};
use scorewise_train::backend::{Backend, Cpu, in_parallel};
use scorewise_train::ensemble::Ensemble;
use scorewise_train::fit::Fit;
use scorewise_train::job::Job;
use scorewise_train::learner::Learner;
use scorewise_train::network::{BatchSize, NetworkSettings};
use scorewise_train::reproduce::{Inputs, Pollution, WINDOWS, Window};
use scorewise_train::{Error, Result};

/// Settings to try: of the networks, and how many of them.
struct Trial {
    loss: String,
    prior: String,
    inputs: Inputs,
    members: usize,
    /// Whether each network has different validation rows.
    own: bool,
    settings: NetworkSettings,
}

impl Trial {
    fn parse(text: &str) -> Result<Self> {
        let (loss, prior) = ("sol".into(), "cosine:0.5,0.1".into());
        let settings =
            NetworkSettings { hidden: "15,8".parse()?, batch: BatchSize::Rows(512), ..NetworkSettings::default() };
        let mut trial = Trial { loss, prior, inputs: Inputs::one_hot(), members: 6, own: false, settings };
        for word in text.split_whitespace() {
            let refuse = || {
                Error::setting(
                    word,
                    "is not a setting",
                    "loss prior inputs slower on_all steady own batch rate decay patience hidden members",
                )
            };
            let (name, value) = word.split_once('=').ok_or_else(refuse)?;
            let number = || value.parse::<f32>().map_err(|_| refuse());
            let settings = &mut trial.settings;
            match name {
                "loss" => trial.loss = value.into(),
                "prior" => trial.prior = value.into(),
                "slower" => settings.warm_start.get_or_insert_default().slower = number()?,
                "on_all" => settings.warm_start.get_or_insert_default().on_all = value == "true",
                "steady" => settings.warm_start.get_or_insert_default().steady = value == "true",
                "batch" => settings.batch = value.parse()?,
                "rate" => settings.learning_rate = number()?,
                "decay" => settings.weight_decay = number()?,
                "members" => trial.members = number()? as usize,
                "own" => trial.own = value == "true",
                "inputs" => trial.inputs = value.parse()?,
                "patience" => settings.patience = value.parse().map_err(|_| refuse())?,
                "hidden" => settings.hidden = value.parse()?,
                _ => return Err(refuse()),
            }
        }
        Ok(trial)
    }

    /// The score of the test hours of a window at ½ and at the best threshold of its other hours.
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
        let at = |threshold: f64| -> Result<f64> { Ok(score.value(&confusion(&test, threshold)?)) };
        Ok([at(0.5)?, at(best.map_or(0.5, |best| best.threshold))?])
    }
}

/// Into how many parts a training window is cut.
const CUTS: [usize; 4] = [3, 4, 5, 6];

fn main() -> Result<()> {
    let data = Pollution::read()?;
    let parts = |number: usize| CUTS.into_iter().flat_map(move |of| (0..of).map(move |part| (number, part, of)));
    let parts: Vec<(usize, usize, usize)> = (0..WINDOWS).step_by(10).flat_map(parts).collect();
    let scores: Vec<Score> = ["tss", "csi"].iter().flat_map(|name| Score::parse(name)).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    print!("{:<8} {:>15}", "", "all");
    CUTS.iter().for_each(|of| print!(" {of:>13}ths"));
    println!();
    for text in std::env::args().skip(1) {
        let trial = Trial::parse(&text)?;
        let found = in_parallel(parts.len() * scores.len(), threads, |job| {
            let (number, part, of) = parts[job / scores.len()];
            // Settings are compared on the same draws.
            trial.scores(&data, &Window::fold(number, part, of), &scores[job % scores.len()], number as u64)
        })?;
        let found = found.into_iter().collect::<Result<Vec<[f64; 2]>>>()?;
        println!("{text}");
        for (place, name) in ["at 1/2", "tuned"].iter().enumerate() {
            print!("{name:<8}");
            for cut in [None].into_iter().chain(CUTS.map(Some)) {
                let mean = |score: usize| {
                    let here = |(index, _): &(usize, &[f64; 2])| {
                        index % scores.len() == score && cut.is_none_or(|of| parts[index / scores.len()].2 == of)
                    };
                    let values: Vec<f64> =
                        found.iter().enumerate().filter(here).map(|(_, values)| values[place]).collect();
                    values.iter().sum::<f64>() / values.len() as f64
                };
                print!(" {:>15}", format!("{:.4} {:.4}", mean(0), mean(1)));
            }
            println!();
        }
    }
    Ok(())
}
