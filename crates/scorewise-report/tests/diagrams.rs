//! Draws the performance diagram, the reliability diagram, the distribution of predictions by class, the importance of columns and partial
//! dependence, and reads the data back from the picture.
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use crate::picture_reader::{
    BLUE, FRAME, INK, PlotPoint, ReadPicture, SKY, VERMILLION, assert_close, assert_points_close,
};
use scorewise_report::{
    ClassBin, ClassHistograms, DependenceCurves, Error, ImportanceBar, ImportanceBars, NamedLine, Performance,
    Reliability, ReliabilityBin, figure_classes, figure_dependence, figure_importance, figure_performance,
    figure_reliability,
};

/// Tolerance of positions in axis coordinates; positions in a picture are rounded.
const TOLERANCE: f64 = 1e-3;

/// A performance diagram with a chosen threshold and its intervals; the upper end of one interval lies outside the axes.
fn performance_data() -> Performance {
    Performance {
        title: "Performance diagram".into(),
        mark: Some((0.5, 0.8)),
        whiskers: Some(((0.4, 0.6), (0.75, 1.2))),
        ..Performance::default()
    }
}

#[test]
fn csi_isolines_have_constant_csi() {
    let drawing = ReadPicture::new(&figure_performance(performance_data()).unwrap());
    let curves: Vec<Vec<PlotPoint>> = drawing.lines(0, FRAME).into_iter().filter(|line| line.len() > 3).collect();
    assert_eq!(curves.len(), 9);
    for (curve, tenth) in curves.iter().zip(1..) {
        let csi = f64::from(tenth) / 10.0;
        for (success, detection) in curve {
            assert_close(1.0 / (1.0 / success + 1.0 / detection - 1.0), csi, 2e-3);
        }
        assert_points_close(&[curve[0], curve[curve.len() - 1]], &[(csi, 1.0), (1.0, csi)], TOLERANCE);
    }
    // Where success ratio and probability of detection are both 2/3, CSI = 1/(3/2 + 3/2 − 1) = 1/2.
    let half = &curves[4];
    let after = half.iter().position(|(success, _)| *success > 2.0 / 3.0).unwrap();
    let ((x, y), (next_x, next_y)) = (half[after - 1], half[after]);
    assert_close(y + (next_y - y) * (2.0 / 3.0 - x) / (next_x - x), 2.0 / 3.0, 2e-3);
    // The label of an isoline lies on the isoline.
    let on_it = drawing.label_positions(0, "0.5").into_iter().find(|(x, _)| (0.9..1.0).contains(x)).unwrap();
    assert_close(1.0 / (1.0 / on_it.0 + 1.0 / on_it.1 - 1.0), 0.5, 2e-3);
}

#[test]
fn every_ray_of_equal_bias_ends_at_the_border_and_has_a_label_there() {
    let drawing = ReadPicture::new(&figure_performance(performance_data()).unwrap());
    let dashes: Vec<Vec<PlotPoint>> = drawing
        .lines(0, FRAME)
        .into_iter()
        .filter(|line| line.len() == 2 && line[0].0.max(line[1].0) > 0.01 && line[0].1.max(line[1].1) > 0.01)
        .collect();
    for bias in [0.3, 0.5, 0.8, 1.0, 1.3, 1.5, 2.0, 3.0, 5.0, 10.0] {
        let on_ray = |(x, y): &PlotPoint| (y - bias * x).abs() < 1.5e-3 * (1.0 + bias);
        let points: Vec<PlotPoint> = dashes.iter().filter(|dash| dash.iter().all(on_ray)).flatten().copied().collect();
        assert!(points.len() > 40, "{bias}: {}", points.len());
        let end = if bias < 1.0 { (1.0, bias) } else { (1.0 / bias, 1.0) };
        let farthest = points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
        assert_close(farthest, end.1, 0.025 * end.1.max(0.5)); // the ray may end in a gap between dashes
        let number = drawing.label_positions(0, &bias.to_string());
        assert!(number.iter().any(|(x, y)| (x - end.0).hypot(y - end.1) < 0.05), "{bias}: {number:?}");
    }
    // At success ratio ¼ and probability of detection ½, the frequency bias is 2, so the ray of this bias passes there.
    assert!(dashes.iter().flatten().any(|(x, y)| (x - 0.25).hypot(y - 0.5) < 0.02));
}

#[test]
fn error_bars_end_at_the_ends_of_their_interval_or_at_the_border_of_the_diagram() {
    let drawing = ReadPicture::new(&figure_performance(performance_data()).unwrap());
    assert_points_close(&drawing.dots(0, INK), &[(0.5, 0.8)], TOLERANCE);
    let lines = drawing.lines(0, INK);
    assert_points_close(&lines[0], &[(0.4, 0.8), (0.6, 0.8)], TOLERANCE);
    for (cap, x) in lines[1..3].iter().zip([0.4, 0.6]) {
        cap.iter().for_each(|point| assert_close(point.0, x, TOLERANCE));
    }
    assert_points_close(&lines[3], &[(0.5, 0.75), (0.5, 1.0)], TOLERANCE);
    assert_eq!(lines.len(), 5, "the vertical error bar has one cap, because its other end lies outside the axes");
    assert!(lines[4].iter().all(|(_, y)| (y - 0.75).abs() < TOLERANCE));
    assert!(
        drawing.has_text("95 % intervals")
            && drawing.has_text("critical success index")
            && drawing.has_text("frequency bias")
    );
    assert_eq!(figure_performance(Performance::default()).unwrap_err(), Error::Empty);
}

/// A reliability diagram with three bins that can be plotted and an empty bin.
fn reliability_data() -> Reliability {
    let bin = |mean, frequency, low, high, weight| ReliabilityBin { mean, frequency, low, high, weight };
    let bins = vec![
        bin(0.9, 1.0, 0.5, 1.0, 10.0),
        bin(0.1, 0.0, 0.0, 0.05, 1000.0),
        bin(0.5, 0.25, 0.125, 0.5, 40.0),
        bin(0.3, f64::NAN, 0.0, 1.0, 0.0),
    ];
    Reliability { title: "Reliability".into(), bins, base_rate: 0.125 }
}

#[test]
fn reliability_diagram_has_a_dot_and_an_interval_per_bin() {
    let drawing = ReadPicture::with_nonlinear_y(&figure_reliability(reliability_data()).unwrap(), 1, f64::ln, f64::exp);
    let dots = [(0.1, 0.0), (0.5, 0.25), (0.9, 1.0)];
    assert_points_close(&drawing.dots(0, BLUE), &dots, TOLERANCE);
    let lines = drawing.lines(0, BLUE);
    assert!(lines.iter().any(|line| line.len() == 3), "one line with three points connects the dots");
    assert_points_close(lines.iter().find(|line| line.len() == 3).unwrap(), &dots, TOLERANCE);
    for (x, low, high) in [(0.1, 0.0, 0.05), (0.5, 0.125, 0.5), (0.9, 0.5, 1.0)] {
        let upright =
            |line: &&Vec<PlotPoint>| line.len() == 2 && line.iter().all(|point| (point.0 - x).abs() < TOLERANCE);
        assert_points_close(lines.iter().find(upright).unwrap(), &[(x, low), (x, high)], TOLERANCE);
        let ends = lines.iter().filter(|line| line.len() == 2 && line[0].1 == line[1].1);
        let ends: Vec<f64> =
            ends.filter(|end| (0.5 * (end[0].0 + end[1].0) - x).abs() < TOLERANCE).map(|end| end[0].1).collect();
        assert_points_close(&[(ends[0], ends[1])], &[(low, high)], TOLERANCE);
    }
    let base: Vec<PlotPoint> = drawing.lines(0, FRAME).into_iter().flatten().collect();
    assert!(base.iter().filter(|(x, _)| (x - 0.125).abs() < TOLERANCE).count() > 40);
    assert!(base.iter().filter(|(_, y)| (y - 0.125).abs() < TOLERANCE).count() > 40);
    assert!(drawing.has_text("base rate 0.125"));
}

#[test]
fn the_weights_of_the_bins_are_bars_on_a_logarithmic_axis_below_the_diagram() {
    let drawing = ReadPicture::with_nonlinear_y(&figure_reliability(reliability_data()).unwrap(), 1, f64::ln, f64::exp);
    let bars = drawing.bars(1, BLUE);
    assert_eq!(bars.len(), 3);
    for ((low, high), (mean, weight)) in bars.iter().zip([(0.1, 1000.0), (0.5, 40.0), (0.9, 10.0)]) {
        assert_close(0.5 * (low.0 + high.0), mean, TOLERANCE);
        assert_close(high.1, weight, 0.01 * weight);
        assert_close(low.1, 5.0, 0.05); // half of the smallest weight
    }
    let frames = &drawing.frames;
    assert_eq!((frames[0].left, frames[0].width), (frames[1].left, frames[1].width));
    assert!(drawing.has_text("weight (log)"));
    assert_eq!(figure_reliability(Reliability::default()).unwrap_err(), Error::Empty);
}

/// A bin of the histograms of both classes, with the weights of its negative and positive rows.
fn bin(low: f64, high: f64, negatives: f64, positives: f64) -> ClassBin {
    ClassBin { low, high, positives, negatives }
}

/// Histograms of two classes with these bins, a prior and a chosen threshold of 0.4.
fn class_histograms(bins: Vec<ClassBin>, prior: &str) -> ClassHistograms {
    let names = ["quiet".into(), "flare".into()];
    ClassHistograms { title: "Classes".into(), bins, prior: Some(prior.parse().unwrap()), mark: Some(0.4), names }
}

#[test]
fn the_histogram_of_each_class_has_area_1() {
    let bins = vec![bin(0.0, 0.25, 3.0, 0.0), bin(0.25, 0.5, 1.0, 1.0), bin(0.5, 1.0, 0.0, 3.0)];
    let drawing = ReadPicture::new(&figure_classes(class_histograms(bins, "cosine:0.5,0.2")).unwrap());
    // height of a bin = weight of the class in the bin / (total weight of the class · width of the bin)
    let (three, one) = (3.0 / (4.0 * 0.25), 1.0 / (4.0 * 0.25));
    let negatives = [(0.0, 0.0), (0.0, three), (0.25, three), (0.25, one), (0.5, one), (0.5, 0.0)];
    let wide = 3.0 / (4.0 * 0.5);
    let positives = [(0.25, 0.0), (0.25, one), (0.5, one), (0.5, wide), (1.0, wide), (1.0, 0.0)];
    for (colour, expected) in [(BLUE, negatives), (VERMILLION, positives)] {
        assert_points_close(&drawing.lines(0, colour)[0], &expected, 5e-3);
        assert_points_close(&drawing.areas(0, colour)[0], &expected, 5e-3);
    }
    let band = drawing.bars(0, SKY)[0];
    assert_points_close(&[(band.0.0, band.1.0)], &[(0.3, 0.7)], TOLERANCE);
    assert!(
        drawing.has_text("support of the prior")
            && drawing.has_text("density")
            && drawing.label_positions(0, "0.4").iter().any(|position| position.1 > drawing.frames[0].y.1)
    );
    assert!(drawing.has_text("quiet") && drawing.has_text("flare"));
    assert_points_close(&drawing.lines(0, INK)[0], &[(0.4, 0.0), (0.4, 1.05 * three)], 5e-3);
}

#[test]
fn high_densities_get_a_square_root_axis_and_the_central_95_percent_of_a_uniform_prior_are_shaded() {
    let bins = vec![bin(0.0, 0.01, 99.0, 1.0), bin(0.01, 1.0, 1.0, 1.0)];
    let drawing = ReadPicture::with_nonlinear_y(
        &figure_classes(class_histograms(bins, "uniform")).unwrap(),
        0,
        f64::sqrt,
        |root| root * root,
    );
    assert!(drawing.has_text("density (square-root scale)"));
    let line = &drawing.lines(0, BLUE)[0];
    assert_close(line[1].1, 99.0 / (100.0 * 0.01), 0.5);
    assert_close(line[line.len() - 2].1, 1.0 / (100.0 * 0.99), 2e-3);
    let band = drawing.bars(0, SKY)[0];
    assert_points_close(&[(band.0.0, band.1.0)], &[(0.025, 0.975)], TOLERANCE);
    assert!(drawing.has_text("95 % of the prior"));
    assert_eq!(figure_classes(class_histograms(vec![], "uniform")).unwrap_err(), Error::Empty);
    assert_eq!(figure_classes(class_histograms(vec![bin(0.5, 0.5, 1.0, 1.0)], "uniform")).unwrap_err(), Error::Empty);
}

#[test]
fn the_bars_of_importance_end_at_their_values_and_have_error_bars_at_their_intervals() {
    // Each bar is named by its position on the y axis, so that the axis can be read back.
    let bar = |name: &str, value: f64, interval: (f64, f64)| ImportanceBar { name: name.into(), value, interval };
    let bars = vec![
        bar("2", 0.5, (0.375, 0.625)),
        bar("1", 0.25, (0.125, 0.375)),
        bar("left out", f64::NAN, (0.0, 1.0)),
        bar("0", -0.125, (-0.25, 0.0)),
    ];
    let picture = figure_importance(ImportanceBars { title: "importance".into(), score: "f1".into(), bars }).unwrap();
    let drawing = ReadPicture::new(&picture);
    let ends: Vec<(f64, f64)> = drawing.bars(0, BLUE).iter().map(|(low, high)| (low.0, high.0)).collect();
    assert_points_close(&ends, &[(-0.125, 0.0), (0.0, 0.25), (0.0, 0.5)], 2e-3);
    let middles: Vec<f64> = drawing.bars(0, BLUE).iter().map(|(low, high)| 0.5 * (low.1 + high.1)).collect();
    (0..3).for_each(|at| assert_close(middles[at], at as f64, 2e-2));
    let whiskers: Vec<(f64, f64)> = drawing
        .lines(0, INK)
        .iter()
        .filter(|line| line.len() == 2 && (line[0].1 - line[1].1).abs() < 1e-3)
        .map(|line| (line[0].0, line[1].0))
        .collect();
    assert_points_close(&whiskers, &[(-0.25, 0.0), (0.125, 0.375), (0.375, 0.625)], 2e-3);
    assert!(!drawing.has_text("left out"));
    let nothing = ImportanceBars { bars: vec![bar("a", f64::NAN, (0.0, 1.0))], ..ImportanceBars::default() };
    assert!(matches!(figure_importance(nothing), Err(Error::Empty)));
}

#[test]
fn partial_dependence_is_a_line_for_a_column_of_numbers_and_dots_for_a_categorical_column() {
    let line = |name: &str, points: &[(f64, f64)]| NamedLine {
        name: name.into(),
        points: points.iter().map(|(x, y)| (*x, Some(*y))).collect(),
    };
    let numbers = [(10.0, 0.25), (20.0, 0.5), (40.0, 0.125)];
    let curves = DependenceCurves {
        title: "dependence".into(),
        label: "age".into(),
        levels: Vec::new(),
        lines: vec![line("probability", &numbers)],
    };
    let drawing = ReadPicture::new(&figure_dependence(curves.clone()).unwrap());
    assert_points_close(&drawing.lines(0, BLUE)[0], &numbers, 5e-2);
    assert!(drawing.has_text("age") && drawing.has_text("probability"));
    // Each level is named by its position on the y axis, so that the axis can be read back. The levels are listed from top to bottom.
    let levels = ["2", "1", "0"].map(String::from).to_vec();
    let points = [(0.0, 0.25), (1.0, 0.5), (2.0, 0.125)];
    let drawing = ReadPicture::new(
        &figure_dependence(DependenceCurves { levels, lines: vec![line("probability", &points)], ..curves.clone() })
            .unwrap(),
    );
    assert_points_close(&drawing.dots(0, BLUE), &[(0.25, 2.0), (0.5, 1.0), (0.125, 0.0)], 2e-2);
    // Numbers that are crowded at the low end get a square-root scale.
    let crowded = [(0.0, 0.1), (1.0, 0.2), (4.0, 0.3), (10_000.0, 0.9)];
    let picture =
        figure_dependence(DependenceCurves { lines: vec![line("probability", &crowded)], ..curves.clone() }).unwrap();
    assert!(picture.svg().unwrap().contains("age (square-root scale)"));
    let nothing = DependenceCurves { lines: Vec::new(), ..curves };
    assert!(matches!(figure_dependence(nothing), Err(Error::Empty)));
}
