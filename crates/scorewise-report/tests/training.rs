//! The figure of a training, read back from the picture.
#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod reading;

use reading::{BLUE, GREEN, INK, PURPLE, Seen, VERMILLION, same};
use scorewise_report::{EpochValues, Error, MemberCurves, ScoreByEpoch, TrainingCurves, figure_training};

/// Validation is 1 above training, coverage as given.
fn epochs(values: &[(f64, f64)]) -> Vec<EpochValues> {
    let epoch = |(training, coverage): &(f64, f64)| EpochValues {
        training: *training,
        validation: training + 1.0,
        coverage: *coverage,
    };
    values.iter().map(epoch).collect()
}

/// Three members that end after three, two and one epochs.
fn three() -> TrainingCurves {
    let member = |values: &[(f64, f64)], kept| MemberCurves { warm_up: vec![], main: epochs(values), kept };
    TrainingCurves {
        members: vec![
            member(&[(5.0, 1.0), (4.0, 0.75), (2.0, 0.5)], Some(2)),
            member(&[(1.0, 0.5), (2.0, 0.25)], Some(1)),
            member(&[(3.0, 0.0)], None),
        ],
        loss: "1 − tss".into(),
        score: Some(ScoreByEpoch { name: "tss".into(), values: vec![vec![0.1, 0.3, 0.5], vec![0.2, 0.7], vec![0.6]] }),
    }
}

#[test]
fn an_ensemble_is_a_band_and_its_median() {
    let seen = Seen::of(&figure_training(&three()).unwrap());
    assert_eq!(seen.frames.len(), 3, "loss, score, coverage; no warm-up");
    assert!(seen.frames.iter().all(|frame| frame.x == (1.0, 3.0)));
    // 5, 1, 3; then 4, 2; then 2.
    same(&seen.lines(0, BLUE)[0], &[(1.0, 3.0), (2.0, 3.0), (3.0, 2.0)], 0.01);
    same(&seen.lines(0, VERMILLION)[0], &[(1.0, 4.0), (2.0, 4.0), (3.0, 3.0)], 0.01);
    same(&seen.areas(0, BLUE)[0], &[(1.0, 5.0), (2.0, 4.0), (3.0, 2.0), (2.0, 2.0), (1.0, 1.0)], 0.01);
    same(&seen.lines(1, GREEN)[0], &[(1.0, 0.2), (2.0, 0.5), (3.0, 0.5)], 0.01);
    same(&seen.lines(2, PURPLE)[0], &[(1.0, 0.5), (3.0, 0.5)], 0.01);
    assert_eq!(seen.frames[2].y, (0.0, 1.0));
}

#[test]
fn kept_epochs_are_dots_on_the_members_own_values() {
    let seen = Seen::of(&figure_training(&three()).unwrap());
    // Epochs 2 and 1 from 0 are 3 and 2; validation there 2 + 1 and 2 + 1.
    same(&seen.dots(0, INK), &[(3.0, 3.0), (2.0, 3.0)], 0.01);
    same(&seen.dots(1, INK), &[(3.0, 0.5), (2.0, 0.7)], 0.01);
    assert!(seen.dots(2, INK).is_empty() && seen.says("epochs kept") && seen.says("lowest to highest member"));
}

#[test]
fn a_warm_up_has_its_own_panel_and_one_member_no_band() {
    let member = MemberCurves {
        warm_up: epochs(&[(9.0, 0.0), (8.0, 0.1)]),
        main: epochs(&[(5.0, 0.5), (4.0, 0.6), (6.0, 0.7)]),
        kept: Some(1),
    };
    let curves = TrainingCurves { members: vec![member], loss: "1 − hss".into(), score: None };
    let seen = Seen::of(&figure_training(&curves).unwrap());
    assert_eq!(seen.frames.len(), 3);
    assert!(seen.says("Cross-entropy first") && seen.says("1 − hss") && seen.says("epoch kept"));
    same(&seen.lines(0, BLUE)[0], &[(1.0, 9.0), (2.0, 8.0)], 0.01);
    same(&seen.lines(1, BLUE)[0], &[(1.0, 5.0), (2.0, 4.0), (3.0, 6.0)], 0.01);
    same(&seen.lines(2, PURPLE)[0], &[(1.0, 0.5), (3.0, 0.7)], 0.01);
    assert!((0..3).all(|panel| seen.areas(panel, BLUE).is_empty()) && !seen.says("lowest to highest member"));
}

#[test]
fn nothing_to_draw_is_said() {
    let curves = TrainingCurves { members: vec![MemberCurves::default()], ..TrainingCurves::default() };
    assert_eq!(figure_training(&curves).unwrap_err(), Error::Empty);
}
