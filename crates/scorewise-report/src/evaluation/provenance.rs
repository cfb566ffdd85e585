//! Fingerprints (hashes) of the evaluated rows. Equal fingerprints show that two results come from the same data.

use scorewise::Confusion;
use scorewise_train::Model;
use scorewise_train::model::Fingerprint;

use crate::document::DataSource;

/// A column of numbers in single or double precision.
#[derive(Clone, Copy, Debug)]
pub enum FloatColumn<'a> {
    /// A column in single precision.
    F32(&'a [f32]),
    /// A column in double precision.
    F64(&'a [f64]),
}

/// Returns the name, the number of rows and the fingerprint (a hash) of a table of binary predictions; `columns` are the forecasts and the weights.
#[must_use]
pub fn predictions_data<'a>(
    name: &str,
    labels: &[bool],
    columns: impl IntoIterator<Item = FloatColumn<'a>>,
) -> DataSource {
    let mut hash = Fingerprint::new().bits(labels.len(), labels.iter().map(|label| u64::from(*label)));
    for column in columns {
        // f32 values are widened to f64, so that equal numbers have equal fingerprints in both precisions. Adding 0 turns −0 into 0.
        hash = match column {
            FloatColumn::F32(values) => {
                hash.bits(values.len(), values.iter().map(|value| (f64::from(*value) + 0.0).to_bits()))
            }
            FloatColumn::F64(values) => hash.bits(values.len(), values.iter().map(|value| (value + 0.0).to_bits())),
        };
    }
    DataSource { name: name.into(), rows: labels.len(), fingerprint: hash.hex() }
}

/// Returns the name, the number of rows and the fingerprint (a hash) of a table of multiclass predictions; `columns` are the probabilities of
/// each class, followed by the weights.
#[must_use]
pub fn class_predictions_data<'a>(
    name: &str,
    classes: &[String],
    labels: &[u32],
    decisions: &[u32],
    columns: impl IntoIterator<Item = &'a Vec<f64>>,
) -> DataSource {
    let hash = Fingerprint::new().texts(classes).labels(labels).labels(decisions);
    let hash = columns.into_iter().fold(hash, |hash, column| hash.numbers(column));
    DataSource { name: name.into(), rows: labels.len(), fingerprint: hash.hex() }
}

/// Returns the name, the number of rows and the fingerprint (a hash) of a table of counts.
#[must_use]
pub fn counts_data(name: &str, matrices: &[Confusion]) -> DataSource {
    let cells = matrices.iter().flat_map(Confusion::array).map(|count| (count + 0.0).to_bits());
    let fingerprint = Fingerprint::new().bits(4 * matrices.len(), cells).hex();
    DataSource { name: name.into(), rows: matrices.len(), fingerprint }
}

/// Returns the name, the number of rows and the fingerprint (a hash) of the table that a model was trained on.
#[must_use]
pub fn model_data(name: &str, rows: usize, model: &Model) -> DataSource {
    DataSource { name: name.into(), rows, fingerprint: model.fingerprint.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_have_equal_fingerprints_in_single_and_double_precision() {
        let labels = [true, false];
        let single = predictions_data("a", &labels, [FloatColumn::F32(&[0.5, 0.25])]);
        let fingerprint = |labels: &[bool], column| predictions_data("b", labels, [column]).fingerprint;
        assert_eq!(single.fingerprint, fingerprint(&labels, FloatColumn::F64(&[0.5, 0.25])));
        assert_ne!(single.fingerprint, fingerprint(&labels, FloatColumn::F64(&[0.5, 0.26])));
        assert_ne!(single.fingerprint, fingerprint(&[true, true], FloatColumn::F32(&[0.5, 0.25])));
    }
}
