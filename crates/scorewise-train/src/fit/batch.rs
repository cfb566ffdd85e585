//! Logits, labels and weights of the rows of a batch, copied into one place so that the loss can be computed.

use scorewise::multiclass::{ClassRows, OneOf, softmax};
use scorewise::prior::Probability;
use scorewise::sweep::{Best, sweep};
use scorewise::temporal::{Series, TemporalLoss, TemporalSweep};
use scorewise::{Logits, Probabilities, Result, Rows, Score};

use super::objective::Objective;

/// Logits, labels and weights of the rows of a batch. One `Batch` is reused for all batches, to avoid new allocations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    /// Logits row by row. With two classes a row has one logit, otherwise one for each class.
    pub logits: Vec<f32>,
    /// Gradient of the loss with respect to the logits.
    pub gradient: Vec<f32>,
    pub labels: Vec<u32>,
    positives: Vec<bool>,
    pub weights: Option<Vec<f32>>,
    /// For rows of a time series, the number of the stretch of neighbouring rows to which each row belongs; empty for other rows.
    stretches: Vec<u32>,
}

impl Batch {
    /// Collects the labels and weights of the given rows, and resizes the buffers for their logits and gradient.
    pub fn gather(&mut self, labels: &[u32], weights: Option<&[f32]>, rows: &[u32], outputs: usize) {
        self.logits.resize(rows.len() * outputs, 0.0);
        self.gradient.resize(rows.len() * outputs, 0.0);
        self.labels.clear();
        self.labels.extend(rows.iter().map(|row| labels[*row as usize]));
        self.positives.clear();
        self.positives.extend(self.labels.iter().map(|label| *label != 0));
        match weights {
            Some(weights) => {
                let gathered = self.weights.get_or_insert_default();
                gathered.clear();
                gathered.extend(rows.iter().map(|row| weights[*row as usize]));
            }
            None => self.weights = None,
        }
        self.stretches.clear();
    }

    /// Collects labels and weights as [`Batch::gather`] does, for rows of a time series in the order of time. `places` holds the place of every row
    /// in the order of time. A new stretch of neighbouring rows begins where the place does not increase by 1, and at the indices in `starts`. Rows
    /// for which `counts` is false get the weight 0; they only affect how much errors in nearby rows count.
    pub fn gather_series(
        &mut self,
        (labels, weights, places): (&[u32], Option<&[f32]>, &[u32]),
        rows: &[u32],
        (starts, counts): (&[usize], Option<&[bool]>),
    ) {
        self.gather(labels, weights, rows, 1);
        if let Some(counts) = counts {
            let gathered = self.weights.get_or_insert_with(|| vec![1.0; rows.len()]);
            gathered.iter_mut().zip(counts).filter(|(_, counts)| !**counts).for_each(|(weight, _)| *weight = 0.0);
        }
        let mut starts = starts.iter().copied().peekable();
        let mut stretch = 0;
        for (index, row) in rows.iter().enumerate() {
            let is_start = starts.next_if_eq(&index).is_some();
            if index > 0 && (is_start || !are_neighbours(places, rows[index - 1], *row)) {
                stretch += 1;
            }
            self.stretches.push(stretch);
        }
    }

    /// The rows of the batch as a time series. Each stretch of neighbouring rows is a sequence of its own, so no time window reaches beyond it.
    pub fn series(&self) -> Result<Series<'_, Logits<'_, f32>>> {
        let series = Series::new(self.two_class_rows()?)?;
        match self.stretches.is_empty() {
            true => Ok(series),
            false => series.with_sequences(&self.stretches),
        }
    }

    /// Number of logits of a row.
    pub fn outputs(&self) -> usize {
        self.logits.len() / self.labels.len().max(1)
    }

    /// The rows of the batch in the form that a loss for two classes takes.
    pub fn two_class_rows(&self) -> Result<Rows<'_, Logits<'_, f32>>> {
        let rows = Rows::new(Logits(&self.logits), &self.positives)?;
        match &self.weights {
            Some(weights) => rows.weighted(weights),
            None => Ok(rows),
        }
    }

    /// The rows of the batch in the form that a loss for many classes takes.
    pub fn multiclass_rows(&self) -> Result<ClassRows<'_, f32, OneOf<'_>>> {
        let rows = ClassRows::new(&self.logits, self.outputs(), OneOf(&self.labels))?;
        match &self.weights {
            Some(weights) => rows.weighted(weights),
            None => Ok(rows),
        }
    }

    /// The threshold with the best score of the confusion matrix in which errors are weighted by their timing; `None` if the score is undefined at
    /// every threshold.
    pub fn best_temporal_threshold(&self, loss: &TemporalLoss) -> Result<Option<Best>> {
        let probabilities = self.probabilities(0);
        let weights: Option<Vec<f64>> =
            self.weights.as_ref().map(|weights| weights.iter().copied().map(f64::from).collect());
        let rows = Rows::new(Probabilities(&probabilities), &self.positives)?;
        let series = match &weights {
            Some(weights) => Series::new(rows.weighted(weights)?)?,
            None => Series::new(rows)?,
        };
        let series = if self.stretches.is_empty() { series } else { series.with_sequences(&self.stretches)? };
        Ok(TemporalSweep::new(loss.weighting(), &series).best(loss.score(), &[]))
    }

    /// The threshold with the best score of one class against the rest; `None` if the score is undefined at every threshold. If rows have one
    /// logit, the threshold is for the probability of the positive class, and `class` is ignored.
    pub fn best_threshold(&self, score: &Score, class: usize) -> Result<Option<Best>> {
        let probabilities = self.probabilities(class);
        let outputs = self.outputs();
        let is_class: Vec<bool> = if outputs == 1 {
            self.positives.clone()
        } else {
            self.labels.iter().map(|label| *label as usize == class).collect()
        };
        let weights: Option<Vec<f64>> =
            self.weights.as_ref().map(|weights| weights.iter().copied().map(f64::from).collect());
        let rows = Rows::new(Probabilities(&probabilities), &is_class)?;
        let rows = match &weights {
            Some(weights) => rows.weighted(weights)?,
            None => rows,
        };
        Ok(sweep(&rows)?.best(score))
    }

    /// The shift that gives the lowest loss when `offset` plus the shift is added to the logit of each row. Rows must have one logit; the logits of
    /// the batch are overwritten. All multiples of 1/20 from −4 to 4 are tried; finer steps would change the loss by less than sampling noise. Of
    /// equally good shifts, the one nearest to 0 is returned.
    pub fn shift_with_lowest_loss(&mut self, objective: &Objective, offset: f32) -> Result<f32> {
        let logits: Vec<f32> = self.logits.iter().map(|logit| logit + offset).collect();
        let mut lowest = (f64::INFINITY, 0.0);
        for step in (0..=80_i16).flat_map(|step| [step, -step]) {
            let shift = f32::from(step) * 0.05;
            self.logits.iter_mut().zip(&logits).for_each(|(logit, old)| *logit = old + shift);
            let value = objective.value(self)?;
            if value < lowest.0 {
                lowest = (value, shift);
            }
        }
        Ok(lowest.1)
    }

    /// The probability of `class` for each row. If rows have one logit, it is the probability of the positive class, and `class` is ignored.
    fn probabilities(&self, class: usize) -> Vec<f64> {
        let outputs = self.outputs();
        let mut row_probabilities = vec![0.0; outputs];
        let probability = |logits: &[f32]| match logits {
            [logit] => Probability::from_logit(f64::from(*logit)).p,
            logits => {
                softmax(logits, &mut row_probabilities);
                row_probabilities[class]
            }
        };
        self.logits.chunks_exact(outputs).map(probability).collect()
    }
}

/// Whether the row `second` comes directly after the row `first` in a time series. `places` holds the place of every row in the order of time.
pub(crate) fn are_neighbours(places: &[u32], first: u32, second: u32) -> bool {
    places[first as usize].checked_add(1) == Some(places[second as usize])
}
