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
use scorewise::{CrossEntropy, ExactLoss, Loss, Probabilities, Rows, Score, ScoreLoss};
use scorewise_train::ensemble::ensemble;
use scorewise_train::fit::{Settings, side_by_side};
use scorewise_train::reproduce::{Inputs, Pollution, WINDOWS, Window};
use scorewise_train::{Error, Result, Shape};

/// What is tried: settings of a training, and how many networks.
struct Trial {
    loss: String,
    prior: String,
    inputs: Inputs,
    hidden: Vec<usize>,
    members: usize,
    /// Whether each network has validation rows of its own.
    own: bool,
    settings: Settings,
}

impl Trial {
    fn parse(text: &str) -> Result<Self> {
        let plain = Settings::new(Loss::CrossEntropy(CrossEntropy::plain()));
        let (loss, prior) = ("sol".into(), "cosine:0.5,0.1".into());
        let settings = Settings { batch: Some(512), ..plain };
        let mut trial =
            Trial { loss, prior, inputs: Inputs::one_hot(), hidden: vec![15, 8], members: 6, own: false, settings };
        for word in text.split_whitespace() {
            let refuse = || {
                Error::setting(
                    word,
                    "is no setting",
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
                "batch" => settings.batch = value.parse().ok(),
                "rate" => settings.learning_rate = number()?,
                "decay" => settings.weight_decay = number()?,
                "members" => trial.members = number()? as usize,
                "own" => trial.own = value == "true",
                "inputs" => trial.inputs = value.parse()?,
                "patience" => settings.patience = value.parse().map_err(|_| refuse())?,
                "hidden" => trial.hidden = value.split(',').filter_map(|width| width.parse().ok()).collect(),
                _ => return Err(refuse()),
            }
        }
        Ok(trial)
    }

    /// The score of a window's last hours at ½ and at the best threshold of its first.
    fn judge(&self, data: &Pollution, window: &Window, score: &Score, seed: u64) -> Result<[f64; 2]> {
        let part = data.part(window, &self.inputs, seed);
        let loss = match self.loss.as_str() {
            "sol" => Loss::Score(ScoreLoss::new(score.clone(), self.prior.parse()?)),
            "exact" => Loss::Exact(ExactLoss::new(score.clone(), self.prior.parse()?)),
            _ => Loss::CrossEntropy(CrossEntropy::plain()),
        };
        let settings = Settings { objective: loss.into(), seed, ..self.settings.clone() };
        let shape = Shape::new(part.matrix.columns(), &self.hidden, 1)
            .ok_or_else(|| Error::setting("hidden", "a width of 0", ""))?;
        let go_on = |_, _, _: &_| ControlFlow::Continue(());
        let hands = part.hands(self.members, seed);
        let samples: Vec<_> = match self.own {
            true => hands.iter().map(|hand| part.sample().with(hand)).collect(),
            false => vec![part.sample(); self.members],
        };
        let trained = ensemble(&shape, &samples, &settings, 1, go_on)?;
        let (seen, events) = (trained.ensemble.probabilities(&part.matrix, &part.seen), part.events(&part.seen));
        let best = sweep(&Rows::new(Probabilities(&seen), &events)?)?.best(score);
        let (unseen, events) = (trained.ensemble.probabilities(&part.matrix, &part.test), part.events(&part.test));
        let rows = Rows::new(Probabilities(&unseen), &events)?;
        let at = |threshold: f64| -> Result<f64> { Ok(score.value(&confusion(&rows, threshold)?)) };
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
        let found = side_by_side(parts.len() * scores.len(), threads, |job| {
            let (number, part, of) = parts[job / scores.len()];
            // Settings are compared on the same draws.
            trial.judge(&data, &Window::fold(number, part, of), &scores[job % scores.len()], number as u64)
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
