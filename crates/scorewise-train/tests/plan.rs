//! Tests that a model file contains all settings that are needed to train the same model again.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use scorewise_table::split::Split;
use scorewise_table::table::{Column, Reading, Table, Values};
use scorewise_train::backend::Cpu;
use scorewise_train::network::{Optimiser, WarmStart};
use scorewise_train::plan::{LossName, Plan, Recipe, RecipeName, ThresholdRule, TrainingOptions};
use scorewise_train::train::train;
use scorewise_train::{Error, Model};

/// A table of 300 hours with columns for the time, an input, a target, weights and groups.
fn example_table() -> Table {
    let number = |name: &str, value: &dyn Fn(usize) -> f64| Column {
        name: name.into(),
        values: Values::Number((0..300).map(value).collect()),
    };
    let wave = |row: usize| (row as f64 * 0.7).sin() + (row as f64 * 0.31).cos();
    let times = Values::Time((0..300).map(|row| 1_600_000_000 + row * 3600).collect());
    Table {
        file: "waves.csv".into(),
        columns: vec![
            Column { name: "time".into(), values: times },
            number("x", &wave),
            number("y", &|row| f64::from(u8::from(wave(row) + 0.3 * (row as f64 * 1.9).sin() > 0.8))),
            number("w", &|row| 0.5 + (row % 3) as f64),
            number("g", &|row| (row % 10) as f64),
        ],
        ..Table::default()
    }
}

/// Plans that together use many of the settings.
fn example_plans() -> Result<Vec<Plan>, Error> {
    let mut strong = Plan::new("y", "tss".parse()?);
    let options = TrainingOptions { recipe: Some(RecipeName::Strong), ensemble: Some(3), ..TrainingOptions::default() };
    options.apply(&mut strong, ("default", Recipe::DEFAULT))?;
    assert!(strong.own_validation);
    let mut forecast = Plan::new("x > 0.8", "csi".parse()?);
    (forecast.lead, forecast.split, forecast.choice.lags) = (1, Split::Time(None), 2);
    (forecast.choice.drop, forecast.threshold, forecast.seed) = (vec!["y".into()], ThresholdRule::Fixed(0.3), 7);
    forecast.network_mut().unwrap().optimiser = Optimiser::Sgd;
    let mut grouped = Plan::new("y", "f1".parse()?);
    (grouped.split, grouped.weight, grouped.loss) = (Split::Group("g".into()), Some("w".into()), LossName::Exact);
    grouped.network_mut().unwrap().warm_start =
        Some(WarmStart { slower: 0.3, epochs: Some(2), ..WarmStart::default() });
    let mut plans = vec![strong, forecast, grouped];
    for plan in &mut plans {
        (plan.network_mut().unwrap().hidden, plan.network_mut().unwrap().epochs) = ("4".parse()?, 3);
    }
    Ok(plans)
}

/// Trains a model according to the plan; returns the bytes of its model file.
fn trained_model_bytes(plan: &Plan) -> Result<Vec<u8>, Error> {
    let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
    train(&example_table(), None, &Reading::default(), plan, &Cpu { threads: 1 }, &watch)?.model.to_bytes()
}

#[test]
fn training_with_the_plan_in_a_model_file_gives_the_same_model_file() -> Result<(), Error> {
    for plan in example_plans()? {
        let first = trained_model_bytes(&plan)?;
        let read = Model::from_bytes("waves.scorewise", &first)?.plan.expect("the model file should contain a plan");
        let mut differences = String::new();
        if read != plan {
            write!(differences, "{read:#?}\n{plan:#?}").expect("writing to a string cannot fail");
        }
        assert_eq!(differences, "");
        assert!(
            trained_model_bytes(&read)? == first,
            "training with the plan of a model file must give the same model"
        );
        let other = Plan { seed: plan.seed + 1, ..read };
        assert!(trained_model_bytes(&other)? != first, "another seed must give another model");
    }
    Ok(())
}
