//! A model file says everything that is needed to train it again.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use scorewise_table::split::Split;
use scorewise_table::table::{Column, Reading, Table, Values};
use scorewise_train::fit::{Method, WarmStart};
use scorewise_train::train::{Cut, LossName, Plan, Recipe, train};
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

fn plans() -> Vec<Plan> {
    let mut strong = Plan::new("y", "tss");
    let recipe = Recipe::STRONG;
    (strong.prior, strong.cut, strong.ensemble) = (recipe.prior.into(), recipe.cut, 3);
    (strong.own_validation, strong.recipe) = (true, Some("strong".into()));
    strong.settings = recipe.settings(strong.settings);
    let mut ahead = Plan::new("x > 0.8", "csi");
    (ahead.lead, ahead.split, ahead.choice.lags) = (1, Split::Time(None), 2);
    (ahead.choice.drop, ahead.cut, ahead.seed) = (vec!["y".into()], Cut::Given(0.3), 7);
    ahead.settings.method = Method::Descent { momentum: 0.9 };
    let mut grouped = Plan::new("y", "f1");
    (grouped.split, grouped.weight, grouped.loss) = (Split::Group("g".into()), Some("w".into()), LossName::Exact);
    grouped.settings.warm_start = Some(WarmStart { slower: 0.3, epochs: Some(2), ..WarmStart::default() });
    let mut plans = vec![strong, ahead, grouped];
    for plan in &mut plans {
        plan.hidden = vec![4];
        plan.settings.epochs = 3;
    }
    plans
}

fn bytes(plan: &Plan) -> Result<Vec<u8>, Error> {
    train(&table(), None, &Reading::default(), plan, |_, _, _| ControlFlow::Continue(()))?.model.to_bytes()
}

#[test]
fn a_plan_read_from_a_model_file_trains_the_same_bytes() -> Result<(), Error> {
    for plan in plans() {
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
