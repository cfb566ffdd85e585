//! Reproducible test data, and helpers that train on them.

#![allow(dead_code, clippy::unwrap_used)] // Every test file uses only some of the helpers; a panic fails the test.

use std::ops::{ControlFlow, Deref, DerefMut};
use std::sync::Arc;

use scorewise::sweep::{Sweep, sweep};
use scorewise::{Loss, Probabilities, Rows, Score, ScoreLoss};
use scorewise_train::Matrix;
use scorewise_train::backend::{Backend, Cpu};
use scorewise_train::ensemble::Ensemble;
use scorewise_train::fit::{Fit, Objective, Sample};
use scorewise_train::job::{Dataset, Job, RowSplit};
use scorewise_train::learner::{Learner, Member};
use scorewise_train::network::{Network, NetworkSettings, fit};

/// Reproducible random numbers between −1 and 1.
pub struct TestRandom(pub u64);

impl TestRandom {
    /// The next random number, between −1 and 1.
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// An approximately normal random number with mean 0 and standard deviation 1.
    pub fn normal(&mut self) -> f32 {
        (0..12).map(|_| 0.5 * self.next()).sum()
    }
}

/// A loss, a seed and the settings of a network. It dereferences to its [`NetworkSettings`], so that tests can set these directly.
#[derive(Clone)]
pub struct TrainingSetup {
    pub objective: Objective,
    pub seed: u64,
    pub network: NetworkSettings,
}

impl TrainingSetup {
    /// A setup with this loss, the seed 0 and the default settings of a network.
    pub fn new(objective: impl Into<Objective>) -> Self {
        TrainingSetup { objective: objective.into(), seed: 0, network: NetworkSettings::default() }
    }

    /// A job that trains a network with this setup on the split with index `split` of the data set with index 0.
    pub fn job(&self, split: usize, seed: u64) -> Job {
        let learner = Learner::Network(self.network.clone());
        Job { dataset: 0, split, learner, objective: self.objective.clone(), seed }
    }
}

impl Deref for TrainingSetup {
    type Target = NetworkSettings;

    fn deref(&self) -> &NetworkSettings {
        &self.network
    }
}

impl DerefMut for TrainingSetup {
    fn deref_mut(&mut self) -> &mut NetworkSettings {
        &mut self.network
    }
}

/// The trained network of a training result.
pub fn network(fit: &Fit) -> &Network {
    let Member::Network(network) = &fit.member else { panic!("not a network") };
    network
}

/// The confusion matrices of the given rows at all thresholds, for the mean probabilities that an ensemble predicts.
pub fn threshold_sweep(ensemble: &Ensemble, sample: &Sample<'_>, rows: &[u32]) -> Sweep {
    let probabilities = ensemble.probabilities(sample.matrix, rows);
    let labels: Vec<bool> = rows.iter().map(|row| sample.labels[*row as usize] != 0).collect();
    sweep(&Rows::new(Probabilities(&probabilities), &labels).unwrap()).unwrap()
}

/// The features and the class of each row. Every third row is a validation row, the others are training rows.
pub struct TestData {
    pub matrix: Matrix,
    pub labels: Vec<u32>,
    pub weights: Option<Vec<f32>>,
    pub training: Vec<u32>,
    pub validation: Vec<u32>,
}

impl TestData {
    /// Rows with `columns` features, whose numbers are `values`, row by row.
    pub fn new(columns: usize, values: &[f32], labels: Vec<u32>) -> Self {
        let (training, validation) = (0..labels.len() as u32).partition(|row| row % 3 != 0);
        TestData { matrix: Matrix::new(columns, values).unwrap(), labels, weights: None, training, validation }
    }

    /// Borrows the data in the form that training functions take.
    pub fn sample(&self) -> Sample<'_> {
        Sample {
            binned: None,
            matrix: &self.matrix,
            labels: &self.labels,
            classes: self.classes(),
            weights: self.weights.as_deref(),
            places: None,
            training: &self.training,
            validation: &self.validation,
        }
    }

    /// The indices of all rows.
    pub fn all_rows(&self) -> Vec<u32> {
        (0..self.labels.len() as u32).collect()
    }

    /// Number of classes, at least 2.
    pub fn classes(&self) -> usize {
        2.max(1 + *self.labels.iter().max().unwrap() as usize)
    }

    /// The data in the form that jobs refer to.
    pub fn dataset(&self) -> Dataset {
        let split = RowSplit { training: self.training.clone(), validation: self.validation.clone() };
        Dataset {
            matrix: self.matrix.clone(),
            binned: None,
            labels: Arc::from(self.labels.as_slice()),
            classes: self.classes(),
            weights: self.weights.as_deref().map(Arc::from),
            places: None,
            splits: vec![split],
        }
    }

    /// Trains one network with the given hidden layers.
    pub fn train(&self, hidden: &[usize], training: &TrainingSetup) -> Fit {
        let settings = NetworkSettings { hidden: hidden_layers(hidden), ..training.network.clone() };
        let watch = &mut |_, _: &_| ControlFlow::Continue(());
        fit(&settings, &training.objective, training.seed, &self.sample(), 1, watch).unwrap()
    }
}

/// Hidden layers with these numbers of units.
pub fn hidden_layers(widths: &[usize]) -> scorewise_train::network::HiddenLayers {
    widths.to_vec().try_into().unwrap()
}

/// Runs all jobs to the end on the given number of threads.
pub fn fit_all(datasets: &[Dataset], jobs: &[Job], threads: usize) -> Vec<Fit> {
    let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
    Cpu { threads }.fit(datasets, jobs, &watch).unwrap().into_iter().map(Option::unwrap).collect()
}

/// Rows with four features. The class depends on the distance of the first two features from the origin, so that a linear model cannot separate
/// the classes.
fn data_labelled_by_radius(rows: usize, is_positive: impl Fn(f32) -> bool) -> TestData {
    let mut random = TestRandom(9);
    let values: Vec<f32> = (0..rows * 4).map(|_| random.next()).collect();
    let radius = |row: &[f32]| (row[0] * row[0] + row[1] * row[1]).sqrt();
    let labels = values.chunks_exact(4).map(|row| u32::from(is_positive(radius(row)))).collect();
    TestData::new(4, &values, labels)
}

/// Rows with a rare event, which happens where the first two features lie inside a disc.
pub fn disc(rows: usize) -> TestData {
    data_labelled_by_radius(rows, |radius| radius * radius < 0.15)
}

/// Rows with a rare event, which happens where the first two features lie on a thin ring.
pub fn ring(rows: usize) -> TestData {
    data_labelled_by_radius(rows, |radius| (0.5..0.65).contains(&radius))
}

/// Rows of three classes, which lie around the corners of a triangle. The frequencies of the classes are in the ratio 6 : 3 : 1.
pub fn blobs(rows: usize) -> TestData {
    let mut random = TestRandom(5);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        // The class depends on the row number modulo 10, and every third row is a validation row. 3 and 10 have no common factor, so training and
        // validation rows both contain every class.
        let class = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2][row * 7 % 10];
        let (x, y) = [(-1.5, -1.0), (1.5, -1.0), (0.0, 1.5)][class];
        values.extend([x + 0.5 * random.normal(), y + 0.5 * random.normal(), random.next()]);
        labels.push(class as u32);
    }
    TestData::new(3, &values, labels)
}

/// The two-class loss for a score and a prior, which are given by their names.
pub fn score_loss(score: &str, prior: &str) -> Loss {
    Loss::Score(ScoreLoss::new(Score::parse(score).unwrap(), prior.parse().unwrap()))
}
