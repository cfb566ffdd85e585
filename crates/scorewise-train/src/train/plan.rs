//! What a user decides about a training, and the reason of every default.

use scorewise::multiclass::{Average, MultiScore, OneVersusRest, SimplexLoss, SoftmaxCrossEntropy};
use scorewise::{Counts, CrossEntropy, ExactLoss, Loss, Prior, Score, ScoreLoss};
use serde::{Deserialize, Serialize};

use super::{Answers, Recipe};
use crate::fit::{Objective, Sample, Settings};
use crate::model::{Chosen, Decision};
use scorewise_table::Note;
use scorewise_table::encode::Choice;
use scorewise_table::error::{Error, Result};
use scorewise_table::groups::RowOrder;
use scorewise_table::split::Split;
use scorewise_table::table::Table;

/// What is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossName {
    /// 1 − the score of the expected confusion matrix.
    Sol,
    /// 1 − the exact expected score.
    Exact,
    /// Cross-entropy.
    #[serde(rename = "ce")]
    CrossEntropy,
    /// Cross-entropy with the classes balanced.
    #[serde(rename = "weighted-ce")]
    WeightedCrossEntropy,
}

/// How more than two classes are trained with a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manner {
    /// One decision among all classes, under Gumbel thresholds.
    Simplex,
    /// Every class against the rest, each with the prior.
    OneVersusRest,
}

/// The model's threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// The best one on the validation rows.
    Tuned,
    /// The centre of the prior, where the loss of a score puts the best one; ½ where there is no prior.
    Centre,
    /// This one.
    Given(f64),
}

/// Everything that a training depends on beside its table. The model file carries it, so that a model can be trained again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The name of the recipe that gave the settings the user did not choose; `None` when there was none.
    pub recipe: Option<String>,
    /// A column, or a condition on one.
    pub target: String,
    /// The class that counts as positive; the rarer one where nothing is said.
    pub positive: Option<String>,
    /// The row that is predicted lies so many rows ahead.
    pub lead: usize,
    /// A column of sample weights.
    pub weight: Option<String>,
    /// How columns are used.
    pub choice: Choice,
    /// How rows are divided.
    pub split: Split,
    /// The share of the rows that only judge: a fifth by default.
    pub test: f64,
    /// The share of the others that stop the training and choose the threshold: a third by default, as in the paper, for rare
    /// events need many rows before a threshold is worth anything.
    pub validation: f64,
    /// The score.
    pub score: String,
    /// The prior of the threshold: `cosine:0.5,0.1` by default, narrow enough that the best threshold lands near its centre.
    pub prior: String,
    /// What is minimised.
    pub loss: LossName,
    /// How more than two classes are trained.
    pub manner: Manner,
    /// The model's threshold.
    pub cut: Cut,
    /// Widths of the hidden layers: the paper's 50, 20, 5 by default.
    pub hidden: Vec<usize>,
    /// All else of the training; its objective is not looked at.
    pub settings: Settings,
    /// Networks whose probabilities are averaged.
    pub ensemble: usize,
    /// Whether each of them has validation rows of its own, where rows are divided at random; the threshold is then found on what the
    /// networks say of rows that they have not learnt from.
    pub own_validation: bool,
    /// Where all randomness starts.
    pub seed: u64,
    /// Threads; the result does not depend on them, so they are not part of a model file.
    #[serde(skip, default = "one_thread")]
    pub threads: usize,
}

impl LossName {
    /// As a user writes it.
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

impl Plan {
    /// For a target and a score, all else by default.
    #[must_use]
    pub fn new(target: &str, score: &str) -> Self {
        Plan {
            recipe: None,
            target: target.into(),
            positive: None,
            lead: 0,
            weight: None,
            choice: Choice::default(),
            split: Split::Random,
            test: 0.2,
            validation: 1.0 / 3.0,
            score: score.into(),
            prior: Recipe::PLAIN.prior.into(),
            loss: LossName::Sol,
            manner: Manner::Simplex,
            cut: Cut::Tuned,
            hidden: vec![50, 20, 5],
            settings: Settings::new(Loss::CrossEntropy(CrossEntropy::plain())),
            ensemble: 1,
            own_validation: false,
            seed: 0,
            threads: 1,
        }
    }

    /// The settings of a training on this sample.
    pub(super) fn settings(&self, sample: &Sample<'_>, classes: usize) -> Result<Settings> {
        let settings =
            Settings { objective: self.objective(sample, classes)?, seed: self.seed, ..self.settings.clone() };
        settings.check()?;
        Ok(settings)
    }

    fn objective(&self, sample: &Sample<'_>, classes: usize) -> Result<Objective> {
        let weights = sample.class_weights(classes);
        let prior: Prior = self.prior.parse()?;
        if classes == 2 {
            let score = self.binary_score()?;
            return Ok(Objective::Binary(match self.loss {
                LossName::Sol => Loss::Score(ScoreLoss::new(score, prior)),
                LossName::Exact => Loss::Exact(ExactLoss::new(score, prior)),
                LossName::CrossEntropy => Loss::CrossEntropy(CrossEntropy::plain()),
                LossName::WeightedCrossEntropy => {
                    let counts = Counts { negatives: weights[0], positives: weights[1] };
                    Loss::CrossEntropy(CrossEntropy::balanced(&counts)?)
                }
            }));
        }
        Ok(match (self.loss, self.manner) {
            (LossName::CrossEntropy, _) => Objective::Softmax(SoftmaxCrossEntropy::plain()),
            (LossName::WeightedCrossEntropy, _) => Objective::Softmax(SoftmaxCrossEntropy::balanced(&weights)?),
            (LossName::Exact, _) => {
                let problem = format!("the exact expected score is for two classes, and there are {classes}");
                return Err(Error::setting(
                    "loss",
                    problem,
                    "leave it out: the default `sol` has any number of classes",
                ));
            }
            (LossName::Sol, Manner::Simplex) => Objective::Simplex(SimplexLoss::new(self.multi_score()?)),
            (LossName::Sol, Manner::OneVersusRest) => {
                let (average, score) = match self.multi_score()? {
                    MultiScore::Classwise(average, score) => (average, score),
                    whole => {
                        let problem =
                            format!("{whole} is a score of the whole matrix, not of one class against the rest");
                        return Err(Error::setting(
                            "multiclass",
                            problem,
                            "choose `simplex`, or a score such as `macro(f1)`",
                        ));
                    }
                };
                Objective::OneVersusRest(OneVersusRest::new(score, vec![prior], average)?)
            }
        })
    }

    /// The plan as a model file keeps it: without what the result does not depend on, and what other settings give.
    pub(super) fn as_filed(&self) -> Self {
        let usual = Settings::new(Loss::CrossEntropy(CrossEntropy::plain()));
        let Settings { objective, seed, threads, .. } = usual;
        Plan { threads: 1, settings: Settings { objective, seed, threads, ..self.settings.clone() }, ..self.clone() }
    }

    /// How the rows of a table follow each other: by time where a lead or lags make neighbours of them and the table has times.
    pub(super) fn row_order(&self, table: &Table) -> Result<(RowOrder, Vec<Note>)> {
        let group = self.choice.group.as_deref();
        if self.lead == 0 && self.choice.lags == 0 {
            return Ok((RowOrder::of_file(group), Vec::new()));
        }
        let named = match &self.split {
            Split::Time(column) => column.as_deref(),
            _ => None,
        };
        RowOrder::of(table, group, named)
    }

    /// Whether the loss draws its threshold from the prior.
    #[must_use]
    pub fn has_prior(&self) -> bool {
        matches!(self.loss, LossName::Sol | LossName::Exact)
    }

    /// The score of two classes.
    pub fn binary_score(&self) -> Result<Score> {
        Ok(Score::parse(&self.score).map_err(scorewise::Error::from)?)
    }

    /// The score of more than two classes: one of the whole matrix, or the mean over the classes of a score of two.
    pub fn multi_score(&self) -> Result<MultiScore> {
        multi_score(&self.score)
    }

    /// The score by its name, for networks with so many outputs.
    pub(super) fn score_name(&self, outputs: usize) -> Result<String> {
        Ok(if outputs == 1 { self.binary_score()?.to_string() } else { self.multi_score()?.to_string() })
    }

    /// From the validation rows to the rule that gives labels.
    pub(super) fn decide(&self, validation: &Answers, classes: usize) -> Result<Decision> {
        match self.cut {
            _ if classes > 2 => Ok(Decision::Greatest),
            Cut::Given(threshold) => Ok(Decision::at(threshold, Chosen::Given, "given")),
            Cut::Centre => {
                let centre = if self.has_prior() { self.prior.parse::<Prior>()?.mean() } else { 0.5 };
                Ok(Decision::at(centre, Chosen::Prior, "the centre of the prior"))
            }
            Cut::Tuned => validation.decide(&self.binary_score()?, Chosen::ValidationSweep, "validation rows"),
        }
    }
}

/// A score of more than two classes from its name or formula: one of the whole matrix, or the mean over the classes of a score of two.
pub fn multi_score(text: &str) -> Result<MultiScore> {
    MultiScore::parse(text).or_else(|error| match Score::parse(text) {
        Ok(score) => Ok(MultiScore::Classwise(Average::Macro, score)),
        Err(_) => Err(scorewise::Error::from(error).into()),
    })
}

fn one_thread() -> usize {
    1
}
