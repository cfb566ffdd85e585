"""Makes losses.json: losses and gradients from automatic differentiation in torch, checked against a computation with 50 digits."""

import math

import mpmath
from mpmath import mpf

from golden_parts.priors import logistic, parse_prior, prior_cdf, prior_pdf
from golden_parts.scores import FORMULAS, Cells
from golden_parts.shared import TOLERANCE, provenance_record, write_json

LOWER_IS_BETTER = ("far", "cost(fp=1, fn=10)")  # the loss of these scores is the score itself, not 1 − score

LOSS_PRIORS = [
    "uniform",
    "uniform:0.2,0.8",
    "cosine:0.5,0.1",
    "cosine:0.3,0.3",
    "triangular:0.5,0.2",
    "epanechnikov:0.4,0.3",
    "quartic:0.6,0.25",
    "kumaraswamy:2,5",
    "normal:0.5,0.1",
    "logistic:0.5,0.0137",
    "mix:0.05,cosine:0.5,0.1",
]

# Score formulas that accept tensors. `check_case` compares their losses and gradients with those of the formulas in FORMULAS.
LOSS_SCORES = {
    "accuracy": lambda c: (c.tp + c.tn) / c.total,
    "precision": lambda c: c.tp / (c.tp + c.fp),
    "recall": lambda c: c.tp / (c.tp + c.fn),
    "specificity": lambda c: c.tn / (c.tn + c.fp),
    "f1": lambda c: 2 * c.tp / (2 * c.tp + c.fp + c.fn),
    "tss": lambda c: c.tp / (c.tp + c.fn) - c.fp / (c.fp + c.tn),
    "csi": lambda c: c.tp / (c.tp + c.fp + c.fn),
    "hss1": lambda c: (c.tp - c.fp) / (c.tp + c.fn),
    "hss": lambda c: 2
    * (c.tp * c.tn - c.fp * c.fn)
    / ((c.tp + c.fn) * (c.fn + c.tn) + (c.tp + c.fp) * (c.fp + c.tn)),
    "mcc": lambda c: (c.tp * c.tn - c.fp * c.fn)
    / ((c.tp + c.fp) * (c.tp + c.fn) * (c.tn + c.fp) * (c.tn + c.fn)).sqrt(),
    "ets": lambda c: (c.tp - c.positives * c.forecast_yes / c.total)
    / (c.tp + c.fp + c.fn - c.positives * c.forecast_yes / c.total),
    "g_mean": lambda c: (c.tp / c.positives * c.tn / c.negatives).sqrt(),
    "fowlkes_mallows": lambda c: c.tp / (c.positives * c.forecast_yes).sqrt(),
    "p4": lambda c: 4 * c.tp * c.tn / (4 * c.tp * c.tn + (c.tp + c.tn) * (c.fp + c.fn)),
    "fbeta(2)": lambda c: 5 * c.tp / (5 * c.tp + 4 * c.fn + c.fp),
    "tversky(0.3, 0.7)": lambda c: c.tp / (c.tp + 0.3 * c.fp + 0.7 * c.fn),
    "net_benefit(0.1)": lambda c: (c.tp - c.fp / 9) / c.total,
    "cost(fp=1, fn=10)": lambda c: (c.fp + 10 * c.fn) / c.total,
    "far": lambda c: c.fp / (c.tp + c.fp),
    "markedness": lambda c: c.tp / (c.tp + c.fp) + c.tn / (c.tn + c.fn) - 1,
}


def torch_cdf(text, p):
    """Return the distribution function of a prior, computed with torch; p is clamped to the support if the support is smaller than [0, 1]."""
    import torch

    kind, parameters = parse_prior(text)
    if kind == "mix":
        share, mixed = parameters
        return (1 - share) * torch_cdf(mixed, p) + share * p
    if kind == "uniform":
        low, high = parameters or (0.0, 1.0)
        return torch.clamp((p - low) / (high - low), 0.0, 1.0)
    a, b = parameters
    if kind == "kumaraswamy":
        return 1 - (1 - p**a) ** b
    if kind in ("normal", "logistic"):
        untruncated = torch.special.ndtr if kind == "normal" else torch.sigmoid
        below, above = (untruncated(torch.tensor((end - a) / b, dtype=torch.float64)) for end in (0.0, 1.0))
        return (untruncated((p - a) / b) - below) / (above - below)
    u = torch.clamp((p - a) / b, -1.0, 1.0)
    if kind == "cosine":
        return (1 + u + torch.sin(math.pi * u) / math.pi) / 2
    if kind == "triangular":
        return torch.where(u < 0, (1 + u) ** 2 / 2, 1 - (1 - u) ** 2 / 2)
    if kind == "epanechnikov":
        return (2 + 3 * u - u**3) / 4
    return (8 + 15 * u - 10 * u**3 + 3 * u**5) / 16


def loss_sample():
    """Return 64 rows: moderate logits, some with the wrong sign, and saturated logits for both labels."""
    import numpy

    generator = numpy.random.default_rng(1884)
    labels = (numpy.arange(64) % 4 == 0).astype(int)
    logits = generator.normal(1.6 * labels - 1.0, 1.3)
    logits[[3, 17]] = -30.0
    logits[[8, 33]] = 30.0
    logits[[20]] = -30.0  # a positive row that is predicted negative with certainty
    weights = generator.gamma(2.0, 0.75, size=64)
    weights[[5, 12, 40]] = 0.0
    return [float(z) for z in logits.round(6)], [int(y) for y in labels], [float(w) for w in weights.round(6)]


def expected_confusion(labels, weights, distribution):
    """Return the expected confusion matrix. `distribution` holds, for each row, the probability that the random threshold is below the prediction.
    The arguments are tensors or lists of mpmath numbers."""
    tp = sum(w * y * f for w, y, f in zip(weights, labels, distribution))
    fp = sum(w * (1 - y) * f for w, y, f in zip(weights, labels, distribution))
    positives = sum(w * y for w, y in zip(weights, labels))
    negatives = sum(w * (1 - y) for w, y in zip(weights, labels))
    return Cells(tn=negatives - fp, fp=fp, fn=positives - tp, tp=tp)


def torch_score_loss(score, prior, logits, labels, weights):
    """Return the score-oriented loss and its gradient with respect to the logits, computed with torch."""
    import torch

    z = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    distribution = torch_cdf(prior, torch.sigmoid(z))
    value = LOSS_SCORES[score](expected_confusion(labels, weights, distribution))
    loss = value if score in LOWER_IS_BETTER else 1 - value
    loss.backward()
    return loss.item(), z.grad.tolist()


def torch_cross_entropy(positive_weight, logits, labels, weights):
    """Return the weighted mean cross-entropy and its gradient; the weights of positive rows are multiplied by `positive_weight`."""
    import torch

    z = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(labels, dtype=torch.float64)
    w = torch.tensor(weights, dtype=torch.float64) * torch.where(y > 0, positive_weight, 1.0)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y, weight=w, reduction="sum") / w.sum()
    loss.backward()
    return loss.item(), z.grad.tolist()


class ExactLoss:
    """The score-oriented loss with 50 digits, for one prior and one set of weights.

    The derivatives of a score are central differences, so that no formula of a derivative can be wrong. The derivative of the distribution
    function F is the density, not a difference: at z = 30 it can be as small as 1e-63, which a difference of values near 1 would lose.
    """

    STEP = mpf("1e-16")  # gives an error of about 1e-32 in the derivative, far below the precision of a double

    def __init__(self, prior, logits, labels, weights):
        """Compute the expected confusion matrix and, for each row, the derivative of the distribution function with respect to the logit."""
        self.rows = [(y, mpf(w)) for y, w in zip(labels, weights)]
        probabilities = [logistic(mpf(z)) for z in logits]
        distribution = [prior_cdf(prior, p) for p in probabilities]
        self.cells = expected_confusion(labels, [w for _, w in self.rows], distribution)
        self.densities = [prior_pdf(prior, p) * p * (1 - p) for p in probabilities]

    def cells_after_step(self, label, step):
        """Return the expected confusion matrix after a weight `step` of rows with this label moves from predicted negative to predicted positive."""
        c = self.cells
        if label == 1:
            return Cells(tn=c.tn, fp=c.fp, fn=c.fn - step, tp=c.tp + step)
        return Cells(tn=c.tn - step, fp=c.fp + step, fn=c.fn, tp=c.tp)

    def value_and_gradient(self, score):
        """Return the loss and its gradient with respect to the logits."""
        # FORMULAS contains fbeta(2) under the name f2.
        formula = FORMULAS["f2" if score == "fbeta(2)" else score]
        sign = 1 if score in LOWER_IS_BETTER else -1
        value = formula(self.cells) if sign == 1 else 1 - formula(self.cells)
        derivatives = [
            sign * (formula(self.cells_after_step(label, self.STEP)) - formula(self.cells_after_step(label, -self.STEP))) / (2 * self.STEP)
            for label in (0, 1)
        ]
        return value, [w * derivatives[y] * density for (y, w), density in zip(self.rows, self.densities)]


def exact_cross_entropy(positive_weight, logits, labels, weights):
    """Return the weighted mean cross-entropy and its gradient, like `torch_cross_entropy`, but computed with 50 digits."""
    weights = [mpf(w) * (mpf(positive_weight) if y else 1) for y, w in zip(labels, weights)]
    total = sum(weights)
    # The loss is −ln σ(z) for a positive row and −ln σ(−z) for a negative row; with 50 digits, z = 30 loses no precision that matters.
    losses = [mpmath.log1p(mpmath.exp(-mpf(z) if y else mpf(z))) for z, y in zip(logits, labels)]
    value = sum(w * loss for w, loss in zip(weights, losses)) / total
    return value, [w * (logistic(mpf(z)) - y) / total for w, z, y in zip(weights, logits, labels)]


def check_case(case, value, gradient):
    """Check that the loss and gradient of torch agree with the exact values. The tolerance of the gradient is 1e-12 of its largest entry.

    The tolerance is not relative to each entry, because at a logit of 30 an entry has at most three correct digits in f64, like 1 − σ(30).
    """
    largest = max(abs(exact) for exact in gradient)
    assert abs(case["loss"] - value) <= TOLERANCE * abs(value), (case["score"], case["prior"], "loss")
    for from_torch, exact in zip(case["gradient"], gradient):
        assert abs(from_torch - exact) <= TOLERANCE * largest, (case["score"], case["prior"], from_torch, exact)


def make_losses():
    """Write losses.json, the golden values of losses and gradients."""
    import torch

    torch.set_num_threads(1)
    logits, labels, weights = loss_sample()
    saturated = [row for row, z in enumerate(logits) if abs(z) >= 30]
    cases = []

    def add_case(score, prior, weighted, from_torch, exact):
        """Add a case to losses.json, after checking that torch agrees with the exact values; both are pairs (loss, gradient)."""
        case = {"score": score, "prior": prior, "weighted": weighted, "loss": from_torch[0], "gradient": from_torch[1]}
        check_case(case, *exact)
        case["saturated_gradient"] = [float(exact[1][row]) for row in saturated]
        cases.append(case)

    for weighted in (False, True):
        sample = logits, labels, weights if weighted else [1.0] * len(logits)
        for prior in LOSS_PRIORS:
            exact = ExactLoss(prior, *sample)
            for score in LOSS_SCORES:
                from_torch = torch_score_loss(score, prior, *sample)
                add_case(score, prior, weighted, from_torch, exact.value_and_gradient(score))
        for score, factor in (("ce", 1.0), ("weighted-ce:3", 3.0)):
            add_case(score, "", weighted, torch_cross_entropy(factor, *sample), exact_cross_entropy(factor, *sample))
    provenance = provenance_record("losses", ["torch", "mpmath", "numpy"])
    provenance["notes"] = (
        "Loss and gradient with respect to the logits are computed by torch autograd in float64; the error is at most 1e-12 of the largest entry of "
        "the gradient. saturated_gradient contains the entries of the rows in `saturated`, computed by mpmath with 50 digits and rounded once."
    )
    document = {"certificate": provenance, "logits": logits, "labels": labels, "weights": weights, "saturated": saturated}
    write_json("losses.json", document | {"cases": cases})
