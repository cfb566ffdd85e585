//! From what was typed to a plan: what each built-in table adds, and what follows from what.

use std::collections::HashSet;

use scorewise_table::encode::Choice;
use scorewise_table::split::Split;
use scorewise_table::table::{BuiltIn, Kind, Reading, Source, Table};
use scorewise_train::Error;
use scorewise_train::ensemble::check_members;
use scorewise_train::fit::{Keep, Method, Settings, WarmStart};
use scorewise_train::train::{Cut, LossName, Manner, Plan, Recipe, check_hidden};

use super::arguments::{self, Arguments, Multiclass, Optimiser, Weights};
use crate::outcome::{Failure, note};

/// Where the tables come from.
pub struct Inputs {
    /// To learn from.
    pub table: Source,
    /// To judge by, where it is a table of its own.
    pub test: Option<Source>,
    /// How both are read.
    pub reading: Reading,
}

/// What a table that is built in is for.
struct Purpose {
    target: &'static str,
    score: &'static str,
    lead: usize,
    split: Split,
    drop: &'static [&'static str],
    test: Option<BuiltIn>,
    /// Where the test is a table of its own, more of the first can be learnt from.
    validation: Option<f64>,
    /// What was best on validation rows.
    recipe: Recipe,
}

/// The experiments of the paper: targets, scores and inputs are its own.
fn purpose(table: &Source) -> Option<Purpose> {
    match table {
        Source::BuiltIn(BuiltIn::Adult) => Some(Purpose {
            target: "income",
            score: "f1",
            lead: 0,
            split: Split::Random,
            drop: &[],
            test: Some(BuiltIn::AdultTest),
            validation: Some(0.2),
            recipe: Recipe { members: 5, warm_start: Some(WarmStart::default()), ..Recipe::PLAIN },
        }),
        Source::BuiltIn(BuiltIn::Pollution) => Some(Purpose {
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

impl Inputs {
    /// From what was typed.
    pub fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let table = Source::parse(&arguments.table);
        let own = match arguments.test.as_deref() {
            None if arguments.target.is_none() => purpose(&table)
                .and_then(|purpose| purpose.test)
                .filter(|_| arguments.folds.is_none())
                .map(Source::BuiltIn),
            Some(text) if text.parse::<f64>().is_err() => Some(Source::parse(text)),
            _ => None,
        };
        Ok(Inputs { table, test: own, reading: reading(&arguments.reading)? })
    }

    /// A test table is read with the kinds that the first table has: a column of numbers stays one. Classes are matched by their names, so
    /// their column may hold what the first table does not.
    pub fn test_reading(&self, table: &Table, plan: &Plan) -> Reading {
        let mut reading = self.reading.clone();
        let unused: HashSet<&String> = plan.choice.drop.iter().collect();
        let is_target = |name: &String| plan.lead == 0 && *name == plan.target;
        let columns = table.columns.iter().filter(|column| !unused.contains(&column.name) && !is_target(&column.name));
        reading.kinds.extend(columns.map(|column| (column.name.clone(), column.values.kind())));
        reading
    }

    /// The plan of the training.
    pub fn plan(&self, arguments: &Arguments) -> Result<Plan, Failure> {
        let purpose = purpose(&self.table);
        let target = match (&arguments.target, &purpose) {
            (Some(target), _) => target.clone(),
            (None, Some(purpose)) => purpose.target.into(),
            (None, None) => {
                let hint = "name a column, or a condition on one: --target \"pm2.5 > 400\"";
                return Err(Error::setting("target", "it is not said what to predict", hint).into());
            }
        };
        // Every class against the rest has a score of two classes each, of which the mean is taken.
        let usual = |score: &str| match arguments.multiclass {
            Some(Multiclass::OneVersusRest) => format!("macro({score})"),
            _ => score.to_string(),
        };
        let score = match (&arguments.score, &purpose) {
            (Some(score), _) => score.clone(),
            (None, Some(purpose)) => usual(purpose.score),
            (None, None) => {
                let score = usual("tss");
                note(format!(
                    "the score is {score} (the rate of hits less that of false alarms); --score chooses another"
                ));
                score
            }
        };
        let purpose = purpose.filter(|_| arguments.target.is_none());
        let mut plan = Plan::new(&target, &score);
        plan.positive = arguments.positive.clone();
        plan.lead = arguments.lead.or(purpose.as_ref().map(|purpose| purpose.lead)).unwrap_or(0);
        plan.weight = arguments.weight.clone();
        plan.split = self.split(arguments, purpose.as_ref(), plan.lead)?;
        plan.test = share("test", arguments.test.as_deref().and_then(|text| text.parse().ok()), plan.test)?;
        let usual = purpose.as_ref().and_then(|purpose| purpose.validation).unwrap_or(plan.validation);
        plan.validation = share("validation", arguments.validation, usual)?;
        plan.loss = match arguments.loss.unwrap_or(arguments::LossName::Sol) {
            arguments::LossName::Sol => LossName::Sol,
            arguments::LossName::Exact => LossName::Exact,
            arguments::LossName::Ce => LossName::CrossEntropy,
            arguments::LossName::WeightedCe => LossName::WeightedCrossEntropy,
        };
        plan.manner = match arguments.multiclass {
            None | Some(Multiclass::Simplex) => Manner::Simplex,
            Some(Multiclass::OneVersusRest) => Manner::OneVersusRest,
        };
        let recipe = recipe(arguments, purpose.as_ref(), plan.has_prior());
        plan.recipe = Some(match (arguments.recipe, &purpose) {
            (Some(arguments::Recipe::Strong), _) => "strong".into(),
            (None, Some(_)) => self.table.name(),
            _ => "plain".into(),
        });
        plan.prior = arguments.prior.clone().unwrap_or_else(|| recipe.prior.into());
        plan.cut = arguments.threshold.as_deref().map_or(Ok(recipe.cut), cut)?;
        plan.hidden = hidden(&arguments.hidden)?;
        plan.ensemble = arguments.ensemble.unwrap_or(recipe.members);
        check_members(plan.ensemble)?;
        plan.own_validation = recipe.own_validation && plan.ensemble > 1;
        plan.seed = arguments.seed;
        plan.threads = threads(arguments.threads)?;
        plan.settings = Settings {
            method: match arguments.optimiser {
                Optimiser::Adam => Method::Adam,
                Optimiser::Sgd => Method::Descent { momentum: 0.9 },
            },
            batch: arguments.batch.as_deref().map_or(Ok(recipe.batch), batch)?,
            learning_rate: arguments.learning_rate,
            weight_decay: arguments.weight_decay.unwrap_or(recipe.weight_decay),
            epochs: arguments.epochs,
            patience: arguments.patience,
            keep: match arguments.keep_weights {
                Weights::Best => Keep::Best,
                Weights::Last => Keep::Last,
            },
            cure: !arguments.no_cure,
            warm_start: recipe.warm_start,
            ..plan.settings
        };
        plan.choice = Choice {
            drop: match &purpose {
                Some(purpose) if arguments.drop.is_empty() => purpose.drop.iter().map(|name| (*name).into()).collect(),
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
            ..Choice::default()
        };
        Ok(plan)
    }

    fn split(&self, arguments: &Arguments, purpose: Option<&Purpose>, lead: usize) -> Result<Split, Failure> {
        let neighbours = lead > 0 || arguments.lags > 0;
        let split = match (&arguments.split, purpose) {
            (Some(text), _) => Split::parse(text)?,
            (None, Some(purpose)) => purpose.split.clone(),
            (None, None) if neighbours => {
                note(
                    "rows are split by time, because a lead or lags make neighbours of them; --split chooses another way",
                );
                Split::Time(None)
            }
            (None, None) => Split::Random,
        };
        if split == Split::Random && arguments.lags > 0 {
            let problem = "rows drawn at random have their neighbours in other parts";
            return Err(Error::setting("lags", problem, "write `--split time` or `--split group:COLUMN`").into());
        }
        Ok(split)
    }
}

/// The recipe that was asked for, or the table's own; with what was said of cross-entropy before it.
fn recipe(arguments: &Arguments, purpose: Option<&Purpose>, has_prior: bool) -> Recipe {
    let recipe = match (arguments.recipe, purpose) {
        (Some(arguments::Recipe::Plain), _) | (None, None) => Recipe::PLAIN,
        (Some(arguments::Recipe::Strong), _) => Recipe::STRONG,
        (None, Some(purpose)) => purpose.recipe,
    };
    // Where a loss was asked for, nothing is put before it that was not.
    let is_own = arguments.recipe.is_some() || arguments.loss.is_none();
    recipe.warm_start(arguments.warm_start, is_own && has_prior && !arguments.no_cure)
}

/// How text files are read.
pub fn reading(arguments: &arguments::Reading) -> Result<Reading, Failure> {
    let delimiter = match arguments.delimiter.as_deref() {
        None => None,
        Some("comma") => Some(','),
        Some("semicolon") => Some(';'),
        Some("tab" | "\\t") => Some('\t'),
        Some("pipe") => Some('|'),
        Some(text) => match text.chars().collect::<Vec<_>>().as_slice() {
            [one] if one.is_ascii() => Some(*one),
            _ => {
                let problem = format!("`{}` is no mark between cells", text.escape_debug());
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
        return Err(Error::setting("numeric", problem, "name the column in one of them").into());
    }
    let named = |names: &[String], kind: Kind| names.iter().map(|name| (name.clone(), kind)).collect::<Vec<_>>();
    let kinds = [named(&arguments.categorical, Kind::Category), named(&arguments.numeric, Kind::Number)];
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

fn share(setting: &str, given: Option<f64>, default: f64) -> Result<f64, Failure> {
    let share = given.unwrap_or(default);
    if (0.0..1.0).contains(&share) {
        return Ok(share);
    }
    Err(Error::setting(setting, format!("{share} is no share"), "give a number from 0 to below 1").into())
}

fn cut(text: &str) -> Result<Cut, Failure> {
    match text {
        "tuned" => return Ok(Cut::Tuned),
        "centre" | "center" => return Ok(Cut::Centre),
        _ => {}
    }
    match text.parse::<f64>() {
        Ok(threshold) if (0.0..=1.0).contains(&threshold) => Ok(Cut::Given(threshold)),
        _ => {
            let problem = format!("`{}` is no threshold", text.escape_debug());
            Err(Error::setting("threshold", problem, "write `tuned`, `centre`, or a number between 0 and 1").into())
        }
    }
}

fn hidden(text: &str) -> Result<Vec<usize>, Failure> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let width = |part: &str| part.trim().parse::<usize>().ok().filter(|width| *width > 0);
    let widths = text.split(',').map(width).collect::<Option<Vec<_>>>().ok_or_else(|| {
        let problem = format!("`{}` is no list of widths", text.escape_debug());
        Error::setting("hidden", problem, "write widths with commas between, 50,20,5, or `none` for a linear model")
    })?;
    check_hidden(&widths)?;
    Ok(widths)
}

fn batch(text: &str) -> Result<Option<usize>, Failure> {
    if text == "full" {
        return Ok(None);
    }
    match text.parse() {
        Ok(rows) => Ok(Some(rows)),
        Err(_) => {
            let problem = format!("`{}` is no number of rows", text.escape_debug());
            Err(Error::setting("batch", problem, "write a number such as 64, or `full`").into())
        }
    }
}

/// As many as asked for, or as there are cores.
pub fn threads(asked: Option<usize>) -> Result<usize, Failure> {
    match asked {
        Some(0) => Err(Error::setting("threads", "0 threads do no work", "give 1 or more").into()),
        Some(threads) => Ok(threads.min(1024)),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}
