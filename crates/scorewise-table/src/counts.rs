//! Tables of counts: each row has the four cells of a confusion matrix, for example of a day, a station or a model run.

use scorewise::Confusion;

use crate::error::{Error, Location, Result};
use crate::groups::time_key;
use crate::names::{quoted, quoted_list};
use crate::setting::Setting;
use crate::table::{Column, ColumnKind, Reader, Reading, Source, Table, Values};

/// A table with a confusion matrix in each row.
#[derive(Clone, Debug, PartialEq)]
pub struct CountTable {
    /// The columns that were read, including the columns of counts.
    pub table: Table,
    /// The confusion matrix of each row.
    pub matrices: Vec<Confusion>,
    /// The names of the columns of counts, in the order tn, fp, fn, tp.
    pub cells: [String; 4],
}

/// A cell of the confusion matrix, and the column names by which a column of its counts is recognised.
struct CellNames {
    /// The description of the cell in messages, with its name in forecast verification in brackets: `tp (hits)`.
    described: &'static str,
    /// The recognised column names that messages list.
    names: &'static [&'static str],
    /// Further recognised column names, which messages do not list.
    spellings: &'static [&'static str],
}

/// The recognised column names of the four cells, in the order tn, fp, fn, tp. The last name in each list `names`, such as `FY_OY` (forecast yes,
/// observation yes), is used in the contingency tables of MET, the Model Evaluation Tools for weather forecasts.
const CELLS: [CellNames; 4] = [
    CellNames {
        described: "tn (correct negatives)",
        names: &["tn", "correct_negatives", "cn", "true_negatives", "correct_rejections", "FN_ON"],
        spellings: &["correct_negative", "true_negative", "correct_rejection"],
    },
    CellNames {
        described: "fp (false alarms)",
        names: &["fp", "false_alarms", "fa", "false_positives", "FY_ON"],
        spellings: &["false_alarm", "false_positive"],
    },
    CellNames {
        described: "fn (misses)",
        names: &["fn", "misses", "false_negatives", "FN_OY"],
        spellings: &["miss", "missed", "false_negative"],
    },
    CellNames {
        described: "tp (hits)",
        names: &["tp", "hits", "true_positives", "FY_OY"],
        spellings: &["hit", "true_positive"],
    },
];

impl CellNames {
    /// Whether a column with this name holds the counts of the cell. Case, spaces, underscores, hyphens and points make no difference.
    fn matches(&self, name: &str) -> bool {
        let plain = plain_name(name);
        self.names.iter().chain(self.spellings).any(|known| plain_name(known) == plain)
    }
}

/// A name in lower case without spaces, underscores, hyphens and points.
fn plain_name(name: &str) -> String {
    let is_kept = |character: &char| !character.is_whitespace() && !"_-.".contains(*character);
    name.chars().filter(is_kept).flat_map(char::to_lowercase).collect()
}

/// Finds the four columns of counts among the column names `names`, and returns their names in the order tn, fp, fn, tp. It is an error if no
/// name, or more than one, stands for a cell of the confusion matrix.
pub fn cell_columns(file: &str, names: &[&str]) -> Result<[String; 4]> {
    let option = || Setting("cells").to("TN,FP,FN,TP");
    let mut found: [String; 4] = Default::default();
    let mut missing = Vec::new();
    for (cell, column) in CELLS.iter().zip(&mut found) {
        let matching: Vec<&str> = names.iter().copied().filter(|name| cell.matches(name)).collect();
        match matching[..] {
            [name] => *column = name.into(),
            [] => missing.push(cell),
            _ => {
                let problem = format!("several columns could be {}: {}", cell.described, quoted_list(&matching));
                let hint = format!("name the columns in the order tn, fp, fn, tp: `{}`", option());
                return Err(Error::data(Location::file(file), problem, hint));
            }
        }
    }
    if missing.is_empty() {
        return Ok(found);
    }
    let described: Vec<&str> = missing.iter().map(|cell| cell.described).collect();
    let recognised: Vec<&str> = missing.iter().flat_map(|cell| cell.names).copied().collect();
    let problem = format!("has no column of counts for {}", described.join(", "));
    let hint = format!(
        "the recognised names are {}; name the columns in the order tn, fp, fn, tp: `{}`",
        recognised.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "),
        option()
    );
    Err(Error::data(Location::file(file), problem, hint))
}

/// Reads a table of counts. `cells` names the columns of counts in the order tn, fp, fn, tp; `None` to recognise them by their names
/// ([`cell_columns`]). `others` are the further columns to read; `None` for all.
///
/// ```
/// use scorewise_table::counts::cell_columns;
///
/// let names = ["date", "Hits", "misses", "false alarms", "Correct_Negatives"];
/// assert_eq!(cell_columns("a.csv", &names)?, ["Correct_Negatives", "false alarms", "misses", "Hits"]);
/// # Ok::<(), scorewise_table::Error>(())
/// ```
pub fn read_counts(source: &Source, cells: Option<&[String; 4]>, others: Option<&[&str]>) -> Result<CountTable> {
    let file = source.name();
    let chosen = std::cell::RefCell::new(None);
    let mut reader = Reader::open_with(source, &Reading::default(), &|names, reading| {
        let cells = match cells {
            Some(cells) => cells.clone(),
            None => cell_columns(&file, names)?,
        };
        reading.kinds.extend(cells.iter().map(|name| (name.clone(), ColumnKind::Number)));
        reading.only = others.map(|others| {
            let mut only = cells.to_vec();
            only.extend(
                others.iter().filter(|name| !cells.iter().any(|cell| cell == *name)).map(|name| (*name).into()),
            );
            only
        });
        *chosen.borrow_mut() = Some(cells);
        Ok(())
    })?;
    let table = reader.whole()?;
    let cells = chosen.into_inner().unwrap_or_default();
    if table.rows() == 0 {
        return Err(Error::data(Location::file(&file), "has no rows; at least one is needed", ""));
    }
    let mut columns: [&[f64]; 4] = [&[]; 4];
    for (values, name) in columns.iter_mut().zip(&cells) {
        *values = counts(&table, table.required_column(name)?)?;
    }
    let [tn, fp, fn_, tp] = columns;
    let matrices = (0..table.rows()).map(|row| Confusion::new(tn[row], fp[row], fn_[row], tp[row])).collect();
    Ok(CountTable { matrices, cells, table })
}

/// The values of a column of counts; an error if one of them is missing, negative or infinite.
fn counts<'a>(table: &Table, column: &'a Column) -> Result<&'a [f64]> {
    let place = |row: usize| table.place(row).column(&column.name);
    let Values::Number(values) = &column.values else {
        return Err(Error::data(place(0), "a count must be a number", "counts must be numbers, 0 or above"));
    };
    match values.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
        Some(row) if values[row].is_nan() => {
            Err(Error::data(place(row), "the count is missing", "write 0 if nothing was counted, or remove the row"))
        }
        Some(row) => {
            let problem = format!("`{}` is not a count", values[row]);
            Err(Error::data(place(row), problem, "counts must be numbers, 0 or above"))
        }
        None => Ok(values),
    }
}

/// The time step of each row of a table. Every distinct time is one step, so rows with the same time belong to the same step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeSteps {
    /// The step of each row; the rows with the earliest time are in step 0.
    pub of_rows: Vec<u32>,
    /// The earliest and the latest time of the table, as text.
    pub ends: [String; 2],
}

impl TimeSteps {
    /// The time steps of the rows, from the column `name`, which must hold times or numbers; an error if a time is missing.
    pub fn new(table: &Table, name: &str) -> Result<Self> {
        let column = crate::names::column(table, "time", name)?;
        if !matches!(column.values, Values::Time(_) | Values::Number(_)) {
            let problem = format!("{} holds neither times nor numbers", quoted(name));
            return Err(Error::setting("time", problem, "name a column of times, or leave this option out"));
        }
        if let Some(row) = (0..table.rows()).find(|row| column.values.is_missing(*row)) {
            let place = table.place(row).column(name);
            return Err(Error::data(place, "the time is missing", "correct or remove the row"));
        }
        let keys: Vec<i64> = (0..table.rows()).map(|row| time_key(&column.values, row)).collect();
        let mut distinct = keys.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let step = |key: &i64| distinct.partition_point(|earlier| earlier < key) as u32;
        let text = |key: Option<&i64>| {
            let row = key.and_then(|key| keys.iter().position(|other| other == key));
            let text = row.map_or(String::new(), |row| column.values.text(row));
            text.strip_suffix("T00:00:00").map_or(text.clone(), str::to_owned)
        };
        Ok(TimeSteps {
            of_rows: keys.iter().map(step).collect(),
            ends: [text(distinct.first()), text(distinct.last())],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_column_names_of_the_four_matrix_cells_are_recognised() {
        for names in [
            ["tn", "fp", "fn", "tp"],
            ["TN", "FP", "FN", "TP"],
            ["correct negatives", "false alarms", "misses", "hits"],
            ["Correct_Negatives", "False_Alarms", "Misses", "Hits"],
            ["cn", "fa", "miss", "hit"],
            ["correct-rejections", "falseAlarms", "false negatives", "true.positives"],
            ["FN_ON", "FY_ON", "FN_OY", "FY_OY"],
        ] {
            let mut shuffled = vec!["station", names[3], "date", names[0], names[2], names[1]];
            assert_eq!(cell_columns("a.csv", &shuffled).unwrap(), names);
            shuffled.retain(|name| *name != names[1]);
            let message = cell_columns("a.csv", &shuffled).unwrap_err().to_string();
            assert!(message.contains("fp (false alarms)") && message.contains("`false_alarms`"), "{message}");
        }
    }

    #[test]
    fn two_columns_of_counts_for_the_same_matrix_cell_are_refused() {
        let message = cell_columns("a.csv", &["tn", "fp", "false alarms", "fn", "tp"]).unwrap_err().to_string();
        assert!(message.contains("`fp`, `false alarms`") && message.contains("cells TN,FP,FN,TP"), "{message}");
    }
}
