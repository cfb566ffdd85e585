//! From what was typed to a plan: what each built-in table adds, and what follows from what.

use std::collections::HashSet;

use scorewise_table::encode::Choice;
use scorewise_table::split::Split;
use scorewise_table::table::{BuiltIn, Kind, Reading, Source, Table};
use scorewise_train::Error;
use scorewise_train::network::WarmStart;
use scorewise_train::plan::{Multiclass, Plan, Recipe, share};

use super::arguments::{self, Arguments, TestRows};
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
        let own = match &arguments.test {
            None if arguments.target.is_none() => purpose(&table)
                .and_then(|purpose| purpose.test)
                .filter(|_| arguments.folds.is_none())
                .map(Source::BuiltIn),
            Some(TestRows::Table(source)) => Some(source.clone()),
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
        // One class against the rest has a score of two classes, and the mean over the classes is the score of all.
        let usual = |score: &str| match arguments.options.multiclass {
            Some(Multiclass::OneVersusRest) => format!("macro({score})"),
            _ => score.to_string(),
        };
        let score = match (&arguments.options.score, &purpose) {
            (Some(score), _) => score.clone(),
            (None, Some(purpose)) => usual(purpose.score).parse()?,
            (None, None) => {
                let score = usual("tss");
                note(format!(
                    "the score is {score} (the hit rate minus the false alarm rate); --score chooses another"
                ));
                score.parse()?
            }
        };
        let purpose = purpose.filter(|_| arguments.target.is_none());
        let mut plan = Plan::new(&target, score);
        plan.positive = arguments.positive.clone();
        plan.lead = arguments.lead.or(purpose.as_ref().map(|purpose| purpose.lead)).unwrap_or(0);
        plan.weight = arguments.weight.clone();
        plan.split = self.split(arguments, purpose.as_ref(), plan.lead)?;
        if let Some(TestRows::Share(test)) = arguments.test {
            plan.test = share("test", test)?;
        }
        plan.validation = purpose.as_ref().and_then(|purpose| purpose.validation).unwrap_or(plan.validation);
        let name = self.table.name();
        let usual = purpose.as_ref().map_or(("plain", Recipe::PLAIN), |purpose| (name.as_str(), purpose.recipe));
        arguments.options.apply(&mut plan, usual)?;
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
            (Some(split), _) => split.clone(),
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

/// As many as asked for, or as there are cores.
pub fn threads(asked: Option<usize>) -> Result<usize, Failure> {
    match asked {
        Some(0) => Err(Error::setting("threads", "0 threads do no work", "give 1 or more").into()),
        Some(threads) => Ok(threads.min(1024)),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}
