"""Who earns more than 50,000 dollars? Three classifiers on a table of mixed types, judged by F1.

    python examples/scikit_learn.py          # needs scorewise and pandas

The rows are those of the American census of 1994 that the repository holds. A plain logistic regression decides at ½; `ScoreThreshold`
moves its threshold to the best F1 without touching it otherwise; `ScoreClassifier` trains for F1 itself, and takes the table as it is.
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
    path = pathlib.Path(__file__).resolve().parents[1] / "data" / "adult.data.gz"
    table = pandas.read_csv(path, names=NAMES, skipinitialspace=True, na_values="?")
    X, y = table.drop(columns=["income", "fnlwgt", "education"]), table["income"]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

    # scikit-learn's own models want numbers without holes; ours takes texts and missing values as they are.
    is_number = make_column_selector(dtype_include="number")
    is_text = make_column_selector(dtype_exclude="number")
    to_numbers = make_column_transformer((StandardScaler(), is_number), (OneHotEncoder(handle_unknown="ignore"), is_text))
    logistic = make_pipeline(to_numbers, LogisticRegression(max_iter=1000))

    models = {
        "logistic regression at ½": logistic,
        "  its best threshold for F1": sw.ScoreThreshold(logistic, "f1"),
        "  the same, precision ≥ 0.75": sw.ScoreThreshold(logistic, "f1", subject_to="precision >= 0.75"),
        "network trained for F1": sw.ScoreClassifier("f1", patience=15),
    }
    print(f"{'':30}{'threshold':>10}{'F1':>8}{'precision':>11}{'recall':>8}")
    for name, model in models.items():
        predicted = model.fit(X, y).predict(X_test)
        scores = [score(y_test, predicted, pos_label=">50K") for score in (f1_score, precision_score, recall_score)]
        print(f"{name:30}{getattr(model, 'threshold_', 0.5):10.3f}{scores[0]:8.4f}{scores[1]:11.4f}{scores[2]:8.4f}")


if __name__ == "__main__":
    main()
