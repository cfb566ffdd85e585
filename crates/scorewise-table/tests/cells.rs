//! Tests of how the cells of a table are read (empty lines, missing values, formatted numbers, dates), of the notes about what was recognised,
//! and of the errors for files that cannot be read.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::collections::BTreeMap;
use std::sync::Arc;

use scorewise_table::Note;
use scorewise_table::table::{ColumnKind, Reader, Reading, Table, TextConventions, Values, read, warnings};

use crate::table_files::{ScratchFolder, gzip, strings};

/// The table that is read from a text, with the notes and the conventions for numbers and dates that the reader reports.
struct TableWithNotes {
    table: Table,
    notes: Vec<String>,
    late_notes: Vec<String>,
    writing: TextConventions,
}

/// The text of a note as the command line shows it, with settings written as `--name`.
fn render_note(note: &Note) -> String {
    note.render(&|name, value| Some(value.map_or(format!("--{name}"), |value| format!("--{name} {value}"))))
}

/// Writes the text to a file `t.csv` and reads it.
fn read_text(content: impl AsRef<[u8]>, reading: &Reading) -> Result<TableWithNotes, String> {
    let folder = ScratchFolder::new();
    let read = || {
        let mut reader = Reader::open(&folder.file("t.csv", content), reading)?;
        let table = reader.whole()?;
        let notes = reader.notes().iter().map(render_note).collect();
        let late_notes = reader.late_notes().iter().map(render_note).collect();
        let writing = reader.writing().clone();
        Ok::<_, scorewise_table::Error>(TableWithNotes { table, notes, late_notes, writing })
    };
    read().map_err(|error| folder.without_path(&error.to_string()))
}

/// The default settings for reading a table.
fn default_reading() -> Reading {
    Reading::default()
}

/// Reads a text with the default settings.
fn read_default(content: impl AsRef<[u8]>) -> TableWithNotes {
    read_text(content, &default_reading()).unwrap()
}

/// The error message for a text that cannot be read.
fn error_message(content: impl AsRef<[u8]>, reading: &Reading) -> String {
    read_text(content, reading).err().unwrap()
}

/// The numbers of a column, with `None` for missing values.
fn numbers(table: &Table, name: &str) -> Vec<Option<f64>> {
    match &table.required_column(name).unwrap().values {
        Values::Number(values) => values.iter().map(|value| (!value.is_nan()).then_some(*value)).collect(),
        other => panic!("{name} holds {:?}", other.kind()),
    }
}

/// The times of a column, in seconds since 1970.
fn times(table: &Table, name: &str) -> Vec<i64> {
    match &table.required_column(name).unwrap().values {
        Values::Time(values) => values.clone(),
        other => panic!("{name} holds {:?}", other.kind()),
    }
}

/// The type that the reader recognises for the column `name` of the table whose text is `content`.
fn kind_of_column(content: &str, name: &str) -> ColumnKind {
    read_default(content).table.required_column(name).unwrap().values.kind()
}

/// A table with the columns `row` and `x`, separated by tabs so that cells may contain commas.
fn table_with_cells<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let rows = cells.into_iter().enumerate().map(|(row, cell)| format!("{row}\t{cell}\n"));
    std::iter::once("row\tx\n".to_owned()).chain(rows).collect()
}

// Tests of which lines of a text file are rows.

#[test]
fn records_in_which_every_cell_is_empty_are_rows() {
    for content in ["a,b\n1,x\n,\n2,y\n \"\", \n3,z\n", "a,b\r\n1,x\r\n,\r\n2,y\r\n,\r\n3,z\r\n"] {
        let content = content.replace(" \"\", ", "\"\",");
        let TableWithNotes { table, late_notes, .. } = read_default(content);
        assert_eq!(numbers(&table, "a"), [Some(1.0), None, Some(2.0), None, Some(3.0)]);
        assert_eq!(strings(&table, "b")[3..], [None, Some("z".into())]);
        assert_eq!(late_notes, [""; 0]);
    }
    let TableWithNotes { table, .. } = read_default("a;b\n1;2,5\n;\n;\n");
    assert_eq!(
        numbers(&table, "b"),
        [Some(2.5), None, None],
        "lines with only a delimiter are rows, even at the end of the file"
    );
}

#[test]
fn an_empty_line_between_rows_is_read_as_a_row_and_reported() {
    for end in ["\n", "\r\n", "\r"] {
        let content = format!("{end}{end}a,b{end}1,x{end}{end}2,y{end}  \t{end}\"\"{end}3,z{end}{end} {end}");
        let TableWithNotes { table, late_notes, .. } = read_default(content);
        assert_eq!(numbers(&table, "a"), [Some(1.0), None, Some(2.0), None, None, Some(3.0)], "{end:?}");
        let lines: Vec<_> = (0..6).map(|row| table.place(row).line.unwrap()).collect();
        assert_eq!(lines, [4, 5, 6, 7, 8, 9], "{end:?}");
        assert_eq!(late_notes.len(), 1, "{late_notes:?}");
        assert!(
            late_notes[0].starts_with("3 lines are empty, the first is line 5: they are read as rows of missing"),
            "{late_notes:?}"
        );
    }
    let TableWithNotes { late_notes, .. } = read_default("a,b\n1,2\n\n3,4\n");
    assert!(late_notes[0].starts_with("line 3 is empty"), "{late_notes:?}");
}

#[test]
fn in_a_table_of_one_column_an_empty_line_is_a_missing_value() {
    let TableWithNotes { table, late_notes, .. } = read_default("x\n\n1\n\n\"\"\n \n2\n\n\n");
    assert_eq!(numbers(&table, "x"), [None, Some(1.0), None, None, None, Some(2.0)]);
    assert_eq!(late_notes, [""; 0]);
    let TableWithNotes { table, .. } = read_default("x\n1\n\"\"\n");
    assert_eq!(numbers(&table, "x"), [Some(1.0), None], "a quoted empty cell on the last line is a row");
}

#[test]
fn empty_lines_at_the_borders_of_blocks_are_counted_as_rows() {
    // The reader splits the text into blocks of 2 MiB, each of which ends within a sequence of empty lines.
    let mut content = String::from("a,b\n");
    for row in 0..60 {
        content += &format!("{row},x\n{}", "\n".repeat(100_000));
    }
    content += "60,x\n\n\n";
    let TableWithNotes { table, late_notes, .. } = read_default(&content);
    assert_eq!(table.rows(), 60 * 100_001 + 1);
    let a = numbers(&table, "a");
    assert!((0..=60).all(|row| a[row * 100_001] == Some(row as f64)));
    assert_eq!(a.iter().flatten().count(), 61);
    assert_eq!(table.place(60 * 100_001).line, Some(60 * 100_001 + 2));
    assert!(late_notes[0].starts_with("6000000 lines are empty, the first is line 3"), "{late_notes:?}");
}

#[test]
fn a_small_file_of_empty_lines_cannot_exhaust_the_memory() {
    let header: Vec<String> = (0..1000).map(|column| format!("c{column}")).collect();
    let content = format!("{0}\n{1}\n{2}{1}\n", header.join(","), ["1"; 1000].join(","), "\n".repeat(100_000));
    let error = error_message(content, &default_reading());
    assert!(
        error.contains("too many empty lines for a table of 1000 columns\nhint: remove the empty lines"),
        "{error}"
    );
}

#[test]
fn a_table_has_the_same_rows_in_a_parquet_file_and_in_a_text_file() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    let folder = ScratchFolder::new();
    let a: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.0), None, Some(3.0), None, None]));
    let bytes = to_parquet_file(&RecordBatch::try_from_iter([("a", a.clone()), ("b", a)]).unwrap());
    let columnar = read(&folder.file("t.parquet", bytes), &default_reading()).unwrap();
    let text = read_default("a,b\n1,1\n,\n3,3\n,\n,\n").table;
    assert_eq!(numbers(&columnar, "a"), numbers(&text, "a"));
}

// Tests of missing values.

/// Words that mean a missing value in columns of numbers, dates and booleans.
const MISSING_WORDS: [&str; 16] =
    ["N/A", "n/a", "null", "NULL", "None", "none", "-", "--", ".", "#N/A", "NaT", "<NA>", "na", "nil", "\\N", "n.a."];

#[test]
fn words_for_missing_values_are_read_as_missing_in_columns_of_numbers_dates_and_booleans() {
    for word in MISSING_WORDS {
        // A fifth of the cells hold the word. If the word were not recognised as missing, the column would therefore be read as text.
        let with_word = |cell: fn(usize) -> String| -> String {
            let cells = (0..50).map(|row| if row % 5 == 0 { word.to_owned() } else { cell(row) });
            let cells: Vec<String> = cells.collect();
            table_with_cells(cells.iter().map(String::as_str))
        };
        let found = read_default(with_word(|row| format!("{row}.5")));
        assert_eq!(numbers(&found.table, "x")[..2], [None, Some(1.5)], "{word}");
        let found = read_default(with_word(|row| format!("2010-01-{:02}", row % 28 + 1)));
        assert_eq!(times(&found.table, "x")[0], Values::NO_TIME, "{word}");
        let found = read_default(with_word(|row| ["yes", "no"][row % 2].into()));
        assert!(matches!(&found.table.columns[1].values, Values::Boolean(values) if values[0].is_none()), "{word}");
    }
}

#[test]
fn words_for_missing_values_are_levels_in_a_column_of_text() {
    for word in MISSING_WORDS {
        let found = read_default(table_with_cells(["red", word, "blue", "red"]));
        let always = ["#N/A", "NaT", "<NA>"].contains(&word);
        assert_eq!(strings(&found.table, "x")[1], (!always).then(|| word.to_owned()), "{word}");
    }
    // If a column has only words such as `None`, they are read as text, and a note says how to read them as missing.
    let found = read_default(table_with_cells(["None", "null", "?", "None"]));
    assert_eq!(strings(&found.table, "x")[..3], [Some("None".into()), Some("null".into()), None]);
    assert!(found.notes.iter().any(|note| note.contains("`--missing None`")), "{:?}", found.notes);
}

#[test]
fn words_for_missing_values_mean_the_same_in_parquet_files_as_in_text_files() {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    let folder = ScratchFolder::new();
    let x: ArrayRef = Arc::new(StringArray::from(vec!["1,234", "N/A", "-", "3.5", "<NA>"]));
    let source = folder.file("t.parquet", to_parquet_file(&RecordBatch::try_from_iter([("x", x)]).unwrap()));
    let table = read(&source, &default_reading()).unwrap();
    assert_eq!(strings(&table, "x")[1..], [Some("N/A".into()), Some("-".into()), Some("3.5".into()), None]);
    let forced = Reading { kinds: BTreeMap::from([("x".to_owned(), ColumnKind::Number)]), ..default_reading() };
    let table = read(&source, &forced).unwrap();
    assert_eq!(numbers(&table, "x"), [Some(1234.0), None, None, Some(3.5), None]);
}

// Tests of numbers.

#[test]
fn cells_with_thousands_separators_are_read_as_numbers() {
    let found = read_default(table_with_cells(["1,234", "1,234,567.8", "950", "-12,000"]));
    assert_eq!(numbers(&found.table, "x"), [Some(1234.0), Some(1_234_567.8), Some(950.0), Some(-12_000.0)]);
    assert!(
        found.notes.iter().any(|note| note.contains("commas separate thousands, `1,234` is read as the number 1234"))
    );
    let found = read_default("row,x\n1,\"1,234\"\n2,\"12,500.25\"\n");
    assert_eq!(numbers(&found.table, "x"), [Some(1234.0), Some(12_500.25)], "numbers in quotes");
    let found = read_default("row;x\n1;1.234,5\n2;3,25\n3;1.234.567\n");
    assert_eq!(
        numbers(&found.table, "x"),
        [Some(1234.5), Some(3.25), Some(1_234_567.0)],
        "numbers with a decimal comma"
    );
    // The only number with a separator comes after the first 4 MiB, from which the types of columns are recognised.
    let plain_rows: String = (0..600_000).map(|row| format!("{row}\t{}\n", row % 1000)).collect();
    let found = read_default(format!("row\tx\n{plain_rows}600000\t1,000\n"));
    assert_eq!(numbers(&found.table, "x")[600_000], Some(1000.0));
    // A comma is a thousands separator only if three digits follow.
    assert_eq!(kind_of_column(&table_with_cells(["1,2", "3,41", "5,6;7"].repeat(3)), "x"), ColumnKind::Category);
}

#[test]
fn a_decimal_comma_is_distinguished_from_a_thousands_separator() {
    let x = |content: &str| numbers(&read_default(content).table, "x");
    assert_eq!(x(&table_with_cells(["1,234", "3,5"])), [Some(1.234), Some(3.5)]);
    assert_eq!(x(&table_with_cells(["1,234", "3.5"])), [Some(1234.0), Some(3.5)]);
    // In ambiguous numbers, a comma is the decimal mark if cells are separated by semicolons; otherwise it is a thousands separator.
    assert_eq!(x("row;x\n1;1,234\n2;5,678\n"), [Some(1.234), Some(5.678)]);
    assert_eq!(x(&table_with_cells(["1,234", "5,678"])), [Some(1234.0), Some(5678.0)]);
    // Ambiguous numbers are read as in an earlier table, such as the training table, if the numbers of that table show the decimal mark.
    let earlier = read_default(table_with_cells(["1,234", "3,5"])).writing;
    assert_eq!(earlier.decimal_comma, Some(true));
    let like_earlier = Reading { writing: Some(earlier), ..default_reading() };
    assert_eq!(
        numbers(&read_text(table_with_cells(["1,234", "5,678"]), &like_earlier).unwrap().table, "x"),
        [Some(1.234), Some(5.678)]
    );
}

#[test]
fn per_cent_and_currency_signs_are_dropped_with_a_note() {
    for (cells, note) in [
        (["3.1%", "12 %", "-0.5%", "7"], "the per cent sign is dropped, `3.1%` is read as the number 3.1"),
        (["$3.10", "$12", "-$0.50", "$7"], "the sign `$` is dropped, `$3.10` is read as the number 3.1"),
        (["€3.1", "12€", "€-0.5", "7 €"], "the sign `€` is dropped, `€3.1` is read as the number 3.1"),
        (["£3.1", "£12", "-£0.5", "£7.00"], "the sign `£` is dropped, `£3.1` is read as the number 3.1"),
    ] {
        let found = read_default(table_with_cells(cells));
        assert_eq!(numbers(&found.table, "x"), [Some(3.1), Some(12.0), Some(-0.5), Some(7.0)], "{cells:?}");
        assert!(found.notes.iter().any(|other| other.contains(note)), "{:?}", found.notes);
    }
    // A column of amounts in two currencies is read as text.
    assert_eq!(kind_of_column(&table_with_cells(["$3", "€3", "$4", "€5"]), "x"), ColumnKind::Category);
    // A single cell with a per cent sign is an error in a column of plain numbers.
    let mut cells = vec!["1.5"; 20];
    cells.push("3.1%");
    let error = error_message(table_with_cells(cells), &default_reading());
    assert!(
        error.contains("t.csv:22, column `x`: `3.1%` has the sign `%`, which the column's other numbers do not have"),
        "{error}"
    );
}

#[test]
fn a_per_cent_or_currency_sign_is_accepted_only_if_the_training_table_has_the_same_sign() {
    let number = BTreeMap::from([("x".to_owned(), ColumnKind::Number)]);
    let like = |content: String| Reading {
        writing: Some(read_default(content).writing),
        kinds: number.clone(),
        ..default_reading()
    };
    let cells =
        |content: String, reading: &Reading| read_text(content, reading).map(|found| numbers(&found.table, "x"));
    let percent = like(table_with_cells(["3.1%", "4.5%"]));
    assert_eq!(cells(table_with_cells(["3.1", "4.5"]), &percent).unwrap(), [Some(3.1), Some(4.5)]);
    assert_eq!(cells(table_with_cells(["3.1%", "N/A"]), &percent).unwrap(), [Some(3.1), None]);
    let error = cells(table_with_cells(["$3.1", "$4.5"]), &percent).unwrap_err();
    assert!(error.contains("t.csv:2, column `x`: `$3.1` has the sign `$`"), "{error}");
    // If the training table has 0.031, then reading `3.1%` as 3.1 would be wrong, so `3.1%` is an error.
    let error = cells(table_with_cells(["3.1%", "4.5%"]), &like(table_with_cells(["0.031", "0.045"]))).unwrap_err();
    assert!(error.contains("t.csv:2, column `x`: `3.1%` has the sign `%`"), "{error}");
}

#[test]
fn codes_with_leading_zeros_are_read_as_text() {
    let found = read_default(table_with_cells(["02139", "10001", "94103", "NA", "00501"]));
    assert_eq!(strings(&found.table, "x")[..2], [Some("02139".into()), Some("10001".into())]);
    let note = "column `x` is read as text: its cells have the same number of digits, some with a leading 0 (`02139`); \
                `--numeric x` reads them as numbers";
    assert!(found.notes.iter().any(|other| other == note), "{:?}", found.notes);
    for cells in [["0", "10", "200"], ["0.5", "0.7", "1.5"], ["007", "8", "12"], ["10", "20", "30"], ["0", "1", "0"]] {
        assert_eq!(kind_of_column(&table_with_cells(cells), "x"), ColumnKind::Number, "{cells:?}");
    }
    let forced = Reading { kinds: BTreeMap::from([("x".to_owned(), ColumnKind::Number)]), ..default_reading() };
    let found = read_text(table_with_cells(["02139", "10001"]), &forced).unwrap();
    assert_eq!(numbers(&found.table, "x"), [Some(2139.0), Some(10_001.0)]);
    assert_eq!(found.notes.iter().filter(|note| note.contains("text")).count(), 0);
}

// Tests of dates and times of day.

#[test]
fn dates_with_english_month_names_are_read() {
    let found = read_default(table_with_cells([
        "Jan 05 2020",
        "5 Jan 2020",
        "January 5, 2020",
        "05-Jan-2020",
        "Jan 5, 2020 18:00",
    ]));
    // 2020-01-05 is 18266 days after 1970-01-01.
    let day = 18266 * 86400;
    assert_eq!(times(&found.table, "x"), [day, day, day, day, day + 64_800]);
}

#[test]
fn times_of_day_are_read_without_a_date() {
    let found = read_default(table_with_cells(["14:30", "14:30:05", "n/a", "0:05"]));
    let midnight = Values::TIME_OF_DAY_ORIGIN;
    assert_eq!(times(&found.table, "x"), [midnight + 52_200, midnight + 52_205, Values::NO_TIME, midnight + 300]);
    assert_eq!(found.table.columns[1].values.text(1), "14:30:05");
    assert!(found.table.columns[1].values.are_times_of_day() && !found.table.columns[0].values.are_times_of_day());
    // A column of dates is not a column of times of day, even if a date is 1970-01-01.
    assert!(
        !read_default(table_with_cells(["1970-01-01 14:30", "1970-01-01"])).table.columns[1].values.are_times_of_day()
    );
    // A single time of day among dates is an error.
    let mut cells = vec!["2010-01-31 14:30"; 20];
    cells.push("14:30");
    let error = error_message(table_with_cells(cells), &default_reading());
    assert!(
        error.contains("t.csv:22, column `x`: `14:30` has no date, but the column's other cells have one"),
        "{error}"
    );
}

#[test]
fn a_column_of_at_least_ten_different_eight_digit_dates_is_read_as_dates() {
    let days: Vec<String> = (1..=28).map(|day| format!("202001{day:02}")).collect();
    let column_of = |cells: &[String]| table_with_cells(cells.iter().map(String::as_str));
    let found = read_default(column_of(&days));
    assert_eq!(times(&found.table, "x")[4], 18266 * 86400);
    let note = "column `x` is read as dates (`20200101`); `--numeric x` reads them as numbers";
    assert!(found.notes.iter().any(|other| other == note), "{:?}", found.notes);
    let forced = Reading { kinds: BTreeMap::from([("x".to_owned(), ColumnKind::Number)]), ..default_reading() };
    assert_eq!(numbers(&read_text(column_of(&days), &forced).unwrap().table, "x")[0], Some(20_200_101.0));
    assert_eq!(
        kind_of_column(&column_of(&days[..9]), "x"),
        ColumnKind::Number,
        "a column with only nine different eight-digit dates is read as numbers"
    );
    assert_eq!(
        kind_of_column(&column_of(&vec![days[0].clone(); 50]), "x"),
        ColumnKind::Number,
        "a column whose eight-digit dates are all equal is read as numbers"
    );
    let counted: Vec<String> = (20_200_101..20_200_160).map(|number| number.to_string()).collect();
    assert_eq!(
        kind_of_column(&column_of(&counted), "x"),
        ColumnKind::Number,
        "a column of eight-digit numbers that are not all dates is read as numbers"
    );
}

#[test]
fn an_ambiguous_order_of_day_and_month_gives_a_note() {
    let found = read_default(table_with_cells(["03/04/2010", "05/06/2010"]));
    // 2010-04-03 is 14702 days after 1970-01-01.
    assert_eq!(times(&found.table, "x")[0], 14702 * 86400);
    let note = "column `x`: no date shows whether the day or the month comes first (`03/04/2010`); the day is assumed to come \
                first; `--month-first` reads the month first";
    assert!(found.notes.iter().any(|other| other == note), "{:?}", found.notes);
    let given = Reading { month_first: Some(true), ..default_reading() };
    let month_first = read_text(table_with_cells(["03/04/2010", "05/06/2010"]), &given).unwrap();
    assert_eq!(times(&month_first.table, "x")[0], 14672 * 86400);
    for cells in [["31/01/2010", "03/04/2010"], ["01/31/2010", "03/04/2010"], ["03/03/2010", "2010-01-31"]] {
        let notes = read_default(table_with_cells(cells)).notes;
        assert!(!notes.iter().any(|note| note.contains("comes first")), "{notes:?}");
    }
    let mut cells = vec!["31/01/2010"; 20];
    cells.push("01/31/2010");
    let error = error_message(table_with_cells(cells), &default_reading());
    let problem =
        "t.csv:22, column `x`: `01/31/2010` has the month first, but the column's other dates have the day first";
    assert!(error.contains(problem), "{error}");
}

#[test]
fn ambiguous_dates_are_read_with_the_order_of_day_and_month_in_the_training_table() {
    let time = BTreeMap::from([("x".to_owned(), ColumnKind::Time)]);
    for (before, day) in [("01/31/2010", 14672), ("31/01/2010", 14702)] {
        let writing = Some(read_default(table_with_cells([before, "03/04/2010"])).writing);
        let like_earlier = Reading { writing, kinds: time.clone(), ..default_reading() };
        let ambiguous = read_text(table_with_cells(["03/04/2010", "N/A"]), &like_earlier).unwrap();
        assert_eq!(times(&ambiguous.table, "x"), [day * 86400, Values::NO_TIME], "{before}");
        // If the dates of the table itself show the order of day and month, the order of the training table is ignored.
        let unambiguous = read_text(table_with_cells(["03/04/2010", "31/01/2010"]), &like_earlier).unwrap();
        assert_eq!(times(&unambiguous.table, "x")[0], 14702 * 86400);
    }
}

// Tests of the warnings about columns that may be misread.

#[test]
fn a_column_of_text_that_is_mostly_numbers_gives_a_warning() {
    let mut cells: Vec<String> = (0..60).map(|row| format!("{row}.5")).collect();
    cells.extend(["bad", "bad", "bad", "worse"].map(String::from).into_iter().cycle().take(20));
    let content = table_with_cells(cells.iter().map(String::as_str));
    let table = read_default(&content).table;
    let notes: Vec<String> = warnings(&table, &default_reading()).iter().map(render_note).collect();
    let expected = "column `x`: is read as text, although 60 of its 80 cells are numbers; the most frequent other cell is \
                    `bad` (15 times), which is not read as missing; `--missing bad` reads it as missing";
    assert_eq!(notes, [expected]);
    let forced = Reading { kinds: BTreeMap::from([("x".to_owned(), ColumnKind::Category)]), ..default_reading() };
    assert!(
        warnings(&table, &forced).is_empty(),
        "there must be no warning if the user asked to read the column as text"
    );
    for content in [table_with_cells(["red", "blue", "3", "green", "4"]), table_with_cells(["02139", "10001", "94103"])]
    {
        assert!(warnings(&read_default(content).table, &default_reading()).is_empty());
    }
}

#[test]
fn a_repeated_value_far_from_all_others_gives_a_warning() {
    let mut content = String::from("a,b,c\n");
    for row in 0..500 {
        let a = if row % 20 == 0 { "-200".into() } else { format!("{}.{}", row % 45, row % 10) };
        content += &format!("{a},{a},{}\n", row % 7);
    }
    let notes: Vec<String> =
        warnings(&read_default(content).table, &default_reading()).iter().map(render_note).collect();
    let expected = "columns `a`, `b`: -200 is far from all other values and repeats; does -200 mean missing? \
                    `--missing -200` reads it as missing";
    assert_eq!(notes, [expected]);
}

// Tests of the errors for files that cannot be read.

/// The bytes of a text in UTF-16 (`width` is 2) or UTF-32 (`width` is 4), with or without a byte order mark at the beginning.
fn utf_16_or_32(text: &str, width: usize, big_endian: bool, byte_order_mark: bool) -> Vec<u8> {
    let marked = format!("{}{text}", if byte_order_mark { "\u{feff}" } else { "" });
    let bytes = |unit: u32| {
        let bytes = if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
        let from = if big_endian { 4 - width } else { 0 };
        bytes[from..from + width].to_vec()
    };
    match width {
        2 => marked.encode_utf16().flat_map(|unit| bytes(u32::from(unit))).collect(),
        _ => marked.chars().flat_map(|unit| bytes(unit as u32)).collect(),
    }
}

#[test]
fn the_error_for_text_in_utf_16_or_utf_32_names_the_encoding() {
    let tables = [
        "a,b\n1,2\n".to_owned(),
        "日期,温度\n一月,12.5\n二月,13.5\n".to_owned(),
        "a,b\n".to_owned() + &"1,é\n".repeat(5000),
    ];
    for text in tables {
        for (width, big, iconv) in [(2, false, "16le"), (2, true, "16be"), (4, false, "32le"), (4, true, "32be")] {
            let name = &iconv[..2];
            let bytes = utf_16_or_32(&text, width, big, false);
            let expected = format!(
                "t.csv: is UTF-{name} text without a byte order mark\nhint: save the file as UTF-8: `iconv -f utf-{iconv} -t utf-8 \
                 FILE > NEW`"
            );
            assert_eq!(error_message(&bytes, &default_reading()), expected);
            assert_eq!(error_message(gzip(&bytes), &default_reading()), expected, "compressed");
            let bytes = utf_16_or_32(&text, width, big, true);
            let expected = format!(
                "t.csv: is UTF-{name} text\nhint: save the file as UTF-8: `iconv -f utf-{name} -t utf-8 FILE > NEW`"
            );
            assert_eq!(error_message(&bytes, &default_reading()), expected);
            assert_eq!(error_message(gzip(&bytes), &default_reading()), expected, "compressed");
        }
    }
}

/// A batch as the bytes of a Parquet file.
fn to_parquet_file(batch: &arrow_array::RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// A copy of a Parquet file whose metadata declares another codec. The pages need not be changed, because the file is refused before they are
/// read.
fn with_declared_codec(bytes: &[u8], codec: parquet::basic::Compression) -> Vec<u8> {
    use parquet::file::metadata::{ParquetMetaDataReader, ParquetMetaDataWriter};
    let tail = &bytes[bytes.len() - 8..];
    let length = u32::from_le_bytes(tail[..4].try_into().unwrap()) as usize;
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::copy_from_slice(bytes)).unwrap();
    let groups = metadata.row_groups().iter().cloned().map(|group| {
        let columns = group.columns().iter().cloned();
        let columns = columns.map(|column| column.into_builder().set_compression(codec).build().unwrap()).collect();
        group.into_builder().set_column_metadata(columns).build().unwrap()
    });
    let groups = groups.collect();
    let metadata = metadata.into_builder().set_row_groups(groups).build();
    let mut changed = bytes[..bytes.len() - 8 - length].to_vec();
    let mut footer = Vec::new();
    ParquetMetaDataWriter::new(&mut footer, &metadata).finish().unwrap();
    changed.extend(footer);
    changed
}

#[test]
fn the_error_for_an_unsupported_parquet_codec_names_the_codec() {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    use parquet::basic::Compression;
    let folder = ScratchFolder::new();
    let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let bytes = to_parquet_file(&RecordBatch::try_from_iter([("x", x)]).unwrap());
    for (codec, name) in [(Compression::BROTLI(Default::default()), "Brotli"), (Compression::LZO, "LZO")] {
        let source = folder.file("t.parquet", with_declared_codec(&bytes, codec));
        let error = read(&source, &default_reading()).unwrap_err().to_string();
        let expected = format!(
            "t.parquet: is compressed with {name}, which is not supported\nhint: write the file again, compressed with snappy or zstd"
        );
        assert!(error.ends_with(&expected), "{error}");
    }
    let same = with_declared_codec(&bytes, Compression::UNCOMPRESSED);
    assert_eq!(
        read(&folder.file("t.parquet", same), &default_reading()).unwrap().rows(),
        2,
        "the original file can be read"
    );
}

#[test]
fn messages_about_columns_of_unsupported_types_name_the_type_and_give_a_hint() {
    use arrow_array::builder::Decimal256Builder;
    use arrow_array::{ArrayRef, DurationSecondArray, Float64Array, RecordBatch, Time64MicrosecondArray};
    use arrow_buffer::i256;
    let folder = ScratchFolder::new();
    let mut money = Decimal256Builder::new().with_precision_and_scale(50, 2).unwrap();
    money.append_value(i256::from_i128(100));
    money.append_value(i256::from_i128(200));
    let money: ArrayRef = Arc::new(money.finish());
    let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let clock: ArrayRef = Arc::new(Time64MicrosecondArray::from(vec![1, 2]));
    let duration: ArrayRef = Arc::new(DurationSecondArray::from(vec![1, 2]));
    let arrow = |batch: &RecordBatch| {
        let mut bytes = Vec::new();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        drop(writer);
        bytes
    };
    let some = RecordBatch::try_from_iter([("x", x), ("money", money.clone()), ("clock", clock)]).unwrap();
    let notes = [
        "column `money` is left out: columns of type decimal256(50, 2) cannot be read; write the column as float64 or decimal128",
        "column `clock` is left out: columns of type time of day cannot be read; write the column as text or as a timestamp",
    ];
    for (name, bytes) in [("t.parquet", to_parquet_file(&some)), ("t.arrow", arrow(&some))] {
        let source = folder.file(name, bytes);
        let found: Vec<String> =
            Reader::open(&source, &default_reading()).unwrap().notes().iter().map(render_note).collect();
        assert_eq!(found, notes, "{name}");
        let only = Reading { only: Some(vec!["money".into()]), ..default_reading() };
        let error = read(&source, &only).unwrap_err().to_string();
        let expected = "column `money`: is of type decimal256(50, 2), which cannot be read\nhint: write the column as float64 or decimal128";
        assert!(error.ends_with(expected), "{error}");
    }
    let none = RecordBatch::try_from_iter([("money", money), ("wait", duration)]).unwrap();
    let error = read(&folder.file("none.arrow", arrow(&none)), &default_reading()).unwrap_err().to_string();
    let expected = "none.arrow: has no columns that can be read: `money` is of type decimal256(50, 2)\n\
                    hint: write the column as float64 or decimal128";
    assert!(error.ends_with(expected), "{error}");
}
