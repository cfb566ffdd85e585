//! Every class against the rest, with a prior of its own.
//!
//! ```text
//! TPₖ = Σ w yₖ Fₖ(pₖ)        FPₖ = Σ w (1 − yₖ) Fₖ(pₖ)        p = softmax(z), or σ(z) where labels do not exclude each other
//! ℓ = average over k of the loss of s(TNₖ, FPₖ, FNₖ, TPₖ)
//! ```
//!
//! The loss of a score is 1 − s where higher is better, s where lower is, |s − ideal| where a value is aimed at; it is the
//! losses of the classes that are averaged, so that a bias of 0.5 and one of 1.5 do not make a perfect 1.
//!
//! Two scalars a class, ∂ℓ/∂Fₖ of its members and of the others, carry what the rows need to know of each other; with Fₖ a
//! function of the log-odds of class k, whose slope fₖ pₖ (1 − pₖ) is finite for every prior, they lead back to the logits.

use super::average::Average;
use super::link::Link;
use super::rows::{ClassLabels, ClassRows};
use crate::confusion::Confusion;
use crate::error::{Error, Result};
use crate::loss::{Slopes, value_and_slopes};
use crate::prior::Prior;
use crate::real::Real;
use crate::score::Score;

/// A score-oriented loss over classes: a score, a prior for each class, and how the classes are averaged.
#[derive(Clone, Debug, PartialEq)]
pub struct OneVersusRest {
    score: Score,
    priors: Vec<Prior>,
    average: Average,
}

impl OneVersusRest {
    /// With one prior for every class in its order, or one for all of them.
    pub fn new(score: Score, priors: Vec<Prior>, average: Average) -> Result<Self> {
        if priors.is_empty() {
            return Err(Error::Setting {
                what: "priors",
                reason: "must be one for all classes or one for each, not none".into(),
            });
        }
        Ok(OneVersusRest { score, priors, average })
    }

    /// The score.
    #[must_use]
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// The priors: one for all classes, or one for each.
    #[must_use]
    pub fn priors(&self) -> &[Prior] {
        &self.priors
    }

    /// How the classes are averaged.
    #[must_use]
    pub fn average(&self) -> Average {
        self.average
    }

    /// The expected confusion matrix of each class against the rest. Those of batches add up, class by class, to those of
    /// the whole.
    pub fn expect<R: Real, L: ClassLabels>(&self, rows: &ClassRows<'_, R, L>) -> Result<Vec<Confusion>> {
        let priors = self.priors_of(rows.classes())?;
        let mut link = Link::new(rows.classes(), L::EXCLUSIVE);
        let mut sums = vec![Sums::default(); rows.classes()];
        for row in 0..rows.len() {
            let weight = rows.weight(row);
            let classes = link.forward(rows.logits(row)).iter().zip(&priors).zip(&mut sums);
            for (class, ((chance, prior), sums)) in classes.enumerate() {
                let side = if rows.holds(row, class) { &mut sums.positive } else { &mut sums.negative };
                side.predicted += weight * prior.cdf_at(*chance);
                side.weight += weight;
            }
        }
        Ok(sums.iter().map(Sums::confusion).collect())
    }

    /// The loss of the matrices of all classes.
    pub fn of(&self, matrices: &[Confusion]) -> Result<f64> {
        self.value_and_slopes(matrices).map(|(value, _)| value)
    }

    /// The two scalars of each class that finish the gradient of every batch in these matrices.
    pub fn slopes(&self, matrices: &[Confusion]) -> Result<Vec<Slopes>> {
        self.value_and_slopes(matrices).map(|(_, slopes)| slopes)
    }

    fn value_and_slopes(&self, matrices: &[Confusion]) -> Result<(f64, Vec<Slopes>)> {
        self.priors_of(matrices.len())?;
        if self.average == Average::Micro {
            let (value, slopes) = value_and_slopes(&self.score, &matrices.iter().copied().sum())?;
            return Ok((value, vec![slopes; matrices.len()]));
        }
        // The supports are sums of weights, which no logit moves: the shares have no slopes.
        let cells: Vec<_> = matrices.iter().map(Confusion::array).collect();
        let shares = self.average.shares(&cells);
        let total: f64 = shares.iter().sum();
        let (mut value, mut slopes) = (0.0, Vec::with_capacity(matrices.len()));
        for (matrix, share) in matrices.iter().zip(&shares) {
            let (class_value, class_slopes) = value_and_slopes(&self.score, matrix)?;
            value += share * class_value;
            let part = share / total;
            slopes.push(Slopes { positive: part * class_slopes.positive, negative: part * class_slopes.negative });
        }
        Ok((value / total, slopes))
    }

    /// Writes ∂ℓ/∂z of these rows, the slopes being those of the whole batch that they belong to.
    pub fn gradient_with<R: Real, L: ClassLabels>(
        &self,
        slopes: &[Slopes],
        rows: &ClassRows<'_, R, L>,
        gradient: &mut [R],
    ) -> Result<()> {
        rows.check_gradient(gradient)?;
        let priors = self.priors_of(rows.classes())?;
        if slopes.len() != rows.classes() {
            let reason = format!("must be one pair for each of the {} classes, not {}", rows.classes(), slopes.len());
            return Err(Error::Setting { what: "slopes", reason });
        }
        let mut link = Link::new(rows.classes(), L::EXCLUSIVE);
        let mut by_log_odds = vec![0.0; rows.classes()];
        for (row, gradient) in gradient.chunks_exact_mut(rows.classes()).enumerate() {
            let weight = rows.weight(row);
            let chances = link.forward(rows.logits(row));
            for (class, out) in by_log_odds.iter_mut().enumerate() {
                let slope = if rows.holds(row, class) { slopes[class].positive } else { slopes[class].negative };
                *out = slope * weight * priors[class].logit_density_at(chances[class]);
            }
            link.backward(&mut by_log_odds);
            gradient.iter_mut().zip(&by_log_odds).for_each(|(out, slope)| *out = R::of(*slope));
        }
        Ok(())
    }

    /// ℓ.
    pub fn value<R: Real, L: ClassLabels>(&self, rows: &ClassRows<'_, R, L>) -> Result<f64> {
        self.of(&self.expect(rows)?)
    }

    /// ℓ, and ∂ℓ/∂z into the caller's slice, row by row with one number a class.
    pub fn value_and_gradient<R: Real, L: ClassLabels>(
        &self,
        rows: &ClassRows<'_, R, L>,
        gradient: &mut [R],
    ) -> Result<f64> {
        let (value, slopes) = self.value_and_slopes(&self.expect(rows)?)?;
        self.gradient_with(&slopes, rows, gradient)?;
        Ok(value)
    }

    /// The prior of every class.
    fn priors_of(&self, classes: usize) -> Result<Vec<&Prior>> {
        match self.priors.as_slice() {
            [one] if classes > 0 => Ok(vec![one; classes]),
            all if all.len() == classes => Ok(all.iter().collect()),
            all => {
                let reason = format!("must be one for all classes or one for each of the {classes}, not {}", all.len());
                Err(Error::Setting { what: "priors", reason })
            }
        }
    }
}

/// What the rows of a class, and the rows of the others, add up to.
#[derive(Clone, Copy, Default)]
struct Sums {
    positive: Side,
    negative: Side,
}

#[derive(Clone, Copy, Default)]
struct Side {
    /// Σ w F.
    predicted: f64,
    /// Σ w.
    weight: f64,
}

impl Sums {
    /// Row sums are kept: what is not predicted positive is predicted negative.
    fn confusion(&self) -> Confusion {
        let rest = |side: Side| (side.weight - side.predicted).max(0.0);
        Confusion::new(rest(self.negative), self.negative.predicted, rest(self.positive), self.positive.predicted)
    }
}
