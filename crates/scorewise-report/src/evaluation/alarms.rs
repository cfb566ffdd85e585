//! Events and alarms of a time series, row by row, for the figure that shows them on the axis of time.

use std::ops::Range;

use scorewise::{Probabilities, Real, Result, Rows, is_positive};

use super::series::SeriesOptions;
use crate::document::{AlarmStretch, AlarmTimeline, OutcomeCount, RowOutcome};

/// Maximum number of rows of a stretch of a time series that the figure shows.
const ROWS_SHOWN: usize = 150;
/// Maximum number of stretches of a time series that the figure shows.
const MAX_STRETCHES: usize = 4;

impl AlarmTimeline {
    /// Finds for each row whether it is a hit or an error at the threshold, and whether an error is near an event or alarm. Of a long series, the
    /// stretches with the most events are kept. `unit` says what the numbers of the rows count, such as `row of the table`.
    pub fn new<R: Real>(
        rows: &Rows<'_, Probabilities<'_, R>>,
        threshold: f64,
        series: &SeriesOptions<'_>,
        unit: &str,
    ) -> Result<Self> {
        let predictions: Vec<f64> = rows.predictions().0.iter().map(|value| value.to_f64()).collect();
        let labels = rows.labels();
        let alarms: Vec<bool> = predictions.iter().map(|prediction| is_positive(*prediction, threshold)).collect();
        // Only rows at a distance with a positive weight can change how much an error counts.
        let window = series.weighting.weights().iter().take_while(|weight| **weight > 0.0).count();
        let sequences = sequence_ranges(series.sequences, labels.len());
        let mut outcomes = Vec::with_capacity(labels.len());
        for sequence in &sequences {
            for row in sequence.clone() {
                let before = row.saturating_sub(window).max(sequence.start)..row;
                let after = row + 1..(row + 1 + window).min(sequence.end);
                outcomes.push(match (labels[row], alarms[row]) {
                    (true, true) => RowOutcome::Hit,
                    (true, false) if alarms[before.clone()].contains(&true) => RowOutcome::MissAfterAlarm,
                    (true, false) => RowOutcome::Miss,
                    (false, true) if labels[after.clone()].contains(&true) => RowOutcome::EarlyAlarm,
                    (false, true) => RowOutcome::FalseAlarm,
                    (false, false) => RowOutcome::CorrectRejection,
                });
            }
        }
        let count = |outcome: RowOutcome| OutcomeCount {
            outcome,
            rows: outcomes.iter().filter(|other| **other == outcome).count(),
        };
        let stretch = |range: Range<usize>| AlarmStretch {
            first: range.start + 1,
            predictions: predictions[range.clone()].to_vec(),
            outcomes: outcomes[range].to_vec(),
        };
        Ok(AlarmTimeline {
            threshold,
            unit: unit.into(),
            rows: labels.len(),
            counts: RowOutcome::ALL.map(count).to_vec(),
            stretches: stretches_with_most_events(&sequences, labels, &outcomes).into_iter().map(stretch).collect(),
        })
    }
}

/// For each sequence, the range of its rows.
fn sequence_ranges(sequences: Option<&[u32]>, rows: usize) -> Vec<Range<usize>> {
    let Some(sequences) = sequences else { return std::iter::once(0..rows).collect() };
    let mut end = 0;
    let range = |run: &[u32]| {
        end += run.len();
        end - run.len()..end
    };
    sequences.chunk_by(PartialEq::eq).map(range).collect()
}

/// The stretches to show, in the order of time: all rows if they are few, otherwise the stretches of
/// [`ROWS_SHOWN`] rows with the most events, and with the most alarms among those with equally many events.
fn stretches_with_most_events(
    sequences: &[Range<usize>],
    labels: &[bool],
    outcomes: &[RowOutcome],
) -> Vec<Range<usize>> {
    let is_shown = |row: usize| labels[row] || outcomes[row] != RowOutcome::CorrectRejection;
    // `sums[i]` counts the events, and the rows with an event or an alarm, among the first i rows. The counts of a stretch are therefore the
    // difference of two elements of `sums`.
    let mut sums = vec![(0usize, 0usize)];
    for (row, label) in labels.iter().enumerate() {
        let (events, shown) = sums[row];
        sums.push((events + usize::from(*label), shown + usize::from(is_shown(row))));
    }
    let content = |range: &Range<usize>| {
        let (first, end) = (sums[range.start], sums[range.end]);
        (end.0 - first.0, end.1 - first.1)
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    while found.len() < MAX_STRETCHES {
        let mut best: Option<((usize, usize), Range<usize>)> = None;
        for sequence in sequences {
            // `taken` holds the stretches of the sequence that are already chosen; each `free` is a gap between them.
            let mut taken: Vec<Range<usize>> =
                found.iter().filter(|range| sequence.contains(&range.start)).cloned().collect();
            taken.sort_by_key(|range| range.start);
            let starts = std::iter::once(sequence.start).chain(taken.iter().map(|range| range.end));
            let ends = taken.iter().map(|range| range.start).chain([sequence.end]);
            for free in starts.zip(ends).map(|(start, end)| start..end) {
                let length = free.len().min(ROWS_SHOWN);
                for start in free.start..=free.end - length {
                    let range = start..start + length;
                    let content = content(&range);
                    if length > 0 && best.as_ref().is_none_or(|(most, _)| content > *most) {
                        best = Some((content, centred(range, &free, is_shown)));
                    }
                }
            }
        }
        match best {
            // Further stretches without events and alarms would show nothing.
            Some((content, range)) if found.is_empty() || content.1 > 0 => found.push(range),
            _ => break,
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

/// Moves `range` within `free` so that, if possible, its events and alarms lie in its middle. `is_shown` says whether a row has an event or an alarm.
fn centred(range: Range<usize>, free: &Range<usize>, is_shown: impl Fn(usize) -> bool) -> Range<usize> {
    let (Some(first), Some(last)) =
        (range.clone().find(|row| is_shown(*row)), range.clone().rfind(|row| is_shown(*row)))
    else {
        return range;
    };
    let middle = first.midpoint(last);
    let start = middle.saturating_sub(range.len() / 2).clamp(free.start, free.end - range.len());
    start..start + range.len()
}

#[cfg(test)]
mod tests {
    use scorewise::temporal::Weighting;

    use super::*;

    #[test]
    fn each_row_gets_its_outcome_and_errors_are_classified_by_nearby_events_and_alarms() {
        use RowOutcome::{CorrectRejection, EarlyAlarm, FalseAlarm, Hit, Miss, MissAfterAlarm};
        let labels = [false, false, true, true, false, false, true, false];
        let probabilities = [0.9, 0.9, 0.1, 0.9, 0.9, 0.1, 0.1, 0.9];
        let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
        let weighting = Weighting::sum(&[0.5, 0.0]).unwrap();
        // The weight of distance 2 is 0, so only adjacent rows count as near. The second sequence begins with row 6, counted from 0.
        let series = SeriesOptions { weighting: &weighting, sequences: Some(&[4, 4, 4, 4, 4, 4, 2, 2]) };
        let timeline = AlarmTimeline::new(&rows, 0.5, &series, "row").unwrap();
        let outcomes: Vec<RowOutcome> = timeline.stretches.iter().flat_map(|shown| shown.outcomes.clone()).collect();
        let expected = [FalseAlarm, EarlyAlarm, MissAfterAlarm, Hit, FalseAlarm, CorrectRejection, Miss, FalseAlarm];
        assert_eq!(outcomes, expected);
        let first: Vec<usize> = timeline.stretches.iter().map(|shown| shown.first).collect();
        assert_eq!(first, [1, 7]);
        assert_eq!(timeline.counts.iter().map(|count| count.rows).sum::<usize>(), 8);
    }

    #[test]
    fn of_a_long_series_the_stretches_with_the_most_events_are_kept() {
        let labels: Vec<bool> = (0..5000).map(|row| [1000, 1001, 1010, 3000].contains(&row)).collect();
        let probabilities = vec![0.1; 5000];
        let rows = Rows::new(Probabilities(&probabilities), &labels).unwrap();
        let weighting = Weighting::default();
        let series = SeriesOptions { weighting: &weighting, sequences: None };
        let timeline = AlarmTimeline::new(&rows, 0.5, &series, "row").unwrap();
        let ranges: Vec<(usize, usize)> =
            timeline.stretches.iter().map(|shown| (shown.first, shown.predictions.len())).collect();
        // The events are in the middle of the stretches.
        assert_eq!(ranges, [(931, ROWS_SHOWN), (2926, ROWS_SHOWN)]);
    }
}
