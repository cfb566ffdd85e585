//! A probability together with its complement, each to all its digits.
//!
//! σ(40) rounds to 1 in f64 and 1 − σ(40) to 0, though it is 4e-18. Taken from the logit, both keep their digits, and with
//! them F and f near the ends of [0, 1] and the slope p(1 − p).

/// p and q = 1 − p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance {
    /// The probability.
    pub p: f64,
    /// Its complement, as precise as itself.
    pub q: f64,
}

impl Chance {
    /// From a probability; the complement is as good as subtraction makes it.
    #[must_use]
    pub fn new(p: f64) -> Self {
        Chance { p, q: 1.0 - p }
    }

    /// σ(z) and σ(−z), from exp(−|z|): no overflow, no cancellation.
    #[must_use]
    pub fn from_logit(z: f64) -> Self {
        let e = (-z.abs()).exp();
        let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
        if z >= 0.0 { Chance { p: large, q: small } } else { Chance { p: small, q: large } }
    }

    /// ln p, precise near 1 as well.
    #[must_use]
    pub fn ln_p(self) -> f64 {
        if self.p < 0.5 { self.p.ln() } else { (-self.q).ln_1p() }
    }

    /// ln (1 − p), precise near 0 as well.
    #[must_use]
    pub fn ln_q(self) -> f64 {
        if self.q < 0.5 { self.q.ln() } else { (-self.p).ln_1p() }
    }
}
