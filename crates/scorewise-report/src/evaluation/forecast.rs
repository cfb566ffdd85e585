//! Converts a sweep (the confusion matrices at all thresholds) to the data of a page: a curve with fewer points, which still include the best
//! threshold of every score.

use std::sync::LazyLock;

use scorewise::sweep::{Best, Bootstrap, Condition, Sweep};
use scorewise::temporal::TemporalSweep;
use scorewise::{Confusion, Prior, Probabilities, Real, Result, Rows, Score};

use super::summary::ScoreSummary;
use super::tuning::{ThresholdBootstrap, Tuning};
use crate::document::{
    self, ForecastEvaluation, NetBenefitInterval, Optimum, ReferenceForecast, ScoreInterval, ThresholdPoint,
};

/// Approximate number of points of a curve: more than a screen can show, but few enough to embed in a page.
const CURVE_POINTS: usize = 1000;
/// The interval of the net benefit is computed at threshold probabilities that are this many percentage points apart.
const NET_BENEFIT_STEP: usize = 2;
/// Number of bins into which the predicted probabilities are divided. The reliability diagram merges every five adjacent bins into one.
const PREDICTION_BINS: usize = 50;

/// What a page needs to know about a forecast in addition to its sweep (the confusion matrices at all thresholds).
#[derive(Clone, Debug)]
pub struct ForecastOptions<'a> {
    /// Description of the rows on which the forecast is evaluated, such as `test rows`.
    pub rows: &'a str,
    /// Names of the negative and the positive class.
    pub classes: [String; 2],
    /// The score by which the forecast is evaluated.
    pub score: &'a Score,
    /// The decision threshold of the forecast.
    pub threshold: f64,
    /// Text that says how the threshold was chosen, such as `best f1 on these rows`.
    pub chosen: String,
    /// Description of the rows on which the threshold was chosen: `these rows` (the evaluated rows) or `the validation rows`.
    pub source: &'a str,
    /// The interval of thresholds with the same score as the decision threshold.
    pub interval: Option<(f64, f64)>,
    /// 95 % interval of the best threshold over the bootstrap replicates; for a result of `tune` with smoothing, the 95 % interval of the smoothed
    /// threshold.
    pub spread: Option<(f64, f64)>,
    /// The prior: the distribution of the random threshold. `None` if no prior is used.
    pub prior: Option<&'a Prior>,
    /// Conditions that a threshold must satisfy.
    pub conditions: &'a [Condition],
    /// The thresholds at which the conditions with a confidence were shown to hold; `None` if no condition has one.
    pub qualifying: Option<Vec<(f64, f64)>>,
    /// 95 % intervals of the scores at the decision threshold.
    pub intervals: Vec<ScoreInterval>,
    /// 95 % intervals of the net benefit, for the decision curve; see [`net_benefit_intervals`].
    pub net_benefit: Vec<NetBenefitInterval>,
    /// Confusion matrix of the persistence forecast, which predicts an event later if there is an event now; `None` when the target has no lead
    /// time.
    pub persistence: Option<Confusion>,
}

impl Default for ForecastOptions<'_> {
    fn default() -> Self {
        /// The true skill statistic, which is the default score.
        static TSS: LazyLock<Score> = LazyLock::new(|| Score::parse("tss").expect("`tss` is a registered score"));
        ForecastOptions {
            rows: "rows",
            classes: unnamed_classes(),
            score: &TSS,
            threshold: 0.5,
            chosen: String::new(),
            source: "these rows",
            interval: None,
            spread: None,
            prior: None,
            conditions: &[],
            qualifying: None,
            intervals: Vec::new(),
            net_benefit: Vec::new(),
            persistence: None,
        }
    }
}

impl ForecastOptions<'_> {
    /// Sets the decision threshold to the threshold that `tuning` proposes, and sets the bootstrap interval of the threshold. The interval of equally
    /// good thresholds is set too, unless the proposed threshold is a smoothed one.
    pub fn set_tuned(&mut self, tuning: &Tuning) {
        self.threshold = tuning.proposed_threshold();
        self.qualifying = tuning.guarantee.as_ref().map(|guarantee| guarantee.thresholds.clone());
        if let Some(smooth) = tuning.smooth.as_ref().filter(|smooth| smooth.threshold.is_some()) {
            self.spread = smooth.bootstrap.as_ref().and_then(ThresholdBootstrap::threshold_interval);
            self.chosen = format!("best {} on these rows, averaged over nearby thresholds", self.score);
            return;
        }
        self.interval = Some(tuning.best.interval);
        self.spread = tuning.distribution.threshold.interval(0.95);
        self.chosen = match self.conditions {
            [] => format!("best {} on these rows", self.score),
            _ => format!("best {} on these rows among the thresholds that satisfy the conditions", self.score),
        };
    }

    /// Sets the 95 % intervals of the scores and of the net benefit. Every bootstrap replicate uses the same threshold: if each replicate used its
    /// own best threshold, the intervals would be those of the greatest score over all thresholds.
    pub fn set_intervals<R: Real>(
        &mut self,
        rows: &Rows<'_, Probabilities<'_, R>>,
        bootstrap: &Bootstrap<'_>,
    ) -> Result<()> {
        let scores = document::scores_in_display_order(Some(self.score.clone()));
        self.intervals = ScoreSummary::new(rows, self.threshold, &scores, bootstrap)?.intervals();
        self.net_benefit = net_benefit_intervals(rows, bootstrap)?;
        Ok(())
    }
}

/// 95 % intervals of the net benefit of a forecast at threshold probabilities from 0.01 to 0.99, for the decision curve. At each threshold
/// probability, the forecast gives an alarm for the rows whose predicted probability is higher.
pub fn net_benefit_intervals<R: Real>(
    rows: &Rows<'_, Probabilities<'_, R>>,
    bootstrap: &Bootstrap<'_>,
) -> Result<Vec<NetBenefitInterval>> {
    let mut intervals = Vec::new();
    for percent in (1..=99).step_by(NET_BENEFIT_STEP) {
        let threshold = f64::from(percent) / 100.0;
        let Ok(score) = Score::parse(&format!("net_benefit(threshold={threshold})")) else { continue };
        let distribution = bootstrap.scores(rows, threshold, std::slice::from_ref(&score))?.swap_remove(0);
        if let Some((low, high)) = distribution.interval(0.95) {
            intervals.push(NetBenefitInterval { threshold, low, high });
        }
    }
    Ok(intervals)
}

/// The names of the negative and the positive class of a forecast whose classes have no names: `no event` and `event`.
#[must_use]
pub fn unnamed_classes() -> [String; 2] {
    ["no event".into(), "event".into()]
}

/// Converts a sweep (the confusion matrices of a forecast at all thresholds) to the data of a page.
#[must_use]
pub fn forecast(sweep: &Sweep, options: &ForecastOptions<'_>) -> ForecastEvaluation {
    let areas = sweep.areas();
    let scores = document::scores_in_display_order(Some(options.score.clone()));
    let optima = optima(sweep, &scores, options.conditions);
    let marks = optima.iter().map(|optimum| optimum.threshold).chain([options.threshold, 0.5]);
    ForecastEvaluation {
        part: options.rows.into(),
        classes: options.classes.clone(),
        score: options.score.name().into(),
        threshold: options.threshold,
        chosen: options.chosen.clone(),
        source: options.source.into(),
        rows: sweep.rows(),
        is_weighted: sweep.is_weighted(),
        interval: options.interval,
        spread: options.spread,
        prior: options.prior.map(ToString::to_string),
        conditions: options.conditions.iter().map(|condition| condition.text().into()).collect(),
        qualifying: options.qualifying.clone(),
        points: curve_points(sweep, &marks.collect::<Vec<_>>()),
        bins: prediction_bins(sweep),
        optima,
        intervals: options.intervals.clone(),
        net_benefit: options.net_benefit.clone(),
        reference_forecasts: reference_forecasts(sweep, options.persistence),
        roc_area: areas.roc,
        average_precision: areas.average_precision,
        calibrated: None,
    }
}

/// The data of a page about a forecast of a time series whose errors are weighted by their timing. `weighted` computes the confusion matrices with
/// weighted errors, `sweep` those of the same rows with unweighted errors. Areas under curves and reference forecasts are left out, because they
/// need unweighted errors.
#[must_use]
pub fn forecast_of_series(
    sweep: &Sweep,
    weighted: &TemporalSweep,
    options: &ForecastOptions<'_>,
) -> ForecastEvaluation {
    let scores = document::scores_in_display_order(Some(options.score.clone()));
    let optimum = |score: &Score| {
        let Best { threshold, value, interval, .. } = weighted.best(score, options.conditions)?;
        Some(Optimum { score: score.name().into(), threshold, value, interval })
    };
    let optima: Vec<Optimum> = scores.iter().filter_map(optimum).collect();
    let marks = optima.iter().map(|optimum| optimum.threshold).chain([options.threshold, 0.5]);
    // All thresholds between two neighbouring predicted probabilities give the same alarms, so the matrix with weighted errors is constant there, as
    // the unweighted matrix is.
    let mut points = curve_points(sweep, &marks.collect::<Vec<_>>());
    points.iter_mut().for_each(|point| point.cells = weighted.at(point.threshold).array());
    ForecastEvaluation {
        part: format!("{}, with errors weighted by their timing", options.rows),
        points,
        optima,
        is_weighted: true,
        reference_forecasts: Vec::new(),
        roc_area: None,
        average_precision: None,
        ..forecast(sweep, options)
    }
}

/// Reduces a sweep (the confusion matrices at all thresholds) to about 1000 points of a curve, in increasing order of threshold. The thresholds
/// have few digits, except those in `marks`, which are included unchanged.
#[must_use]
pub fn curve_points(sweep: &Sweep, marks: &[f64]) -> Vec<ThresholdPoint> {
    let mut marks = marks.to_vec();
    marks.sort_by(f64::total_cmp);
    marks.dedup();
    let marked: Vec<_> = marks.into_iter().map(|mark| (mark, sweep.step(mark))).collect();
    let is_marked = |thresholds: (f64, f64)| marked.iter().any(|(_, step)| step.thresholds == thresholds);
    let steps = sweep.curve(&[], CURVE_POINTS).into_iter().filter(|step| !is_marked(step.thresholds));
    let steps = steps.map(|step| (step.threshold(), step)).collect::<Vec<_>>();
    let mut points: Vec<ThresholdPoint> = steps
        .into_iter()
        .chain(marked)
        .map(|(threshold, step)| ThresholdPoint {
            threshold,
            low: step.thresholds.0,
            high: step.thresholds.1,
            cells: step.confusion.array(),
        })
        .collect();
    points.sort_by(|one, other| one.threshold.total_cmp(&other.threshold));
    points
}

/// The best threshold of each score, among the thresholds that satisfy the conditions. A score without a best threshold is left out.
fn optima(sweep: &Sweep, scores: &[Score], conditions: &[Condition]) -> Vec<Optimum> {
    let bests = match conditions {
        [] => sweep.all_best(scores),
        conditions => scores.iter().map(|score| sweep.best_subject_to(score, conditions)).collect(),
    };
    let optimum = |(score, best): (&Score, Option<Best>)| {
        let best = best?;
        let (threshold, value, interval) = (best.threshold, best.value, best.interval);
        Some(Optimum { score: score.name().into(), threshold, value, interval })
    };
    scores.iter().zip(bests).filter_map(optimum).collect()
}

/// Divides the predicted probabilities into bins. Each bin holds the total weight of its positive rows and of its negative rows.
pub(super) fn prediction_bins(sweep: &Sweep) -> Vec<document::PredictionBin> {
    let bin = |bin: scorewise::sweep::ProbabilityBin| document::PredictionBin {
        low: bin.low,
        high: bin.high,
        mean: bin.mean,
        positives: bin.positives,
        negatives: bin.negatives,
    };
    sweep.bins(PREDICTION_BINS).into_iter().map(bin).collect()
}

/// Reference forecasts that need no model: always yes, always no and, if `persistence` holds a confusion matrix, the persistence forecast.
fn reference_forecasts(sweep: &Sweep, persistence: Option<Confusion>) -> Vec<ReferenceForecast> {
    let counts = sweep.counts();
    let reference = |name: &str, cells: [f64; 4]| ReferenceForecast { name: name.into(), cells };
    let mut forecasts = vec![
        reference("always yes", [0.0, counts.negatives, 0.0, counts.positives]),
        reference("always no", [counts.negatives, 0.0, counts.positives, 0.0]),
    ];
    forecasts.extend(persistence.map(|confusion| reference("persistence", confusion.array())));
    forecasts
}
