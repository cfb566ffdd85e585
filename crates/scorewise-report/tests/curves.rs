//! Figures over all thresholds, read back from the picture: four rows whose curves can be drawn by hand.
//!
//! Predictions 0.2 (negative), 0.6 (positive), 0.7 (negative), 0.9 (positive); a row is predicted positive above the threshold.
#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod reading;

use reading::{BLUE, FRAME, GREEN, INK, Point, SKY, Seen, VERMILLION, close, same};
use scorewise_report::{
    DecisionCurve, Error, NamedLine, PrecisionRecall, Roc, ScoreCurves, figure_decision, figure_precision_recall,
    figure_roc, figure_scores,
};

fn line(name: &str, points: &[Point]) -> NamedLine {
    NamedLine { name: name.into(), points: points.iter().map(|(x, y)| (*x, Some(*y))).collect() }
}

/// Recall less false-alarm rate: 1 − 1, 1 − ½, ½ − ½, ½ − 0, 0 − 0.
fn tss() -> Vec<Point> {
    let levels = [(0.0, 0.2, 0.0), (0.2, 0.6, 0.5), (0.6, 0.7, 0.0), (0.7, 0.9, 0.5), (0.9, 1.0, 0.0)];
    levels.into_iter().flat_map(|(from, to, value)| [(from, value), (to, value)]).collect()
}

/// Precision: ½, ⅔, ½, 1, and none where nothing is predicted.
fn precision() -> NamedLine {
    let mut line = line("precision", &[(0.0, 0.5), (0.2, 0.5), (0.2, 2.0 / 3.0), (0.6, 2.0 / 3.0)]);
    line.points.push((0.65, None));
    line.points.extend([(0.7, Some(1.0)), (0.9, Some(1.0)), (0.9, None), (1.0, None)]);
    line
}

/// The axes are 686 pixels wide and 294 high, places are whole tenths of a pixel.
const TOLERANCE: f64 = 1e-3;

#[test]
fn scores_are_drawn_through_their_points_and_broken_where_undefined() {
    let curves = ScoreCurves { lines: vec![line("tss", &tss()), precision()], ..ScoreCurves::default() };
    let seen = Seen::of(&figure_scores(curves).unwrap());
    assert_eq!((seen.frames[0].x, seen.frames[0].y), ((0.0, 1.0), (0.0, 1.0)));
    let lines = seen.lines(0, BLUE);
    assert_eq!(lines.len(), 1);
    same(&lines[0], &tss(), TOLERANCE);
    let pieces = seen.lines(0, VERMILLION);
    assert_eq!(pieces.len(), 2);
    same(&pieces[0], &[(0.0, 0.5), (0.2, 0.5), (0.2, 2.0 / 3.0), (0.6, 2.0 / 3.0)], TOLERANCE);
    same(&pieces[1], &[(0.7, 1.0), (0.9, 1.0)], TOLERANCE);
    assert!(seen.says("tss") && seen.says("precision"));
}

#[test]
fn bands_prior_and_mark_lie_where_they_were_put() {
    let curves = ScoreCurves {
        title: "Scores".into(),
        lines: vec![line("tss", &tss())],
        prior: Some("uniform:0.2,0.6".parse().unwrap()),
        mark: Some(0.519),
        interval: Some((0.5, 0.53)),
        spread: Some((0.25, 0.55)),
        infeasible: vec![(0.9, 1.0)],
        is_narrow: false,
    };
    let seen = Seen::of(&figure_scores(curves).unwrap());
    let edges = |bars: Vec<(Point, Point)>| {
        assert_eq!(bars.len(), 1);
        close(bars[0].0.1, 0.0, 2e-3);
        close(bars[0].1.1, 1.0, 2e-3);
        (bars[0].0.0, bars[0].1.0)
    };
    let ((from, to), (low, high)) = (edges(seen.bars(0, FRAME)), edges(seen.bars(0, INK)));
    same(&[(from, to), (low, high)], &[(0.25, 0.55), (0.5, 0.53)], TOLERANCE);

    // A quarter of the height over its support, nothing outside.
    let areas = seen.areas(0, SKY);
    assert_eq!(areas.len(), 1);
    same(&areas[0], &[(0.0, 0.0), (0.2, 0.0), (0.2, 0.25), (0.6, 0.25), (0.6, 0.0), (1.0, 0.0)], 2e-3);

    let mark = seen.lines(0, INK);
    same(&mark[0], &[(0.519, 0.0), (0.519, 1.0)], 2e-3);
    let flag = seen.words(0, "0.519");
    close(flag[0].0, 0.519, TOLERANCE);
    assert!(flag[0].1 > 1.0, "above the data");

    let slanting: Vec<_> = seen.lines(0, FRAME).into_iter().filter(|ends| ends[0].0 != ends[1].0).collect();
    let hatching: Vec<f64> = slanting.iter().filter(|ends| ends[0].1 != ends[1].1).flatten().map(|(x, _)| *x).collect();
    assert!(hatching.len() > 20 && hatching.iter().all(|x| (0.9 - TOLERANCE..=1.0 + TOLERANCE).contains(x)));
    for words in [
        "chosen threshold",
        "equally good thresholds",
        "95 % of best thresholds, resampled",
        "conditions not met",
        "prior density, scaled",
    ] {
        let place = seen.words(0, words);
        assert!(place.len() == 1 && place[0].1 < 0.0, "{words} below the data");
    }
}

#[test]
fn a_narrow_picture_has_the_same_data() {
    let curves = |is_narrow| ScoreCurves {
        lines: vec![line("tss", &tss())],
        mark: Some(0.4),
        is_narrow,
        ..ScoreCurves::default()
    };
    let (wide, narrow) = (figure_scores(curves(false)).unwrap(), figure_scores(curves(true)).unwrap());
    assert_eq!(2 * narrow.size().0, wide.size().0);
    let (wide, narrow) = (Seen::of(&wide).lines(0, INK), Seen::of(&narrow).lines(0, INK));
    same(&wide[0], &narrow[0], 4e-3);
}

#[test]
fn the_axis_of_scores_grows_with_them_and_ends_at_minus_1() {
    // Half of the way down from 0.5 to −2.5 the line is at −1.
    let points = [(0.0, 2.0), (0.5, 0.5), (0.9, -2.5), (1.0, -2.5)];
    let curves = ScoreCurves { lines: vec![line("skill", &points)], ..ScoreCurves::default() };
    let seen = Seen::of(&figure_scores(curves).unwrap());
    assert_eq!(seen.frames[0].y, (-1.0, 2.0));
    let lines = seen.lines(0, BLUE);
    same(&lines[0], &[(0.0, 2.0), (0.5, 0.5), (0.7, -1.0)], 3e-3);
    assert!(seen.says("−1.0") || seen.says("−1"));
    // One point of a hundred at 1000 does not press the others to the ground.
    let mut points: Vec<Point> = (0..100).map(|step| (f64::from(step) / 100.0, 0.8)).collect();
    points.push((1.0, 1000.0));
    let curves = ScoreCurves { lines: vec![line("odds", &points)], ..ScoreCurves::default() };
    assert_eq!(figure_scores(curves).unwrap().frames()[0].y, (0.0, 1.0));
}

#[test]
fn the_roc_of_four_rows() {
    let steps = [(0.0, 0.0), (0.0, 0.5), (0.5, 0.5), (0.5, 1.0), (1.0, 1.0)];
    let lines = vec![line("network", &steps), line("other", &[(0.0, 0.0), (1.0, 1.0)])];
    let areas = vec![Some(0.75), None];
    let seen = Seen::of(&figure_roc(Roc { title: "ROC".into(), lines, areas, mark: Some((0.5, 0.5)) }).unwrap());
    same(&seen.lines(0, BLUE)[0], &steps, TOLERANCE);
    same(&seen.dots(0, INK), &[(0.5, 0.5)], TOLERANCE);
    assert!(seen.says("network (area 0.750)") && seen.says("other") && seen.says("no skill"));
    let off_the_axes = |dash: &Vec<Point>| dash.iter().all(|(x, y)| *x > 1e-3 && *y > 1e-3);
    let diagonal: Vec<Point> = seen.lines(0, FRAME).into_iter().filter(off_the_axes).flatten().collect();
    assert!(diagonal.len() > 40);
    diagonal.iter().for_each(|(x, y)| close(*x, *y, 2e-3));
    let frame = seen.frames[0];
    assert_eq!(frame.width, frame.height, "shares are drawn in a square");
}

#[test]
fn precision_and_recall_of_four_rows() {
    // Without rows predicted, precision is undefined; then 1/1, 1/2, 2/3, 2/4.
    let points = vec![(0.0, None), (0.5, Some(1.0)), (0.5, Some(0.5)), (1.0, Some(2.0 / 3.0)), (1.0, Some(0.5))];
    let curves = PrecisionRecall {
        title: "Precision and recall".into(),
        lines: vec![NamedLine { name: "network".into(), points }],
        base_rate: Some(0.25),
        mark: Some((1.0, 2.0 / 3.0)),
    };
    let seen = Seen::of(&figure_precision_recall(curves).unwrap());
    same(&seen.lines(0, BLUE)[0], &[(0.5, 1.0), (0.5, 0.5), (1.0, 2.0 / 3.0), (1.0, 0.5)], TOLERANCE);
    same(&seen.dots(0, INK), &[(1.0, 2.0 / 3.0)], TOLERANCE);
    let dashes: Vec<_> = seen.lines(0, FRAME).into_iter().filter(|dash| dash[0].1 == dash[1].1).flatten().collect();
    assert!(dashes.iter().filter(|(_, y)| (y - 0.25).abs() < TOLERANCE).count() > 40);
    assert!(seen.says("base rate 0.250"));
}

#[test]
fn net_benefit_is_cut_a_little_below_0() {
    // tp/n − fp/n · p/(1 − p) between the predictions, n = 4: always yes is ½ − ½ p/(1 − p).
    let odds = |p: f64| p / (1.0 - p);
    let always: Vec<Point> = (0..100).map(|step| f64::from(step) / 100.0).map(|p| (p, 0.5 - 0.5 * odds(p))).collect();
    let forecast = [(0.5, 2.0 / 4.0 - 1.0 / 4.0 * 1.0), (0.55, 2.0 / 4.0 - 1.0 / 4.0 * odds(0.55))];
    let lines =
        vec![line("forecast", &forecast), line("always yes", &always), line("always no", &[(0.0, 0.0), (1.0, 0.0)])];
    let curve = DecisionCurve { title: "Decision curve".into(), lines, mark: Some(0.5) };
    let seen = Seen::of(&figure_decision(curve).unwrap());
    let (low, high) = seen.frames[0].y;
    close(low, -0.15 * 0.5, 1e-12);
    close(high, 1.06 * 0.5, 1e-12);
    same(&seen.lines(0, BLUE)[0], &forecast, TOLERANCE);
    same(&seen.lines(0, GREEN)[0], &[(0.0, 0.0), (1.0, 0.0)], TOLERANCE);
    let yes = &seen.lines(0, VERMILLION)[0];
    same(&yes[..1], &[(0.0, 0.5)], TOLERANCE);
    // ½ − ½ w = −0.075 at w = 1.15, that is p = 1.15/2.15.
    same(&yes[yes.len() - 1..], &[(1.15 / 2.15, -0.075)], TOLERANCE);
    same(&seen.lines(0, INK)[0], &[(0.5, low), (0.5, high)], TOLERANCE);
    assert!(seen.words(0, "0.5").iter().any(|place| place.1 > high));
}

#[test]
fn nothing_to_draw_is_said() {
    assert_eq!(figure_scores(ScoreCurves::default()).unwrap_err(), Error::Empty);
    assert_eq!(figure_roc(Roc::default()).unwrap_err(), Error::Empty);
    assert_eq!(figure_precision_recall(PrecisionRecall::default()).unwrap_err(), Error::Empty);
    assert_eq!(figure_decision(DecisionCurve::default()).unwrap_err(), Error::Empty);
    let undefined = NamedLine { name: "none".into(), points: vec![(0.1, None), (0.2, Some(f64::NAN))] };
    let curves = ScoreCurves { lines: vec![undefined], ..ScoreCurves::default() };
    let error = figure_scores(curves).unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to draw; give at least one panel with data");
}
