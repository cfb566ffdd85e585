"""Predict who earns more than 50,000 dollars: a pool of LightGBM, logistic regression and scorewise's own model, compared with each alone by CSI.

    python examples/score_pool.py          # needs scorewise, pandas and lightgbm; catboost joins the pool if it is installed

The rows are from the American census of 1994, included in the repository. `ScorePool` trains every classifier on five folds, calibrates them,
chooses their weights for the score on the predictions for rows that they were not trained on, and chooses the threshold on the same predictions.
Each classifier alone is a pool of one, so that all have the same folds and the same rule for the threshold.
"""

import importlib.util
import pathlib
from typing import Any

import pandas
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import scorewise as sw

NAMES = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex",
    "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
]  # fmt: skip


def classifiers(categories: list[str]) -> list[tuple[str, Any]]:
    """Return the classifiers that the pool combines, with their names. ``categories`` lists the names of the categorical columns."""
    is_number = make_column_selector(dtype_include="number")
    to_numbers = make_column_transformer((StandardScaler(), is_number), (OneHotEncoder(handle_unknown="ignore"), categories))
    found = [
        # LightGBM reads the columns of the type `category` itself. Training uses one thread, so that its results are reproducible.
        ("lightgbm", LGBMClassifier(n_estimators=150, learning_rate=0.05, random_state=0, n_jobs=1, verbose=-1)),
        ("logistic", make_pipeline(to_numbers, LogisticRegression(max_iter=1000))),
        ("scorewise", sw.ScoreClassifier("csi", recipe="quick", learners=("networks", "trees"))),
    ]
    if importlib.util.find_spec("catboost"):
        from catboost import CatBoostClassifier

        found.append(("catboost", CatBoostClassifier(500, cat_features=categories, random_seed=0, thread_count=1, verbose=False, allow_writing_files=False)))
    return found


def main() -> None:
    """Compare a pool of classifiers with each of its members."""
    path = pathlib.Path(__file__).resolve().parents[1] / "crates/scorewise-table/data" / "adult.data.gz"
    table = pandas.read_csv(path, names=NAMES, skipinitialspace=True)
    X, y = table.drop(columns=["income", "fnlwgt", "education"]), table["income"]
    categories = list(X.select_dtypes(exclude="number").columns)
    X = X.astype(dict.fromkeys(categories, "category"))
    X, X_test, y, y_test = train_test_split(X, y, train_size=8000, stratify=y, random_state=0)

    print(f"{'':12}{'threshold':>10}{'CSI, new rows':>15}")
    for name, classifier in classifiers(categories):
        alone = sw.ScorePool([(name, classifier)], score="csi").fit(X, y)
        print(f"{name:12}{alone.threshold_:10.3f}{alone.score(X_test, y_test):15.4f}")
    pool = sw.ScorePool(classifiers(categories), score="csi").fit(X, y)
    print(f"{'pool':12}{pool.threshold_:10.3f}{pool.score(X_test, y_test):15.4f}")
    print("weights:", ", ".join(f"{name} {weight:.0%}" for name, weight in pool.weights_.items()))


if __name__ == "__main__":
    main()
