//! Checks the figures and the page of a result with six rows, whose confusion matrices can be counted by hand.
//!
//! ```text
//! predictions 0.9 0.8 0.6 0.4 0.3 0.1        the rows with the predictions 0.9, 0.6 and 0.4 are events
//! ```
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use crate::picture_reader::{BLUE, FRAME, GREEN, INK, ReadPicture, VERMILLION, assert_points_close};
use scorewise_report::document::{
    Document, EpochRecord, ForecastCurves, ForecastEvaluation, MemberHistory, NetBenefitInterval, Optimum,
    PredictionBin, Provenance, ReferenceForecast, ScoreInterval, TheoryBound, TheoryReport, ThresholdPoint,
    TrainingHistory,
};
use scorewise_report::evaluation::{ComparedForecast, ComparisonSummary, Estimate, TuneSummary, TuningSummary};
use scorewise_report::{figures, page};
use serde_json::{Value, json};

/// Tolerance of positions in axis coordinates; positions in a picture are rounded.
const TOLERANCE: f64 = 1e-3;

/// The evaluation, at all thresholds, of the six rows that are listed in the documentation of this module.
fn six_row_forecast() -> ForecastEvaluation {
    // For each interval of thresholds between two predictions: its ends, and the cells tn, fp, fn, tp of the confusion matrix, counted by hand.
    let steps = [
        (0.0, 0.1, [0.0, 3.0, 0.0, 3.0]),
        (0.1, 0.3, [1.0, 2.0, 0.0, 3.0]),
        (0.3, 0.4, [2.0, 1.0, 0.0, 3.0]),
        (0.4, 0.6, [2.0, 1.0, 1.0, 2.0]),
        (0.6, 0.8, [2.0, 1.0, 2.0, 1.0]),
        (0.8, 0.9, [3.0, 0.0, 2.0, 1.0]),
        (0.9, 1.0, [3.0, 0.0, 3.0, 0.0]),
    ];
    let middle = |low: f64, high: f64| ((low + high) * 50.0_f64).round() / 100.0;
    let point =
        |(low, high, cells): (f64, f64, [f64; 4])| ThresholdPoint { threshold: middle(low, high), low, high, cells };
    let rows = [(0.9, true), (0.8, false), (0.6, true), (0.4, true), (0.3, false), (0.1, false)];
    let bin = |number: usize| {
        let (low, high) = (number as f64 / 10.0, (number + 1) as f64 / 10.0);
        let found = rows.iter().find(|(p, _)| (p * 10.0_f64).round() as usize == number);
        let count = |label: bool| f64::from(u8::from(found.is_some_and(|row| row.1 == label)));
        PredictionBin { low, high, mean: found.map(|row| row.0), positives: count(true), negatives: count(false) }
    };
    ForecastEvaluation {
        calibrated: None,
        part: "rows".into(),
        classes: ["calm".into(), "<storm>".into()],
        score: "f1".into(),
        threshold: 0.35,
        chosen: "best f1 on these rows".into(),
        source: "these rows".into(),
        rows: 6,
        is_weighted: false,
        interval: Some((0.3, 0.4)),
        spread: Some((0.2, 0.85)),
        prior: Some("cosine:0.5,0.2".into()),
        conditions: vec!["precision >= 0.7".into()],
        qualifying: None,
        points: steps.into_iter().map(point).collect(),
        bins: (0..10).map(bin).collect(),
        optima: vec![
            Optimum { score: "f1".into(), threshold: 0.35, value: 6.0 / 7.0, interval: (0.3, 0.4) },
            Optimum { score: "precision".into(), threshold: 0.85, value: 1.0, interval: (0.8, 0.9) },
        ],
        intervals: vec![ScoreInterval { score: "f1".into(), low: 0.4, high: 1.0 }],
        net_benefit: vec![
            NetBenefitInterval { threshold: 0.2, low: 0.1, high: 0.5 },
            NetBenefitInterval { threshold: 0.8, low: 0.0, high: 0.3 },
        ],
        reference_forecasts: vec![ReferenceForecast { name: "always yes".into(), cells: [0.0, 3.0, 0.0, 3.0] }],
        roc_area: Some(7.0 / 9.0),
        average_precision: Some(0.75),
    }
}

/// A result that contains the evaluation of the six rows, a made-up training history, and a made-up distribution of the score. Some of its texts
/// contain HTML.
fn six_row_document() -> Document {
    let epoch = |loss: f64| EpochRecord {
        training: loss,
        validation: loss + 0.1,
        coverage: Some(0.5),
        score: Some(0.9 - loss),
    };
    let member = |first: f64| MemberHistory {
        warm_up: vec![],
        epochs: vec![epoch(first), epoch(0.3)],
        kept: Some(1),
        end: "all epochs were run".into(),
        success: true,
        restarts: 0,
    };
    Document {
        forecast: Some(six_row_forecast()),
        training: Some(TrainingHistory {
            loss: "sol of f1".into(),
            score: Some("f1".into()),
            members: vec![member(0.5), member(0.7)],
        }),
        theory: Some(TheoryReport {
            score: "f1".into(),
            prior: "cosine:0.5,0.2".into(),
            expected: [2.0, 1.0, 1.0, 2.0],
            score_of_expectation: 2.0 / 3.0,
            expected_score: 0.65,
            jensen_gap: 0.65 - 2.0 / 3.0,
            deviation: 0.1,
            calibrated_threshold: Some(3.0 / 7.0),
            bounds: vec![TheoryBound { name: "E|s − s(E[CM])|".into(), exact: Some(0.1), bound: None }],
            distribution: vec![(0.4, 0.25), (2.0 / 3.0, 0.75), (6.0 / 7.0, 1.0)],
        }),
        ..Document::new(
            Provenance { command: "scorewise tune 'a <b>.csv'".into(), seed: Some(7), ..Provenance::default() },
            TuneSummary::Binary(Box::new(TuningSummary {
                score: "f1".into(),
                subject_to: Some(vec!["</script><script>alert(1)</script>".into()]),
                ..TuningSummary::default()
            }))
            .into(),
        )
    }
}

/// Draws the figure with this name and reads it back from its picture.
fn read_figure(name: &str) -> ReadPicture {
    let found = figures(&six_row_document()).unwrap().into_iter().find(|figure| figure.name == name);
    ReadPicture::new(&found.unwrap().picture)
}

#[test]
fn roc_precision_recall_and_performance_diagrams_match_hand_counts() {
    let thirds = |x: f64| x / 3.0;
    let roc = [(3.0, 3.0), (2.0, 3.0), (1.0, 3.0), (1.0, 2.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
    let drawing = read_figure("roc");
    // Lines are simplified, so points in the middle of a straight part are missing and only the corners are compared.
    let corners = [roc[0], roc[2], roc[4], roc[5], roc[6]].map(|(x, y)| (thirds(x), thirds(y)));
    assert_points_close(&drawing.lines(0, BLUE)[0], &corners, TOLERANCE);
    assert!(drawing.has_text("forecast (area 0.778)"));
    // At threshold 0.35, recall is 3/3, precision 3/4 and the false-alarm rate 1/3.
    assert_points_close(&drawing.dots(0, INK), &[(1.0 / 3.0, 1.0)], TOLERANCE);
    let precision = [3.0 / 6.0, 3.0 / 5.0, 3.0 / 4.0, 2.0 / 3.0, 1.0 / 2.0, 1.0];
    let recall = [1.0, 1.0, 1.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0];
    let line = read_figure("precision-recall").lines(0, BLUE).remove(0);
    for at in [2, 3, 4, 5] {
        let near = line.iter().any(|(x, y)| (x - recall[at]).abs() < 2e-3 && (y - precision[at]).abs() < 2e-3);
        assert!(near, "{at}: {line:?}");
    }
    assert!(read_figure("precision-recall").has_text("base rate 0.500"));
    assert_points_close(&read_figure("performance").dots(0, INK), &[(3.0 / 4.0, 1.0)], TOLERANCE);
}

#[test]
fn scores_are_step_functions_and_infeasible_thresholds_are_hatched() {
    let drawing = read_figure("scores");
    // f1 = 2tp/(2tp + fp + fn) at increasing thresholds: 6/9, 6/8, 6/7, 4/6, 2/5, 2/4, 0/3.
    let f1 = [6.0 / 9.0, 6.0 / 8.0, 6.0 / 7.0, 4.0 / 6.0, 2.0 / 5.0, 2.0 / 4.0, 0.0];
    let edges = [0.0, 0.1, 0.3, 0.4, 0.6, 0.8, 0.9, 1.0];
    let steps: Vec<(f64, f64)> = (0..7).flat_map(|k| [(edges[k], f1[k]), (edges[k + 1], f1[k])]).collect();
    assert_points_close(&drawing.lines(0, BLUE)[0], &steps, 2e-3);
    // Precision is at least 0.7, as the condition requires, at thresholds from 0.3 to 0.4 and from 0.8 to 0.9. Above 0.9 it is undefined.
    let diagonal_lines =
        drawing.lines(0, FRAME).into_iter().filter(|line| line[0].0 != line[1].0 && line[0].1 != line[1].1);
    let hatched: Vec<f64> = diagonal_lines.flatten().map(|(x, _)| x).collect();
    assert!(hatched.len() > 40);
    let is_feasible = |x: &f64| (0.302..0.398).contains(x) || (0.802..0.898).contains(x);
    assert!(!hatched.iter().any(is_feasible), "thresholds at which the condition is met must not be hatched");
}

#[test]
fn net_benefit_and_reliability_match_hand_counts() {
    let drawing = read_figure("decision");
    // Net benefit is tp/6 − fp/6 · p/(1 − p) at each threshold; "always yes" has three hits and three false alarms.
    let benefit = |tp: f64, fp: f64, p: f64| tp / 6.0 - fp / 6.0 * p / (1.0 - p);
    let line = &drawing.lines(0, BLUE)[0];
    assert!(line.iter().any(|(x, y)| (x - 0.35).abs() < 2e-3 && (y - benefit(3.0, 1.0, 0.35)).abs() < 2e-3));
    assert_points_close(&drawing.lines(0, VERMILLION)[0][..1], &[(0.05, benefit(3.0, 3.0, 0.05))], 2e-3);
    assert_points_close(&drawing.lines(0, GREEN)[0], &[(0.05, 0.0), (0.95, 0.0)], 2e-3);

    assert!(drawing.has_text("95 % interval"));

    // No bin has more than one row, so the observed frequency of every bin is 0 or 1.
    let found = figures(&six_row_document()).unwrap().into_iter().find(|figure| figure.name == "reliability").unwrap();
    let dots = ReadPicture::with_nonlinear_y(&found.picture, 1, f64::log10, |power| 10f64.powf(power)).dots(0, BLUE);
    let expected = [(0.1, 0.0), (0.3, 0.0), (0.4, 1.0), (0.6, 1.0), (0.8, 0.0), (0.9, 1.0)];
    assert_points_close(&dots, &expected, 2e-3);
}

#[test]
fn training_curves_and_score_distribution_show_the_values_of_the_document() {
    let drawing = read_figure("training");
    // The line is the median of two members, whose losses are 0.5 and 0.7 in the first epoch and both 0.3 in the second.
    assert_points_close(&drawing.lines(0, BLUE)[0], &[(1.0, 0.6), (2.0, 0.3)], 4e-3);
    assert_points_close(&drawing.lines(0, VERMILLION)[0], &[(1.0, 0.7), (2.0, 0.4)], 4e-3);
    let distribution = read_figure("law");
    let steps = distribution.lines(0, BLUE).remove(0);
    for corner in [(0.4, 0.25), (2.0 / 3.0, 0.75), (6.0 / 7.0, 1.0)] {
        assert!(steps.iter().any(|(x, y)| (x - corner.0).abs() < 2e-3 && (y - corner.1).abs() < 4e-3), "{corner:?}");
    }
}

#[test]
fn the_page_and_the_figures_of_a_comparison_show_both_forecasts() {
    let points = six_row_forecast().points;
    let comparison = ForecastCurves {
        score: "f1".into(),
        names: ["new".into(), "old".into()],
        thresholds: [Some(0.35), Some(0.35)],
        areas: [Some(7.0 / 9.0), None],
        points: [points.clone(), points],
        verdict: "By f1 (higher is better), these rows do not show which forecast is better.".into(),
        difference: Some(0.0),
        interval: Some((-0.1, 0.1)),
        differences: vec![-0.1, 0.0, 0.1],
    };
    let forecast = |name: &str, value: Option<f64>| ComparedForecast {
        name: name.into(),
        threshold: None,
        value,
        low: None,
        high: None,
        better: 0.0,
    };
    let summary = ComparisonSummary {
        probabilities: None,
        score: "f1".into(),
        rows: 6,
        positives: 3,
        first: forecast("new", Some(0.5)),
        second: forecast("old", None),
        difference: Estimate::default(),
        better: None,
        temporal: None,
        replicates: 3,
        seed: 0,
    };
    let document = Document { comparison: Some(comparison), ..Document::new(Provenance::default(), summary.into()) };
    let names: Vec<String> = figures(&document).unwrap().into_iter().map(|figure| figure.name).collect();
    assert_eq!(names, ["scores", "roc", "difference"]);
    let page = page(&document).unwrap();
    assert!(page.contains("new (area 0.778)"));
    assert!(page.contains("<h1>By f1 (higher is better), these rows do not show which forecast is better</h1>"));
}

/// The lookup table that is embedded in a page, parsed as JSON.
fn embedded_table(page: &str) -> Value {
    let start = page.find("id=\"table\">").unwrap() + "id=\"table\">".len();
    serde_json::from_str(&page[start..start + page[start..].find("</script>").unwrap()]).unwrap()
}

#[test]
fn a_range_of_thresholds_includes_1_only_if_no_prediction_is_1() {
    let ranges = |highest: f64| {
        let mut document = six_row_document();
        let forecast = document.forecast.as_mut().unwrap();
        let count = forecast.points.len();
        forecast.points[count - 2].high = highest;
        forecast.points[count - 1].low = highest;
        embedded_table(&page(&document).unwrap())["same"].as_array().unwrap()[count - 2..].to_vec()
    };
    assert_eq!(ranges(0.9), ["0.8 up to but not including 0.9", "0.9 to 1"]);
    assert_eq!(ranges(1.0), ["0.8 up to but not including 1", "1 to 1"]);
    // The page does not know whether any of the rows on which the threshold was chosen has a prediction of 1, so it excludes 1 from the interval.
    let mut document = six_row_document();
    document.forecast.as_mut().unwrap().interval = Some((0.8, 1.0));
    let page = page(&document).unwrap();
    assert!(page.contains("every threshold from 0.8 up to but not including 1 gives the same score"));
}

#[test]
fn the_page_shows_the_threshold_its_costs_and_its_uncertainty() {
    let page = page(&six_row_document()).unwrap();
    for expected in [
        "<h1>Predict yes above 0.35</h1>",
        "<b>f1</b> is <b>0.857</b> (95\u{a0}% interval 0.4 to 1), on 6 rows",
        "On these rows, every threshold from 0.3 up to but not including 0.4 gives the same score",
        "In 95\u{a0}% of bootstrap replicates of these rows, the best threshold lies between <b>0.2</b> and <b>0.85</b>",
        "<span class=\"big\">0</span> of 3 events (&lt;storm&gt;) are missed (0\u{a0}%)",
        "<span class=\"big\">1</span> of 4 alarms are false (25\u{a0}%)",
        "Alarms per event: 1.33.",
        "<code>precision &gt;= 0.7</code>",
        "<b data-cell=\"tp\">3</b>",
        "<td data-score=\"f1\">0.857143</td>",
        "The conditions are met.",
        "-0.016667", // the Jensen gap, 0.65 − 2/3
        "scorewise tune &#39;a &lt;b&gt;.csv&#39;",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    let table = embedded_table(&page);
    assert_eq!(table["chosen"], 2);
    assert_eq!(table["scores"][0]["name"], "f1");
    assert_eq!(table["scores"][0]["values"], json!([0.666667, 0.75, 0.857143, 0.666667, 0.4, 0.5, 0]));
    assert_eq!(table["feasible"], json!([0, 0, 1, 0, 0, 1, 0]));
    let precision = table["scores"].as_array().unwrap().iter().find(|score| score["name"] == "precision").unwrap();
    assert_eq!((precision["values"][6].clone(), precision["best"].clone()), (Value::Null, json!(5)));
}

#[test]
fn the_page_shows_the_number_and_the_total_weight_of_weighted_rows() {
    let mut document = six_row_document();
    let forecast = document.forecast.as_mut().unwrap();
    forecast.is_weighted = true;
    forecast.points[2].cells = [1.0, 0.25, 0.0, 1.5];
    let page = page(&document).unwrap();
    assert!(page.contains("on 6 rows (total weight 2.75)."), "{page}");
    assert!(page.contains("<span class=\"big\">0.25</span> of 1.75 alarms are false (14\u{a0}%)"));
}

#[test]
fn user_text_cannot_inject_markup_into_the_page() {
    let page = page(&six_row_document()).unwrap();
    assert!(!page.contains("<storm>") && page.contains("&lt;storm&gt;"));
    assert!(!page.contains("<script>alert") && !page.contains("</script><script>"));
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, 3, "the page has three scripts: the result, the table, and its own code");
}

#[test]
fn a_document_can_be_written_and_read_back() {
    let document = six_row_document();
    assert_eq!(Document::read(&document.write()).unwrap(), document);
    let error = Document::read("{\"a\": 1}").unwrap_err().to_string();
    assert_eq!(error, "the document is not a result of scorewise");
}

#[test]
fn a_multiclass_page_has_a_confusion_matrix_and_no_threshold() {
    let part = |value: f64, matrix: Value| {
        json!({ "rows": 9, "classes": ["low", "mid", "<high>"], "confusion": matrix,
                "scores": { "macro(f1)": { "value": value }, "mcc": { "value": null } } })
    };
    let matrix = json!([[3, 0, 0], [1, 2, 0], [0, 0, 3]]);
    let result = json!({ "model": "m", "decision": { "rule": "greatest" }, "target": "kind", "seed": 0,
                         "train": part(0.9, matrix.clone()), "validation": part(0.8, matrix.clone()), "test": part(0.75, matrix) });
    let page = page(&Document::read(&result.to_string()).unwrap()).unwrap();
    for expected in [
        "<h1>macro(f1) is 0.75 on 9 test rows not used in training</h1>",
        "<th scope=\"row\">macro(f1)</th><td>0.9</td><td>0.8</td><td>0.75</td>",
        "<th scope=\"row\">mcc</th><td>undefined</td>",
        "<th scope=\"row\">mid</th><td class=\"wrong\"><b>1</b></td><td class=\"right\"><b>2</b></td><td class=\"none\"><b>0</b></td>",
        "forecast &lt;high&gt;",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("id=\"threshold\""));
}
