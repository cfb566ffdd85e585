//! Tests of training for a score in which errors are weighted by their timing.

use scorewise_table::split::Split;
use scorewise_table::table::{Category, Column, Reading, Table, Values};
use scorewise_train::backend::{Cpu, Watch};
use scorewise_train::fit::{Epoch, Objective};
use scorewise_train::learner::{Learner, LearnerName};
use scorewise_train::model::Model;
use scorewise_train::plan::{Plan, Recipe, TrainingOptions};
use scorewise_train::train::{Trained, prepare, train};

use std::ops::ControlFlow;

/// Two stations with 300 hours each. An event occurs in every hour in which the sum of two waves is high. The inputs are this sum with added noise,
/// in the same hour and in the next hour.
fn stations() -> Table {
    let wave = |row: usize| (row as f64 * 0.21).sin() + 0.7 * (row as f64 * 0.083).cos();
    let noise = |row: usize| ((row * 7919) % 101) as f64 / 101.0 - 0.5;
    let numbers = |value: &dyn Fn(usize) -> f64| Values::Number((0..600).map(value).collect());
    let columns = vec![
        Column { name: "x".into(), values: numbers(&|row| wave(row) + 0.9 * noise(row)) },
        Column { name: "z".into(), values: numbers(&|row| wave(row + 1) + 0.9 * noise(row * 3 + 1)) },
        Column { name: "y".into(), values: numbers(&|row| f64::from(u8::from(wave(row) > 1.0))) },
        Column {
            name: "station".into(),
            values: Values::Category(Category {
                codes: (0..600).map(|row| u32::from(row >= 300)).collect(),
                levels: vec!["a".into(), "b".into()],
            }),
        },
        Column { name: "time".into(), values: Values::Time((0..600).map(|row| 3600 * (row % 300)).collect()) },
    ];
    Table { file: "stations.csv".into(), columns, ..Table::default() }
}

/// A plan for training these learners for a score in which errors are weighted by their timing, as `temporal` says. Networks are small.
fn plan(temporal: &str, learners: &[LearnerName]) -> Plan {
    let mut plan = Plan::new("y", "csi".parse().unwrap());
    let options = TrainingOptions {
        temporal: Some(temporal.parse().unwrap()),
        learners: Some(learners.to_vec()),
        cross_fit: Some(3),
        ensemble: Some(1),
        epochs: Some(6),
        hidden: Some("8".parse().unwrap()),
        ..TrainingOptions::default()
    };
    options.apply(&mut plan, ("default", Recipe::DEFAULT)).unwrap();
    assert_eq!(TrainingOptions::of_plan(&plan).temporal, Some(temporal.parse().unwrap()));
    plan.split = Split::Time(Some("time".into()));
    plan.choice.group = Some("station".into());
    plan
}

struct NeverStop;

impl Watch for NeverStop {
    fn epoch(&self, _: usize, _: usize, _: &Epoch) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn trained(plan: &Plan, threads: usize) -> Trained {
    train(&stations(), None, &Reading::default(), plan, &Cpu { threads }, &NeverStop).unwrap()
}

#[test]
fn networks_are_trained_for_the_weighted_score_and_the_model_file_says_so() {
    let plan = plan("value", &[LearnerName::Networks]);
    let result = trained(&plan, 1);
    assert!(result.fits.iter().all(|fit| !fit.history.is_empty()), "every network has a main phase of training");
    let words = result.model.decision.words();
    assert!(words.contains("with errors weighted by their timing"), "{words}");
    let bytes = result.model.to_bytes().unwrap();
    let loaded = Model::from_bytes("m.scorewise", &bytes).unwrap();
    assert_eq!(loaded, result.model);
    assert_eq!(loaded.plan.unwrap().temporal, Some("value".parse().unwrap()));
    // The column `station` tells the series apart during training. Predictions do not need it.
    assert_eq!(loaded.encoder.columns().iter().filter(|(name, _)| *name == "station").count(), 0);
    // The same seed gives the same model for any number of threads.
    assert_eq!(trained(&plan, 3).model.to_bytes().unwrap(), bytes);
    // If errors are not weighted, the networks are different.
    let mut plain = plan.clone();
    plain.temporal = None;
    assert_ne!(trained(&plain, 1).model.members, result.model.members);
}

#[test]
fn a_window_never_reaches_over_the_border_of_a_fold_or_a_series() {
    let (table, plan) = (stations(), plan("sum", &[LearnerName::Networks]));
    let prepared = prepare(&table, false, &plan).unwrap();
    let dataset = &prepared.datasets()[0];
    let places = dataset.places.as_ref().unwrap();
    // A place is the number of a row in the order of time. The number 300 is left out, so that rows of different stations are not neighbours.
    assert_eq!((places[0], places[299], places[300], places[599]), (0, 299, 301, 600));
    for job in prepared.jobs() {
        assert!(matches!(job.objective, Objective::Temporal(_)), "{:?}", job.objective);
        let split = &dataset.splits[job.split];
        let mut training: Vec<u32> = split.training.iter().map(|row| places[*row as usize]).collect();
        training.sort_unstable();
        let held_out: Vec<u32> = split.validation.iter().map(|row| places[*row as usize]).collect();
        // Only rows with consecutive places are neighbours, so the rows before and after a held-out row are not neighbours of each other.
        for pair in training.windows(2).filter(|pair| pair[0] + 1 == pair[1]) {
            assert!(!held_out.contains(&pair[0]) && !held_out.contains(&pair[1]));
        }
        let mut times: Vec<i64> = held_out.iter().map(|place| i64::from(place % 301)).collect();
        times.sort_unstable();
        times.dedup();
        assert_eq!(times.len() as i64, times[times.len() - 1] - times[0] + 1, "a fold is one block of time");
    }
}

#[test]
fn trees_are_trained_for_the_unweighted_score_and_the_pool_is_chosen_by_the_weighted_score() {
    let plan = plan("maximum:0.5", &[LearnerName::Trees, LearnerName::Linear]);
    let table = stations();
    let prepared = prepare(&table, false, &plan).unwrap();
    for job in prepared.jobs() {
        let is_temporal = matches!(job.objective, Objective::Temporal(_));
        assert_eq!(is_temporal, matches!(job.learner, Learner::Network(_)));
    }
    let result = trained(&plan, 2);
    assert!(result.model.decision.words().contains("weighted by their timing"));
    assert!(result.test.unwrap().places.is_some());
}

#[test]
fn settings_that_do_not_go_with_a_time_series_are_refused() {
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan("value", &[LearnerName::Networks]);
        change(&mut plan);
        train(&stations(), None, &Reading::default(), &plan, &Cpu { threads: 1 }, &NeverStop).unwrap_err().to_string()
    };
    let random = refused(&|plan| plan.split = Split::Random);
    assert!(random.starts_with("temporal: a random split would put neighbouring rows"), "{random}");
    let exact = refused(&|plan| plan.loss = scorewise_train::plan::LossName::Exact);
    let problem = "temporal: the exact expected score is not known if errors are weighted by their timing";
    assert!(exact.starts_with(problem), "{exact}");
    let ties = refused(&|plan| plan.choice.group = None);
    assert!(ties.starts_with("group: 300 of 600 rows have the same time"), "{ties}");
}
