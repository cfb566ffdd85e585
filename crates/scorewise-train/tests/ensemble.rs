//! Tests of ensembles: members have different seeds, their probabilities are averaged, and any number of threads gives the same bits.

#![allow(clippy::unwrap_used)] // Tests may call `unwrap`, because a panic fails the test.

use std::ops::ControlFlow;

use crate::patterns::{TestData, TrainingSetup, blobs, disc, fit_all, hidden_layers, score_loss, threshold_sweep};
use scorewise::multiclass::SimplexLoss;
use scorewise::sweep::{Bootstrap, Resampling};
use scorewise::{Purpose, Score, stream};
use scorewise_table::split::{Split, SplitShares};
use scorewise_table::table::{Column, Table, Values};
use scorewise_table::target::Labels;
use scorewise_train::Matrix;
use scorewise_train::backend::{Backend, Cpu};
use scorewise_train::ensemble::{Ensemble, check_members, held_out_probabilities};
use scorewise_train::fit::{Fit, Objective, Sample};
use scorewise_train::job::{Dataset, Job, RowSplit};
use scorewise_train::learner::Member;
use scorewise_train::network::{Engine, Network, NetworkShape, WarmStart};

/// One job for each member of an ensemble. If the data set has several splits, every member uses a different split.
fn jobs(dataset: &Dataset, training: &TrainingSetup, members: usize) -> Vec<Job> {
    let split = |member: usize| if dataset.splits.len() > 1 { member } else { 0 };
    (0..members)
        .map(|member| training.job(split(member), stream(training.seed, Purpose::Member, member as u64)))
        .collect()
}

/// Trains an ensemble; returns it with the training results of its members.
fn train_ensemble(data: &TestData, training: &TrainingSetup, members: usize, threads: usize) -> (Ensemble, Vec<Fit>) {
    let dataset = data.dataset();
    let fits = fit_all(std::slice::from_ref(&dataset), &jobs(&dataset, training, members), threads);
    (Ensemble::of_fits(&fits).unwrap(), fits)
}

/// The parameters of a member that is a network.
fn parameters(member: &Member) -> &[f32] {
    let Member::Network(network) = member else { panic!("not a network") };
    &network.parameters
}

/// The bits of all parameters of all members.
fn parameter_bits(ensemble: &Ensemble) -> Vec<u32> {
    ensemble.members().iter().flat_map(parameters).map(|parameter| parameter.to_bits()).collect()
}

/// Runs `work` on a pool with this number of threads.
fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn an_ensemble_has_the_same_bits_for_any_number_of_threads() {
    let warm_start = Some(WarmStart { epochs: Some(3), ..WarmStart::default() });
    let simplex = Objective::Simplex(SimplexLoss::new("mcc".parse().unwrap()));
    for (data, outputs, objective) in
        [(disc(500), 1, score_loss("f1", "cosine:0.5,0.2").into()), (blobs(500), 3, simplex)]
    {
        let mut settings = TrainingSetup { seed: 3, ..TrainingSetup::new(objective) };
        (settings.epochs, settings.warm_start, settings.hidden) = (5, warm_start, hidden_layers(&[16, 8]));
        let (one, fits) = train_ensemble(&data, &settings, 5, 1);
        for threads in [2, 8] {
            let (other, other_fits) = train_ensemble(&data, &settings, 5, threads);
            assert_eq!((&other, &other_fits), (&one, &fits), "{threads} threads");
            assert_eq!(parameter_bits(&other), parameter_bits(&one), "{threads} threads");
        }
        // Every member is trained with a different seed, so no two members have equal parameters.
        for (index, member) in one.members().iter().enumerate() {
            assert!(one.members()[..index].iter().all(|other| other != member));
        }
        // Blocks of rows are predicted in parallel; 4500 rows fill more than four blocks.
        let repeated_rows: Vec<u32> = (0..4500).map(|row| row % 500).collect();
        let expected = on_threads(1, || one.probabilities(&data.matrix, &repeated_rows));
        assert_eq!(on_threads(3, || one.probabilities(&data.matrix, &repeated_rows)), expected);
        assert_eq!(expected[..500 * outputs], expected[500 * outputs..1000 * outputs]);
    }
}

#[test]
fn probabilities_are_the_mean_of_the_members() {
    let matrix = Matrix::new(2, &[0.3, -0.8, 1.2, 0.4, -0.5, 0.9]).unwrap();
    for outputs in [1, 3] {
        let shape = NetworkShape::new(2, &[5], outputs).unwrap();
        let networks: Vec<Network> = (0..3).map(|seed| Network::glorot(shape.clone(), seed)).collect();
        let mut expected = vec![0.0; 2 * outputs];
        for network in &networks {
            let mut logits = vec![0.0; 2 * outputs];
            Engine::new(&shape).forward(network, &matrix, &[2, 0], &mut logits);
            for (row, out) in logits.chunks_exact(outputs).zip(expected.chunks_exact_mut(outputs)) {
                let exponentials: Vec<f64> = row.iter().map(|logit| f64::from(*logit).exp()).collect();
                let rest = if outputs == 1 { 1.0 } else { 0.0 };
                let total = rest + exponentials.iter().sum::<f64>();
                out.iter_mut().zip(&exponentials).for_each(|(out, exponential)| *out += exponential / total / 3.0);
            }
        }
        let members = networks.into_iter().map(Member::Network).collect();
        let means = Ensemble::new(members).unwrap().probabilities(&matrix, &[2, 0]);
        for (mean, expected) in means.iter().zip(&expected) {
            assert!((mean - expected).abs() < 1e-14, "got {mean}, expected {expected}");
        }
    }
}

#[test]
fn the_best_threshold_on_validation_rows_gives_a_high_score_on_unseen_rows() {
    let data = disc(2400);
    let (known, unseen): (Vec<u32>, Vec<u32>) = data.all_rows().into_iter().partition(|row| *row < 1600);
    let (training, validation): (Vec<u32>, Vec<u32>) = known.iter().partition(|row| *row % 3 != 0);
    let mut settings = TrainingSetup::new(score_loss("f1", "cosine:0.5,0.1"));
    (settings.epochs, settings.learning_rate, settings.hidden) = (120, 5e-3, hidden_layers(&[24, 12]));
    let split = RowSplit { training: training.clone(), validation: validation.clone() };
    let dataset = Dataset { splits: vec![split], ..data.dataset() };
    let fits = fit_all(std::slice::from_ref(&dataset), &jobs(&dataset, &settings, 4), 2);
    let ensemble = Ensemble::of_fits(&fits).unwrap();
    assert_eq!((ensemble.members().len(), fits.len()), (4, 4));
    let f1 = Score::parse("f1").unwrap();
    let sample = dataset.sample(0);
    let threshold = threshold_sweep(&ensemble, &sample, &validation).best(&f1).unwrap().threshold;
    let value = f1.value(&threshold_sweep(&ensemble, &sample, &unseen).at(threshold));
    assert!(value > 0.85, "{value} at {threshold}");
}

#[test]
fn a_member_that_learnt_nothing_is_left_out() {
    // With the setting `cure` off, the first predictions of some networks lie outside the narrow support of the prior and stay there.
    let data = disc(400);
    let mut settings = TrainingSetup::new(score_loss("tss", "cosine:0.62,0.03"));
    (settings.epochs, settings.cure, settings.hidden) = (3, false, hidden_layers(&[16, 8]));
    let (ensemble, fits) = train_ensemble(&data, &settings, 12, 2);
    let successes = fits.iter().filter(|fit| fit.success).count();
    assert!(0 < successes && successes < 12, "{successes} of 12");
    assert_eq!(ensemble.members().len(), successes);
}

#[test]
fn when_training_is_stopped_the_members_that_were_started_are_kept() {
    let mut settings = TrainingSetup::new(score_loss("f1", "uniform"));
    (settings.epochs, settings.hidden) = (4, hidden_layers(&[3]));
    let stop = |member: usize, epoch: usize, _: &_| {
        if (member, epoch) == (1, 1) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let dataset = disc(200).dataset();
    let jobs = jobs(&dataset, &settings, 5);
    let fits = Cpu { threads: 1 }.fit(&[dataset], &jobs, &stop).unwrap();
    let lengths: Vec<usize> = fits.iter().flatten().map(|fit| fit.history.len()).collect();
    assert_eq!(lengths, [4, 2]);
}

#[test]
fn invalid_ensembles_are_refused() {
    assert_eq!(Ensemble::new(Vec::new()).unwrap_err().to_string(), "ensemble: has no members");
    let member = |inputs, hidden| Member::Network(Network::glorot(NetworkShape::new(inputs, &[hidden], 1).unwrap(), 0));
    assert!(
        Ensemble::new(vec![member(2, 2), member(2, 3)]).is_ok(),
        "members with different hidden layers must be accepted in one ensemble"
    );
    let error = Ensemble::new(vec![member(2, 2), member(3, 2)]).unwrap_err().to_string();
    assert!(error.contains("different numbers of inputs"), "{error}");
    assert_eq!(check_members(0).unwrap_err().to_string(), "ensemble: must be at least 1, not 0");
    assert!(check_members(1001).is_err() && check_members(1000).is_ok());
}

#[test]
fn held_out_probabilities_come_from_members_that_were_not_trained_on_the_row() {
    let data = disc(600);
    let mut settings = TrainingSetup::new(score_loss("f1", "cosine:0.5,0.3"));
    (settings.epochs, settings.hidden) = (60, hidden_layers(&[16, 8]));
    let second = data.training[..200].to_vec();
    let swapped = [&data.validation[..], &data.training[200..]].concat();
    let mut dataset = data.dataset();
    dataset.splits.push(RowSplit { training: swapped, validation: second.clone() });
    let fits = fit_all(std::slice::from_ref(&dataset), &jobs(&dataset, &settings, 2), 1);
    assert!(fits.iter().all(|fit| fit.success), "a member that learnt nothing is not used");
    let samples: Vec<Sample<'_>> = (0..2).map(|split| dataset.sample(split)).collect();
    let (rows, probabilities) = held_out_probabilities(&fits, &samples);
    assert_eq!(rows.len(), data.validation.len() + second.len());
    for (member, held_out) in [&data.validation, &second].into_iter().enumerate() {
        let single_member = Ensemble::new(vec![fits[member].member.clone()]).unwrap();
        for (row, expected) in held_out.iter().zip(single_member.probabilities(&data.matrix, held_out)) {
            let index = rows.binary_search(row).unwrap();
            assert_eq!(probabilities[index].to_bits(), expected.to_bits(), "row {row}");
        }
    }
    // If all members have the same validation rows, the held-out probabilities are the mean over all members.
    let (ensemble, fits) = train_ensemble(&data, &settings, 3, 1);
    let (rows, probabilities) = held_out_probabilities(&fits, &[data.sample(); 3]);
    assert_eq!(probabilities, ensemble.probabilities(&data.matrix, &rows));
}

/// The random numbers in [0, 1) from which the initial weights of member 0 were computed. They are read from a trained network whose learning
/// rate was too small to change any weight.
fn random_numbers_of_the_initial_weights(seed: u64, inputs: usize) -> Vec<f64> {
    let values: Vec<f32> = (0..2 * inputs).map(|index| (index % 7) as f32 - 3.0).collect();
    let (matrix, rows) = (Matrix::new(inputs, &values).unwrap(), [0, 1]);
    let split = RowSplit { training: rows.to_vec(), validation: rows.to_vec() };
    let dataset = Dataset {
        matrix,
        binned: None,
        labels: [0, 1].into(),
        classes: 2,
        weights: None,
        places: None,
        splits: vec![split],
    };
    let mut settings = TrainingSetup { seed, ..TrainingSetup::new(score_loss("tss", "uniform:0,1")) };
    (settings.learning_rate, settings.epochs, settings.cure, settings.hidden) = (1e-30, 1, false, hidden_layers(&[]));
    let fits = fit_all(std::slice::from_ref(&dataset), &jobs(&dataset, &settings, 1), 1);
    let limit = (6.0 / (inputs + 1) as f64).sqrt();
    let Member::Network(network) = &fits[0].member else { panic!("not a network") };
    network.to_layers()[0].weights.iter().map(|weight| (f64::from(*weight) / limit + 1.0) / 2.0).collect()
}

#[test]
fn the_random_numbers_of_initial_weights_and_splits_and_bootstraps_are_independent() {
    const N_ROWS: usize = 200;
    for seed in [0, 1, 7, u64::MAX] {
        let units = random_numbers_of_the_initial_weights(seed, N_ROWS);
        assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));

        // A Poisson bootstrap must not use the random numbers of the initial network weights for the rows 1, 3, 5, …. If it did, it would leave out
        // exactly the rows whose random number is below 1/e.
        let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 100, seed };
        for replicate in 0..100 {
            let mut counts = vec![0; 2 * N_ROWS];
            bootstrap.copies(replicate, &[false; 2 * N_ROWS], &mut counts).unwrap();
            let is_left_out = counts.iter().skip(1).step_by(2).map(|count| *count == 0);
            let equal = is_left_out.zip(&units).filter(|(none, unit)| *none == (**unit < (-1.0f64).exp())).count();
            assert!(
                equal < N_ROWS * 3 / 4,
                "seed {seed}, replicate {replicate}: the weights predict {equal} of {N_ROWS} rows"
            );
        }

        // A split must not shuffle the rows of a class with the random numbers of the initial network weights. If it did, its
        // test rows would be those in the second half of `order`.
        let classes: Vec<u32> = (0..N_ROWS as u32).map(|row| row % 2).collect();
        let names = vec!["no".to_string(), "yes".to_string()];
        let labels = Labels { classes, names, ahead: None };
        let column = Column { name: "x".into(), values: Values::Number(vec![0.0; N_ROWS]) };
        let table = Table { columns: vec![column], ..Table::default() };
        let (parts, _) =
            Split::Random.split_rows(&table, &labels, &SplitShares { test: 0.5, validation: 0.25 }, seed).unwrap();
        for class in 0..2 {
            let mut order: Vec<u32> = (0..N_ROWS as u32).filter(|row| row % 2 == class).collect();
            for (index, unit) in (1..order.len()).rev().zip(&units) {
                order.swap(index, (unit * (index + 1) as f64) as usize);
            }
            let equal = order[N_ROWS / 4..].iter().filter(|row| parts.test.contains(row)).count();
            assert!(
                equal < N_ROWS / 4 * 3 / 4,
                "seed {seed}, class {class}: the weights predict {equal} of {} rows",
                N_ROWS / 4
            );
        }
    }
}
