"""Predict who earns more than 50,000 dollars: three classifiers on a table of mixed types, compared by F1.

    python examples/scikit_learn.py          # needs scorewise and pandas

The rows are from the American census of 1994, included in the repository. A logistic regression decides with threshold 1/2; `ScoreThreshold`
replaces that threshold by the best one for F1; `ScoreClassifier` trains for F1 and accepts the table without preparation.
"""

import pathlib

import pandas
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import scorewise as sw

NAMES = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex",
    "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
]  # fmt: skip


def main() -> None:
    """Print thresholds and scores of classifiers of scikit-learn and of scorewise."""
    path = pathlib.Path(__file__).resolve().parents[1] / "crates/scorewise-table/data" / "adult.data.gz"
    table = pandas.read_csv(path, names=NAMES, skipinitialspace=True, na_values="?")
    X, y = table.drop(columns=["income", "fnlwgt", "education"]), table["income"]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

    # Logistic regression needs encoded categories; ScoreClassifier accepts strings and missing values.
    is_number = make_column_selector(dtype_include="number")
    is_category = make_column_selector(dtype_exclude="number")
    to_numbers = make_column_transformer((StandardScaler(), is_number), (OneHotEncoder(handle_unknown="ignore"), is_category))
    logistic = make_pipeline(to_numbers, LogisticRegression(max_iter=1000))

    models = {
        "logistic regression at ½": logistic,
        "  at its best threshold for F1": sw.ScoreThreshold(logistic, "f1"),
        "  the same, precision ≥ 0.75": sw.ScoreThreshold(logistic, "f1", subject_to="precision >= 0.75"),
        "ensemble trained for F1": sw.ScoreClassifier("f1", patience=15),
    }
    print(f"{'':30}{'threshold':>10}{'F1':>8}{'precision':>11}{'recall':>8}")
    for name, model in models.items():
        predicted = model.fit(X, y).predict(X_test)
        scores = [score(y_test, predicted, pos_label=">50K") for score in (f1_score, precision_score, recall_score)]
        print(f"{name:30}{getattr(model, 'threshold_', 0.5):10.3f}{scores[0]:8.4f}{scores[1]:11.4f}{scores[2]:8.4f}")


if __name__ == "__main__":
    main()
