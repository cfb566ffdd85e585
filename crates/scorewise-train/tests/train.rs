//! Tests of whole training runs: which rows the predictions of a stopped run come from.

use std::ops::ControlFlow;

use scorewise_table::table::{Column, Reading, Table, Values};
use scorewise_train::backend::{Backend, Cpu};
use scorewise_train::ensemble::held_out_probabilities;
use scorewise_train::fit::{Epoch, Fit, Sample};
use scorewise_train::plan::{Plan, Recipe, TrainingOptions};
use scorewise_train::train::prepare;

fn never_stop(_: usize, _: usize, _: &Epoch) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn column(name: &str, rows: usize, value: impl Fn(usize) -> f64) -> Column {
    Column { name: name.into(), values: Values::Number((0..rows).map(value).collect()) }
}

fn wave(row: usize) -> f64 {
    (row as f64 * 0.7).sin() + (row as f64 * 0.31).cos()
}

/// The plan of the default recipe with few and small networks.
fn plan() -> Plan {
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
fn a_fit_keeps_the_validation_rows_of_its_own_job_if_an_earlier_job_was_never_begun() {
    let event = |row: usize| f64::from(u8::from(wave(row) + 0.3 * (row as f64 * 1.9).sin() > 0.8));
    let columns = vec![column("x", 200, wave), column("y", 200, event)];
    let table = Table { file: "waves.csv".into(), columns, ..Table::default() };
    let plan = plan();
    let prepared = prepare(&table, false, &plan).unwrap();
    let (datasets, jobs) = (prepared.datasets(), prepared.jobs());
    let mut fits = Cpu { threads: 1 }.fit(datasets, jobs, &never_stop).unwrap();
    // If the user stops a run on several threads, a job may not have begun although a later one has.
    fits[0] = None;
    fits[2] = None;
    let begun: Vec<Fit> = fits.iter().flatten().cloned().collect();
    let samples: Vec<Sample<'_>> = [1, 3, 4].map(|job: usize| datasets[0].sample(jobs[job].split)).to_vec();
    let (rows, expected) = held_out_probabilities(&begun, &samples);
    let trained = prepared.finish(fits, None, &Reading::default()).unwrap();
    assert_eq!(trained.fits.len(), 3);
    assert_eq!((trained.validation.labels.len(), trained.validation.probabilities), (rows.len(), expected));
}
