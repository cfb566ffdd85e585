//! Ensembles: members that differ, a mean that is one, and the same bits for any number of threads.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

mod patterns;

use std::ops::ControlFlow;

use patterns::{Data, blobs, disc, score_loss};
use scorewise::Score;
use scorewise::multiclass::SimplexLoss;
use scorewise::sweep::{Bootstrap, Resampling};
use scorewise_table::split::{Shares, Split};
use scorewise_table::table::{Column, Table, Values};
use scorewise_table::target::Labels;
use scorewise_train::ensemble::{Ensemble, Trained, ensemble};
use scorewise_train::fit::{Objective, Sample, Settings, WarmStart};
use scorewise_train::{Engine, Matrix, Network, Shape};

fn trained(data: &Data, outputs: usize, settings: &Settings, members: usize, threads: usize) -> Trained {
    let shape = Shape::new(data.matrix.columns(), &[16, 8], outputs).unwrap();
    ensemble(&shape, &vec![data.sample(); members], settings, threads, |_, _, _| ControlFlow::Continue(())).unwrap()
}

fn bits(ensemble: &Ensemble) -> Vec<u32> {
    ensemble.members().iter().flat_map(|member| &member.parameters).map(|parameter| parameter.to_bits()).collect()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let warm_start = Some(WarmStart { epochs: Some(3), ..WarmStart::default() });
    let simplex = Objective::Simplex(SimplexLoss::new("mcc".parse().unwrap()));
    for (data, outputs, objective) in
        [(disc(500), 1, score_loss("f1", "cosine:0.5,0.2").into()), (blobs(500), 3, simplex)]
    {
        let settings = Settings { epochs: 5, warm_start, seed: 3, ..Settings::new(objective) };
        let one = trained(&data, outputs, &settings, 5, 1);
        for threads in [2, 8] {
            let other = trained(&data, outputs, &settings, 5, threads);
            assert_eq!(other, one, "{threads} threads");
            assert_eq!(bits(&other.ensemble), bits(&one.ensemble), "{threads} threads");
        }
        // Each with its own seed: no two are alike.
        for (at, member) in one.ensemble.members().iter().enumerate() {
            assert!(one.ensemble.members()[..at].iter().all(|other| other != member));
        }
        // Four blocks and a part of one.
        let many: Vec<u32> = (0..4500).map(|row| row % 500).collect();
        let alone = on_threads(1, || one.ensemble.probabilities(&data.matrix, &many));
        assert_eq!(on_threads(3, || one.ensemble.probabilities(&data.matrix, &many)), alone);
        assert_eq!(alone[..500 * outputs], alone[500 * outputs..1000 * outputs]);
    }
}

#[test]
fn probabilities_are_the_mean_of_the_members() {
    let matrix = Matrix::new(2, &[0.3, -0.8, 1.2, 0.4, -0.5, 0.9]).unwrap();
    for outputs in [1, 3] {
        let shape = Shape::new(2, &[5], outputs).unwrap();
        let members: Vec<Network> = (0..3).map(|seed| Network::glorot(shape.clone(), seed)).collect();
        let mut expected = vec![0.0; 2 * outputs];
        for member in &members {
            let mut logits = vec![0.0; 2 * outputs];
            Engine::new(&shape).forward(member, &matrix, &[2, 0], &mut logits);
            for (row, out) in logits.chunks_exact(outputs).zip(expected.chunks_exact_mut(outputs)) {
                let odds: Vec<f64> = row.iter().map(|logit| f64::from(*logit).exp()).collect();
                let rest = if outputs == 1 { 1.0 } else { 0.0 };
                let total = rest + odds.iter().sum::<f64>();
                out.iter_mut().zip(&odds).for_each(|(out, odds)| *out += odds / total / 3.0);
            }
        }
        let means = Ensemble::new(members).unwrap().probabilities(&matrix, &[2, 0]);
        for (mean, expected) in means.iter().zip(&expected) {
            assert!((mean - expected).abs() < 1e-14, "{mean} for {expected}");
        }
    }
}

#[test]
fn one_threshold_for_the_mean_serves_rows_not_seen() {
    let data = disc(2400);
    let (known, unseen): (Vec<u32>, Vec<u32>) = data.all_rows().into_iter().partition(|row| *row < 1600);
    let (training, validation): (Vec<u32>, Vec<u32>) = known.iter().partition(|row| *row % 3 != 0);
    let sample = Sample { training: &training, validation: &validation, ..data.sample() };
    let mut settings = Settings::new(score_loss("f1", "cosine:0.5,0.1"));
    (settings.epochs, settings.learning_rate) = (120, 5e-3);
    let shape = Shape::new(4, &[24, 12], 1).unwrap();
    let Trained { ensemble, fits } =
        ensemble(&shape, &[sample; 4], &settings, 2, |_, _, _| ControlFlow::Continue(())).unwrap();
    assert_eq!((ensemble.members().len(), fits.len()), (4, 4));
    let f1 = Score::parse("f1").unwrap();
    let threshold = ensemble.sweep(&sample, &validation).unwrap().best(&f1).unwrap().threshold;
    let value = f1.value(&ensemble.sweep(&sample, &unseen).unwrap().at(threshold));
    assert!(value > 0.85, "{value} at {threshold}");
}

#[test]
fn a_member_that_learnt_nothing_is_left_out() {
    // Without the cure some starts lie outside a narrow support and stay there.
    let data = disc(400);
    let settings = Settings { epochs: 3, cure: false, ..Settings::new(score_loss("tss", "cosine:0.62,0.03")) };
    let Trained { ensemble, fits } = trained(&data, 1, &settings, 12, 2);
    let successes = fits.iter().filter(|fit| fit.success).count();
    assert!(0 < successes && successes < 12, "{successes} of 12");
    assert_eq!(ensemble.members().len(), successes);
}

#[test]
fn an_interrupt_keeps_the_members_that_were_begun() {
    let data = disc(200);
    let shape = Shape::new(4, &[3], 1).unwrap();
    let settings = Settings { epochs: 4, ..Settings::new(score_loss("f1", "uniform")) };
    let stop = |member, epoch, _: &_| {
        if (member, epoch) == (1, 1) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let trained = ensemble(&shape, &[data.sample(); 5], &settings, 1, stop).unwrap();
    let lengths: Vec<usize> = trained.fits.iter().map(|fit| fit.history.len()).collect();
    assert_eq!(lengths, [4, 2]);
}

#[test]
fn ensembles_that_are_none_are_refused() {
    assert_eq!(Ensemble::new(Vec::new()).unwrap_err().to_string(), "ensemble: has no members");
    let network = |hidden| Network::glorot(Shape::new(2, &[hidden], 1).unwrap(), 0);
    assert!(Ensemble::new(vec![network(2), network(3)]).unwrap_err().to_string().contains("unlike shapes"));
    let settings = Settings::new(score_loss("f1", "uniform"));
    let shape = Shape::new(4, &[], 1).unwrap();
    let none = ensemble(&shape, &[], &settings, 1, |_, _, _| ControlFlow::Continue(()));
    assert_eq!(none.unwrap_err().to_string(), "ensemble: must be at least 1, not 0");
}

#[test]
fn each_member_answers_for_the_rows_that_it_has_not_learnt_from() {
    let data = disc(600);
    let settings = Settings { epochs: 60, ..Settings::new(score_loss("f1", "cosine:0.5,0.3")) };
    let whole = data.sample();
    let (first, second) = (whole.validation, &whole.training[..200]);
    let swapped = [whole.validation, &whole.training[200..]].concat();
    let samples = [whole, Sample { training: &swapped, validation: second, ..whole }];
    let shape = Shape::new(data.matrix.columns(), &[16, 8], 1).unwrap();
    let trained = ensemble(&shape, &samples, &settings, 1, |_, _, _| ControlFlow::Continue(())).unwrap();
    assert!(trained.fits.iter().all(|fit| fit.success), "a member that got stuck has no say");
    let (rows, probabilities) = trained.held_out(&samples);
    assert_eq!(rows.len(), first.len() + second.len());
    for (member, held) in [first, second].into_iter().enumerate() {
        let alone = Ensemble::new(vec![trained.fits[member].network.clone()]).unwrap();
        for (row, expected) in held.iter().zip(alone.probabilities(&data.matrix, held)) {
            let at = rows.binary_search(row).unwrap();
            assert_eq!(probabilities[at].to_bits(), expected.to_bits(), "row {row}");
        }
    }
    // With validation rows in common it is the mean of all.
    let common = [whole; 3];
    let trained = ensemble(&shape, &common, &settings, 1, |_, _, _| ControlFlow::Continue(())).unwrap();
    let (rows, probabilities) = trained.held_out(&common);
    assert_eq!(probabilities, trained.ensemble.probabilities(&data.matrix, &rows));
}

/// The numbers in [0, 1) from which the first weights of member 0 were made: a training whose steps are too short to move any weight.
fn units_behind_the_first_weights(seed: u64, inputs: usize) -> Vec<f64> {
    let values: Vec<f32> = (0..2 * inputs).map(|at| (at % 7) as f32 - 3.0).collect();
    let (matrix, rows) = (Matrix::new(inputs, &values).unwrap(), [0, 1]);
    let sample = Sample { matrix: &matrix, labels: &[0, 1], weights: None, training: &rows, validation: &rows };
    let settings = Settings {
        learning_rate: 1e-30,
        epochs: 1,
        cure: false,
        seed,
        ..Settings::new(score_loss("tss", "uniform:0,1"))
    };
    let shape = Shape::new(inputs, &[], 1).unwrap();
    let trained = ensemble(&shape, &[sample], &settings, 1, |_, _, _| ControlFlow::Continue(())).unwrap();
    let limit = (6.0 / (inputs + 1) as f64).sqrt();
    let layers = trained.ensemble.members()[0].to_layers();
    layers[0].weights.iter().map(|weight| (f64::from(*weight) / limit + 1.0) / 2.0).collect()
}

#[test]
fn first_weights_split_and_bootstrap_draw_from_generators_of_their_own() {
    const ROWS: usize = 200;
    for seed in [0, 1, 7, u64::MAX] {
        let units = units_behind_the_first_weights(seed, ROWS);
        assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));

        // What a Poisson bootstrap would make of these numbers in rows 1, 3, 5 …: 0 copies below 1/e.
        let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 100, seed };
        for replicate in 0..100 {
            let mut copies = vec![0; 2 * ROWS];
            bootstrap.copies(replicate, &[false; 2 * ROWS], &mut copies).unwrap();
            let drawn = copies.iter().skip(1).step_by(2).map(|copies| *copies == 0);
            let alike = drawn.zip(&units).filter(|(none, unit)| *none == (**unit < (-1.0f64).exp())).count();
            assert!(alike < ROWS * 3 / 4, "seed {seed}, replicate {replicate}: {alike} of {ROWS} rows alike");
        }

        // What a split would make of them: a shuffle of each class, whose end is the test.
        let classes: Vec<u32> = (0..ROWS as u32).map(|row| row % 2).collect();
        let names = vec!["no".to_string(), "yes".to_string()];
        let labels = Labels { classes, names, ahead: None };
        let column = Column { name: "x".into(), values: Values::Number(vec![0.0; ROWS]) };
        let table = Table { columns: vec![column], ..Table::default() };
        let (parts, _) = Split::Random.parts(&table, &labels, &Shares { test: 0.5, validation: 0.25 }, seed).unwrap();
        for class in 0..2 {
            let mut order: Vec<u32> = (0..ROWS as u32).filter(|row| row % 2 == class).collect();
            for (at, unit) in (1..order.len()).rev().zip(&units) {
                order.swap(at, (unit * (at + 1) as f64) as usize);
            }
            let alike = order[ROWS / 4..].iter().filter(|row| parts.test.contains(row)).count();
            assert!(alike < ROWS / 4 * 3 / 4, "seed {seed}, class {class}: {alike} of {} rows alike", ROWS / 4);
        }
    }
}
