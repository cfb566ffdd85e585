//! Conversion of the label column to booleans.

use scorewise_table::table::{Column, Table, Values};
use scorewise_train::{Error, Result};

/// Converts labels to booleans, chunk by chunk.
pub(super) struct LabelParser<'a> {
    /// The label that counts as positive; `None` if labels are 0 and 1, or true and false.
    positive: Option<&'a str>,
    /// Whether the column may contain several different labels besides the positive one, which all count as negative.
    allows_many_negatives: bool,
    /// The first negative label that was read; all later negative labels must equal it. `None` before that, and if negative labels may differ.
    negative: Option<String>,
}

/// The hint in the error message for a cell that is not a label.
const LABEL_HINT: &str =
    "labels must be 0 and 1, or true and false; for other labels name the positive one: --positive VALUE";

impl<'a> LabelParser<'a> {
    /// Makes a parser. `positive` is the label that counts as positive; if it is `None`, labels must be 0 and 1 or true and false.
    pub(super) fn new(positive: Option<&'a str>, allows_many_negatives: bool) -> Self {
        LabelParser { positive, allows_many_negatives, negative: None }
    }

    /// Converts the label column of a chunk of the table and appends the result to `labels`.
    pub(super) fn append_labels(&mut self, table: &Table, column: &Column, labels: &mut Vec<bool>) -> Result<()> {
        let start = labels.len();
        let data_error =
            |row: usize, problem: String, hint: &str| Error::data(table.place(row).column(&column.name), problem, hint);
        match (&column.values, self.positive) {
            (Values::Number(values), None) => labels.extend(values.iter().map(|value| *value == 1.0)),
            (Values::Boolean(values), None) => labels.extend(values.iter().map(|value| *value == Some(true))),
            _ => {}
        }
        if labels.len() > start {
            let is_invalid = |row: &usize| matches!(&column.values, Values::Number(values) if values[*row] != 0.0 && values[*row] != 1.0);
            return match (0..column.values.len()).find(is_invalid) {
                Some(row) => Err(data_error(row, format!("`{}` is not a label", column.values.text(row)), LABEL_HINT)),
                None => Ok(()),
            };
        }
        for row in 0..column.values.len() {
            let text = column.values.text(row);
            let label = match self.positive {
                None => match text.to_ascii_lowercase().as_str() {
                    "1" | "true" => true,
                    "0" | "false" => false,
                    _ => return Err(data_error(row, format!("`{}` is not a label", text.escape_debug()), LABEL_HINT)),
                },
                Some(positive) => is_same_label(&text, positive),
            };
            if !label
                && !self.allows_many_negatives
                && let Some(positive) = self.positive
            {
                let negative = self.negative.get_or_insert_with(|| text.clone());
                if *negative != text {
                    let (third, second) = (text.escape_debug(), negative.escape_debug());
                    let problem = format!("`{third}` is a third label besides `{positive}` and `{second}`");
                    return Err(data_error(row, problem, "the column must have exactly two different labels"));
                }
            }
            labels.push(label);
        }
        Ok(())
    }
}

/// Whether two labels are the same string or the same number, such as `1` and `1.0`.
pub(super) fn is_same_label(label: &str, other: &str) -> bool {
    label == other || matches!((label.parse::<f64>(), other.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}
