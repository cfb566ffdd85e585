"""The methods of bench/quality.py. Every function in `PEERS` trains on the rows `fit`, stops early on the rows `stop` if it can, and returns a function
that predicts probabilities. RealMLP and TabM need the package pytabkit, AutoGluon needs autogluon.tabular; they are imported only when they are used."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from quality_scores import best_factors, best_threshold
from quality_tables import FOLDS, Problem, folds

THREADS = int(os.environ.get("SCOREWISE_QUALITY_THREADS", "2"))


def features(table: pd.DataFrame) -> pd.DataFrame:
    """Return the inputs for the other libraries: all columns but the target, with a date replaced by weekday, day of the year and hour."""
    table = table.drop(columns=["target"])
    if "date" in table:
        date = table.pop("date")
        table = table.assign(weekday=date.dt.weekday, day_of_year=date.dt.dayofyear, hour_of_day=date.dt.hour)
    return table


def text_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the columns of strings."""
    return [name for name in table.columns if table[name].dtype == object]


Predict = Callable[[pd.DataFrame], np.ndarray]


def lightgbm(train: pd.DataFrame, labels: np.ndarray, fit: np.ndarray, stop: np.ndarray, seed: int) -> Predict:
    """Train LightGBM on the rows `fit` of the table, with early stopping on the rows `stop`; return a function that predicts probabilities."""
    import lightgbm

    levels = {name: pd.CategoricalDtype(sorted(train[name].dropna().unique())) for name in text_columns(train)}
    prepared = train.astype(levels)
    model = lightgbm.LGBMClassifier(n_estimators=2000, learning_rate=0.05, random_state=seed, n_jobs=THREADS, verbose=-1)
    stopping = lightgbm.early_stopping(50, verbose=False)
    model.fit(prepared.iloc[fit], labels[fit], eval_set=[(prepared.iloc[stop], labels[stop])], callbacks=[stopping])
    return lambda table: model.predict_proba(table.astype(levels))


def xgboost(train: pd.DataFrame, labels: np.ndarray, fit: np.ndarray, stop: np.ndarray, seed: int) -> Predict:
    """Train XGBoost on the rows `fit` of the table, with early stopping on the rows `stop`; return a function that predicts probabilities."""
    import xgboost

    levels = {name: pd.CategoricalDtype(sorted(train[name].dropna().unique())) for name in text_columns(train)}
    prepared = train.astype(levels)
    model = xgboost.XGBClassifier(
        n_estimators=2000, learning_rate=0.05, random_state=seed, n_jobs=THREADS, enable_categorical=True, early_stopping_rounds=50, tree_method="hist"
    )
    model.fit(prepared.iloc[fit], labels[fit], eval_set=[(prepared.iloc[stop], labels[stop])], verbose=False)
    return lambda table: model.predict_proba(table.astype(levels))


def catboost(train: pd.DataFrame, labels: np.ndarray, fit: np.ndarray, stop: np.ndarray, seed: int) -> Predict:
    """Train CatBoost on the rows `fit` of the table, with early stopping on the rows `stop`; return a function that predicts probabilities."""
    import catboost

    text = text_columns(train)
    fill = lambda table: table.assign(**{name: table[name].fillna("missing") for name in text})  # noqa: E731
    prepared = fill(train)
    model = catboost.CatBoostClassifier(cat_features=text, random_seed=seed, thread_count=THREADS, verbose=False, allow_writing_files=False)
    model.fit(prepared.iloc[fit], labels[fit], eval_set=(prepared.iloc[stop], labels[stop]), early_stopping_rounds=50)
    return lambda table: model.predict_proba(fill(table))


def logistic(train: pd.DataFrame, labels: np.ndarray, fit: np.ndarray, stop: np.ndarray, seed: int) -> Predict:
    """Train a logistic regression on the rows `fit` of the table; return a function that predicts probabilities."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    text = text_columns(train)
    numbers = [name for name in train.columns if name not in text]
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), numbers),
        (OneHotEncoder(min_frequency=10, handle_unknown="infrequent_if_exist"), text),
    )
    model = make_pipeline(encode, LogisticRegression(max_iter=200))
    model.fit(train.iloc[fit], labels[fit])
    return model.predict_proba


def random_forest(train: pd.DataFrame, labels: np.ndarray, fit: np.ndarray, stop: np.ndarray, seed: int) -> Predict:
    """Train a random forest on the rows `fit` of the table; return a function that predicts probabilities."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    text = text_columns(train)
    numbers = [name for name in train.columns if name not in text]
    encode = make_column_transformer(
        (SimpleImputer(strategy="median", add_indicator=True), numbers),
        (OneHotEncoder(min_frequency=10, max_categories=100, handle_unknown="infrequent_if_exist"), text),
    )
    model = make_pipeline(encode, RandomForestClassifier(n_estimators=300, min_samples_leaf=2, random_state=seed, n_jobs=THREADS))
    model.fit(train.iloc[fit], labels[fit])
    return model.predict_proba


def filled(train: pd.DataFrame) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function that prepares tables for the networks of pytabkit: it fills in missing values and converts columns to float or str.

    Missing numbers become the median of the training rows, and missing strings become the category `missing`.
    """
    text = text_columns(train)
    medians = {name: train[name].median() for name in train.columns if name not in text}

    def fill(table: pd.DataFrame) -> pd.DataFrame:
        """Return the table without missing values and with columns of the types float and str only."""
        numbers = {name: table[name].astype(float).fillna(median) for name, median in medians.items()}
        return table.assign(**numbers, **{name: table[name].fillna("missing").astype(str) for name in text})

    return fill


def pytabkit_peer(class_name: str) -> Callable[..., Predict]:
    """Return a function that trains the pytabkit classifier `class_name` and takes the same arguments as the other functions in `PEERS`."""

    def fit_network(train: pd.DataFrame, labels: np.ndarray, fit: np.ndarray, stop: np.ndarray, seed: int) -> Predict:
        """Train the network on the rows `fit`, with the rows `stop` as validation rows; return a function that predicts probabilities."""
        import pytabkit

        fill = filled(train)
        prepared, text = fill(train), text_columns(train)
        model = getattr(pytabkit, class_name)(device="cpu", random_state=seed, n_threads=THREADS, n_cv=1, n_refit=0, verbosity=0)
        both = np.concatenate([fit, stop])
        model.fit(prepared.iloc[both], labels[both], val_idxs=np.arange(len(fit), len(both)), cat_col_names=text)
        return lambda table: model.predict_proba(fill(table))

    return fit_network


PEERS: dict[str, Callable[..., Predict]] = {
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "catboost": catboost,
    "random_forest": random_forest,
    "logistic": logistic,
    "realmlp": pytabkit_peer("RealMLP_TD_Classifier"),
    "realmlp_s": pytabkit_peer("RealMLP_TD_S_Classifier"),
    "tabm": pytabkit_peer("TabM_D_Classifier"),
}


def run_peer(name: str, problem: Problem, train: pd.DataFrame, test: pd.DataFrame, seed: int) -> dict[str, Any]:
    """Cross-fit the method `name` of `PEERS`; return its predictions for the test rows and its out-of-fold predictions."""
    classes, labels = np.unique(train.target, return_inverse=True)
    inputs, test_inputs = features(train), features(test)
    out_of_fold, forecast = np.zeros((len(train), len(classes))), np.zeros((len(test), len(classes)))
    for stop in folds(problem.time is not None, labels, seed):
        fit = np.setdiff1d(np.arange(len(train)), stop)
        predict = PEERS[name](inputs, labels, fit, stop, seed)
        out_of_fold[stop] = predict(inputs.iloc[stop])
        forecast += predict(test_inputs) / FOLDS
    if len(classes) == 2:
        predicted = (forecast[:, 1] > best_threshold(problem.score, labels, out_of_fold[:, 1])).astype(int)
    else:
        predicted = (forecast * best_factors(problem.score, labels, out_of_fold)).argmax(1)
    return {"predicted": predicted, "probabilities": forecast, "held_out_truth": labels, "held_out": out_of_fold}


def run_autogluon(problem: Problem, train: pd.DataFrame, test: pd.DataFrame, classes: np.ndarray, seed: int) -> dict[str, Any]:
    """Train AutoGluon as its users do, in one call with the preset `medium_quality` and its own threshold calibration; predict the test rows.

    AutoGluon optimises the score of the table, or a metric that increases with this score: F1 for CSI, and balanced accuracy for TSS (which is twice
    the balanced accuracy minus 1). HSS is Cohen's kappa.
    """
    from autogluon.core.metrics import make_scorer
    from autogluon.tabular import TabularPredictor
    from sklearn.metrics import cohen_kappa_score

    metric: Any = {"csi": "f1", "tss": "balanced_accuracy", "macro(f1)": "f1_macro"}.get(problem.score, problem.score)
    if metric == "hss":
        metric = make_scorer("cohen_kappa", cohen_kappa_score, optimum=1, greater_is_better=True, needs_class=True)
    folder = tempfile.mkdtemp()
    try:
        inputs, test_inputs = features(train).assign(target=train.target), features(test)
        predictor = TabularPredictor("target", eval_metric=metric, path=folder, verbosity=0)
        predictor.fit(
            inputs, presets="medium_quality", calibrate_decision_threshold=True, num_cpus=THREADS, num_gpus=0,
            ag_args_fit={"random_seed": seed},
        )
        probabilities = predictor.predict_proba(test_inputs)[list(classes)].to_numpy()
        predicted = np.searchsorted(classes, predictor.predict(test_inputs).to_numpy())
        note = str(predictor.leaderboard(display=False).model.tolist())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"predicted": predicted, "probabilities": probabilities, "note": note}
