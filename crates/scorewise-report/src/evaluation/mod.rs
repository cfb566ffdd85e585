//! Evaluates a forecast or a trained model on labelled rows: scores with their 95 % intervals.
//!
//! The command line, the Python package and the HTML pages all show the results computed here, so a number is the same wherever it appears.
//! Every result is a struct. `--json` prints its serialisation, whose keys are stable; a [`Document`](crate::document::Document)
//! combines a result with the data of its figures.
//!
//! ```
//! use scorewise::sweep::{Bootstrap, Resampling};
//! use scorewise::{Probabilities, Rows, Score};
//! use scorewise_report::evaluation::ScoreSummary;
//!
//! let rows = Rows::new(Probabilities(&[0.9, 0.8, 0.6, 0.4, 0.3, 0.1]), &[true, false, true, true, false, false])?;
//! let bootstrap = Bootstrap { resampling: Resampling::Poisson, replicates: 200, seed: 0 };
//! let summary = ScoreSummary::new(&rows, 0.35, &[Score::parse("f1")?], &bootstrap)?;
//! assert_eq!(summary.scores[0].estimate.value, Some(6.0 / 7.0)); // three hits, one false alarm
//! # Ok::<(), scorewise::Error>(())
//! ```
//!
//! | module | what it computes |
//! |---|---|
//! | `summary` | every score at a threshold, with bootstrap intervals |
//! | `probabilities` | measures of the probabilities themselves: Brier score, log-loss, ROC area, average precision |
//! | `classes` | scores of decisions between more than two classes |
//! | `tuning` | the best threshold of a score, exact or smoothed, and its distribution over bootstrap replicates; why no threshold is best |
//! | `series` | scores and thresholds of a time series in which errors are weighted by their timing |
//! | `costs` | the costs of errors that cost a different amount in every row |
//! | `counts` | every score of a table of confusion matrices, by group and over time |
//! | `comparison` | comparison of two forecasts of the same rows |
//! | `theory` | the distribution of a score when the threshold is random |
//! | `model` | the scores of a trained model on its training, validation and test rows |
//! | `monitoring` | whether a model is still good on rows that came after its training, and whether these rows have shifted |
//! | `explain` | the importance of columns for the score of a model, and partial dependence |
//! | `folds` | the scores of each model of a cross-validation on its test rows |
//! | `reproduction` | the experiments of Marchetti et al. (2022), beside the published results |
//! | `alarms` | events and alarms of a time series, row by row |
//! | `forecast` | a threshold sweep, converted to the data of a page |
//! | `report` | the data of a whole page about one forecast |
//! | `provenance` | fingerprints of the rows that were evaluated |
//! | `registry` | the registered scores and the families of priors |
//! | `json` | serialisation of confusion matrices and scores as JSON |

mod json;
mod summary;
mod probabilities;
mod classes;
mod tuning;
mod series;
mod alarms;
mod costs;
mod counts;
mod comparison;
mod theory;
mod model;
mod explain;
mod monitoring;
mod folds;
mod reproduction;
mod forecast;
mod guarantee;
mod report;
mod provenance;
mod registry;

pub(crate) use json::named_estimates;

pub use classes::{ClassSummary, common_class_scores};
pub use comparison::{ComparedForecast, ComparedThresholds, ComparisonSummary, ForecastComparison, ForecastPair};
pub use costs::{CostSummary, tune_costs};
pub use counts::{CountGroup, CountRows, CountScores, CountSummary, count_series};
pub use explain::{
    ClassMeans, ColumnImportance, DEPENDENCE_COLUMNS, ExplainOptions, ExplainedRows, Explanation, GridValue,
    MAX_PERMUTATIONS, PartialDependence, explain,
};
pub use folds::{FoldSummary, FoldsSummary, evaluate_folds};
pub use forecast::{
    ForecastOptions, curve_points, forecast, forecast_of_series, net_benefit_intervals, unnamed_classes,
};
pub use guarantee::{GuaranteeSummary, GuaranteedCondition, NeededEvents, NoBestThreshold};
pub use model::{
    CalibrationLossSummary, CalibrationSummary, ColumnGain, DecisionScore, Evaluation, MemberSummary, ModelEvaluation,
    TrainSummary, TrainingRun, evaluate_model, evaluation_bootstrap, evaluation_sweep, model_document, training_curves,
};
pub use monitoring::{
    ColumnShift, HeldOutSummary, LARGE_SHIFT, MODERATE_SHIFT, MissingShares, MonitorOptions, MonitorSummary,
    PeriodSummary, PeriodsSummary, PredictionShift, ScoreChange, ScoreCondition, ShiftSize, ThenAndNow, Truth,
    UnseenLevel, held_out, monitor,
};
pub use probabilities::{BrierPartsSummary, ComparedMeasure, ProbabilityComparison, ProbabilitySummary, measure_title};
pub use provenance::{FloatColumn, class_predictions_data, counts_data, model_data, predictions_data};
pub use registry::{
    MultiScoreDescription, ParameterDescription, PriorDescription, PriorFamilyDescription, PriorQuantile,
    ScoreDescription, ScoreDirection, prior_families, registered_scores, shape_name,
};
pub use report::{ReportOptions, forecast_report, theory_document};
pub use reproduction::{
    DifferenceBlocks, DifferenceSummary, MeanAndSd, PaperComparison, PaperRow, ReproductionRow, ReproductionSummary,
    ThresholdPair, best_thresholds,
};
pub use series::{SeriesOptions, TimingSummary, tune_series};
pub use summary::{Estimate, NamedEstimate, ScoreSummary};
pub use theory::{BoundSummary, TheorySummary, theory_page};
pub use tuning::{
    BestThreshold, ClassThreshold, ClassTuningSummary, IntervalEnds, MAX_EXACT_ROWS, ModelThreshold, SmoothThreshold,
    THRESHOLD_RUNS, ThresholdBootstrap, TuneSummary, Tuning, TuningOptions, TuningSummary, best_threshold_bootstrap,
    corrected_score, no_best_threshold, smooth_threshold_bootstrap, tune_classes, undefined_everywhere,
    unmet_conditions,
};
