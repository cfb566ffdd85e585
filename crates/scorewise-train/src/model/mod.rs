//! Trained models, and the files in which they are stored.
//!
//! A model holds everything that is needed to get from a table to labels: how the table was read, how columns are encoded, the members of
//! the ensemble, and the decision rule. The file is in the safetensors format, so that many tools can read the weights; everything else is
//! one JSON string in the metadata of the file. `docs/model-file.md` describes the format. Training again with the same data and settings
//! gives the same bytes, because the file contains no dates, machine names or thread counts.
//!
//! ```
//! use scorewise_train::model::{Decision, Model, ThresholdSource};
//! # use scorewise_table::encode::{ColumnEncoding, Encoder, InputColumn};
//! # use scorewise_table::table::{ColumnKind, Reading};
//! # use scorewise_table::target::{LabelRule, Target};
//! # use scorewise_train::learner::Member;
//! # use scorewise_train::network::{Network, NetworkShape};
//! # let input = |column: &str| InputColumn {
//! #     column: column.into(), kind: ColumnKind::Number, lag: 0, part: None,
//! #     coding: ColumnEncoding::Number { mean: 0.0, deviation: 1.0, indicator: false },
//! # };
//! # let encoder = Encoder { inputs: vec![input("bz"), input("speed")], order: Default::default() };
//! # let classes = vec!["quiet".to_owned(), "storm".to_owned()];
//! # let target = Target { column: "state".into(), rule: LabelRule::Classes(classes.clone()), lead: 0 };
//! # let members = vec![Member::Network(Network::glorot(NetworkShape::new(2, &[4], 1).unwrap(), 1))];
//! # let decision = Decision::at(0.4, ThresholdSource::Given, "given as --threshold 0.4");
//! # let model = Model {
//! #     version: scorewise_train::model::VERSION.into(), reading: Reading::default(), encoder, target, classes, members, weights: vec![1.0],
//! #     mean: Default::default(),
//! #     score: "tss".into(), prior: Some("uniform".into()), loss: "sol".into(), decision, calibration: None, seed: 0, fingerprint: String::new(),
//! #     plan: None, reference: None, results: Default::default(),
//! # };
//! let bytes = model.to_bytes()?;
//! assert_eq!(Model::from_bytes("storms.scorewise", &bytes)?, model);
//! let error = Model::from_bytes("storms.scorewise", &bytes[..bytes.len() - 1]).unwrap_err();
//! assert!(error.to_string().starts_with("storms.scorewise: is truncated"));
//! # Ok::<(), scorewise_train::Error>(())
//! ```

mod calibrated;
mod decision;
mod fingerprint;
mod check;
pub(crate) mod header;
mod file;
mod gain;
mod predict;
mod reference;

pub(crate) use decision::centre_factors;
pub use decision::{Decision, ThresholdSource};
pub use file::{FORMAT, VERSION};
pub use fingerprint::Fingerprint;
pub use predict::Predictor;
pub use reference::{HeldOut, HeldOutPart, Reference, StoredEstimate};

use scorewise::calibration::Calibration;
use serde_json::Value;

use crate::ensemble::MeanOf;
use crate::learner::Member;
use crate::network::HiddenLayers;
use crate::plan::{LossName, Plan, ThresholdRule, TrainingOptions};
use scorewise_table::encode::Encoder;
use scorewise_table::error::Result;
use scorewise_table::table::Reading;
use scorewise_table::target::Target;

/// A trained classifier, with the settings of its training run and a hash of the training data.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The version of scorewise that trained the model.
    pub version: String,
    /// How the training table was read, so that `predict` reads other tables in the same way.
    pub reading: Reading,
    /// How the columns of a table are turned into the inputs of the members.
    pub encoder: Encoder,
    /// The column or condition that is predicted.
    pub target: Target,
    /// Names of the classes, indexed by label. With two classes, the second class is the positive one.
    pub classes: Vec<String>,
    /// The fitted members of the ensemble, one or more, whose predictions are averaged. With two classes a member has one output; with more
    /// classes it has one output for each class.
    pub members: Vec<Member>,
    /// The weight of each member in the mean of the predictions. The weights need not sum to 1.
    pub weights: Vec<f64>,
    /// Whether the probabilities or the logits of the members are averaged.
    pub mean: MeanOf,
    /// The score that the model was trained for: the name of a built-in score, or a formula.
    pub score: String,
    /// The prior distribution of the threshold in the loss, as text such as `cosine:0.5,0.1`; `None` if the loss has no random threshold.
    pub prior: Option<String>,
    /// The name of the loss that was minimised, as users write it on the command line.
    pub loss: String,
    /// The rule that turns probabilities into labels.
    pub decision: Decision,
    /// The curve that turns the predictions of the ensemble into probabilities. `None` if the predictions are used as probabilities, as always with
    /// more than two classes.
    pub calibration: Option<Calibration>,
    /// The seed of all random numbers of the training run.
    pub seed: u64,
    /// A hash that identifies the training data, as returned by [`Fingerprint::hex`].
    pub fingerprint: String,
    /// All settings of the training run; `None` if the model was read from a file of format 1.
    pub plan: Option<Plan>,
    /// The distributions and the score with which `scorewise monitor` compares later rows; `None` if the model was read from a file of a format
    /// before 5.
    pub reference: Option<Reference>,
    /// Scores and other results, with the keys of the `--json` output. Running times are left out, so that training again with the same data
    /// and settings gives the same file.
    pub results: Value,
}

impl Model {
    /// The options that the model was trained with. If the model was read from a file of format 1, options that the file does not record are
    /// `None`.
    pub fn options(&self) -> Result<TrainingOptions> {
        if let Some(plan) = &self.plan {
            return Ok(TrainingOptions::of_plan(plan));
        }
        let widths = self.members.first().and_then(Member::hidden_widths);
        let hidden = widths.map(|widths| HiddenLayers::new(widths.to_vec())).transpose()?;
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
