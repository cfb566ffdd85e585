//! The law of a score and the differences of two, read back from the picture.
#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod reading;

use reading::{BLUE, GREEN, INK, Point, Seen, VERMILLION, close, same};
use scorewise_report::{Differences, Error, ScoreLaw, figure_difference, figure_law};

const TOLERANCE: f64 = 2e-3;

#[test]
fn the_law_is_a_staircase() {
    let law = ScoreLaw {
        title: "The law".into(),
        score: "tss".into(),
        steps: vec![(0.2, 0.25), (0.5, 0.75), (0.6, 1.0)],
        expected_score: 0.2 * 0.25 + 0.5 * 0.5 + 0.6 * 0.25,
        score_of_expectation: 0.5,
    };
    let seen = Seen::of(&figure_law(law).unwrap());
    // A twentieth of 0.4 to both sides.
    let stairs = [(0.18, 0.0), (0.2, 0.0), (0.2, 0.25), (0.5, 0.25), (0.5, 0.75), (0.6, 0.75), (0.6, 1.0), (0.62, 1.0)];
    same(&seen.lines(0, BLUE)[0], &stairs, TOLERANCE);
    for (colour, x) in [(VERMILLION, 0.45), (GREEN, 0.5)] {
        let dashes: Vec<Point> = seen.lines(0, colour).into_iter().flatten().collect();
        assert!(dashes.len() > 20);
        dashes.iter().for_each(|point| close(point.0, x, TOLERANCE));
    }
    assert!(seen.says("E[s] = 0.450") && seen.says("s(E[CM]) = 0.500") && seen.says("tss"));
    assert_eq!(figure_law(ScoreLaw::default()).unwrap_err(), Error::Empty);
}

fn differences(values: &[f64], difference: f64, interval: (f64, f64)) -> Differences {
    Differences { title: "Two".into(), score: "hss".into(), values: values.into(), difference, interval }
}

#[test]
fn differences_are_counted_in_forty_bars() {
    let values = [0.0, 0.105, 0.106, f64::NAN, 0.4];
    let seen = Seen::of(&figure_difference(differences(&values, 0.15, (0.02, 0.39))).unwrap());
    let bars = seen.bars(0, BLUE);
    let expected = [(0.0, 0.01, 1.0), (0.1, 0.11, 2.0), (0.39, 0.4, 1.0)];
    assert_eq!(bars.len(), expected.len());
    for ((low, high), (from, to, count)) in bars.iter().zip(expected) {
        same(&[*low, *high], &[(from, 0.0), (to, count)], 5e-3);
    }
    let lines = seen.lines(0, VERMILLION);
    close(lines[0][0].0, 0.15, TOLERANCE);
    close(lines[0][1].0, 0.15, TOLERANCE);
    let whisker = &lines[1];
    same(&[(whisker[0].0, whisker[1].0)], &[(0.02, 0.39)], TOLERANCE);
    assert!(whisker[0].1 > 2.0, "above the bars");
    assert!(seen.lines(0, INK).iter().flatten().all(|point| point.0.abs() < TOLERANCE));
    assert!(seen.says("difference of hss (first − second)"));
}

#[test]
fn no_difference_is_in_the_picture_unless_it_is_far() {
    let near = figure_difference(differences(&[0.2, 0.3], 0.25, (0.2, 0.3))).unwrap();
    assert!(near.frames()[0].x.0 < 0.0);
    assert!(!Seen::of(&near).lines(0, INK).is_empty());
    // Between 10 and 10.1 the differences would take a hundredth of the width.
    let far = figure_difference(differences(&[10.0, 10.1], 10.05, (10.0, 10.1))).unwrap();
    assert!(far.frames()[0].x.0 > 9.9);
    assert!(Seen::of(&far).lines(0, INK).is_empty());
}

#[test]
fn equal_differences_still_make_a_picture() {
    for value in [0.0, -0.25] {
        let seen = Seen::of(&figure_difference(differences(&[value; 7], value, (value, value))).unwrap());
        let bars = seen.bars(0, BLUE);
        assert_eq!(bars.len(), 1);
        close(bars[0].1.1, 7.0, 0.02);
        assert!(bars[0].0.0 - TOLERANCE <= value && value <= bars[0].1.0 + TOLERANCE);
    }
    assert_eq!(figure_difference(differences(&[f64::NAN], 0.0, (0.0, 0.0))).unwrap_err(), Error::Empty);
}
