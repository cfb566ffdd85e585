//! Draws scores by threshold, ROC, precision-recall and decision curves for four rows, and compares the drawn curves with hand calculations.
//!
//! The predictions are 0.2 (negative), 0.6 (positive), 0.7 (negative) and 0.9 (positive); a row is predicted positive above the threshold.
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use crate::picture_reader::{
    BLUE, FRAME, GREEN, INK, PlotPoint, ReadPicture, SKY, VERMILLION, assert_close, assert_points_close,
};
use scorewise_report::{
    DecisionCurve, Error, NamedLine, PrecisionRecall, Roc, ScoreCurves, figure_decision, figure_precision_recall,
    figure_roc, figure_scores,
};

/// A line through these points; y is defined at all of them.
fn named_line(name: &str, points: &[PlotPoint]) -> NamedLine {
    NamedLine { name: name.into(), points: points.iter().map(|(x, y)| (*x, Some(*y))).collect() }
}

/// TSS, that is recall minus false-alarm rate, at increasing thresholds: 1 − 1, 1 − ½, ½ − ½, ½ − 0, 0 − 0.
fn tss_points() -> Vec<PlotPoint> {
    let levels = [(0.0, 0.2, 0.0), (0.2, 0.6, 0.5), (0.6, 0.7, 0.0), (0.7, 0.9, 0.5), (0.9, 1.0, 0.0)];
    levels.into_iter().flat_map(|(from, to, value)| [(from, value), (to, value)]).collect()
}

/// Precision at increasing thresholds: ½, ⅔ and 1. It is undefined above 0.9, where no row is predicted positive. Between 0.6 and 0.7 it is left out,
/// to test that the line is interrupted there.
fn precision_line() -> NamedLine {
    let mut line = named_line("precision", &[(0.0, 0.5), (0.2, 0.5), (0.2, 2.0 / 3.0), (0.6, 2.0 / 3.0)]);
    line.points.push((0.65, None));
    line.points.extend([(0.7, Some(1.0)), (0.9, Some(1.0)), (0.9, None), (1.0, None)]);
    line
}

/// Tolerance in axis coordinates: the axes of the figure of scores are 686 and 294 pixels long, and positions are rounded to tenths of a pixel.
const TOLERANCE: f64 = 1e-3;

#[test]
fn score_lines_pass_through_their_points_and_are_interrupted_where_a_score_is_undefined() {
    let curves =
        ScoreCurves { lines: vec![named_line("tss", &tss_points()), precision_line()], ..ScoreCurves::default() };
    let drawing = ReadPicture::new(&figure_scores(curves).unwrap());
    assert_eq!((drawing.frames[0].x, drawing.frames[0].y), ((0.0, 1.0), (0.0, 1.0)));
    let lines = drawing.lines(0, BLUE);
    assert_eq!(lines.len(), 1);
    assert_points_close(&lines[0], &tss_points(), TOLERANCE);
    let pieces = drawing.lines(0, VERMILLION);
    assert_eq!(pieces.len(), 2);
    assert_points_close(&pieces[0], &[(0.0, 0.5), (0.2, 0.5), (0.2, 2.0 / 3.0), (0.6, 2.0 / 3.0)], TOLERANCE);
    assert_points_close(&pieces[1], &[(0.7, 1.0), (0.9, 1.0)], TOLERANCE);
    assert!(drawing.has_text("tss") && drawing.has_text("precision"));
}

#[test]
fn the_chosen_threshold_its_intervals_and_the_prior_are_drawn_at_their_values() {
    let curves = ScoreCurves {
        title: "Scores".into(),
        lines: vec![named_line("tss", &tss_points())],
        prior: Some("uniform:0.2,0.6".parse().unwrap()),
        mark: Some(0.519),
        interval: Some((0.5, 0.53)),
        spread: Some((0.25, 0.55)),
        infeasible: vec![(0.9, 1.0)],
        is_narrow: false,
    };
    let drawing = ReadPicture::new(&figure_scores(curves).unwrap());
    let edges = |bars: Vec<(PlotPoint, PlotPoint)>| {
        assert_eq!(bars.len(), 1);
        assert_close(bars[0].0.1, 0.0, 2e-3);
        assert_close(bars[0].1.1, 1.0, 2e-3);
        (bars[0].0.0, bars[0].1.0)
    };
    let ((from, to), (low, high)) = (edges(drawing.bars(0, FRAME)), edges(drawing.bars(0, INK)));
    assert_points_close(&[(from, to), (low, high)], &[(0.25, 0.55), (0.5, 0.53)], TOLERANCE);

    // The density of the uniform prior is drawn at a quarter of the height of the panel over its support, and at 0 outside.
    let areas = drawing.areas(0, SKY);
    assert_eq!(areas.len(), 1);
    assert_points_close(&areas[0], &[(0.0, 0.0), (0.2, 0.0), (0.2, 0.25), (0.6, 0.25), (0.6, 0.0), (1.0, 0.0)], 2e-3);

    let mark = drawing.lines(0, INK);
    assert_points_close(&mark[0], &[(0.519, 0.0), (0.519, 1.0)], 2e-3);
    let label = drawing.label_positions(0, "0.519");
    assert_close(label[0].0, 0.519, TOLERANCE);
    assert!(label[0].1 > 1.0, "the label of the chosen threshold is above the plotting area");

    let not_vertical: Vec<_> = drawing.lines(0, FRAME).into_iter().filter(|ends| ends[0].0 != ends[1].0).collect();
    let hatching: Vec<f64> =
        not_vertical.iter().filter(|ends| ends[0].1 != ends[1].1).flatten().map(|(x, _)| *x).collect();
    assert!(hatching.len() > 20 && hatching.iter().all(|x| (0.9 - TOLERANCE..=1.0 + TOLERANCE).contains(x)));
    for name in [
        "chosen threshold",
        "equally good thresholds",
        "best threshold, 95 % interval",
        "conditions not met",
        "prior density, scaled",
    ] {
        let position = drawing.label_positions(0, name);
        assert!(
            position.len() == 1 && position[0].1 < 0.0,
            "`{name}` must appear exactly once, in the legend below the plotting area"
        );
    }
}

#[test]
fn a_narrow_figure_shows_the_same_data_as_a_wide_figure() {
    let curves = |is_narrow| ScoreCurves {
        lines: vec![named_line("tss", &tss_points())],
        mark: Some(0.4),
        is_narrow,
        ..ScoreCurves::default()
    };
    let (wide, narrow) = (figure_scores(curves(false)).unwrap(), figure_scores(curves(true)).unwrap());
    assert_eq!(2 * narrow.size().0, wide.size().0);
    let (wide, narrow) = (ReadPicture::new(&wide).lines(0, INK), ReadPicture::new(&narrow).lines(0, INK));
    assert_points_close(&wide[0], &narrow[0], 4e-3);
}

#[test]
fn the_y_axis_covers_the_scores_but_never_starts_below_minus_1() {
    // The line from (0.5, 0.5) to (0.9, −2.5) is clipped at −1, the lower end of the axis, which it reaches halfway, at 0.7.
    let points = [(0.0, 2.0), (0.5, 0.5), (0.9, -2.5), (1.0, -2.5)];
    let curves = ScoreCurves { lines: vec![named_line("skill", &points)], ..ScoreCurves::default() };
    let drawing = ReadPicture::new(&figure_scores(curves).unwrap());
    assert_eq!(drawing.frames[0].y, (-1.0, 2.0));
    let lines = drawing.lines(0, BLUE);
    assert_points_close(&lines[0], &[(0.0, 2.0), (0.5, 0.5), (0.7, -1.0)], 3e-3);
    assert!(drawing.has_text("−1.0") || drawing.has_text("−1"));
    // A single value of 1000 does not extend the y axis if the other hundred values are 0.8.
    let mut points: Vec<PlotPoint> = (0..100).map(|step| (f64::from(step) / 100.0, 0.8)).collect();
    points.push((1.0, 1000.0));
    let curves = ScoreCurves { lines: vec![named_line("odds", &points)], ..ScoreCurves::default() };
    assert_eq!(figure_scores(curves).unwrap().frames()[0].y, (0.0, 1.0));
}

#[test]
fn roc_curve_of_four_rows_matches_hand_calculation() {
    let steps = [(0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0)];
    let lines = vec![named_line("network", &steps), named_line("other", &[(0.0, 0.0), (1.0, 1.0)])];
    let areas = vec![Some(0.75), None];
    let drawing =
        ReadPicture::new(&figure_roc(Roc { title: "ROC".into(), lines, areas, mark: Some((0.5, 0.5)) }).unwrap());
    assert_points_close(&drawing.lines(0, BLUE)[0], &steps, TOLERANCE);
    assert_points_close(&drawing.dots(0, INK), &[(0.5, 0.5)], TOLERANCE);
    assert!(drawing.has_text("network (area 0.750)") && drawing.has_text("other") && drawing.has_text("no skill"));
    let is_off_the_axes = |dash: &Vec<PlotPoint>| dash.iter().all(|(x, y)| *x > 1e-3 && *y > 1e-3);
    let diagonal: Vec<PlotPoint> = drawing.lines(0, FRAME).into_iter().filter(is_off_the_axes).flatten().collect();
    assert!(diagonal.len() > 40);
    diagonal.iter().for_each(|(x, y)| assert_close(*x, *y, 2e-3));
    let frame = drawing.frames[0];
    assert_eq!(frame.width, frame.height, "the plotting area is square");
}

#[test]
fn precision_recall_curve_of_four_rows_matches_hand_calculation() {
    // Precision is undefined if no row is predicted positive. If one, two, three or four rows are predicted positive, it is 1/1, 1/2, 2/3 or 2/4.
    let points = vec![(0.0, None), (0.5, Some(1.0)), (0.5, Some(0.5)), (1.0, Some(2.0 / 3.0)), (1.0, Some(0.5))];
    let curves = PrecisionRecall {
        title: "Precision and recall".into(),
        lines: vec![NamedLine { name: "network".into(), points }],
        base_rate: Some(0.25),
        mark: Some((1.0, 2.0 / 3.0)),
    };
    let drawing = ReadPicture::new(&figure_precision_recall(curves).unwrap());
    assert_points_close(&drawing.lines(0, BLUE)[0], &[(0.5, 1.0), (0.5, 0.5), (1.0, 2.0 / 3.0), (1.0, 0.5)], TOLERANCE);
    assert_points_close(&drawing.dots(0, INK), &[(1.0, 2.0 / 3.0)], TOLERANCE);
    let dashes: Vec<_> = drawing.lines(0, FRAME).into_iter().filter(|dash| dash[0].1 == dash[1].1).flatten().collect();
    assert!(dashes.iter().filter(|(_, y)| (y - 0.25).abs() < TOLERANCE).count() > 40);
    assert!(drawing.has_text("base rate 0.250"));
}

#[test]
fn net_benefit_is_clipped_slightly_below_0() {
    // At threshold p, the net benefit is tp/n − fp/n · p/(1 − p) with n = 4 rows. For the forecast "always yes" it is ½ − ½ p/(1 − p).
    let odds = |p: f64| p / (1.0 - p);
    let always: Vec<PlotPoint> =
        (0..100).map(|step| f64::from(step) / 100.0).map(|p| (p, 0.5 - 0.5 * odds(p))).collect();
    let forecast = [(0.5, 2.0 / 4.0 - 1.0 / 4.0 * 1.0), (0.55, 2.0 / 4.0 - 1.0 / 4.0 * odds(0.55))];
    let lines = vec![
        named_line("forecast", &forecast),
        named_line("always yes", &always),
        named_line("always no", &[(0.0, 0.0), (1.0, 0.0)]),
    ];
    let curve = DecisionCurve { title: "Decision curve".into(), lines, band: Vec::new(), mark: Some(0.5) };
    let with_band = DecisionCurve { band: vec![(0.2, (0.1, 0.6)), (0.5, (0.0, 0.4))], ..curve.clone() };
    let drawing = ReadPicture::new(&figure_decision(curve).unwrap());
    let (low, high) = drawing.frames[0].y;
    assert_close(low, -0.15 * 0.5, 1e-12);
    assert_close(high, 1.06 * 0.5, 1e-12);
    assert_points_close(&drawing.lines(0, BLUE)[0], &forecast, TOLERANCE);
    assert_points_close(&drawing.lines(0, GREEN)[0], &[(0.0, 0.0), (1.0, 0.0)], TOLERANCE);
    let yes = &drawing.lines(0, VERMILLION)[0];
    assert_points_close(&yes[..1], &[(0.0, 0.5)], TOLERANCE);
    // With the odds w = p/(1 − p), the line of "always yes" is ½ − ½ w. It reaches −0.075, the lower end of the axis, at w = 1.15, which is
    // p = 1.15/2.15.
    assert_points_close(&yes[yes.len() - 1..], &[(1.15 / 2.15, -0.075)], TOLERANCE);
    assert_points_close(&drawing.lines(0, INK)[0], &[(0.5, low), (0.5, high)], TOLERANCE);
    assert!(drawing.label_positions(0, "0.5").iter().any(|position| position.1 > high));
    assert!(!drawing.has_text("95 % interval"));

    // If a band of intervals is drawn, the legend names it, and the y axis reaches beyond the upper end of the band.
    let drawing = ReadPicture::new(&figure_decision(with_band).unwrap());
    assert_close(drawing.frames[0].y.1, 1.06 * 0.6, 1e-12);
    assert!(drawing.has_text("95 % interval"));
}

#[test]
fn a_figure_without_data_is_an_error() {
    assert_eq!(figure_scores(ScoreCurves::default()).unwrap_err(), Error::Empty);
    assert_eq!(figure_roc(Roc::default()).unwrap_err(), Error::Empty);
    assert_eq!(figure_precision_recall(PrecisionRecall::default()).unwrap_err(), Error::Empty);
    assert_eq!(figure_decision(DecisionCurve::default()).unwrap_err(), Error::Empty);
    let undefined = NamedLine { name: "none".into(), points: vec![(0.1, None), (0.2, Some(f64::NAN))] };
    let curves = ScoreCurves { lines: vec![undefined], ..ScoreCurves::default() };
    let error = figure_scores(curves).unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to draw; give at least one panel with data");
}
