//! A probability and its complement, both at full precision.
//!
//! In f64, σ(40) rounds to 1 and 1 − σ(40) to 0, although it is 4e-18. Computed from the logit, both keep full precision, and so do F and
//! f near the ends of [0, 1] and the derivative p(1 − p) of the sigmoid.

/// p and q = 1 − p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability {
    /// The probability.
    pub p: f64,
    /// The complement 1 − p, also at full precision.
    pub q: f64,
}

impl Probability {
    /// From a probability; the complement is computed by subtraction.
    #[must_use]
    pub fn new(p: f64) -> Self {
        Probability { p, q: 1.0 - p }
    }

    /// σ(z) and σ(−z), computed from exp(−|z|) without overflow or cancellation.
    #[must_use]
    pub fn from_logit(z: f64) -> Self {
        let e = (-z.abs()).exp();
        let (large, small) = (1.0 / (1.0 + e), e / (1.0 + e));
        if z >= 0.0 { Probability { p: large, q: small } } else { Probability { p: small, q: large } }
    }

    /// ln p, accurate also near p = 1.
    #[must_use]
    pub fn ln_p(self) -> f64 {
        if self.p < 0.5 { self.p.ln() } else { (-self.q).ln_1p() }
    }

    /// ln (1 − p), accurate also near p = 0.
    #[must_use]
    pub fn ln_q(self) -> f64 {
        if self.q < 0.5 { self.q.ln() } else { (-self.p).ln_1p() }
    }
}
