//! From predictions to the log-odds of each class, whatever they are given as, and slopes by the log-odds back to slopes by the predictions.
//!
//! ```text
//! logits, one by one      L = z                                   ∂ℓ/∂z = c                           c = ∂ℓ/∂L
//! probabilities           L = ln p − ln(1 − p)                    ∂ℓ/∂p = c / p(1 − p)
//! logits of a softmax     Lₖ = zₖ − ln Σ_{i≠k} e^(zᵢ)             ∂ℓ/∂zⱼ = cⱼ − Σ_{k≠j} cₖ eⱼ / Σ_{i≠k} eᵢ
//! ```
//!
//! With e against the greatest logit, the sum of all but class k is 1 or more unless k is that greatest; it alone sums the rest without
//! its own, so nothing cancels. The core's `multiclass/link.rs` says the same row by row.

use burn::tensor::{Bool, Int, Tensor};

/// The way back from log-odds to the predictions, all `[rows, classes]`.
#[allow(clippy::large_enum_variant)] // there is one a batch, and never a list of them
pub(crate) enum Link {
    Logits,
    Probabilities(Tensor<2>),
    Softmax(Softmax),
}

pub(crate) struct Softmax {
    /// e^(z − z_top).
    exponentials: Tensor<2>,
    /// The sums of the exponentials of all classes but one.
    others: Tensor<2>,
    /// The greatest class of each row.
    top: Tensor<2, Bool>,
    /// The exponentials of all classes but the top, `[rows, 1]`.
    rest: Tensor<2>,
}

impl Link {
    /// The log-odds of logits that do not exclude each other.
    pub fn logits(logits: Tensor<2>) -> (Tensor<2>, Self) {
        (logits, Link::Logits)
    }

    /// The log-odds of probabilities.
    pub fn probabilities(probabilities: Tensor<2>) -> (Tensor<2>, Self) {
        let log_odds = probabilities.clone().log() - probabilities.clone().neg().log1p();
        (log_odds, Link::Probabilities(probabilities))
    }

    /// The log-odds of each class against the others of its row.
    pub fn softmax(logits: Tensor<2>) -> (Tensor<2>, Self) {
        let shape = logits.dims();
        let (greatest, at) = logits.clone().max_dim_with_indices(1);
        let top = is_class(at, shape);
        let below = logits - greatest;
        let exponentials = below.clone().exp();
        let rest = exponentials.clone().mask_fill(top.clone(), 0.0).sum_dim(1);
        let others =
            (rest.clone().add_scalar(1.0) - exponentials.clone()).mask_where(top.clone(), rest.clone().expand(shape));
        let log_odds = below - others.clone().log();
        (log_odds, Link::Softmax(Softmax { exponentials, others, top, rest }))
    }

    /// Slopes by the log-odds to slopes by the predictions.
    pub fn backward(self, slopes: Tensor<2>) -> Tensor<2> {
        match self {
            Link::Logits => slopes,
            Link::Probabilities(p) => {
                let spread = p.clone() * p.neg().add_scalar(1.0);
                // A sure prediction is beyond all panels: its slope by the log-odds is 0, and 0/0 stays 0.
                let is_sure = spread.clone().equal_scalar(0.0);
                (slopes / spread.mask_fill(is_sure.clone(), 1.0)).mask_fill(is_sure, 0.0)
            }
            Link::Softmax(softmax) => softmax.backward(slopes),
        }
    }
}

impl Softmax {
    fn backward(self, slopes: Tensor<2>) -> Tensor<2> {
        let Softmax { exponentials, others, top, rest } = self;
        let top_slope = slopes.clone().mask_fill(top.clone().bool_not(), 0.0).sum_dim(1);
        // The top class is kept out of the sum: its term is so much greater than the others that they would drown in it.
        let shares = (slopes.clone() / others.mask_fill(top.clone(), 1.0)).mask_fill(top.clone(), 0.0);
        let sum = shares.clone().sum_dim(1);
        // Where the rest has underflown so has every exponential in it, and the top class has no slope.
        let no_rest = rest.clone().equal_scalar(0.0);
        let through_top = exponentials.clone() * (top_slope / rest.mask_fill(no_rest, 1.0));
        let of_top = slopes.clone() - sum.clone();
        let of_others = slopes - exponentials * (sum - shares) - through_top;
        of_others.mask_where(top, of_top)
    }
}

/// Which class each row's number `[rows, 1]` names, as `[rows, classes]`. (burn's `one_hot` reads its numbers back to the host.)
pub(crate) fn is_class(numbers: Tensor<2, Int>, shape: [usize; 2]) -> Tensor<2, Bool> {
    let classes = Tensor::<1, Int>::arange(0..shape[1] as i64, (&numbers.device(), numbers.dtype()));
    numbers.expand(shape).equal(classes.unsqueeze::<2>().expand(shape))
}
