//! The training options that users choose, on the command line or in Python.
//!
//! Each field of [`TrainingOptions`] is one option. The doc comment of the field is the help text of the command, and the name of the field
//! is the name of the option and of the key that Python passes. [`TrainingOptions::apply`] writes the values into the [`Plan`], which is
//! stored in the model file. To add a training option, add a field here, a line for it in `apply` and in `of_plan`, and a parameter in
//! `python/scorewise/_classifier.py`; a Python test fails if that parameter is missing.

use scorewise::Prior;
use scorewise::multiclass::MultiScore;
use scorewise::temporal::Weighting;
use scorewise_table::error::{Error, Result};
use scorewise_table::split::check_cross_fit;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::recipe::{Recipe, RecipeName};
use super::{LossName, Multiclass, Plan, ThresholdRule, TrainingScore, text};
use crate::ensemble::check_members;
use crate::fit::Keep;
use crate::learner::{Learner, LearnerName};
use crate::network::{BatchSize, HiddenLayers, NetworkSettings, Optimiser};

/// Options of a training run. An option that is `None` takes its value from the recipe, or else its default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default, deny_unknown_fields)]
pub struct TrainingOptions {
    /// Divide the rows that are not test rows into this many folds, and train every network on all folds but one, whose loss decides when
    /// training stops; the threshold is chosen on the predictions of all folds. 0 for one set of validation rows [default: 5]
    #[cfg_attr(feature = "clap", arg(long, value_name = "FOLDS", help_heading = "Rows"))]
    pub cross_fit: Option<usize>,
    /// With `--cross-fit 0`: share of validation rows among the rows that are not test rows; the validation rows decide when training stops and which
    /// threshold is best [default: 1/3]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", help_heading = "Rows"))]
    pub validation: Option<f64>,

    /// The score to train for and to choose the threshold by; `scorewise scores` lists all scores
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Loss"))]
    pub score: Option<TrainingScore>,
    /// The prior distribution of the threshold; `scorewise priors` lists all priors [default: cosine:0.5,0.4; with `--recipe paper` cosine:0.5,0.1]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Loss"))]
    #[serde(with = "text::optional")]
    pub prior: Option<Prior>,
    /// For a time series: weight errors by their timing. A false alarm shortly before an event counts less than 1, and so does a missed event shortly
    /// after an alarm. The numbers, as in `sum:0.5,0.25`, are subtracted from the weight of an error if the event or alarm is one row, two rows …
    /// away. If several events or alarms are near, `sum` subtracts the numbers of all; `value` and `maximum` subtract only the greatest. With
    /// `value`, a false alarm far from all events, or a missed event far from all alarms, counts twice. Weighted errors are used in the loss of
    /// networks and linear models, to weight the learners, and to choose the threshold; trees are trained for the score without weights
    #[cfg_attr(feature = "clap", arg(long, value_name = "value|maximum|sum[:NUMBERS]", help_heading = "Loss"))]
    #[serde(with = "text::optional")]
    pub temporal: Option<Weighting>,
    /// The loss to minimise [default: sol]
    #[cfg_attr(feature = "clap", arg(long, value_enum, help_heading = "Loss"))]
    pub loss: Option<LossName>,
    /// How to train for the score if there are more than two classes [default: simplex]
    #[cfg_attr(feature = "clap", arg(long, value_enum, help_heading = "Loss"))]
    pub multiclass: Option<Multiclass>,
    /// Train with cross-entropy first, shift the output so that the best threshold is the centre of the prior, then train with the score's loss
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "true|false",
            num_args = 0..=1,
            require_equals = true,
            default_missing_value = "true",
            help_heading = "Loss"
        )
    )]
    pub warm_start: Option<bool>,
    /// The threshold of the model: `tuned` is the best one on the validation rows, `centre` the centre of the prior, `auto` the better of
    /// these two; or a number [default: auto]
    #[cfg_attr(feature = "clap", arg(long, value_name = "auto|tuned|centre|NUMBER", help_heading = "Loss"))]
    pub threshold: Option<ThresholdRule>,

    /// A named set of settings; other options override those of the recipe [default: default]
    #[cfg_attr(feature = "clap", arg(long, value_enum, help_heading = "Training"))]
    pub recipe: Option<RecipeName>,
    /// The types of models to train; their weights in the model are chosen by their out-of-fold predictions [default: networks,trees,linear; only
    /// networks if a setting of networks is given, such as `--hidden` or `--epochs`]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_enum,
            value_delimiter = ',',
            num_args = 1,
            value_name = "networks,trees,linear",
            help_heading = "Training"
        )
    )]
    pub learners: Option<Vec<LearnerName>>,
    /// Number of units of each hidden layer, or `none` for a linear model [default: 64,32]
    #[cfg_attr(feature = "clap", arg(long, value_name = "64,32|none", help_heading = "Training"))]
    pub hidden: Option<HiddenLayers>,
    /// Number of rows in a batch, for which the optimiser takes one step; auto takes a 64th of the training rows, from 32 to 256, or more for the
    /// loss of a score if a class is rare; full takes all [default: auto]
    #[cfg_attr(feature = "clap", arg(long, value_name = "ROWS|auto|full", help_heading = "Training"))]
    pub batch: Option<BatchSize>,
    /// The optimiser, which uses the gradient to change the weights [default: adam]
    #[cfg_attr(feature = "clap", arg(long, value_enum, help_heading = "Training"))]
    pub optimiser: Option<Optimiser>,
    /// The learning rate [default: 0.002]
    #[cfg_attr(feature = "clap", arg(long, value_name = "RATE", help_heading = "Training"))]
    pub learning_rate: Option<f32>,
    /// Decoupled weight decay: every step shrinks the weights by this fraction times the learning rate [default: 0.01]
    #[cfg_attr(feature = "clap", arg(long, value_name = "DECAY", help_heading = "Training"))]
    pub weight_decay: Option<f32>,
    /// Maximum number of epochs with each loss [default: 60]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Training"))]
    pub epochs: Option<usize>,
    /// Number of epochs without a lower validation loss after which training stops [default: 8]
    #[cfg_attr(feature = "clap", arg(long, value_name = "EPOCHS", help_heading = "Training"))]
    pub patience: Option<usize>,
    /// The epoch whose weights are kept at the end of training [default: best]
    #[cfg_attr(feature = "clap", arg(long, value_enum, help_heading = "Training"))]
    pub keep_weights: Option<Keep>,
    /// As in Marchetti et al. (2022), do not move the first predictions into the support of the prior, do not repeat training runs that learn
    /// nothing, and do not use a warm start
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Training"))]
    pub no_cure: bool,
    /// Maximum number of intervals into which the values of a numeric column are divided; the network learns a value for each end of an interval.
    /// 0 for inputs that are only standardised [default: 96]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Training"))]
    pub bins: Option<usize>,
    /// Train this many networks (with `--cross-fit`, for each fold), at most 1000, and average their probabilities [default: 3]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MEMBERS", help_heading = "Training"))]
    pub ensemble: Option<usize>,
    /// Seed of all random numbers [default: 0]
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Training"))]
    pub seed: Option<u64>,
}

impl TrainingOptions {
    /// Parses the options from a JSON object. The error message names the option that is wrong.
    pub fn from_json(text: &str) -> std::result::Result<Self, String> {
        let error = match serde_json::from_str(text) {
            Ok(options) => return Ok(options),
            Err(error) => error,
        };
        // Parsing all options together has failed, so they are parsed one at a time to find the one that is wrong.
        let options: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        for (name, value) in options {
            let one = Map::from_iter([(name.clone(), value)]);
            if let Err(error) = serde_json::from_value::<TrainingOptions>(Value::Object(one)) {
                let message = error.to_string().replace("unknown variant", "there is no value");
                let needs_name = message.starts_with("there is no") || message.starts_with("invalid");
                return Err(if needs_name { format!("{name}: {message}") } else { message });
            }
        }
        Err(error.to_string())
    }

    /// Writes the options into a plan. An option that is `None` takes its value from the recipe: the recipe that the options name, or else
    /// `default_recipe`, which is a pair of a name and a recipe. Settings that recipes do not determine keep the value of the plan or their default.
    pub fn apply(&self, plan: &mut Plan, default_recipe: (&str, Recipe)) -> Result<()> {
        let (name, recipe) = match self.recipe {
            Some(recipe) => (recipe.name(), recipe.recipe()),
            None => default_recipe,
        };
        plan.recipe = Some(name.into());
        if let Some(score) = &self.score {
            plan.score = score.clone();
        }
        plan.temporal = self.temporal.clone().or(plan.temporal.take());
        plan.loss = self.loss.unwrap_or(plan.loss);
        plan.multiclass = self.multiclass.unwrap_or(plan.multiclass);
        // If the user chose a loss but no recipe, the default recipe has no warm start: training minimises the chosen loss from the start.
        let keep_warm_start = (self.recipe.is_some() || self.loss.is_none()) && plan.has_prior() && !self.no_cure;
        let recipe = recipe.with_warm_start(self.warm_start, keep_warm_start);
        plan.prior = self.prior.clone().map_or_else(|| recipe.prior.parse(), Ok)?;
        plan.threshold = self.threshold.unwrap_or(recipe.threshold);
        if self.threshold.is_none() && matches!(plan.score.multiclass(), MultiScore::Costs(_)) {
            // For a matrix of costs, `Auto` chooses between two decision rules without tuning, so it is also valid without a warm start.
            plan.threshold = ThresholdRule::Auto;
        }
        plan.validation = share("validation", self.validation.unwrap_or(plan.validation))?;
        // A user who gives a share of validation rows wants one set of validation rows, so the default is then no cross-fitting.
        let default_folds = if self.validation.is_some() { 0 } else { recipe.cross_fit };
        plan.cross_fit = self.cross_fit.unwrap_or(default_folds);
        if plan.cross_fit > 0 {
            check_cross_fit(plan.cross_fit)?;
        }
        plan.bins = self.bins.unwrap_or(recipe.bins);
        check_bins(plan.bins)?;
        plan.ensemble = self.ensemble.unwrap_or(recipe.members);
        check_members(plan.ensemble)?;
        plan.own_validation = recipe.own_validation && plan.ensemble > 1 && plan.cross_fit == 0;
        plan.seed = self.seed.unwrap_or(plan.seed);
        let defaults = NetworkSettings::default();
        let network = NetworkSettings {
            hidden: self.hidden.clone().map_or_else(|| HiddenLayers::new(recipe.hidden.to_vec()), Ok)?,
            optimiser: self.optimiser.unwrap_or(defaults.optimiser),
            // The batch size of a recipe is meant for batches of single rows. In a batch of blocks, events come together, so it needs more rows.
            batch: self.batch.unwrap_or(if plan.temporal.is_some() { BatchSize::Auto } else { recipe.batch }),
            stratified: recipe.stratified,
            learning_rate: self.learning_rate.unwrap_or(recipe.learning_rate),
            weight_decay: self.weight_decay.unwrap_or(recipe.weight_decay),
            epochs: self.epochs.unwrap_or(recipe.epochs),
            patience: self.patience.unwrap_or(recipe.patience),
            keep: self.keep_weights.unwrap_or(defaults.keep),
            cure: !self.no_cure,
            warm_start: recipe.warm_start,
        };
        let names = match &self.learners {
            Some(names) => names.clone(),
            None if self.has_network_settings() => vec![LearnerName::Networks],
            None => recipe.learners.to_vec(),
        };
        plan.learners = LearnerName::learners(&names, &network)?;
        check_members(plan.members())?;
        Ok(())
    }

    /// Whether a setting is given that only networks have. If so, only networks are trained unless the user names other learners.
    fn has_network_settings(&self) -> bool {
        self.hidden.is_some()
            || self.batch.is_some()
            || self.optimiser.is_some()
            || self.learning_rate.is_some()
            || self.weight_decay.is_some()
            || self.epochs.is_some()
            || self.patience.is_some()
            || self.keep_weights.is_some()
            || self.no_cure
    }

    /// The options with which a plan was made. If they are applied to another plan, that plan gets the same training settings.
    ///
    /// A recipe also decides settings that have no option, such as whether batches are stratified. If the plan does not name a recipe, because its
    /// settings are the defaults of a built-in table, the options name the recipe that gives these settings, or no recipe if none gives them.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        let network = plan.learners.iter().filter_map(Learner::network);
        // Linear models have the settings of the networks, except that they have no hidden layers. So the settings of networks with hidden layers
        // are taken if there are any.
        let network = network.max_by_key(|network| !network.hidden.widths().is_empty()).cloned().unwrap_or_default();
        let options = TrainingOptions {
            learners: Some(LearnerName::of_learners(&plan.learners)),
            cross_fit: Some(plan.cross_fit),
            validation: (plan.cross_fit == 0).then_some(plan.validation),
            score: Some(plan.score.clone()),
            prior: plan.has_prior().then(|| plan.prior.clone()),
            temporal: plan.temporal.clone(),
            loss: Some(plan.loss),
            multiclass: Some(plan.multiclass),
            warm_start: Some(network.warm_start.is_some()),
            threshold: Some(plan.threshold),
            recipe: plan.recipe.as_deref().and_then(RecipeName::named),
            hidden: Some(network.hidden.clone()),
            batch: Some(network.batch),
            optimiser: Some(network.optimiser),
            learning_rate: Some(network.learning_rate),
            weight_decay: Some(network.weight_decay),
            epochs: Some(network.epochs),
            patience: Some(network.patience),
            keep_weights: Some(network.keep),
            no_cure: !network.cure,
            bins: Some(plan.bins),
            ensemble: Some(plan.ensemble),
            seed: Some(plan.seed),
        };
        if options.recipe.is_some() {
            return options;
        }
        let with_recipe = |recipe: RecipeName| TrainingOptions { recipe: Some(recipe), ..options.clone() };
        RecipeName::ALL.into_iter().map(with_recipe).find(|options| options.gives(plan)).unwrap_or(options)
    }

    /// Whether applying these options to a plan gives the training settings of `plan`.
    fn gives(&self, plan: &Plan) -> bool {
        let mut made = Plan { recipe: None, ..plan.clone() };
        let is_valid = self.apply(&mut made, ("default", Recipe::DEFAULT)).is_ok();
        is_valid && Plan { recipe: plan.recipe.clone(), ..made } == *plan
    }
}

/// Maximum value of the option `bins`, which is a number of intervals.
const MAX_BINS: usize = 1024;

/// Checks that the option `bins` is at most [`MAX_BINS`].
fn check_bins(bins: usize) -> Result<()> {
    if bins <= MAX_BINS {
        return Ok(());
    }
    let problem = format!("must be at most {MAX_BINS}, not {bins}");
    Err(Error::setting("bins", problem, "16 to 96 are usual; 0 only standardises the inputs"))
}

/// Checks that a share of the rows is at least 0 and below 1; `setting` is the name of the option in the error message.
pub fn share(setting: &str, share: f64) -> Result<f64> {
    if (0.0..1.0).contains(&share) {
        return Ok(share);
    }
    Err(Error::setting(setting, format!("{share} is not a share of the rows"), "give a number from 0 to below 1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new plan to which these options have been applied.
    fn plan_of(options: &TrainingOptions, default_recipe: (&str, Recipe)) -> Plan {
        let mut plan = Plan::new("y", "tss".parse().unwrap());
        options.apply(&mut plan, default_recipe).unwrap();
        plan
    }

    /// Takes the options of a plan, writes them as JSON, and makes a new plan from that JSON.
    fn rebuilt_plan(plan: &Plan) -> Plan {
        let json = serde_json::to_string(&TrainingOptions::of_plan(plan)).unwrap();
        plan_of(&serde_json::from_str(&json).unwrap(), ("default", Recipe::DEFAULT))
    }

    #[test]
    fn the_options_of_a_plan_make_the_same_plan_again() {
        use LearnerName::{Linear, Networks, Trees};
        let learners =
            [None, Some(vec![Networks]), Some(vec![Trees]), Some(vec![Linear, Trees]), Some(vec![Linear, Networks])];
        let mut count = 0;
        for recipe in [None].into_iter().chain(RecipeName::ALL.map(Some)) {
            for threshold in [None, Some(ThresholdRule::Tuned), Some(ThresholdRule::Fixed(0.3))] {
                for loss in [None, Some(LossName::Sol), Some(LossName::CrossEntropy)] {
                    for learners in &learners {
                        for (no_cure, cross_fit) in [(false, None), (true, None), (false, Some(0)), (false, Some(3))] {
                            let learners = learners.clone();
                            let score = Some("csi".parse().unwrap());
                            let defaults = TrainingOptions::default();
                            let options = TrainingOptions {
                                score,
                                recipe,
                                threshold,
                                loss,
                                learners,
                                no_cure,
                                cross_fit,
                                ..defaults
                            };
                            let plan = plan_of(&options, ("default", Recipe::DEFAULT));
                            assert_eq!(rebuilt_plan(&plan), plan, "{options:?}");
                            count += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(count, 900);
    }

    #[test]
    fn if_a_plan_names_a_built_in_table_its_options_name_the_recipe_with_the_same_settings() {
        for name in RecipeName::ALL {
            let options = TrainingOptions { seed: Some(4), ..TrainingOptions::default() };
            let plan = plan_of(&options, ("pollution", name.recipe()));
            assert_eq!(Plan { recipe: plan.recipe.clone(), ..rebuilt_plan(&plan) }, plan, "{name:?}");
        }
        let mut plan = plan_of(&TrainingOptions::default(), ("pollution", Recipe::STRONG));
        assert_eq!(TrainingOptions::of_plan(&plan).recipe, Some(RecipeName::Strong));
        // No built-in recipe has the value of `slower` that is set here, so the options of the changed plan contain no name of a recipe.
        plan.network_mut().unwrap().warm_start.as_mut().unwrap().slower = 0.5;
        assert_eq!(TrainingOptions::of_plan(&plan).recipe, None);
    }

    #[test]
    fn the_error_names_the_option_that_cannot_be_parsed() {
        for (text, expected) in [
            (r#"{"learning_rat": 0.1}"#, "unknown field `learning_rat`"),
            (
                r#"{"seed": 1, "recipe": "weak"}"#,
                "recipe: there is no value `weak`, expected one of `default`, `quick`, `paper`, `plain`, `strong`",
            ),
            (r#"{"epochs": "many"}"#, "epochs: invalid type"),
            (r#"{"threshold": 1.5}"#, "threshold: `1.5` is not a threshold"),
            (r#"{"score": "f12"}"#, "f12"),
        ] {
            let error = TrainingOptions::from_json(text).unwrap_err();
            assert!(error.starts_with(expected) || error.contains(expected), "{error}");
        }
        assert_eq!(TrainingOptions::from_json("{}"), Ok(TrainingOptions::default()));
    }
}
