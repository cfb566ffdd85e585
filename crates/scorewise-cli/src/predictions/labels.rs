//! What happened, from labels as files have them to yes and no.

use scorewise_table::table::{Column, Table, Values};
use scorewise_train::{Error, Result};

/// What the labels say: which value is positive, and which others there are.
pub(super) struct Marks<'a> {
    positive: Option<&'a str>,
    /// Whether there may be several negative labels.
    has_many: bool,
    /// The one other label, where a positive one was named.
    negative: Option<String>,
}

const LABELS: &str = "labels are 0 and 1, or true and false; of two others name the positive one: --positive VALUE";

impl<'a> Marks<'a> {
    pub(super) fn new(positive: Option<&'a str>, has_many: bool) -> Self {
        Marks { positive, has_many, negative: None }
    }

    /// The labels of a chunk.
    pub(super) fn add(&mut self, table: &Table, column: &Column, labels: &mut Vec<bool>) -> Result<()> {
        let start = labels.len();
        let fault =
            |row: usize, problem: String, hint: &str| Error::data(table.place(row).column(&column.name), problem, hint);
        match (&column.values, self.positive) {
            (Values::Number(values), None) => labels.extend(values.iter().map(|value| *value == 1.0)),
            (Values::Boolean(values), None) => labels.extend(values.iter().map(|value| *value == Some(true))),
            _ => {}
        }
        if labels.len() > start {
            let is_other = |row: &usize| matches!(&column.values, Values::Number(values) if values[*row] != 0.0 && values[*row] != 1.0);
            return match (0..column.values.len()).find(is_other) {
                Some(row) => Err(fault(row, format!("`{}` is not a label", column.values.text(row)), LABELS)),
                None => Ok(()),
            };
        }
        for row in 0..column.values.len() {
            let shown = column.values.text(row);
            let label = match self.positive {
                None => match shown.to_ascii_lowercase().as_str() {
                    "1" | "true" => true,
                    "0" | "false" => false,
                    _ => return Err(fault(row, format!("`{}` is not a label", shown.escape_debug()), LABELS)),
                },
                Some(positive) => same(&shown, positive),
            };
            if !label
                && !self.has_many
                && let Some(positive) = self.positive
            {
                let negative = self.negative.get_or_insert_with(|| shown.clone());
                if *negative != shown {
                    let (third, second) = (shown.escape_debug(), negative.escape_debug());
                    let problem = format!("`{third}` is a third label beside `{positive}` and `{second}`");
                    return Err(fault(row, problem, "two different labels are needed, or 0 and 1"));
                }
            }
            labels.push(label);
        }
        Ok(())
    }
}

/// Whether a label is the one named: the same text, or the same number however it is written.
pub(super) fn same(shown: &str, named: &str) -> bool {
    shown == named || matches!((shown.parse::<f64>(), named.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}
