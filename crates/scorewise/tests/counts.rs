//! Tests of the intervals that are computed from tables of counts. They must equal the intervals computed from the single forecasts with each row of
//! the table as a group, and 95 % intervals must contain the true value in about 95 % of the cases.

#![allow(clippy::unwrap_used)] // a panic fails the test

use crate::common::{Random, score};
use scorewise::sweep::{BlockLength, Bootstrap, Resampling, sum_of_counts};
use scorewise::{Confusion, Error, Probabilities, Rows, Score, is_positive};

/// A bootstrap in which the rows of a table are independent of each other.
const BOOTSTRAP: Bootstrap<'static> = Bootstrap { resampling: Resampling::Poisson, replicates: 1000, seed: 3 };

/// Forecasts of two systems on some days. The event rate and the quality of both systems vary from day to day.
struct Days {
    labels: Vec<bool>,
    forecasts: [Vec<f64>; 2],
    day: Vec<u32>,
    days: usize,
}

impl Days {
    /// Draws random forecasts for a number of days.
    fn new(seed: u64, days: usize, forecasts_per_day: usize) -> Self {
        let mut random = Random(seed);
        let mut result = Days { labels: Vec::new(), forecasts: [Vec::new(), Vec::new()], day: Vec::new(), days };
        for day in 0..days {
            let (rate, quality) = (0.1 + 0.3 * random.uniform(), 0.5 + 0.5 * random.uniform());
            for _ in 0..forecasts_per_day {
                let label = random.uniform() < rate;
                let shared = random.uniform();
                let mut forecast = |skill: f64| {
                    let noise = 0.6 * shared + 0.4 * random.uniform();
                    if label { noise + skill * quality * 0.5 } else { noise }
                };
                let (first, second) = (forecast(1.0).min(1.0), forecast(0.8).min(1.0));
                result.labels.push(label);
                result.forecasts[0].push(first);
                result.forecasts[1].push(second);
                result.day.push(day as u32);
            }
        }
        result
    }

    /// The confusion matrix of each day for one of the two systems at a threshold.
    fn counts(&self, forecast: usize, threshold: f64) -> Vec<Confusion> {
        let mut counts = vec![Confusion::default(); self.days];
        for (row, label) in self.labels.iter().enumerate() {
            let is_alarm = is_positive(self.forecasts[forecast][row], threshold);
            counts[self.day[row] as usize] += match (label, is_alarm) {
                (false, false) => Confusion::new(1.0, 0.0, 0.0, 0.0),
                (false, true) => Confusion::new(0.0, 1.0, 0.0, 0.0),
                (true, false) => Confusion::new(0.0, 0.0, 1.0, 0.0),
                (true, true) => Confusion::new(0.0, 0.0, 0.0, 1.0),
            };
        }
        counts
    }

    /// The forecasts of one system with their labels.
    fn rows(&self, forecast: usize) -> Rows<'_, Probabilities<'_, f64>> {
        Rows::new(Probabilities(&self.forecasts[forecast]), &self.labels).unwrap()
    }
}

/// The 95 % interval of a score of the summed matrix.
fn interval(bootstrap: &Bootstrap<'_>, counts: &[Confusion], score: &Score) -> (f64, f64) {
    bootstrap.scores_of_counts(counts, std::slice::from_ref(score)).unwrap()[0].interval(0.95).unwrap()
}

#[test]
fn intervals_from_a_table_of_counts_equal_intervals_from_single_forecasts_grouped_by_row() {
    for (seed, days, forecasts_per_day) in [(1, 30, 40), (2, 8, 200), (3, 200, 3)] {
        let sample = Days::new(seed, days, forecasts_per_day);
        let scores: Vec<Score> = Score::all().collect();
        let by_day = Bootstrap { resampling: Resampling::Groups(&sample.day), ..BOOTSTRAP };
        let expected = by_day.scores(&sample.rows(0), 0.6, &scores).unwrap();
        let found = BOOTSTRAP.scores_of_counts(&sample.counts(0, 0.6), &scores).unwrap();
        for ((score, found), expected) in scores.iter().zip(found).zip(expected) {
            assert_eq!(found.undefined(), expected.undefined(), "{score}");
            for (found, expected) in found.values().iter().zip(expected.values()) {
                assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{score}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn grouping_the_rows_of_a_table_gives_the_same_intervals_as_grouping_the_single_forecasts() {
    let sample = Days::new(4, 60, 20);
    let week = |day: u32| day / 7;
    let (weeks, weeks_of_forecasts): (Vec<u32>, Vec<u32>) =
        ((0..60).map(week).collect(), sample.day.iter().map(|day| week(*day)).collect());
    let of_forecasts = Bootstrap { resampling: Resampling::Groups(&weeks_of_forecasts), ..BOOTSTRAP };
    let of_rows = Bootstrap { resampling: Resampling::Groups(&weeks), ..BOOTSTRAP };
    for name in ["tss", "csi", "hss", "bias"] {
        let expected = of_forecasts.scores(&sample.rows(1), 0.6, &[score(name)]).unwrap()[0].interval(0.95).unwrap();
        let found = interval(&of_rows, &sample.counts(1, 0.6), &score(name));
        assert!((found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9, "{found:?}, {expected:?}");
    }
}

#[test]
fn rows_without_forecasts_and_the_order_of_rows_do_not_change_intervals() {
    let mut counts = Days::new(5, 25, 30).counts(0, 0.6);
    let before = interval(&BOOTSTRAP, &counts, &score("tss"));
    counts.reverse();
    counts.insert(7, Confusion::default());
    counts.push(Confusion::default());
    let after = interval(&BOOTSTRAP, &counts, &score("tss"));
    assert!((before.0 - after.0).abs() < 1e-9 && (before.1 - after.1).abs() < 1e-9, "{before:?}, {after:?}");
}

#[test]
fn resampling_blocks_of_days_gives_wider_intervals_if_good_and_bad_days_come_in_sequences() {
    // The probability that a bad day follows a good day is 0.1, and so is the probability that a good day follows a bad day.
    let (mut random, mut is_good) = (Random(12), true);
    let mut day = || {
        is_good ^= random.uniform() < 0.1;
        if is_good { Confusion::new(80.0, 2.0, 1.0, 9.0) } else { Confusion::new(70.0, 12.0, 6.0, 4.0) }
    };
    let counts: Vec<Confusion> = (0..300).map(|_| day()).collect();
    let width = |resampling| {
        let (low, high) = interval(&Bootstrap { resampling, ..BOOTSTRAP }, &counts, &score("csi"));
        high - low
    };
    let (rows, ten, auto) = (
        width(Resampling::Poisson),
        width(Resampling::Blocks(BlockLength::Rows(10))),
        width(Resampling::Blocks(BlockLength::Auto)),
    );
    assert!(ten > 1.8 * rows && auto > 1.8 * rows, "{rows}, {ten}, {auto}");
    assert_eq!(width(Resampling::Blocks(BlockLength::Rows(1))), rows);
    let automatic = Bootstrap { resampling: Resampling::Blocks(BlockLength::Auto), ..BOOTSTRAP };
    let chosen = automatic.with_block_length_of_counts(&counts, &score("csi")).unwrap().resampling;
    assert!(matches!(chosen, Resampling::Blocks(BlockLength::Rows(3..=66))), "{chosen}");
    assert_eq!(width(chosen), auto);
}

#[test]
fn intervals_of_a_score_and_of_a_score_difference_contain_the_true_value_for_about_95_percent_of_tables() {
    let (tss, tables) = (score("tss"), 400);
    let value = |counts: &[Confusion]| tss.checked(&sum_of_counts(counts).unwrap()).unwrap();
    // The true scores are computed from a table that is much longer than the sampled tables.
    let all = Days::new(1000, 20_000, 25);
    let truth = [0, 1].map(|forecast| value(&all.counts(forecast, 0.6)));
    let bootstrap = Bootstrap { replicates: 400, ..BOOTSTRAP };
    let mut contained = [0, 0];
    for table in 0..tables {
        let sample = Days::new(table, 30, 25);
        let counts = [0, 1].map(|forecast| sample.counts(forecast, 0.6));
        let pair = &bootstrap.paired_counts(&counts[0], &counts[1], std::slice::from_ref(&tss)).unwrap()[0];
        let contains = |(low, high): (f64, f64), truth: f64| usize::from(low <= truth && truth <= high);
        contained[0] += contains(pair.first.interval(0.95).unwrap(), truth[0]);
        contained[1] += contains(pair.difference.interval(0.95).unwrap(), truth[0] - truth[1]);
    }
    // If the true share is 95 %, the share of 400 random tables has a standard error of 1.1 percentage points.
    for share in contained.map(|count| count as f64 / tables as f64) {
        assert!((0.92..=0.98).contains(&share), "{contained:?} of {tables}");
    }
}

#[test]
fn the_interval_of_a_score_difference_from_counts_is_close_to_that_from_single_forecasts() {
    let sample = Days::new(8, 150, 20);
    let by_day = Bootstrap { resampling: Resampling::Groups(&sample.day), replicates: 4000, seed: 1 };
    let scores = ["tss", "csi", "hss", "far"].map(score);
    let expected = by_day.paired(&sample.rows(0), Probabilities(&sample.forecasts[1]), (0.6, 0.6), &scores).unwrap();
    let by_row = Bootstrap { resampling: Resampling::Poisson, ..by_day };
    let counts = [0, 1].map(|forecast| sample.counts(forecast, 0.6));
    let found = by_row.paired_counts(&counts[0], &counts[1], &scores).unwrap();
    for ((score, found), expected) in scores.iter().zip(found).zip(expected) {
        let ((low, high), (expected_low, expected_high)) =
            (found.difference.interval(0.95).unwrap(), expected.difference.interval(0.95).unwrap());
        let width = expected_high - expected_low;
        assert!(
            (low - expected_low).abs() < 0.1 * width && (high - expected_high).abs() < 0.1 * width,
            "{score}: {low} to {high}, expected {expected_low} to {expected_high}"
        );
        // The replicates of the score of a single system are the same for counts and for single forecasts, except for rounding.
        for (found, expected) in [(&found.first, &expected.first), (&found.second, &expected.second)] {
            let ends = |interval: Option<(f64, f64)>| interval.unwrap();
            assert!((ends(found.interval(0.95)).0 - ends(expected.interval(0.95)).0).abs() < 1e-9);
        }
    }
}

#[test]
fn the_score_difference_of_two_equal_tables_is_0_in_every_replicate() {
    let counts = Days::new(9, 40, 20).counts(0, 0.6);
    let pair = &BOOTSTRAP.paired_counts(&counts, &counts, &[score("csi")]).unwrap()[0];
    assert!(pair.difference.values().iter().all(|difference| *difference == 0.0));
    assert_eq!((pair.first_better, pair.second_better), (0, 0));
    assert_eq!(pair.first, BOOTSTRAP.scores_of_counts(&counts, &[score("csi")]).unwrap()[0]);
}

#[cfg(feature = "rayon")]
#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    let sample = Days::new(10, 40, 20);
    let counts = [0, 1].map(|forecast| sample.counts(forecast, 0.6));
    let run = || BOOTSTRAP.paired_counts(&counts[0], &counts[1], &[score("hss")]).unwrap();
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(run);
    assert_eq!(single, run());
}

#[test]
fn the_interval_of_a_single_row_is_wide_and_scores_of_empty_counts_are_undefined() {
    let row = Confusion::new(900.0, 20.0, 10.0, 70.0);
    let (low, high) = interval(&BOOTSTRAP, &[row], &score("tss"));
    assert!(high - low > 0.7, "{low} to {high}");
    for length in [BlockLength::Auto, BlockLength::Rows(1), BlockLength::Rows(9)] {
        let in_blocks = Bootstrap { resampling: Resampling::Blocks(length), ..BOOTSTRAP };
        assert_eq!(interval(&in_blocks, &[row], &score("tss")), (low, high));
    }
    let empty = BOOTSTRAP.scores_of_counts(&[Confusion::default(); 3], &[score("tss")]).unwrap();
    assert_eq!((empty[0].undefined(), empty[0].interval(0.95)), (1000, None));
    let pair = &BOOTSTRAP.paired_counts(&[row], &[Confusion::default()], &[score("tss")]).unwrap()[0];
    assert_eq!(pair.difference.undefined(), 1000);
}

#[test]
fn the_width_of_an_interval_depends_on_the_differences_between_rows_and_not_on_the_size_of_the_counts() {
    let counts = Days::new(11, 30, 40).counts(0, 0.6);
    let scaled_by = |factor: f64| {
        let scaled = |counts: &Confusion| {
            Confusion::new(factor * counts.tn, factor * counts.fp, factor * counts.fn_, factor * counts.tp)
        };
        interval(&BOOTSTRAP, &counts.iter().map(scaled).collect::<Vec<_>>(), &score("tss"))
    };
    let ((low, high), (scaled_low, scaled_high)) = (scaled_by(1.0), scaled_by(2.25));
    // The intervals differ slightly, because half a forecast is added to each cell before the derivatives are computed. The larger the counts are,
    // the less this half matters.
    let tolerance = 0.05 * (high - low);
    assert!(
        (low - scaled_low).abs() < tolerance && (high - scaled_high).abs() < tolerance,
        "interval {low} to {high}, for larger counts {scaled_low} to {scaled_high}"
    );
    // The effective number of forecasts is limited by the sum of the counts, so the interval is much wider if the counts are small.
    let (few_low, few_high) = scaled_by(0.02);
    assert!(few_high - few_low > 2.0 * (high - low), "the interval for small counts is {few_low} to {few_high}");
}

#[test]
fn invalid_counts_and_settings_are_rejected() {
    let refused = |cell: f64| sum_of_counts(&[Confusion::default(), Confusion::new(1.0, cell, 0.0, 2.0)]).unwrap_err();
    assert_eq!(refused(-2.0).to_string(), "counts, row 1: -2 is not a finite number at or above 0");
    assert_eq!(refused(f64::NAN), Error::NotANumber { what: "counts", row: 1 });
    assert!(matches!(refused(f64::INFINITY), Error::OutOfRange { row: 1, .. }));
    assert_eq!(sum_of_counts(&[]), Err(Error::Empty));
    let huge = Confusion::new(f64::MAX, 1.0, 1.0, 1.0);
    assert!(sum_of_counts(&[huge, huge]).unwrap_err().to_string().contains("too large"));
    let counts = [Confusion::new(1.0, 1.0, 1.0, 1.0); 2];
    let stratified = Bootstrap { resampling: Resampling::Stratified, ..BOOTSTRAP };
    assert!(stratified.scores_of_counts(&counts, &[score("f1")]).is_err());
    let error = BOOTSTRAP.paired_counts(&counts, &counts[..1], &[score("f1")]).unwrap_err();
    assert_eq!(error.to_string(), "wrong number of rows in the second forecast: 1, expected 2");
    let groups = Bootstrap { resampling: Resampling::Groups(&[0]), ..BOOTSTRAP };
    assert!(groups.scores_of_counts(&counts, &[score("f1")]).is_err());
}
