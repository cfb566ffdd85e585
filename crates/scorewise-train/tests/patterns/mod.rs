//! Patterns to learn, the same every time, and short ways to train on them.

#![allow(dead_code, clippy::unwrap_used)] // each test file uses its part; in a test, a panic is the report

use std::ops::ControlFlow;

use scorewise::{Loss, Score, ScoreLoss};
use scorewise_train::fit::{Fit, Sample, Settings, fit};
use scorewise_train::{Matrix, Shape};

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
            weights: self.weights.as_deref(),
            training: &self.training,
            validation: &self.validation,
        }
    }

    pub fn all_rows(&self) -> Vec<u32> {
        (0..self.labels.len() as u32).collect()
    }

    pub fn train(&self, hidden: &[usize], outputs: usize, settings: &Settings) -> Fit {
        let shape = Shape::new(self.matrix.columns(), hidden, outputs).unwrap();
        fit(&shape, &self.sample(), settings, |_, _| ControlFlow::Continue(())).unwrap()
    }
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
    plane(rows, |radius| (0.55..0.65).contains(&radius))
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
