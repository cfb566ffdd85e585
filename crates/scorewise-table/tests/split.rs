//! Tests of splits: every labelled row is in exactly one set, sets have the requested sizes, rows of the same group or time are in the same set,
//! and the same seed gives the same sets.

#![allow(clippy::unwrap_used)] // a panic fails the test

use std::collections::HashSet;

use scorewise_table::groups::{Neighbours, RowOrder};
use scorewise_table::split::{CrossValidation, NO_SET, Split, SplitRows, SplitShares};
use scorewise_table::table::{Category, Column, Table, Values};
use scorewise_table::target::{Labels, Target};

/// The shares of Marchetti et al. (2022): a fifth of the rows for the test set, a third of the others for the validation set.
const SHARES: SplitShares = SplitShares { test: 0.2, validation: 1.0 / 3.0 };
/// Five folds in each of two repetitions, with a quarter of the rows outside the test set for validation.
const FOLDS: CrossValidation = CrossValidation { folds: 5, repeats: 2, validation: 0.25 };

/// A table with a column of groups, and pseudo-random labels; every seventh row has no label.
fn sample_table(rows: usize, groups: u32, classes: u32) -> (Table, Labels) {
    let random = |row: usize| (scorewise::stream(1, scorewise::Purpose::Split, row as u64) >> 40) as u32;
    let codes: Vec<u32> = (0..rows).map(|row| random(row) % groups).collect();
    let levels = (0..groups).map(|group| format!("g{group}")).collect();
    let group = Column { name: "patient".into(), values: Values::Category(Category { codes, levels }) };
    let values = (0..rows).map(|row| f64::from(random(row + rows) % 1000)).collect();
    let x = Column { name: "x".into(), values: Values::Number(values) };
    let class = |row: usize| match row % 7 {
        3 => Labels::MISSING,
        // The last class is the rarest.
        _ => (0..classes - 1).find(|class| random(row * 3 + *class as usize) % 4 != 0).unwrap_or(classes - 1),
    };
    let names = (0..classes).map(|class| format!("class {class}")).collect();
    let labels = Labels { classes: (0..rows).map(class).collect(), names, ahead: None };
    (Table { file: "test.csv".into(), columns: vec![group, x], ..Table::default() }, labels)
}

/// Splits the labelled rows of a table. `split` names the kind of split, such as `random` or `time:x`.
fn split_into_sets(split: &str, table: &Table, labels: &Labels, shares: &SplitShares, seed: u64) -> SplitRows {
    Split::parse(split).unwrap().split_rows(table, labels, shares, seed).unwrap().0
}

/// The training, validation and test rows, in this order.
fn sets_of(parts: &SplitRows) -> [&Vec<u32>; 3] {
    [&parts.training, &parts.validation, &parts.test]
}

/// Asserts that the sets are disjoint, sorted, consistent with `set_of_row`, and together contain all labelled rows.
fn assert_partition(parts: &SplitRows, labels: &Labels) {
    let mut together: Vec<u32> = Vec::new();
    for (set, rows) in (0u8..).zip(sets_of(parts)) {
        assert!(rows.is_sorted());
        assert!(rows.iter().all(|row| parts.set_of_row[*row as usize] == set));
        together.extend(rows);
    }
    together.sort_unstable();
    assert_eq!(together, labels.rows());
}

/// The number of rows of this class among the given rows.
fn count_of_class(rows: &[u32], labels: &Labels, class: u32) -> usize {
    rows.iter().filter(|row| labels.classes[**row as usize] == class).count()
}

#[test]
fn random_sets_contain_all_labelled_rows_and_have_their_shares_of_every_class() {
    for (rows, classes) in [(40, 2), (1000, 2), (1000, 4), (30_001, 3)] {
        let (table, labels) = sample_table(rows, 5, classes);
        let labelled = labels.rows().len() as f64;
        for seed in 0..5 {
            let parts = split_into_sets("random", &table, &labels, &SHARES, seed);
            assert_partition(&parts, &labels);
            let test = (0.2 * labelled).ceil();
            assert_eq!(parts.test.len() as f64, test);
            for (class, total) in (0..).zip(labels.counts()) {
                let exact = total as f64 * test / labelled;
                let in_test = count_of_class(&parts.test, &labels, class);
                assert!(
                    (in_test as f64 - exact).abs() <= 1.0,
                    "class {class}: {in_test} rows in the test set, expected {exact}"
                );
                let left = total - in_test;
                let validation = count_of_class(&parts.validation, &labels, class);
                assert!(
                    (validation as f64 - left as f64 / 3.0).abs() <= 1.0,
                    "class {class}: {validation} validation rows, expected a third of {left}"
                );
            }
        }
    }
}

#[test]
fn a_table_as_long_as_adult_is_split_into_the_set_sizes_of_marchetti_et_al_2022() {
    let classes = (0..30_162).map(|row| u32::from(row % 4 == 0)).collect();
    let labels = Labels { classes, names: vec!["n".into(), "p".into()], ahead: None };
    let (table, _) = sample_table(30_162, 5, 2);
    let parts = split_into_sets("random", &table, &labels, &SHARES, 0);
    assert_eq!(sets_of(&parts).map(Vec::len), [16_086, 8_043, 6_033]);
}

#[test]
fn the_same_seed_gives_the_same_sets_and_another_seed_gives_different_sets() {
    let (table, labels) = sample_table(500, 40, 2);
    for split in ["random", "group:patient"] {
        let sets = |seed| split_into_sets(split, &table, &labels, &SHARES, seed);
        assert_eq!(sets(3), sets(3));
        assert_ne!(sets(3), sets(4));
        let folds = |seed| Split::parse(split).unwrap().folds(&table, &labels, &FOLDS, seed).unwrap().0;
        assert_eq!(folds(3), folds(3));
        assert_ne!(folds(3), folds(4));
        assert_ne!(folds(3)[..5], folds(3)[5..]);
    }
}

#[test]
fn a_class_with_three_rows_has_one_row_in_every_set() {
    let classes = (0..200).map(|row| u32::from(row < 3)).collect();
    let labels = Labels { classes, names: vec!["n".into(), "p".into()], ahead: None };
    let (table, _) = sample_table(200, 5, 2);
    for seed in 0..20 {
        let parts = split_into_sets("random", &table, &labels, &SHARES, seed);
        assert_eq!(sets_of(&parts).map(|rows| count_of_class(rows, &labels, 1)), [1, 1, 1]);
    }
}

#[test]
fn a_share_of_zero_gives_an_empty_set() {
    let (table, labels) = sample_table(300, 30, 2);
    for split in ["random", "time", "group:patient"] {
        let parts = split_into_sets(split, &table, &labels, &SplitShares { test: 0.0, validation: 0.5 }, 1);
        assert_partition(&parts, &labels);
        assert!(parts.test.is_empty() && !parts.validation.is_empty());
    }
}

#[test]
fn no_group_is_divided_between_sets_and_the_sizes_of_sets_are_nearly_as_requested() {
    let (table, labels) = sample_table(3000, 150, 2);
    let Values::Category(groups) = &table.columns[0].values else { panic!() };
    let labelled = labels.rows().len() as f64;
    for seed in 0..5 {
        let parts = split_into_sets("group:patient", &table, &labels, &SHARES, seed);
        assert_partition(&parts, &labels);
        let [training, validation, test] =
            sets_of(&parts).map(|rows| rows.iter().map(|row| groups.codes[*row as usize]).collect::<HashSet<u32>>());
        assert!(training.is_disjoint(&validation) && training.is_disjoint(&test) && validation.is_disjoint(&test));
        for (rows, share) in sets_of(&parts).into_iter().zip([0.8 * 2.0 / 3.0, 0.8 / 3.0, 0.2]) {
            assert!(
                (rows.len() as f64 / labelled - share).abs() < 0.02,
                "{} of {labelled} labelled rows are in the set, but the requested share is {share}",
                rows.len()
            );
            let positives = count_of_class(rows, &labels, 1) as f64 / labels.counts()[1] as f64;
            assert!(
                (positives - share).abs() < 0.02,
                "the set holds a share of {positives} of all positives, but the requested share is {share}"
            );
        }
    }
}

#[test]
fn in_a_split_by_time_the_last_rows_are_the_test_set() {
    let (mut table, labels) = sample_table(700, 5, 2);
    let (parts, notes) = Split::Time(None).split_rows(&table, &labels, &SHARES, 0).unwrap();
    assert_partition(&parts, &labels);
    assert_eq!(parts.test.len(), 120);
    assert!(parts.training.last() < parts.validation.first() && parts.validation.last() < parts.test.first());
    assert!(parts.set_of_row.is_sorted());
    assert_eq!(notes[0].to_string(), "the split by time follows the order of the rows in the file");
    // With a column of descending times, the first rows of the file are the test set.
    let values = Values::Time((0..700).map(|row| 1_000_000 - row).collect());
    table.columns.push(Column { name: "when".into(), values });
    let (reversed, notes) = Split::Time(None).split_rows(&table, &labels, &SHARES, 0).unwrap();
    assert_partition(&reversed, &labels);
    assert!(
        reversed.test.last() < reversed.validation.first() && reversed.validation.last() < reversed.training.first()
    );
    assert_eq!(
        notes[0].to_string(),
        "column `when`: rows are split by the times in this column; the file is not sorted by them"
    );
    // In a split by a column of numbers with repeated values, rows with the same value are in the same set.
    let (by_number, _) = Split::parse("time:x").unwrap().split_rows(&table, &labels, &SHARES, 0).unwrap();
    assert_partition(&by_number, &labels);
    let Values::Number(x) = &table.columns[1].values else { panic!() };
    let range = |rows: &[u32]| {
        let values = rows.iter().map(|row| x[*row as usize]);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    assert!(range(&by_number.training).1 < range(&by_number.validation).0);
    assert!(range(&by_number.validation).1 < range(&by_number.test).0);
}

#[test]
fn rows_without_a_time_are_left_out() {
    let (mut table, labels) = sample_table(70, 5, 2);
    let time = |row: i64| if row == 10 { Values::NO_TIME } else { 1_600_000_000 + row };
    table.columns.push(Column { name: "when".into(), values: Values::Time((0..70).map(time).collect()) });
    let (parts, notes) = Split::Time(None).split_rows(&table, &labels, &SHARES, 0).unwrap();
    assert!(sets_of(&parts).iter().all(|rows| !rows.contains(&10)));
    assert_eq!(parts.set_of_row[10], NO_SET);
    assert_eq!(notes[1].to_string(), "column `when`: 1 row is left out: it has no time");
}

#[test]
fn in_a_split_by_time_no_label_comes_from_a_row_of_another_set() {
    let values = Values::Number((0..100).map(|row| f64::from(row * 37 % 50)).collect());
    let table = Table { columns: vec![Column { name: "x".into(), values }], ..Table::default() };
    let (target, _) = Target::parse("x > 25", &table, None, 3).unwrap();
    let (labels, _) = target.labels(&table, &Neighbours::new(&table, &RowOrder::default()).unwrap()).unwrap();
    let (parts, notes) = Split::Time(None).split_rows(&table, &labels, &SHARES, 0).unwrap();
    let ahead = labels.ahead.as_ref().unwrap();
    for rows in sets_of(&parts) {
        assert!(
            rows.iter().all(|row| parts.set_of_row[ahead[*row as usize] as usize] == parts.set_of_row[*row as usize])
        );
    }
    // With a lead of 3, the last three rows before the validation set and before the test set are left out, and the last three rows of the
    // table have no label.
    assert_eq!(sets_of(&parts).map(Vec::len).iter().sum::<usize>(), 100 - 3 - 2 * 3);
    assert_eq!(notes[1].to_string(), "6 rows are left out: their labels come from rows of the next set");
    assert!(
        sets_of(&Split::Random.split_rows(&table, &labels, &SHARES, 0).unwrap().0).map(Vec::len).iter().sum::<usize>()
            == 97
    );
}

#[test]
fn if_a_set_lacks_a_class_the_hint_suggests_another_share_only_if_that_helps() {
    let names = vec!["no".to_string(), "yes".to_string()];
    let split = |split: &str, positives: &[u32], rows: u32, test: f64, validation: f64| {
        let classes = (0..rows).map(|row| u32::from(positives.contains(&row))).collect();
        let labels = Labels { classes, names: names.clone(), ahead: None };
        let x = Column { name: "x".into(), values: Values::Number((0..rows).map(f64::from).collect()) };
        let table = Table { columns: vec![x], ..Table::default() };
        let shares = SplitShares { test, validation };
        Split::parse(split)
            .unwrap()
            .split_rows(&table, &labels, &shares, 0)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let hint = |error: Result<(), String>| error.unwrap_err().split_once("hint: ").unwrap().1.to_owned();
    // The table has one row of each class, so two sets cannot both contain both classes, whatever the shares and the kind of split.
    for validation in [0.0, 1.0 / 3.0] {
        assert_eq!(hint(split("random", &[1], 2, 0.2, validation)), "give more rows");
        assert_eq!(hint(split("time", &[1], 2, 0.2, validation)), "give more rows");
    }
    // The test set takes one of the two positives, so the training and the validation set cannot both have one.
    assert_eq!(hint(split("random", &[0, 1], 9, 0.2, 0.3)), "give more rows, or another share with `test`");
    assert!(split("random", &[0, 1], 9, 0.0, 0.3).is_ok());
    // Without validation rows, the share of test rows is the only share that the user can change.
    let hints = "give more rows, another share with `test`, or `split random`";
    assert_eq!(hint(split("time", &[2, 5], 6, 0.7, 0.0)), hints);
    assert!(split("time", &[2, 5], 6, 0.4, 0.0).is_ok() && split("random", &[2, 5], 6, 0.7, 0.0).is_ok());
    let hints = "give more rows, another share with `validation`, or `split random`";
    assert_eq!(hint(split("time", &[1, 4], 6, 0.0, 0.9)), hints);
    assert!(split("time", &[1, 4], 6, 0.0, 0.5).is_ok());
    // The size of the test set of a fold depends on the number of folds.
    let (table, mut labels) = sample_table(60, 12, 2);
    labels.classes = (0..60).map(|row| u32::from(row % 25 == 0)).collect();
    let folds = |folds: usize| {
        let settings = CrossValidation { folds, repeats: 1, validation: 0.0 };
        Split::Time(None).folds(&table, &labels, &settings, 0).map_err(|error| error.to_string())
    };
    assert_eq!(hint(folds(3).map(|_| ())), "give more rows, fewer folds with `folds`, or `split random`");
    assert!(folds(2).is_ok());
}

#[test]
fn with_two_classes_a_set_without_one_of_them_is_an_error_with_a_hint() {
    let (table, mut labels) = sample_table(100, 50, 2);
    labels.classes = (0..100).map(|row| u32::from(row < 10)).collect();
    let refused = |split: &str, labels: &Labels| {
        Split::parse(split).unwrap().split_rows(&table, labels, &SHARES, 0).unwrap_err().to_string()
    };
    assert_eq!(
        refused("time", &labels),
        "split: the validation set has no positives\n\
         hint: give more rows, another share with `validation`, or `split random`"
    );
    labels.classes = (0..100).map(|row| u32::from(row == 0)).collect();
    // A class with a single row cannot be in several sets, whatever the shares.
    assert_eq!(refused("random", &labels), "split: the validation set has no positives\nhint: give more rows");
    assert!(refused("group:patient", &labels).contains("set has no positives"));
    labels.classes = (0..100).map(|row| if row < 3 { row % 2 } else { Labels::MISSING }).collect();
    assert!(refused("time", &labels).contains("split: the"));
}

#[test]
fn with_three_classes_a_class_absent_from_a_set_gives_a_note_and_no_error() {
    let (table, _) = sample_table(100, 5, 2);
    let classes = (0..100).map(|row| if row == 0 { 2 } else { row % 2 }).collect();
    let labels = Labels { classes, names: vec!["a".into(), "b".into(), "c".into()], ahead: None };
    let (parts, notes) = Split::Random.split_rows(&table, &labels, &SHARES, 0).unwrap();
    assert!(parts.training.contains(&0));
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["the validation set has no rows of class `c`", "the test set has no rows of class `c`"]);
}

#[test]
fn every_labelled_row_is_in_exactly_one_test_set_of_every_repetition() {
    let (table, labels) = sample_table(1000, 60, 3);
    let Values::Category(groups) = &table.columns[0].values else { panic!() };
    for split in [Split::Random, Split::Group("patient".into())] {
        let (folds, _) = split.folds(&table, &labels, &FOLDS, 5).unwrap();
        assert_eq!(folds.len(), 10);
        for repeat in folds.chunks(5) {
            let mut tested: Vec<u32> = repeat.iter().flat_map(|parts| parts.test.iter().copied()).collect();
            tested.sort_unstable();
            assert_eq!(tested, labels.rows());
            for parts in repeat {
                assert_partition(parts, &labels);
                let validation = parts.validation.len() as f64 / (parts.validation.len() + parts.training.len()) as f64;
                assert!((validation - 0.25).abs() < 0.03, "{validation}");
                if split == Split::Random {
                    for (class, total) in (0..).zip(labels.counts()) {
                        assert!((count_of_class(&parts.test, &labels, class) as f64 - total as f64 / 5.0).abs() <= 1.0);
                    }
                } else {
                    let [training, validation, test] = sets_of(parts)
                        .map(|rows| rows.iter().map(|row| groups.codes[*row as usize]).collect::<HashSet<u32>>());
                    assert!(
                        training.is_disjoint(&validation)
                            && training.is_disjoint(&test)
                            && validation.is_disjoint(&test)
                    );
                }
            }
        }
    }
}

#[test]
fn folds_by_time_have_training_rows_before_their_test_rows() {
    let (table, labels) = sample_table(1200, 5, 2);
    let settings = CrossValidation { repeats: 1, ..FOLDS };
    let (folds, _) = Split::Time(None).folds(&table, &labels, &settings, 0).unwrap();
    assert_eq!(folds.len(), 5);
    let labelled = labels.rows();
    for (number, parts) in folds.iter().enumerate() {
        assert!(parts.training.last() < parts.validation.first() && parts.validation.last() < parts.test.first());
        assert!(parts.set_of_row.is_sorted());
        let trained = parts.training.len() + parts.validation.len();
        assert!(trained.abs_diff(labelled.len() * (number + 1) / 6) <= 1, "{trained}");
        assert!(parts.test.len().abs_diff(labelled.len() / 6) <= 1);
    }
    let tested: Vec<u32> = folds.iter().flat_map(|parts| parts.test.iter().copied()).collect();
    assert_eq!(tested, labelled[labelled.len() - tested.len()..]);
}

#[test]
fn invalid_settings_of_a_split_are_refused() {
    for text in ["randm", "", "random:x", "group", "group:", "time:"] {
        let error = Split::parse(text).unwrap_err().to_string();
        let expected = format!(
            "split: `{text}` is not a valid split\nhint: write `random`, `time`, `time:COLUMN` or `group:COLUMN`"
        );
        assert_eq!(error, expected);
    }
    assert_eq!(Split::parse("group: a:b ").unwrap(), Split::Group("a:b".into()));
    let (table, labels) = sample_table(100, 2, 2);
    let refused = |split: Split, shares| split.split_rows(&table, &labels, &shares, 0).unwrap_err().to_string();
    for share in [-0.1, 1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(Split::Random, SplitShares { test: share, ..SHARES }).starts_with("test: "));
        assert!(refused(Split::Random, SplitShares { validation: share, ..SHARES }).starts_with("validation: "));
    }
    assert_eq!(
        refused(Split::Group("patient".into()), SHARES),
        "split: `patient` has 2 groups, too few for 3 sets\nhint: name a column with more distinct values, or write `split random`"
    );
    assert!(refused(Split::Group("pateint".into()), SHARES).contains("did you mean `patient`?"));
    assert!(refused(Split::Time(Some("patient".into())), SHARES).contains("holds neither times nor numbers"));
    let folds_error = |split: Split, settings| split.folds(&table, &labels, &settings, 0).unwrap_err().to_string();
    assert!(folds_error(Split::Random, CrossValidation { folds: 1, ..FOLDS }).starts_with("folds: "));
    assert!(folds_error(Split::Random, CrossValidation { folds: 90, ..FOLDS }).starts_with("folds: "));
    assert!(folds_error(Split::Random, CrossValidation { repeats: 0, ..FOLDS }).starts_with("repeats: "));
    assert!(folds_error(Split::Time(None), FOLDS).starts_with("repeats: "));
    assert!(folds_error(Split::Random, CrossValidation { validation: 1.0, ..FOLDS }).starts_with("validation: "));
}
