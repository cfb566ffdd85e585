"""Make the golden files of crates/scorewise/tests/golden again.

    pip install -r scripts/golden-requirements.txt
    python scripts/golden.py                    # all of them
    python scripts/golden.py scores priors      # some: scores, priors, losses, multiclass

Every value comes from a tool that is not ours (scikit-learn, scores, pycm, xskillscore, imbalanced-learn, scipy, torch),
or from the textbook formula in mpmath at 50 digits. No value is copied from, or made with, the Rust code.
A tool that disagrees with the formula by more than 1e-12 stops the run, unless KNOWN_DIFFERENCES says why it may.
"""

import csv
import datetime
import json
import math
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import mpmath
from mpmath import mp, mpf

GOLDEN = Path(__file__).resolve().parent.parent / "crates" / "scorewise" / "tests" / "golden"
TOLERANCE = 1e-12
UNDEFINED = "undefined"

mp.dps = 50


# ---------------------------------------------------------------------------------------------------------------------
# Shared: undefined arithmetic, birth certificates, writers
# ---------------------------------------------------------------------------------------------------------------------


class Undefined(Exception):
    """0/0, x/0, the logarithm of nothing, the root of a negative number."""


def ratio(numerator, denominator):
    if denominator == 0:
        raise Undefined
    return numerator / denominator


def ln(x):
    # mpmath itself would answer −inf at 0 and a complex number below.
    if x <= 0:
        raise Undefined
    return mpmath.log(x)


def root(x):
    if x < 0:
        raise Undefined
    return mpmath.sqrt(x)


def value_or_undefined(formula, *arguments):
    """The formula's value rounded once to the nearest double, or the word `undefined`."""
    try:
        return float(formula(*arguments))
    except Undefined:
        return UNDEFINED


def text_of(value):
    """repr gives the shortest text that reads back to the same double (17 significant digits at most)."""
    return value if isinstance(value, str) else repr(float(value))


def certificate(what, tools):
    return {
        "what": what,
        "command": f"python scripts/golden.py {what}",
        "date": datetime.date.today().isoformat(),
        "python": sys.version.split()[0],
        "tools": {tool: version(tool) for tool in tools},
    }


def write_csv(name, birth, notes, header, rows):
    GOLDEN.mkdir(parents=True, exist_ok=True)
    with open(GOLDEN / name, "w", newline="", encoding="utf-8") as file:
        file.write(f"# Golden values, made by `{birth['command']}` on {birth['date']}, Python {birth['python']}.\n")
        file.write("# Tools: " + ", ".join(f"{tool} {number}" for tool, number in birth["tools"].items()) + ".\n")
        for note in notes:
            file.write(f"# {note}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(f"{name}: {len(rows)} rows", file=sys.stderr)


def write_json(name, document):
    GOLDEN.mkdir(parents=True, exist_ok=True)
    with open(GOLDEN / name, "w", encoding="utf-8") as file:
        # One case a line: small, and a change shows as one line of a diff.
        file.write("{\n")
        parts = []
        for key, value in document.items():
            if key == "cases":
                lines = ",\n".join("  " + json.dumps(case, allow_nan=False) for case in value)
                parts.append(f'"{key}": [\n{lines}\n]')
            else:
                parts.append(f'"{key}": {json.dumps(value, ensure_ascii=False, allow_nan=False)}')
        file.write(",\n".join(parts))
        file.write("\n}\n")
    print(f"{name}: {len(document['cases'])} cases", file=sys.stderr)


# ---------------------------------------------------------------------------------------------------------------------
# scores.csv: the formulas
# ---------------------------------------------------------------------------------------------------------------------

# Cells in our order tn, fp, fn, tp; as text, so that mpmath reads them without rounding.
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
    """The four cells and the sums the textbooks write with them."""

    def __init__(self, tn, fp, fn, tp):
        self.tn, self.fp, self.fn, self.tp = tn, fp, fn, tp
        self.positives = tp + fn
        self.negatives = tn + fp
        self.forecast_yes = tp + fp
        self.forecast_no = tn + fn
        self.total = self.positives + self.negatives


def accuracy(c):
    return ratio(c.tp + c.tn, c.total)


def recall(c):
    return ratio(c.tp, c.positives)


def specificity(c):
    return ratio(c.tn, c.negatives)


def pofd(c):
    return ratio(c.fp, c.negatives)


def miss_rate(c):
    return ratio(c.fn, c.positives)


def precision(c):
    return ratio(c.tp, c.forecast_yes)


def npv(c):
    return ratio(c.tn, c.forecast_no)


def prevalence(c):
    return ratio(c.positives, c.total)


def tss(c):
    return recall(c) - pofd(c)


def determinant(c):
    return c.tp * c.tn - c.fp * c.fn


def hss(c):
    """Heidke in the margins as he wrote it, not rearranged for fixed P and N."""
    chance = c.positives * c.forecast_no + c.forecast_yes * c.negatives
    return ratio(2 * determinant(c), chance)


def ets(c):
    chance_hits = ratio(c.positives * c.forecast_yes, c.total)
    return ratio(c.tp - chance_hits, c.tp + c.fn + c.fp - chance_hits)


def mcc(c):
    return ratio(determinant(c), root(c.positives * c.negatives * c.forecast_yes * c.forecast_no))


def fbeta(beta):
    squared = mpf(beta) ** 2
    return lambda c: ratio((1 + squared) * c.tp, (1 + squared) * c.tp + squared * c.fn + c.fp)


def tversky(alpha, beta):
    return lambda c: ratio(c.tp, c.tp + mpf(alpha) * c.fp + mpf(beta) * c.fn)


def weighted_youden(weight):
    return lambda c: mpf(weight) * recall(c) + (1 - mpf(weight)) * specificity(c)


def net_benefit(threshold):
    odds = mpf(threshold) / (1 - mpf(threshold))
    return lambda c: ratio(c.tp - odds * c.fp, c.total)


def standardised_net_benefit(threshold):
    return lambda c: ratio(net_benefit(threshold)(c), prevalence(c))


def cost(tn=0, fp=0, fn=0, tp=0):
    return lambda c: ratio(tn * c.tn + fp * c.fp + fn * c.fn + tp * c.tp, c.total)


def relative_economic_value(cost_loss_ratio):
    alpha = mpf(cost_loss_ratio)

    def formula(c):
        base_rate = prevalence(c)
        climate = min(alpha, base_rate)
        gain = climate - pofd(c) * alpha * (1 - base_rate) + recall(c) * base_rate * (1 - alpha) - base_rate
        return ratio(gain, climate - base_rate * alpha)

    return formula


def odds_ratio(c):
    return ratio(c.tp * c.tn, c.fp * c.fn)


def log_odds_ratio(c):
    half = mpf(1) / 2
    return ln(c.tp + half) + ln(c.tn + half) - ln(c.fp + half) - ln(c.fn + half)


def orss(c):
    return ratio(determinant(c), c.tp * c.tn + c.fp * c.fn)


def yules_y(c):
    right, wrong = root(c.tp * c.tn), root(c.fp * c.fn)
    return ratio(right - wrong, right + wrong)


def eds(c):
    return ratio(2 * ln(prevalence(c)), ln(ratio(c.tp, c.total))) - 1


def seds(c):
    forecast_rate = ratio(c.forecast_yes, c.total)
    return ratio(ln(forecast_rate) + ln(prevalence(c)), ln(ratio(c.tp, c.total))) - 1


def edi(c):
    log_false, log_hit = ln(pofd(c)), ln(recall(c))
    return ratio(log_false - log_hit, log_false + log_hit)


def sedi(c):
    log_false, log_hit = ln(pofd(c)), ln(recall(c))
    log_true_no, log_miss = ln(specificity(c)), ln(miss_rate(c))
    return ratio(log_false - log_hit + log_miss - log_true_no, log_false + log_hit + log_miss + log_true_no)


def p4(c):
    product = 4 * c.tp * c.tn
    return ratio(product, product + (c.tp + c.tn) * (c.fp + c.fn))


def g_mean(c):
    return root(recall(c) * specificity(c))


def iba(alpha):
    return lambda c: (1 + mpf(alpha) * (recall(c) - specificity(c))) * recall(c) * specificity(c)


def optimisation_precision(c):
    return accuracy(c) - ratio(abs(specificity(c) - recall(c)), specificity(c) + recall(c))


def agm(c):
    # Batuwita and Palade define the adjusted geometric mean for TPR > 0; pycm then says 0, we say undefined.
    if c.tp == 0:
        raise Undefined
    share = ratio(c.negatives, c.total)
    return (g_mean(c) + specificity(c) * share) / (1 + share)


def agf(c):
    classes_swapped = Cells(tn=c.tp, fp=c.fn, fn=c.fp, tp=c.tn)
    return root(fbeta("2")(c) * fbeta("0.5")(classes_swapped))


def css(c):
    return root(max(tss(c), 0) * max(hss(c), 0))


FORMULAS = {
    "accuracy": accuracy,
    "kappa_no_prevalence": lambda c: 2 * accuracy(c) - 1,
    "recall": recall,
    "specificity": specificity,
    "pofd": pofd,
    "miss_rate": miss_rate,
    "tss": tss,
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
    "npv": npv,
    "false_omission_rate": lambda c: ratio(c.fn, c.forecast_no),
    "f1": fbeta("1"),
    "f2": fbeta("2"),
    "f0_5": fbeta("0.5"),
    "fbeta(3)": fbeta("3"),
    "tversky(0.3, 0.7)": tversky("0.3", "0.7"),
    "csi": lambda c: ratio(c.tp, c.tp + c.fn + c.fp),
    "hss": hss,
    "ets": ets,
    "mcc": mcc,
    "markedness": lambda c: precision(c) + npv(c) - 1,
    "g_mean": g_mean,
    "fowlkes_mallows": lambda c: ratio(c.tp, root(c.positives * c.forecast_yes)),
    "p4": p4,
    "min_class_accuracy": lambda c: min(recall(c), specificity(c)),
    "odds_ratio": odds_ratio,
    "log_odds_ratio": log_odds_ratio,
    "orss": orss,
    "yules_y": yules_y,
    "lr_plus": lambda c: ratio(recall(c), pofd(c)),
    "lr_minus": lambda c: ratio(miss_rate(c), specificity(c)),
    "discriminant_power": lambda c: mpmath.sqrt(3) / mpmath.pi * ln(odds_ratio(c)),
    "eds": eds,
    "seds": seds,
    "edi": edi,
    "sedi": sedi,
    "iba(0.1)": iba("0.1"),
    "optimisation_precision": optimisation_precision,
    "agm": agm,
    "agf": agf,
    "overlap": lambda c: ratio(c.tp, min(c.forecast_yes, c.positives)),
    "braun_blanquet": lambda c: ratio(c.tp, max(c.forecast_yes, c.positives)),
    "lift": lambda c: ratio(precision(c), prevalence(c)),
    "css": css,
    "p/total": prevalence,
}


# ---------------------------------------------------------------------------------------------------------------------
# scores.csv: the tools
# ---------------------------------------------------------------------------------------------------------------------


def scikit_learn_scores(tn, fp, fn, tp):
    from sklearn import metrics

    # Four weighted rows stand for the whole matrix; the weights are floats because integer products overflow.
    truth, forecast = [0, 0, 1, 1], [0, 1, 0, 1]
    rows = {"y_true": truth, "y_pred": forecast, "sample_weight": [float(tn), float(fp), float(fn), float(tp)]}
    lr_plus, lr_minus = metrics.class_likelihood_ratios(**rows)
    return {
        "accuracy": metrics.accuracy_score(**rows),
        "recall": metrics.recall_score(**rows),
        "specificity": metrics.recall_score(**rows, pos_label=0),
        "balanced_accuracy": metrics.balanced_accuracy_score(**rows),
        "tss": metrics.balanced_accuracy_score(**rows, adjusted=True),
        "precision": metrics.precision_score(**rows),
        "npv": metrics.precision_score(**rows, pos_label=0),
        "f1": metrics.f1_score(**rows),
        "f2": metrics.fbeta_score(**rows, beta=2),
        "f0_5": metrics.fbeta_score(**rows, beta=0.5),
        "fbeta(3)": metrics.fbeta_score(**rows, beta=3),
        "csi": metrics.jaccard_score(**rows),
        "hss": metrics.cohen_kappa_score(truth, forecast, sample_weight=rows["sample_weight"]),
        "mcc": metrics.matthews_corrcoef(**rows),
        "lr_plus": lr_plus,
        "lr_minus": lr_minus,
    }


def repeated_rows(cells):
    """One row a count, for the tools that take no weights; a matrix of billions or of fractions is out of their reach."""
    import numpy

    if not all(cell.isdigit() and int(cell) < 1_000_000 for cell in cells):
        return None
    repeats = [int(cell) for cell in cells]
    return numpy.repeat([0, 0, 1, 1], repeats), numpy.repeat([0, 1, 0, 1], repeats)


def imbalanced_learn_scores(*cells):
    from imblearn import metrics

    # Rows, not weights: with sample_weight, 0.14 counts the true negatives from the unweighted number of rows,
    # and Finley's specificity becomes 2.5.
    rows = repeated_rows(cells)
    if rows is None:
        return {}
    index_balanced = metrics.make_index_balanced_accuracy(alpha=0.1, squared=True)(metrics.geometric_mean_score)
    return {
        "recall": metrics.sensitivity_score(*rows, average="binary"),
        "specificity": metrics.specificity_score(*rows, average="binary"),
        "g_mean": metrics.geometric_mean_score(*rows, average="binary"),
        "iba(0.1)": index_balanced(*rows, average="binary"),
    }


def scores_scores(tn, fp, fn, tp):
    import xarray
    from scores.categorical import BasicContingencyManager, relative_economic_value_from_rates

    cells = {"tn_count": tn, "fp_count": fp, "fn_count": fn, "tp_count": tp}
    counts = {name: xarray.DataArray(float(cell)) for name, cell in cells.items()}
    counts["total_count"] = sum(counts.values())
    table = BasicContingencyManager(counts)

    def economic_value(cost_loss_ratio):
        rates = table.probability_of_detection(), table.probability_of_false_detection(), table.base_rate()
        return relative_economic_value_from_rates(*rates, [cost_loss_ratio]).item()

    methods = {
        "accuracy": table.accuracy,
        "p/total": table.base_rate,
        "frequency_bias": table.frequency_bias,
        "recall": table.probability_of_detection,
        "specificity": table.specificity,
        "pofd": table.probability_of_false_detection,
        "far": table.false_alarm_ratio,
        "precision": table.precision,
        "npv": table.negative_predictive_value,
        "csi": table.critical_success_index,
        "tss": table.peirce_skill_score,
        "f1": table.f1_score,
        "ets": table.equitable_threat_score,
        "hss": table.heidke_skill_score,
        "odds_ratio": table.odds_ratio,
        "orss": table.odds_ratio_skill_score,
        "sedi": table.symmetric_extremal_dependence_index,
    }
    values = {score: method().item() for score, method in methods.items()}
    values["relative_economic_value(0.2)"] = economic_value(0.2)
    values["relative_economic_value(0.01)"] = economic_value(0.01)
    return values


def pycm_scores(tn, fp, fn, tp):
    from pycm import ConfusionMatrix

    if not all(cell.isdigit() for cell in (tn, fp, fn, tp)):
        return {}  # pycm counts, it does not weigh.
    table = ConfusionMatrix(matrix={0: {0: int(tn), 1: int(fp)}, 1: {0: int(fn), 1: int(tp)}})
    per_class = {
        "accuracy": "ACC",
        "recall": "TPR",
        "specificity": "TNR",
        "pofd": "FPR",
        "miss_rate": "FNR",
        "precision": "PPV",
        "npv": "NPV",
        "far": "FDR",
        "false_omission_rate": "FOR",
        "tss": "BM",
        "balanced_accuracy": "AUC",
        "f1": "F1",
        "f2": "F2",
        "f0_5": "F0.5",
        "csi": "J",
        "mcc": "MCC",
        "markedness": "MK",
        "g_mean": "GM",
        "fowlkes_mallows": "OOC",
        "odds_ratio": "DOR",
        "orss": "Q",
        "lr_plus": "PLR",
        "lr_minus": "NLR",
        "discriminant_power": "DP",
        "optimisation_precision": "OP",
        "agm": "AGM",
        "agf": "AGF",
        "overlap": "OC",
        "braun_blanquet": "BB",
        "lift": "LS",
        "p/total": "PRE",
    }
    values = {score: table.class_stat[name][1] for score, name in per_class.items()}
    values["hss"] = table.overall_stat["Kappa"]
    values["kappa_no_prevalence"] = table.overall_stat["Kappa No Prevalence"]
    values["fbeta(3)"] = table.F_beta(beta=3)[1]
    # pycm's alpha weighs the misses and beta the false alarms, the other way round from Tversky and from us.
    values["tversky(0.3, 0.7)"] = table.TI(alpha=0.7, beta=0.3)[1]
    # Its default alpha is 1, ours and imbalanced-learn's 0.1.
    values["iba(0.1)"] = table.IBA_alpha(0.1)[1]
    # It takes the odds of the threshold, not the threshold.
    values["net_benefit(0.1)"] = table.NB(w=0.1 / 0.9)[1]
    values["net_benefit(0.5)"] = table.NB(w=1.0)[1]
    return values


def xskillscore_scores(*cells):
    import numpy
    import xarray
    import xskillscore

    rows = repeated_rows(cells)
    if rows is None:
        return {}
    truth, forecast = (xarray.DataArray(column, dims="row") for column in rows)
    edges = numpy.array([-0.5, 0.5, 1.5])  # category 2, its default `yes`, is label 1
    table = xskillscore.Contingency(truth, forecast, edges, edges, dim="row")
    methods = {
        "accuracy": table.accuracy,
        "frequency_bias": table.bias_score,
        "recall": table.hit_rate,
        "pofd": table.false_alarm_rate,
        "far": table.false_alarm_ratio,
        "precision": table.success_ratio,
        "csi": table.threat_score,
        "ets": table.equit_threat_score,
        "hss": table.heidke_score,
        "tss": table.peirce_score,
        "odds_ratio": table.odds_ratio,
        "orss": table.odds_ratio_skill_score,
    }
    return {score: method().item() for score, method in methods.items()}


SCORE_TOOLS = {
    "scikit-learn": scikit_learn_scores,
    "imbalanced-learn": imbalanced_learn_scores,
    "scores": scores_scores,
    "pycm": pycm_scores,
    "xskillscore": xskillscore_scores,
}

# Why a tool's value may differ from the formula, and on which matrices; such rows are left out.
KNOWN_DIFFERENCES = {
    ("pycm", "discriminant_power"): (
        list(MATRICES),
        "pycm takes log10; √3/π scales natural log-odds to the logistic's deviation",
    ),
    ("pycm", "false_omission_rate"): (["rare"], "1 − NPV cancels when NPV is near 1: 1.4e-12 off"),
    ("pycm", "orss"): (
        ["perfect", "no_misses", "no_false_alarms"],
        "made from the odds ratio, so None where FP·FN = 0, though (TP·TN − 0)/(TP·TN + 0) = 1",
    ),
    ("pycm", "odds_ratio"): (["inverted"], "made as LR+/LR−, so None where TN = 0, though TP·TN/(FP·FN) = 0"),
}


def is_missing(value):
    return value is None or value == "None" or not math.isfinite(value)


def agrees(value, truth):
    return abs(value - truth) <= TOLERANCE * abs(truth)


def tool_rows(matrix, cells, truths):
    for tool, scores_of in SCORE_TOOLS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tools warn of the very divisions by zero we put to them
            values = scores_of(*cells)
        for score, value in values.items():
            truth = truths[score]
            if truth == UNDEFINED:
                # A number here is the tool's convention for an undefined case, not a value of the score.
                if is_missing(value):
                    yield [matrix, *cells, score, tool, version(tool), UNDEFINED]
            elif not is_missing(value) and agrees(value, truth):
                yield [matrix, *cells, score, tool, version(tool), text_of(value)]
            elif matrix not in KNOWN_DIFFERENCES.get((tool, score), ([], ""))[0]:
                raise SystemExit(f"{tool}: {score} of {matrix} is {value}, the formula says {truth}")


def make_scores():
    rows = []
    for matrix, cells in MATRICES.items():
        exact = Cells(*(mpf(cell) for cell in cells))
        truths = {score: value_or_undefined(formula, exact) for score, formula in FORMULAS.items()}
        for score, truth in truths.items():
            rows.append([matrix, *cells, score, "mpmath", version("mpmath"), text_of(truth)])
        rows.extend(tool_rows(matrix, cells, truths))
    notes = [
        "`undefined`: a division by zero, the logarithm of 0, or the root of a negative number somewhere in the formula.",
        "mpmath: the formula at 50 digits, rounded once. Other tools: their own function, only where it has the score.",
    ]
    header = ["matrix", "tn", "fp", "fn", "tp", "score", "tool", "version", "value"]
    write_csv("scores.csv", certificate("scores", ["mpmath", *SCORE_TOOLS]), notes, header, rows)


# ---------------------------------------------------------------------------------------------------------------------
# priors.csv: the formulas
# ---------------------------------------------------------------------------------------------------------------------

PRIORS = [
    "uniform",
    "uniform:0.2,0.8",
    "cosine:0.5,0.1",
    "cosine:0.3,0.3",
    "triangular:0.5,0.2",
    "epanechnikov:0.4,0.3",
    "quartic:0.6,0.25",
    "beta:2,5",
    "beta:0.5,0.5",
    "beta:30,120",
    "kumaraswamy:2,5",
    "kumaraswamy:0.5,0.7",
    "normal:0.5,0.1",
    "normal:0.2,0.3",
    "logistic:0.5,0.0137",
    "logistic:0.1,0.2",
    "mix:0.05,cosine:0.5,0.1",
]

COMPACT = ("cosine", "triangular", "epanechnikov", "quartic")  # supports mu − delta … mu + delta


def parse_prior(text):
    """`cosine:0.5,0.1` is ("cosine", [0.5, 0.1]); a mixture's second parameter is the text of the prior it mixes."""
    kind, _, rest = text.partition(":")
    if kind == "mix":
        share, _, mixed = rest.partition(",")
        return kind, [float(share), mixed]
    return kind, [float(number) for number in rest.split(",") if number]


def support(text):
    kind, parameters = parse_prior(text)
    if kind == "uniform" and parameters:
        return parameters
    if kind in COMPACT:
        mu, delta = parameters
        # Rounded, because 0.6 − 0.25 in doubles is 0.35 only nearly.
        return [round(mu - delta, 12), round(mu + delta, 12)]
    return [0.0, 1.0]


def standardise(x, mu, delta):
    """u in [−1, 1]. The ends of the support are known to a rounding only, so a u within 1e-15 of an end is the end."""
    u = (mpf(x) - mpf(mu)) / mpf(delta)
    if abs(abs(u) - 1) < mpf("1e-15"):
        u = mpmath.sign(u)
    return max(mpf(-1), min(mpf(1), u))


def triangular_cdf(u):
    return (1 + u) ** 2 / 2 if u < 0 else 1 - (1 - u) ** 2 / 2


# On −1 … 1: distribution and density, by the textbook.
COMPACT_FORMULAS = {
    "cosine": (lambda u: (1 + u + mpmath.sinpi(u) / mpmath.pi) / 2, lambda u: (1 + mpmath.cospi(u)) / 2),
    "triangular": (triangular_cdf, lambda u: 1 - abs(u)),
    "epanechnikov": (lambda u: (2 + 3 * u - u**3) / 4, lambda u: 3 * (1 - u**2) / 4),
    "quartic": (lambda u: (8 + 15 * u - 10 * u**3 + 3 * u**5) / 16, lambda u: 15 * (1 - u**2) ** 2 / 16),
}


def logistic(x):
    return 1 / (1 + mpmath.exp(-x))


def prior_cdf(text, x):
    """F(x) at 50 digits. Parameters and x are the doubles themselves, as any f64 code sees them, not their decimals."""
    kind, parameters = parse_prior(text)
    x = mpf(x)
    if kind == "mix":
        share, mixed = mpf(parameters[0]), parameters[1]
        return (1 - share) * prior_cdf(mixed, x) + share * x
    if kind in COMPACT:
        return COMPACT_FORMULAS[kind][0](standardise(x, *parameters))
    if kind == "uniform":
        low, high = (mpf(end) for end in parameters or (0, 1))
        return max(mpf(0), min(mpf(1), (x - low) / (high - low)))
    a, b = (mpf(parameter) for parameter in parameters)
    if kind == "beta":
        return mpmath.betainc(a, b, 0, x, regularized=True)
    if kind == "kumaraswamy":
        return 1 - (1 - x**a) ** b
    untruncated = {"normal": mpmath.ncdf, "logistic": logistic}[kind]
    below, above = untruncated(-a / b), untruncated((1 - a) / b)
    return (untruncated((x - a) / b) - below) / (above - below)


def prior_pdf(text, x):
    """f(x) at 50 digits, or Undefined where it is infinite or jumps inside (0, 1)."""
    kind, parameters = parse_prior(text)
    x = mpf(x)
    if kind == "mix":
        share, mixed = mpf(parameters[0]), parameters[1]
        return (1 - share) * prior_pdf(mixed, x) + share
    if kind in COMPACT:
        return COMPACT_FORMULAS[kind][1](standardise(x, *parameters)) / mpf(parameters[1])
    if kind == "uniform":
        low, high = (mpf(end) for end in parameters or (0, 1))
        if parameters and x in (low, high):
            raise Undefined  # the value at a jump is a convention
        return 1 / (high - low) if low <= x <= high else mpf(0)
    a, b = (mpf(parameter) for parameter in parameters)
    if kind in ("beta", "kumaraswamy") and ((x == 0 and a < 1) or (x == 1 and b < 1)):
        raise Undefined  # infinite
    if kind == "beta":
        return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)
    if kind == "kumaraswamy":
        return a * b * x ** (a - 1) * (1 - x**a) ** (b - 1)
    if kind == "normal":
        return mpmath.npdf(x, a, b) / (mpmath.ncdf((1 - a) / b) - mpmath.ncdf(-a / b))
    height = logistic((x - a) / b) * logistic((a - x) / b) / b
    return height / (logistic((1 - a) / b) - logistic(-a / b))


def prior_quantile(text, level):
    """Bisection on F: slow, without a formula of its own, and so a check of every closed form."""
    low, high = (mpf(end) for end in support(text))
    if level in (0.0, 1.0):
        return low if level == 0.0 else high
    for _ in range(150):
        middle = (low + high) / 2
        if prior_cdf(text, middle) < mpf(level):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def prior_mean_and_variance(text):
    """From E[X] = ∫ (1 − F) and E[X²] = ∫ 2x (1 − F), which need F only and have no infinite integrand."""
    low, high = support(text)
    kind, parameters = parse_prior(text)
    # Kinks, ends and steep places begin a new interval, so that the quadrature sees smooth pieces only.
    breaks = {0.0, low, high, 1.0}
    if kind == "mix":
        breaks |= set(support(parameters[1]))
    if kind in ("triangular", "beta", "normal", "logistic"):
        middle = parameters[0] if kind != "beta" else parameters[0] / sum(parameters)
        spread = parameters[1] if kind != "beta" else 0.03
        breaks |= {middle + steps * spread for steps in (-16, -8, -4, -2, 0, 2, 4, 8, 16)}
    places = sorted(mpf(place) for place in breaks if 0 <= place <= 1)
    mean = mpmath.quad(lambda x: 1 - prior_cdf(text, x), places)
    square = mpmath.quad(lambda x: 2 * x * (1 - prior_cdf(text, x)), places)
    return mean, square - mean**2


# ---------------------------------------------------------------------------------------------------------------------
# priors.csv: scipy, and the file
# ---------------------------------------------------------------------------------------------------------------------


class TruncatedLogistic:
    """scipy.stats.logistic cut to [0, 1]; scipy's own truncation is in its experimental classes only."""

    def __init__(self, mu, scale):
        from scipy import stats

        self.whole = stats.logistic(mu, scale)
        self.below, above = self.whole.cdf([0.0, 1.0])
        self.mass = above - self.below

    def cdf(self, x):
        return (self.whole.cdf(x) - self.below) / self.mass

    def pdf(self, x):
        return self.whole.pdf(x) / self.mass

    def ppf(self, level):
        return self.whole.ppf(self.below + level * self.mass)


def scipy_prior(text):
    """The same prior in scipy.stats, or None where it has none."""
    from scipy import stats

    kind, parameters = parse_prior(text)
    if kind == "uniform":
        low, high = parameters or (0.0, 1.0)
        return stats.uniform(low, high - low)
    if kind == "beta":
        return stats.beta(*parameters)
    if kind == "normal":
        mu, sigma = parameters
        return stats.truncnorm(-mu / sigma, (1 - mu) / sigma, mu, sigma)
    if kind in COMPACT:
        mu, delta = parameters
        return {
            "cosine": lambda: stats.cosine(mu, delta / math.pi),  # scipy's lives on −π … π
            "triangular": lambda: stats.triang(0.5, mu - delta, 2 * delta),
            # rdist(c) has the density (1 − u²)^(c/2 − 1).
            "epanechnikov": lambda: stats.rdist(4, mu, delta),
            "quartic": lambda: stats.rdist(6, mu, delta),
        }[kind]()
    if kind == "logistic":
        return TruncatedLogistic(*parameters)
    return None  # kumaraswamy, which it lacks, and mixtures, which are in its experimental classes only


# Levels and places shared by all priors; both ends, both tails, the middle.
LEVELS = [0.0, 1e-6, 0.05, 0.25, 0.5, 0.75, 0.95, 1 - 1e-6, 1.0]
PLACES = [0.0, 1e-9, 1e-4, 0.01, 0.05, 0.1, 0.2, 0.3, 0.45, 0.5, 0.6, 0.75, 0.9, 0.95, 0.99, 1 - 1e-9, 1.0]
PLACES_IN_SUPPORT = [-1.0, -0.999, -0.9, -0.5, -0.1, 0.0, 0.3, 0.7, 0.95, 0.999, 1.0]


def places_for(text):
    kind, parameters = parse_prior(text)
    low, high = support(parameters[1] if kind == "mix" else text)
    if (low, high) == (0.0, 1.0):
        return PLACES
    inside = [round((low + high) / 2 + u * (high - low) / 2, 12) for u in PLACES_IN_SUPPORT]
    return sorted({0.0, 1e-9, 0.05, 0.95, 1 - 1e-9, 1.0, *inside})


def scipy_says(frozen, function, x):
    if frozen is None:
        return None
    if function in ("mean", "variance"):
        if isinstance(frozen, TruncatedLogistic):
            return None
        return float(frozen.mean() if function == "mean" else frozen.var())
    return float({"cdf": frozen.cdf, "pdf": frozen.pdf, "quantile": frozen.ppf}[function](x))


def exact_prior_values(text):
    """(function, x, value) for one prior."""
    mean, variance = prior_mean_and_variance(text)
    yield "mean", None, float(mean)
    yield "variance", None, float(variance)
    for x in places_for(text):
        yield "cdf", x, float(prior_cdf(text, x))
        yield "pdf", x, value_or_undefined(prior_pdf, text, x)
    for level in LEVELS:
        yield "quantile", level, float(prior_quantile(text, level))


# Why scipy's value may differ by more than 1e-12, and at which x; such rows are left out.
KNOWN_SCIPY_DIFFERENCES = {
    ("cosine:0.5,0.1", "cdf"): ([0.4], "the lower end is rounded: 5e-48 where 0 is meant"),
    ("cosine:0.3,0.3", "cdf"): ([1e-9], "the place is rounded on the way to −π … π, and the tail goes with its cube"),
    ("cosine:0.5,0.1", "pdf"): ([0.4001, 0.5999], "1 + cos cancels near the ends of the support"),
    ("cosine:0.3,0.3", "pdf"): ([1e-9, 0.0003, 0.5997], "1 + cos cancels near the ends of the support"),
    ("triangular:0.5,0.2", "pdf"): ([0.7], "the upper end is rounded: 1e-15 where 0 is meant"),
    ("epanechnikov:0.4,0.3", "pdf"): ([0.7], "the upper end is rounded: 1e-15 where 0 is meant"),
    ("beta:0.5,0.5", "cdf"): ([1 - 1e-9], "1.1e-12 off; scipy's own 1 − sf agrees with mpmath"),
    ("normal:0.5,0.1", "cdf"): ([1e-9], "the difference of two nearly equal values"),
    ("normal:0.2,0.3", "cdf"): ([1e-9], "the difference of two nearly equal values"),
    ("normal:0.2,0.3", "quantile"): ([1e-6], "the same cancellation, inverted"),
    ("logistic:0.5,0.0137", "cdf"): ([1e-9], "the difference of two nearly equal values"),
    ("logistic:0.1,0.2", "cdf"): ([1e-9], "the difference of two nearly equal values"),
    ("logistic:0.5,0.0137", "quantile"): ([1 - 1e-6, 1.0], "a level near 1 has too few digits: 0.9938 where 1 is meant"),
    ("logistic:0.1,0.2", "quantile"): ([0.0, 1e-6], "the same cancellation, inverted"),
}


def check_density(text):
    """f must be the slope of F: a slip in either formula shows here."""
    low, high = support(text)
    for share in (0.13, 0.31, 0.58, 0.83):
        x = mpf(low) + mpf(share) * (mpf(high) - mpf(low))
        slope = mpmath.diff(lambda place: prior_cdf(text, place), x)
        assert abs(slope - prior_pdf(text, x)) < mpf("1e-15"), (text, x)


def make_priors():
    rows = []
    for text in PRIORS:
        check_density(text)
        frozen = scipy_prior(text)
        for function, x, truth in exact_prior_values(text):
            if truth == UNDEFINED:
                continue
            place = "" if x is None else text_of(x)
            rows.append([text, function, place, text_of(truth), "mpmath", version("mpmath")])
            value = scipy_says(frozen, function, x)
            if value is None:
                continue
            if agrees(value, truth):
                rows.append([text, function, place, text_of(value), "scipy", version("scipy")])
            elif x not in KNOWN_SCIPY_DIFFERENCES.get((text, function), ([], ""))[0]:
                raise SystemExit(f"scipy: {function} of {text} at {x} is {value}, the formula says {truth}")
    notes = [
        "mpmath: 50 digits, rounded once; quantiles by bisection of F, mean and variance by quadrature of F.",
        "Parameters and x are the doubles nearest to the decimals shown. Left out: infinite densities, and densities at a jump.",
    ]
    header = ["prior", "function", "x", "value", "tool", "version"]
    write_csv("priors.csv", certificate("priors", ["mpmath", "scipy"]), notes, header, rows)


# ---------------------------------------------------------------------------------------------------------------------
# losses.json: torch's own derivatives, checked at 50 digits
# ---------------------------------------------------------------------------------------------------------------------

LOWER_IS_BETTER = ("far", "cost(fp=1, fn=10)")  # their loss is the score itself, not 1 − score

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

# Written a second time, for tensors, and held against FORMULAS by `check_case`.
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
    """A prior's distribution in torch operations; clamping gives the compact ones their flat outside."""
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
    """64 rows: moderate logits, some on the wrong side, and saturated ones of both labels."""
    import numpy

    generator = numpy.random.default_rng(1884)
    labels = (numpy.arange(64) % 4 == 0).astype(int)
    logits = generator.normal(1.6 * labels - 1.0, 1.3)
    logits[[3, 17]] = -30.0
    logits[[8, 33]] = 30.0
    logits[[20]] = -30.0  # a positive the network is certain of the wrong way
    weights = generator.gamma(2.0, 0.75, size=64)
    weights[[5, 12, 40]] = 0.0
    return [float(z) for z in logits.round(6)], [int(y) for y in labels], [float(w) for w in weights.round(6)]


def expected_confusion(labels, weights, distribution):
    """Works on tensors and, term by term, on mpmath numbers alike."""
    tp = sum(w * y * f for w, y, f in zip(weights, labels, distribution))
    fp = sum(w * (1 - y) * f for w, y, f in zip(weights, labels, distribution))
    positives = sum(w * y for w, y in zip(weights, labels))
    negatives = sum(w * (1 - y) for w, y in zip(weights, labels))
    return Cells(tn=negatives - fp, fp=fp, fn=positives - tp, tp=tp)


def torch_score_loss(score, prior, logits, labels, weights):
    import torch

    z = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    distribution = torch_cdf(prior, torch.sigmoid(z))
    value = LOSS_SCORES[score](expected_confusion(labels, weights, distribution))
    loss = value if score in LOWER_IS_BETTER else 1 - value
    loss.backward()
    return loss.item(), z.grad.tolist()


def torch_cross_entropy(positive_weight, logits, labels, weights):
    """The positives' weight is multiplied; the sum is divided by the sum of the multiplied weights."""
    import torch

    z = torch.tensor(logits, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(labels, dtype=torch.float64)
    w = torch.tensor(weights, dtype=torch.float64) * torch.where(y > 0, positive_weight, 1.0)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(z, y, weight=w, reduction="sum") / w.sum()
    loss.backward()
    return loss.item(), z.grad.tolist()


class ExactLoss:
    """The same loss at 50 digits for one prior and one set of weights.

    The slope of s is a central difference, so no derivative of a score is written down anywhere. The slope of F is the
    density: at z = 30 it can be 1e-63, which a difference of values near 1 would not see.
    """

    STEP = mpf("1e-16")  # an error of about 1e-32 in the slope of s, far below a double's

    def __init__(self, prior, logits, labels, weights):
        self.rows = [(y, mpf(w)) for y, w in zip(labels, weights)]
        probabilities = [logistic(mpf(z)) for z in logits]
        distribution = [prior_cdf(prior, p) for p in probabilities]
        self.cells = expected_confusion(labels, [w for _, w in self.rows], distribution)
        self.slopes = [prior_pdf(prior, p) * p * (1 - p) for p in probabilities]

    def moved(self, label, step):
        c = self.cells
        if label == 1:
            return Cells(tn=c.tn, fp=c.fp, fn=c.fn - step, tp=c.tp + step)
        return Cells(tn=c.tn - step, fp=c.fp + step, fn=c.fn, tp=c.tp)

    def value_and_gradient(self, score):
        # fbeta(2) is f2; the table of formulas has it under that name only.
        formula = FORMULAS["f2" if score == "fbeta(2)" else score]
        sign = 1 if score in LOWER_IS_BETTER else -1
        value = formula(self.cells) if sign == 1 else 1 - formula(self.cells)
        by_label = [
            sign * (formula(self.moved(label, self.STEP)) - formula(self.moved(label, -self.STEP))) / (2 * self.STEP)
            for label in (0, 1)
        ]
        return value, [w * by_label[y] * slope for (y, w), slope in zip(self.rows, self.slopes)]


def exact_cross_entropy(positive_weight, logits, labels, weights):
    weights = [mpf(w) * (mpf(positive_weight) if y else 1) for y, w in zip(labels, weights)]
    total = sum(weights)
    # −ln σ(z) for a positive, −ln σ(−z) for a negative; at 50 digits a plain logarithm keeps its digits at z = 30.
    losses = [mpmath.log1p(mpmath.exp(-mpf(z) if y else mpf(z))) for z, y in zip(logits, labels)]
    value = sum(w * loss for w, loss in zip(weights, losses)) / total
    return value, [w * (logistic(mpf(z)) - y) / total for w, z, y in zip(weights, logits, labels)]


def check_case(case, value, gradient):
    """torch keeps 1e-12 of the steepest slope; of a slope at z = 30 three digits or none, as 1 − σ(30) has only three."""
    steepest = max(abs(slope) for slope in gradient)
    assert abs(case["loss"] - value) <= TOLERANCE * abs(value), (case["score"], case["prior"], "loss")
    for torch_slope, slope in zip(case["gradient"], gradient):
        assert abs(torch_slope - slope) <= TOLERANCE * steepest, (case["score"], case["prior"], torch_slope, slope)


def make_losses():
    import torch

    torch.set_num_threads(1)
    logits, labels, weights = loss_sample()
    saturated = [row for row, z in enumerate(logits) if abs(z) >= 30]
    cases = []

    def add_case(score, prior, weighted, from_torch, exact):
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
    birth = certificate("losses", ["torch", "mpmath", "numpy"])
    birth["notes"] = (
        "loss and gradient (of the logits): torch autograd in float64, good to 1e-12 of the gradient's largest entry. "
        "saturated_gradient: the entries of the rows in `saturated`, at 50 digits in mpmath, rounded once."
    )
    document = {"certificate": birth, "logits": logits, "labels": labels, "weights": weights, "saturated": saturated}
    write_json("losses.json", document | {"cases": cases})


# ---------------------------------------------------------------------------------------------------------------------
# multiclass.json
# ---------------------------------------------------------------------------------------------------------------------

# Rows are the truth, columns the forecast; the classes are ordered, which only Gerrity uses.
CLASS_MATRICES = {
    "two_classes": [[2680, 72], [23, 28]],
    "three_classes": [[50, 3, 2], [10, 30, 5], [1, 4, 15]],
    "three_rare": [[9500, 230, 11], [120, 87, 19], [3, 9, 21]],
    "three_one_never_forecast": [[40, 12, 0], [9, 21, 0], [3, 5, 0]],
    "three_perfect": [[12, 0, 0], [0, 7, 0], [0, 0, 31]],
    "three_worse_than_chance": [[2, 9, 14], [11, 3, 6], [17, 8, 1]],
    "four_classes": [[31, 6, 2, 1], [7, 22, 8, 3], [2, 9, 18, 6], [0, 3, 5, 27]],
    "four_ordinal": [[812, 95, 13, 2], [101, 240, 44, 9], [17, 52, 63, 14], [1, 6, 12, 19]],
}


class ClassCounts:
    def __init__(self, counts):
        self.counts = [[mpf(cell) for cell in row] for row in counts]
        self.classes = range(len(counts))
        self.truths = [sum(row) for row in self.counts]
        self.forecasts = [sum(row[k] for row in self.counts) for k in self.classes]
        self.total = sum(self.truths)
        self.right = sum(self.counts[k][k] for k in self.classes)

    def against_the_rest(self, k):
        tp = self.counts[k][k]
        fn, fp = self.truths[k] - tp, self.forecasts[k] - tp
        return Cells(tn=self.total - tp - fn - fp, fp=fp, fn=fn, tp=tp)


def macro(score):
    return lambda m: sum(score(m.against_the_rest(k)) for k in m.classes) / len(m.classes)


def weighted_by_support(score):
    return lambda m: sum(m.truths[k] * score(m.against_the_rest(k)) for k in m.classes) / m.total


def micro(score):
    def formula(m):
        each = [m.against_the_rest(k) for k in m.classes]
        sums = {cell: sum(getattr(c, cell) for c in each) for cell in ("tn", "fp", "fn", "tp")}
        return score(Cells(**sums))

    return formula


def chance_agreement(m):
    return sum(t * f for t, f in zip(m.truths, m.forecasts)) / m.total**2


def heidke_of_classes(m):
    return ratio(m.right / m.total - chance_agreement(m), 1 - chance_agreement(m))


def peirce_of_classes(m):
    return ratio(m.right / m.total - chance_agreement(m), 1 - sum(t**2 for t in m.truths) / m.total**2)


def r_k(m):
    """Gorodkin 2004: the correlation of the two indicator tables."""
    truth_spread = m.total**2 - sum(t**2 for t in m.truths)
    forecast_spread = m.total**2 - sum(f**2 for f in m.forecasts)
    together = m.right * m.total - sum(t * f for t, f in zip(m.truths, m.forecasts))
    return ratio(together, root(truth_spread) * root(forecast_spread))


def gerrity(m):
    """Gerrity 1992: credits from the odds of the observed classes, ordered; D(i) odds of lying above class i."""
    last = len(m.classes) - 1
    odds = [ratio(m.total - sum(m.truths[: k + 1]), sum(m.truths[: k + 1])) for k in range(last)]

    def credit(first, second):
        low, high = min(first, second), max(first, second)
        below = sum(ratio(mpf(1), odds[r]) for r in range(low))
        above = sum(odds[r] for r in range(high, last))
        return (below - (high - low) + above) / last

    return sum(m.counts[i][j] * credit(i, j) for i in m.classes for j in m.classes) / m.total


CLASS_FORMULAS = {
    "accuracy": lambda m: m.right / m.total,
    "mcc": r_k,
    "hss": heidke_of_classes,
    "peirce": peirce_of_classes,
    "gerrity": gerrity,
    "macro_f1": macro(fbeta("1")),
    "macro_recall": macro(recall),
    "weighted_f1": weighted_by_support(fbeta("1")),
    "micro_f1": micro(fbeta("1")),
}


def rows_of(counts):
    import numpy

    cells = [(i, j, cell) for i, row in enumerate(counts) for j, cell in enumerate(row)]
    repeats = [cell for _, _, cell in cells]
    return numpy.repeat([i for i, _, _ in cells], repeats), numpy.repeat([j for _, j, _ in cells], repeats)


def scikit_learn_of_classes(counts):
    from sklearn import metrics

    truth, forecast = rows_of(counts)
    return {
        "accuracy": metrics.accuracy_score(truth, forecast),
        "mcc": metrics.matthews_corrcoef(truth, forecast),
        "hss": metrics.cohen_kappa_score(truth, forecast),
        "macro_f1": metrics.f1_score(truth, forecast, average="macro"),
        "macro_recall": metrics.recall_score(truth, forecast, average="macro"),
        "weighted_f1": metrics.f1_score(truth, forecast, average="weighted"),
        "micro_f1": metrics.f1_score(truth, forecast, average="micro"),
    }


def xskillscore_of_classes(counts):
    import numpy
    import xarray
    import xskillscore

    # Observations come first, then forecasts; the edges put class k into category k + 1, in order.
    truth, forecast = (xarray.DataArray(column, dims="row") for column in rows_of(counts))
    edges = numpy.arange(len(counts) + 1) - 0.5
    table = xskillscore.Contingency(truth, forecast, edges, edges, dim="row")
    assert (table.table.values == numpy.array(counts)).all()  # rows are the truth, as in ours
    return {
        "accuracy": table.accuracy().item(),
        "hss": table.heidke_score().item(),
        "peirce": table.peirce_score().item(),
        "gerrity": table.gerrity_score().item(),
    }


CLASS_TOOLS = {"scikit-learn": scikit_learn_of_classes, "xskillscore": xskillscore_of_classes}


def make_multiclass():
    cases = []
    for name, counts in CLASS_MATRICES.items():
        exact = ClassCounts(counts)
        truths = {score: float(formula(exact)) for score, formula in CLASS_FORMULAS.items()}
        said = {"mpmath": truths} | {tool: scores_of(counts) for tool, scores_of in CLASS_TOOLS.items()}
        for tool, values in said.items():
            for score, value in values.items():
                if not agrees(value, truths[score]):
                    raise SystemExit(f"{tool}: {score} of {name} is {value}, the formula says {truths[score]}")
                case = {"matrix": name, "score": score, "tool": tool, "version": version(tool), "value": float(value)}
                cases.append(case)
    birth = certificate("multiclass", ["mpmath", *CLASS_TOOLS])
    birth["notes"] = "Rows of a matrix are the truth, columns the forecast. hss is Cohen's kappa, mcc is Gorodkin's R_K."
    write_json("multiclass.json", {"certificate": birth, "matrices": CLASS_MATRICES, "cases": cases})


MAKERS = {
    "scores": make_scores,
    "priors": make_priors,
    "losses": make_losses,
    "multiclass": make_multiclass,
}


def main():
    asked = sys.argv[1:] or list(MAKERS)
    unknown = [name for name in asked if name not in MAKERS]
    if unknown:
        raise SystemExit(f"unknown: {' '.join(unknown)}; choose from {' '.join(MAKERS)}")
    for name in asked:
        MAKERS[name]()


if __name__ == "__main__":
    main()
