//! Which data a model was trained on, in 64 bits: the same on every machine, another where a single value differs.
//!
//! ```text
//! h ← (h xor word) · 0x9E3779B97F4A7C15 mod 2⁶⁴        h ← h xor (h >> 32)        for each word; h = 0 at first
//! ```
//!
//! Each step can be undone, so two lists that differ in one word never agree. Every list is led by its length, so that what
//! stands at the end of one and at the start of the next are not confused. It tells data apart; it does not guard against a forger.

use scorewise_table::table::{Table, Values};

/// A hash of data as it is put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    state: u64,
}

impl Fingerprint {
    /// Of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Fingerprint::default()
    }

    /// Of a table: its columns in their order, names, kinds and values. Not of the file's name or the places of its lines.
    #[must_use]
    pub fn of(table: &Table) -> Self {
        Fingerprint::new().table(table)
    }

    /// And a table.
    #[must_use]
    pub fn table(self, table: &Table) -> Self {
        table.columns.iter().fold(self.word(table.columns.len() as u64), |hash, column| {
            let hash = hash.text(&column.name);
            match &column.values {
                Values::Number(values) => hash.word(1).numbers(values),
                Values::Category(values) => {
                    let hash = hash.word(2).texts(&values.levels);
                    hash.bits(values.codes.len(), values.codes.iter().map(|code| u64::from(*code)))
                }
                Values::Boolean(values) => {
                    hash.word(3).bits(values.len(), values.iter().map(|value| value.map_or(2, u64::from)))
                }
                Values::Time(values) => hash.word(4).bits(values.len(), values.iter().map(|value| *value as u64)),
            }
        })
    }

    /// And numbers. All that is not a number counts as the same, and −0 as 0.
    #[must_use]
    pub fn numbers(self, values: &[f64]) -> Self {
        // Adding 0 turns −0 into 0.
        let bits = |value: &f64| if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() };
        self.bits(values.len(), values.iter().map(bits))
    }

    /// And labels.
    #[must_use]
    pub fn labels(self, values: &[u32]) -> Self {
        self.bits(values.len(), values.iter().map(|value| u64::from(*value)))
    }

    /// And texts.
    #[must_use]
    pub fn texts<T: AsRef<str>>(self, values: &[T]) -> Self {
        values.iter().fold(self.word(values.len() as u64), |hash, text| hash.text(text.as_ref()))
    }

    /// And a text: eight bytes a word, the lowest first.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        self.bits(text.len(), text.as_bytes().chunks(8).map(word))
    }

    /// As it stands in a model file: 16 hexadecimal digits.
    #[must_use]
    pub fn hex(self) -> String {
        format!("{:016x}", self.state)
    }

    /// And so many words.
    #[must_use]
    pub fn bits(self, len: usize, words: impl Iterator<Item = u64>) -> Self {
        words.fold(self.word(len as u64), Fingerprint::word)
    }

    #[inline]
    fn word(self, word: u64) -> Self {
        let mixed = (self.state ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        Fingerprint { state: mixed ^ (mixed >> 32) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scorewise_table::table::{Category, Column};

    fn table() -> Table {
        let column = |name: &str, values| Column { name: name.into(), values };
        Table {
            columns: vec![
                column("bz", Values::Number(vec![-3.5, f64::NAN, 0.0])),
                column(
                    "kind",
                    Values::Category(Category { codes: vec![0, 1, 0], levels: vec!["a".into(), "b".into()] }),
                ),
                column("day", Values::Boolean(vec![Some(true), None, Some(false)])),
                column("at", Values::Time(vec![0, 86_400, Values::NO_TIME])),
            ],
            ..Table::default()
        }
    }

    #[test]
    fn one_word_by_hand() {
        // Length 1, then the number 1.0, whose bits are 0x3FF0000000000000.
        let step = |state: u64, word: u64| {
            let mixed = u128::from(state ^ word) * 0x9E37_79B9_7F4A_7C15 % (1 << 64);
            (mixed ^ (mixed >> 32)) as u64
        };
        let expected = step(step(0, 1), 0x3FF0_0000_0000_0000);
        assert_eq!(Fingerprint::new().numbers(&[1.0]).hex(), format!("{expected:016x}"));
    }

    #[test]
    fn the_same_table_has_the_same_print_from_any_file() {
        let other = Table { file: "other.csv".into(), lines: scorewise_table::table::Lines::From(2), ..table() };
        assert_eq!(Fingerprint::of(&table()), Fingerprint::of(&other));
        assert_eq!(Fingerprint::new().numbers(&[0.0]), Fingerprint::new().numbers(&[-0.0]));
    }

    #[test]
    fn any_change_shows() {
        let mut tables = vec![table(); 7]; // the last stays as it is
        tables[0].columns[0].name = "by".into();
        tables[1].columns[0].values = Values::Number(vec![-3.5, f64::NAN, 1e-300]);
        tables[2].columns[1].values =
            Values::Category(Category { codes: vec![0, 1, 0], levels: vec!["a".into(), "c".into()] });
        tables[3].columns[2].values = Values::Boolean(vec![Some(true), Some(false), Some(false)]);
        tables[4].columns[3].values = Values::Time(vec![0, 86_401, Values::NO_TIME]);
        tables[5].columns.swap(0, 1);
        let mut prints: Vec<String> = tables.iter().map(|table| Fingerprint::of(table).hex()).collect();
        prints.sort();
        prints.dedup();
        assert_eq!(prints.len(), 7);
        assert_ne!(Fingerprint::new().texts(&["ab", "c"]), Fingerprint::new().texts(&["a", "bc"]));
    }
}
