"""Makes multiclass.json: scores of two or more classes, from formulas and from the tools that implement these scores."""

from importlib.metadata import version

from mpmath import mpf

from golden_parts.scores import Cells, fbeta, recall
from golden_parts.shared import agrees, provenance_record, ratio, square_root, write_json

# In each confusion matrix, rows are observed classes and columns forecast classes. The order of the classes matters for the Gerrity score only.
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
    """A confusion matrix of several classes, with its row sums, column sums, total and trace."""

    def __init__(self, counts):
        self.counts = [[mpf(cell) for cell in row] for row in counts]
        self.classes = range(len(counts))
        self.observed = [sum(row) for row in self.counts]
        self.forecasts = [sum(row[k] for row in self.counts) for k in self.classes]
        self.total = sum(self.observed)
        self.correct = sum(self.counts[k][k] for k in self.classes)

    def one_versus_rest(self, k):
        """Return the binary confusion matrix of class k against all other classes."""
        tp = self.counts[k][k]
        fn, fp = self.observed[k] - tp, self.forecasts[k] - tp
        return Cells(tn=self.total - tp - fn - fp, fp=fp, fn=fn, tp=tp)


def macro_average(score):
    """Return a function that computes the mean of a binary score over the classes of a matrix."""
    return lambda m: sum(score(m.one_versus_rest(k)) for k in m.classes) / len(m.classes)


def support_weighted_average(score):
    """Return a function that computes the mean of a binary score over the classes, weighted by the number of observed rows of each class."""
    return lambda m: sum(m.observed[k] * score(m.one_versus_rest(k)) for k in m.classes) / m.total


def micro_average(score):
    """Return a function that adds up the one-versus-rest matrices of all classes and computes a binary score of the sum."""

    def formula(m: ClassCounts):
        """Return the micro average of the score for the confusion matrix `m` of several classes."""
        each = [m.one_versus_rest(k) for k in m.classes]
        sums = {cell: sum(getattr(c, cell) for c in each) for cell in ("tn", "fp", "fn", "tp")}
        return score(Cells(**sums))

    return formula


def chance_agreement(m: ClassCounts):
    """Return the expected share of correct forecasts if the forecast classes were shuffled among the rows."""
    return sum(t * f for t, f in zip(m.observed, m.forecasts)) / m.total**2


def multiclass_heidke(m: ClassCounts):
    """Return the Heidke skill score of several classes."""
    return ratio(m.correct / m.total - chance_agreement(m), 1 - chance_agreement(m))


def multiclass_peirce(m: ClassCounts):
    """Return the Peirce skill score of several classes."""
    return ratio(m.correct / m.total - chance_agreement(m), 1 - sum(t**2 for t in m.observed) / m.total**2)


def gorodkin_correlation(m: ClassCounts):
    """Return the correlation between the indicator matrices of the observed and of the forecast classes (Gorodkin 2004)."""
    observed_variance = m.total**2 - sum(t**2 for t in m.observed)
    forecast_variance = m.total**2 - sum(f**2 for f in m.forecasts)
    covariance = m.correct * m.total - sum(t * f for t, f in zip(m.observed, m.forecasts))
    return ratio(covariance, square_root(observed_variance) * square_root(forecast_variance))


def gerrity_score(m: ClassCounts):
    """Return the Gerrity skill score (Gerrity 1992) of ordered classes.

    Its weights come from `odds[i]`, the odds that an observed class is above class i.
    """
    last = len(m.classes) - 1
    odds = [ratio(m.total - sum(m.observed[: k + 1]), sum(m.observed[: k + 1])) for k in range(last)]

    def scoring_weight(first, second):
        """Return the entry of Gerrity's scoring matrix for an observed and a forecast class, in either order."""
        low, high = min(first, second), max(first, second)
        below = sum(ratio(mpf(1), odds[r]) for r in range(low))
        above = sum(odds[r] for r in range(high, last))
        return (below - (high - low) + above) / last

    return sum(m.counts[i][j] * scoring_weight(i, j) for i in m.classes for j in m.classes) / m.total


CLASS_FORMULAS = {
    "accuracy": lambda m: m.correct / m.total,
    "mcc": gorodkin_correlation,
    "hss": multiclass_heidke,
    "peirce": multiclass_peirce,
    "gerrity": gerrity_score,
    "macro_f1": macro_average(fbeta("1")),
    "macro_recall": macro_average(recall),
    "weighted_f1": support_weighted_average(fbeta("1")),
    "micro_f1": micro_average(fbeta("1")),
}


def observed_and_forecast_rows(counts):
    """Return the observed and the forecast class of every row that the matrix counts."""
    import numpy

    cells = [(i, j, cell) for i, row in enumerate(counts) for j, cell in enumerate(row)]
    repeats = [cell for _, _, cell in cells]
    return numpy.repeat([i for i, _, _ in cells], repeats), numpy.repeat([j for _, j, _ in cells], repeats)


def scikit_learn_class_scores(counts):
    """Return the scores of a confusion matrix of several classes as scikit-learn computes them."""
    from sklearn import metrics

    truth, forecast = observed_and_forecast_rows(counts)
    return {
        "accuracy": metrics.accuracy_score(truth, forecast),
        "mcc": metrics.matthews_corrcoef(truth, forecast),
        "hss": metrics.cohen_kappa_score(truth, forecast),
        "macro_f1": metrics.f1_score(truth, forecast, average="macro"),
        "macro_recall": metrics.recall_score(truth, forecast, average="macro"),
        "weighted_f1": metrics.f1_score(truth, forecast, average="weighted"),
        "micro_f1": metrics.f1_score(truth, forecast, average="micro"),
    }


def xskillscore_class_scores(counts):
    """Return the scores of a confusion matrix of several classes as xskillscore computes them."""
    import numpy
    import xarray
    import xskillscore

    # xskillscore takes observations first, then forecasts. It sorts them into categories by `edges`, so that class k becomes category k + 1.
    truth, forecast = (xarray.DataArray(column, dims="row") for column in observed_and_forecast_rows(counts))
    edges = numpy.arange(len(counts) + 1) - 0.5
    table = xskillscore.Contingency(truth, forecast, edges, edges, dim="row")
    assert (table.table.values == numpy.array(counts)).all()  # rows are observed classes, as in CLASS_MATRICES
    return {
        "accuracy": table.accuracy().item(),
        "hss": table.heidke_score().item(),
        "peirce": table.peirce_score().item(),
        "gerrity": table.gerrity_score().item(),
    }


CLASS_TOOLS = {"scikit-learn": scikit_learn_class_scores, "xskillscore": xskillscore_class_scores}


def make_multiclass():
    """Write multiclass.json, the golden values of scores of several classes."""
    cases = []
    for name, counts in CLASS_MATRICES.items():
        matrix = ClassCounts(counts)
        exact_values = {score: float(formula(matrix)) for score, formula in CLASS_FORMULAS.items()}
        results = {"mpmath": exact_values} | {tool: scores_of(counts) for tool, scores_of in CLASS_TOOLS.items()}
        for tool, values in results.items():
            for score, value in values.items():
                if not agrees(value, exact_values[score]):
                    raise SystemExit(f"{tool}: {score} of {name} is {value}, the formula gives {exact_values[score]}")
                case = {"matrix": name, "score": score, "tool": tool, "version": version(tool), "value": float(value)}
                cases.append(case)
    provenance = provenance_record("multiclass", ["mpmath", *CLASS_TOOLS])
    provenance["notes"] = "Rows of a matrix are the truth, columns the forecast. hss is Cohen's kappa, mcc is Gorodkin's R_K."
    write_json("multiclass.json", {"certificate": provenance, "matrices": CLASS_MATRICES, "cases": cases})
