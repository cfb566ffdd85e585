//! Options for the costs of errors, for `score`, `tune` and `compare`. The costs may differ from row to row.

use scorewise::sweep::CostRows;
use scorewise_report::evaluation::CostSummary;
use scorewise_train::Error;

use crate::formatting::{format_number, format_optional, format_with_interval};
use crate::outcome::Failure;
use crate::predictions::{BinaryPredictions, ClassPredictions, with_rows};

/// Options for the costs of errors, which may differ from row to row.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct CostOptions {
    /// Cost of a false alarm: a column with the cost in each row, or one number for all rows; with costs, the mean cost per row is computed
    #[arg(long, value_name = "COLUMN|NUMBER", requires = "cost_fn", allow_hyphen_values = true, help_heading = COSTS)]
    pub cost_fp: Option<String>,
    /// Cost of a miss: a column with the cost in each row, such as an amount of money, or one number for all rows
    #[arg(long, value_name = "COLUMN|NUMBER", requires = "cost_fp", allow_hyphen_values = true, help_heading = COSTS)]
    pub cost_fn: Option<String>,
}

/// Heading of these options in the help.
const COSTS: &str = "Costs of errors";

impl CostOptions {
    /// What the user wrote for the costs of false alarms and of misses; `None` if errors have no costs.
    pub fn sources(&self) -> Option<[String; 2]> {
        self.cost_fp.clone().zip(self.cost_fn.clone()).map(|(false_alarms, misses)| [false_alarms, misses])
    }

    /// Returns an error if the user gave costs and also `option`, which cannot be combined with costs. `is_used`: whether the user gave `option`.
    pub fn refuse(&self, option: &'static str, is_used: bool) -> Result<(), Failure> {
        match self.cost_fp.is_some() && is_used {
            true => {
                let problem = "cannot be combined with `--cost-fp` and `--cost-fn`";
                Err(Error::setting(option, problem, "leave out one of them").into())
            }
            false => Ok(()),
        }
    }

    /// Returns an error if the user gave costs and the table has more than two classes.
    pub fn refuse_classes(&self, predictions: &ClassPredictions) -> Result<(), Failure> {
        if self.cost_fp.is_none() {
            return Ok(());
        }
        let (file, classes) = (&predictions.file, predictions.classes.len());
        let problem = format!("applies to two classes, but {file} has {classes} classes");
        Err(Error::setting("cost-fp", problem, "evaluate one class against all others with `--positive`").into())
    }
}

/// The rows of a forecast with the costs of their errors; `None` if errors have no costs.
pub fn cost_rows(predictions: &BinaryPredictions, forecast: usize) -> Result<Option<CostRows<'_>>, Failure> {
    let Some([false_alarms, misses]) = &predictions.costs else { return Ok(None) };
    Ok(Some(with_rows!(predictions, forecast, rows => CostRows::new(&rows, false_alarms, misses)?)))
}

/// The costs as lines of keys and values for the terminal; the mean cost per row is left out if `with_mean` is false.
pub fn cost_lines(costs: &CostSummary, with_mean: bool) -> Vec<(&'static str, String)> {
    let total = format!(
        "{} = {} for false alarms + {} for misses",
        format_number(costs.total),
        format_number(costs.false_alarms),
        format_number(costs.misses)
    );
    let mean = match costs.per_row.value {
        Some(value) => format_with_interval(value, costs.per_row.interval()),
        None => format_optional(None),
    };
    let constant = format!(
        "{} with an alarm in every row, {} without any alarm",
        format_number(costs.always_alarm),
        format_number(costs.never_alarm)
    );
    let mean = if with_mean { mean } else { String::new() };
    vec![("total cost", total), ("cost per row", mean), ("for comparison", constant)]
}
