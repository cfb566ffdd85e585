//! Computes a probability per class from the logits of a row, and propagates derivatives back to the logits.
//!
//! ```text
//! pₖ = eₖ / S        qₖ = 1 − pₖ = (S − eₖ) / S        eₖ = exp(zₖ − z_max), S = Σ eₖ
//! ```
//!
//! The class with the largest logit has e = 1, so for every other class k the difference S − eₖ is at least 1 and nothing cancels. For the class
//! with the largest logit itself, S − e is computed as the sum of the other exponentials. So q is accurate for every class.
//!
//! The backward pass treats the loss as a function of the log-odds of each class k, ln(pₖ/qₖ) = zₖ − ln Σ_{i≠k} e^(zᵢ), whose derivative is
//! 1 with respect to zₖ and −eⱼ / Σ_{i≠k} eᵢ with respect to the logit zⱼ of another class. Let cₖ be the derivative of the loss ℓ with
//! respect to the log-odds of class k. It contains the product f p q, where f is the density of the prior; this product is finite even
//! where f is infinite. Then
//!
//! ```text
//! ∂ℓ/∂zⱼ = cⱼ − Σ_{k≠j} cₖ eⱼ / Σ_{i≠k} eᵢ
//! ```
//!
//! The sum Σ_{i≠k} eᵢ can underflow to 0 only if class k has the largest logit. Then qₖ and therefore cₖ are 0, and the rule 0/0 := 0 keeps the
//! quotient finite.

use crate::formula::ratio;
use crate::prior::Probability;
use crate::real::Real;

/// Computes the class probabilities of one row, and the gradient with respect to its logits.
pub(super) struct ClassLink {
    /// The softmax of the row; `None` for multi-label rows, which have an independent sigmoid per class.
    softmax: Option<RowSoftmax>,
    probabilities: Vec<Probability>,
}

impl ClassLink {
    /// The function from logits to class probabilities: a softmax over the logits of a row if every row has exactly one class (`is_exclusive`),
    /// otherwise a sigmoid of each logit.
    pub fn new(classes: usize, is_exclusive: bool) -> Self {
        let softmax = is_exclusive.then(|| RowSoftmax::new(classes));
        ClassLink { softmax, probabilities: vec![Probability { p: 0.0, q: 1.0 }; classes] }
    }

    /// Returns the class probabilities of a row, and stores the row for [`backward`](ClassLink::backward).
    pub fn forward<R: Real>(&mut self, logits: &[R]) -> &[Probability] {
        let logits = logits.iter().map(|logit| logit.to_f64());
        match &mut self.softmax {
            Some(softmax) => {
                softmax.load(logits, 1.0);
                self.probabilities
                    .iter_mut()
                    .enumerate()
                    .for_each(|(class, probability)| *probability = softmax.probability_with_complement(class));
            }
            None => self
                .probabilities
                .iter_mut()
                .zip(logits)
                .for_each(|(probability, logit)| *probability = Probability::from_logit(logit)),
        }
        &self.probabilities
    }

    /// Replaces derivatives with respect to the log-odds of each class by derivatives with respect to the logits of the stored row.
    pub fn backward(&self, derivatives: &mut [f64]) {
        if let Some(softmax) = &self.softmax {
            softmax.backward(derivatives);
        }
    }
}

/// The softmax of one row, stored as exponentials relative to the largest logit.
pub(super) struct RowSoftmax {
    exponentials: Vec<f64>,
    top_class: usize,
    /// The sum of e^(zₖ − z_max) over all classes k except the class with the largest logit z_max.
    sum_without_top_class: f64,
}

impl RowSoftmax {
    /// Space for the softmax of a row with this many classes; [`load`](RowSoftmax::load) computes it.
    pub fn new(classes: usize) -> Self {
        RowSoftmax { exponentials: vec![0.0; classes], top_class: 0, sum_without_top_class: 0.0 }
    }

    /// Computes the softmax of a row from its logits, each multiplied by `sharpness`, and stores it in place of the previous row.
    pub fn load(&mut self, logits: impl Iterator<Item = f64>, sharpness: f64) {
        self.exponentials.iter_mut().zip(logits).for_each(|(out, logit)| *out = logit);
        self.top_class = argmax(&self.exponentials);
        let largest = self.exponentials[self.top_class];
        self.sum_without_top_class = 0.0;
        for (class, value) in self.exponentials.iter_mut().enumerate() {
            *value = (sharpness * (*value - largest)).exp();
            self.sum_without_top_class += if class == self.top_class { 0.0 } else { *value };
        }
    }

    /// The class with the largest logit; if several classes have it, the first of them.
    pub fn top_class(&self) -> usize {
        self.top_class
    }

    /// The probability of a class in the stored row.
    pub fn probability(&self, class: usize) -> f64 {
        self.exponentials[class] / (1.0 + self.sum_without_top_class)
    }

    /// The sum of e^(zₖ − z_max) over all classes k except the class with the largest logit z_max.
    pub fn sum_without_top_class(&self) -> f64 {
        self.sum_without_top_class
    }

    /// The probability p of a class in the stored row, and 1 − p, both at full precision.
    pub fn probability_with_complement(&self, class: usize) -> Probability {
        Probability { p: self.probability(class), q: self.sum_of_others(class) / (1.0 + self.sum_without_top_class) }
    }

    /// The sum of the exponentials of all classes except the given one.
    fn sum_of_others(&self, class: usize) -> f64 {
        if class == self.top_class {
            self.sum_without_top_class
        } else {
            (1.0 + self.sum_without_top_class) - self.exponentials[class]
        }
    }

    /// Replaces derivatives with respect to the log-odds of each class by derivatives with respect to the logits of the stored row.
    fn backward(&self, derivatives: &mut [f64]) {
        // The class with the largest logit is left out of `sum` and added separately, because rounding would lose the other terms next to its large
        // term.
        let top = derivatives[self.top_class];
        let is_not_top = |class: usize| class != self.top_class;
        let sum: f64 = derivatives
            .iter()
            .enumerate()
            .filter(|(class, _)| is_not_top(*class))
            .map(|(class, c)| c / self.sum_of_others(class))
            .sum();
        for (class, derivative) in derivatives.iter_mut().enumerate() {
            let e = self.exponentials[class];
            *derivative -= if is_not_top(class) {
                e * (sum - *derivative / self.sum_of_others(class)) + top * ratio(e, self.sum_without_top_class)
            } else {
                sum
            };
        }
    }
}

/// The softmax of a row: pₖ = e^(zₖ) / Σ e^(zᵢ), written to `probabilities`.
///
/// ```
/// let mut probabilities = [0.0; 3];
/// scorewise::multiclass::softmax(&[0.0f32, 2f32.ln(), 0.0], &mut probabilities);
/// assert!((probabilities[1] - 0.5).abs() < 1e-7);
/// ```
pub fn softmax<R: Real>(logits: &[R], probabilities: &mut [f64]) {
    let largest = logits.iter().fold(f64::NEG_INFINITY, |largest, logit| largest.max(logit.to_f64()));
    let mut total = 0.0;
    for (out, logit) in probabilities.iter_mut().zip(logits) {
        *out = (logit.to_f64() - largest).exp();
        total += *out;
    }
    probabilities.iter_mut().for_each(|out| *out /= total);
}

/// The index of the largest value; if it occurs several times, the first index.
pub(super) fn argmax(values: &[f64]) -> usize {
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
    fn complements_of_softmax_probabilities_are_accurate() {
        let mut link = ClassLink::new(3, true);
        let probabilities = link.forward(&[0.0f64, -40.0, -50.0]).to_vec();
        let others = (-40f64).exp() + (-50f64).exp();
        assert!((probabilities[0].q - others / (1.0 + others)).abs() <= 1e-15 * others);
        assert!((probabilities[1].p - (-40f64).exp()).abs() <= 1e-15 * others);
        for probability in probabilities {
            assert!((probability.p + probability.q - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn derivatives_of_a_softmax_with_respect_to_the_logits_sum_to_zero_and_stay_finite() {
        // Adding a constant to all logits does not change their softmax, so the derivatives sum to 0.
        for gap in [0.0, 1.0, 30.0, 740.0, 1e4] {
            let mut link = ClassLink::new(4, true);
            link.forward(&[gap, 0.5, -0.5, 0.0]);
            let mut derivatives = [0.2, -0.7, 0.4, 0.1];
            link.backward(&mut derivatives);
            assert!(derivatives.iter().all(|derivative| derivative.is_finite()), "{gap}: {derivatives:?}");
            if gap < 700.0 {
                assert!(derivatives.iter().sum::<f64>().abs() < 1e-15, "{gap}: {derivatives:?}");
            }
        }
    }

    #[test]
    fn derivatives_of_probabilities_near_zero_are_accurate() {
        // The derivative of the probability p_k with respect to the log-odds of class k is p_k (1 − p_k). Its derivative with respect to the logit of
        // another class j is −p_k p_j, which can be far below the rounding error of numbers near 1.
        let mut link = ClassLink::new(3, true);
        let probabilities = link.forward(&[0.0f64, -60.0, -70.0]).to_vec();
        let mut derivatives = [0.0, probabilities[1].p * probabilities[1].q, 0.0];
        link.backward(&mut derivatives);
        let expected = [
            -probabilities[1].p * probabilities[0].p,
            probabilities[1].p * probabilities[1].q,
            -probabilities[1].p * probabilities[2].p,
        ];
        for (got, expected) in derivatives.iter().zip(expected) {
            assert!((got - expected).abs() <= 1e-14 * expected.abs(), "{got}, expected {expected}");
        }
    }
}
