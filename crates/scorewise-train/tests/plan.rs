//! A model file says everything that is needed to train it again.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use scorewise_table::split::Split;
use scorewise_table::table::{Column, Reading, Table, Values};
use scorewise_train::backend::Cpu;
use scorewise_train::network::{Optimiser, WarmStart};
use scorewise_train::plan::{LossName, Plan, Recipe, RecipeName, ThresholdRule, TrainingOptions};
use scorewise_train::train::train;
use scorewise_train::{Error, Model};

fn table() -> Table {
    let number = |name: &str, of: &dyn Fn(usize) -> f64| Column {
        name: name.into(),
        values: Values::Number((0..300).map(of).collect()),
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

fn plans() -> Result<Vec<Plan>, Error> {
    let mut strong = Plan::new("y", "tss".parse()?);
    let options = TrainingOptions { recipe: Some(RecipeName::Strong), ensemble: Some(3), ..TrainingOptions::default() };
    options.apply(&mut strong, ("plain", Recipe::PLAIN))?;
    assert!(strong.own_validation);
    let mut ahead = Plan::new("x > 0.8", "csi".parse()?);
    (ahead.lead, ahead.split, ahead.choice.lags) = (1, Split::Time(None), 2);
    (ahead.choice.drop, ahead.threshold, ahead.seed) = (vec!["y".into()], ThresholdRule::Fixed(0.3), 7);
    ahead.network_mut().optimiser = Optimiser::Sgd;
    let mut grouped = Plan::new("y", "f1".parse()?);
    (grouped.split, grouped.weight, grouped.loss) = (Split::Group("g".into()), Some("w".into()), LossName::Exact);
    grouped.network_mut().warm_start = Some(WarmStart { slower: 0.3, epochs: Some(2), ..WarmStart::default() });
    let mut plans = vec![strong, ahead, grouped];
    for plan in &mut plans {
        (plan.network_mut().hidden, plan.network_mut().epochs) = ("4".parse()?, 3);
    }
    Ok(plans)
}

fn bytes(plan: &Plan) -> Result<Vec<u8>, Error> {
    let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
    train(&table(), None, &Reading::default(), plan, &Cpu { threads: 1 }, &watch)?.model.to_bytes()
}

#[test]
fn a_plan_read_from_a_model_file_trains_the_same_bytes() -> Result<(), Error> {
    for plan in plans()? {
        let first = bytes(&plan)?;
        let kept = Model::from_bytes("waves.scorewise", &first)?.plan.expect("a plan is in every file");
        let mut differences = String::new();
        if kept != plan {
            write!(differences, "{kept:#?}\n{plan:#?}").expect("a text takes all");
        }
        assert_eq!(differences, "");
        assert!(bytes(&kept)? == first, "trained again from its own file, the model is another");
        let other = Plan { seed: plan.seed + 1, ..kept };
        assert!(bytes(&other)? != first, "the test can fail");
    }
    Ok(())
}
