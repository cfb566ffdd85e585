"""Makes scores.csv: every score on every confusion matrix, from the formula in the literature and from the tools that implement the score."""

import math
import warnings
from importlib.metadata import version

import mpmath
from mpmath import mpf

from golden_parts.score_tools import SCORE_TOOLS
from golden_parts.shared import (
    UNDEFINED,
    Undefined,
    agrees,
    provenance_record,
    ln,
    ratio,
    square_root,
    format_value,
    value_or_undefined,
    write_csv,
)

# The cells tn, fp, fn and tp of each confusion matrix, as strings so that mpmath parses them without rounding.
MATRICES = {
    "finley": ("2680", "72", "23", "28"),
    "rare": ("99978", "12", "3", "7"),
    "no_positives": ("95", "5", "0", "0"),
    "no_negatives": ("0", "0", "40", "60"),
    "perfect": ("70", "0", "0", "30"),
    "inverted": ("0", "70", "30", "0"),
    "large": ("987654321987", "23456789012", "3141592653", "7182818284"),
    "never": ("990", "0", "10", "0"),
    "always": ("0", "990", "0", "10"),
    "balanced": ("42", "8", "9", "41"),
    "no_skill": ("64", "16", "16", "4"),
    "no_misses": ("85", "5", "0", "10"),
    "no_false_alarms": ("90", "0", "4", "6"),
    "weighted": ("9.5", "1.25", "0.5", "2.75"),
}


class Cells:
    """The entries tn, fp, fn and tp of a confusion matrix, and their sums."""

    def __init__(self, tn, fp, fn, tp):
        self.tn, self.fp, self.fn, self.tp = tn, fp, fn, tp
        self.positives = tp + fn
        self.negatives = tn + fp
        self.forecast_yes = tp + fp
        self.forecast_no = tn + fn
        self.total = self.positives + self.negatives


def accuracy(c: Cells):
    return ratio(c.tp + c.tn, c.total)


def recall(c: Cells):
    return ratio(c.tp, c.positives)


def specificity(c: Cells):
    return ratio(c.tn, c.negatives)


def false_alarm_rate(c: Cells):
    return ratio(c.fp, c.negatives)


def miss_rate(c: Cells):
    return ratio(c.fn, c.positives)


def precision(c: Cells):
    return ratio(c.tp, c.forecast_yes)


def negative_predictive_value(c: Cells):
    return ratio(c.tn, c.forecast_no)


def prevalence(c: Cells):
    return ratio(c.positives, c.total)


def true_skill_statistic(c: Cells):
    return recall(c) - false_alarm_rate(c)


def matrix_determinant(c: Cells):
    """Return the determinant TP·TN − FP·FN of the confusion matrix."""
    return c.tp * c.tn - c.fp * c.fn


def heidke_skill_score(c: Cells):
    """The Heidke skill score in its original form, in terms of the row and column sums of the confusion matrix."""
    chance = c.positives * c.forecast_no + c.forecast_yes * c.negatives
    return ratio(2 * matrix_determinant(c), chance)


def equitable_threat_score(c: Cells):
    chance_hits = ratio(c.positives * c.forecast_yes, c.total)
    return ratio(c.tp - chance_hits, c.tp + c.fn + c.fp - chance_hits)


def matthews_correlation(c: Cells):
    return ratio(matrix_determinant(c), square_root(c.positives * c.negatives * c.forecast_yes * c.forecast_no))


def fbeta(beta):
    """Return a function that computes F-beta from the entries of a confusion matrix."""
    squared = mpf(beta) ** 2
    return lambda c: ratio((1 + squared) * c.tp, (1 + squared) * c.tp + squared * c.fn + c.fp)


def tversky(alpha, beta):
    """Return a function that computes the Tversky index with these weights of false alarms (alpha) and misses (beta)."""
    return lambda c: ratio(c.tp, c.tp + mpf(alpha) * c.fp + mpf(beta) * c.fn)


def weighted_youden(weight):
    """Return a function that computes weight · recall + (1 − weight) · specificity."""
    return lambda c: mpf(weight) * recall(c) + (1 - mpf(weight)) * specificity(c)


def net_benefit(threshold):
    """Return a function that computes the net benefit of decisions at this probability threshold."""
    odds = mpf(threshold) / (1 - mpf(threshold))
    return lambda c: ratio(c.tp - odds * c.fp, c.total)


def standardised_net_benefit(threshold):
    """Return a function that computes the net benefit at this probability threshold divided by the prevalence."""
    return lambda c: ratio(net_benefit(threshold)(c), prevalence(c))


def cost(tn=0, fp=0, fn=0, tp=0):
    """Return a function that computes the mean cost of a row, given the cost of each entry of the confusion matrix."""
    return lambda c: ratio(tn * c.tn + fp * c.fp + fn * c.fn + tp * c.tp, c.total)


def relative_economic_value(cost_loss_ratio):
    """Return a function that computes the relative economic value of a forecast for a user with this cost-loss ratio."""
    alpha = mpf(cost_loss_ratio)

    def formula(c: Cells):
        """Return the relative economic value for the entries `c` of a confusion matrix."""
        base_rate = prevalence(c)
        climate = min(alpha, base_rate)
        gain = climate - false_alarm_rate(c) * alpha * (1 - base_rate) + recall(c) * base_rate * (1 - alpha) - base_rate
        return ratio(gain, climate - base_rate * alpha)

    return formula


def odds_ratio(c: Cells):
    return ratio(c.tp * c.tn, c.fp * c.fn)


def log_odds_ratio(c: Cells):
    half = mpf(1) / 2
    return ln(c.tp + half) + ln(c.tn + half) - ln(c.fp + half) - ln(c.fn + half)


def odds_ratio_skill_score(c: Cells):
    return ratio(matrix_determinant(c), c.tp * c.tn + c.fp * c.fn)


def yules_coefficient_of_colligation(c: Cells):
    right, wrong = square_root(c.tp * c.tn), square_root(c.fp * c.fn)
    return ratio(right - wrong, right + wrong)


def extreme_dependency_score(c: Cells):
    return ratio(2 * ln(prevalence(c)), ln(ratio(c.tp, c.total))) - 1


def symmetric_extreme_dependency_score(c: Cells):
    forecast_rate = ratio(c.forecast_yes, c.total)
    return ratio(ln(forecast_rate) + ln(prevalence(c)), ln(ratio(c.tp, c.total))) - 1


def extremal_dependence_index(c: Cells):
    log_false, log_hit = ln(false_alarm_rate(c)), ln(recall(c))
    return ratio(log_false - log_hit, log_false + log_hit)


def symmetric_extremal_dependence_index(c: Cells):
    log_false, log_hit = ln(false_alarm_rate(c)), ln(recall(c))
    log_true_no, log_miss = ln(specificity(c)), ln(miss_rate(c))
    return ratio(log_false - log_hit + log_miss - log_true_no, log_false + log_hit + log_miss + log_true_no)


def p4_metric(c: Cells):
    """Return the harmonic mean of recall, specificity, precision and negative predictive value."""
    product = 4 * c.tp * c.tn
    return ratio(product, product + (c.tp + c.tn) * (c.fp + c.fn))


def geometric_mean_score(c: Cells):
    return square_root(recall(c) * specificity(c))


def index_of_balanced_accuracy(alpha):
    """Return a function that computes the index of balanced accuracy, in which dominance (recall − specificity) has the weight alpha."""
    return lambda c: (1 + mpf(alpha) * (recall(c) - specificity(c))) * recall(c) * specificity(c)


def optimisation_precision(c: Cells):
    """Return the accuracy minus the relative difference between specificity and recall."""
    return accuracy(c) - ratio(abs(specificity(c) - recall(c)), specificity(c) + recall(c))


def adjusted_geometric_mean(c: Cells):
    # Batuwita and Palade define the adjusted geometric mean only for a recall above 0. At 0 it is undefined here, while pycm returns 0.
    if c.tp == 0:
        raise Undefined
    share = ratio(c.negatives, c.total)
    return (geometric_mean_score(c) + specificity(c) * share) / (1 + share)


def adjusted_f_measure(c: Cells):
    """Return the geometric mean of F2 and of the F0.5 that results from swapping the two classes."""
    classes_swapped = Cells(tn=c.tp, fp=c.fn, fn=c.fp, tp=c.tn)
    return square_root(fbeta("2")(c) * fbeta("0.5")(classes_swapped))


def root_of_tss_and_hss(c: Cells):
    """Return the geometric mean of the true skill statistic and the Heidke skill score, with negative scores replaced by 0."""
    return square_root(max(true_skill_statistic(c), 0) * max(heidke_skill_score(c), 0))


FORMULAS = {
    "accuracy": accuracy,
    "kappa_no_prevalence": lambda c: 2 * accuracy(c) - 1,
    "recall": recall,
    "specificity": specificity,
    "pofd": false_alarm_rate,
    "miss_rate": miss_rate,
    "tss": true_skill_statistic,
    "balanced_accuracy": lambda c: (recall(c) + specificity(c)) / 2,
    "weighted_youden(0.3)": weighted_youden("0.3"),
    "hss1": lambda c: ratio(c.tp - c.fp, c.positives),
    "net_benefit(0.1)": net_benefit("0.1"),
    "net_benefit(0.5)": net_benefit("0.5"),
    "standardised_net_benefit(0.1)": standardised_net_benefit("0.1"),
    "cost(fp=1, fn=10)": cost(fp=1, fn=10),
    "cost(tn=-1, fp=2, fn=3, tp=-4)": cost(tn=-1, fp=2, fn=3, tp=-4),
    "relative_economic_value(0.2)": relative_economic_value("0.2"),
    "relative_economic_value(0.01)": relative_economic_value("0.01"),
    "leverage": lambda c: ratio(c.tp, c.total) - prevalence(c) * ratio(c.forecast_yes, c.total),
    "frequency_bias": lambda c: ratio(c.forecast_yes, c.positives),
    "precision": precision,
    "far": lambda c: ratio(c.fp, c.forecast_yes),
    "npv": negative_predictive_value,
    "false_omission_rate": lambda c: ratio(c.fn, c.forecast_no),
    "f1": fbeta("1"),
    "f2": fbeta("2"),
    "f0_5": fbeta("0.5"),
    "fbeta(3)": fbeta("3"),
    "tversky(0.3, 0.7)": tversky("0.3", "0.7"),
    "csi": lambda c: ratio(c.tp, c.tp + c.fn + c.fp),
    "hss": heidke_skill_score,
    "ets": equitable_threat_score,
    "mcc": matthews_correlation,
    "markedness": lambda c: precision(c) + negative_predictive_value(c) - 1,
    "g_mean": geometric_mean_score,
    "fowlkes_mallows": lambda c: ratio(c.tp, square_root(c.positives * c.forecast_yes)),
    "p4": p4_metric,
    "min_class_accuracy": lambda c: min(recall(c), specificity(c)),
    "odds_ratio": odds_ratio,
    "log_odds_ratio": log_odds_ratio,
    "orss": odds_ratio_skill_score,
    "yules_y": yules_coefficient_of_colligation,
    "lr_plus": lambda c: ratio(recall(c), false_alarm_rate(c)),
    "lr_minus": lambda c: ratio(miss_rate(c), specificity(c)),
    "discriminant_power": lambda c: mpmath.sqrt(3) / mpmath.pi * ln(odds_ratio(c)),
    "eds": extreme_dependency_score,
    "seds": symmetric_extreme_dependency_score,
    "edi": extremal_dependence_index,
    "sedi": symmetric_extremal_dependence_index,
    "iba(0.1)": index_of_balanced_accuracy("0.1"),
    "optimisation_precision": optimisation_precision,
    "agm": adjusted_geometric_mean,
    "agf": adjusted_f_measure,
    "overlap": lambda c: ratio(c.tp, min(c.forecast_yes, c.positives)),
    "braun_blanquet": lambda c: ratio(c.tp, max(c.forecast_yes, c.positives)),
    "lift": lambda c: ratio(precision(c), prevalence(c)),
    "css": root_of_tss_and_hss,
    "p/total": prevalence,
}

# The matrices on which a tool differs from the formula, with the reason; the tool's values for these matrices are left out.
KNOWN_DIFFERENCES = {
    ("pycm", "discriminant_power"): (
        list(MATRICES),
        "pycm uses log10, but the factor √3/π requires natural logarithms: π/√3 is the standard deviation of the logistic distribution",
    ),
    ("pycm", "false_omission_rate"): (["rare"], "pycm computes 1 − NPV, which loses digits if NPV is near 1: the result differs by 1.4e-12"),
    ("pycm", "orss"): (
        ["perfect", "no_misses", "no_false_alarms"],
        "pycm computes the score from the odds ratio, so the result is None if FP·FN = 0, although (TP·TN − 0)/(TP·TN + 0) = 1",
    ),
    ("pycm", "odds_ratio"): (["inverted"], "pycm computes the odds ratio as LR+/LR−, so the result is None if TN = 0, although TP·TN/(FP·FN) = 0"),
}


def is_missing(value):
    """Return whether the value that a tool returned is not a finite number."""
    return value is None or value == "None" or not math.isfinite(value)


def tool_rows(matrix, cells, exact_values):
    """Yield a row of scores.csv for each score that a tool computes; stop the program if a tool unexpectedly disagrees with the formula."""
    for tool, scores_of in SCORE_TOOLS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tools warn of divisions by zero, which are intended here
            values = scores_of(*cells)
        for score, value in values.items():
            exact_value = exact_values[score]
            if exact_value == UNDEFINED:
                # If a tool returns a number for an undefined score, this is only a convention of the tool, so the number is left out.
                if is_missing(value):
                    yield [matrix, *cells, score, tool, version(tool), UNDEFINED]
            elif not is_missing(value) and agrees(value, exact_value):
                yield [matrix, *cells, score, tool, version(tool), format_value(value)]
            elif matrix not in KNOWN_DIFFERENCES.get((tool, score), ([], ""))[0]:
                raise SystemExit(f"{tool}: {score} of {matrix} is {value}, the formula gives {exact_value}")


def make_scores():
    """Write scores.csv, the golden values of scores of two classes."""
    rows = []
    for matrix, cells in MATRICES.items():
        exact = Cells(*(mpf(cell) for cell in cells))
        exact_values = {score: value_or_undefined(formula, exact) for score, formula in FORMULAS.items()}
        for score, exact_value in exact_values.items():
            rows.append([matrix, *cells, score, "mpmath", version("mpmath"), format_value(exact_value)])
        rows.extend(tool_rows(matrix, cells, exact_values))
    notes = [
        "`undefined` means that the formula contains a division by zero, the logarithm of 0, or the root of a negative number.",
        "mpmath evaluates the formula with 50 digits and rounds the value once. Each other tool gives the value of its own function for the score.",
    ]
    header = ["matrix", "tn", "fp", "fn", "tp", "score", "tool", "version", "value"]
    write_csv("scores.csv", provenance_record("scores", ["mpmath", *SCORE_TOOLS]), notes, header, rows)
