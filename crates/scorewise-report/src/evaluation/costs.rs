//! The costs of a forecast whose errors cost a different amount in every row.

use scorewise::sweep::{BestCost, Bootstrap, CostRows, Costs};
use scorewise::{Result, sweep::Condition};
use serde::{Deserialize, Serialize};

use super::summary::Estimate;
use super::tuning::{ThresholdBootstrap, TuningSummary, condition_texts};

/// The costs of the errors at a threshold, in the form that is written as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostSummary {
    /// The total cost of the false alarms.
    pub false_alarms: f64,
    /// The total cost of the misses.
    pub misses: f64,
    /// The total cost of all errors.
    pub total: f64,
    /// The mean cost per row.
    pub per_row: Estimate,
    /// The mean cost per row of the forecast that always gives an alarm.
    pub always_alarm: f64,
    /// The mean cost per row of the forecast that never gives an alarm.
    pub never_alarm: f64,
}

impl CostSummary {
    /// Summarises `costs`, the costs of `rows` at one threshold. The mean cost per row gets no interval.
    fn of(rows: &CostRows<'_>, costs: &Costs) -> Self {
        CostSummary {
            false_alarms: costs.false_alarms,
            misses: costs.misses,
            total: costs.total(),
            per_row: Estimate::new(Some(costs.per_row()), None),
            always_alarm: rows.of_alarm_always().per_row(),
            never_alarm: rows.of_alarm_never().per_row(),
        }
    }

    /// Computes the costs at a threshold, with a 95 % interval of the mean cost per row. If the bootstrap draws blocks whose length is not given, the
    /// length is chosen for the mean cost.
    pub fn new(rows: &CostRows<'_>, threshold: f64, bootstrap: &Bootstrap<'_>) -> Result<Self> {
        let bootstrap = bootstrap.with_block_length_of_costs(rows, threshold);
        let interval = bootstrap.mean_cost(rows, threshold)?.interval(0.95);
        let costs = rows.at(threshold);
        let per_row = Estimate::new(Some(costs.per_row()), interval);
        Ok(CostSummary { per_row, ..CostSummary::of(rows, &costs) })
    }
}

/// The threshold with the lowest mean cost per row among those that satisfy the conditions, with intervals from `bootstrap`; `None` if no threshold
/// satisfies the conditions. The conditions are checked on the confusion matrix, not on the costs.
pub fn tune_costs(
    rows: &CostRows<'_>,
    conditions: &[Condition],
    bootstrap: &Bootstrap<'_>,
) -> Result<Option<(BestCost, TuningSummary)>> {
    if let Some(condition) = conditions.iter().find(|condition| condition.confidence().is_some()) {
        let text = condition.text();
        let reason = format!(
            "with a confidence, `{text}`, cannot be tested for costs that differ from row to row: leave out the confidence"
        );
        return Err(scorewise::Error::Setting { what: "a condition", reason });
    }
    let Some(best) = rows.best(conditions) else { return Ok(None) };
    let bootstrap = &bootstrap.with_block_length_of_costs(rows, best.threshold);
    let distribution = bootstrap.best_cost(rows, conditions)?;
    let corrected = bootstrap.corrected_best_cost(rows, conditions)?;
    let summary = TuningSummary {
        score: rows.score().name().into(),
        threshold: Some(best.threshold),
        interval: Some(best.interval),
        value: Some(best.costs.per_row()),
        corrected: corrected.map(|cost| Estimate::new(Some(cost.value), cost.distribution.interval(0.95))),
        confusion: Some(best.confusion),
        bootstrap: Some(ThresholdBootstrap::new(&distribution, bootstrap)),
        subject_to: Some(condition_texts(conditions)),
        costs: Some(CostSummary::of(rows, &best.costs)),
        ..TuningSummary::default()
    };
    Ok(Some((best, summary)))
}
