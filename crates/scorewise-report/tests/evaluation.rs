//! Evaluates six rows whose confusion matrices can be counted by hand, and writes and reads the results as JSON.
//!
//! ```text
//! predictions 0.9 0.8 0.6 0.4 0.3 0.1        the rows with the predictions 0.9, 0.6 and 0.4 are events
//! ```
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use std::ops::ControlFlow;

use scorewise::sweep::{Bootstrap, Condition, Resampling, sweep};
use scorewise::{Confusion, Prior, Probabilities, Rows, Score};
use scorewise_report::document::{CommandResult, Document, Provenance, ResultKind};
use scorewise_report::evaluation::{
    BestThreshold, ClassSummary, ComparedThresholds, CountRows, CountSummary, Estimate, Evaluation, FoldSummary,
    ForecastComparison, ForecastOptions, ForecastPair, ModelThreshold, ScoreSummary, TheorySummary, TrainSummary,
    TrainingRun, TuneSummary, Tuning, TuningOptions, TuningSummary, common_class_scores, count_series, evaluate_folds,
    evaluate_model, evaluation_bootstrap, evaluation_sweep, forecast, model_data, model_document,
    net_benefit_intervals, no_best_threshold, registered_scores, tune_classes, undefined_everywhere, unmet_conditions,
};
use scorewise_report::page;
use scorewise_table::groups::Groups;
use scorewise_table::split::CrossValidation;
use scorewise_table::table::{Category, Column, Reading, Table, Values};
use scorewise_train::backend::Cpu;
use scorewise_train::plan::{Plan, multi_score};
use scorewise_train::train::{Trained, cross_validate, train};

/// The predicted probability of each of the six rows.
const PREDICTIONS: [f64; 6] = [0.9, 0.8, 0.6, 0.4, 0.3, 0.1];
/// Whether each of the six rows is an event.
const LABELS: [bool; 6] = [true, false, true, true, false, false];
/// The bootstrap of most tests, with few replicates for speed.
const BOOTSTRAP: Bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 200, seed: 7 };

/// The six rows without weights.
fn six_rows() -> Rows<'static, Probabilities<'static, f64>> {
    Rows::new(Probabilities(&PREDICTIONS), &LABELS).unwrap()
}

fn f1_score() -> Score {
    Score::parse("f1").unwrap()
}

fn parse_conditions(text: &str) -> Vec<Condition> {
    Condition::parse(text).unwrap()
}

/// The search of the best threshold for f1 on the six rows, without conditions and without smoothing.
fn f1_tuning() -> Tuning {
    Tuning::new(&six_rows(), &tuning_options(&f1_score(), &[], None)).unwrap().unwrap()
}

/// Settings for the search of the best threshold, with [`BOOTSTRAP`].
fn tuning_options<'a>(score: &'a Score, conditions: &'a [Condition], smooth: Option<f64>) -> TuningOptions<'a> {
    TuningOptions { score, conditions, smooth, bootstrap: &BOOTSTRAP }
}

/// Checks that a result is unchanged after it was written as JSON and read again, both inside a document and alone.
fn assert_round_trip(result: impl Into<CommandResult>, kind: ResultKind) {
    let document = Document::new(Provenance::default(), result.into());
    assert_eq!(document.kind, kind);
    assert_eq!(Document::read(&document.write()).unwrap(), document);
    let result_only = serde_json::to_string(&document.result).unwrap();
    assert_eq!(Document::read(&result_only).unwrap().result, document.result);
}

#[test]
fn scores_at_a_threshold_have_values_and_intervals() {
    let summary =
        ScoreSummary::new(&six_rows(), 0.35, &[f1_score(), Score::parse("precision").unwrap()], &BOOTSTRAP).unwrap();
    assert_eq!((summary.rows, summary.positives), (6, 3));
    assert_eq!(summary.confusion.array(), [2.0, 1.0, 0.0, 3.0]);
    assert_eq!(summary.scores[0].estimate.value, Some(6.0 / 7.0));
    assert_eq!(summary.scores[1].estimate.value, Some(3.0 / 4.0));
    let intervals = summary.intervals();
    assert!(intervals.iter().all(|interval| interval.low < interval.high && interval.high <= 1.0));
    // Above the highest prediction no row is predicted positive, so precision is undefined.
    let none = ScoreSummary::new(&six_rows(), 0.95, &[Score::parse("precision").unwrap()], &BOOTSTRAP).unwrap();
    assert_eq!(none.scores[0].estimate, Estimate::default());
    assert!(none.intervals().is_empty());
    assert_round_trip(Evaluation::Binary(summary.with_bootstrap(&BOOTSTRAP)), ResultKind::Score);
}

#[test]
fn confusion_matrices_are_summed_and_scored_by_group_and_over_time() {
    let matrices = vec![
        Confusion::new(90.0, 4.0, 1.0, 5.0),
        Confusion::new(80.0, 12.0, 2.0, 6.0),
        Confusion::new(70.5, 3.0, 4.0, 2.5),
    ];
    let rows = CountRows { matrices, steps: Some(vec![1, 0, 1]), groups: None };
    let (csi, by) =
        (Score::parse("csi").unwrap(), Groups { codes: vec![0, 1, 0], names: vec![Some("a".into()), None] });
    let summary = CountSummary::new(&rows, Some(("station", &by)), std::slice::from_ref(&csi), &BOOTSTRAP).unwrap();
    assert_eq!((summary.all.rows, summary.all.forecasts, summary.all.positives), (3, 280.0, 20.5));
    assert_eq!(summary.all.confusion.array(), [240.5, 19.0, 7.0, 13.5]);
    assert_eq!(summary.all.scores[0].estimate.value, Some(13.5 / 39.5));
    assert_eq!(summary.groups[0].result.scores[0].estimate.value, Some(7.5 / 19.5));
    assert_eq!((&summary.groups[1].group, summary.groups[1].result.rows), (&None, 1));
    let series = count_series(&rows, None, &csi, &BOOTSTRAP).unwrap();
    // The second row is the first in time, and the other two have the same time.
    let values: Vec<(usize, Option<f64>)> = series.points.iter().map(|point| (point.step, point.value)).collect();
    assert_eq!(values, [(1, Some(6.0 / 20.0)), (2, Some(13.5 / 39.5))]);
    assert_eq!(series.steps, [Some(6.0 / 20.0), Some(7.5 / 19.5)]);
    let interval = summary.all.scores[0].estimate.interval();
    assert_eq!(series.points[1].low.zip(series.points[1].high), interval);
    let json = serde_json::to_value(&summary).unwrap();
    let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
    for key in
        ["rows", "forecasts", "positives", "confusion", "scores", "resampled", "by", "groups", "replicates", "seed"]
    {
        assert!(keys.contains(&key), "{key}");
    }
    assert_eq!((&json["groups"][0]["group"], &json["groups"][1]["group"]), (&"a".into(), &serde_json::Value::Null));
    assert_round_trip(summary, ResultKind::Score);
}

#[test]
fn the_best_threshold_is_found_exactly_and_has_bootstrap_intervals() {
    let tuning = f1_tuning();
    assert_eq!(tuning.best.interval, (0.3, 0.4));
    let model = ModelThreshold { threshold: 0.5, value: Some(2.0 / 3.0) };
    let summary = tuning.summary(&tuning_options(&f1_score(), &[], None), Some(model));
    assert_eq!(summary.value, Some(6.0 / 7.0));
    let bootstrap = summary.bootstrap.clone().unwrap();
    let (low, high) = bootstrap.threshold_interval().unwrap();
    assert!(low <= 0.3 && high >= 0.4 && bootstrap.value_interval().is_some());
    let best = BestThreshold::new(&f1_score(), &[], &tuning.best);
    assert_eq!((Some(best.threshold), Some(best.value)), (summary.threshold, summary.value));
    assert_round_trip(TuneSummary::Binary(Box::new(summary)), ResultKind::Tune);
}

#[test]
fn the_smoothed_threshold_is_proposed_and_the_page_also_shows_the_best_threshold_without_smoothing() {
    let (score, conditions) = (f1_score(), []);
    let options = tuning_options(&score, &conditions, Some(0.2));
    let tuning = Tuning::new(&six_rows(), &options).unwrap().unwrap();
    assert_eq!(tuning.best, f1_tuning().best);
    assert_eq!(tuning.distribution, f1_tuning().distribution);
    let smooth = tuning.smooth.clone().unwrap();
    let found = tuning.sweep.smooth_best(&score, 0.2).unwrap().unwrap();
    assert_eq!((smooth.threshold, smooth.expected_value), (Some(found.threshold), Some(found.expected_value)));
    assert_eq!((smooth.value, smooth.confusion), (found.value, Some(found.confusion)));
    assert_eq!(tuning.proposed_threshold(), found.threshold);
    let (low, high) = smooth.bootstrap.as_ref().unwrap().threshold_interval().unwrap();
    assert!(low < found.threshold && found.threshold < high, "{low}, {found:?}, {high}");

    let summary = tuning.summary(&options, None);
    assert_eq!((summary.threshold, summary.proposed_threshold()), (Some(tuning.best.threshold), smooth.threshold));
    assert_round_trip(TuneSummary::Binary(Box::new(summary.clone())), ResultKind::Tune);
    let mut forecast_options = ForecastOptions { score: &score, ..ForecastOptions::default() };
    forecast_options.set_tuned(&tuning);
    let mut document = Document::new(Provenance::default(), TuneSummary::Binary(Box::new(summary)).into());
    let heading = format!("Predict yes above {:.3}", found.threshold);
    assert!(page(&document).unwrap().contains(heading.trim_end_matches('0')), "{heading}");
    document.forecast = Some(forecast(&tuning.sweep, &forecast_options));
    let page = page(&document).unwrap();
    for text in [
        "Best f1 on these rows, averaged over nearby thresholds.",
        "the smoothed threshold lies between",
        "Without smoothing, the best threshold of these rows is <b>0.35</b>, where f1 is 0.857",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(
        !page.contains("every threshold from"),
        "the page must not list equally good thresholds, because it proposes the smoothed threshold"
    );
}

#[test]
fn the_message_about_unmet_conditions_names_the_condition_that_cannot_be_met() {
    let sweep = sweep(&six_rows()).unwrap();
    let far = parse_conditions("precision >= 1.1");
    assert!(Tuning::new(&six_rows(), &tuning_options(&f1_score(), &far, None)).unwrap().is_err());
    let sentence = unmet_conditions(&sweep, &f1_score(), &far).unwrap();
    assert_eq!(sentence, "no threshold satisfies `precision >= 1.1`; threshold 0.85 comes nearest, with precision = 1");
    assert_eq!(no_best_threshold(&sweep, &f1_score(), &far), sentence);
    let both = [parse_conditions("precision >= 0.9"), parse_conditions("recall >= 0.9")].concat();
    assert!(
        unmet_conditions(&sweep, &f1_score(), &both)
            .unwrap()
            .ends_with("together; each condition alone can be satisfied")
    );
    assert_round_trip(
        TuneSummary::Binary(Box::new(TuningSummary { score: "f1".into(), ..TuningSummary::default() })),
        ResultKind::Tune,
    );
}

#[test]
fn tss_is_undefined_at_every_threshold_when_no_row_is_positive() {
    let rows = Rows::new(Probabilities(&PREDICTIONS), &[false; 6]).unwrap();
    let (sweep, tss) = (sweep(&rows).unwrap(), Score::parse("tss").unwrap());
    assert_eq!(unmet_conditions(&sweep, &tss, &[]), None);
    let error = undefined_everywhere("p.csv", &sweep, &tss).to_string();
    assert!(error.starts_with("p.csv: no row is positive, and `tss` is undefined at every threshold"), "{error}");
}

#[test]
fn each_class_has_a_best_threshold_against_all_other_classes() {
    let classes = ["calm", "storm", "flood"].map(String::from);
    let labels = [1, 0, 1, 1, 0, 2];
    let flood = vec![0.0, 0.1, 0.0, 0.2, 0.3, 0.9];
    let calm = PREDICTIONS.iter().map(|p| 1.0 - p).collect();
    let probabilities = [calm, PREDICTIONS.to_vec(), flood];
    let tuned =
        tune_classes(&classes, &labels, &probabilities, None, &tuning_options(&f1_score(), &[], Some(0.1))).unwrap();
    let rows: Vec<usize> = tuned.classes.iter().map(|class| class.rows).collect();
    assert_eq!(rows, [2, 3, 1]);
    assert_eq!(tuned.classes[1].value, Some(6.0 / 7.0));
    assert_eq!((tuned.classes[2].value, tuned.classes[2].interval), (Some(1.0), Some((0.3, 0.9))));
    let flood = tuned.classes[2].smooth.as_ref().unwrap();
    assert_eq!((flood.value, flood.confusion), (Some(1.0), tuned.classes[2].confusion));
    assert!((0.3..0.9).contains(&flood.threshold.unwrap()) && flood.bootstrap.is_some());
    let document = Document::new(Provenance::default(), TuneSummary::Classes(tuned).into());
    let read = Document::read(&document.write()).unwrap();
    assert!(page(&read).unwrap().contains("<h1>The best threshold of each class by f1</h1>"));
    // The JSON that `tune --json` prints is recognised as well, although it has no threshold at the top level.
    let result_only = serde_json::to_string(&document.result).unwrap();
    assert_eq!(Document::read(&result_only).unwrap(), read);
}

#[test]
fn decisions_between_three_classes_are_counted_in_a_confusion_matrix() {
    let classes = ["calm", "storm", "flood"].map(String::from);
    let scores = common_class_scores(multi_score("macro(f1)").unwrap()).unwrap();
    let summary = ClassSummary::new(&classes, &[0, 0, 1, 2], &[0, 1, 1, 2], None, &scores).unwrap();
    assert_eq!(summary.confusion, [[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let names: Vec<&str> = summary.scores.iter().map(|score| score.name.as_str()).collect();
    assert_eq!(names, ["macro(f1)", "accuracy", "macro(recall)", "mcc", "hss", "peirce"]);
    // The F1 scores of the three classes are 2/3, 2/3 and 1.
    let macro_f1 = summary.scores[0].estimate.value.unwrap();
    assert!((macro_f1 - 7.0 / 9.0).abs() < 1e-15, "{macro_f1}");
    assert_round_trip(Evaluation::Classes(summary), ResultKind::Score);
}

#[test]
fn a_forecast_is_not_better_than_itself_but_better_than_its_opposite() {
    let opposite = PREDICTIONS.map(|p| 1.0 - p);
    let compare = |second: &[f64], at| {
        let names = ["new".to_string(), "old".to_string()];
        let pair = ForecastPair { names, forecasts: [&PREDICTIONS, second], labels: &LABELS, weights: None };
        ForecastComparison::new(pair, &f1_score(), at, None, &BOOTSTRAP, true).unwrap()
    };
    let same = compare(&PREDICTIONS, ComparedThresholds::Given([0.35, 0.35]));
    assert_eq!((same.difference(), same.index_of_better(), same.shares()), (Some(0.0), None, [0.0, 0.0]));
    assert_eq!(same.verdict(), "By f1 (higher is better), these rows do not show which forecast is better.");
    let other = compare(&opposite, ComparedThresholds::Best);
    assert_eq!(other.values[0], Some(6.0 / 7.0));
    assert!(other.shares()[0] > 0.5, "{:?}", other.shares());
    assert!(other.page().points.iter().all(|points| points.len() >= 7));
    assert_round_trip(other.summary(), ResultKind::Compare);
}

#[test]
fn theory_results_can_be_written_and_read_back() {
    let summary = TheorySummary::new(&f1_score(), &Prior::uniform(), &six_rows()).unwrap();
    assert!((summary.jensen_gap - (summary.expected_score - summary.score_of_expectation)).abs() < 1e-15);
    assert_round_trip(summary, ResultKind::Theory);
}

#[test]
fn more_than_50_scores_are_registered() {
    assert!(registered_scores().count() > 50);
}

/// A table of 120 rows. The column `y` is the class, the integer part of `x` is the number of the class, and `z` is noise.
fn table_with_classes(classes: u32) -> Table {
    let noise = |row: u32| f64::from((row * 37) % 23) / 23.0;
    let x: Vec<f64> = (0..120).map(|row| f64::from(row % classes) + noise(row)).collect();
    let columns = [
        ("x", Values::Number(x)),
        ("z", Values::Number((0..120).map(|row| noise(row * 5 + 1)).collect())),
        (
            "y",
            Values::Category(Category {
                codes: (0..120).map(|row| row % classes).collect(),
                levels: (0..classes).map(|class| format!("class {class}")).collect(),
            }),
        ),
    ];
    let columns = columns.map(|(name, values)| Column { name: name.into(), values }).to_vec();
    Table { file: "rows.csv".into(), columns, ..Table::default() }
}

/// A plan for a small network that is trained for three epochs.
fn small_plan(score: &str) -> Plan {
    let mut plan = Plan::new("y", score.parse().unwrap());
    plan.network_mut().unwrap().hidden = "4".parse().unwrap();
    plan.network_mut().unwrap().epochs = 3;
    plan
}

/// Trains a model on one thread, without progress messages.
fn train_on_one_thread(table: &Table, plan: &Plan) -> Trained {
    let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
    train(table, None, &Reading::default(), plan, &Cpu { threads: 1 }, &watch).unwrap()
}

#[test]
fn the_report_of_a_model_shows_its_test_rows_and_its_cross_validation() {
    let (table, plan) = (table_with_classes(2), small_plan("f1"));
    let trained = train_on_one_thread(&table, &plan);
    let bootstrap = evaluation_bootstrap(&plan, 50);
    let evaluation = evaluate_model(&trained, &plan, &bootstrap).unwrap();
    let test = evaluation.test.as_ref().unwrap();
    assert_eq!(test.rows() + evaluation.train.rows() + evaluation.validation.rows(), 120);
    assert_eq!(test.value("f1"), test.scores()[0].estimate.value);
    let folds = CrossValidation { folds: 2, repeats: 1, validation: plan.validation };
    let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
    let (folds, _) = cross_validate(&table, &plan, &folds, &Cpu { threads: 1 }, &watch).unwrap();
    let folds = folds.unwrap();
    let folds = evaluate_folds(&folds, &plan, &bootstrap).unwrap();
    let values: Vec<f64> = folds.each.iter().filter_map(FoldSummary::value).collect();
    assert_eq!(folds.each.iter().map(|fold| fold.test.rows()).sum::<usize>(), 120);
    assert!((folds.mean.unwrap() - (values[0] + values[1]) / 2.0).abs() < 1e-15);
    let run = TrainingRun { model: "m.scorewise".into(), seconds: 1.5, notes: vec!["a note".into()] };
    let summary = TrainSummary::new(&trained, &evaluation, Some(folds), run);
    assert_round_trip(summary.clone(), ResultKind::Train);
    let swept = evaluation_sweep(&trained).unwrap();
    let data = model_data(&table.file, table.rows(), &trained.model);
    assert_eq!(data.fingerprint, scorewise_train::model::Fingerprint::of(&table).hex());
    let provenance = Provenance { data: vec![data], ..Provenance::default() };
    let document =
        model_document(&trained, &plan, &evaluation, summary, swept.as_ref(), &bootstrap, provenance).unwrap();
    let forecast = document.forecast.as_ref().unwrap();
    assert_eq!((forecast.rows, Some(forecast.threshold)), (test.rows(), trained.model.decision.threshold()));
    assert!(forecast.spread.is_some() && document.theory.is_some());
    let page = page(&document).unwrap();
    assert!(page.contains("Cross-validation") && page.contains("m.scorewise"));
    assert_eq!(Document::read(&document.write()).unwrap(), document);
}

#[test]
fn a_model_of_three_classes_has_a_confusion_matrix_but_no_threshold_sweep() {
    let (table, plan) = (table_with_classes(3), small_plan("macro(f1)"));
    let trained = train_on_one_thread(&table, &plan);
    let bootstrap = evaluation_bootstrap(&plan, 50);
    let evaluation = evaluate_model(&trained, &plan, &bootstrap).unwrap();
    assert!(evaluation_sweep(&trained).unwrap().is_none());
    assert!(matches!(&evaluation.validation, Evaluation::Classes(summary) if summary.confusion.len() == 3));
    let summary = TrainSummary::new(&trained, &evaluation, None, TrainingRun::default());
    let document =
        model_document(&trained, &plan, &evaluation, summary, None, &bootstrap, Provenance::default()).unwrap();
    assert!(document.forecast.is_none() && document.training.is_some());
    assert!(page(&document).unwrap().contains("forecast class 2"));
}

#[test]
fn the_net_benefit_lies_in_its_interval_which_is_wider_if_rows_of_a_group_depend_on_each_other() {
    // Each of the six rows is repeated ten times, as a group.
    let predictions: Vec<f64> = PREDICTIONS.iter().flat_map(|p| [*p; 10]).collect();
    let labels: Vec<bool> = LABELS.iter().flat_map(|label| [*label; 10]).collect();
    let groups: Vec<u32> = (0..60).map(|row| row / 10).collect();
    let rows = Rows::new(Probabilities(&predictions), &labels).unwrap();
    let independent = net_benefit_intervals(&rows, &BOOTSTRAP).unwrap();
    let dependent = Bootstrap { resampling: Resampling::Groups(&groups), ..BOOTSTRAP };
    let grouped = net_benefit_intervals(&rows, &dependent).unwrap();
    assert_eq!((independent.len(), grouped.len()), (50, 50));
    let swept = sweep(&rows).unwrap();
    for (one, other) in independent.iter().zip(&grouped) {
        let score = Score::parse(&format!("net_benefit(threshold={})", one.threshold)).unwrap();
        let value = score.checked(&swept.at(one.threshold)).unwrap();
        assert!(one.low < value && value < one.high, "{one:?}, {value}");
        // Above the highest prediction there are no alarms in any group, so the groups do not differ.
        let are_alarms_possible = one.threshold < 0.9;
        assert_eq!(other.high - other.low > one.high - one.low, are_alarms_possible, "{one:?}, {other:?}");
    }
    assert!(independent.iter().all(|interval| interval.low < interval.high));
}
