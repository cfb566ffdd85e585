//! Settings for the encoding of columns.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::names::{self, quoted, quoted_list};
use crate::setting::Setting;
use crate::table::{Column, Table};

/// Which columns of a table become inputs of the model and how they are encoded. What is not set here is decided from the training rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EncodingOptions {
    /// Columns that are not inputs because they have another use: the sample weights, and the target, unless the label comes from a later row.
    pub without: Vec<String>,
    /// Names of the columns that the user does not want as inputs.
    pub drop: Vec<String>,
    /// Names of columns that become inputs even if they look useless, such as constant columns and identifiers of rows.
    pub keep: Vec<String>,
    /// Columns whose levels have an order: `size=small<medium<large`, or just `size` for alphabetical order.
    pub ordinal: Vec<String>,
    /// Names of columns of numbers or booleans that are encoded as categorical columns.
    pub categorical: Vec<String>,
    /// The number of earlier rows whose values are also inputs: with 2, the values of the two rows before.
    pub lags: usize,
    /// The columns that `lags` applies to; if empty, all inputs except times. If a column is also in `without`, only its values in earlier rows
    /// are inputs.
    pub lag_columns: Vec<String>,
    /// The column that tells which series a row belongs to. Lags do not reach from one series into another. This column is not an input unless
    /// it is also in `keep`.
    pub group: Option<String>,
    /// The maximum number of levels of a categorical column that get a column of their own in the matrix. The default of 64 keeps the first layer
    /// of the network small when a column has thousands of levels, and is enough for weekdays, states or occupations.
    pub levels: usize,
    /// Whether one-hot columns are standardised too, as in Marchetti et al. (2022).
    pub standardise_all: bool,
    /// The maximum number of intervals between knots into which a column of numbers is binned; 0 for a dense encoding, in which numbers are
    /// standardised. It is not serialised, because the training plan stores it in a field of its own.
    #[serde(skip)]
    pub bins: usize,
}

impl Default for EncodingOptions {
    fn default() -> Self {
        EncodingOptions {
            without: Vec::new(),
            drop: Vec::new(),
            keep: Vec::new(),
            ordinal: Vec::new(),
            categorical: Vec::new(),
            lags: 0,
            lag_columns: Vec::new(),
            group: None,
            levels: 64,
            standardise_all: false,
            bins: 0,
        }
    }
}

/// The largest lag allowed, in steps (rows or time steps). A larger number is most likely a mistake.
pub(super) const MAX_LAG: usize = 10_000;

/// Encoding options that have been checked: every name is a column of the table, and no two settings contradict each other.
pub(super) struct CheckedOptions<'a> {
    pub options: &'a EncodingOptions,
    /// Ordinal columns by name, with the user's order of the levels, lowest first; `None` for alphabetical order.
    ordinal: HashMap<&'a str, Option<Vec<String>>>,
    /// Columns whose value in the row itself is not an input; their values in earlier rows may be inputs.
    excluded: HashSet<&'a str>,
    /// Columns that are used even if they look useless: those listed in `keep` or `lag_columns`.
    kept: HashSet<&'a str>,
    categorical: HashSet<&'a str>,
    lagged: HashSet<&'a str>,
}

/// The names as a set, for many look-ups.
fn name_set(names: &[String]) -> HashSet<&str> {
    names.iter().map(String::as_str).collect()
}

impl<'a> CheckedOptions<'a> {
    /// Checks the options for this table.
    pub fn new(options: &'a EncodingOptions, table: &'a Table) -> Result<Self> {
        let lists = [
            ("drop", &options.drop),
            ("keep", &options.keep),
            ("categorical", &options.categorical),
            ("lag-columns", &options.lag_columns),
            ("without", &options.without),
        ];
        let columns = names::by_name(table);
        for (setting, names) in lists {
            if let Some(missing) = names.iter().find(|name| !columns.contains_key(name.as_str())) {
                names::column(table, setting, missing)?;
            }
        }
        if let Some(group) = &options.group {
            names::column(table, "group", group)?;
        }
        let ordinal =
            options.ordinal.iter().map(|text| parse_ordinal(text, &columns, table)).collect::<Result<Vec<_>>>()?;
        if options.lags > MAX_LAG {
            return Err(Error::setting(
                "lags",
                format!("{} lags are too many; at most {MAX_LAG} are allowed", options.lags),
                "",
            ));
        }
        if options.levels == 0 {
            return Err(Error::setting(
                "levels",
                "with 0, no level of a categorical column would have a column in the matrix",
                "give 1 or more",
            ));
        }
        if options.lags == 0 && !options.lag_columns.is_empty() {
            return Err(Error::setting(
                "lag-columns",
                "columns are listed, but the number of lags is 0",
                format!("give `{}` too", Setting("lags")),
            ));
        }
        let ordinal_names: Vec<String> = ordinal.iter().map(|(name, _)| (*name).into()).collect();
        check_contradictions(options, &ordinal_names)?;
        let (kept, lagged) = (name_set(&options.keep), name_set(&options.lag_columns));
        let group = options.group.as_deref().filter(|group| !kept.contains(group));
        let excluded = options.drop.iter().chain(&options.without).map(String::as_str).chain(group).collect();
        Ok(CheckedOptions {
            options,
            // If an ordinal column is listed twice, the order of levels that was given first is used: the orders are inserted from last to first,
            // and each replaces the one before.
            ordinal: ordinal.into_iter().rev().collect(),
            excluded,
            kept: &kept | &lagged,
            categorical: name_set(&options.categorical),
            lagged,
        })
    }

    /// Whether the value of a column in the row itself is an input, not only its values in earlier rows.
    pub fn is_input(&self, name: &str) -> bool {
        !self.excluded.contains(name)
    }

    /// Whether the column is listed in `lag_columns`.
    pub fn is_lagged(&self, name: &str) -> bool {
        self.lagged.contains(name)
    }

    /// Whether the column is used even if it looks useless, because it is listed in `keep` or `lag_columns`.
    pub fn is_kept(&self, name: &str) -> bool {
        self.kept.contains(name)
    }

    /// Whether the column is listed in `categorical`.
    pub fn is_categorical(&self, name: &str) -> bool {
        self.categorical.contains(name)
    }

    /// The order of the levels of an ordinal column: `Some(None)` if the order is alphabetical. `None` for a column that is not ordinal.
    pub fn order_of(&self, name: &str) -> Option<Option<&[String]>> {
        self.ordinal.get(name).map(|order| order.as_deref())
    }
}

/// Checks that no column is listed in two settings that contradict each other.
fn check_contradictions(options: &EncodingOptions, ordinal: &[String]) -> Result<()> {
    let pairs: [(&str, &[String], &str, &[String]); 5] = [
        ("drop", &options.drop, "keep", &options.keep),
        ("drop", &options.drop, "lag-columns", &options.lag_columns),
        ("drop", &options.drop, "ordinal", ordinal),
        ("drop", &options.drop, "categorical", &options.categorical),
        ("ordinal", ordinal, "categorical", &options.categorical),
    ];
    for (one, names, other, others) in pairs {
        let others = name_set(others);
        if let Some(name) = names.iter().find(|name| others.contains(name.as_str())) {
            let problem = format!("{} also names {}", Setting(other), quoted(name));
            return Err(Error::setting(one, problem, "list the column in only one of these settings"));
        }
    }
    if let Some(name) = options.keep.iter().find(|name| options.without.contains(name)) {
        let problem =
            format!("{} cannot be an input, because it is the target or holds the weights of the rows", quoted(name));
        return Err(Error::setting("keep", problem, "an input must be known when the prediction is made"));
    }
    Ok(())
}

/// Parses `size=small<medium<large`, or just the name of a column. Since the name of a column may contain `=`, the text is split at the last `=`
/// that follows the name of a column.
fn parse_ordinal<'a>(
    text: &str,
    columns: &HashMap<&'a str, &'a Column>,
    table: &'a Table,
) -> Result<(&'a str, Option<Vec<String>>)> {
    if let Some(column) = columns.get(text.trim()) {
        return Ok((&column.name, None));
    }
    let split = text.rmatch_indices('=').find_map(|(at, _)| Some((columns.get(text[..at].trim())?, &text[at + 1..])));
    let Some((column, order)) = split else {
        let name = text.split('=').next().unwrap_or(text).trim();
        return names::column(table, "ordinal", name).map(|column| (column.name.as_str(), None));
    };
    let levels: Vec<String> = order.split('<').map(|level| level.trim().to_string()).collect();
    if let Some((at, level)) = levels.iter().enumerate().find(|(at, level)| levels[..*at].contains(level)) {
        let problem = format!(
            "{} is listed twice in the order of the levels, the second time as number {}",
            quoted(level),
            at + 1
        );
        return Err(Error::setting("ordinal", problem, "write each level once, the lowest first"));
    }
    if levels.len() < 2 || levels.iter().any(String::is_empty) {
        let problem = format!("{} is not an order of levels", quoted(order));
        return Err(Error::setting("ordinal", problem, "write it as `size=small<medium<large`"));
    }
    Ok((&column.name, Some(levels)))
}

/// The error for levels that occur in an ordinal column but are missing from the order that the user gave.
pub(super) fn levels_not_in_order(column: &str, missing: &[&str]) -> Error {
    let problem = format!("the order of the levels of {} does not contain {}", quoted(column), quoted_list(missing));
    Error::setting("ordinal", problem, "list all levels of the column, the lowest first")
}
