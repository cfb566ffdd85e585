//! Fitting an encoder: the training rows of each column are judged, then the rows before are added.

use rayon::prelude::*;

use super::choice::Resolved;
use super::judge::judge;
use super::{Choice, Coding, Encoder, Input, Scale};
use crate::error::{Error, Place, Result};
use crate::groups::RowOrder;
use crate::note::Note;
use crate::setting::Setting;
use crate::table::{Column, Kind, Table};

/// Columns of a matrix at the most: a row of them takes 4 MiB.
pub(super) const WIDEST: usize = 1 << 20;

impl Encoder {
    /// From the training rows alone: what the other rows hold changes nothing.
    ///
    /// # Panics
    /// Where `rows` names a row that the table has not.
    pub fn fit(table: &Table, rows: &[u32], choice: &Choice) -> Result<(Encoder, Vec<Note>)> {
        let resolved = Resolved::new(choice, table)?;
        if rows.is_empty() {
            return Err(Error::data(Place::file(&table.file), "no training rows", "give a table with more rows"));
        }
        assert!(rows.iter().all(|row| (*row as usize) < table.rows()), "rows of the table");
        let is_lagged = |name: &str| resolved.is_lagged(name);
        let candidates: Vec<&Column> =
            table.columns.iter().filter(|c| resolved.is_input(&c.name) || is_lagged(&c.name)).collect();
        // Each column is summed by one thread, in order: the same bits for any number of them.
        let judged: Vec<_> = candidates.par_iter().map(|column| judge(column, rows, &resolved)).collect();

        let (mut found, mut notes) = (Vec::new(), Vec::new());
        for (column, judgement) in candidates.into_iter().zip(judged) {
            let judgement = judgement?;
            notes.extend(judgement.notes);
            if let Some(coding) = judgement.coding {
                let (column, kind) = (column.name.clone(), column.values.kind());
                found.push(Input { column, kind, lag: 0, coding });
            }
        }
        let mut inputs: Vec<Input> = found.iter().filter(|input| resolved.is_input(&input.column)).cloned().collect();
        for lag in 1..=choice.lags {
            // A time is the same number of steps ago in every row: only its own row says something.
            let chosen = |input: &&Input| match choice.lag_columns.is_empty() {
                true => input.kind != Kind::Time,
                false => is_lagged(&input.column),
            };
            inputs.extend(found.iter().filter(chosen).map(|input| before(input, lag)));
        }
        let encoder = Encoder { inputs, order: RowOrder::of_file(choice.group.as_deref()) };
        if encoder.inputs.is_empty() {
            let told: Vec<String> = notes.iter().map(|note| format!("  {note:#}")).collect();
            let problem = ["no column is left to learn from".to_string()].into_iter().chain(told).collect::<Vec<_>>();
            let hint = format!("name columns to use with `{}`", Setting("keep"));
            return Err(Error::data(Place::file(&table.file), problem.join("\n"), hint));
        }
        if encoder.width() > WIDEST {
            let problem = format!("{} columns of numbers, and at most {WIDEST} can be", encoder.width());
            let hint = format!("give fewer `{}`, or `{}` columns", Setting("lags"), Setting("drop"));
            return Err(Error::data(Place::file(&table.file), problem, hint));
        }
        Ok((encoder, notes))
    }
}

/// The same column some rows before. The first rows have none before them, so there is always a column that says so.
fn before(input: &Input, lag: usize) -> Input {
    let mut input = Input { lag, ..input.clone() };
    match &mut input.coding {
        Coding::OneHot { indicator, scales, .. } => {
            if !*indicator && !scales.is_empty() {
                scales.push(Scale { mean: 0.0, deviation: 1.0 });
            }
            *indicator = true;
        }
        Coding::Number { indicator, .. } | Coding::Ordinal { indicator, .. } | Coding::Time { indicator, .. } => {
            *indicator = true;
        }
    }
    input
}
