//! Tables from files of every format: what is recognised, what is refused and with which words.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scorewise_table::Error;
use scorewise_table::table::{BuiltIn, Category, Kind, Lines, Reader, Reading, Source, Table, Values, nearest, read};

/// A folder that is gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("scorewise-table-{}-{count}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> Source {
        fs::write(self.0.join(name), bytes).unwrap();
        Source::File(self.0.join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(content: impl AsRef<[u8]>, reading: &Reading) -> Result<Table, Error> {
    let folder = Folder::new();
    read(&folder.file("t.csv", content), reading)
}

/// The message without the folder.
fn message(content: impl AsRef<[u8]>, reading: &Reading) -> String {
    let folder = Folder::new();
    let error = read(&folder.file("t.csv", content), reading).unwrap_err().to_string();
    error.replace(&format!("{}/", folder.0.display()), "")
}

fn plain() -> Reading {
    Reading::default()
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    match &table.need(name).unwrap().values {
        Values::Number(values) => values.clone(),
        other => panic!("{name} holds {:?}", other.kind()),
    }
}

fn texts(table: &Table, name: &str) -> Vec<Option<String>> {
    match &table.need(name).unwrap().values {
        Values::Category(Category { codes, levels }) => {
            codes.iter().map(|code| levels.get(*code as usize).cloned()).collect()
        }
        other => panic!("{name} holds {:?}", other.kind()),
    }
}

fn kinds(table: &Table) -> Vec<(&str, Kind)> {
    table.columns.iter().map(|column| (column.name.as_str(), column.values.kind())).collect()
}

#[test]
fn adult_has_the_rows_levels_and_gaps_of_its_description() {
    let adult = read(&Source::parse("adult"), &plain()).unwrap();
    assert_eq!(adult.rows(), 32561);
    let Values::Category(income) = &adult.need("income").unwrap().values else { panic!() };
    assert_eq!(income.levels, ["<=50K", ">50K"]);
    assert_eq!(income.codes.iter().filter(|code| **code == 1).count(), 7841);
    for (name, missing) in [("workclass", 1836), ("occupation", 1843), ("native-country", 583), ("age", 0)] {
        let values = &adult.need(name).unwrap().values;
        assert_eq!((0..adult.rows()).filter(|row| values.is_missing(*row)).count(), missing, "{name}");
    }
    let numeric = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"];
    for (name, kind) in kinds(&adult) {
        assert_eq!(kind == Kind::Number, numeric.contains(&name), "{name}");
    }
    assert_eq!(numbers(&adult, "age")[..3], [39.0, 50.0, 38.0]);
    assert_eq!(adult.lines, Lines::From(1));
}

#[test]
fn adult_test_loses_its_first_line_and_final_dots() {
    let test = read(&Source::parse("adult-test"), &plain()).unwrap();
    assert_eq!(test.rows(), 16281);
    let Values::Category(income) = &test.need("income").unwrap().values else { panic!() };
    assert_eq!(income.levels, ["<=50K", ">50K"]);
    assert_eq!(income.codes.iter().filter(|code| **code == 1).count(), 3846);
    assert_eq!(test.place(0).to_string(), "adult-test:2");
}

#[test]
fn pollution_has_the_rows_and_gaps_of_its_description() {
    let pollution = read(&Source::BuiltIn(BuiltIn::Pollution), &plain()).unwrap();
    assert_eq!((pollution.rows(), pollution.columns.len()), (43824, 13));
    let dust = numbers(&pollution, "pm2.5");
    assert_eq!(dust.iter().filter(|value| value.is_nan()).count(), 2067);
    assert_eq!(dust.iter().filter(|value| **value > 400.0).count(), 545);
    assert_eq!(pollution.columns.iter().filter(|column| column.values.kind() == Kind::Category).count(), 1);
    assert_eq!(pollution.place(0).line, Some(2));
}

#[test]
fn built_in_names_win_and_a_path_names_the_file() {
    assert_eq!(Source::parse("adult"), Source::BuiltIn(BuiltIn::Adult));
    assert_eq!(Source::parse("./adult"), Source::File("./adult".into()));
    assert_eq!(Source::parse("-"), Source::Stdin);
}

#[test]
fn every_delimiter_and_line_end_gives_the_same_table() {
    let expected = text("a,b\n1,x\n2.5,y\n", &plain()).unwrap().columns;
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
        assert_eq!(text(content, &plain()).unwrap().columns, expected, "{content:?}");
    }
}

#[test]
fn air_quality_style_needs_no_editing() {
    let content = "Date;Time;CO(GT);NOx(GT);;\r\n10/03/2004;18.00.00;2,6;166;;\r\n10/03/2004;19.00.00;-200;-200,0;;\r\n\
                   31/03/2004;20.00.00;2,2;131;;\r\n;;;;;\r\n;;;;;\r\n";
    let table = text(content, &Reading { missing: vec!["-200".into()], ..plain() }).unwrap();
    let expected =
        [("Date", Kind::Time), ("Time", Kind::Category), ("CO(GT)", Kind::Number), ("NOx(GT)", Kind::Number)];
    assert_eq!(kinds(&table), expected);
    // The lines of delimiters at the end are rows like any other.
    assert_eq!(table.rows(), 5);
    let carbon = numbers(&table, "CO(GT)");
    assert_eq!((carbon[0], carbon[1].is_nan(), carbon[2]), (2.6, true, 2.2));
    assert!(numbers(&table, "NOx(GT)")[1].is_nan());
    // 2004-03-10 is 12487 days after 1970-01-01.
    let Values::Time(date) = &table.need("Date").unwrap().values else { panic!() };
    let none = Values::NO_TIME;
    assert_eq!(date, &[12487 * 86400, 12487 * 86400, 12508 * 86400, none, none]);
}

#[test]
fn none_is_a_class_and_markers_are_missing() {
    let table = text("class,x,b\nNone,1,yes\n?,NA,No\nnull,NaN,TRUE\n,nan,\n", &plain()).unwrap();
    let class = texts(&table, "class");
    assert_eq!(class, [Some("None".into()), None, Some("null".into()), None]);
    assert_eq!(numbers(&table, "x").iter().filter(|value| value.is_nan()).count(), 3);
    assert_eq!(table.need("b").unwrap().values, Values::Boolean(vec![Some(true), Some(false), Some(true), None]));
}

#[test]
fn months_come_first_where_a_day_shows_it() {
    let table = text("t,u\n01/02/2010,01/02/2010 00:00:10\n01/31/2010,2010-02-01T00:00:10\n", &plain()).unwrap();
    // 2010-01-01 is 14610 days after 1970-01-01.
    let days = |day: i64| (14609 + day) * 86400;
    assert_eq!(table.need("t").unwrap().values, Values::Time(vec![days(2), days(31)]));
    assert_eq!(table.need("u").unwrap().values, Values::Time(vec![days(32) + 10, days(32) + 10]));
}

#[test]
fn quoted_cells_may_hold_anything_and_lines_stay_right() {
    let content = "a,b\n\"x, y\n\"\"z\"\"\",1\nplain,2\n";
    let table = text(content, &plain()).unwrap();
    assert_eq!(texts(&table, "a"), [Some("x, y\n\"z\"".into()), Some("plain".into())]);
    assert_eq!((table.place(0).line, table.place(1).line), (Some(2), Some(4)));
}

#[test]
fn names_given_mean_no_header() {
    let reading = Reading { columns: Some(vec!["a".into(), "b".into()]), ..plain() };
    let table = text("1,x\n2,y\n", &reading).unwrap();
    assert_eq!((table.rows(), numbers(&table, "a")[0]), (2, 1.0));
    assert_eq!(table.place(0).line, Some(1));
    let short = message("1,x,3\n", &reading);
    let hint = "put cells that hold the delimiter in quotes, or take the row out";
    assert_eq!(short, format!("t.csv:1: 3 cells where `columns` has 2\nhint: {hint}"));
}

#[test]
fn a_header_that_looks_like_a_row_is_noted() {
    let folder = Folder::new();
    let reader = Reader::open(&folder.file("t.csv", "1,x,3\n2,y,4\n3,z,5\n"), &plain()).unwrap();
    assert!(reader.notes().iter().any(|note| note.to_string().contains("`columns`")), "{:?}", reader.notes());
    let reader = Reader::open(&folder.file("t.csv", "a,b,c\n2,y,4\n3,z,5\n"), &plain()).unwrap();
    assert_eq!(reader.notes(), []);
}

#[test]
fn forced_kinds_and_chosen_columns_hold() {
    let kinds_of = BTreeMap::from([("zip".to_string(), Kind::Category), ("flag".to_string(), Kind::Boolean)]);
    let only = Some(vec!["flag".to_string(), "zip".to_string()]);
    let table = text("zip,flag,rest\n01234,1,x\n99999,0,y\n", &Reading { kinds: kinds_of, only, ..plain() }).unwrap();
    assert_eq!(kinds(&table), [("zip", Kind::Category), ("flag", Kind::Boolean)]);
    assert_eq!(texts(&table, "zip")[0], Some("01234".into()));
    assert_eq!(table.need("flag").unwrap().values, Values::Boolean(vec![Some(true), Some(false)]));
}

#[test]
fn what_is_wrong_is_said_with_place_and_cure() {
    let many = |cell: &str| format!("a,bz\n{}x,{cell}\n", "x,1\n".repeat(20));
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (
            many("bad").into(),
            "t.csv:22, column `bz`: `bad` is not a number\nhint: add `missing bad` to read it as missing, or \
             `categorical bz` to read the column as text",
        ),
        (
            many("-inf").into(),
            "t.csv:22, column `bz`: `-inf` is not finite\nhint: add `missing -inf` to read it as missing, or \
             `categorical bz` to read the column as text",
        ),
        (
            many("1e999").into(),
            "t.csv:22, column `bz`: `1e999` is not finite\nhint: add `missing 1e999` to read it as missing, or \
             `categorical bz` to read the column as text",
        ),
        (
            "a,b,c\n1,2,3\n1,2\n".into(),
            "t.csv:3: 2 cells where the header has 3\nhint: complete the row or take it out",
        ),
        (
            "a,b,a\n1,2,3\n".into(),
            "t.csv: columns 1 and 3 are both called `a`\nhint: rename one; or name all with `columns` if the file has \
             no header",
        ),
        ("".into(), "t.csv: is empty\nhint: a table has a header and at least one row"),
        ("\n\n".into(), "t.csv: is empty\nhint: a table has a header and at least one row"),
        ("a,b\n".into(), "t.csv: a header and no rows\nhint: a table has at least one row"),
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
            "t.csv:2: a quote opens a cell here and never closes\nhint: close it, or take the quote away",
        ),
        (
            b"PK\x03\x04rest".to_vec(),
            "t.csv: is a zip archive or a spreadsheet\nhint: unpack it, or save the sheet as CSV",
        ),
        (
            b"\xff\xfea\0".to_vec(),
            "t.csv: is UTF-16 text\nhint: save it as UTF-8: `iconv -f utf-16 -t utf-8 FILE > NEW`",
        ),
    ];
    for (content, expected) in cases {
        assert_eq!(message(&content, &plain()), expected);
    }
    assert_eq!(numbers(&text(many("1e308"), &plain()).unwrap(), "bz")[20], 1e308);
    let inf = Reading { missing: vec!["inf".into()], ..plain() };
    assert!(numbers(&text(many("inf"), &inf).unwrap(), "bz")[20].is_nan());
}

#[test]
fn a_wrong_delimiter_is_seen_through() {
    let wrong = Reading { delimiter: Some(';'), ..plain() };
    let expected = "t.csv: one column when split at `;`; the file seems to use `,`\nhint: leave out `delimiter`, or give the right one";
    assert_eq!(message("a,b\n1,2\n", &wrong), expected);
    let not_one = Reading { delimiter: Some('é'), ..plain() };
    assert!(message("a,b\n1,2\n", &not_one).starts_with("delimiter: `é` cannot stand between cells"));
}

#[test]
fn a_column_that_is_not_there_brings_the_nearest() {
    let pollution = read(&Source::parse("pollution"), &plain()).unwrap();
    assert_eq!(pollution.need("pm25").unwrap_err().to_string(), "pollution: no column `pm25`; did you mean `pm2.5`?");
    let unlike = text("a,b\n1,2\n", &Reading { only: Some(vec!["target".into()]), ..plain() }).unwrap_err();
    assert!(unlike.to_string().ends_with("no column `target`\nhint: the columns are `a`, `b`"), "{unlike}");
    assert_eq!(nearest("incom", ["age", "income"]), Some("income"));
}

#[test]
fn what_is_no_file_is_said() {
    let folder = Folder::new();
    let missing = read(&Source::File(folder.0.join("nothing.csv")), &plain()).unwrap_err().to_string();
    assert!(missing.contains("nothing.csv: no such file\nhint: check the name and the folder; "), "{missing}");
    let typo = read(&Source::parse("polution"), &plain()).unwrap_err().to_string();
    assert_eq!(typo, "polution: no such file\nhint: did you mean the built-in table `pollution`?");
    let directory = read(&Source::File(folder.0.clone()), &plain()).unwrap_err().to_string();
    assert!(directory.ends_with("is a directory\nhint: name one of the files in it"), "{directory}");
    let no_parquet = read(&folder.file("t.parquet", "a,b\n1,2\n"), &plain()).unwrap_err().to_string();
    assert!(no_parquet.contains("is no Parquet file"), "{no_parquet}");
}

/// Long enough for several blocks, with texts, gaps and quotes.
fn long() -> String {
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
fn threads_change_nothing() {
    let folder = Folder::new();
    let source = folder.file("t.csv", long());
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let chunks: Vec<Table> = Reader::open(&source, &plain()).unwrap().map(Result::unwrap).collect();
            (chunks, read(&source, &plain()).unwrap())
        })
    };
    let (one, three) = (with(1), with(3));
    assert!(one.0.len() > 3);
    // NaN is not equal to itself, and there is none.
    assert_eq!(one, three);
    let whole = &one.1;
    assert_eq!(whole.rows(), 200_000);
    assert_eq!(one.0.iter().map(Table::rows).sum::<usize>(), 200_000);
    for row in [0, 59_999, 60_001, 199_999] {
        assert_eq!(numbers(whole, "number")[row].trunc(), row as f64);
        // Each quoted cell takes two lines.
        let quoted = [7, 50_007, 100_007, 150_007].iter().filter(|at| **at < row).count();
        assert_eq!(whole.place(row).line, Some((row + 2 + quoted) as u64));
    }
}

#[test]
fn the_first_fault_of_the_file_is_told_and_nothing_follows() {
    let folder = Folder::new();
    let content = long().replace("\n120000.", "\nx.").replace("\n180000.", "\ny.");
    let source = folder.file("t.csv", content);
    let mut chunks = Reader::open(&source, &plain()).unwrap();
    let error = chunks.find_map(Result::err).unwrap().to_string();
    assert!(error.contains("t.csv:120005, column `number`: `x."), "{error}");
    assert!(chunks.next().is_none());
}

fn packed(content: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn gzip_is_known_by_its_bytes_and_damage_is_told() {
    let folder = Folder::new();
    let content = long();
    let plain_table = read(&folder.file("plain", &content), &plain()).unwrap();
    let bytes = packed(content.as_bytes());
    let Table { columns, lines, .. } = read(&folder.file("packed", &bytes), &plain()).unwrap();
    assert_eq!((columns, lines), (plain_table.columns, plain_table.lines));
    let cut = read(&folder.file("cut.csv.gz", &bytes[..bytes.len() / 2]), &plain()).unwrap_err().to_string();
    assert!(cut.contains("cut.csv.gz: the packed data are damaged"), "{cut}");
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

    fn check(table: &Table, rows: usize) {
        use Kind::{Boolean, Category, Number, Time};
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
        assert_eq!(kinds(table), expected);
        assert_eq!(table.rows(), rows);
        let row = rows - 1;
        let is = |name: &str, expected: f64| {
            let value = numbers(table, name)[row];
            assert!(value == expected || value.is_nan() && expected.is_nan(), "{name}: {value}");
        };
        is("count", if row % 7 == 3 { f64::NAN } else { row as f64 });
        is("half", row as f64 / 2.0);
        is("gaps", if row.is_multiple_of(5) { f64::NAN } else { row as f64 });
        is("money", row as f64 / 4.0);
        assert_eq!(texts(table, "label")[..4], [Some("low".into()), Some("high".into()), None, Some("low".into())]);
        assert_eq!(texts(table, "code")[row], Some(["low", "high"][row % 2].into()));
        let Values::Boolean(flag) = &table.need("flag").unwrap().values else { panic!() };
        assert_eq!(flag[..4], [Some(true), None, Some(true), Some(false)]);
        assert_eq!(table.need("day").unwrap().values, Values::Time((0..rows as i64).map(|row| row * 86400).collect()));
        assert_eq!(table.need("time").unwrap().values, Values::Time((0..rows as i64).map(|row| row * 3 / 2).collect()));
    }

    fn parquet(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    #[test]
    fn parquet_of_every_packing_gives_the_same_table() {
        let folder = Folder::new();
        let batch = batch(10_000);
        let build = || WriterProperties::builder().set_max_row_group_row_count(Some(3000));
        let ways = [
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
        for (way, properties) in ways.into_iter().enumerate() {
            let source = folder.file(&format!("{way}.parquet"), parquet(&batch, properties.build()));
            let reader = Reader::open(&source, &plain()).unwrap();
            assert_eq!(
                reader.notes().iter().map(ToString::to_string).collect::<Vec<_>>(),
                ["column `list` is left out: its type list cannot be read; write one value a row"]
            );
            check(&read(&source, &plain()).unwrap(), 10_000);
        }
    }

    #[test]
    fn parquet_rows_are_named_and_kinds_can_be_forced() {
        let folder = Folder::new();
        let mut values = vec![1.0; 5000];
        values[4321] = f64::INFINITY;
        let batch = RecordBatch::try_from_iter([("x", Arc::new(Float64Array::from(values)) as ArrayRef)]).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(1000)).build();
        let source = folder.file("t.parquet", parquet(&batch, properties));
        let error = read(&source, &plain()).unwrap_err().to_string();
        assert!(
            error.contains("t.parquet, row 4322, column `x`: `inf` is not finite\nhint: add `missing inf`"),
            "{error}"
        );
        let missing = read(&source, &Reading { missing: vec!["inf".into()], ..plain() }).unwrap();
        assert!(missing.columns[0].values.is_missing(4321));
        let source = folder.file("all.parquet", parquet(&self::batch(100), WriterProperties::new()));
        let forced = BTreeMap::from([("count".to_string(), Kind::Category), ("flag".to_string(), Kind::Number)]);
        let table = read(&source, &Reading { kinds: forced, ..plain() }).unwrap();
        assert_eq!(texts(&table, "count")[2..5], [Some("2".into()), None, Some("4".into())]);
        assert_eq!(numbers(&table, "flag")[..1], [1.0]);
        let only = Reading { only: Some(vec!["list".into()]), ..plain() };
        let error = read(&source, &only).unwrap_err().to_string();
        assert!(
            error.contains("column `list`: is of type list, which cannot be read\nhint: write one value a row"),
            "{error}"
        );
    }

    fn arrow(batch: &RecordBatch, stream: bool, packing: Option<CompressionType>) -> Vec<u8> {
        let mut bytes = Vec::new();
        let options = IpcWriteOptions::default().try_with_compression(packing).unwrap();
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
    fn arrow_files_and_streams_of_every_packing_give_the_same_table() {
        let folder = Folder::new();
        for rows in [100, 300_000] {
            let batch = batch(rows);
            for stream in [false, true] {
                for packing in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
                    let source = folder.file("t.arrow", arrow(&batch, stream, packing));
                    check(&read(&source, &plain()).unwrap(), rows as usize);
                    let largest = Reader::open(&source, &plain()).unwrap().map(|chunk| chunk.unwrap().rows()).max();
                    assert!(largest.unwrap() <= 1 << 17);
                }
            }
        }
    }

    #[test]
    fn a_cut_file_is_refused_with_its_name() {
        let folder = Folder::new();
        let batch = batch(1000);
        for (name, bytes) in [
            ("t.parquet", parquet(&batch, WriterProperties::new())),
            ("t.arrow", arrow(&batch, false, None)),
            ("s.arrow", arrow(&batch, true, None)),
        ] {
            let error = read(&folder.file(name, &bytes[..bytes.len() * 2 / 3]), &plain()).unwrap_err().to_string();
            assert!(error.contains(&format!("{name}: cannot be read as")), "{error}");
            assert!(error.ends_with("hint: it may be damaged or cut; write or fetch it again"), "{error}");
        }
    }
}
