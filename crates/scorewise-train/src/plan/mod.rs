//! The plan of a training run: everything that the run depends on except the table, as one typed value.
//!
//! A plan is made from the [`TrainingOptions`] of the command line or of Python. It is stored in the model file, so that the same model can
//! be trained again.

mod options;
mod recipe;
mod score;
mod text;

pub use options::{TrainingOptions, share};
pub use recipe::{Recipe, RecipeName};
pub use score::{TrainingScore, multi_score};

use std::fmt;
use std::str::FromStr;

use scorewise::multiclass::{MultiScore, OneVersusRest, SimplexLoss, SoftmaxCrossEntropy};
use scorewise::temporal::{TemporalLoss, Weighting};
use scorewise::{ClassCounts, CrossEntropy, ExactLoss, Loss, Prior, ScoreLoss};
use scorewise_table::dependence::Resample;
use scorewise_table::encode::EncodingOptions;
use scorewise_table::error::{Error, Result};
use scorewise_table::split::Split;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fit::{Objective, Sample};
use crate::learner::Learner;
use crate::network::NetworkSettings;

/// The loss to minimise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// 1 − the score of the expected confusion matrix
    Sol,
    /// 1 − the exact expected score
    Exact,
    /// Cross-entropy
    #[serde(rename = "ce")]
    #[cfg_attr(feature = "clap", value(name = "ce"))]
    CrossEntropy,
    /// Cross-entropy with balanced classes
    #[serde(rename = "weighted-ce")]
    #[cfg_attr(feature = "clap", value(name = "weighted-ce"))]
    WeightedCrossEntropy,
}

/// How a model for more than two classes is trained for a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Multiclass {
    /// One decision among all classes
    // With this variant, the expected confusion matrix is an expectation over random thresholds with a Gumbel distribution.
    Simplex,
    /// Every class against the rest
    // With this variant, all classes have the same prior of the threshold.
    OneVersusRest,
}

/// How the threshold of the model is chosen: `auto`, `tuned`, `centre`, or a number. With more than two classes, `tuned` multiplies the probability
/// of each class by a tuned factor, `centre` leaves the probabilities as they are, and `auto` chooses between the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThresholdRule {
    /// The threshold with the best score on the validation rows; with cross-fitting, the score is averaged over nearby thresholds.
    Tuned,
    /// The centre of the prior, to which a warm start moves the best threshold; ½ for cross-entropy, which has no prior.
    Centre,
    /// Either the centre of the prior or a tuned threshold, whichever gives the better score in a bootstrap of the validation rows. The tuned
    /// threshold is the one with the best score on average over nearby thresholds.
    Auto,
    /// A threshold between 0 and 1 that the user gave.
    Fixed(f64),
}

/// Everything that a training run depends on except the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Name of the recipe, or of the built-in table, that determined the settings which the user did not choose; `None` if there was none.
    pub recipe: Option<String>,
    /// The target, which is what the model predicts: the name of a column, or a condition on a column.
    pub target: String,
    /// The name of the positive class; `None` for the rarer of the two classes.
    pub positive: Option<String>,
    /// The lead: the number of rows from the row of the inputs to the row that is predicted. With 0, the target is that of the same row.
    pub lead: usize,
    /// Name of the column of sample weights; `None` if all rows have the same weight.
    pub weight: Option<String>,
    /// Which columns are inputs and how they are encoded.
    pub choice: EncodingOptions,
    /// How rows are divided into training, validation and test rows.
    pub split: Split,
    /// Share of the rows that are test rows; 1/5 by default.
    pub test: f64,
    /// Share of validation rows among the rows that are not test rows; 1/3 by default, as in Marchetti et al. (2022), because many rows are
    /// needed to choose a threshold for rare events.
    pub validation: f64,
    /// The score to train for.
    pub score: TrainingScore,
    /// The prior distribution of the threshold. The prior of [`Plan::new`], `cosine:0.5,0.1`, is so narrow that the best threshold lies near its
    /// centre.
    #[serde(with = "text")]
    pub prior: Prior,
    /// How errors in a time series are weighted by their timing; `None` if every error counts 1. The series are those of `choice.group`.
    #[serde(default, with = "text::optional", skip_serializing_if = "Option::is_none")]
    pub temporal: Option<Weighting>,
    /// The loss to minimise.
    pub loss: LossName,
    /// How a model for more than two classes is trained.
    pub multiclass: Multiclass,
    /// How the threshold of the model is chosen.
    pub threshold: ThresholdRule,
    /// The types of models to train, with their settings. All are trained on the same folds, and the model predicts a weighted mean of their
    /// predictions.
    #[serde(alias = "learner", deserialize_with = "text::one_or_many")]
    pub learners: Vec<Learner>,
    /// Maximum number of intervals into which knots divide the values of a numeric column; 0 if inputs are not binned.
    #[serde(default)]
    pub bins: usize,
    /// Number of folds of the cross-fitting, in which every member is trained without one fold and predicts that fold. 0 means
    /// one set of validation rows instead of cross-fitting.
    #[serde(default)]
    pub cross_fit: usize,
    /// Number of networks to train; with cross-fitting, the number for each fold. Trees and linear models are trained only once instead.
    pub ensemble: usize,
    /// Whether each member has validation rows of its own, which is possible only with random splits. The threshold is then tuned on predictions in
    /// which a row is predicted only by the members that were not trained on it.
    pub own_validation: bool,
    /// What is resampled to compute confidence intervals of the scores: rows, blocks of rows or groups of rows. If `None`, this depends on the split.
    /// The model does not depend on this field, so it is not part of the model file.
    #[serde(skip)]
    pub resample: Option<Resample>,
    /// Seed of all random numbers.
    pub seed: u64,
}

impl Plan {
    /// A plan for a target and a score, with the settings of [`Recipe::PAPER`]. [`TrainingOptions::apply`] changes them to the settings of
    /// other recipes.
    #[must_use]
    pub fn new(target: &str, score: TrainingScore) -> Self {
        Plan {
            recipe: None,
            target: target.into(),
            positive: None,
            lead: 0,
            weight: None,
            choice: EncodingOptions::default(),
            split: Split::Random,
            test: 0.2,
            validation: 1.0 / 3.0,
            score,
            prior: Recipe::PAPER.prior.parse().expect("the prior of the recipe is valid"),
            temporal: None,
            loss: LossName::Sol,
            multiclass: Multiclass::Simplex,
            threshold: ThresholdRule::Tuned,
            learners: vec![Learner::Network(NetworkSettings::default())],
            bins: 0,
            cross_fit: 0,
            ensemble: 1,
            own_validation: false,
            resample: None,
            seed: 0,
        }
    }

    /// The settings of the first learner that is a network; `None` if there is none.
    #[must_use]
    pub fn network(&self) -> Option<&NetworkSettings> {
        self.learners.iter().find_map(Learner::network)
    }

    /// Mutable access to the settings of the first learner that is a network; `None` if there is none.
    pub fn network_mut(&mut self) -> Option<&mut NetworkSettings> {
        self.learners.iter_mut().find_map(Learner::network_mut)
    }

    /// Share of validation rows among the rows that are not test rows; 0 with cross-fitting, which divides these rows into folds instead.
    #[must_use]
    pub fn validation_share(&self) -> f64 {
        if self.cross_fit == 0 { self.validation } else { 0.0 }
    }

    /// Number of members of the ensemble; with cross-fitting, this is the number for all folds together.
    #[must_use]
    pub fn members(&self) -> usize {
        let repeats: usize = self.learners.iter().map(|learner| learner.repeats(self.ensemble)).sum();
        repeats.saturating_mul(self.cross_fit.max(1))
    }

    /// The recipe that the field `recipe` names, or the default recipe if that name is not the name of a recipe; `None` if the field is `None`.
    pub(crate) fn default_recipe(&self) -> Option<Recipe> {
        self.recipe.as_deref().map(|name| RecipeName::named(name).unwrap_or(RecipeName::Default).recipe())
    }

    /// Whether the loss has a random threshold with a prior.
    #[must_use]
    pub fn has_prior(&self) -> bool {
        matches!(self.loss, LossName::Sol | LossName::Exact)
    }

    /// Checks that errors can be weighted by their timing with these settings and this number of classes.
    pub(crate) fn check_temporal(&self, classes: usize) -> Result<()> {
        let refuse = |problem: String, hint: &str| Err(Error::setting("temporal", problem, hint));
        match (&self.temporal, &self.split) {
            (None, _) => Ok(()),
            _ if classes > 2 => refuse(
                format!("applies to two classes, but the target has {classes}"),
                "name one class as the positive one",
            ),
            (_, Split::Random) => refuse(
                "a random split would put neighbouring rows of a time series into different sets".into(),
                "split the rows by time or by group",
            ),
            _ if self.loss == LossName::Exact => refuse(
                "the exact expected score is not known if errors are weighted by their timing".into(),
                "use the default loss, `sol`, or cross-entropy",
            ),
            _ => Ok(()),
        }
    }

    /// The loss that trees minimise instead of `objective`. If errors are weighted by their timing, trees are trained for the score of the unweighted
    /// counts, because a tree looks at rows one by one. The weights of the learners and the threshold are still chosen for the weighted counts.
    pub(crate) fn objective_of_trees(&self, objective: &Objective) -> Objective {
        match objective {
            Objective::Temporal(loss) => {
                Objective::Binary(Loss::Score(ScoreLoss::new(loss.score().clone(), loss.prior().clone())))
            }
            objective => objective.clone(),
        }
    }

    /// The loss for this sample. Only a balanced cross-entropy depends on the weights of the classes in the sample.
    pub(crate) fn objective(&self, sample: &Sample<'_>) -> Result<Objective> {
        let (classes, weights) = (sample.classes, sample.class_weights());
        if classes == 2 {
            let score = self.score.binary()?;
            if let (Some(weighting), LossName::Sol) = (&self.temporal, self.loss) {
                return Ok(Objective::Temporal(TemporalLoss::new(score, self.prior.clone(), weighting.clone())));
            }
            return Ok(Objective::Binary(match self.loss {
                LossName::Sol => Loss::Score(ScoreLoss::new(score, self.prior.clone())),
                LossName::Exact => Loss::Exact(ExactLoss::new(score, self.prior.clone())),
                LossName::CrossEntropy => Loss::CrossEntropy(CrossEntropy::plain()),
                LossName::WeightedCrossEntropy => {
                    let counts = ClassCounts { negatives: weights[0], positives: weights[1] };
                    Loss::CrossEntropy(CrossEntropy::balanced(&counts)?)
                }
            }));
        }
        Ok(match (self.loss, self.multiclass) {
            (LossName::CrossEntropy, _) => Objective::Softmax(SoftmaxCrossEntropy::plain()),
            (LossName::WeightedCrossEntropy, _) => Objective::Softmax(SoftmaxCrossEntropy::balanced(&weights)?),
            (LossName::Exact, _) => {
                let problem = format!("the exact expected score is for two classes, but there are {classes}");
                let hint = "use the default `sol`, which works with any number of classes";
                return Err(Error::setting("loss", problem, hint));
            }
            (LossName::Sol, Multiclass::Simplex) => Objective::Simplex(SimplexLoss::new(self.score.multiclass())),
            (LossName::Sol, Multiclass::OneVersusRest) => match self.score.multiclass() {
                MultiScore::Classwise(average, score) => {
                    Objective::OneVersusRest(OneVersusRest::new(score, vec![self.prior.clone()], average)?)
                }
                matrix_score => {
                    let problem = format!(
                        "{matrix_score} is a score of the whole confusion matrix, not of one class against the rest"
                    );
                    return Err(Error::setting(
                        "multiclass",
                        problem,
                        "choose `simplex`, or a score such as `macro(f1)`",
                    ));
                }
            },
        })
    }
}

impl LossName {
    /// The name of the loss as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LossName::Sol => "sol",
            LossName::Exact => "exact",
            LossName::CrossEntropy => "ce",
            LossName::WeightedCrossEntropy => "weighted-ce",
        }
    }
}

impl LossName {
    /// The loss with this name; `None` if there is none.
    pub(crate) fn named(name: &str) -> Option<Self> {
        use LossName::{CrossEntropy, Exact, Sol, WeightedCrossEntropy};
        [Sol, Exact, CrossEntropy, WeightedCrossEntropy].into_iter().find(|loss| loss.name() == name)
    }
}

impl FromStr for ThresholdRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => return Ok(ThresholdRule::Auto),
            "tuned" => return Ok(ThresholdRule::Tuned),
            "centre" | "center" => return Ok(ThresholdRule::Centre),
            _ => {}
        }
        match text.parse::<f64>() {
            Ok(threshold) if (0.0..=1.0).contains(&threshold) => Ok(ThresholdRule::Fixed(threshold)),
            _ => {
                let problem = format!("`{}` is not a threshold", text.escape_debug());
                Err(Error::setting(
                    "threshold",
                    problem,
                    "write `auto`, `tuned`, `centre`, or a number between 0 and 1",
                ))
            }
        }
    }
}

impl fmt::Display for ThresholdRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThresholdRule::Auto => out.write_str("auto"),
            ThresholdRule::Tuned => out.write_str("tuned"),
            ThresholdRule::Centre => out.write_str("centre"),
            ThresholdRule::Fixed(threshold) => threshold.fmt(out),
        }
    }
}

/// The serialised form of a [`ThresholdRule`]: a word or a number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum SerialisedThreshold {
    Number(f64),
    Word(String),
}

impl Serialize for ThresholdRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            ThresholdRule::Fixed(threshold) => SerialisedThreshold::Number(*threshold),
            word => SerialisedThreshold::Word(word.to_string()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ThresholdRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match SerialisedThreshold::deserialize(deserializer)? {
            SerialisedThreshold::Number(number) => number.to_string().parse(),
            SerialisedThreshold::Word(word) => word.parse(),
        }
        .map_err(serde::de::Error::custom)
    }
}
