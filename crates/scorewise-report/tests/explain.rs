//! Tests of explanations, for trained models and for models with weights written by hand, whose importance and partial dependence can be computed
//! independently.
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use std::ops::ControlFlow;

use scorewise::{Purpose, stream};
use scorewise_report::document::{Document, Provenance, ResultKind};
use scorewise_report::evaluation::{
    ClassMeans, ColumnImportance, DEPENDENCE_COLUMNS, ExplainOptions, ExplainedRows, Explanation, GridValue,
    PartialDependence, explain,
};
use scorewise_report::{figures, page};
use scorewise_table::encode::{ColumnEncoding, Encoder, InputColumn, TimePart};
use scorewise_table::split::{random, shuffle};
use scorewise_table::table::{Category, Column, ColumnKind, Reading, Table, Values};
use scorewise_table::target::{LabelRule, Target};
use scorewise_train::backend::Cpu;
use scorewise_train::learner::Member;
use scorewise_train::model::{Decision, Model, ThresholdSource, VERSION};
use scorewise_train::network::{Dense, Network, NetworkShape};
use scorewise_train::plan::Plan;
use scorewise_train::train::{Trained, train};

/// An input column of numbers that the encoder does not change.
fn number_input(column: &str) -> InputColumn {
    let coding = ColumnEncoding::Number { mean: 0.0, deviation: 1.0, indicator: false };
    InputColumn { column: column.into(), kind: ColumnKind::Number, lag: 0, part: None, coding }
}

/// A model whose logits are linear in the encoded features. For each output, `weights` holds one row of weights and `biases` one bias.
fn linear_model(inputs: Vec<InputColumn>, weights: &[Vec<f32>], biases: &[f32], score: &str) -> Model {
    let encoder = Encoder { inputs, order: Default::default() };
    let (width, outputs) = (encoder.width(), weights.len());
    let layer = Dense { inputs: width, outputs, weights: weights.concat(), biases: biases.to_vec() };
    let classes: Vec<String> = (0..outputs.max(2)).map(|class| format!("class {class}")).collect();
    let decision = match outputs {
        1 => Decision::at(0.5, ThresholdSource::Given, "given"),
        _ => Decision::Greatest,
    };
    Model {
        version: VERSION.into(),
        reading: Reading::default(),
        encoder,
        target: Target { column: "y".into(), rule: LabelRule::Classes(classes.clone()), lead: 0 },
        classes,
        members: vec![Member::Network(Network::from_layers(&[], &[layer]).unwrap())],
        weights: vec![1.0],
        mean: scorewise_train::ensemble::MeanOf::Probabilities,
        score: score.into(),
        prior: None,
        loss: "sol".into(),
        decision,
        seed: 0,
        calibration: None,
        fingerprint: String::new(),
        plan: None,
        reference: None,
        results: Default::default(),
    }
}

/// A column with this name and these values.
fn column(name: &str, values: Values) -> Column {
    Column { name: name.into(), values }
}

/// A column of numbers; `value` returns the number of each row.
fn number_column(name: &str, rows: u32, value: impl Fn(u32) -> f64) -> Column {
    column(name, Values::Number((0..rows).map(value).collect()))
}

/// A target column whose classes are named as in [`linear_model`]; `class` returns the index of the class of each row.
fn class_column(rows: u32, classes: u32, class: impl Fn(u32) -> u32) -> Column {
    let levels = (0..classes).map(|class| format!("class {class}")).collect();
    column("y", Values::Category(Category { codes: (0..rows).map(class).collect(), levels }))
}

/// A table with these columns, which appears in messages as the file `rows.csv`.
fn table(columns: Vec<Column>) -> Table {
    Table { file: "rows.csv".into(), columns, ..Table::default() }
}

/// A pseudo-random number between −1 and 1 for a row. Calls with different values of `number` give independent random numbers.
fn noise(row: u32, number: u32) -> f64 {
    (stream(u64::from(number), Purpose::Thresholds, u64::from(row)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// The settings of most tests, with few permutations and replicates for speed.
const OPTIONS: ExplainOptions =
    ExplainOptions { permutations: 5, rows: 10_000, dependence_rows: 1000, replicates: 200, seed: 3 };

/// Explains a model on all those rows of a table whose class is known.
fn explain_on_table(model: &Model, table: &Table, options: &ExplainOptions) -> Explanation {
    let (rows, _) = ExplainedRows::of_table(model, table).unwrap();
    explain(model, &rows, options, &|_, _| ControlFlow::Continue(())).unwrap().unwrap()
}

/// The importance of the column with this name.
fn importance_of<'a>(explanation: &'a Explanation, column: &str) -> &'a ColumnImportance {
    explanation.importance.iter().find(|importance| importance.column == column).unwrap()
}

/// The partial dependence on the column with this name.
fn dependence_on<'a>(explanation: &'a Explanation, column: &str) -> &'a PartialDependence {
    explanation.partial_dependence.iter().find(|dependence| dependence.column == column).unwrap()
}

/// A table of random numbers in which the class depends on `x` and on noise, so that [`noisy_model`] predicts most rows correctly.
fn noisy_table(rows: u32) -> Table {
    let x = |row: u32| noise(row, 1);
    let label = move |row: u32| u32::from(x(row) + 0.2 * noise(row, 3) > 0.0);
    table(vec![
        number_column("x", rows, x),
        number_column("z", rows, |row| noise(row, 2)),
        number_column("unused", rows, |row| noise(row, 4)),
        number_column("not an input", rows, |row| noise(row, 5)),
        class_column(rows, 2, label),
    ])
}

/// A linear model of the columns of [`noisy_table`]. The weight of `x` is 4, that of `z` is 1, and that of `unused` is 0.
fn noisy_model(score: &str) -> Model {
    let inputs = ["x", "z", "unused"].map(number_input).to_vec();
    linear_model(inputs, &[vec![4.0, 1.0, 0.0]], &[0.0], score)
}

#[test]
fn importance_is_the_mean_fall_of_the_score_over_the_permutations() {
    let (model, rows) = (noisy_model("accuracy"), 300u32);
    let explanation = explain_on_table(&model, &noisy_table(rows), &OPTIONS);
    // The test computes the importance itself: it uses the same permutations, and computes the decisions of the model in plain arithmetic.
    let orders: Vec<Vec<u32>> = (0..5)
        .map(|number| {
            let mut order: Vec<u32> = (0..rows).collect();
            shuffle(&mut order, &mut random(OPTIONS.seed, Purpose::ColumnPermutation, number));
            order
        })
        .collect();
    let accuracy = |x_of: &dyn Fn(u32) -> u32, z_of: &dyn Fn(u32) -> u32| {
        let is_correct = |row: &u32| {
            let logit = 4.0 * noise(x_of(*row), 1) as f32 + noise(z_of(*row), 2) as f32;
            (logit > 0.0) == (noise(*row, 1) + 0.2 * noise(*row, 3) > 0.0)
        };
        (0..rows).filter(is_correct).count() as f64 / f64::from(rows)
    };
    let same = |row: u32| row;
    let original = accuracy(&same, &same);
    assert!((explanation.value.unwrap() - original).abs() < 1e-15);
    let mean = |fall: &dyn Fn(&Vec<u32>) -> f64| orders.iter().map(fall).sum::<f64>() / 5.0;
    let x = mean(&|order| original - accuracy(&|row| order[row as usize], &same));
    let z = mean(&|order| original - accuracy(&same, &|row| order[row as usize]));
    assert!((importance_of(&explanation, "x").value.unwrap() - x).abs() < 1e-12);
    assert!((importance_of(&explanation, "z").value.unwrap() - z).abs() < 1e-12);
    assert_eq!((explanation.rows, explanation.permutations, explanation.threshold), (300, 5, Some(0.5)));
}

#[test]
fn columns_are_sorted_and_a_column_that_the_model_does_not_use_has_importance_0() {
    let explanation = explain_on_table(&noisy_model("f1"), &noisy_table(300), &OPTIONS);
    let names: Vec<&str> = explanation.importance.iter().map(|importance| importance.column.as_str()).collect();
    assert_eq!(names[0], "x");
    assert_eq!(names.len(), 3, "only the inputs of the model are listed");
    let values: Vec<f64> = explanation.importance.iter().map(|importance| importance.value.unwrap()).collect();
    assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
    let unused = importance_of(&explanation, "unused");
    assert_eq!((unused.value, unused.low, unused.high), (Some(0.0), Some(0.0), Some(0.0)));
    let x = importance_of(&explanation, "x");
    assert!(x.value > Some(0.3) && x.low < x.value && x.value < x.high, "{x:?}");
}

#[test]
fn importance_is_positive_even_if_lower_scores_are_better_and_0_if_shuffling_does_not_change_the_score() {
    for score in ["cost(fp=1, fn=10)", "far", "bias"] {
        let model = noisy_model(score);
        let mut table = noisy_table(300);
        if score == "bias" {
            // The model predicts about ten times as many events as there are, so the frequency bias is far above its ideal value 1.
            table.columns[0] = number_column("x", 300, |row| if noise(row, 1) > 0.0 { 1.0 } else { -1.0 });
            table.columns[4] = class_column(300, 2, |row| u32::from(noise(row, 1) > 0.9));
            let inputs = vec![number_input("x"), number_input("z")];
            let model = linear_model(inputs, &[vec![1.0, 0.0]], &[0.0], score);
            let explanation = explain_on_table(&model, &table, &OPTIONS);
            // Shuffling does not change how many rows are predicted positive, so the frequency bias does not change.
            assert_eq!(importance_of(&explanation, "x").value, Some(0.0));
            continue;
        }
        let explanation = explain_on_table(&model, &table, &OPTIONS);
        let x = importance_of(&explanation, "x");
        assert!(x.value > Some(0.1) && x.low > Some(0.0), "{score}: {x:?}");
    }
}

#[test]
fn lags_of_a_column_are_shuffled_together() {
    // x rises by 1 in every row, and the model predicts an event in each row where x is greater than in the previous row.
    let rows = 200;
    let coding = ColumnEncoding::Number { mean: 0.0, deviation: 1.0, indicator: true };
    let input = |lag: usize| InputColumn { lag, coding: coding.clone(), ..number_input("x") };
    let model = linear_model(vec![input(0), input(1)], &[vec![1.0, 0.0, -1.0, 0.0]], &[-0.5], "accuracy");
    let table = table(vec![number_column("x", rows, f64::from), class_column(rows, 2, |row| u32::from(row > 0))]);
    let explanation = explain_on_table(&model, &table, &OPTIONS);
    assert_eq!((explanation.value, explanation.importance.len()), (Some(1.0), 1));
    // Each row gets both its new x and its new previous x from the same row, so they still differ by 1. Only the first row has no previous x. So
    // at most two decisions change: that of the first row, and that of the row that gets the values of the first row. If x and the previous x
    // were shuffled separately, about half of all decisions would change.
    assert!(explanation.importance[0].value <= Some(2.0 / 200.0 + 1e-12), "{:?}", explanation.importance);
}

#[test]
fn the_same_seed_gives_the_same_explanation_to_the_last_bit_for_any_number_of_threads() {
    let (model, table) = (noisy_model("mcc"), noisy_table(500));
    let on_threads = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            explain_on_table(&model, &table, &ExplainOptions { rows: 400, dependence_rows: 70, seed, ..OPTIONS })
        })
    };
    let one = on_threads(1, 3);
    assert_eq!((one.rows, one.available_rows, one.dependence_rows), (400, 500, 70));
    for threads in [2, 7] {
        assert_eq!(serde_json::to_string(&on_threads(threads, 3)).unwrap(), serde_json::to_string(&one).unwrap());
    }
    assert_ne!(on_threads(1, 4).importance, one.importance);
}

#[test]
fn intervals_are_narrower_with_more_rows() {
    let width = |rows: u32| {
        let explanation = explain_on_table(&noisy_model("accuracy"), &noisy_table(rows), &OPTIONS);
        let x = importance_of(&explanation, "x");
        x.high.unwrap() - x.low.unwrap()
    };
    let ratio = width(250) / width(4000);
    assert!(
        (2.5..6.5).contains(&ratio),
        "16 times as many rows should make the interval a quarter as wide; the ratio of the widths is {ratio}"
    );
}

#[test]
fn the_weights_of_rows_affect_the_score_and_the_importance() {
    // The model predicts rows 0 to 99 correctly from x. Rows 100 to 199, whose weight is 0, have the opposite labels, so it predicts them wrongly.
    let rows = 200u32;
    let x = |row: u32| if row.is_multiple_of(2) { 1.0 } else { -1.0 };
    let label = |row: u32| u32::from((x(row) > 0.0) == (row < 100));
    let weight: Vec<f64> = (0..rows).map(|row| f64::from(u8::from(row < 100))).collect();
    let model = linear_model(vec![number_input("x")], &[vec![1.0]], &[0.0], "accuracy");
    let table = table(vec![number_column("x", rows, x)]);
    let explained = |weights: Option<Vec<f64>>| {
        let (rows, _) = ExplainedRows::with_labels(&model, &table, (0..rows).map(label).collect(), weights).unwrap();
        explain(&model, &rows, &OPTIONS, &|_, _| ControlFlow::Continue(())).unwrap().unwrap()
    };
    assert_eq!(explained(None).value, Some(0.5));
    let weighted = explained(Some(weight));
    assert_eq!(weighted.value, Some(1.0));
    let fall = weighted.importance[0].value.unwrap();
    assert!(
        (0.4..0.6).contains(&fall),
        "after shuffling, about half of the rows should be predicted correctly, but the accuracy fell from 1 by {fall}"
    );
}

#[test]
fn partial_dependence_on_numbers_is_the_mean_of_sigmoids() {
    let rows = 300;
    let explanation = explain_on_table(&noisy_model("f1"), &noisy_table(rows), &OPTIONS);
    let PartialDependence { values, probability, positive_share, part, .. } = dependence_on(&explanation, "x");
    let (ClassMeans::Positive(probability), ClassMeans::Positive(share)) = (probability, positive_share) else {
        panic!("with two classes there is one probability for each value")
    };
    assert_eq!((values.len(), probability.len(), share.len(), part.as_deref()), (20, 20, 20, None));
    for ((value, probability), share) in values.iter().zip(probability).zip(share) {
        let GridValue::Number(x) = value else { panic!("x is a number") };
        let logit = |row: u32| 4.0 * x + noise(row, 2);
        let mean = (0..rows).map(|row| 1.0 / (1.0 + (-logit(row)).exp())).sum::<f64>() / f64::from(rows);
        assert!((probability - mean).abs() < 1e-6, "the probability at x = {x} is {probability}, not {mean}");
        let positive = (0..rows).filter(|row| logit(*row) > 0.0).count() as f64 / f64::from(rows);
        assert!(
            (share - positive).abs() < 1e-9,
            "the share of positive decisions at x = {x} is {share}, not {positive}"
        );
    }
    let flat = dependence_on(&explanation, "unused");
    let ClassMeans::Positive(flat) = &flat.probability else {
        panic!("with two classes there is one probability for each value")
    };
    assert!(flat.iter().all(|probability| *probability == flat[0]));
}

#[test]
fn partial_dependence_lists_ordered_levels_in_their_order_and_other_levels_by_frequency() {
    let rows = 120;
    let levels = ["low", "high", "middle"].map(String::from).to_vec();
    let category = |name: &str| {
        let code = |row: u32| [0, 1, 1, 2, 2, 2][row as usize % 6];
        column(name, Values::Category(Category { codes: (0..rows).map(code).collect(), levels: levels.clone() }))
    };
    let input = |name: &str, coding: ColumnEncoding| InputColumn {
        column: name.into(),
        kind: ColumnKind::Category,
        lag: 0,
        part: None,
        coding,
    };
    let one_hot = ColumnEncoding::OneHot {
        levels: ["high", "low", "middle"].map(String::from).to_vec(),
        rest: false,
        indicator: false,
        scales: Vec::new(),
    };
    let ordinal = ColumnEncoding::Ordinal {
        levels: ["low", "middle", "high"].map(String::from).to_vec(),
        mean: 0.0,
        deviation: 1.0,
        indicator: false,
    };
    let inputs = vec![input("plain", one_hot), input("ordered", ordinal)];
    let model = linear_model(inputs, &[vec![1.0, -2.0, 0.5, 0.25]], &[0.0], "accuracy");
    let table =
        table(vec![category("plain"), category("ordered"), class_column(rows, 2, |row| u32::from(row % 6 > 0))]);
    let explanation = explain_on_table(&model, &table, &OPTIONS);
    let texts = |name: &str| -> Vec<String> {
        let text = |value: &GridValue| match value {
            GridValue::Text(text) => text.clone(),
            GridValue::Number(_) => panic!("levels are texts"),
        };
        dependence_on(&explanation, name).values.iter().map(text).collect()
    };
    assert_eq!(texts("plain"), ["middle", "high", "low"]);
    assert_eq!(texts("ordered"), ["low", "middle", "high"]);
    let ClassMeans::Positive(means) = &dependence_on(&explanation, "plain").probability else { panic!() };
    assert!(means[1] > means[0] && means[0] > means[2], "{means:?}");
}

#[test]
fn partial_dependence_on_a_time_column_varies_the_hour_if_the_hour_matters_most() {
    let rows = 400u32;
    let hours = |row: u32| i64::from(row * 7) * 3600;
    let knots = |count: u32| ColumnEncoding::Knots {
        knots: (0..count).map(f64::from).collect(),
        own: Vec::new(),
        median: 0.0,
        spread: 1.0,
        missing: false,
    };
    let input = |part: TimePart, count: u32| InputColumn {
        column: "time".into(),
        kind: ColumnKind::Time,
        lag: 0,
        part: Some(part),
        coding: knots(count),
    };
    let inputs = vec![input(TimePart::Weekday, 7), input(TimePart::Hour, 24)];
    // The logit rises with the hour and depends very little on the weekday.
    let model = linear_model(inputs, &[vec![0.01, 0.5]], &[-6.0], "accuracy");
    let time = column("time", Values::Time((0..rows).map(hours).collect()));
    let table = table(vec![time, class_column(rows, 2, |row| u32::from(row * 7 % 24 > 12))]);
    let explanation = explain_on_table(&model, &table, &OPTIONS);
    let dependence = dependence_on(&explanation, "time");
    assert_eq!(dependence.part.as_deref(), Some("hour"));
    let expected: Vec<GridValue> = (0..24).map(|hour| GridValue::Number(f64::from(hour))).collect();
    assert_eq!(dependence.values, expected);
    let ClassMeans::Positive(share) = &dependence.positive_share else { panic!() };
    assert_eq!((share[11], share[13]), (0.0, 1.0));
}

#[test]
fn partial_dependence_has_a_probability_and_a_share_for_each_of_three_classes() {
    let rows = 300;
    let model = linear_model(
        ["x", "z"].map(number_input).to_vec(),
        &[vec![-3.0, 0.0], vec![0.0, 0.0], vec![3.0, 0.0]],
        &[-1.0, 0.0, -1.0],
        "macro(f1)",
    );
    let class = |row: u32| if noise(row, 1) < -0.33 { 0 } else { u32::from(noise(row, 1) > 0.33) + 1 };
    let table = table(vec![
        number_column("x", rows, |row| noise(row, 1)),
        number_column("z", rows, |row| noise(row, 2)),
        class_column(rows, 3, class),
    ]);
    let explanation = explain_on_table(&model, &table, &OPTIONS);
    assert!(explanation.value > Some(0.98) && explanation.threshold.is_none());
    let (x, z) = (importance_of(&explanation, "x"), importance_of(&explanation, "z"));
    assert!(x.value > Some(0.5) && x.low > Some(0.5));
    assert_eq!(z.value, Some(0.0));
    let PartialDependence { values, probability, positive_share, .. } = dependence_on(&explanation, "x");
    let (ClassMeans::Classes(probability), ClassMeans::Classes(share)) = (probability, positive_share) else {
        panic!("with three classes there are three probabilities for each value")
    };
    assert_eq!((values.len(), probability.len(), share.len()), (20, 20, 20));
    assert!(probability.iter().chain(share).all(|row| row.len() == 3 && (row.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    assert_eq!((&share[0][..], &share[19][..]), (&[1.0, 0.0, 0.0][..], &[0.0, 0.0, 1.0][..]));
}

#[test]
fn rows_without_a_known_class_are_left_out_and_a_table_without_classes_is_refused() {
    let model = noisy_model("f1");
    let mut some_unknown = noisy_table(300);
    let Values::Category(category) = &mut some_unknown.columns[4].values else { panic!() };
    category.codes[..100].fill(Category::MISSING);
    let (rows, notes) = ExplainedRows::of_table(&model, &some_unknown).unwrap();
    assert_eq!((rows.len(), rows.is_empty()), (200, false));
    assert_eq!(notes[0].to_string(), "column `y`: 100 rows are left out: their target values are missing");

    let Values::Category(category) = &mut some_unknown.columns[4].values else { panic!() };
    category.codes.fill(Category::MISSING);
    let message = |table: &Table| ExplainedRows::of_table(&model, table).unwrap_err().to_string();
    assert!(
        message(&some_unknown)
            .starts_with("rows.csv, column `y`: no row has a class of the model, so there is no score to explain"),
        "{}",
        message(&some_unknown)
    );
    let mut without_target = noisy_table(10);
    without_target.columns.pop();
    assert!(
        message(&without_target).starts_with("rows.csv: has no column `y`, the target of the model"),
        "{}",
        message(&without_target)
    );
    let mut without_inputs = noisy_table(10);
    without_inputs.columns.drain(..2);
    assert!(message(&without_inputs).starts_with("rows.csv: has no columns `x`, `z`; the model needs them"));
}

#[test]
fn an_undefined_score_gives_null_in_json() {
    let mut no_events = noisy_table(100);
    no_events.columns[4] = class_column(100, 2, |_| 0);
    let explanation = explain_on_table(&noisy_model("recall"), &no_events, &OPTIONS);
    assert_eq!(explanation.value, None);
    assert!(explanation.importance.iter().all(|column| (column.value, column.low) == (None, None)));
    let json = serde_json::to_value(&explanation).unwrap();
    assert!(json["value"].is_null() && json["importance"][0]["value"].is_null());
    page(&Document::new(Provenance::default(), explanation.into())).unwrap();
}

#[test]
fn settings_out_of_range_are_refused_and_an_explanation_can_be_stopped() {
    let (model, table) = (noisy_model("f1"), noisy_table(50));
    let (rows, _) = ExplainedRows::of_table(&model, &table).unwrap();
    let go_on = |_: usize, _: usize| ControlFlow::Continue(());
    for options in [
        ExplainOptions { permutations: 0, ..OPTIONS },
        ExplainOptions { permutations: 1001, ..OPTIONS },
        ExplainOptions { rows: 0, ..OPTIONS },
        ExplainOptions { replicates: 0, ..OPTIONS },
    ] {
        assert!(explain(&model, &rows, &options, &go_on).unwrap_err().to_string().contains("must be"));
    }
    let steps = std::sync::Mutex::new(Vec::new());
    let count = |done: usize, all: usize| {
        steps.lock().unwrap().push((done, all));
        ControlFlow::Continue(())
    };
    assert!(explain(&model, &rows, &OPTIONS, &count).unwrap().is_some());
    let mut steps = steps.into_inner().unwrap();
    steps.sort_unstable();
    // Progress is reported in 18 steps: five permutations of each of three columns, then the partial dependence on each column.
    assert_eq!(steps, (1..=18).map(|done| (done, 18)).collect::<Vec<_>>());
    for last in [4, 16] {
        let stop = |done: usize, _: usize| if done < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        assert!(explain(&model, &rows, &OPTIONS, &stop).unwrap().is_none());
    }
}

#[test]
fn an_explanation_can_be_written_read_and_shown() {
    let explanation = explain_on_table(&noisy_model("f1"), &noisy_table(300), &OPTIONS);
    assert!(explanation.sentence().contains("f1 is 0.") && explanation.sentence().contains("on 300 rows"));
    let document = Document::new(Provenance::default(), explanation.clone().into());
    assert_eq!((document.kind, document.explanation()), (ResultKind::Explain, Some(&explanation)));
    assert_eq!(Document::read(&document.write()).unwrap(), document);
    let result_only = serde_json::to_string(&explanation).unwrap();
    assert_eq!(Document::read(&result_only).unwrap().result, document.result);
    let keys: Vec<String> = serde_json::to_value(&explanation).unwrap().as_object().unwrap().keys().cloned().collect();
    let stable = ["score", "threshold", "rows", "value", "permutations", "importance", "partial_dependence"];
    assert_eq!(keys[..7], stable);
    let names: Vec<String> = figures(&document).unwrap().into_iter().map(|figure| figure.name).collect();
    assert_eq!(names, ["importance", "dependence-1", "dependence-2", "dependence-3"]);
    let page = page(&document).unwrap();
    for text in [
        "<h1>x matters most for f1</h1>",
        "Which columns matter",
        "figure-dependence-3",
        "<th scope=\"row\">unused</th>",
    ] {
        assert!(page.contains(text), "the page lacks `{text}`");
    }
}

/// Trains a small network for f1 on a table. `test_share` is the share of test rows, `cross_fit` the number of folds for cross-fitting.
fn trained_on(table: &Table, test_share: f64, cross_fit: usize) -> Trained {
    let mut plan = Plan::new("y", "f1".parse().unwrap());
    plan.network_mut().unwrap().hidden = "8".parse().unwrap();
    plan.network_mut().unwrap().epochs = 40;
    plan.test = test_share;
    plan.cross_fit = cross_fit;
    let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
    train(table, None, &Reading::default(), &plan, &Cpu { threads: 1 }, &watch).unwrap()
}

#[test]
fn the_column_that_determines_the_target_matters_most_and_the_intervals_of_other_columns_contain_0() {
    let rows = 1500;
    let table = table(vec![
        number_column("first", rows, |row| noise(row, 11)),
        number_column("cause", rows, |row| noise(row, 12)),
        number_column("second", rows, |row| noise(row, 13)),
        number_column("third", rows, |row| noise(row, 14)),
        number_column("fourth", rows, |row| noise(row, 15)),
        class_column(rows, 2, |row| u32::from(noise(row, 12) > 0.2)),
    ]);
    let trained = trained_on(&table, 0.4, 0);
    let explained = ExplainedRows::of_training(&trained, &table);
    let test = trained.test.as_ref().unwrap();
    assert_eq!(explained.len(), test.labels.len());
    let go_on = |_: usize, _: usize| ControlFlow::Continue(());
    let explanation = explain(&trained.model, &explained, &ExplainOptions::default(), &go_on).unwrap().unwrap();
    assert_eq!(explanation.part, "test rows not used in training");
    assert_eq!(explanation.partial_dependence.len(), DEPENDENCE_COLUMNS);
    // The value of the explanation is the score without shuffling, so it must be the f1 of the predictions for the test rows.
    let decisions = test.probabilities.iter().map(|p| trained.model.decision.label(&[*p]));
    let pairs: Vec<(u32, u32)> = test.labels.iter().copied().zip(decisions).collect();
    let count = |pair: (u32, u32)| pairs.iter().filter(|other| **other == pair).count() as f64;
    let f1 = 2.0 * count((1, 1)) / (2.0 * count((1, 1)) + count((0, 1)) + count((1, 0)));
    assert!((explanation.value.unwrap() - f1).abs() < 1e-12);
    assert_eq!(explanation.importance[0].column, "cause");
    assert!(explanation.importance[0].low > Some(0.3), "{:?}", explanation.importance);
    for other in &explanation.importance[1..] {
        assert!(other.low <= Some(0.0) && other.high >= Some(0.0), "{other:?}");
    }
}

#[test]
fn a_model_without_test_rows_is_explained_on_its_validation_rows_and_the_description_says_so() {
    let table = noisy_table(200);
    let explained = |cross_fit: usize| {
        let trained = trained_on(&table, 0.0, cross_fit);
        let rows = ExplainedRows::of_training(&trained, &table);
        assert_eq!(rows.len(), trained.validation.labels.len());
        explain(&trained.model, &rows, &OPTIONS, &|_, _| ControlFlow::Continue(())).unwrap().unwrap()
    };
    let cross_fitted = explained(3);
    assert!(cross_fitted.part.starts_with("rows that members of the model were trained on"), "{}", cross_fitted.part);
    assert!(explained(0).part.starts_with("validation rows, which also decided when training stopped"));
}

#[test]
fn the_report_of_a_training_run_explains_a_slow_model_on_fewer_rows_and_a_very_slow_model_not_at_all() {
    let quick = ExplainOptions::for_report(&noisy_model("f1")).unwrap();
    assert_eq!((quick.rows, quick.permutations, quick.dependence_rows), (2000, 5, 300));
    let of_columns = |columns: usize, width: usize| {
        let inputs = (0..columns).map(|number| number_input(&format!("x{number}"))).collect();
        let mut model = linear_model(inputs, &[vec![0.0; columns]], &[0.0], "f1");
        let shape = NetworkShape::new(columns, &[width], 1).unwrap();
        model.members = vec![Member::Network(Network::glorot(shape, 1))];
        ExplainOptions::for_report(&model)
    };
    let slow = of_columns(100, 1000).unwrap();
    assert!(slow.rows < 2000 && slow.rows >= 200, "{slow:?}");
    assert!(of_columns(10_000, 100).is_none());
}
