//! Makes the training plan from the command-line arguments of `train`. For the built-in tables `adult` and `pollution`, arguments that the user
//! leaves out, such as the target and the score, have defaults.

use std::collections::HashSet;

use scorewise_table::encode::EncodingOptions;
use scorewise_table::split::Split;
use scorewise_table::table::{BuiltIn, ColumnKind, Reading, Source, Table};
use scorewise_train::Error;
use scorewise_train::plan::{Multiclass, Plan, Recipe, share};

use super::arguments::{ReadArguments, TestRows, TrainArguments};
use crate::outcome::{Failure, note};

/// The tables of a training run, and the options for reading them.
pub struct TrainInputs {
    /// The table to train on.
    pub table: Source,
    /// A separate test table, if there is one.
    pub test: Option<Source>,
    /// Options for reading the training table and the test table.
    pub reading: Reading,
}

/// Defaults for training on a built-in table, for arguments that the user leaves out.
struct BuiltInDefaults {
    target: &'static str,
    score: &'static str,
    lead: usize,
    split: Split,
    drop: &'static [&'static str],
    test: Option<BuiltIn>,
    /// Fraction of validation rows; `None` to use the same default as for tables that are not built in.
    validation: Option<f64>,
    /// The training recipe that is used unless the user chooses another one with `--recipe`.
    recipe: Recipe,
}

/// Defaults of the built-in tables, with targets, scores and inputs as in Marchetti et al. (2022); `None` for any other table.
fn built_in_defaults(table: &Source) -> Option<BuiltInDefaults> {
    match table {
        Source::BuiltIn(BuiltIn::Adult) => Some(BuiltInDefaults {
            target: "income",
            score: "f1",
            lead: 0,
            split: Split::Random,
            drop: &[],
            test: Some(BuiltIn::AdultTest),
            validation: Some(0.2),
            recipe: Recipe::DEFAULT,
        }),
        Source::BuiltIn(BuiltIn::Pollution) => Some(BuiltInDefaults {
            target: "pm2.5 > 400",
            score: "tss",
            lead: 1,
            split: Split::Time(None),
            drop: &["No", "year", "month", "day", "hour"],
            test: None,
            validation: None,
            recipe: Recipe::STRONG,
        }),
        _ => None,
    }
}

impl TrainInputs {
    /// Parses the names of the tables and the options for reading them.
    pub fn new(arguments: &TrainArguments) -> Result<Self, Failure> {
        let table = Source::parse(&arguments.table);
        let test = match &arguments.test {
            None if arguments.target.is_none() => built_in_defaults(&table)
                .and_then(|defaults| defaults.test)
                .filter(|_| arguments.folds.is_none())
                .map(Source::BuiltIn),
            Some(TestRows::Table(source)) => Some(source.clone()),
            _ => None,
        };
        Ok(TrainInputs { table, test, reading: read_options(&arguments.reading)? })
    }

    /// Options for reading the test table. Its columns get the types of the training table. The target column is an exception, because classes are
    /// matched by name and the test table may contain other classes.
    pub fn test_reading(&self, table: &Table, plan: &Plan) -> Reading {
        let mut reading = self.reading.clone();
        let unused: HashSet<&String> = plan.choice.drop.iter().collect();
        let is_target = |name: &String| plan.lead == 0 && *name == plan.target;
        let columns = table.columns.iter().filter(|column| !unused.contains(&column.name) && !is_target(&column.name));
        reading.kinds.extend(columns.map(|column| (column.name.clone(), column.values.kind())));
        reading
    }

    /// Builds the training plan from the arguments. If the table is built in, arguments that the user left out get the defaults for this table.
    pub fn plan(&self, arguments: &TrainArguments) -> Result<Plan, Failure> {
        let defaults = built_in_defaults(&self.table);
        let target = match (&arguments.target, &defaults) {
            (Some(target), _) => target.clone(),
            (None, Some(defaults)) => defaults.target.into(),
            (None, None) => {
                let hint = "name a column, or a condition such as --target \"pm2.5 > 400\"";
                return Err(Error::setting("target", "is required: it says what to predict", hint).into());
            }
        };
        // One-versus-rest training uses a binary score for each class, so the score of the model is the mean of the binary score over the classes.
        let default_score = |score: &str| match arguments.options.multiclass {
            Some(Multiclass::OneVersusRest) => format!("macro({score})"),
            _ => score.to_string(),
        };
        let score = match (&arguments.options.score, &defaults) {
            (Some(score), _) => score.clone(),
            // With `--costs`, the score is the mean cost. `accuracy` is a placeholder until the classes of the target are known.
            _ if arguments.costs.is_some() => "accuracy".parse()?,
            (None, Some(defaults)) => default_score(defaults.score).parse()?,
            (None, None) => {
                let score = default_score("tss");
                note(format!(
                    "the score is {score} (hit rate minus false alarm rate) by default; choose another with --score"
                ));
                score.parse()?
            }
        };
        // Except for the score, the defaults of a built-in table apply only to its default target, because they were chosen for this target.
        let defaults = defaults.filter(|_| arguments.target.is_none());
        let mut plan = Plan::new(&target, score);
        plan.positive = arguments.positive.clone();
        plan.lead = arguments.lead.or(defaults.as_ref().map(|defaults| defaults.lead)).unwrap_or(0);
        plan.weight = arguments.weight.clone();
        plan.resample = arguments.resample.clone();
        plan.split = self.split(arguments, defaults.as_ref(), plan.lead)?;
        if let Some(TestRows::Share(test)) = arguments.test {
            plan.test = share("test", test)?;
        }
        plan.validation = defaults.as_ref().and_then(|defaults| defaults.validation).unwrap_or(plan.validation);
        let name = self.table.name();
        let recipe =
            defaults.as_ref().map_or(("default", Recipe::DEFAULT), |defaults| (name.as_str(), defaults.recipe));
        arguments.options.apply(&mut plan, recipe)?;
        plan.choice = EncodingOptions {
            drop: match &defaults {
                Some(defaults) if arguments.drop.is_empty() => {
                    defaults.drop.iter().map(|name| (*name).into()).collect()
                }
                _ => arguments.drop.clone(),
            },
            keep: arguments.keep.clone(),
            ordinal: arguments.ordinal.clone(),
            categorical: arguments.reading.categorical.clone(),
            lags: arguments.lags,
            lag_columns: arguments.lag_columns.clone(),
            group: match (&arguments.group, &plan.split) {
                (Some(column), _) | (None, Split::Group(column)) => Some(column.clone()),
                _ => None,
            },
            ..EncodingOptions::default()
        };
        Ok(plan)
    }

    /// The split that the user chose, or the default split. Without `--split` and with leads or lags, rows are split by time.
    fn split(
        &self,
        arguments: &TrainArguments,
        defaults: Option<&BuiltInDefaults>,
        lead: usize,
    ) -> Result<Split, Failure> {
        let has_neighbours = lead > 0 || arguments.lags > 0;
        let is_weighted_by_timing = arguments.options.temporal.is_some();
        let split = match (&arguments.split, defaults) {
            (Some(split), _) => split.clone(),
            (None, Some(defaults)) => defaults.split.clone(),
            (None, None) if has_neighbours => {
                note(
                    "rows are split by time, because --lead and --lags use neighbouring rows; choose another split with --split",
                );
                Split::Time(None)
            }
            (None, None) if is_weighted_by_timing => {
                note(
                    "rows are split by time, because --temporal uses neighbouring rows; choose another split with --split",
                );
                Split::Time(None)
            }
            (None, None) => Split::Random,
        };
        if split == Split::Random && arguments.lags > 0 {
            let problem =
                "with a random split, neighbouring rows would be in different sets (training, validation, test)";
            return Err(Error::setting("lags", problem, "write `--split time` or `--split group:COLUMN`").into());
        }
        Ok(split)
    }
}

/// The options for reading text files, parsed and checked.
pub fn read_options(arguments: &ReadArguments) -> Result<Reading, Failure> {
    let delimiter = match arguments.delimiter.as_deref() {
        None => None,
        Some("comma") => Some(','),
        Some("semicolon") => Some(';'),
        Some("tab" | "\\t") => Some('\t'),
        Some("pipe") => Some('|'),
        Some(text) => match text.chars().collect::<Vec<_>>().as_slice() {
            [one] if one.is_ascii() => Some(*one),
            _ => {
                let problem = format!("`{}` is not a delimiter", text.escape_debug());
                return Err(Error::setting(
                    "delimiter",
                    problem,
                    "write comma, semicolon, tab, pipe, or one character",
                )
                .into());
            }
        },
    };
    if let Some(both) = arguments.numeric.iter().find(|name| arguments.categorical.contains(name)) {
        let problem = format!("`{}` is also in --categorical", both.escape_debug());
        return Err(Error::setting("numeric", problem, "name the column in only one of the two options").into());
    }
    let with_kind =
        |names: &[String], kind: ColumnKind| names.iter().map(|name| (name.clone(), kind)).collect::<Vec<_>>();
    let kinds =
        [with_kind(&arguments.categorical, ColumnKind::Category), with_kind(&arguments.numeric, ColumnKind::Number)];
    Ok(Reading {
        delimiter,
        decimal_comma: arguments.decimal_comma.then_some(true),
        month_first: arguments.month_first.then_some(true),
        columns: arguments.columns.clone(),
        missing: arguments.missing.clone(),
        kinds: kinds.into_iter().flatten().collect(),
        only: None,
        writing: None,
    })
}

/// The requested number of threads, by default the number of cores.
pub fn thread_count(requested: Option<usize>) -> Result<usize, Failure> {
    match requested {
        Some(0) => Err(Error::setting("threads", "must be at least 1, not 0", "").into()),
        Some(threads) => Ok(threads.min(1024)),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}
