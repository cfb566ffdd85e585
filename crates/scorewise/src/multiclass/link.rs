//! From the logits of a row to a probability per class, and the slopes back.
//!
//! ```text
//! pₖ = eₖ / S        qₖ = 1 − pₖ = (S − eₖ) / S        eₖ = exp(zₖ − z_top), S = Σ eₖ
//! ```
//!
//! The greatest logit has e = 1, so S − eₖ ≥ 1 for every other class and nothing cancels; the greatest class takes its
//! complement from the sum of the others, never from 1 − p.
//!
//! Backwards, class k sees the others through its log-odds ln(pₖ/qₖ) = zₖ − ln Σ_{i≠k} e^(zᵢ), whose slopes are 1 by its own
//! logit and −eⱼ / Σ_{i≠k} eᵢ by another, the share of j among the classes besides k. With cₖ = ∂ℓ/∂(log-odds of k), which holds
//! the finite f p q and never f alone,
//!
//! ```text
//! ∂ℓ/∂zⱼ = cⱼ − Σ_{k≠j} cₖ eⱼ / Σ_{i≠k} eᵢ
//! ```
//!
//! Only the greatest class can have a sum of others that underflows to 0; its q and with it its c are 0 then, and the
//! guarded ratio keeps the share finite.

use crate::formula::ratio;
use crate::prior::Chance;
use crate::real::Real;

/// The probabilities of one row's classes, and the way back to its logits.
pub(super) struct Link {
    /// Where the classes exclude each other.
    softmax: Option<Softmax>,
    chances: Vec<Chance>,
}

impl Link {
    /// Softmax where the classes exclude each other, else a sigmoid for each.
    pub fn new(classes: usize, is_exclusive: bool) -> Self {
        let softmax = is_exclusive.then(|| Softmax::new(classes));
        Link { softmax, chances: vec![Chance { p: 0.0, q: 1.0 }; classes] }
    }

    /// Takes the next row, and gives its probabilities.
    pub fn forward<R: Real>(&mut self, logits: &[R]) -> &[Chance] {
        let logits = logits.iter().map(|logit| logit.wide());
        match &mut self.softmax {
            Some(softmax) => {
                softmax.set(logits, 1.0);
                self.chances.iter_mut().enumerate().for_each(|(class, chance)| *chance = softmax.chance(class));
            }
            None => self.chances.iter_mut().zip(logits).for_each(|(chance, logit)| *chance = Chance::from_logit(logit)),
        }
        &self.chances
    }

    /// Turns slopes by the log-odds of each class into slopes by the logits, for the row taken last.
    pub fn backward(&self, slopes: &mut [f64]) {
        if let Some(softmax) = &self.softmax {
            softmax.backward(slopes);
        }
    }
}

/// The softmax of one row, kept as exponentials against the greatest logit.
pub(super) struct Softmax {
    exponentials: Vec<f64>,
    top: usize,
    /// The exponentials of all classes but the top, whose own is 1.
    rest: f64,
}

impl Softmax {
    pub fn new(classes: usize) -> Self {
        Softmax { exponentials: vec![0.0; classes], top: 0, rest: 0.0 }
    }

    /// Takes the next row, with its logits multiplied by `sharpness`.
    pub fn set(&mut self, logits: impl Iterator<Item = f64>, sharpness: f64) {
        self.exponentials.iter_mut().zip(logits).for_each(|(out, logit)| *out = logit);
        self.top = first_greatest(&self.exponentials);
        let greatest = self.exponentials[self.top];
        self.rest = 0.0;
        for (class, value) in self.exponentials.iter_mut().enumerate() {
            *value = (sharpness * (*value - greatest)).exp();
            self.rest += if class == self.top { 0.0 } else { *value };
        }
    }

    /// The class with the greatest logit, the first of equals.
    pub fn top(&self) -> usize {
        self.top
    }

    pub fn probability(&self, class: usize) -> f64 {
        self.exponentials[class] / (1.0 + self.rest)
    }

    /// The exponentials of all classes but the top, whose own is 1.
    pub fn rest(&self) -> f64 {
        self.rest
    }

    pub fn chance(&self, class: usize) -> Chance {
        Chance { p: self.probability(class), q: self.others(class) / (1.0 + self.rest) }
    }

    /// The exponentials of all classes but this.
    fn others(&self, class: usize) -> f64 {
        if class == self.top { self.rest } else { (1.0 + self.rest) - self.exponentials[class] }
    }

    fn backward(&self, slopes: &mut [f64]) {
        // The top class is kept out of the sum: its term is so much greater than the others that they would drown in it.
        let top = slopes[self.top];
        let below = |class: usize| class != self.top;
        let sum: f64 =
            slopes.iter().enumerate().filter(|(class, _)| below(*class)).map(|(class, c)| c / self.others(class)).sum();
        for (class, slope) in slopes.iter_mut().enumerate() {
            let e = self.exponentials[class];
            *slope -=
                if below(class) { e * (sum - *slope / self.others(class)) + top * ratio(e, self.rest) } else { sum };
        }
    }
}

/// Shares a row's probability out among its classes: pₖ = e^(zₖ) / Σ e^(zᵢ), into the caller's slice.
///
/// ```
/// let mut probabilities = [0.0; 3];
/// scorewise::multiclass::softmax(&[0.0f32, 2f32.ln(), 0.0], &mut probabilities);
/// assert!((probabilities[1] - 0.5).abs() < 1e-7);
/// ```
pub fn softmax<R: Real>(logits: &[R], probabilities: &mut [f64]) {
    let greatest = logits.iter().fold(f64::NEG_INFINITY, |greatest, logit| greatest.max(logit.wide()));
    let mut total = 0.0;
    for (out, logit) in probabilities.iter_mut().zip(logits) {
        *out = (logit.wide() - greatest).exp();
        total += *out;
    }
    probabilities.iter_mut().for_each(|out| *out /= total);
}

/// The place of the greatest value, the first of equals.
pub(super) fn first_greatest(values: &[f64]) -> usize {
    let mut best = 0;
    for (at, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = at;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complements_keep_their_digits() {
        let mut link = Link::new(3, true);
        let chances = link.forward(&[0.0f64, -40.0, -50.0]).to_vec();
        let others = (-40f64).exp() + (-50f64).exp();
        assert!((chances[0].q - others / (1.0 + others)).abs() <= 1e-15 * others);
        assert!((chances[1].p - (-40f64).exp()).abs() <= 1e-15 * others);
        for chance in chances {
            assert!((chance.p + chance.q - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn slopes_of_the_way_back_sum_to_zero_and_stay_finite() {
        // Adding one number to all logits changes nothing, so the slopes by them sum to 0.
        for gap in [0.0, 1.0, 30.0, 740.0, 1e4] {
            let mut link = Link::new(4, true);
            link.forward(&[gap, 0.5, -0.5, 0.0]);
            let mut slopes = [0.2, -0.7, 0.4, 0.1];
            link.backward(&mut slopes);
            assert!(slopes.iter().all(|slope| slope.is_finite()), "{gap}: {slopes:?}");
            if gap < 700.0 {
                assert!(slopes.iter().sum::<f64>().abs() < 1e-15, "{gap}: {slopes:?}");
            }
        }
    }

    #[test]
    fn a_sure_row_keeps_the_slopes_of_its_small_classes() {
        // Uniform prior on class k: c = p q, so the slope by z_j is −p_k p_j, also far below the rounding of 1.
        let mut link = Link::new(3, true);
        let chances = link.forward(&[0.0f64, -60.0, -70.0]).to_vec();
        let mut slopes = [0.0, chances[1].p * chances[1].q, 0.0];
        link.backward(&mut slopes);
        let expected = [-chances[1].p * chances[0].p, chances[1].p * chances[1].q, -chances[1].p * chances[2].p];
        for (got, expected) in slopes.iter().zip(expected) {
            assert!((got - expected).abs() <= 1e-14 * expected.abs(), "{got} for {expected}");
        }
    }
}
