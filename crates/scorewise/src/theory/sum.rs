//! A sum that carries along what rounding drops, so that a million small probabilities add up as well as ten.
//!
//! Neumaier, A. (1974). Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen. ZAMM 54, 39–51.
//! doi:10.1002/zamm.19740540106

/// Σ terms, as if in twice the digits and rounded once.
pub(super) fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut dropped) = (0.0f64, 0.0);
    for term in terms {
        let next = total + term;
        // The smaller of the two lost its low digits; they are what remains of it once the larger is taken off again.
        dropped += if total.abs() >= term.abs() { (total - next) + term } else { (term - next) + total };
        total = next;
    }
    total + dropped
}

#[cfg(test)]
mod tests {
    use super::sum;

    #[test]
    fn small_terms_survive_large_ones() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100].into_iter()), 2.0);
        assert_eq!(sum(std::iter::repeat_n(0.1, 10_000_000)), 1_000_000.0);
        assert_eq!(sum(std::iter::empty()), 0.0);
    }
}
