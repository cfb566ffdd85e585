//! Options of `train` that contradict each other. None is ignored in silence: where one makes another meaningless, both are named.

use scorewise_table::table::Table;
use scorewise_table::target::Target;
use scorewise_train::Error;
use scorewise_train::plan::{LossName, Multiclass, Plan, ThresholdRule};

use super::arguments::{Arguments, TestRows};
use crate::outcome::Failure;

/// Refuses options that contradict each other whatever the table holds.
pub fn of_options(arguments: &Arguments) -> Result<(), Failure> {
    let refuse = |option: &str, problem: &str, cure: &str| Err(Error::setting(option, problem, cure).into());
    let options = &arguments.options;
    let has_test = arguments.test.as_ref().is_some_and(|test| *test != TestRows::Share(0.0));
    if has_test && arguments.folds.is_some() {
        let cure = "leave out `--test` or `--folds`";
        return refuse("test", "every fold tests on its own rows of the table, so no further test is made", cure);
    }
    if matches!(options.loss, Some(LossName::CrossEntropy | LossName::WeightedCrossEntropy)) {
        if options.prior.is_some() {
            let cure = "leave it out, or choose `--loss sol` or `--loss exact`";
            return refuse("prior", "cross-entropy has no random threshold, and so no prior", cure);
        }
        if options.multiclass.is_some() {
            let cure = "leave it out, or choose `--loss sol`";
            return refuse("multiclass", "cross-entropy trains any number of classes in one way", cure);
        }
        if options.threshold == Some(ThresholdRule::Centre) {
            let problem = "cross-entropy has no prior, and so no centre of it";
            return refuse("threshold", problem, "write `tuned` or a number such as 0.5");
        }
    }
    if options.no_cure && options.warm_start == Some(true) {
        let problem = "follows the paper to the letter, and the paper has no warm start";
        return refuse("no-cure", problem, "leave out `--no-cure` or `--warm-start`");
    }
    Ok(())
}

/// Refuses options that make no sense for the columns and classes of this table.
pub fn with_table(arguments: &Arguments, plan: &Plan, table: &Table) -> Result<(), Failure> {
    let refuse = |option: &str, problem: String, cure: String| Err(Error::setting(option, problem, cure).into());
    let is_of_weights = |word: &&String| ["best", "last"].contains(&word.as_str()) && table.column(word).is_none();
    if let Some(word) = arguments.keep.iter().find(is_of_weights) {
        let problem = format!("names columns, and `{}` has no column `{word}`", table.file);
        return refuse(
            "keep",
            problem,
            format!("for the weights that a training leaves write `--keep-weights {word}`"),
        );
    }
    let (target, _) = Target::parse(&plan.target, table, plan.positive.as_deref(), plan.lead)?;
    let classes = target.classes().len();
    if classes == 2 && arguments.options.multiclass.is_some() {
        return refuse("multiclass", "is for more than two classes, and there are two".into(), "leave it out".into());
    }
    if classes > 2 && arguments.options.threshold.is_some() {
        let problem = format!("is for two classes, and there are {classes}");
        let cure =
            "leave it out: a row gets the class with the greatest probability; `--positive CLASS` makes two classes";
        return refuse("threshold", problem, cure.into());
    }
    if classes > 2
        && arguments.options.prior.is_some()
        && (plan.loss, plan.multiclass) == (LossName::Sol, Multiclass::Simplex)
    {
        let problem = format!(
            "{classes} classes are told apart by one decision, whose random thresholds have a law of their own"
        );
        return refuse("prior", problem, "leave it out, or add `--multiclass one-versus-rest`".into());
    }
    Ok(())
}
