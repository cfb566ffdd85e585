//! Tests of the encoder: it is fitted on the training rows only, all encoded numbers are finite, and no lag reaches into another set or group.

#![allow(clippy::unwrap_used)] // a panic fails the test

use scorewise_table::encode::{
    ColumnEncoding, Cycle, Encoder, EncodingOptions, InputColumn, MAX_DEVIATIONS, Standardisation, UnexpectedValues,
};
use scorewise_table::groups::{Neighbours, RowOrder};
use scorewise_table::split::{Split, SplitShares};
use scorewise_table::table::{BuiltIn, Category, Column, ColumnKind, Reading, Source, Table, Values, read};
use scorewise_table::target::Target;

/// A column of numbers; NaN is a missing value.
fn number(name: &str, values: &[f64]) -> Column {
    Column { name: name.into(), values: Values::Number(values.to_vec()) }
}

/// A column of strings; an empty string is a missing value.
fn strings(name: &str, values: &[&str]) -> Column {
    let mut category = Category::default();
    for value in values {
        let known = category.levels.iter().position(|level| level == value);
        category.codes.push(match (value.is_empty(), known) {
            (true, _) => Category::MISSING,
            (false, Some(code)) => code as u32,
            (false, None) => {
                category.levels.push((*value).into());
                category.levels.len() as u32 - 1
            }
        });
    }
    Column { name: name.into(), values: Values::Category(category) }
}

/// A column of times, in seconds since 1970.
fn times(name: &str, values: &[i64]) -> Column {
    Column { name: name.into(), values: Values::Time(values.to_vec()) }
}

/// A column of booleans; `None` is a missing value.
fn booleans(name: &str, values: &[Option<bool>]) -> Column {
    Column { name: name.into(), values: Values::Boolean(values.to_vec()) }
}

/// A table with these columns, as if it were read from the file `test.csv`.
fn table(columns: Vec<Column>) -> Table {
    Table { file: "test.csv".into(), columns, ..Table::default() }
}

/// The indices of all rows of a table.
fn all_rows(table: &Table) -> Vec<u32> {
    (0..table.rows() as u32).collect()
}

/// An encoder with the default options, fitted to all rows of a table.
fn fit(table: &Table) -> Encoder {
    Encoder::fit(table, &all_rows(table), &EncodingOptions::default()).unwrap().0
}

/// Converts names to owned strings, as the encoding options need them.
fn to_strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_string()).collect()
}

/// A missing value in a column of numbers.
const MISSING: f64 = f64::NAN;

#[test]
fn columns_of_every_type_are_encoded_and_named() {
    let day = 86_400;
    let table = table(vec![
        number("age", &[20.0, 40.0, MISSING, 60.0]),
        strings("sex", &["Male", "Female", "Male", "Male"]),
        booleans("member", &[Some(true), Some(false), Some(true), Some(false)]),
        times("when", &[0, 6 * 3600, 100 * day, 200 * day]),
        strings("job", &["b", "", "a", "a"]),
    ]);
    let encoder = fit(&table);
    let names = [
        "age",
        "age missing",
        "sex = Female",
        "sex = Male",
        "member",
        "when day sin",
        "when day cos",
        "when week sin",
        "when week cos",
        "when year sin",
        "when year cos",
        "job = a",
        "job = b",
        "job missing",
    ];
    assert_eq!(encoder.names(), names);
    assert_eq!(encoder.width(), names.len());
    let encoded = encoder.encode(&table).unwrap();
    let deviation = (800.0f64 / 3.0).sqrt();
    assert_eq!(encoded.matrix.row(0)[..5], [(-20.0 / deviation) as f32, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(encoded.matrix.row(2)[..5], [0.0, 1.0, 0.0, 1.0, 1.0]);
    assert_eq!(encoded.matrix.row(1)[4..6], [-1.0, 1.0]);
    assert_eq!(encoded.matrix.row(1)[11..], [0.0, 0.0, 1.0]);
    assert_eq!(encoded.matrix.row(3)[11..], [1.0, 0.0, 0.0]);
    assert!(encoded.unexpected.notes(&encoder).is_empty());
}

#[test]
fn rows_outside_the_training_set_do_not_change_the_encoder() {
    let sample = |far: f64, text: &str| {
        table(vec![
            number("x", &[1.0, 2.0, far, 4.0, MISSING]),
            strings("c", &["a", "b", text, "a", "b"]),
            times("t", &[0, 7200, far as i64, 3600, 0]),
        ])
    };
    let choice = EncodingOptions { lags: 2, standardise_all: true, ..EncodingOptions::default() };
    let (one, other) = (sample(3.0, "a"), sample(-1e300, "never"));
    let rows = [0, 1, 3];
    let encoder = Encoder::fit(&one, &rows, &choice).unwrap();
    assert_eq!(encoder, Encoder::fit(&other, &rows, &choice).unwrap());
    assert_ne!(encoder.0, Encoder::fit(&other, &[0, 1, 2, 3], &choice).unwrap().0);
}

#[test]
fn encoded_numbers_are_finite_for_tables_with_extreme_values() {
    let extreme =
        [1e308, -1e308, f64::MAX, f64::MIN, 0.0, -0.0, f64::MIN_POSITIVE, f64::from_bits(1), MISSING, 1.0, 1e-300];
    let mut choice = EncodingOptions { lags: 2, keep: to_strings(&["constant", "none"]), ..EncodingOptions::default() };
    for standardise_all in [false, true] {
        choice.standardise_all = standardise_all;
        let n_rows = extreme.len();
        let table = table(vec![
            number("extreme", &extreme),
            number("tiny", &extreme.map(|x| if x.abs() < 1.0 { x } else { f64::from_bits(3) })),
            number("constant", &vec![0.1; n_rows]),
            number("none", &vec![MISSING; n_rows]),
            number("infinite", &extreme.map(|x| if x == 1.0 { f64::INFINITY } else { x / 1e300 })),
            strings("c", &["a", "b", "", "a", "c", "a", "b", "a", "c", "", "d"]),
            times("t", &[i64::MAX, i64::MIN + 1, Values::NO_TIME, 0, 1, -1, 5, 6, 7, 8, 9]),
        ]);
        for rows in [vec![0, 1, 2, 3, 4, 5], vec![4, 5, 6, 7, 9, 10], (0..n_rows as u32).collect()] {
            let (encoder, _) = Encoder::fit(&table, &rows, &choice).unwrap();
            encoder.check().unwrap();
            let encoded = encoder.encode(&table).unwrap();
            for row in 0..n_rows {
                let farthest = encoded
                    .matrix
                    .row(row)
                    .iter()
                    .fold(0.0f32, |far, x| if x.is_nan() { *x } else { far.max(x.abs()) });
                assert!(farthest <= MAX_DEVIATIONS as f32, "row {row}: {:?}", encoded.matrix.row(row));
            }
        }
    }
}

#[test]
fn numbers_of_any_magnitude_are_standardised() {
    for size in [1.0, 1e-280, 1e300, f64::MAX / 4.0] {
        let table = table(vec![number("x", &[-4.0, 0.0, 4.0].map(|x| x * size))]);
        let matrix = fit(&table).encode(&table).unwrap().matrix;
        let expected = 1.5f64.sqrt() as f32;
        assert_eq!([0, 1, 2].map(|row| matrix.row(row)[0]), [-expected, 0.0, expected], "{size:e}");
    }
}

#[test]
fn values_far_from_the_training_rows_are_clipped_with_a_note() {
    let training = table(vec![number("x", &[0.0, 1.0])]);
    let encoder = fit(&training);
    let encoded = encoder.encode(&table(vec![number("x", &[1e300, -1e300, 0.5])])).unwrap();
    assert_eq!([0, 1, 2].map(|row| encoded.matrix.row(row)[0]), [1e6, -1e6, 0.0]);
    let notes = encoded.unexpected.notes(&encoder);
    assert_eq!(
        notes[0].to_string(),
        "column `x`: 2 rows have a value more than 1000000 standard deviations from the mean: it is clipped"
    );
}

#[test]
fn levels_not_seen_in_training_are_encoded_in_the_shared_column_or_as_zeros_with_a_note() {
    let training = table(vec![strings("c", &["a", "a", "b", "b", "c", "d"])]);
    let new = table(vec![strings("c", &["z", "a", "d", ""])]);
    let plain = fit(&training);
    let encoded = plain.encode(&new).unwrap();
    assert_eq!(encoded.matrix.row(0), [0.0; 4]);
    assert_eq!(encoded.matrix.row(3), [0.0; 4]);
    let notes: Vec<String> = encoded.unexpected.notes(&plain).iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "column `c`: 1 row has a value not seen in training: it is encoded as none of the levels",
            "column `c`: 1 row has no value, but every training row had one: a missing value is encoded as none of the levels"
        ]
    );
    let (capped, notes) =
        Encoder::fit(&training, &all_rows(&training), &EncodingOptions { levels: 2, ..EncodingOptions::default() })
            .unwrap();
    assert_eq!(capped.names(), ["c = a", "c = b", "c rest"]);
    assert_eq!(
        notes[0].to_string(),
        "column `c`: 4 levels: the 2 most frequent (66.7 % of the rows) have a column each, all others share one"
    );
    let encoded = capped.encode(&new).unwrap();
    assert_eq!((encoded.matrix.row(0), encoded.matrix.row(2)), (&[0.0, 0.0, 1.0][..], &[0.0, 0.0, 1.0][..]));
}

#[test]
fn only_the_most_frequent_levels_get_a_column_of_their_own() {
    let names: Vec<String> = (0..100_000).map(|n| format!("user {}", n / 2)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut codes: Vec<u32> = Vec::new();
    let mut levels: Vec<String> = Vec::new();
    for name in names {
        if levels.last().is_none_or(|last| last != name) {
            levels.push(name.into());
        }
        codes.push(levels.len() as u32 - 1);
    }
    let table = table(vec![Column { name: "user".into(), values: Values::Category(Category { codes, levels }) }]);
    let (encoder, notes) = Encoder::fit(&table, &all_rows(&table), &EncodingOptions::default()).unwrap();
    assert_eq!(encoder.width(), 65);
    assert!(notes[0].to_string().starts_with("column `user`: 50000 levels: the 64 most frequent (0.1 % of the rows)"));
}

#[test]
fn with_bins_a_note_says_that_levels_beyond_the_maximum_number_are_treated_as_one_level() {
    // The column has 65 636 levels with three rows each, and one level with a single row. At most 65 536 levels are told apart.
    let (frequent, limit) = (65_636u32, 65_536);
    let codes = (0..3 * frequent).map(|row| row % frequent).chain([frequent]).collect();
    let levels = (0..=frequent).map(|level| format!("level {level}")).collect();
    let column = Column { name: "c".into(), values: Values::Category(Category { codes, levels }) };
    let table = table(vec![column]);
    let choice = EncodingOptions { bins: 32, ..EncodingOptions::default() };
    let (encoder, notes) = Encoder::fit(&table, &all_rows(&table), &choice).unwrap();
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    let note = "column `c`: 65637 levels: the 65536 most frequent (99.8 % of the rows) are told apart, all others are treated as one level";
    assert_eq!(notes, [note]);
    assert!(
        matches!(&encoder.inputs[0].coding, ColumnEncoding::Levels { levels, rest: true, .. } if levels.len() == limit)
    );
}

#[test]
fn useless_columns_are_dropped_with_a_note_unless_the_user_keeps_them() {
    let rows = 30;
    let ids: Vec<String> = (0..rows).map(|n| format!("id{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let shuffled: Vec<f64> = (0..rows).map(|n| f64::from(n * 7 % rows + 100)).collect();
    let table = table(vec![
        number("one", &[5.0; 30]),
        strings("same", &["x"; 30]),
        number("nothing", &[MISSING; 30]),
        strings("empty", &[""; 30]),
        strings("id", &ids),
        number("No", &shuffled),
        times("instant", &[77; 30]),
        number("x", &shuffled.iter().map(|x| x * 3.0).collect::<Vec<_>>()),
    ]);
    let (encoder, notes) = Encoder::fit(&table, &all_rows(&table), &EncodingOptions::default()).unwrap();
    assert_eq!(encoder.names(), ["x"]);
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    let expected = [
        "column `one`: dropped: every training row holds `5`",
        "column `same`: dropped: every training row holds `x`",
        "column `nothing`: dropped: no training row has a value",
        "column `empty`: dropped: no training row has a value",
        "column `id`: dropped: 30 different values in 30 rows, like an identifier",
        "column `No`: dropped: the column holds only row numbers",
        "column `instant`: dropped: the times vary too little for a daily, weekly or yearly cycle",
    ];
    assert_eq!(notes, expected.map(|text| format!("{text}; add it to `keep` to use it anyway")));
    let keep = to_strings(&["one", "same", "nothing", "empty", "id", "No", "instant"]);
    for standardise_all in [false, true] {
        let choice = EncodingOptions { keep: keep.clone(), standardise_all, ..EncodingOptions::default() };
        let (encoder, notes) = Encoder::fit(&table, &all_rows(&table), &choice).unwrap();
        encoder.check().unwrap();
        assert!(notes.is_empty());
        assert_eq!(encoder.width(), 1 + 1 + 2 + 1 + 30 + 1 + 6 + 1);
        assert!(encoder.encode(&table).unwrap().unexpected.notes(&encoder).is_empty());
    }
}

#[test]
fn a_constant_column_with_missing_values_is_not_dropped() {
    let table = table(vec![number("x", &[3.0, MISSING, 3.0]), strings("c", &["a", "", "a"])]);
    assert_eq!(fit(&table).names(), ["x", "x missing", "c = a", "c missing"]);
}

#[test]
fn the_error_for_a_table_without_usable_columns_says_why_each_column_was_dropped() {
    let table = table(vec![number("one", &[5.0; 3]), number("y", &[0.0, 1.0, 0.0])]);
    let choice = EncodingOptions { without: to_strings(&["y"]), ..EncodingOptions::default() };
    let error = Encoder::fit(&table, &[0, 1, 2], &choice).unwrap_err();
    assert_eq!(
        error.to_string(),
        "test.csv: no column is left to learn from\n  column `one`: dropped: every training row holds `5`; add it to \
         `keep` to use it anyway\nhint: to use a dropped column, add `keep COLUMN`"
    );
}

#[test]
fn unknown_columns_and_contradictory_settings_are_refused() {
    let table = table(vec![number("age", &[1.0, 2.0]), strings("size", &["s", "m"]), times("when", &[0, 9999])]);
    let refused = |choice: EncodingOptions| Encoder::fit(&table, &[0, 1], &choice).unwrap_err().to_string();
    let base = EncodingOptions::default;
    assert_eq!(
        refused(EncodingOptions { drop: to_strings(&["aeg"]), ..base() }),
        "drop: `test.csv` has no column `aeg`\nhint: did you mean `age`?"
    );
    assert!(
        refused(EncodingOptions { keep: to_strings(&["zebra"]), ..base() })
            .contains("the columns are `age`, `size`, `when`")
    );
    assert!(refused(EncodingOptions { categorical: to_strings(&["Size"]), ..base() }).contains("did you mean `size`?"));
    assert!(refused(EncodingOptions { ordinal: to_strings(&["sise=a<b"]), ..base() }).contains("did you mean `size`?"));
    assert!(refused(EncodingOptions { group: Some("x".into()), ..base() }).starts_with("group"));
    assert!(
        refused(EncodingOptions { lags: 1, lag_columns: to_strings(&["ag"]), ..base() }).starts_with("lag-columns")
    );
    assert!(refused(EncodingOptions { lag_columns: to_strings(&["age"]), ..base() }).contains("give `lags` too"));
    assert!(refused(EncodingOptions { lags: 1_000_000, ..base() }).starts_with("lags"));
    assert!(
        refused(EncodingOptions { drop: to_strings(&["age"]), keep: to_strings(&["age"]), ..base() })
            .contains("list the column in only one of these settings")
    );
    assert!(
        refused(EncodingOptions { without: to_strings(&["age"]), keep: to_strings(&["age"]), ..base() })
            .contains("cannot be an input, because it is the target or holds the weights of the rows")
    );
    assert!(refused(EncodingOptions { categorical: to_strings(&["when"]), ..base() }).contains("`when` holds times"));
    assert_eq!(
        refused(EncodingOptions { ordinal: to_strings(&["size=s<l"]), ..base() }),
        "ordinal: the order of the levels of `size` does not contain `m`\nhint: list all levels of the column, the lowest first"
    );
    assert!(refused(EncodingOptions { ordinal: to_strings(&["size=s<m<s"]), ..base() }).contains("twice"));
    assert!(
        refused(EncodingOptions { ordinal: to_strings(&["size=s"]), ..base() }).contains("is not an order of levels")
    );
}

#[test]
fn ordinal_columns_are_encoded_in_the_order_of_their_levels() {
    let table = table(vec![
        strings("size=cm", &["small", "large", "medium", "", "small"]),
        number("grade", &[3.0, 1.0, 2.0, 1.0, 3.0]),
    ]);
    let choice = EncodingOptions {
        ordinal: to_strings(&["size=cm=small<medium<large<huge", "grade=3<2.0<1"]),
        ..EncodingOptions::default()
    };
    let (encoder, _) = Encoder::fit(&table, &all_rows(&table), &choice).unwrap();
    assert_eq!(encoder.names(), ["size=cm", "size=cm missing", "grade"]);
    let matrix = encoder.encode(&table).unwrap().matrix;
    // In the order of the levels, the values of the rows have the positions 0, 2, 1, missing and 0. Their mean is 3/4 and their standard
    // deviation is √(11/16).
    let standardised = |x: f64| ((x - 0.75) / (11.0f64 / 16.0).sqrt()) as f32;
    assert_eq!(
        [0, 1, 2, 3].map(|row| matrix.row(row)[0]),
        [standardised(0.0), standardised(2.0), standardised(1.0), 0.0]
    );
    assert_eq!(matrix.row(3)[1], 1.0);
    assert!(matrix.row(0)[2] < matrix.row(2)[2] && matrix.row(2)[2] < matrix.row(1)[2]);
    // If the user gives no order, the levels are in alphabetical order.
    let (encoder, _) = Encoder::fit(
        &table,
        &all_rows(&table),
        &EncodingOptions { ordinal: to_strings(&["size=cm"]), ..EncodingOptions::default() },
    )
    .unwrap();
    let ColumnEncoding::Ordinal { levels, .. } = &encoder.inputs[0].coding else { panic!("{:?}", encoder.inputs[0]) };
    assert_eq!(*levels, ["large", "medium", "small"]);
}

#[test]
fn a_column_of_numbers_encoded_as_categorical_also_accepts_strings() {
    let training = table(vec![number("code", &[10.0, 9.0, 10.0, -0.0])]);
    let choice = EncodingOptions { categorical: to_strings(&["code"]), ..EncodingOptions::default() };
    let (encoder, _) = Encoder::fit(&training, &all_rows(&training), &choice).unwrap();
    assert_eq!(encoder.names(), ["code = 0", "code = 10", "code = 9"]);
    let expected = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
    for new in [training, table(vec![strings("code", &["10", "9", "10", "0"])])] {
        let matrix = encoder.encode(&new).unwrap().matrix;
        assert_eq!([0, 1, 2, 3].map(|row| matrix.row(row).to_vec()), expected.map(|row| row.to_vec()));
    }
}

#[test]
fn one_hot_columns_are_standardised_if_the_user_asks_for_it() {
    let table = table(vec![strings("c", &["a", "b", "b", "b"])]);
    let choice = EncodingOptions { standardise_all: true, ..EncodingOptions::default() };
    let (encoder, _) = Encoder::fit(&table, &all_rows(&table), &choice).unwrap();
    let matrix = encoder.encode(&table).unwrap().matrix;
    // The one-hot column of `a` is 1 in a quarter of the rows, so its mean is 1/4 and its standard deviation is √3/4.
    let (low, high) = ((-1.0 / 3.0f64.sqrt()) as f32, 3.0f64.sqrt() as f32);
    assert_eq!(matrix.row(0), [high, -high]);
    assert_eq!(matrix.row(1), [low, -low]);
}

#[test]
fn no_lag_reaches_into_another_group_or_set_or_before_the_first_row() {
    let values: Vec<f64> = (0..12).map(f64::from).collect();
    let groups = ["a", "b", "a", "b", "a", "b", "a", "b", "a", "b", "a", "b"];
    let table = table(vec![number("x", &values), strings("g", &groups)]);
    let rows = [0, 1, 2, 3, 4, 5, 7];
    let choice = EncodingOptions { lags: 3, group: Some("g".into()), ..EncodingOptions::default() };
    let (encoder, _) = Encoder::fit(&table, &rows, &choice).unwrap();
    assert_eq!(encoder.names()[..3], ["x", "x (1 before)", "x (1 before) missing"]);
    let ColumnEncoding::Number { mean, deviation, .. } = encoder.inputs[0].coding else { panic!() };
    let set_of_row: Vec<u8> = (0..12).map(|row| u8::from(row >= 6)).collect();
    for (encoded, split) in [(encoder.encode(&table), false), (encoder.encode_split(&table, &set_of_row), true)] {
        let matrix = encoded.unwrap().matrix;
        for row in 0..12 {
            for lag in 1..=3 {
                let found = (matrix.row(row)[2 * lag - 1], matrix.row(row)[2 * lag]);
                let seen = row.checked_sub(2 * lag).filter(|from| !split || set_of_row[*from] == set_of_row[row]);
                let expected = seen.map_or((0.0, 1.0), |from| (((from as f64 - mean) / deviation) as f32, 0.0));
                assert_eq!(found, expected, "row {row}, lag {lag}, split {split}");
            }
        }
    }
}

#[test]
fn lags_from_any_set_may_reach_rows_that_belong_to_no_set() {
    let table = table(vec![number("x", &[1.0, 2.0, 4.0, 8.0])]);
    let (encoder, _) =
        Encoder::fit(&table, &[0, 1, 2], &EncodingOptions { lags: 1, ..EncodingOptions::default() }).unwrap();
    let missing = |set_of_row: &[u8]| {
        let matrix = encoder.encode_split(&table, set_of_row).unwrap().matrix;
        [0, 1, 2, 3].map(|row| matrix.row(row)[2])
    };
    assert_eq!(missing(&[0, u8::MAX, 1, 1]), [1.0, 1.0, 0.0, 0.0].map(|x: f32| x));
}

#[test]
fn earlier_values_of_the_target_may_be_inputs() {
    let table = table(vec![number("x", &[1.0, 2.0, 4.0, 8.0]), strings("y", &["n", "y", "n", "n"])]);
    let choice = EncodingOptions {
        without: to_strings(&["y"]),
        lags: 2,
        lag_columns: to_strings(&["y"]),
        ..EncodingOptions::default()
    };
    let (encoder, _) = Encoder::fit(&table, &all_rows(&table), &choice).unwrap();
    let names = [
        "x",
        "y (1 before) = n",
        "y (1 before) = y",
        "y (1 before) missing",
        "y (2 before) = n",
        "y (2 before) = y",
        "y (2 before) missing",
    ];
    assert_eq!(encoder.names(), names);
    assert_eq!(encoder.encode(&table).unwrap().matrix.row(2)[1..], [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
}

/// A table of the rows `from..to` of another table. Its categorical columns list only the levels that occur in these rows.
fn chunk(whole: &Table, from: usize, to: usize) -> Table {
    let columns = whole.columns.iter().map(|column| match &column.values {
        Values::Number(values) => number(&column.name, &values[from..to]),
        Values::Time(values) => times(&column.name, &values[from..to]),
        Values::Boolean(values) => booleans(&column.name, &values[from..to]),
        Values::Category(values) => {
            let text = |code: &u32| values.levels.get(*code as usize).map_or("", String::as_str);
            strings(&column.name, &values.codes[from..to].iter().map(text).collect::<Vec<_>>())
        }
    });
    table(columns.collect())
}

/// A table with missing values, a column of every type, and a column `station` by which the rows can be grouped.
fn mixed_table(rows: usize) -> Table {
    let step = |row: usize, factor: usize, modulus: usize| (row * factor + row * row / 7) % modulus;
    let letters = ["", "a", "b", "c", "d"];
    let station = ["north", "south", "east"];
    table(vec![
        number(
            "x",
            &(0..rows).map(|row| if row % 11 == 0 { MISSING } else { step(row, 31, 97) as f64 }).collect::<Vec<_>>(),
        ),
        strings("c", &(0..rows).map(|row| letters[step(row, 3, 5)]).collect::<Vec<_>>()),
        booleans("b", &(0..rows).map(|row| [None, Some(true), Some(false)][step(row, 5, 3)]).collect::<Vec<_>>()),
        times("t", &(0..rows).map(|row| row as i64 * 3607).collect::<Vec<_>>()),
        strings("station", &(0..rows).map(|row| station[step(row, 2, 3)]).collect::<Vec<_>>()),
    ])
}

#[test]
fn without_lags_a_table_encoded_in_chunks_equals_the_table_encoded_as_a_whole() {
    let rows = 3000;
    let whole = mixed_table(rows);
    let (encoder, _) = Encoder::fit(&whole, &all_rows(&whole), &EncodingOptions::default()).unwrap();
    let expected = encoder.encode(&whole).unwrap();
    for size in [1, 3, 700, 5000] {
        let mut unexpected = UnexpectedValues::default();
        for from in (0..rows).step_by(size) {
            let to = (from + size).min(rows);
            let encoded = encoder.encode(&chunk(&whole, from, to)).unwrap();
            for row in from..to {
                assert_eq!(encoded.matrix.row(row - from), expected.matrix.row(row), "row {row}, chunks of {size}");
            }
            unexpected.add(&encoded.unexpected);
        }
        assert_eq!(unexpected, expected.unexpected);
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_encoding() {
    let whole = mixed_table(5000);
    let choice = EncodingOptions { lags: 2, standardise_all: true, ..EncodingOptions::default() };
    let encode_with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (encoder, _) = Encoder::fit(&whole, &all_rows(&whole), &choice).unwrap();
            (encoder.encode(&whole).unwrap(), encoder)
        })
    };
    assert_eq!(encode_with(1), encode_with(3));
}

#[test]
fn an_encoder_that_is_written_as_json_and_read_back_is_unchanged() {
    let whole = mixed_table(400);
    for choice in [
        EncodingOptions { lags: 2, standardise_all: true, ..EncodingOptions::default() },
        EncodingOptions { levels: 2, ordinal: to_strings(&["c"]), ..EncodingOptions::default() },
    ] {
        let (encoder, _) = Encoder::fit(&whole, &all_rows(&whole), &choice).unwrap();
        let text = serde_json::to_string(&encoder).unwrap();
        assert_eq!(serde_json::from_str::<Encoder>(&text).unwrap(), encoder);
    }
    let input = InputColumn {
        column: "age".into(),
        kind: ColumnKind::Number,
        lag: 1,
        part: None,
        coding: ColumnEncoding::Number { mean: 1.5, deviation: 2.0, indicator: true },
    };
    assert_eq!(
        serde_json::to_string(&input).unwrap(),
        r#"{"column":"age","kind":"number","lag":1,"coding":"number","mean":1.5,"deviation":2.0,"indicator":true}"#
    );
}

#[test]
fn invalid_encoders_are_refused() {
    let encoder = |kind, lag, coding| Encoder {
        inputs: vec![InputColumn { column: "x".into(), kind, lag, part: None, coding }],
        order: RowOrder::default(),
    };
    let plain = |mean, deviation| ColumnEncoding::Number { mean, deviation, indicator: false };
    let levels = |levels: &[&str], scales: Vec<Standardisation>| ColumnEncoding::OneHot {
        levels: to_strings(levels),
        rest: false,
        indicator: false,
        scales,
    };
    let knots = |median, spread| {
        let (knots, own, missing) = (vec![0.0, 1.0], Vec::new(), false);
        ColumnEncoding::Knots { knots, own, median, spread, missing }
    };
    encoder(ColumnKind::Number, 0, plain(0.0, 1.0)).check().unwrap();
    encoder(ColumnKind::Number, 0, knots(0.0, 1.0)).check().unwrap();
    let bad = [
        (encoder(ColumnKind::Number, 0, plain(f64::NAN, 1.0)), "input `x`: the mean is NaN, but must be finite"),
        (
            encoder(ColumnKind::Number, 0, plain(0.0, 0.0)),
            "input `x`: the standard deviation is 0, but must be finite and at least 1e-300",
        ),
        (
            encoder(ColumnKind::Number, 0, plain(0.0, f64::INFINITY)),
            "input `x`: the standard deviation is inf, but must be finite and at least 1e-300",
        ),
        (
            encoder(ColumnKind::Number, 0, plain(0.0, -1.0)),
            "input `x`: the standard deviation is -1, but must be finite and at least 1e-300",
        ),
        (
            encoder(ColumnKind::Number, 99_999, plain(0.0, 1.0)),
            "input `x`: the lag is 99999 steps; at most 10000 are allowed",
        ),
        (encoder(ColumnKind::Time, 0, plain(0.0, 1.0)), "input `x`: the encoding does not fit the type of the column"),
        (encoder(ColumnKind::Category, 0, levels(&[], vec![])), "input `x`: the encoding produces no columns"),
        (encoder(ColumnKind::Category, 0, levels(&["a", "a"], vec![])), "input `x`: the level `a` is listed twice"),
        (
            encoder(ColumnKind::Category, 0, levels(&["a", "b"], vec![Standardisation { mean: 0.0, deviation: 1.0 }])),
            "input `x`: `scales` has 1 entries for 2 columns",
        ),
        (
            encoder(
                ColumnKind::Time,
                0,
                ColumnEncoding::Time { cycles: vec![Cycle::Day, Cycle::Day], indicator: false },
            ),
            "input `x`: a calendar cycle is listed twice",
        ),
        (encoder(ColumnKind::Number, 0, knots(f64::NAN, 1.0)), "input `x`: the median is NaN, but must be finite"),
        (
            encoder(ColumnKind::Number, 0, knots(0.0, 0.0)),
            "input `x`: the spread is 0, but must be finite and at least 1e-300",
        ),
        (Encoder { inputs: vec![], order: RowOrder::default() }, "the encoder has no inputs"),
    ];
    for (encoder, message) in bad {
        assert_eq!(encoder.check().unwrap_err(), message);
    }
    let mut twice = encoder(ColumnKind::Number, 0, plain(0.0, 1.0));
    twice.inputs.push(twice.inputs[0].clone());
    assert_eq!(twice.check().unwrap_err(), "input `x` is listed twice");
}

#[test]
fn one_error_names_all_missing_columns() {
    let training =
        table(vec![number("age", &[1.0, 2.0]), number("hours-per-week", &[1.0, 2.0]), strings("sex", &["f", "m"])]);
    let encoder = fit(&training);
    let error = encoder.encode(&table(vec![number("hours_per_week", &[1.0]), strings("sex", &["f"])])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "test.csv: has no columns `age`, `hours-per-week`\nhint: did you mean `hours_per_week` for `hours-per-week`?"
    );
    let error = encoder.encode(&table(vec![number("q", &[1.0])])).unwrap_err();
    assert!(error.to_string().ends_with("hint: the columns are `q`"));
    let lagged = Encoder::fit(
        &mixed_table(50),
        &[0, 1, 2, 3],
        &EncodingOptions { lags: 1, group: Some("station".into()), ..EncodingOptions::default() },
    );
    let mut without = mixed_table(50);
    without.columns.pop();
    let error = lagged.unwrap().0.encode(&without).unwrap_err();
    assert!(error.to_string().starts_with("test.csv: has no column `station`"));
}

#[test]
fn a_column_of_the_wrong_type_is_an_error_but_a_column_without_values_is_accepted() {
    let training = table(vec![number("age", &[1.0, 2.0]), times("t", &[0, 7200])]);
    let encoder = fit(&training);
    let error = encoder.encode(&table(vec![strings("age", &["", "old"]), times("t", &[0, 0])])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "test.csv, row 2, column `age`: `old` is not a number: the column holds text, the model expects numbers\n\
         hint: give a table like the one the model was trained on"
    );
    let encoded = encoder.encode(&table(vec![strings("age", &["", ""]), number("t", &[MISSING, MISSING])])).unwrap();
    assert_eq!(encoded.matrix.row(1), [0.0, 0.0, 0.0]);
    assert_eq!(encoded.unexpected.notes(&encoder).len(), 2);
    // An empty table is not an error: the last chunk of a stream may be empty.
    let empty = table(vec![number("age", &[]), times("t", &[])]);
    assert_eq!(encoder.encode(&empty).unwrap().matrix.rows(), 0);
}

#[test]
fn an_encoder_lists_the_columns_that_it_needs() {
    let choice = EncodingOptions {
        lags: 1,
        group: Some("station".into()),
        drop: to_strings(&["b", "t"]),
        ..EncodingOptions::default()
    };
    let whole = mixed_table(100);
    let (encoder, _) = Encoder::fit(&whole, &all_rows(&whole), &choice).unwrap();
    let expected = [("x", Some(ColumnKind::Number)), ("c", Some(ColumnKind::Category)), ("station", None)];
    assert_eq!(encoder.columns(), expected);
    assert_eq!(encoder.lags(), 1);
}

#[test]
fn numbers_of_the_adult_table_are_standardised() {
    let table = read(&Source::BuiltIn(BuiltIn::Adult), &Reading::default()).unwrap();
    let (target, _) = Target::parse("income", &table, None, 0).unwrap();
    assert_eq!(target.classes(), ["<=50K", ">50K"]);
    let (labels, _) = target.labels(&table, &Neighbours::new(&table, &RowOrder::default()).unwrap()).unwrap();
    assert_eq!(labels.counts(), [32_561 - 7_841, 7_841]);
    let choice = EncodingOptions { without: to_strings(&["income"]), ..EncodingOptions::default() };
    let (encoder, notes) = Encoder::fit(&table, &all_rows(&table), &choice).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    // There are six columns of numbers. The one-hot columns of workclass, occupation and native-country include one for missing values (`?`).
    assert_eq!(encoder.width(), 6 + (8 + 1) + 16 + 7 + (14 + 1) + 6 + 5 + 2 + (41 + 1));
    let shares = SplitShares { test: 0.2, validation: 1.0 / 3.0 };
    let (parts, _) = Split::Random.split_rows(&table, &labels, &shares, 1).unwrap();
    let (encoder, _) = Encoder::fit(&table, &parts.training, &choice).unwrap();
    let encoded = encoder.encode_split(&table, &parts.set_of_row).unwrap();
    for (column, name) in encoder.names().iter().enumerate().filter(|(_, name)| !name.contains(['=', ' '])) {
        let values = || parts.training.iter().map(|row| f64::from(encoded.matrix.row(*row as usize)[column]));
        let (count, sum, squares) =
            (parts.training.len() as f64, values().sum::<f64>(), values().map(|x| x * x).sum::<f64>());
        assert!((sum / count).abs() < 1e-6 && (squares / count - 1.0).abs() < 1e-6, "{name}: {sum}, {squares}");
    }
}

#[test]
fn the_pollution_table_is_encoded_with_lags_and_a_lead() {
    let table = read(&Source::BuiltIn(BuiltIn::Pollution), &Reading::default()).unwrap();
    let (target, _) = Target::parse("pm2.5 > 400", &table, None, 1).unwrap();
    let neighbours = Neighbours::new(&table, &RowOrder::default()).unwrap();
    let (labels, notes) = target.labels(&table, &neighbours).unwrap();
    assert_eq!((labels.rows().len(), labels.counts()[1]), (43_824 - 2_067, 545));
    assert_eq!(notes[0].to_string(), "column `pm2.5`: 2066 rows are left out: their target values are missing");
    let shares = SplitShares { test: 0.2, validation: 1.0 / 3.0 };
    let (parts, _) = Split::Time(None).split_rows(&table, &labels, &shares, 0).unwrap();
    let choice = EncodingOptions { lags: 2, lag_columns: to_strings(&["pm2.5"]), ..EncodingOptions::default() };
    let (encoder, notes) = Encoder::fit(&table, &parts.training, &choice).unwrap();
    assert_eq!(
        notes[0].to_string(),
        "column `No`: dropped: the column holds only row numbers; add it to `keep` to use it anyway"
    );
    let names = encoder.names();
    let place = |name: &str| names.iter().position(|other| other == name).unwrap();
    let (now, before, missing) = (place("pm2.5"), place("pm2.5 (2 before)"), place("pm2.5 (2 before) missing"));
    let matrix = encoder.encode_split(&table, &parts.set_of_row).unwrap().matrix;
    for row in 2..table.rows() {
        let (own, other) = (matrix.row(row), matrix.row(row - 2));
        let is_lag_available = parts.set_of_row[row] == parts.set_of_row[row - 2] && other[now + 1] == 0.0;
        assert_eq!(
            (own[before], own[missing]),
            if is_lag_available { (other[now], 0.0) } else { (0.0, 1.0) },
            "row {row}"
        );
    }
}

#[test]
fn every_column_of_the_matrix_is_listed_for_exactly_one_column_of_the_table() {
    let hours: Vec<i64> = (0..6).map(|row| row * 3600 * 30).collect();
    let table = table(vec![
        number("x", &[1.0, 2.0, MISSING, 4.0, 5.0, 9.0]),
        strings("colour", &["red", "blue", "red", "red", "blue", "red"]),
        times("time", &hours),
    ]);
    for bins in [0, 4] {
        let choice = EncodingOptions { lags: 2, bins, ..EncodingOptions::default() };
        let (encoder, _) = Encoder::fit(&table, &all_rows(&table), &choice).unwrap();
        let columns = encoder.matrix_columns();
        assert_eq!(columns.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["x", "colour", "time"]);
        let mut all: Vec<usize> = columns.iter().flat_map(|(_, columns)| columns.clone()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..encoder.width()).collect::<Vec<_>>());
        let names = encoder.names();
        let encoded = encoder.encode(&table).unwrap().matrix;
        for (name, matrix_columns) in columns {
            assert!(matrix_columns.iter().all(|column| names[*column].starts_with(name)), "{names:?}");
            // The encoder of a single column has no lags: it reads lagged values from the row itself. Their matrix columns are not compared.
            let alone = encoder.of_column(name);
            assert_eq!((alone.width(), alone.lags()), (matrix_columns.len(), 0));
            let alone = alone.encode(&table).unwrap().matrix;
            for (at, column) in
                matrix_columns.iter().enumerate().filter(|(_, column)| !names[**column].contains("before"))
            {
                let same = (0..6).all(|row| alone.row(row)[at] == encoded.row(row)[*column]);
                assert!(same, "{}", names[*column]);
            }
        }
    }
}
