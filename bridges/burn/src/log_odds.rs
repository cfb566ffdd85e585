//! Converts logits or probabilities to the log-odds of each class, and the gradient with respect to the log-odds back to the gradient with
//! respect to the logits or probabilities.
//!
//! L are the log-odds, z the logits, p the probabilities, ℓ is the loss, c = ∂ℓ/∂L, and eₖ = exp(zₖ − largest logit of the row):
//!
//! ```text
//! independent logits      L = z                                   ∂ℓ/∂z = c
//! probabilities           L = ln p − ln(1 − p)                    ∂ℓ/∂p = c / (p (1 − p))
//! logits of a softmax     Lₖ = zₖ − ln Σ_{i≠k} e^(zᵢ)             ∂ℓ/∂zⱼ = cⱼ − Σ_{k≠j} cₖ eⱼ / Σ_{i≠k} eᵢ
//! ```
//!
//! The class with the largest logit has the exponential e = 1. For every other class k, the sum of the eᵢ over i ≠ k is computed as the sum over all
//! classes minus eₖ. For the class with the largest logit, this subtraction would lose digits by cancellation, so the exponentials of the other
//! classes are summed directly. The module `multiclass/link.rs` of `scorewise` does the same computation for one row at a time.

use burn::tensor::{Bool, Int, Tensor};

/// Values that the backward pass needs to convert the gradient with respect to the log-odds to the gradient with respect to the predictions.
/// Tensors have the shape `[rows, classes]` unless stated otherwise.
#[allow(clippy::large_enum_variant)] // one value exists per batch
pub(crate) enum LogOddsLink {
    Logits,
    Probabilities(Tensor<2>),
    Softmax(SoftmaxLink),
}

/// The values of the forward pass of a softmax that its backward pass needs.
pub(crate) struct SoftmaxLink {
    /// e^(z − z_max), with z_max the largest logit of the row.
    exponentials: Tensor<2>,
    /// For each row and class, the sum of `exponentials` over all other classes.
    other_sums: Tensor<2>,
    /// For each row and class, whether the class has the largest logit of the row (the top class).
    is_top: Tensor<2, Bool>,
    /// For each row, the sum of `exponentials` over all classes except the class with the largest logit. The shape is `[rows, 1]`.
    rest: Tensor<2>,
}

impl LogOddsLink {
    /// Returns independent logits unchanged, because they are log-odds already.
    pub fn from_logits(logits: Tensor<2>) -> (Tensor<2>, Self) {
        (logits, LogOddsLink::Logits)
    }

    /// Converts probabilities to log-odds.
    pub fn from_probabilities(probabilities: Tensor<2>) -> (Tensor<2>, Self) {
        let log_odds = probabilities.clone().log() - probabilities.clone().neg().log1p();
        (log_odds, LogOddsLink::Probabilities(probabilities))
    }

    /// Converts the logits of a softmax to the log-odds of each class against all other classes.
    pub fn from_softmax_logits(logits: Tensor<2>) -> (Tensor<2>, Self) {
        let shape = logits.dims();
        let (largest, top_class) = logits.clone().max_dim_with_indices(1);
        let is_top = class_mask(top_class, shape);
        let relative = logits - largest;
        let exponentials = relative.clone().exp();
        let rest = exponentials.clone().mask_fill(is_top.clone(), 0.0).sum_dim(1);
        let other_sums = (rest.clone().add_scalar(1.0) - exponentials.clone())
            .mask_where(is_top.clone(), rest.clone().expand(shape));
        let log_odds = relative - other_sums.clone().log();
        (log_odds, LogOddsLink::Softmax(SoftmaxLink { exponentials, other_sums, is_top, rest }))
    }

    /// Converts the gradient with respect to the log-odds to the gradient with respect to the predictions.
    pub fn backward(self, gradient: Tensor<2>) -> Tensor<2> {
        match self {
            LogOddsLink::Logits => gradient,
            LogOddsLink::Probabilities(p) => {
                let variance = p.clone() * p.neg().add_scalar(1.0);
                // At p = 0 and p = 1 the log-odds are infinite and the gradient with respect to them is 0; the quotient 0/0 is set to 0.
                let is_certain = variance.clone().equal_scalar(0.0);
                (gradient / variance.mask_fill(is_certain.clone(), 1.0)).mask_fill(is_certain, 0.0)
            }
            LogOddsLink::Softmax(softmax) => softmax.backward(gradient),
        }
    }
}

impl SoftmaxLink {
    /// Converts the gradient with respect to the log-odds to the gradient with respect to the logits of the softmax.
    fn backward(self, gradient: Tensor<2>) -> Tensor<2> {
        let SoftmaxLink { exponentials, other_sums, is_top, rest } = self;
        let top_gradient = gradient.clone().mask_fill(is_top.clone().bool_not(), 0.0).sum_dim(1);
        // The term of the top class (the class with the largest logit) can be so large that the other terms would be rounded away in a sum with it.
        // So this term is left out of `share_sum` and subtracted separately.
        let shares = (gradient.clone() / other_sums.mask_fill(is_top.clone(), 1.0)).mask_fill(is_top.clone(), 0.0);
        let share_sum = shares.clone().sum_dim(1);
        // `rest` is the sum of the exponentials of all classes but the top class. If it underflows to 0, the log-odds of the top class are infinite
        // and the gradient with respect to them is 0. Dividing by 1 instead of 0 then avoids 0/0.
        let rest_is_zero = rest.clone().equal_scalar(0.0);
        let through_top = exponentials.clone() * (top_gradient / rest.mask_fill(rest_is_zero, 1.0));
        let at_top = gradient.clone() - share_sum.clone();
        let at_others = gradient - exponentials * (share_sum - shares) - through_top;
        at_others.mask_where(is_top, at_top)
    }
}

/// Converts class indices `[rows, 1]` to a one-hot mask of the given shape, `[rows, classes]`. burn's `one_hot` is not used, because it would
/// read the indices back to the host.
pub(crate) fn class_mask(class_indices: Tensor<2, Int>, shape: [usize; 2]) -> Tensor<2, Bool> {
    let classes = Tensor::<1, Int>::arange(0..shape[1] as i64, (&class_indices.device(), class_indices.dtype()));
    class_indices.expand(shape).equal(classes.unsqueeze::<2>().expand(shape))
}
