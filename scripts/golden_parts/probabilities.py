"""Makes probabilities.json: Brier score and its parts, log-loss, ROC area and average precision from scikit-learn, with ties and weights."""

import random

from golden_parts.shared import provenance_record, write_json

# Number of rows, decimals to which predictions are rounded (few decimals give many ties), share of positives, and whether the rows have weights.
CASES = {
    "few_rows": (12, 3, 0.5, False),
    "ties": (60, 1, 0.3, False),
    "weights": (60, 6, 0.3, True),
    "ties_and_weights": (200, 1, 0.1, True),
    "rare": (500, 4, 0.02, False),
    "rare_with_weights": (500, 2, 0.02, True),
    "zeros_and_ones": (40, 0, 0.4, False),
}


def rows_of_case(name, count, decimals, rate, is_weighted):
    """Return labels, predictions and weights (None without weights), drawn with a seed that is the name of the case."""
    draw = random.Random(name)
    labels = [int(draw.random() < rate) for _ in range(count)]
    labels[0], labels[1] = 0, 1
    center = [0.3, 0.6]
    predictions = [round(min(max(draw.gauss(center[label], 0.25), 0.0), 1.0), decimals) for label in labels]
    weights = [round(draw.expovariate(1.0), 3) for _ in labels] if is_weighted else None
    return labels, predictions, weights


def make_probabilities():
    """Write probabilities.json, the golden values of Brier score, log-loss, ROC area and average precision."""
    import numpy as np
    from sklearn.isotonic import IsotonicRegression
    from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score

    cases = []
    for name, settings in CASES.items():
        labels, predictions, weights = rows_of_case(name, *settings)
        brier = brier_score_loss(labels, predictions, sample_weight=weights)
        recalibrated = IsotonicRegression().fit_transform(predictions, labels, sample_weight=weights)
        best = brier_score_loss(labels, recalibrated, sample_weight=weights)
        rate = float(np.average(labels, weights=weights))
        cases.append(
            {
                "case": name,
                "labels": labels,
                "predictions": predictions,
                "weights": weights,
                "brier": float(brier),
                "log_loss": float(log_loss(labels, predictions, sample_weight=weights)),
                "roc_area": float(roc_auc_score(labels, predictions, sample_weight=weights)),
                "average_precision": float(average_precision_score(labels, predictions, sample_weight=weights)),
                "reliability": float(brier - best),
                "resolution": rate * (1.0 - rate) - float(best),
                "uncertainty": rate * (1.0 - rate),
            }
        )
    provenance = provenance_record("probabilities", ["numpy", "scikit-learn"])
    provenance["notes"] = "The parts of the Brier score are those of Dimitriadis, Gneiting and Jordan (2021), with isotonic regression."
    write_json("probabilities.json", {"certificate": provenance, "cases": cases})
