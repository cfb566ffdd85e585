//! ENSEMBLE: networks that differ by their seed alone, and the mean of their probabilities. One network is an ensemble of one.

use std::ops::ControlFlow;

use rayon::prelude::*;
use scorewise::multiclass::softmax;
use scorewise::prior::Chance;
use scorewise::sweep::{Sweep, sweep};
use scorewise::{Probabilities, Purpose, Rows, stream};

use crate::engine::Engine;
use crate::fit::{Epoch, Fit, Job, Sample, Settings, fit_all};
use crate::net::{Network, Shape};
use scorewise_table::Matrix;
use scorewise_table::error::{Error, Result};

/// Networks of an ensemble at the most: every one is held in memory and in the model file, and their mean hardly changes beyond a few dozen.
pub const MOST_MEMBERS: usize = 1000;

/// Refuses numbers of networks that make no ensemble.
pub fn check_members(members: usize) -> Result<()> {
    match members {
        0 => Err(Error::setting("ensemble", "must be at least 1, not 0", "")),
        1..=MOST_MEMBERS => Ok(()),
        _ => {
            let problem = format!("{members} networks, and at most {MOST_MEMBERS} can be trained for one model");
            Err(Error::setting("ensemble", problem, "5 to 20 are usual; more change the mean but little"))
        }
    }
}

/// Rows that one thread predicts at a time.
const BLOCK: usize = 1024;

/// Networks of one shape whose probabilities are averaged.
#[derive(Clone, Debug, PartialEq)]
pub struct Ensemble {
    members: Vec<Network>,
}

/// An ensemble and how its members came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    /// The members that learnt something; all of them where none did.
    pub ensemble: Ensemble,
    /// Every training that was begun, in the order of the members.
    pub fits: Vec<Fit>,
}

/// Trains one member for each sample, side by side, each with a seed of its own that comes from the settings'; the same bits for any
/// number of threads. The samples may be one and the same, or differ in which rows are for steps and which for validation. `watch` sees
/// member, epoch, and what happened; see [`fit_all`].
///
/// A member that got stuck would pull every mean toward its constant answer, so it is left out.
pub fn ensemble<'a>(
    shape: &Shape,
    samples: &[Sample<'a>],
    settings: &Settings,
    threads: usize,
    watch: impl Fn(usize, usize, &Epoch) -> ControlFlow<()> + Sync,
) -> Result<Trained> {
    let members = samples.len();
    check_members(members)?;
    let inner = (threads / members).max(1);
    let job = |(member, sample): (u64, &Sample<'a>)| Job {
        shape: shape.clone(),
        sample: *sample,
        // Threads that have no member of their own share in the batches of the others.
        settings: Settings { seed: stream(settings.seed, Purpose::Member, member), threads: inner, ..settings.clone() },
    };
    let jobs: Vec<Job<'_>> = (0..).zip(samples).map(job).collect();
    let fits: Vec<Fit> = fit_all(&jobs, threads, watch)?.into_iter().flatten().collect();
    let some_succeeded = fits.iter().any(|fit| fit.success);
    let networks = fits.iter().filter(|fit| fit.success || !some_succeeded).map(|fit| fit.network.clone());
    Ok(Trained { ensemble: Ensemble::new(networks.collect())?, fits })
}

impl Trained {
    /// What the members say of their validation rows: the rows, ascending, and for each the mean of those members that have not learnt from
    /// it. The samples are those that it was trained with.
    #[must_use]
    pub fn held_out(&self, samples: &[Sample<'_>]) -> (Vec<u32>, Vec<f64>) {
        let Some(matrix) = samples.first().map(|sample| sample.matrix) else { return (Vec::new(), Vec::new()) };
        let outputs = self.ensemble.outputs();
        let (mut sums, mut counts) = (vec![0.0; matrix.rows() * outputs], vec![0u32; matrix.rows()]);
        let some_succeeded = self.fits.iter().any(|fit| fit.success);
        let members = self.fits.iter().zip(samples).filter(|(fit, _)| fit.success || !some_succeeded);
        for (fit, sample) in members {
            let probabilities = mean_probabilities(std::slice::from_ref(&fit.network), matrix, sample.validation);
            for (row, shares) in sample.validation.iter().zip(probabilities.chunks_exact(outputs)) {
                let row = *row as usize;
                counts[row] += 1;
                sums[row * outputs..][..outputs].iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
            }
        }
        let rows: Vec<u32> = (0..matrix.rows() as u32).filter(|row| counts[*row as usize] > 0).collect();
        let mean = |row: &u32| {
            let (row, count) = (*row as usize, f64::from(counts[*row as usize]));
            sums[row * outputs..][..outputs].iter().map(move |sum| sum / count)
        };
        let means = rows.iter().flat_map(mean).collect();
        (rows, means)
    }
}

impl Ensemble {
    /// From networks of one shape, at least one.
    pub fn new(members: Vec<Network>) -> Result<Self> {
        let refuse = |problem: &str| Err(Error::setting("ensemble", problem, ""));
        let Some(first) = members.first() else { return refuse("has no members") };
        if members.iter().any(|member| member.shape() != first.shape()) {
            return refuse("has members of unlike shapes");
        }
        Ok(Ensemble { members })
    }

    /// The networks.
    #[must_use]
    pub fn members(&self) -> &[Network] {
        &self.members
    }

    /// The shape of every member.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        self.members[0].shape()
    }

    /// Numbers that a row gets: one probability for two classes, else one for each class.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.shape().widths().last().copied().unwrap_or(1)
    }

    /// The mean of the members' probabilities for some rows of a matrix, in their order: of the positive class where there are two,
    /// else of every class, row by row.
    ///
    /// Spread over the threads of the pool it is called in; every row is computed alike, so their number changes no bit. Besides the
    /// result a thread needs room for a thousand rows.
    ///
    /// # Panics
    /// Where the matrix has not the network's inputs, or not these rows.
    #[must_use]
    pub fn probabilities(&self, matrix: &Matrix, rows: &[u32]) -> Vec<f64> {
        mean_probabilities(&self.members, matrix, rows)
    }

    /// All thresholds of some rows of a sample at once, from the mean probabilities: the one threshold of the ensemble is the best of
    /// these, subject to whatever one likes. For two classes.
    pub fn sweep(&self, sample: &Sample<'_>, rows: &[u32]) -> Result<Sweep> {
        if self.outputs() != 1 {
            return Err(Error::setting("threshold", "there is one for two classes only", ""));
        }
        let probabilities = self.probabilities(sample.matrix, rows);
        let labels: Vec<bool> = rows.iter().map(|row| sample.labels[*row as usize] != 0).collect();
        let weights: Option<Vec<f64>> =
            sample.weights.map(|weights| rows.iter().map(|row| f64::from(weights[*row as usize])).collect());
        let rows = Rows::new(Probabilities(&probabilities), &labels)?;
        Ok(match &weights {
            Some(weights) => sweep(&rows.weighted(weights)?)?,
            None => sweep(&rows)?,
        })
    }
}

/// The mean of the probabilities of networks of one shape, row by row; see [`Ensemble::probabilities`].
pub(crate) fn mean_probabilities(members: &[Network], matrix: &Matrix, rows: &[u32]) -> Vec<f64> {
    let Some(shape) = members.first().map(Network::shape) else { return Vec::new() };
    let outputs = shape.widths().last().copied().unwrap_or(1);
    let mut means = vec![0.0; rows.len() * outputs];
    let workshop = || (Engine::new(shape), vec![0.0; BLOCK * outputs], vec![0.0; outputs]);
    means.par_chunks_mut(BLOCK * outputs).zip(rows.par_chunks(BLOCK)).for_each_init(
        workshop,
        |(engine, logits, shares), (means, rows)| {
            let logits = &mut logits[..rows.len() * outputs];
            for member in members {
                engine.predict(member, matrix, rows, logits);
                add_probabilities(logits, shares, means);
            }
            means.iter_mut().for_each(|mean| *mean /= members.len() as f64);
        },
    );
    means
}

/// Adds σ of the only logit of a row, or the softmax of all, to the sums.
fn add_probabilities(logits: &[f32], shares: &mut [f64], sums: &mut [f64]) {
    if let [_] = shares {
        sums.iter_mut().zip(logits).for_each(|(sum, logit)| *sum += Chance::from_logit(f64::from(*logit)).p);
        return;
    }
    let outputs = shares.len();
    for (sums, logits) in sums.chunks_exact_mut(outputs).zip(logits.chunks_exact(outputs)) {
        softmax(logits, shares);
        sums.iter_mut().zip(&*shares).for_each(|(sum, share)| *sum += share);
    }
}
