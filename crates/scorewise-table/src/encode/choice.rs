//! What a user may decide about the columns.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::names::{self, listed, quoted};
use crate::setting::Setting;
use crate::table::{Column, Table};

/// How the columns are to be used; what is not said is decided by the training rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Columns that have another use and are no inputs: the target (unless it lies ahead), weights.
    pub without: Vec<String>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// Columns to use although they look useless: one value only, or a different one in each row.
    pub keep: Vec<String>,
    /// Columns whose levels have an order: `size=small<medium<large`, or just `size` for the alphabet's.
    pub ordinal: Vec<String>,
    /// Columns whose numbers are names of levels.
    pub categorical: Vec<String>,
    /// So many rows before are inputs too.
    pub lags: usize,
    /// Of these columns; where none is named, of all inputs but times. A column of `without` that is named gives its rows before
    /// and not its own.
    pub lag_columns: Vec<String>,
    /// Rows of different groups are no neighbours. The column itself is no input, unless `keep` names it.
    pub group: Option<String>,
    /// Levels of a category that get a column of their own, at the most: 64 keeps a layer of weights small where a column holds
    /// thousands of names, and is more than days, states or trades need.
    pub levels: usize,
    /// Whether the columns of levels are standardised too, as the paper does.
    pub standardise_all: bool,
}

impl Default for Choice {
    fn default() -> Self {
        Choice {
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
        }
    }
}

/// Rows that a lag may look back at the most; more would be a mistake, or a table of nothing but lags.
pub(super) const MOST_LAGS: usize = 10_000;

/// A choice whose names are columns of the table and do not contradict each other.
pub(super) struct Resolved<'a> {
    pub choice: &'a Choice,
    /// Column and order of its levels, lowest first.
    ordinal: HashMap<&'a str, Option<Vec<String>>>,
    /// Columns that give no inputs of their own row.
    excluded: HashSet<&'a str>,
    /// Columns that are asked for by name.
    kept: HashSet<&'a str>,
    categorical: HashSet<&'a str>,
    lagged: HashSet<&'a str>,
}

fn set(names: &[String]) -> HashSet<&str> {
    names.iter().map(String::as_str).collect()
}

impl<'a> Resolved<'a> {
    pub fn new(choice: &'a Choice, table: &'a Table) -> Result<Self> {
        let lists = [
            ("drop", &choice.drop),
            ("keep", &choice.keep),
            ("categorical", &choice.categorical),
            ("lag-columns", &choice.lag_columns),
            ("without", &choice.without),
        ];
        let columns = names::by_name(table);
        for (setting, names) in lists {
            if let Some(absent) = names.iter().find(|name| !columns.contains_key(name.as_str())) {
                names::column(table, setting, absent)?;
            }
        }
        if let Some(group) = &choice.group {
            names::column(table, "group", group)?;
        }
        let ordinal = choice.ordinal.iter().map(|text| order(text, &columns, table)).collect::<Result<Vec<_>>>()?;
        if choice.lags > MOST_LAGS {
            return Err(Error::setting("lags", format!("{} rows, and at most {MOST_LAGS} can be", choice.lags), ""));
        }
        if choice.levels == 0 {
            return Err(Error::setting("levels", "0 leaves no level of a category", "give 1 or more"));
        }
        if choice.lags == 0 && !choice.lag_columns.is_empty() {
            return Err(Error::setting(
                "lag-columns",
                "no rows before are asked for",
                format!("give `{}` too", Setting("lags")),
            ));
        }
        let ordered: Vec<String> = ordinal.iter().map(|(name, _)| (*name).into()).collect();
        free_of_contradictions(choice, &ordered)?;
        let (kept, lagged) = (set(&choice.keep), set(&choice.lag_columns));
        let group = choice.group.as_deref().filter(|group| !kept.contains(group));
        let excluded = choice.drop.iter().chain(&choice.without).map(String::as_str).chain(group).collect();
        Ok(Resolved {
            choice,
            // Of two orders of one column the first counts.
            ordinal: ordinal.into_iter().rev().collect(),
            excluded,
            kept: &kept | &lagged,
            categorical: set(&choice.categorical),
            lagged,
        })
    }

    /// Whether a column gives inputs of its own row.
    pub fn is_input(&self, name: &str) -> bool {
        !self.excluded.contains(name)
    }

    /// Whether lags of a column are asked for by name.
    pub fn is_lagged(&self, name: &str) -> bool {
        self.lagged.contains(name)
    }

    /// Whether a column is asked for by name, so that it stays although it looks useless.
    pub fn is_kept(&self, name: &str) -> bool {
        self.kept.contains(name)
    }

    pub fn is_categorical(&self, name: &str) -> bool {
        self.categorical.contains(name)
    }

    /// The order of a column's levels, where it was said to have one.
    pub fn order_of(&self, name: &str) -> Option<Option<&[String]>> {
        self.ordinal.get(name).map(|order| order.as_deref())
    }
}

fn free_of_contradictions(choice: &Choice, ordinal: &[String]) -> Result<()> {
    let pairs: [(&str, &[String], &str, &[String]); 5] = [
        ("drop", &choice.drop, "keep", &choice.keep),
        ("drop", &choice.drop, "lag-columns", &choice.lag_columns),
        ("drop", &choice.drop, "ordinal", ordinal),
        ("drop", &choice.drop, "categorical", &choice.categorical),
        ("ordinal", ordinal, "categorical", &choice.categorical),
    ];
    for (one, names, other, others) in pairs {
        let others = set(others);
        if let Some(name) = names.iter().find(|name| others.contains(name.as_str())) {
            let problem = format!("{} names {} too", Setting(other), quoted(name));
            return Err(Error::setting(one, problem, "choose one of the two"));
        }
    }
    if let Some(name) = choice.keep.iter().find(|name| choice.without.contains(name)) {
        let problem = format!("{} is what is predicted, or has another use", quoted(name));
        return Err(Error::setting("keep", problem, "an input must be known when the prediction is made"));
    }
    Ok(())
}

/// `size=small<medium<large`, or a column's whole name. A name may hold = itself: the longest one that is a column counts.
fn order<'a>(
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
        let problem = format!("{} stands twice in the order, the second time as level {}", quoted(level), at + 1);
        return Err(Error::setting("ordinal", problem, "write each level once, the lowest first"));
    }
    if levels.len() < 2 || levels.iter().any(String::is_empty) {
        let problem = format!("{} is no order of levels", quoted(order));
        return Err(Error::setting("ordinal", problem, "write it as `size=small<medium<large`"));
    }
    Ok((&column.name, Some(levels)))
}

/// Refuses values that an explicit order lacks.
pub(super) fn outside_the_order(column: &str, missing: &[&str]) -> Error {
    let problem = format!("the order of {} lacks {}", quoted(column), listed(missing));
    Error::setting("ordinal", problem, "put every level into the order")
}
