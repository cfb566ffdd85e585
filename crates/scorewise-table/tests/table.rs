//! Tests of reading tables from files of all formats: what is recognised, what is refused, and the messages.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::collections::BTreeMap;
use std::sync::Arc;

use scorewise_table::Error;
use scorewise_table::table::{BuiltIn, ColumnKind, Lines, Reader, Reading, Source, Table, Values, nearest, read};

use crate::table_files::{ScratchFolder, gzip, strings};

/// Writes the text to a file `t.csv` and reads it.
fn read_text(content: impl AsRef<[u8]>, reading: &Reading) -> Result<Table, Error> {
    let folder = ScratchFolder::new();
    read(&folder.file("t.csv", content), reading)
}

/// The message of the error when a text is read, without the path of the temporary folder.
fn error_message(content: impl AsRef<[u8]>, reading: &Reading) -> String {
    let folder = ScratchFolder::new();
    let error = read(&folder.file("t.csv", content), reading).unwrap_err();
    folder.without_path(&error.to_string())
}

/// The default settings for reading a table.
fn default_reading() -> Reading {
    Reading::default()
}

/// The numbers of a column; NaN is a missing value.
fn numbers(table: &Table, name: &str) -> Vec<f64> {
    match &table.required_column(name).unwrap().values {
        Values::Number(values) => values.clone(),
        other => panic!("{name} holds {:?}", other.kind()),
    }
}

/// The name and type of each column.
fn names_and_kinds(table: &Table) -> Vec<(&str, ColumnKind)> {
    table.columns.iter().map(|column| (column.name.as_str(), column.values.kind())).collect()
}

#[test]
fn the_adult_table_has_the_documented_rows_levels_and_missing_values() {
    let adult = read(&Source::parse("adult"), &default_reading()).unwrap();
    assert_eq!(adult.rows(), 32561);
    let Values::Category(income) = &adult.required_column("income").unwrap().values else { panic!() };
    assert_eq!(income.levels, ["<=50K", ">50K"]);
    assert_eq!(income.codes.iter().filter(|code| **code == 1).count(), 7841);
    for (name, missing) in [("workclass", 1836), ("occupation", 1843), ("native-country", 583), ("age", 0)] {
        let values = &adult.required_column(name).unwrap().values;
        assert_eq!((0..adult.rows()).filter(|row| values.is_missing(*row)).count(), missing, "{name}");
    }
    let numeric = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"];
    for (name, kind) in names_and_kinds(&adult) {
        assert_eq!(kind == ColumnKind::Number, numeric.contains(&name), "{name}");
    }
    assert_eq!(numbers(&adult, "age")[..3], [39.0, 50.0, 38.0]);
    assert_eq!(adult.lines, Lines::From(1));
}

#[test]
fn the_adult_test_table_is_read_without_its_first_line_and_the_dots_after_labels() {
    let test = read(&Source::parse("adult-test"), &default_reading()).unwrap();
    assert_eq!(test.rows(), 16281);
    let Values::Category(income) = &test.required_column("income").unwrap().values else { panic!() };
    assert_eq!(income.levels, ["<=50K", ">50K"]);
    assert_eq!(income.codes.iter().filter(|code| **code == 1).count(), 3846);
    assert_eq!(test.place(0).to_string(), "adult-test:2");
}

#[test]
fn the_pollution_table_has_the_documented_rows_and_missing_values() {
    let pollution = read(&Source::BuiltIn(BuiltIn::Pollution), &default_reading()).unwrap();
    assert_eq!((pollution.rows(), pollution.columns.len()), (43824, 13));
    let dust = numbers(&pollution, "pm2.5");
    assert_eq!(dust.iter().filter(|value| value.is_nan()).count(), 2067);
    assert_eq!(dust.iter().filter(|value| **value > 400.0).count(), 545);
    assert_eq!(pollution.columns.iter().filter(|column| column.values.kind() == ColumnKind::Category).count(), 1);
    assert_eq!(pollution.place(0).line, Some(2));
}

#[test]
fn names_of_built_in_tables_take_precedence_over_files() {
    assert_eq!(Source::parse("adult"), Source::BuiltIn(BuiltIn::Adult));
    assert_eq!(Source::parse("./adult"), Source::File("./adult".into()));
    assert_eq!(Source::parse("-"), Source::Stdin);
}

#[test]
fn every_delimiter_and_line_end_gives_the_same_table() {
    let expected = read_text("a,b\n1,x\n2.5,y\n", &default_reading()).unwrap().columns;
    for content in [
        "a;b\n1;x\n2.5;y\n",
        "a;b\n1;x\n2,5;y\n",
        "a\tb\n1\tx\n2.5\ty",
        "a|b\r\n1|x\r\n2.5|y\r\n",
        "a,b\r1,x\r2.5,y\r",
        "\u{feff}a,b\n1,x\n2.5,y\n",
        "a, b\n1, x\n2.5 , y \n",
        "\n\na,b\n1,x\n2.5,y\n\n\n",
        "a,b\r\r\n1,x\r\r\n2.5,y\r\r\n",
        "\"a\",\"b\"\n\"1\",\"x\"\n\"2.5\",y\n",
        "a;b;;\n1;x;;\n2,5;y;;\n",
        "a,b\n1,x,\n2.5,y,\n",
    ] {
        assert_eq!(read_text(content, &default_reading()).unwrap().columns, expected, "{content:?}");
    }
}

#[test]
fn a_file_in_the_format_of_the_uci_air_quality_table_can_be_read() {
    let content = "Date;Time;CO(GT);NOx(GT);;\r\n10/03/2004;18.00.00;2,6;166;;\r\n10/03/2004;19.00.00;-200;-200,0;;\r\n\
                   31/03/2004;20.00.00;2,2;131;;\r\n;;;;;\r\n;;;;;\r\n";
    let table = read_text(content, &Reading { missing: vec!["-200".into()], ..default_reading() }).unwrap();
    let expected = [
        ("Date", ColumnKind::Time),
        ("Time", ColumnKind::Category),
        ("CO(GT)", ColumnKind::Number),
        ("NOx(GT)", ColumnKind::Number),
    ];
    assert_eq!(names_and_kinds(&table), expected);
    // Lines that consist of delimiters are rows, even at the end of the file.
    assert_eq!(table.rows(), 5);
    let carbon = numbers(&table, "CO(GT)");
    assert_eq!((carbon[0], carbon[1].is_nan(), carbon[2]), (2.6, true, 2.2));
    assert!(numbers(&table, "NOx(GT)")[1].is_nan());
    // 2004-03-10 is 12487 days after 1970-01-01.
    let Values::Time(date) = &table.required_column("Date").unwrap().values else { panic!() };
    let none = Values::NO_TIME;
    assert_eq!(date, &[12487 * 86400, 12487 * 86400, 12508 * 86400, none, none]);
}

#[test]
fn in_a_column_of_text_none_and_null_are_levels_but_empty_cells_and_question_marks_are_missing() {
    let table = read_text("class,x,b\nNone,1,yes\n?,NA,No\nnull,NaN,TRUE\n,nan,\n", &default_reading()).unwrap();
    let class = strings(&table, "class");
    assert_eq!(class, [Some("None".into()), None, Some("null".into()), None]);
    assert_eq!(numbers(&table, "x").iter().filter(|value| value.is_nan()).count(), 3);
    assert_eq!(
        table.required_column("b").unwrap().values,
        Values::Boolean(vec![Some(true), Some(false), Some(true), None])
    );
}

#[test]
fn dates_are_read_with_the_month_first_if_a_single_date_of_the_column_shows_this_order() {
    let table =
        read_text("t,u\n01/02/2010,01/02/2010 00:00:10\n01/31/2010,2010-02-01T00:00:10\n", &default_reading()).unwrap();
    // The given day of 2010, in seconds since 1970: day 1, 2010-01-01, is 14610 days after 1970-01-01.
    let days = |day: i64| (14609 + day) * 86400;
    assert_eq!(table.required_column("t").unwrap().values, Values::Time(vec![days(2), days(31)]));
    assert_eq!(table.required_column("u").unwrap().values, Values::Time(vec![days(32) + 10, days(32) + 10]));
}

#[test]
fn quoted_cells_may_contain_delimiters_and_line_breaks() {
    let content = "a,b\n\"x, y\n\"\"z\"\"\",1\nplain,2\n";
    let table = read_text(content, &default_reading()).unwrap();
    assert_eq!(strings(&table, "a"), [Some("x, y\n\"z\"".into()), Some("plain".into())]);
    assert_eq!((table.place(0).line, table.place(1).line), (Some(2), Some(4)));
}

#[test]
fn the_first_line_is_a_row_if_the_user_names_the_columns() {
    let reading = Reading { columns: Some(vec!["a".into(), "b".into()]), ..default_reading() };
    let table = read_text("1,x\n2,y\n", &reading).unwrap();
    assert_eq!((table.rows(), numbers(&table, "a")[0]), (2, 1.0));
    assert_eq!(table.place(0).line, Some(1));
    let error = error_message("1,x,3\n", &reading);
    let hint = "put cells that contain the delimiter in quotes, or remove the row";
    assert_eq!(error, format!("t.csv:1: 3 cells, but `columns` has 2\nhint: {hint}"));
}

#[test]
fn a_header_that_looks_like_a_row_gives_a_note() {
    let folder = ScratchFolder::new();
    let reader = Reader::open(&folder.file("t.csv", "1,x,3\n2,y,4\n3,z,5\n"), &default_reading()).unwrap();
    assert!(reader.notes().iter().any(|note| note.to_string().contains("`columns`")), "{:?}", reader.notes());
    let reader = Reader::open(&folder.file("t.csv", "a,b,c\n2,y,4\n3,z,5\n"), &default_reading()).unwrap();
    assert_eq!(reader.notes(), []);
}

#[test]
fn columns_are_selected_and_read_with_the_types_that_the_user_set() {
    let kinds_of =
        BTreeMap::from([("zip".to_string(), ColumnKind::Category), ("flag".to_string(), ColumnKind::Boolean)]);
    let only = Some(vec!["flag".to_string(), "zip".to_string()]);
    let table =
        read_text("zip,flag,rest\n01234,1,x\n99999,0,y\n", &Reading { kinds: kinds_of, only, ..default_reading() })
            .unwrap();
    assert_eq!(names_and_kinds(&table), [("zip", ColumnKind::Category), ("flag", ColumnKind::Boolean)]);
    assert_eq!(strings(&table, "zip")[0], Some("01234".into()));
    assert_eq!(table.required_column("flag").unwrap().values, Values::Boolean(vec![Some(true), Some(false)]));
}

#[test]
fn errors_name_the_location_and_give_a_hint() {
    let with_last_cell = |cell: &str| format!("a,bz\n{}x,{cell}\n", "x,1\n".repeat(20));
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (
            with_last_cell("bad").into(),
            "t.csv:22, column `bz`: `bad` is not a number\nhint: add `missing bad` to read it as missing, or \
             `categorical bz` to read the column as text",
        ),
        (
            with_last_cell("-inf").into(),
            "t.csv:22, column `bz`: `-inf` is not finite\nhint: add `missing -inf` to read it as missing, or \
             `categorical bz` to read the column as text",
        ),
        (
            with_last_cell("1e999").into(),
            "t.csv:22, column `bz`: `1e999` is not finite\nhint: add `missing 1e999` to read it as missing, or \
             `categorical bz` to read the column as text",
        ),
        ("a,b,c\n1,2,3\n1,2\n".into(), "t.csv:3: 2 cells, but the header has 3\nhint: complete the row or remove it"),
        (
            "a,b,a\n1,2,3\n".into(),
            "t.csv: columns 1 and 3 are both called `a`\nhint: rename one of them, or name all columns with `columns` if \
             the file has no header",
        ),
        ("".into(), "t.csv: is empty\nhint: a table needs a header and at least one row"),
        ("\n\n".into(), "t.csv: is empty\nhint: a table needs a header and at least one row"),
        ("a,b\n".into(), "t.csv: has a header but no rows\nhint: a table needs at least one row"),
        (
            b"a,b\nx,\xe9t\xe9\n".to_vec(),
            "t.csv:2, column `b`: `\u{fffd}t\u{fffd}` is not UTF-8\nhint: save the file as UTF-8: \
             `iconv -f latin1 -t utf-8 FILE > NEW`",
        ),
        (
            b"a,\xe9\n1,2\n".to_vec(),
            "t.csv:1: the name `\u{fffd}` of column 2 is not UTF-8\nhint: save the file as UTF-8: \
             `iconv -f latin1 -t utf-8 FILE > NEW`",
        ),
        (
            "a,b\n1,\"x\n2,y\n".into(),
            "t.csv:2: a quoted cell begins here and is never closed\nhint: close the quote, or remove it",
        ),
        (
            b"PK\x03\x04rest".to_vec(),
            "t.csv: is a zip archive or a spreadsheet\nhint: unpack the archive, or save the sheet as CSV",
        ),
        (
            b"\xff\xfea\0".to_vec(),
            "t.csv: is UTF-16 text\nhint: save the file as UTF-8: `iconv -f utf-16 -t utf-8 FILE > NEW`",
        ),
    ];
    for (content, expected) in cases {
        assert_eq!(error_message(&content, &default_reading()), expected);
    }
    assert_eq!(numbers(&read_text(with_last_cell("1e308"), &default_reading()).unwrap(), "bz")[20], 1e308);
    let inf = Reading { missing: vec!["inf".into()], ..default_reading() };
    assert!(numbers(&read_text(with_last_cell("inf"), &inf).unwrap(), "bz")[20].is_nan());
}

#[test]
fn a_wrong_delimiter_is_reported() {
    let wrong = Reading { delimiter: Some(';'), ..default_reading() };
    let expected = "t.csv: has one column when split at `;`; the file seems to use `,`\nhint: leave out `delimiter`, or give the right one";
    assert_eq!(error_message("a,b\n1,2\n", &wrong), expected);
    let not_ascii = Reading { delimiter: Some('é'), ..default_reading() };
    assert!(error_message("a,b\n1,2\n", &not_ascii).starts_with("delimiter: `é` cannot be a delimiter"));
}

#[test]
fn a_missing_column_is_reported_with_a_similar_name() {
    let pollution = read(&Source::parse("pollution"), &default_reading()).unwrap();
    assert_eq!(
        pollution.required_column("pm25").unwrap_err().to_string(),
        "pollution: has no column `pm25`\nhint: did you mean `pm2.5`?"
    );
    let error =
        read_text("a,b\n1,2\n", &Reading { only: Some(vec!["target".into()]), ..default_reading() }).unwrap_err();
    assert!(error.to_string().ends_with("t.csv: has no column `target`\nhint: the columns are `a`, `b`"), "{error}");
    assert_eq!(nearest("incom", ["age", "income"]), Some("income"));
}

#[test]
fn missing_files_directories_and_wrong_formats_are_reported() {
    let folder = ScratchFolder::new();
    let missing = read(&Source::File(folder.path().join("nothing.csv")), &default_reading()).unwrap_err().to_string();
    assert!(missing.contains("nothing.csv: no such file\nhint: check the name and the folder; "), "{missing}");
    let typo = read(&Source::parse("polution"), &default_reading()).unwrap_err().to_string();
    assert_eq!(typo, "polution: no such file\nhint: did you mean the built-in table `pollution`?");
    let directory = read(&Source::File(folder.path().into()), &default_reading()).unwrap_err().to_string();
    assert!(directory.ends_with("is a directory\nhint: name one of the files in this directory"), "{directory}");
    let not_parquet = read(&folder.file("t.parquet", "a,b\n1,2\n"), &default_reading()).unwrap_err().to_string();
    assert!(not_parquet.contains("is not a Parquet file"), "{not_parquet}");
}

/// A text table that is long enough for several blocks of the reader, with strings, missing values and quotes.
fn long_table() -> String {
    let mut content = String::from("number,text,yes,time\n");
    for row in 0..200_000u64 {
        let mixed = row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let text = if row % 50_000 == 7 { "\"two\nlines\"".into() } else { format!("level {}", (mixed % 97).min(row)) };
        let day = mixed % 28 + 1;
        content +=
            &format!("{}.{},{text},{},2010-01-{day:02}\n", row, mixed % 1000, ["yes", "no", ""][(mixed % 3) as usize]);
    }
    content
}

#[test]
fn the_number_of_threads_does_not_change_the_table() {
    let folder = ScratchFolder::new();
    let source = folder.file("t.csv", long_table());
    let read_with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let chunks: Vec<Table> = Reader::open(&source, &default_reading()).unwrap().map(Result::unwrap).collect();
            (chunks, read(&source, &default_reading()).unwrap())
        })
    };
    let (one, three) = (read_with(1), read_with(3));
    assert!(one.0.len() > 3);
    // The columns of numbers have no missing values. With a missing value, `assert_eq` would fail, because NaN is not equal to itself.
    assert_eq!(one, three);
    let whole = &one.1;
    assert_eq!(whole.rows(), 200_000);
    assert_eq!(one.0.iter().map(Table::rows).sum::<usize>(), 200_000);
    for row in [0, 59_999, 60_001, 199_999] {
        assert_eq!(numbers(whole, "number")[row].trunc(), row as f64);
        // Each quoted cell contains a line break, so the rows after it are one line further down.
        let quoted = [7, 50_007, 100_007, 150_007].iter().filter(|at| **at < row).count();
        assert_eq!(whole.place(row).line, Some((row + 2 + quoted) as u64));
    }
}

#[test]
fn the_first_error_in_the_file_is_reported_and_ends_the_iterator() {
    let folder = ScratchFolder::new();
    let content = long_table().replace("\n120000.", "\nx.").replace("\n180000.", "\ny.");
    let source = folder.file("t.csv", content);
    let mut chunks = Reader::open(&source, &default_reading()).unwrap();
    let error = chunks.find_map(Result::err).unwrap().to_string();
    assert!(error.contains("t.csv:120005, column `number`: `x."), "{error}");
    assert!(chunks.next().is_none());
}

#[test]
fn gzip_is_recognised_by_its_bytes_and_damage_is_reported() {
    let folder = ScratchFolder::new();
    let content = long_table();
    let plain_table = read(&folder.file("plain", &content), &default_reading()).unwrap();
    let bytes = gzip(content.as_bytes());
    let Table { columns, lines, .. } = read(&folder.file("compressed", &bytes), &default_reading()).unwrap();
    assert_eq!((columns, lines), (plain_table.columns, plain_table.lines));
    let truncated =
        read(&folder.file("truncated.csv.gz", &bytes[..bytes.len() / 2]), &default_reading()).unwrap_err().to_string();
    assert!(truncated.contains("truncated.csv.gz: the compressed data is damaged"), "{truncated}");
}

mod columnar {
    use arrow_array::builder::{Decimal128Builder, ListBuilder, StringBuilder};
    use arrow_array::types::Int8Type;
    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float32Array, Float64Array, Int64Array, RecordBatch,
        StringArray, TimestampMillisecondArray,
    };
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, Encoding};
    use parquet::file::properties::{WriterProperties, WriterVersion};

    use super::*;

    /// A batch with columns of many Arrow types.
    fn batch(rows: i64) -> RecordBatch {
        let range = 0..rows;
        let mut decimal = Decimal128Builder::new().with_precision_and_scale(10, 2).unwrap();
        let mut list = ListBuilder::new(StringBuilder::new());
        for row in range.clone() {
            decimal.append_value(i128::from(row) * 25);
            list.values().append_value("x");
            list.append(true);
        }
        let labels = ["low", "high", "?"];
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("count", Arc::new(range.clone().map(|row| (row % 7 != 3).then_some(row)).collect::<Int64Array>())),
            ("half", Arc::new(range.clone().map(|row| row as f32 / 2.0).collect::<Float32Array>())),
            (
                "gaps",
                Arc::new(
                    range.clone().map(|row| if row % 5 == 0 { f64::NAN } else { row as f64 }).collect::<Float64Array>(),
                ),
            ),
            ("money", Arc::new(decimal.finish())),
            (
                "flag",
                Arc::new(range.clone().map(|row| (row % 4 != 1).then_some(row % 2 == 0)).collect::<BooleanArray>()),
            ),
            ("label", Arc::new(range.clone().map(|row| Some(labels[(row % 3) as usize])).collect::<StringArray>())),
            (
                "code",
                Arc::new(
                    range.clone().map(|row| Some(labels[(row % 2) as usize])).collect::<DictionaryArray<Int8Type>>(),
                ),
            ),
            ("day", Arc::new(range.clone().map(|row| Some(row as i32)).collect::<Date32Array>())),
            ("time", Arc::new(range.clone().map(|row| Some(row * 1500)).collect::<TimestampMillisecondArray>())),
            ("list", Arc::new(list.finish())),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    /// Checks the columns of a table that was read from a file of [`batch`].
    fn check_columns(table: &Table, rows: usize) {
        use ColumnKind::{Boolean, Category, Number, Time};
        let expected = [
            ("count", Number),
            ("half", Number),
            ("gaps", Number),
            ("money", Number),
            ("flag", Boolean),
            ("label", Category),
            ("code", Category),
            ("day", Time),
            ("time", Time),
        ];
        assert_eq!(names_and_kinds(table), expected);
        assert_eq!(table.rows(), rows);
        let last_row = rows - 1;
        let check_last = |name: &str, expected: f64| {
            let value = numbers(table, name)[last_row];
            assert!(value == expected || value.is_nan() && expected.is_nan(), "{name}: {value}");
        };
        check_last("count", if last_row % 7 == 3 { f64::NAN } else { last_row as f64 });
        check_last("half", last_row as f64 / 2.0);
        check_last("gaps", if last_row.is_multiple_of(5) { f64::NAN } else { last_row as f64 });
        check_last("money", last_row as f64 / 4.0);
        assert_eq!(strings(table, "label")[..4], [Some("low".into()), Some("high".into()), None, Some("low".into())]);
        assert_eq!(strings(table, "code")[last_row], Some(["low", "high"][last_row % 2].into()));
        let Values::Boolean(flag) = &table.required_column("flag").unwrap().values else { panic!() };
        assert_eq!(flag[..4], [Some(true), None, Some(true), Some(false)]);
        assert_eq!(
            table.required_column("day").unwrap().values,
            Values::Time((0..rows as i64).map(|row| row * 86400).collect())
        );
        assert_eq!(
            table.required_column("time").unwrap().values,
            Values::Time((0..rows as i64).map(|row| row * 3 / 2).collect())
        );
    }

    /// A batch as a Parquet file.
    fn parquet_file(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    #[test]
    fn parquet_files_of_all_codecs_and_encodings_give_the_same_table() {
        let folder = ScratchFolder::new();
        let batch = batch(10_000);
        let build = || WriterProperties::builder().set_max_row_group_row_count(Some(3000));
        let variants = [
            build().set_compression(Compression::SNAPPY),
            build().set_compression(Compression::ZSTD(Default::default())),
            build().set_compression(Compression::LZ4_RAW),
            build().set_compression(Compression::GZIP(Default::default())),
            build().set_dictionary_enabled(false),
            build().set_dictionary_enabled(false).set_writer_version(WriterVersion::PARQUET_2_0),
            build()
                .set_dictionary_enabled(false)
                .set_column_encoding("label".into(), Encoding::DELTA_LENGTH_BYTE_ARRAY),
            build().set_dictionary_enabled(false).set_column_encoding("label".into(), Encoding::DELTA_BYTE_ARRAY),
        ];
        for (variant, properties) in variants.into_iter().enumerate() {
            let source = folder.file(&format!("{variant}.parquet"), parquet_file(&batch, properties.build()));
            let reader = Reader::open(&source, &default_reading()).unwrap();
            assert_eq!(
                reader.notes().iter().map(ToString::to_string).collect::<Vec<_>>(),
                ["column `list` is left out: columns of type list cannot be read; write one value in each row"]
            );
            check_columns(&read(&source, &default_reading()).unwrap(), 10_000);
        }
    }

    #[test]
    fn parquet_errors_name_the_row_and_parquet_columns_can_be_read_as_other_types() {
        let folder = ScratchFolder::new();
        let mut values = vec![1.0; 5000];
        values[4321] = f64::INFINITY;
        let batch = RecordBatch::try_from_iter([("x", Arc::new(Float64Array::from(values)) as ArrayRef)]).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
        let source = folder.file("t.parquet", parquet_file(&batch, properties));
        let error = read(&source, &default_reading()).unwrap_err().to_string();
        assert!(
            error.contains("t.parquet, row 4322, column `x`: `inf` is not finite\nhint: add `missing inf`"),
            "{error}"
        );
        let missing = read(&source, &Reading { missing: vec!["inf".into()], ..default_reading() }).unwrap();
        assert!(missing.columns[0].values.is_missing(4321));
        let source = folder.file("all.parquet", parquet_file(&self::batch(100), WriterProperties::new()));
        let forced =
            BTreeMap::from([("count".to_string(), ColumnKind::Category), ("flag".to_string(), ColumnKind::Number)]);
        let table = read(&source, &Reading { kinds: forced, ..default_reading() }).unwrap();
        assert_eq!(strings(&table, "count")[2..5], [Some("2".into()), None, Some("4".into())]);
        assert_eq!(numbers(&table, "flag")[..1], [1.0]);
        let only = Reading { only: Some(vec!["list".into()]), ..default_reading() };
        let error = read(&source, &only).unwrap_err().to_string();
        assert!(
            error.contains("column `list`: is of type list, which cannot be read\nhint: write one value in each row"),
            "{error}"
        );
    }

    /// The rows of a batch as an Arrow stream or file, divided into two record batches.
    fn arrow_file(batch: &RecordBatch, stream: bool, codec: Option<CompressionType>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
        let halves =
            [batch.slice(0, batch.num_rows() / 2), batch.slice(batch.num_rows() / 2, batch.num_rows().div_ceil(2))];
        if stream {
            let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
            halves.iter().for_each(|half| writer.write(half).unwrap());
            writer.finish().unwrap();
        } else {
            let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
            halves.iter().for_each(|half| writer.write(half).unwrap());
            writer.finish().unwrap();
        }
        bytes
    }

    #[test]
    fn arrow_files_and_streams_of_all_codecs_give_the_same_table() {
        let folder = ScratchFolder::new();
        for rows in [100, 300_000] {
            let batch = batch(rows);
            for stream in [false, true] {
                for codec in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
                    let source = folder.file("t.arrow", arrow_file(&batch, stream, codec));
                    check_columns(&read(&source, &default_reading()).unwrap(), rows as usize);
                    let largest =
                        Reader::open(&source, &default_reading()).unwrap().map(|chunk| chunk.unwrap().rows()).max();
                    assert!(largest.unwrap() <= 1 << 17);
                }
            }
        }
    }

    #[test]
    fn the_error_for_a_truncated_file_names_the_file() {
        let folder = ScratchFolder::new();
        let batch = batch(1000);
        for (name, bytes) in [
            ("t.parquet", parquet_file(&batch, WriterProperties::new())),
            ("t.arrow", arrow_file(&batch, false, None)),
            ("s.arrow", arrow_file(&batch, true, None)),
        ] {
            let error =
                read(&folder.file(name, &bytes[..bytes.len() * 2 / 3]), &default_reading()).unwrap_err().to_string();
            assert!(error.contains(&format!("{name}: cannot be read as")), "{error}");
            assert!(
                error.ends_with("hint: the file may be damaged or truncated; write or download it again"),
                "{error}"
            );
        }
    }
}
