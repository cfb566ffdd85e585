//! The Adult experiment (Table 1 and Figure 2 of Marchetti et al., 2022), which predicts whether the income of a person is above 50 000 dollars.
//!
//! The 30162 rows without a missing value are used, with 48 features, which are standardised over all these rows. For each repetition of the
//! experiment, one fifth of the rows are drawn at random as test rows. A third of the other rows are validation rows, which decide when training
//! stops; the rest are training rows.

use std::sync::Arc;

use scorewise::Purpose;

use super::rows::RepeatRows;
use scorewise_table::Matrix;
use scorewise_table::encode::{Encoder, EncodingOptions};
use scorewise_table::error::{Error, Location, Result};
use scorewise_table::split::{random, shuffle};
use scorewise_table::table::{BuiltIn, Reading, Source, Table, Values, read};

/// The encoded rows of the Adult table that have no missing value.
#[derive(Clone, Debug)]
pub struct Adult {
    matrix: Matrix,
    labels: Arc<[u32]>,
}

impl Adult {
    /// Reads the built-in Adult table.
    pub fn read() -> Result<Self> {
        Adult::from_table(&read(&Source::BuiltIn(BuiltIn::Adult), &Reading::default())?)
    }

    /// Encodes the rows of the Adult table that have no missing value.
    fn from_table(table: &Table) -> Result<Self> {
        let is_complete = |row: &usize| table.columns.iter().all(|column| !column.values.is_missing(*row));
        let complete: Vec<usize> = (0..table.rows()).filter(is_complete).collect();
        let mut table = table.select_rows(&complete);
        let has_level = |name: &str, level: &str| -> Result<Vec<bool>> {
            let Values::Category(category) = &table.required_column(name)?.values else {
                return Err(Error::data(Location::file(&table.file).column(name), "is not a column of categories", ""));
            };
            Ok(category.codes.iter().map(|code| category.levels[*code as usize] == level).collect())
        };
        let labels = has_level("income", ">50K")?.into_iter().map(u32::from).collect();
        let native = has_level("native-country", "United-States")?.into_iter().map(f64::from).collect();
        for column in &mut table.columns {
            if column.name == "native-country" {
                column.values = Values::Number(native);
                break;
            }
        }
        let choice = EncodingOptions {
            without: vec!["income".into()],
            drop: vec!["education".into()],
            standardise_all: true,
            ..EncodingOptions::default()
        };
        let rows: Vec<u32> = (0..table.rows() as u32).collect();
        let (encoder, _) = Encoder::fit(&table, &rows, &choice)?;
        Ok(Adult { matrix: encoder.encode(&table)?.matrix, labels })
    }

    /// Number of rows without a missing value.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The training, validation and test rows of one repetition of the experiment, drawn at random with `seed`. All repetitions share the matrix.
    #[must_use]
    pub fn repeat_rows(&self, seed: u64) -> RepeatRows {
        let mut order: Vec<u32> = (0..self.rows() as u32).collect();
        shuffle(&mut order, &mut random(seed, Purpose::Split, 0));
        let (kept, test) = order.split_at(self.rows() * 4 / 5);
        let (validation, training) = kept.split_at(kept.len() / 3);
        RepeatRows {
            matrix: self.matrix.clone(),
            labels: self.labels.clone(),
            training: training.to_vec(),
            validation: validation.to_vec(),
            seen: training.to_vec(),
            test: test.to_vec(),
        }
    }
}
