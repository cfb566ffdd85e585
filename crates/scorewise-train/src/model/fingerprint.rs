//! A 64-bit fingerprint of the data that a model was trained on. It is the same on every machine. If any value changes,
//! the fingerprint almost certainly changes too.
//!
//! The fingerprint is the XXH3 hash (64 bits, seed 0) of a list of little-endian 64-bit words. The length of every list of values is hashed
//! before its values, so that moving a value from the end of one list to the beginning of the next changes the hash. The hash is not
//! cryptographic, so it does not protect against forgery.

use scorewise_table::table::{Table, Values};
use xxhash_rust::xxh3::Xxh3;

/// Number of 64-bit words that are passed to the hash function at once.
const WORDS_PER_BLOCK: usize = 512;

/// The hash of the data that have been added so far. Its methods add more data.
#[derive(Clone, Default)]
pub struct Fingerprint {
    hash: Xxh3,
}

impl Fingerprint {
    /// The hash before any data have been added.
    #[must_use]
    pub fn new() -> Self {
        Fingerprint::default()
    }

    /// The hash of a table: the names, types and values of its columns, in the order of the columns. The file name and line numbers are left
    /// out.
    #[must_use]
    pub fn of(table: &Table) -> Self {
        Fingerprint::new().table(table)
    }

    /// Adds the names, types and values of the columns of a table to the hash.
    #[must_use]
    pub fn table(self, table: &Table) -> Self {
        table.columns.iter().fold(self.add_word(table.columns.len() as u64), |hash, column| {
            let hash = hash.text(&column.name);
            match &column.values {
                Values::Number(values) => hash.add_word(1).numbers(values),
                Values::Category(values) => {
                    let hash = hash.add_word(2).texts(&values.levels);
                    hash.bits(values.codes.len(), values.codes.iter().map(|code| u64::from(*code)))
                }
                Values::Boolean(values) => {
                    hash.add_word(3).bits(values.len(), values.iter().map(|value| value.map_or(2, u64::from)))
                }
                Values::Time(values) => hash.add_word(4).bits(values.len(), values.iter().map(|value| *value as u64)),
            }
        })
    }

    /// Adds numbers to the hash. All NaN values are treated as equal, and −0 as equal to 0.
    #[must_use]
    pub fn numbers(self, values: &[f64]) -> Self {
        // Adding 0 turns −0 into 0.
        let bits = |value: &f64| if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() };
        self.bits(values.len(), values.iter().map(bits))
    }

    /// Adds labels to the hash.
    #[must_use]
    pub fn labels(self, values: &[u32]) -> Self {
        self.bits(values.len(), values.iter().map(|value| u64::from(*value)))
    }

    /// Adds strings to the hash.
    #[must_use]
    pub fn texts<T: AsRef<str>>(self, values: &[T]) -> Self {
        values.iter().fold(self.add_word(values.len() as u64), |hash, text| hash.text(text.as_ref()))
    }

    /// Adds a string to the hash. Every eight bytes of the string form a little-endian word.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        self.bits(text.len(), text.as_bytes().chunks(8).map(word))
    }

    /// The fingerprint as it is written in a model file: 16 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        format!("{:016x}", self.hash.digest())
    }

    /// Adds a list of 64-bit words to the hash: first its length `len`, then the words.
    #[must_use]
    pub fn bits(self, len: usize, words: impl Iterator<Item = u64>) -> Self {
        let Fingerprint { mut hash } = self.add_word(len as u64);
        let mut block = Vec::with_capacity(8 * WORDS_PER_BLOCK);
        for word in words {
            block.extend(word.to_le_bytes());
            if block.len() == 8 * WORDS_PER_BLOCK {
                hash.update(&block);
                block.clear();
            }
        }
        hash.update(&block);
        Fingerprint { hash }
    }

    /// Adds one word to the hash.
    fn add_word(mut self, word: u64) -> Self {
        self.hash.update(&word.to_le_bytes());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scorewise_table::table::{Category, Column};

    /// A table with one column of each type.
    fn example_table() -> Table {
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
    fn the_hash_agrees_with_the_python_package_xxhash() {
        // Python's xxhash 4.1.0: xxhash.xxh3_64_hexdigest(struct.pack("<Qd", 1, 1.0))
        assert_eq!(Fingerprint::new().numbers(&[1.0]).hex(), "55b1cf8961ac75ae");
        let numbers: Vec<f64> = (0..1500).map(f64::from).collect();
        let words = std::iter::once(1500).chain(numbers.iter().map(|number| number.to_bits()));
        let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        let whole = xxhash_rust::xxh3::xxh3_64(&bytes);
        assert_eq!(
            Fingerprint::new().numbers(&numbers).hex(),
            format!("{whole:016x}"),
            "numbers that fill several blocks must have the same hash as one list of bytes"
        );
    }

    #[test]
    fn the_fingerprint_ignores_the_file_name_the_line_numbers_and_the_sign_of_zero() {
        let other =
            Table { file: "other.csv".into(), lines: scorewise_table::table::Lines::From(2), ..example_table() };
        assert_eq!(Fingerprint::of(&example_table()).hex(), Fingerprint::of(&other).hex());
        assert_eq!(Fingerprint::new().numbers(&[0.0]).hex(), Fingerprint::new().numbers(&[-0.0]).hex());
    }

    #[test]
    fn any_change_of_the_data_changes_the_fingerprint() {
        let mut tables = vec![example_table(); 7]; // the last table is left unchanged
        tables[0].columns[0].name = "by".into();
        tables[1].columns[0].values = Values::Number(vec![-3.5, f64::NAN, 1e-300]);
        tables[2].columns[1].values =
            Values::Category(Category { codes: vec![0, 1, 0], levels: vec!["a".into(), "c".into()] });
        tables[3].columns[2].values = Values::Boolean(vec![Some(true), Some(false), Some(false)]);
        tables[4].columns[3].values = Values::Time(vec![0, 86_401, Values::NO_TIME]);
        tables[5].columns.swap(0, 1);
        let mut fingerprints: Vec<String> = tables.iter().map(|table| Fingerprint::of(table).hex()).collect();
        fingerprints.sort();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), 7);
        assert_ne!(Fingerprint::new().texts(&["ab", "c"]).hex(), Fingerprint::new().texts(&["a", "bc"]).hex());
    }
}
