//! Tests of whole training runs: the validation predictions of a run that was stopped, and the notes of a cross-validation.

use std::ops::ControlFlow;

use scorewise_table::split::CrossValidation;
use scorewise_table::table::{Column, Reading, Table, Values};
use scorewise_train::backend::{Backend, Cpu};
use scorewise_train::ensemble::held_out_probabilities;
use scorewise_train::fit::{Epoch, Fit, Sample};
use scorewise_train::learner::Member;
use scorewise_train::plan::{Plan, Recipe, TrainingOptions};
use scorewise_train::train::{cross_validate, prepare};

/// A watcher that never stops a training run.
fn never_stop(_job: usize, _number: usize, _epoch: &Epoch) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A column of numbers; `value` returns the number of a row.
fn numeric_column(name: &str, rows: usize, value: impl Fn(usize) -> f64) -> Column {
    Column { name: name.into(), values: Values::Number((0..rows).map(value).collect()) }
}

/// The value of a feature in this row: a sum of two waves over the rows.
fn wave(row: usize) -> f64 {
    (row as f64 * 0.7).sin() + (row as f64 * 0.31).cos()
}

/// The plan of the default recipe, but with one small network for each fold and few epochs.
fn small_default_plan() -> Plan {
    let mut plan = Plan::new("y", "f1".parse().unwrap());
    let options = TrainingOptions {
        ensemble: Some(1),
        epochs: Some(3),
        hidden: Some("4".parse().unwrap()),
        ..TrainingOptions::default()
    };
    options.apply(&mut plan, ("default", Recipe::DEFAULT)).unwrap();
    plan
}

#[test]
fn a_training_result_keeps_the_validation_rows_of_its_own_job_if_an_earlier_job_was_never_begun() {
    let event = |row: usize| f64::from(u8::from(wave(row) + 0.3 * (row as f64 * 1.9).sin() > 0.8));
    let columns = vec![numeric_column("x", 200, wave), numeric_column("y", 200, event)];
    let table = Table { file: "waves.csv".into(), columns, ..Table::default() };
    let plan = small_default_plan();
    let prepared = prepare(&table, false, &plan).unwrap();
    let (datasets, jobs) = (prepared.datasets(), prepared.jobs());
    let mut fits = Cpu { threads: 1 }.fit(datasets, jobs, &never_stop).unwrap();
    // If the user stops a run on several threads, some jobs may not have begun although later jobs have; here these are jobs 0 and 2.
    fits[0] = None;
    fits[2] = None;
    let begun: Vec<Fit> = fits.iter().flatten().cloned().collect();
    let samples: Vec<Sample<'_>> = [1, 3, 4].map(|job: usize| datasets[0].sample(jobs[job].split)).to_vec();
    let (rows, expected) = held_out_probabilities(&begun, &samples);
    let trained = prepared.finish(fits, None, &Reading::default()).unwrap();
    assert_eq!(trained.fits.len(), 3);
    assert_eq!((trained.validation.labels.len(), trained.validation.probabilities), (rows.len(), expected));
}

#[test]
fn a_training_result_has_a_weight_above_0_if_and_only_if_it_is_a_member_of_the_model() {
    let event = |row: usize| f64::from(u8::from(wave(row) + 0.3 * (row as f64 * 1.9).sin() > 0.8));
    let columns = vec![numeric_column("x", 200, wave), numeric_column("y", 200, event)];
    let table = Table { file: "waves.csv".into(), columns, ..Table::default() };
    let mut plan = Plan::new("y", "f1".parse().unwrap());
    TrainingOptions::default().apply(&mut plan, ("default", Recipe::DEFAULT)).unwrap();
    let fits = {
        let prepared = prepare(&table, false, &plan).unwrap();
        Cpu { threads: 1 }.fit(prepared.datasets(), prepared.jobs(), &never_stop).unwrap()
    };
    // The linear models come last. They are the only learner that trains one member for each of the five folds.
    let first_linear = fits.len() - 5;
    let finish =
        |fits: Vec<Option<Fit>>| prepare(&table, false, &plan).unwrap().finish(fits, None, &Reading::default());
    let kinds = |fits: &[Fit], shares: &[f64]| -> Vec<&'static str> {
        fits.iter().zip(shares).filter(|(_, share)| **share > 0.0).map(|(fit, _)| fit.member.kind()).collect()
    };
    // If a learner has only one member for a fold, this member is used even if it learnt nothing.
    let mut one_failed = fits.clone();
    one_failed[first_linear].as_mut().unwrap().success = false;
    let trained = finish(one_failed).unwrap();
    assert_eq!(trained.model.members.len(), fits.len());
    assert_eq!(kinds(&trained.fits, &trained.shares).len(), fits.len());
    // A learner whose members have not predicted all rows is left out of the model, so the weight of each of its members is 0.
    let mut one_missing = fits.clone();
    one_missing[first_linear] = None;
    let trained = finish(one_missing).unwrap();
    let of_model: Vec<&str> = trained.model.members.iter().map(Member::kind).collect();
    assert_eq!(kinds(&trained.fits, &trained.shares), of_model);
    assert_eq!(of_model.len(), fits.len() - 5);
}

#[test]
fn a_cross_validation_reports_every_note_once() {
    // Every row occurs twice. There are a constant column, a column that equals the target, and a row without a target.
    let event = |row: usize| f64::from(u8::from(row / 2 % 5 == 3));
    let columns = vec![
        numeric_column("x", 201, |row| wave(row / 2)),
        numeric_column("constant", 201, |_| 1.0),
        numeric_column("copy", 201, event),
        numeric_column("y", 201, |row| if row == 200 { f64::NAN } else { event(row) }),
    ];
    let table = Table { file: "waves.csv".into(), columns, ..Table::default() };
    let folds = CrossValidation { folds: 4, repeats: 2, validation: 0.0 };
    let (results, notes) =
        cross_validate(&table, &small_default_plan(), &folds, &Cpu { threads: 1 }, &never_stop).unwrap();
    assert_eq!(results.unwrap().len(), 8);
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    let expected = [
        "1 row is left out: its target value is missing",
        "every training row holds `1`",
        "alone predicts the target almost perfectly",
        "test rows",
    ];
    for part in expected {
        assert_eq!(notes.iter().filter(|note| note.contains(part)).count(), 1, "{part}: {notes:#?}");
    }
    // A note that is the same in all folds does not name a fold.
    assert!(notes.contains(&"column `y`: 1 row is left out: its target value is missing".to_owned()), "{notes:#?}");
    assert!(notes.iter().any(|note| note.starts_with("column `constant`: dropped")), "{notes:#?}");
    assert!(
        notes.iter().any(|note| note.starts_with("fold 1 of repeat 1: ") && note.contains("test rows")),
        "{notes:#?}"
    );
}
