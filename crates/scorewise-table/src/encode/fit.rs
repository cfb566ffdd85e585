//! Fits an encoder: decides the encoding of each column from the training rows, then adds the lags.

use rayon::prelude::*;

use super::decide::decide_encoding;
use super::options::CheckedOptions;
use super::{ColumnEncoding, Encoder, EncodingOptions, InputColumn, Standardisation};
use crate::error::{Error, Location, Result};
use crate::groups::RowOrder;
use crate::note::Note;
use crate::setting::Setting;
use crate::table::{Column, ColumnKind, Table};

/// The maximum number of columns of the matrix. A row of this length takes 4 MiB.
pub(super) const MAX_WIDTH: usize = 1 << 20;

/// The maximum number of intervals between knots, counted over all columns together. In a network with 64 hidden units, the weights of this many
/// intervals take 34 MB.
const MAX_TOTAL_INTERVALS: usize = 1 << 17;

impl Encoder {
    /// Fits an encoder to the training rows `rows`. The values of all other rows do not influence the encoder.
    ///
    /// # Panics
    /// If `rows` contains a row that the table does not have.
    pub fn fit(table: &Table, rows: &[u32], options: &EncodingOptions) -> Result<(Encoder, Vec<Note>)> {
        let resolved = CheckedOptions::new(options, table)?;
        if rows.is_empty() {
            return Err(Error::data(
                Location::file(&table.file),
                "there are no training rows",
                "give a table with more rows",
            ));
        }
        assert!(rows.iter().all(|row| (*row as usize) < table.rows()), "every training row must be a row of the table");
        let is_lagged = |name: &str| resolved.is_lagged(name);
        let candidates: Vec<&Column> =
            table.columns.iter().filter(|c| resolved.is_input(&c.name) || is_lagged(&c.name)).collect();
        let bins = options.bins.min((MAX_TOTAL_INTERVALS / candidates.len().max(1)).max(1));
        // Each column is summed by a single thread, in the order of the rows, so the rounding errors do not depend on the number of threads.
        let decisions: Vec<_> =
            candidates.par_iter().map(|column| decide_encoding(column, rows, &resolved, bins)).collect();

        let (mut found, mut notes) = (Vec::new(), Vec::new());
        if bins < options.bins {
            let intervals = if bins == 1 { "1 interval".into() } else { format!("{bins} intervals") };
            notes.push(Note::new(format!(
                "with {} input columns, the numbers of a column are divided into at most {intervals} instead of {}, so that the \
                 networks do not become too large",
                candidates.len(),
                options.bins
            )));
        }
        for (column, decision) in candidates.into_iter().zip(decisions) {
            let decision = decision?;
            notes.extend(decision.notes);
            for (part, coding) in decision.codings {
                let (column, kind) = (column.name.clone(), column.values.kind());
                found.push(InputColumn { column, kind, lag: 0, part, coding });
            }
        }
        let mut inputs: Vec<InputColumn> =
            found.iter().filter(|input| resolved.is_input(&input.column)).cloned().collect();
        for lag in 1..=options.lags {
            // By default columns of times are not lagged: in a regular series, an earlier time is the time of the row minus a constant, which adds
            // no information.
            let is_lagged_input = |input: &&InputColumn| match options.lag_columns.is_empty() {
                true => input.kind != ColumnKind::Time,
                false => is_lagged(&input.column),
            };
            inputs.extend(found.iter().filter(is_lagged_input).map(|input| lagged(input, lag)));
        }
        let encoder = Encoder { inputs, order: RowOrder::of_file(options.group.as_deref()) };
        if encoder.inputs.is_empty() {
            let reasons: Vec<String> = notes.iter().map(|note| format!("  {note:#}")).collect();
            let problem =
                ["no column is left to learn from".to_string()].into_iter().chain(reasons).collect::<Vec<_>>();
            let hint = format!("to use a dropped column, add `{}`", Setting("keep").to("COLUMN"));
            return Err(Error::data(Location::file(&table.file), problem.join("\n"), hint));
        }
        if encoder.width() > MAX_WIDTH {
            let problem =
                format!("the encoded table would have {} columns; at most {MAX_WIDTH} are allowed", encoder.width());
            let hint = format!("reduce `{}`, or leave columns out with `{}`", Setting("lags"), Setting("drop"));
            return Err(Error::data(Location::file(&table.file), problem, hint));
        }
        Ok((encoder, notes))
    }
}

/// Returns an input that is encoded like `input` but takes the value of the column `lag` steps earlier. Its encoding always marks missing values,
/// because the first rows of a table have no earlier row.
fn lagged(input: &InputColumn, lag: usize) -> InputColumn {
    let mut input = InputColumn { lag, ..input.clone() };
    match &mut input.coding {
        ColumnEncoding::OneHot { indicator, scales, .. } => {
            if !*indicator && !scales.is_empty() {
                scales.push(Standardisation { mean: 0.0, deviation: 1.0 });
            }
            *indicator = true;
        }
        ColumnEncoding::Number { indicator, .. }
        | ColumnEncoding::Ordinal { indicator, .. }
        | ColumnEncoding::Time { indicator, .. } => {
            *indicator = true;
        }
        ColumnEncoding::Knots { missing, .. } | ColumnEncoding::Levels { missing, .. } => *missing = true,
    }
    input
}
