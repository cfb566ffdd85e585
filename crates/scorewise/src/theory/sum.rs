//! Compensated summation, so that millions of small probabilities are summed without loss of precision.
//!
//! Neumaier, A. (1974). Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen. ZAMM 54, 39–51.
//! doi:10.1002/zamm.19740540106

/// The sum of the terms, about as accurate as if it were computed in twice the precision and rounded once.
pub(super) fn compensated_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut compensation) = (0.0f64, 0.0);
    for term in terms {
        let next = total + term;
        // In the addition, the smaller of `total` and `term` loses its low digits; (larger − sum) + smaller recovers them.
        compensation += if total.abs() >= term.abs() { (total - next) + term } else { (term - next) + total };
        total = next;
    }
    total + compensation
}

#[cfg(test)]
mod tests {
    use super::compensated_sum;

    #[test]
    fn small_terms_are_not_lost_next_to_large_terms() {
        assert_eq!(compensated_sum([1.0, 1e100, 1.0, -1e100].into_iter()), 2.0);
        assert_eq!(compensated_sum(std::iter::repeat_n(0.1, 10_000_000)), 1_000_000.0);
        assert_eq!(compensated_sum(std::iter::empty()), 0.0);
    }
}
