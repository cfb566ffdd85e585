//! A prior as the hot loops see it: F and the logit density of a row, in the row's own precision.
//!
//! The bumps work in f32 where f32 is enough, vectorised; a bump so narrow that f32 would lose digits, and the priors that
//! need special functions, go row by row through f64.

use std::marker::PhantomData;

use super::centred::{Bump, Centred};
use super::law::Law;
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

/// Does the work with the fastest law that keeps the digits.
pub(crate) fn with_row_law<R: Real, W: RowWork<R>>(prior: &Prior, work: W) -> W::Output {
    let (share, main) = match prior {
        Prior::Mixture(mixture) => (mixture.share(), mixture.main()),
        other => (0.0, other),
    };
    match main {
        Prior::Uniform(law) if is_wide_enough::<R, _>(law) => work.run(BumpLaw::new(law, share)),
        Prior::RaisedCosine(law) if is_wide_enough::<R, _>(law) => work.run(BumpLaw::new(law, share)),
        Prior::Triangular(law) if is_wide_enough::<R, _>(law) => work.run(BumpLaw::new(law, share)),
        Prior::Epanechnikov(law) if is_wide_enough::<R, _>(law) => work.run(BumpLaw::new(law, share)),
        Prior::Quartic(law) if is_wide_enough::<R, _>(law) => work.run(BumpLaw::new(law, share)),
        _ => work.run(RowByRow(prior)),
    }
}

/// f32 knows p to 6e-8; divided by δ that must stay below the 1e-5 that the f32 path promises.
fn is_wide_enough<R: Real, B: Bump>(law: &Centred<B>) -> bool {
    R::EXACT || law.delta() >= 0.05
}

/// A bump, mixed with a share (possibly 0) of the uniform prior.
#[derive(Clone, Copy)]
struct BumpLaw<R, B> {
    low: R,
    above: R,
    per_delta: R,
    main: R,
    share: R,
    bump: PhantomData<B>,
}

impl<R: Real, B: Bump> BumpLaw<R, B> {
    fn new(law: &Centred<B>, share: f64) -> Self {
        let (low, high) = law.support();
        BumpLaw {
            low: R::of(low),
            above: R::of(1.0 - high),
            per_delta: R::of(1.0 / law.delta()),
            main: R::of(1.0 - share),
            share: R::of(share),
            bump: PhantomData,
        }
    }

    #[inline(always)]
    fn cdf(&self, p: R, q: R) -> R {
        self.main * Centred::<B>::cdf_between(p - self.low, q - self.above, self.per_delta) + self.share * p
    }
}

/// σ(z), σ(−z) and their product, from exp(−|z|).
#[inline(always)]
fn sigmoid<R: Real>(z: R) -> (R, R, R) {
    let e = z.magnitude().exp_minus();
    let large = R::ONE / (R::ONE + e);
    let small = e * large;
    let is_positive = z >= R::ZERO;
    let p = if is_positive { large } else { small };
    let q = if is_positive { small } else { large };
    (p, q, small * large)
}

impl<R: Real, B: Bump> RowLaw<R> for BumpLaw<R, B> {
    #[inline(always)]
    fn cdf_of_logit(&self, z: R) -> R {
        let (p, q, _) = sigmoid(z);
        self.cdf(p, q)
    }
    #[inline(always)]
    fn cdf_of_probability(&self, p: R) -> R {
        self.cdf(p, R::ONE - p)
    }
    #[inline(always)]
    fn density_of_logit(&self, z: R) -> R {
        let (p, q, slope) = sigmoid(z);
        let density = Centred::<B>::density_between(p - self.low, q - self.above, self.per_delta);
        slope * (self.main * (density * self.per_delta) + self.share)
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
