"""Computes the scores of scores.csv with other tools, from one confusion matrix, under the names that scorewise uses.

The entries of the matrix are strings. Each tool is imported in its own function, so that the formulas can be used without the tools.
"""


def scikit_learn_scores(tn, fp, fn, tp):
    """Return the scores that scikit-learn computes from a confusion matrix."""
    from sklearn import metrics

    # The matrix is passed as four weighted rows, one for each entry. The weights are floats, because products of integers would overflow.
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
    """Return the labels and the predictions of the rows that a confusion matrix counts; None if an entry is fractional or too large.

    Tools that do not accept weights need these rows.
    """
    import numpy

    if not all(cell.isdigit() and int(cell) < 1_000_000 for cell in cells):
        return None
    repeats = [int(cell) for cell in cells]
    return numpy.repeat([0, 0, 1, 1], repeats), numpy.repeat([0, 1, 0, 1], repeats)


def imbalanced_learn_scores(*cells):
    """Return the scores that imbalanced-learn computes from tn, fp, fn and tp, or an empty dictionary if an entry is fractional or too large."""
    from imblearn import metrics

    # Repeated rows are used instead of weights: with sample_weight, imbalanced-learn 0.14 computes the true negatives from the unweighted number of
    # rows, and the specificity of Finley's matrix would be 2.5.
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


def scores_package_scores(tn, fp, fn, tp):
    """Return the scores that the Python package `scores` computes from a confusion matrix."""
    import xarray
    from scores.categorical import BasicContingencyManager, relative_economic_value_from_rates

    cells = {"tn_count": tn, "fp_count": fp, "fn_count": fn, "tp_count": tp}
    counts = {name: xarray.DataArray(float(cell)) for name, cell in cells.items()}
    counts["total_count"] = sum(counts.values())
    table = BasicContingencyManager(counts)

    def economic_value(cost_loss_ratio):
        """Return the relative economic value of the forecast for a user with this cost-loss ratio."""
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
    """Return the scores that pycm computes from a confusion matrix, or an empty dictionary if an entry is not an integer."""
    from pycm import ConfusionMatrix

    if not all(cell.isdigit() for cell in (tn, fp, fn, tp)):
        return {}  # pycm needs integers.
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
    # In pycm, alpha is the weight of misses and beta the weight of false alarms; Tversky and scorewise use them the other way round.
    values["tversky(0.3, 0.7)"] = table.TI(alpha=0.7, beta=0.3)[1]
    # The default alpha of pycm is 1; the default of scorewise and imbalanced-learn is 0.1.
    values["iba(0.1)"] = table.IBA_alpha(0.1)[1]
    # pycm takes the odds t/(1 − t) instead of the threshold t.
    values["net_benefit(0.1)"] = table.NB(w=0.1 / 0.9)[1]
    values["net_benefit(0.5)"] = table.NB(w=1.0)[1]
    return values


def xskillscore_scores(*cells):
    """Return the scores that xskillscore computes from tn, fp, fn and tp, or an empty dictionary if an entry is fractional or too large."""
    import numpy
    import xarray
    import xskillscore

    rows = repeated_rows(cells)
    if rows is None:
        return {}
    truth, forecast = (xarray.DataArray(column, dims="row") for column in rows)
    edges = numpy.array([-0.5, 0.5, 1.5])  # label 1 is category 2, which xskillscore takes as `yes` by default
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
    "scores": scores_package_scores,
    "pycm": pycm_scores,
    "xskillscore": xskillscore_scores,
}
