//! Draws the distribution of a score and the differences between two forecasts, and reads the data back from the picture.
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use crate::picture_reader::{BLUE, GREEN, INK, PlotPoint, ReadPicture, VERMILLION, assert_close, assert_points_close};
use scorewise_report::{Differences, Error, ScoreDistributionFigure, figure_difference, figure_score_distribution};

/// Tolerance of positions in axis coordinates; positions in a picture are rounded.
const TOLERANCE: f64 = 2e-3;

#[test]
fn the_score_distribution_is_a_step_function() {
    let distribution = ScoreDistributionFigure {
        title: "Distribution".into(),
        score: "tss".into(),
        steps: vec![(0.2, 0.25), (0.5, 0.75), (0.6, 1.0)],
        expected_score: 0.2 * 0.25 + 0.5 * 0.5 + 0.6 * 0.25,
        score_of_expectation: 0.5,
    };
    let drawing = ReadPicture::new(&figure_score_distribution(distribution).unwrap());
    // The scores lie between 0.2 and 0.6. On both sides the x axis extends beyond them by a twentieth of this range of 0.4.
    let steps = [(0.18, 0.0), (0.2, 0.0), (0.2, 0.25), (0.5, 0.25), (0.5, 0.75), (0.6, 0.75), (0.6, 1.0), (0.62, 1.0)];
    assert_points_close(&drawing.lines(0, BLUE)[0], &steps, TOLERANCE);
    for (colour, x) in [(VERMILLION, 0.45), (GREEN, 0.5)] {
        let dashes: Vec<PlotPoint> = drawing.lines(0, colour).into_iter().flatten().collect();
        assert!(dashes.len() > 20);
        dashes.iter().for_each(|point| assert_close(point.0, x, TOLERANCE));
    }
    assert!(drawing.has_text("E[s] = 0.450") && drawing.has_text("s(E[CM]) = 0.500") && drawing.has_text("tss"));
    assert_eq!(figure_score_distribution(ScoreDistributionFigure::default()).unwrap_err(), Error::Empty);
}

/// The data of a figure that shows differences of the score hss.
fn differences(values: &[f64], difference: f64, interval: (f64, f64)) -> Differences {
    Differences { title: "Two".into(), score: "hss".into(), values: values.into(), difference, interval }
}

#[test]
fn differences_are_counted_in_40_bars() {
    let values = [0.0, 0.105, 0.106, f64::NAN, 0.4];
    let drawing = ReadPicture::new(&figure_difference(differences(&values, 0.15, (0.02, 0.39))).unwrap());
    let bars = drawing.bars(0, BLUE);
    let expected = [(0.0, 0.01, 1.0), (0.1, 0.11, 2.0), (0.39, 0.4, 1.0)];
    assert_eq!(bars.len(), expected.len());
    for ((low, high), (from, to, count)) in bars.iter().zip(expected) {
        assert_points_close(&[*low, *high], &[(from, 0.0), (to, count)], 5e-3);
    }
    let lines = drawing.lines(0, VERMILLION);
    assert_close(lines[0][0].0, 0.15, TOLERANCE);
    assert_close(lines[0][1].0, 0.15, TOLERANCE);
    let whisker = &lines[1];
    assert_points_close(&[(whisker[0].0, whisker[1].0)], &[(0.02, 0.39)], TOLERANCE);
    assert!(whisker[0].1 > 2.0, "the error bar is above the bars");
    assert!(drawing.lines(0, INK).iter().flatten().all(|point| point.0.abs() < TOLERANCE));
    assert!(drawing.has_text("difference of hss (first − second)"));
}

#[test]
fn the_x_axis_includes_0_unless_it_is_far_from_the_differences() {
    let near = figure_difference(differences(&[0.2, 0.3], 0.25, (0.2, 0.3))).unwrap();
    assert!(near.frames()[0].x.0 < 0.0);
    assert!(!ReadPicture::new(&near).lines(0, INK).is_empty());
    // If the axis included 0, the differences between 10 and 10.1 would take only a hundredth of the width.
    let far = figure_difference(differences(&[10.0, 10.1], 10.05, (10.0, 10.1))).unwrap();
    assert!(far.frames()[0].x.0 > 9.9);
    assert!(ReadPicture::new(&far).lines(0, INK).is_empty());
}

#[test]
fn equal_differences_can_be_drawn() {
    for value in [0.0, -0.25] {
        let drawing = ReadPicture::new(&figure_difference(differences(&[value; 7], value, (value, value))).unwrap());
        let bars = drawing.bars(0, BLUE);
        assert_eq!(bars.len(), 1);
        assert_close(bars[0].1.1, 7.0, 0.02);
        assert!(bars[0].0.0 - TOLERANCE <= value && value <= bars[0].1.0 + TOLERANCE);
    }
    assert_eq!(figure_difference(differences(&[f64::NAN], 0.0, (0.0, 0.0))).unwrap_err(), Error::Empty);
}
