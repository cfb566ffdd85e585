//! Tests of parsing targets, and of the labels that a target gives to the rows of a table.

#![allow(clippy::unwrap_used)] // a panic fails the test

use scorewise_table::groups::{Neighbours, RowOrder};
use scorewise_table::table::{Category, Column, Lines, Table, Values};
use scorewise_table::target::{ComparisonOperator, ConditionValue, LabelRule, Labels, Target};

/// A column of numbers; NaN is a missing value.
fn number_column(name: &str, values: &[f64]) -> Column {
    Column { name: name.into(), values: Values::Number(values.to_vec()) }
}

/// A column of strings, given the levels and, for each row, the index of its level.
fn string_column(name: &str, levels: &[&str], codes: &[u32]) -> Column {
    let levels = levels.iter().map(|level| (*level).to_string()).collect();
    Column { name: name.into(), values: Values::Category(Category { codes: codes.to_vec(), levels }) }
}

/// A table with these columns, as if it were read from the file `test.csv` with a header in line 1.
fn table(columns: Vec<Column>) -> Table {
    Table { file: "test.csv".into(), columns, lines: Lines::From(2) }
}

/// Parses a valid target with the default positive class and without a lead.
fn parse(text: &str, table: &Table) -> Target {
    Target::parse(text, table, None, 0).unwrap().0
}

/// The message of the error for an invalid target.
fn parse_error(text: &str, table: &Table, positive: Option<&str>) -> String {
    Target::parse(text, table, positive, 0).unwrap_err().to_string()
}

/// The index of the class of each row, or [`NO_LABEL`].
fn class_of_each_row(target: &Target, table: &Table) -> Vec<u32> {
    target.labels(table, &Neighbours::new(table, &RowOrder::default()).unwrap()).unwrap().0.classes
}

/// The entry for a row without a label.
const NO_LABEL: u32 = Labels::MISSING;
/// A missing value in a column of numbers.
const MISSING: f64 = f64::NAN;

#[test]
fn conditions_are_evaluated_with_every_operator() {
    let table = table(vec![number_column("pm2.5", &[399.0, 400.0, 401.0, MISSING])]);
    let cases = [
        (">", [0, 0, 1]),
        (">=", [0, 1, 1]),
        ("<", [1, 0, 0]),
        ("<=", [1, 1, 0]),
        ("=", [0, 1, 0]),
        ("==", [0, 1, 0]),
        ("!=", [1, 0, 1]),
        ("<>", [1, 0, 1]),
    ];
    for (operator, expected) in cases {
        for text in
            [format!("pm2.5 {operator} 400"), format!("pm2.5{operator}400"), format!(" `pm2.5`  {operator} 4e2 ")]
        {
            let target = parse(&text, &table);
            assert_eq!(class_of_each_row(&target, &table), [expected[0], expected[1], expected[2], NO_LABEL], "{text}");
        }
    }
    assert_eq!(class_of_each_row(&parse("pm2.5 > -1", &table), &table)[..3], [1, 1, 1]);
}

#[test]
fn column_names_may_contain_spaces_brackets_and_operators() {
    let names = ["T [°C] > 20", "a = b", "x>", "wind speed (m/s)", "größe <= é"];
    let columns = names.iter().map(|name| number_column(name, &[0.0, 1.0, 1.0])).collect();
    let table = table(columns);
    for name in names {
        assert_eq!(parse(name, &table).column, name);
        for text in [format!("{name} >= 1"), format!("{name}>=1"), format!("\"{name}\" >= 1"), format!("'{name}'>=1")] {
            let target = parse(&text, &table);
            let LabelRule::Condition { comparison, operand } = &target.rule else { panic!("{text}") };
            assert_eq!(
                (target.column.as_str(), *comparison, operand),
                (name, ComparisonOperator::AtLeast, &ConditionValue::Number(1.0)),
                "{text}"
            );
        }
    }
    assert_eq!(parse("x>=1", &table).column, "x>");
}

#[test]
fn strings_can_only_be_compared_for_equality() {
    let table = table(vec![string_column("state", &["None", "on fire", "off"], &[0, 1, 2, NO_LABEL])]);
    for text in ["state = on fire", "state=\"on fire\"", "state == 'on fire'"] {
        assert_eq!(class_of_each_row(&parse(text, &table), &table), [0, 1, 0, NO_LABEL], "{text}");
    }
    assert_eq!(class_of_each_row(&parse("state != None", &table), &table), [0, 1, 1, NO_LABEL]);
    assert_eq!(
        parse_error("state > on fire", &table, None),
        "target: `state` holds text, which cannot be compared with >\nhint: use = or !="
    );
    assert_eq!(
        parse_error("state = on fier", &table, None),
        "target: `state` has no value `on fier`\nhint: did you mean `on fire`?"
    );
}

#[test]
fn invalid_targets_are_refused_with_a_hint() {
    let time = Column { name: "when".into(), values: Values::Time(vec![0, 1, 2]) };
    let table = table(vec![
        number_column("income", &[1.0, 2.0, 2.0]),
        time,
        number_column("one", &[7.0; 3]),
        number_column("none", &[MISSING; 3]),
    ]);
    let cases = [
        ("incom", "target: `test.csv` has no column `incom`\nhint: did you mean `income`?"),
        ("incom > 5", "target: `test.csv` has no column `incom`\nhint: did you mean `income`?"),
        ("zebra", "target: `test.csv` has no column `zebra`\nhint: the columns are `income`, `when`, `one`, `none`"),
        ("", "target: `test.csv` has no column ``\nhint: the columns are `income`, `when`, `one`, `none`"),
        (
            "income > ten",
            "target: `income` holds numbers, and `ten` is not a number\nhint: compare the column with a number",
        ),
        (
            "income > inf",
            "target: `income` holds numbers, and `inf` is not a number\nhint: compare the column with a number",
        ),
        ("income >", "target: the condition on `income` has nothing to compare with\nhint: write it as `COLUMN > 400`"),
        ("when > 5", "target: `when` holds times, which cannot be a target\nhint: name a column of classes or numbers"),
        (
            "when",
            "test.csv, column `when`: holds times, which cannot be a target\nhint: name a column of classes or numbers",
        ),
        (
            "one",
            "test.csv, column `one`: has only one class, `7`\n\
             hint: give rows of another class, or choose another column with `target`",
        ),
        ("none", "test.csv, column `none`: no row has a value\nhint: choose another column with `target`"),
    ];
    for (text, message) in cases {
        assert_eq!(parse_error(text, &table, None), message, "{text}");
    }
    assert_eq!(
        parse_error("income", &table, Some("3")),
        "positive: `3` is not a class of `income`\nhint: the classes are `1`, `2`"
    );
    assert!(parse_error("income > 1", &table, Some("1")).starts_with("positive: `1` cannot be the positive class"));
    assert!(parse_error("x", &Table::default(), None).contains("no rows"));
}

#[test]
fn a_column_with_too_many_different_values_is_refused_as_a_target() {
    let values: Vec<f64> = (0..101).map(f64::from).collect();
    let message = parse_error("x", &table(vec![number_column("x", &values)]), None);
    assert_eq!(
        message,
        "test.csv, column `x`: has 101 different values; a target can have at most 100 classes\n\
         hint: write a condition instead: `target x > 10`"
    );
    assert_eq!(parse("x", &table(vec![number_column("x", &values[1..])])).classes().len(), 100);
}

#[test]
fn the_rarer_class_is_positive_by_default() {
    let table = table(vec![string_column("income", &[">50K", "<=50K"], &[0, 1, 1, NO_LABEL, 1])]);
    let (target, notes) = Target::parse("income", &table, None, 0).unwrap();
    assert_eq!(target.classes(), ["<=50K", ">50K"]);
    assert_eq!(
        notes[0].to_string(),
        "column `income`: the positive class is `>50K`, the rarer one (1 of 4 rows); `positive` chooses the other"
    );
    assert_eq!(class_of_each_row(&target, &table), [1, 0, 0, NO_LABEL, 0]);
    let (target, notes) = Target::parse("income", &table, Some("<=50K"), 0).unwrap();
    assert_eq!((target.classes(), notes.len()), (vec![">50K".to_string(), "<=50K".to_string()], 0));
}

#[test]
fn numbers_and_booleans_can_be_the_classes_of_a_target() {
    let table = table(vec![
        number_column("quality", &[10.0, 9.0, 10.0, MISSING, 8.5]),
        number_column("y", &[1.0, 2.0, 2.0, 1.0, 1.0]),
        Column {
            name: "b".into(),
            values: Values::Boolean(vec![Some(true), None, Some(false), Some(true), Some(false)]),
        },
    ]);
    let (target, notes) = Target::parse("quality", &table, None, 0).unwrap();
    assert_eq!(target.classes(), ["8.5", "9", "10"]);
    assert_eq!(notes[0].to_string(), "column `quality`: 3 classes: `8.5`, `9`, `10`");
    assert_eq!(class_of_each_row(&target, &table), [2, 1, 2, NO_LABEL, 0]);
    let (target, _) = Target::parse("y", &table, Some("1.0"), 0).unwrap();
    assert_eq!(target.classes(), ["2", "1"]);
    assert_eq!(class_of_each_row(&target, &table), [1, 0, 0, 1, 1]);
    // If both classes are equally frequent, the second is positive, so that `true` and 1 are positive.
    assert_eq!(parse("b", &table).classes(), ["false", "true"]);
    assert_eq!(class_of_each_row(&parse("b = false", &table), &table), [0, NO_LABEL, 1, 0, 1]);
    let (target, notes) = Target::parse("quality", &table, Some("9"), 0).unwrap();
    assert_eq!(class_of_each_row(&target, &table), [0, 1, 0, NO_LABEL, 0]);
    assert_eq!(notes[0].to_string(), "column `quality`: 3 classes: `9` is predicted against all others");
}

#[test]
fn with_a_lead_the_label_is_a_later_value_of_the_same_group() {
    let table = table(vec![
        number_column("x", &[1.0, 5.0, 9.0, MISSING, 9.0, 1.0]),
        string_column("g", &["a", "b"], &[0, 1, 0, 1, 1, 0]),
    ]);
    let (target, _) = Target::parse("x > 4", &table, None, 1).unwrap();
    assert_eq!((target.hidden(), parse("x > 4", &table).hidden()), (None, Some("x")));
    let (labels, notes) =
        target.labels(&table, &Neighbours::new(&table, &RowOrder::of_file(Some("g"))).unwrap()).unwrap();
    assert_eq!(labels.classes, [1, NO_LABEL, 0, 1, NO_LABEL, NO_LABEL]);
    assert_eq!(labels.ahead.as_deref(), Some(&[2, 3, 5, 4, NO_LABEL, NO_LABEL][..]));
    assert_eq!((labels.rows(), labels.counts()), (vec![0, 2, 3], vec![1, 2]));
    assert_eq!(labels.positives(), [true, false, false, true, false, false]);
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "column `x`: 1 row is left out: its target value is missing",
            "2 rows are left out: the table has no row 1 step later"
        ]
    );
    assert_eq!(target.to_string(), "x > 4, 1 row ahead");
}

#[test]
fn the_error_for_an_unknown_class_names_the_line() {
    let training = table(vec![string_column("y", &["a", "b"], &[0, 1])]);
    let target = parse("y", &training);
    let new = table(vec![string_column("y", &["b", "c"], &[0, 0, 1])]);
    let error = target.labels(&new, &Neighbours::new(&new, &RowOrder::default()).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "test.csv:4, column `y`: `c` is not a class of the target\nhint: the classes are `a`, `b`"
    );
}

#[test]
fn the_note_about_values_that_are_not_classes_is_in_the_singular_or_the_plural() {
    let note = |levels: &[&str], codes: &[u32]| {
        let known = table(vec![string_column("y", &["no", "yes"], &[0, 1, 0])]);
        let target = parse("y", &known);
        let other = table(vec![string_column("y", levels, codes)]);
        let neighbours = Neighbours::new(&other, &RowOrder::of_file(None)).unwrap();
        let (_, unmatched) = target.known_labels(&other, &neighbours).unwrap();
        unmatched.notes(&target).iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        note(&["no", "maybe"], &[0, 1]),
        "column `y`: 1 row holds `maybe`, which is not one of the classes `no`, `yes`: the true class of this row is unknown"
    );
    assert_eq!(
        note(&["no", "maybe"], &[1, 1]),
        "column `y`: 2 rows hold `maybe`, which is not one of the classes `no`, `yes`: the true class of these rows is unknown"
    );
    assert_eq!(
        note(&["never", "maybe"], &[0, 1, 1]),
        "column `y`: 3 rows hold `maybe`, `never`, which are not among the classes `no`, `yes`: the true class of these rows is unknown"
    );
}

#[test]
fn a_valid_target_is_unchanged_after_writing_and_reading_json_and_an_invalid_one_is_refused() {
    let table = table(vec![number_column("x", &[1.0, 5.0]), string_column("y", &["a", "b"], &[0, 1])]);
    for text in ["x >= 1.5", "x", "y != a"] {
        let (target, _) = Target::parse(text, &table, None, 3).unwrap();
        target.check().unwrap();
        let written = serde_json::to_string(&target).unwrap();
        assert_eq!(serde_json::from_str::<Target>(&written).unwrap(), target);
    }
    let problem = |rule| Target { column: "x".into(), rule, lead: 0 }.check().unwrap_err();
    let condition = |comparison, operand| LabelRule::Condition { comparison, operand };
    assert_eq!(problem(LabelRule::Classes(vec!["a".into()])), "the number of classes is 1, but must be from 2 to 100");
    assert_eq!(problem(LabelRule::Classes(vec!["a".into(), "a".into()])), "the class `a` is listed twice");
    assert_eq!(
        problem(condition(ComparisonOperator::Above, ConditionValue::Number(MISSING))),
        "the condition compares with NaN, which is not a finite number"
    );
    assert_eq!(
        problem(condition(ComparisonOperator::Above, ConditionValue::Text("a".into()))),
        "text cannot be compared with >"
    );
}
