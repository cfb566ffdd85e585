//! A probability and its complement, both at full precision.
//!
//! In f64, σ(40) rounds to 1, so 1 − σ(40) is computed as 0 although its value is 4e-18. Computed from the logit, p = σ(40) and 1 − p both
//! have full precision. The distribution function and the density of a prior near the ends of [0, 1], and the derivative p(1 − p) of the
//! sigmoid, then have full precision as well.

/// A probability p and its complement q = 1 − p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability {
    /// The probability p.
    pub p: f64,
    /// The complement 1 − p. If it was computed from a logit, it has full precision even where p rounds to 1.
    pub q: f64,
}

impl Probability {
    /// A probability p with its complement, which is computed as 1 − p.
    #[must_use]
    pub fn new(p: f64) -> Self {
        Probability { p, q: 1.0 - p }
    }

    /// The pair σ(z) and σ(−z) for a logit z, computed from exp(−|z|) without overflow or cancellation.
    #[must_use]
    pub fn from_logit(z: f64) -> Self {
        let e = (-z.abs()).exp();
        let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
        if z >= 0.0 { Probability { p: large, q: small } } else { Probability { p: small, q: large } }
    }

    /// ln p, accurate even near p = 1.
    #[must_use]
    pub fn ln_p(self) -> f64 {
        if self.p < 0.5 { self.p.ln() } else { (-self.q).ln_1p() }
    }

    /// ln (1 − p), accurate even near p = 0.
    #[must_use]
    pub fn ln_q(self) -> f64 {
        if self.q < 0.5 { self.q.ln() } else { (-self.p).ln_1p() }
    }
}
