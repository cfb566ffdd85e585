//! Errors for options of `train` that contradict each other. No option is silently ignored.

use scorewise_table::table::Table;
use scorewise_table::target::Target;
use scorewise_train::Error;
use scorewise_train::plan::{LossName, Multiclass, Plan, ThresholdRule};

use super::arguments::{TestRows, TrainArguments};
use crate::outcome::Failure;

/// Returns an error if two options contradict each other, as far as this can be checked without the table.
pub fn check_options(arguments: &TrainArguments) -> Result<(), Failure> {
    let error = |option: &str, problem: &str, hint: &str| Err(Error::setting(option, problem, hint).into());
    let options = &arguments.options;
    let has_test = arguments.test.as_ref().is_some_and(|test| *test != TestRows::Share(0.0));
    if has_test && arguments.folds.is_some() {
        let hint = "leave out `--test` or `--folds`";
        return error(
            "test",
            "cross-validation takes its test rows from the training table, so other test rows are not possible",
            hint,
        );
    }
    if matches!(options.loss, Some(LossName::CrossEntropy | LossName::WeightedCrossEntropy)) {
        if options.prior.is_some() {
            let hint = "leave out `--prior`, or choose `--loss sol` or `--loss exact`";
            return error("prior", "cross-entropy has no random threshold and therefore no prior", hint);
        }
        if options.multiclass.is_some() {
            let hint = "leave out `--multiclass`, or choose `--loss sol`";
            let problem = "cross-entropy has only one form, but this option chooses between two forms of a loss";
            return error("multiclass", problem, hint);
        }
        if options.threshold == Some(ThresholdRule::Centre) {
            let problem = "cross-entropy has no prior whose centre could be the threshold";
            return error("threshold", problem, "write `tuned` or a number such as 0.5");
        }
    }
    if options.temporal.is_some() && options.loss == Some(LossName::Exact) {
        let problem = "the exact expected score is not known if errors are weighted by their timing";
        return error("temporal", problem, "leave out `--loss exact`");
    }
    if options.validation.is_some() && options.cross_fit.is_some_and(|folds| folds > 0) {
        let problem = "with cross-fitting, every row that is not a test row is a validation row of one fold";
        return error("validation", problem, "leave out `--validation`, or write `--cross-fit 0`");
    }
    if options.no_cure && options.warm_start == Some(true) {
        let problem = "this option trains exactly as in Marchetti et al. (2022), where there is no warm start";
        return error("no-cure", problem, "leave out `--no-cure` or `--warm-start`");
    }
    Ok(())
}

/// Returns an error if an option does not apply to the columns or classes of this table.
pub fn check_table(arguments: &TrainArguments, plan: &Plan, table: &Table) -> Result<(), Failure> {
    let error = |option: &str, problem: String, hint: String| Err(Error::setting(option, problem, hint).into());
    let is_weights_choice = |name: &&String| ["best", "last"].contains(&name.as_str()) && table.column(name).is_none();
    if let Some(name) = arguments.keep.iter().find(is_weights_choice) {
        let problem = format!("`{}` has no column `{name}`", table.file);
        return error(
            "keep",
            problem,
            format!("to choose which weights the model keeps, write `--keep-weights {name}`"),
        );
    }
    let (target, _) = Target::parse(&plan.target, table, plan.positive.as_deref(), plan.lead)?;
    let classes = target.classes().len();
    if classes == 2 && arguments.options.multiclass.is_some() {
        return error(
            "multiclass",
            "this option is for more than two classes, but the target has two".into(),
            "leave out `--multiclass`".into(),
        );
    }
    if classes > 2 && matches!(arguments.options.threshold, Some(ThresholdRule::Centre | ThresholdRule::Fixed(_))) {
        let problem = format!("a number or `centre` needs a target with two classes, but this target has {classes}");
        let hint = "write `tuned`, which multiplies the probability of each class by a tuned factor, or leave out \
                    `--threshold`; `--positive CLASS` makes two classes";
        return error("threshold", problem, hint.into());
    }
    if classes > 2
        && arguments.options.prior.is_some()
        && (plan.loss, plan.multiclass) == (LossName::Sol, Multiclass::Simplex)
    {
        let problem = format!("with {classes} classes, the simplex loss has its own distribution of random thresholds");
        return error("prior", problem, "leave out `--prior`, or add `--multiclass one-versus-rest`".into());
    }
    Ok(())
}
