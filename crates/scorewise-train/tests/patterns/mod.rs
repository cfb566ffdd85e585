//! Patterns to learn, the same every time, and short ways to train on them.

#![allow(dead_code, clippy::unwrap_used)] // each test file uses its part; in a test, a panic is the report

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

/// Numbers between −1 and 1.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Nearly normal, of deviation 1.
    pub fn normal(&mut self) -> f32 {
        (0..12).map(|_| 0.5 * self.next()).sum()
    }
}

/// A loss, a seed, and the settings of a network, whose fields can be set as if they were its own.
#[derive(Clone)]
pub struct Training {
    pub objective: Objective,
    pub seed: u64,
    pub network: NetworkSettings,
}

impl Training {
    pub fn new(objective: impl Into<Objective>) -> Self {
        Training { objective: objective.into(), seed: 0, network: NetworkSettings::default() }
    }

    pub fn job(&self, split: usize, seed: u64) -> Job {
        let learner = Learner::Network(self.network.clone());
        Job { dataset: 0, split, learner, objective: self.objective.clone(), seed }
    }
}

impl Deref for Training {
    type Target = NetworkSettings;

    fn deref(&self) -> &NetworkSettings {
        &self.network
    }
}

impl DerefMut for Training {
    fn deref_mut(&mut self) -> &mut NetworkSettings {
        &mut self.network
    }
}

/// The network of a fit.
pub fn network(fit: &Fit) -> &Network {
    let Member::Network(network) = &fit.member;
    network
}

/// All thresholds of some rows of a sample, by the mean probabilities of an ensemble.
pub fn swept(ensemble: &Ensemble, sample: &Sample<'_>, rows: &[u32]) -> Sweep {
    let probabilities = ensemble.probabilities(sample.matrix, rows);
    let labels: Vec<bool> = rows.iter().map(|row| sample.labels[*row as usize] != 0).collect();
    sweep(&Rows::new(Probabilities(&probabilities), &labels).unwrap()).unwrap()
}

/// Features and a class for each row; every third row is for validation.
pub struct Data {
    pub matrix: Matrix,
    pub labels: Vec<u32>,
    pub weights: Option<Vec<f32>>,
    pub training: Vec<u32>,
    pub validation: Vec<u32>,
}

impl Data {
    pub fn new(columns: usize, values: &[f32], labels: Vec<u32>) -> Self {
        let (training, validation) = (0..labels.len() as u32).partition(|row| row % 3 != 0);
        Data { matrix: Matrix::new(columns, values).unwrap(), labels, weights: None, training, validation }
    }

    pub fn sample(&self) -> Sample<'_> {
        Sample {
            matrix: &self.matrix,
            labels: &self.labels,
            classes: self.classes(),
            weights: self.weights.as_deref(),
            training: &self.training,
            validation: &self.validation,
        }
    }

    pub fn all_rows(&self) -> Vec<u32> {
        (0..self.labels.len() as u32).collect()
    }

    pub fn classes(&self) -> usize {
        2.max(1 + *self.labels.iter().max().unwrap() as usize)
    }

    pub fn dataset(&self) -> Dataset {
        let split = RowSplit { training: self.training.clone(), validation: self.validation.clone() };
        Dataset {
            matrix: self.matrix.clone(),
            labels: Arc::from(self.labels.as_slice()),
            classes: self.classes(),
            weights: self.weights.as_deref().map(Arc::from),
            splits: vec![split],
        }
    }

    pub fn train(&self, hidden: &[usize], training: &Training) -> Fit {
        let settings = NetworkSettings { hidden: layers(hidden), ..training.network.clone() };
        let watch = &mut |_, _: &_| ControlFlow::Continue(());
        fit(&settings, &training.objective, training.seed, &self.sample(), 1, watch).unwrap()
    }
}

pub fn layers(widths: &[usize]) -> scorewise_train::network::HiddenLayers {
    widths.to_vec().try_into().unwrap()
}

/// Trains jobs on so many threads, to the end.
pub fn fit_all(datasets: &[Dataset], jobs: &[Job], threads: usize) -> Vec<Fit> {
    let watch = |_: usize, _: usize, _: &_| ControlFlow::Continue(());
    Cpu { threads }.fit(datasets, jobs, &watch).unwrap().into_iter().map(Option::unwrap).collect()
}

/// Two of four features say whether a row lies in a part of the plane that no line can cut out.
fn plane(rows: usize, is_positive: impl Fn(f32) -> bool) -> Data {
    let mut random = Random(9);
    let values: Vec<f32> = (0..rows * 4).map(|_| random.next()).collect();
    let radius = |row: &[f32]| (row[0] * row[0] + row[1] * row[1]).sqrt();
    let labels = values.chunks_exact(4).map(|row| u32::from(is_positive(radius(row)))).collect();
    Data::new(4, &values, labels)
}

/// A rare event in a disc.
pub fn disc(rows: usize) -> Data {
    plane(rows, |radius| radius * radius < 0.15)
}

/// A rare event on a thin ring.
pub fn ring(rows: usize) -> Data {
    plane(rows, |radius| (0.5..0.65).contains(&radius))
}

/// Clouds of points around the corners of a triangle, one class each, in unequal numbers: 6 : 3 : 1.
pub fn blobs(rows: usize) -> Data {
    let mut random = Random(5);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for row in 0..rows {
        // Sevens and tens have no common factor with the threes of the split.
        let class = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2][row * 7 % 10];
        let (x, y) = [(-1.5, -1.0), (1.5, -1.0), (0.0, 1.5)][class];
        values.extend([x + 0.5 * random.normal(), y + 0.5 * random.normal(), random.next()]);
        labels.push(class as u32);
    }
    Data::new(3, &values, labels)
}

pub fn score_loss(score: &str, prior: &str) -> Loss {
    Loss::Score(ScoreLoss::new(Score::parse(score).unwrap(), prior.parse().unwrap()))
}
