//! A prior as the hot loops see it: F and the logit density of a row, in the row's own precision.
//!
//! For f32 rows the bumps work in f32, vectorised. A bump so narrow that f32 would lose digits, the priors that need special
//! functions, and f64 rows go row by row through f64.

use std::marker::PhantomData;

use super::centred::{Bump, Centred};
use super::{Chance, Prior};
use crate::real::Real;

/// F and f p (1 − p) of a row.
pub(crate) trait RowLaw<R: Real>: Copy + Send + Sync {
    /// F(σ(z)).
    fn cdf_of_logit(&self, z: R) -> R;
    /// F(p).
    fn cdf_of_probability(&self, p: R) -> R;
    /// f(σ(z)) σ(z) σ(−z).
    fn density_of_logit(&self, z: R) -> R;
}

/// Work that is done with whatever law a prior has.
pub(crate) trait RowWork<R: Real> {
    type Output;
    fn run<L: RowLaw<R>>(self, law: L) -> Self::Output;
}

/// Does the work with the fastest law that keeps the digits of these rows.
pub(crate) fn with_row_law<R: Real, W: RowWork<R>>(prior: &Prior, work: W) -> W::Output {
    R::with_row_law(prior, work)
}

/// f64 rows: the law itself.
pub(crate) fn with_wide_law<W: RowWork<f64>>(prior: &Prior, work: W) -> W::Output {
    work.run(RowByRow(prior))
}

/// f32 rows: bumps vectorised where f32 is enough, all else through f64.
pub(crate) fn with_narrow_law<W: RowWork<f32>>(prior: &Prior, work: W) -> W::Output {
    let (share, main) = match prior {
        Prior::Mixture(mixture) => (mixture.share(), mixture.main()),
        other => (0.0, other),
    };
    match main {
        Prior::Uniform(law) if is_wide_enough(law) => with_bump(law, share, work),
        Prior::RaisedCosine(law) if is_wide_enough(law) => with_bump(law, share, work),
        Prior::Triangular(law) if is_wide_enough(law) => with_bump(law, share, work),
        Prior::Epanechnikov(law) if is_wide_enough(law) => with_bump(law, share, work),
        Prior::Quartic(law) if is_wide_enough(law) => with_bump(law, share, work),
        _ => work.run(RowByRow(prior)),
    }
}

/// f32 knows p to 6e-8, and F to that over δ; where only a few rows lie in the support, a score's slopes magnify it tenfold.
/// That must stay below the 1e-5 that the f32 path promises.
fn is_wide_enough<B: Bump>(law: &Centred<B>) -> bool {
    law.delta() >= 0.099
}

fn with_bump<B: Bump, W: RowWork<f32>>(law: &Centred<B>, share: f64, work: W) -> W::Output {
    let law = NarrowBump::<B> { mu: law.mu() as f32, per_delta: (1.0 / law.delta()) as f32, bump: PhantomData };
    if share == 0.0 {
        work.run(OfPair(law))
    } else {
        work.run(OfPair(Mixed { law, main: 1.0 - share as f32, share: share as f32 }))
    }
}

/// A law of p and q, both given.
trait PairLaw<R: Real>: Copy + Send + Sync {
    /// F(p).
    fn cdf(&self, p: R, q: R) -> R;
    /// f(p).
    fn pdf(&self, p: R, q: R) -> R;
}

/// A bump for f32 rows, by u = (p − μ)/δ.
#[derive(Clone, Copy)]
struct NarrowBump<B> {
    mu: f32,
    per_delta: f32,
    bump: PhantomData<B>,
}

impl<B: Bump> NarrowBump<B> {
    #[inline(always)]
    fn u(&self, p: f32) -> f32 {
        (p - self.mu) * self.per_delta
    }
}

impl<B: Bump> PairLaw<f32> for NarrowBump<B> {
    #[inline(always)]
    fn cdf(&self, p: f32, _: f32) -> f32 {
        B::climb(self.u(p))
    }
    #[inline(always)]
    fn pdf(&self, p: f32, _: f32) -> f32 {
        self.per_delta * B::height(self.u(p))
    }
}

/// A law with a share of the uniform one.
#[derive(Clone, Copy)]
struct Mixed<R, L> {
    law: L,
    main: R,
    share: R,
}

impl<R: Real, L: PairLaw<R>> PairLaw<R> for Mixed<R, L> {
    #[inline(always)]
    fn cdf(&self, p: R, q: R) -> R {
        self.main * self.law.cdf(p, q) + self.share * p
    }
    #[inline(always)]
    fn pdf(&self, p: R, q: R) -> R {
        self.main * self.law.pdf(p, q) + self.share
    }
}

/// A pair law as a row law: p and q from the row.
#[derive(Clone, Copy)]
struct OfPair<L>(L);

impl<R: Real, L: PairLaw<R>> RowLaw<R> for OfPair<L> {
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

/// Any prior, through f64.
#[derive(Clone, Copy)]
struct RowByRow<'a>(&'a Prior);

impl<R: Real> RowLaw<R> for RowByRow<'_> {
    fn cdf_of_logit(&self, z: R) -> R {
        R::of(self.0.cdf_at(Chance::from_logit(z.wide())))
    }
    fn cdf_of_probability(&self, p: R) -> R {
        R::of(self.0.cdf_at(Chance::new(p.wide())))
    }
    fn density_of_logit(&self, z: R) -> R {
        R::of(self.0.logit_density(z.wide()))
    }
}
