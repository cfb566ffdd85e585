//! Draws training curves and reads the data back from the picture.
#![allow(clippy::unwrap_used)] // a panic is how a test fails

use crate::picture_reader::{BLUE, GREEN, INK, PURPLE, ReadPicture, VERMILLION, assert_points_close};
use scorewise_report::{EpochValues, Error, MemberCurves, ScoreByEpoch, TrainingCurves, figure_training};

/// Creates epochs from pairs of training loss and coverage; the validation loss is the training loss plus 1.
fn epochs(values: &[(f64, f64)]) -> Vec<EpochValues> {
    let epoch = |(training, coverage): &(f64, f64)| EpochValues {
        training: *training,
        validation: training + 1.0,
        coverage: *coverage,
    };
    values.iter().map(epoch).collect()
}

/// Three ensemble members that are trained for three, two and one epochs.
fn three_members() -> TrainingCurves {
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
fn an_ensemble_is_drawn_as_a_band_and_a_median_line() {
    let drawing = ReadPicture::new(&figure_training(&three_members()).unwrap());
    assert_eq!(
        drawing.frames.len(),
        3,
        "there are panels for the loss, the score and the coverage, but none for the warm-up"
    );
    assert!(drawing.frames.iter().all(|frame| frame.x == (1.0, 3.0)));
    // The line is the median of the members that are still training. Their losses are 5, 1, 3 in the first epoch, 4, 2 in the second and 2 in
    // the third.
    assert_points_close(&drawing.lines(0, BLUE)[0], &[(1.0, 3.0), (2.0, 3.0), (3.0, 2.0)], 0.01);
    assert_points_close(&drawing.lines(0, VERMILLION)[0], &[(1.0, 4.0), (2.0, 4.0), (3.0, 3.0)], 0.01);
    assert_points_close(
        &drawing.areas(0, BLUE)[0],
        &[(1.0, 5.0), (2.0, 4.0), (3.0, 2.0), (2.0, 2.0), (1.0, 1.0)],
        0.01,
    );
    assert_points_close(&drawing.lines(1, GREEN)[0], &[(1.0, 0.2), (2.0, 0.5), (3.0, 0.5)], 0.01);
    assert_points_close(&drawing.lines(2, PURPLE)[0], &[(1.0, 0.5), (3.0, 0.5)], 0.01);
    assert_eq!(drawing.frames[2].y, (0.0, 1.0));
}

#[test]
fn a_kept_epoch_is_drawn_as_a_dot_at_the_value_of_its_member() {
    let drawing = ReadPicture::new(&figure_training(&three_members()).unwrap());
    // Two members keep the weights of an epoch: of epoch 3 (index 2) and of epoch 2 (index 1). The training loss of both epochs is 2, so their
    // validation loss is 3.
    assert_points_close(&drawing.dots(0, INK), &[(3.0, 3.0), (2.0, 3.0)], 0.01);
    assert_points_close(&drawing.dots(1, INK), &[(3.0, 0.5), (2.0, 0.7)], 0.01);
    assert!(
        drawing.dots(2, INK).is_empty()
            && drawing.has_text("epochs kept")
            && drawing.has_text("range over the ensemble members")
    );
}

#[test]
fn a_warm_up_has_its_own_panel_and_a_single_member_has_no_band() {
    let member = MemberCurves {
        warm_up: epochs(&[(9.0, 0.0), (8.0, 0.1)]),
        main: epochs(&[(5.0, 0.5), (4.0, 0.6), (6.0, 0.7)]),
        kept: Some(1),
    };
    let curves = TrainingCurves { members: vec![member], loss: "1 − hss".into(), score: None };
    let drawing = ReadPicture::new(&figure_training(&curves).unwrap());
    assert_eq!(drawing.frames.len(), 3);
    assert!(drawing.has_text("Cross-entropy warm-up") && drawing.has_text("1 − hss") && drawing.has_text("epoch kept"));
    assert_points_close(&drawing.lines(0, BLUE)[0], &[(1.0, 9.0), (2.0, 8.0)], 0.01);
    assert_points_close(&drawing.lines(1, BLUE)[0], &[(1.0, 5.0), (2.0, 4.0), (3.0, 6.0)], 0.01);
    assert_points_close(&drawing.lines(2, PURPLE)[0], &[(1.0, 0.5), (3.0, 0.7)], 0.01);
    assert!(
        (0..3).all(|panel| drawing.areas(panel, BLUE).is_empty())
            && !drawing.has_text("range over the ensemble members")
    );
}

#[test]
fn a_figure_without_data_is_an_error() {
    let curves = TrainingCurves { members: vec![MemberCurves::default()], ..TrainingCurves::default() };
    assert_eq!(figure_training(&curves).unwrap_err(), Error::Empty);
}
