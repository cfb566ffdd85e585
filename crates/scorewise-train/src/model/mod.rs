//! MODEL: one file that carries a trained classifier to production, with its threshold and how that was chosen.
//!
//! A model holds everything between a table and a label: how the table was read, how columns become numbers, the networks,
//! and the decision. The file is safetensors, so any tool can look at the weights; all else is one JSON text in its header.
//! `docs/model-file.md` describes it. The same training gives the same bytes: there are no dates, machines or thread counts.
//!
//! ```
//! use scorewise_train::model::{Chosen, Decision, Model};
//! # use scorewise_table::encode::{Coding, Encoder, Input};
//! # use scorewise_table::table::{Kind, Reading};
//! # use scorewise_table::target::{Rule, Target};
//! # use scorewise_train::learner::Member;
//! # use scorewise_train::network::{Network, NetworkShape};
//! # let input = |column: &str| Input {
//! #     column: column.into(), kind: Kind::Number, lag: 0,
//! #     coding: Coding::Number { mean: 0.0, deviation: 1.0, indicator: false },
//! # };
//! # let encoder = Encoder { inputs: vec![input("bz"), input("speed")], order: Default::default() };
//! # let classes = vec!["quiet".to_owned(), "storm".to_owned()];
//! # let target = Target { column: "state".into(), rule: Rule::Classes(classes.clone()), lead: 0 };
//! # let members = vec![Member::Network(Network::glorot(NetworkShape::new(2, &[4], 1).unwrap(), 1))];
//! # let decision = Decision::at(0.4, Chosen::Given, "given as --threshold 0.4");
//! # let model = Model {
//! #     version: scorewise_train::model::VERSION.into(), reading: Reading::default(), encoder, target, classes, members,
//! #     score: "tss".into(), prior: Some("uniform".into()), loss: "sol".into(), decision, seed: 0, fingerprint: String::new(),
//! #     plan: None, results: Default::default(),
//! # };
//! let bytes = model.to_bytes()?;
//! assert_eq!(Model::from_bytes("storms.scorewise", &bytes)?, model);
//! let error = Model::from_bytes("storms.scorewise", &bytes[..bytes.len() - 1]).unwrap_err();
//! assert!(error.to_string().starts_with("storms.scorewise: is cut off"));
//! # Ok::<(), scorewise_train::Error>(())
//! ```

mod decision;
mod fingerprint;
mod check;
mod header;
mod file;
mod predict;

pub(crate) use decision::factors;
pub use decision::{Chosen, Decision};
pub use file::{FORMAT, VERSION};
pub use fingerprint::Fingerprint;
pub use predict::Predictor;

use serde_json::Value;

use crate::learner::Member;
use crate::network::HiddenLayers;
use crate::plan::{LossName, Plan, ThresholdRule, TrainingOptions};
use scorewise_table::encode::Encoder;
use scorewise_table::error::Result;
use scorewise_table::table::Reading;
use scorewise_table::target::Target;

/// A trained classifier and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The scorewise that trained it.
    pub version: String,
    /// How the table was read, so that `predict` reads the next one alike.
    pub reading: Reading,
    /// How columns become numbers.
    pub encoder: Encoder,
    /// What is predicted.
    pub target: Target,
    /// The classes in the order of the labels. Of two, the second is the positive one.
    pub classes: Vec<String>,
    /// One or more members, whose probabilities are averaged. For two classes they have one output, for more one for each class.
    pub members: Vec<Member>,
    /// The score it was trained for, by its name in the registry or its formula.
    pub score: String,
    /// The law of the threshold in the loss; nothing where the loss has none.
    pub prior: Option<String>,
    /// What was minimised, by its name on the command line.
    pub loss: String,
    /// From probabilities to a label.
    pub decision: Decision,
    /// Where the randomness started.
    pub seed: u64,
    /// Which data it was trained on: [`Fingerprint::hex`].
    pub fingerprint: String,
    /// Everything that the training depended on beside its table; `None` in a file of format 1.
    pub plan: Option<Plan>,
    /// What was measured, by the names of the `--json` output. No times: the same training gives the same file.
    pub results: Value,
}

impl Model {
    /// The training options behind the model. Those that a file of format 1 does not have are `None`.
    pub fn options(&self) -> Result<TrainingOptions> {
        if let Some(plan) = &self.plan {
            return Ok(TrainingOptions::of_plan(plan));
        }
        let hidden = match self.members.first() {
            Some(Member::Network(network)) => {
                let widths = network.shape().widths();
                Some(HiddenLayers::new(widths[1..widths.len() - 1].to_vec())?)
            }
            None => None,
        };
        let threshold = match &self.decision {
            Decision::Threshold { interval: Some(_), .. } => Some(ThresholdRule::Tuned),
            Decision::Threshold { threshold, .. } => Some(ThresholdRule::Fixed(*threshold)),
            _ => None,
        };
        Ok(TrainingOptions {
            score: Some(self.score.parse()?),
            prior: self.prior.as_deref().map(str::parse).transpose()?,
            loss: LossName::named(&self.loss),
            hidden,
            threshold,
            seed: Some(self.seed),
            ..TrainingOptions::default()
        })
    }
}
