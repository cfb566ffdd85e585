//! Tests with tables of fifty thousand columns, which would take minutes if the time grew with the square of the number of columns.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use scorewise_table::encode::{Encoder, EncodingOptions};
use scorewise_table::table::{Column, Reading, Source, Table, Values, read};

use crate::table_files::ScratchFolder;

/// The number of columns of the wide table.
const N_COLUMNS: usize = 50_000;
/// The number of rows of the wide table.
const N_ROWS: usize = 3;

/// The name of a column of the wide table, given its number.
fn column_name(column: usize) -> String {
    format!("column number {column}")
}

/// The number in a cell of the wide table.
fn cell_value(column: usize, row: usize) -> f64 {
    (column * 7 % 1001) as f64 + row as f64
}

/// The wide table as an Arrow batch.
fn wide_batch() -> RecordBatch {
    let column = |column: usize| -> (String, ArrayRef) {
        (column_name(column), Arc::new((0..N_ROWS).map(|row| cell_value(column, row)).collect::<Float64Array>()))
    };
    RecordBatch::try_from_iter((0..N_COLUMNS).map(column)).unwrap()
}

/// The wide table, as it should be read from a file.
fn wide_table() -> Table {
    let column = |column| Column {
        name: column_name(column),
        values: Values::Number((0..N_ROWS).map(|row| cell_value(column, row)).collect()),
    };
    Table { file: "wide.csv".into(), columns: (0..N_COLUMNS).map(column).collect(), ..Table::default() }
}

/// The names of the columns with the numbers 0, 2, 4 and so on.
fn even_columns() -> Vec<String> {
    (0..N_COLUMNS).step_by(2).map(column_name).collect()
}

/// Asserts that the source is read as the wide table, both with all columns and with every second column.
fn check_wide_table(source: &Source) {
    let all = read(source, &Reading::default()).unwrap();
    assert_eq!(all.columns, wide_table().columns);
    let some = read(source, &Reading { only: Some(even_columns()), ..Reading::default() }).unwrap();
    assert_eq!(some.columns.len(), N_COLUMNS / 2);
    assert!(some.columns.iter().zip(all.columns.iter().step_by(2)).all(|(one, other)| one == other));
}

#[test]
fn a_wide_table_can_be_read_from_every_format() {
    let folder = ScratchFolder::new();
    let files = ["csv", "parquet", "arrow"].map(|extension| folder.path().join(format!("wide.{extension}")));
    let [text, parquet, arrow] = &files;
    let lines =
        (0..N_ROWS).map(|row| (0..N_COLUMNS).map(|column| cell_value(column, row).to_string()).collect::<Vec<_>>());
    let lines = std::iter::once((0..N_COLUMNS).map(column_name).collect()).chain(lines);
    std::fs::write(text, lines.map(|cells| cells.join(",") + "\n").collect::<String>()).unwrap();
    let batch = wide_batch();
    let file = std::fs::File::create(parquet).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let file = std::fs::File::create(arrow).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    for file in files {
        check_wide_table(&Source::File(file));
    }
}

#[test]
fn a_wide_table_can_be_encoded_with_thousands_of_names_in_the_settings() {
    let table = wide_table();
    let rows: Vec<u32> = (0..N_ROWS as u32).collect();
    let choice = EncodingOptions { drop: even_columns(), ..EncodingOptions::default() };
    let (encoder, _) = Encoder::fit(&table, &rows, &choice).unwrap();
    assert_eq!(encoder.inputs.len(), N_COLUMNS / 2);
    let lagged: Vec<String> = (0..N_COLUMNS).skip(1).step_by(2).map(column_name).collect();
    let choice = EncodingOptions {
        drop: even_columns(),
        keep: lagged.clone(),
        lags: 1,
        lag_columns: lagged,
        ..EncodingOptions::default()
    };
    let (encoder, _) = Encoder::fit(&table, &rows, &choice).unwrap();
    assert_eq!(encoder.inputs.len(), N_COLUMNS);
    let columns: HashSet<&str> = encoder.columns().into_iter().map(|(name, _)| name).collect();
    assert_eq!(columns.len(), N_COLUMNS / 2);
    for _ in 0..2 {
        assert_eq!(encoder.encode(&table).unwrap().matrix.rows(), N_ROWS);
    }
    // The renamed table has none of the columns that the encoder needs. The error lists the first missing columns and suggests similar names.
    let mut renamed = table.clone();
    renamed.columns.iter_mut().for_each(|column| column.name = column.name.replace(' ', "_"));
    let message = encoder.encode(&renamed).unwrap_err().to_string();
    assert!(
        message.contains("`column number 1`, `column number 3`") && message.contains("and 24988 more"),
        "{message}"
    );
    assert!(message.contains("did you mean `column_number_1` for `column number 1`"), "{message}");
}
