//! Priors for the loops over rows: the distribution function F and the density with respect to the logit, in the floating-point type of the rows.
//!
//! For f32 rows, priors defined by a kernel are computed in f32, vectorised. Priors with a kernel that is too narrow for
//! f32, priors that need special functions, and all priors for f64 rows are computed row by row in f64.

use std::marker::PhantomData;

use super::centred::{Centred, Kernel};
use super::{Prior, Probability};
use crate::real::Real;

/// The functions of a prior that a loop over the rows evaluates at each prediction. F is the distribution function of the prior, f its
/// density and σ the logistic function.
pub(crate) trait RowDistribution<R: Real>: Copy + Send + Sync {
    /// The distribution function at a logit, F(σ(z)).
    fn cdf_of_logit(&self, z: R) -> R;
    /// The distribution function at a probability, F(p).
    fn cdf_of_probability(&self, p: R) -> R;
    /// The density with respect to the logit, f(σ(z)) σ(z) σ(−z).
    fn density_of_logit(&self, z: R) -> R;
}

/// A computation over rows that is compiled for each type of [`RowDistribution`].
pub(crate) trait RowTask<R: Real> {
    /// The result of the computation.
    type Output;
    /// Runs the computation with the given implementation of the prior.
    fn run<D: RowDistribution<R>>(self, distribution: D) -> Self::Output;
}

/// Runs the task with the fastest implementation of the prior that is accurate enough for rows of the floating-point type `R`.
pub(crate) fn with_row_distribution<R: Real, W: RowTask<R>>(prior: &Prior, task: W) -> W::Output {
    R::with_row_distribution(prior, task)
}

/// Runs the task for f64 rows; the prior is computed in f64.
pub(crate) fn with_f64_distribution<W: RowTask<f64>>(prior: &Prior, task: W) -> W::Output {
    task.run(F64Distribution(prior))
}

/// Runs the task for f32 rows. A prior defined by a kernel, or its mixture with the uniform prior, is computed in vectorised f32 where that is
/// accurate enough; every other prior is computed in f64.
pub(crate) fn with_f32_distribution<W: RowTask<f32>>(prior: &Prior, task: W) -> W::Output {
    let (share, main) = match prior {
        Prior::Mixture(mixture) => (mixture.share(), mixture.main()),
        other => (0.0, other),
    };
    match main {
        Prior::Uniform(prior) if is_wide_enough(prior) => run_with_kernel(prior, share, task),
        Prior::RaisedCosine(prior) if is_wide_enough(prior) => run_with_kernel(prior, share, task),
        Prior::Triangular(prior) if is_wide_enough(prior) => run_with_kernel(prior, share, task),
        Prior::Epanechnikov(prior) if is_wide_enough(prior) => run_with_kernel(prior, share, task),
        Prior::Quartic(prior) if is_wide_enough(prior) => run_with_kernel(prior, share, task),
        _ => task.run(F64Distribution(prior)),
    }
}

/// Whether the prior is wide enough for f32. In f32, p has an error of 6e-8, so F has an error of 6e-8/δ, where δ is the half-width. If
/// only a few rows lie in the support, the derivatives of a score magnify this error tenfold. The magnified error must be below 1e-5, the
/// accuracy promised for f32.
fn is_wide_enough<K: Kernel>(prior: &Centred<K>) -> bool {
    prior.delta() >= 0.099
}

/// Runs the task in f32 with a mixture of a kernel prior and the uniform prior; `share` is the weight of the uniform prior and may be 0.
fn run_with_kernel<K: Kernel, W: RowTask<f32>>(prior: &Centred<K>, share: f64, task: W) -> W::Output {
    let kernel =
        KernelF32::<K> { mu: prior.mu() as f32, inverse_delta: (1.0 / prior.delta()) as f32, kernel: PhantomData };
    if share == 0.0 {
        task.run(PairAdapter(kernel))
    } else {
        task.run(PairAdapter(MixedWithUniform { distribution: kernel, main: 1.0 - share as f32, share: share as f32 }))
    }
}

/// A distribution that is evaluated at a probability p and its complement q = 1 − p.
trait PairDistribution<R: Real>: Copy + Send + Sync {
    /// The distribution function F(p), where q = 1 − p.
    fn cdf(&self, p: R, q: R) -> R;
    /// The density f(p), where q = 1 − p.
    fn pdf(&self, p: R, q: R) -> R;
}

/// A prior defined by a kernel, for f32 rows. It is evaluated at u = (p − μ)/δ, where μ is the centre and δ the half-width of the prior.
#[derive(Clone, Copy)]
struct KernelF32<K> {
    mu: f32,
    inverse_delta: f32,
    kernel: PhantomData<K>,
}

impl<K: Kernel> KernelF32<K> {
    /// u = (p − μ)/δ, where p is a probability, μ the centre and δ the half-width of the prior.
    #[inline(always)]
    fn standardised(&self, p: f32) -> f32 {
        (p - self.mu) * self.inverse_delta
    }
}

impl<K: Kernel> PairDistribution<f32> for KernelF32<K> {
    /// The distribution function at the probability p.
    #[inline(always)]
    fn cdf(&self, p: f32, _: f32) -> f32 {
        K::cdf_f32(self.standardised(p))
    }
    /// The density at the probability p.
    #[inline(always)]
    fn pdf(&self, p: f32, _: f32) -> f32 {
        self.inverse_delta * K::pdf_f32(self.standardised(p))
    }
}

/// A mixture of a distribution and the uniform distribution on [0, 1].
#[derive(Clone, Copy)]
struct MixedWithUniform<R, D> {
    distribution: D,
    main: R,
    share: R,
}

impl<R: Real, D: PairDistribution<R>> PairDistribution<R> for MixedWithUniform<R, D> {
    /// The distribution function of the mixture at the probability p, where q = 1 − p.
    #[inline(always)]
    fn cdf(&self, p: R, q: R) -> R {
        self.main * self.distribution.cdf(p, q) + self.share * p
    }
    /// The density of the mixture at the probability p, where q = 1 − p.
    #[inline(always)]
    fn pdf(&self, p: R, q: R) -> R {
        self.main * self.distribution.pdf(p, q) + self.share
    }
}

/// Adapter: implements [`RowDistribution`] for a [`PairDistribution`] by computing p and q = 1 − p from the prediction of the row.
#[derive(Clone, Copy)]
struct PairAdapter<D>(D);

impl<R: Real, D: PairDistribution<R>> RowDistribution<R> for PairAdapter<D> {
    #[inline(always)]
    fn cdf_of_logit(&self, z: R) -> R {
        let (p, q) = z.sigmoid();
        self.0.cdf(p, q)
    }
    #[inline(always)]
    fn cdf_of_probability(&self, p: R) -> R {
        self.0.cdf(p, R::ONE - p)
    }
    #[inline(always)]
    fn density_of_logit(&self, z: R) -> R {
        let (p, q) = z.sigmoid();
        (p * q) * self.0.pdf(p, q)
    }
}

/// A [`RowDistribution`] for any prior, computed in f64.
#[derive(Clone, Copy)]
struct F64Distribution<'a>(&'a Prior);

impl<R: Real> RowDistribution<R> for F64Distribution<'_> {
    fn cdf_of_logit(&self, z: R) -> R {
        R::from_f64(self.0.cdf_at(Probability::from_logit(z.to_f64())))
    }
    fn cdf_of_probability(&self, p: R) -> R {
        R::from_f64(self.0.cdf_at(Probability::new(p.to_f64())))
    }
    fn density_of_logit(&self, z: R) -> R {
        R::from_f64(self.0.logit_density(z.to_f64()))
    }
}
