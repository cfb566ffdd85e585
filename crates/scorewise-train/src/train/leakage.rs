//! Looks for signs of leakage: inputs that reveal the target, and test rows that the model was trained on. Each of these signs can have a
//! legitimate reason, so they are reported as notes and not as errors.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use scorewise_table::Matrix;
use scorewise_table::Note;
use scorewise_table::encode::Encoder;
use scorewise_table::setting::Setting;
use scorewise_table::table::{Category, Table, Values};
use scorewise_table::target::{Labels, Target};

/// Maximum number of training rows that are examined for leakage.
const MAX_EXAMINED_ROWS: usize = 100_000;
/// A column is reported only if the rarer class has at least this many rows. With fewer rows, a column may separate the classes by chance.
const MIN_ROWS_OF_RARER_CLASS: usize = 20;
/// A numeric column is reported if its area under the ROC curve is greater than this. Legitimate inputs can come close: in the pollution data,
/// the particulate matter of the current hour, which is a natural predictor for the next hour, reaches 0.99.
const MIN_ROC_AREA: f64 = 0.999;
/// A categorical column is reported if predicting the class from the level of the column makes few errors: at most this share of the errors that are
/// made if the most frequent class is always predicted.
const MAX_ERROR_SHARE: f64 = 0.005;
/// A numeric column with at most this many different values is also examined as a categorical column.
const MAX_LEVELS: usize = 64;
/// The levels of a column are examined only if they have at least this many rows on average, because a level with a single row always determines the
/// class of that row.
const MIN_ROWS_PER_LEVEL: usize = 20;
/// Test rows that are equal to training rows are reported only if they are more than this share of the test rows.
const MIN_REPEATED_SHARE: f64 = 0.01;

/// A note for each input column that alone predicts the target almost perfectly on the training rows. If the target is a later row, the current
/// value of the target's column is known when the forecast is made, so that column is not examined.
pub(super) fn leaking_columns(
    table: &Table,
    target: &Target,
    labels: &Labels,
    encoder: &Encoder,
    training: &[u32],
) -> Vec<Note> {
    let is_examined = |name: &str| {
        let is_input = encoder.inputs.iter().any(|input| input.lag == 0 && input.column == name);
        is_input && !(target.lead > 0 && target.column == name)
    };
    let step = training.len().div_ceil(MAX_EXAMINED_ROWS).max(1);
    let rows: Vec<u32> = training.iter().step_by(step).copied().collect();
    let classes: Vec<u32> = rows.iter().map(|row| labels.classes[*row as usize]).collect();
    let notes = table.columns.iter().filter(|column| is_examined(&column.name)).filter_map(|column| {
        let evidence = separation_by_order(&column.values, &rows, &classes, labels.names.len())
            .or_else(|| separation_by_levels(&column.values, &rows, &classes, labels.names.len()))?;
        let hint = format!(
            "is this column known when the forecast is made? `{}` leaves it out",
            Setting("drop").to(&column.name)
        );
        Some(Note::about_column(
            &column.name,
            format!("alone predicts the target almost perfectly ({evidence}): {hint}"),
        ))
    });
    notes.collect()
}

/// If the values of one class in a numeric column are almost all above or almost all below the values of the other classes, returns the evidence in
/// words; otherwise `None`.
fn separation_by_order(values: &Values, rows: &[u32], classes: &[u32], n_classes: usize) -> Option<String> {
    let Values::Number(values) = values else { return None };
    let mut known: Vec<(f64, u32)> = rows
        .iter()
        .zip(classes)
        .map(|(row, class)| (values[*row as usize], *class))
        .filter(|(value, _)| !value.is_nan())
        .collect();
    if 2 * known.len() < rows.len() {
        return None;
    }
    known.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut totals = vec![0usize; n_classes];
    known.iter().for_each(|(_, class)| totals[*class as usize] += 1);
    // `pairs` counts, for each class, the pairs of a row of this class and a row of another class with a lower value. Pairs with equal values
    // count one half.
    let (mut pairs, mut below, mut all_below) = (vec![0.0; n_classes], vec![0usize; n_classes], 0);
    let mut tied: Vec<usize> = vec![0; n_classes];
    for equal in known.chunk_by(|a, b| a.0 == b.0) {
        equal.iter().for_each(|(_, class)| tied[*class as usize] += 1);
        for (_, class) in equal {
            let class = *class as usize;
            pairs[class] += (all_below - below[class]) as f64 + (equal.len() - tied[class]) as f64 / 2.0;
        }
        for (_, class) in equal {
            below[*class as usize] += 1;
            tied[*class as usize] = 0;
        }
        all_below += equal.len();
    }
    // With two classes, the ROC area of the first class is determined by that of the second, so only the second is examined.
    (usize::from(n_classes == 2)..n_classes).find_map(|class| {
        let (members, others) = (totals[class], known.len() - totals[class]);
        if members.min(others) < MIN_ROWS_OF_RARER_CLASS {
            return None;
        }
        let area = pairs[class] / (members as f64 * others as f64);
        let area = area.max(1.0 - area);
        (area > MIN_ROC_AREA).then(|| format!("ROC area {area:.4}"))
    })
}

/// If the levels of a column, as [`level_of_each_row`] defines them, almost perfectly determine the class, returns the evidence in words;
/// otherwise `None`.
fn separation_by_levels(values: &Values, rows: &[u32], classes: &[u32], n_classes: usize) -> Option<String> {
    let levels = level_of_each_row(values, rows);
    let n_levels = levels.iter().max().map_or(0, |most| *most as usize + 1);
    if n_levels < 2 || rows.len() < MIN_ROWS_PER_LEVEL * n_levels {
        return None;
    }
    let mut pairs: Vec<(u32, u32)> = levels.into_iter().zip(classes.iter().copied()).collect();
    pairs.sort_unstable();
    let most_frequent = |rows: &[(u32, u32)]| rows.chunk_by(|a, b| a.1 == b.1).map(<[_]>::len).max().unwrap_or(0);
    let correct: usize = pairs.chunk_by(|a, b| a.0 == b.0).map(most_frequent).sum();
    let mut counts = vec![0usize; n_classes];
    classes.iter().for_each(|class| counts[*class as usize] += 1);
    let (wrong, wrong_without) = (rows.len() - correct, rows.len() - counts.iter().max().copied().unwrap_or(0));
    let is_perfect = wrong_without >= MIN_ROWS_OF_RARER_CLASS && wrong as f64 <= MAX_ERROR_SHARE * wrong_without as f64;
    is_perfect.then(|| match wrong {
        0 => format!("its values determine the class of all {} rows", rows.len()),
        _ => format!("its values determine the class of all but {wrong} of {} rows", rows.len()),
    })
}

/// The level of each row, counted from 0. In categorical and boolean columns, and in numeric columns with few different values, every value is a
/// level. In other columns, the level says only whether the value is missing.
fn level_of_each_row(values: &Values, rows: &[u32]) -> Vec<u32> {
    let is_missing = |row: &u32| u32::from(values.is_missing(*row as usize));
    match values {
        Values::Category(category) => {
            // Levels are numbered in the order in which they first occur in `rows`; levels that do not occur get no number.
            let mut numbers = vec![Category::MISSING; category.levels.len() + 1];
            let mut next = 0;
            let code = |row: &u32| (category.codes[*row as usize] as usize).min(category.levels.len());
            rows.iter()
                .map(|row| {
                    let number = &mut numbers[code(row)];
                    if *number == Category::MISSING {
                        *number = next;
                        next += 1;
                    }
                    *number
                })
                .collect()
        }
        Values::Boolean(values) => {
            let level = |row: &u32| values[*row as usize].map_or(2, u32::from);
            rows.iter().map(level).collect()
        }
        Values::Number(numbers) => {
            let mut different: Vec<f64> = Vec::new();
            for row in rows {
                let number = numbers[*row as usize];
                if let Err(index) = different.binary_search_by(|other| other.total_cmp(&number)) {
                    if different.len() == MAX_LEVELS {
                        return rows.iter().map(is_missing).collect();
                    }
                    different.insert(index, number);
                }
            }
            let level = |number: f64| different.partition_point(|other| other.total_cmp(&number).is_lt()) as u32;
            rows.iter().map(|row| level(numbers[*row as usize])).collect()
        }
        Values::Time(_) => rows.iter().map(is_missing).collect(),
    }
}

/// A hash of each of the given rows. Rows with the same inputs and the same target have equal hashes.
pub(super) fn fingerprints(matrix: &Matrix, labels: &[u32], rows: &[u32]) -> Vec<u64> {
    let mut bytes = Vec::with_capacity(4 * matrix.columns());
    let fingerprint = |row: &u32| {
        bytes.clear();
        // Adding 0 turns −0 into 0.
        matrix.row(*row as usize).iter().for_each(|x| bytes.extend((x + 0.0).to_bits().to_le_bytes()));
        xxh3_64_with_seed(&bytes, u64::from(labels[*row as usize]))
    };
    rows.iter().map(fingerprint).collect()
}

/// A note if more test rows are equal to training rows than chance explains. `training` and `test` contain one hash for each row.
///
/// In a table with a few categorical columns many rows are equal by chance, which is no problem. Copied rows differ from rows that are equal by
/// chance in two ways. If the test table overlaps with the training table, test rows are equal to training rows far more often than training rows are
/// equal to each other. If the table contains repeated rows, more rows occur exactly twice, three times and so on than among rows drawn at random.
pub(super) fn repeated_rows(training: &[u64], test: &[u64]) -> Option<Note> {
    let mut sorted = training.to_vec();
    sorted.sort_unstable();
    let repeated = test.iter().filter(|row| sorted.binary_search(row).is_ok()).count();
    let share = repeated as f64 / test.len().max(1) as f64;
    if repeated < 5 || share <= MIN_REPEATED_SHARE {
        return None;
    }
    let duplicates: usize = sorted.chunk_by(|a, b| a == b).map(<[_]>::len).filter(|size| *size > 1).sum();
    let duplicate_share = duplicates as f64 / sorted.len() as f64;
    if share <= 2.0 * duplicate_share + MIN_REPEATED_SHARE && unexplained_share(&sorted, test) <= MIN_REPEATED_SHARE {
        return None;
    }
    let text = format!(
        "{repeated} of {} test rows ({:.1} %) are equal to rows that the model was trained on, in all inputs and in the target, so the test \
         scores are too good; remove duplicate rows, or keep them together with `{}`",
        test.len(),
        100.0 * share,
        Setting("split").to("group:COLUMN")
    );
    Some(Note::new(text))
}

/// The share of all rows that are repeated more often than chance explains.
///
/// Let f₁, f₂, … be the numbers of distinct rows that occur once, twice, …. If rows are drawn independently from any distribution, the
/// expected values satisfy k f_k² ≤ (k + 1) f_{k−1} f_{k+1} (Cauchy–Schwarz for a mixture of Poisson distributions). So chance does not
/// produce many pairs of equal rows without some triples. To avoid false alarms, three standard errors are subtracted from f_k and added to
/// f_{k−1} and f_{k+1}.
fn unexplained_share(sorted: &[u64], test: &[u64]) -> f64 {
    let mut all = [sorted, test].concat();
    all.sort_unstable();
    let mut distinct = [0.0; 10];
    for equal in all.chunk_by(|a, b| a == b) {
        if let Some(count) = distinct.get_mut(equal.len()) {
            *count += 1.0;
        }
    }
    let upper_bound = |count: f64| count + 3.0 * (count + 1.0_f64).sqrt();
    let unexplained = |times: usize| {
        let neighbours = upper_bound(distinct[times - 1]) * upper_bound(distinct[times + 1]);
        let explained = ((times + 1) as f64 / times as f64 * neighbours).sqrt();
        times as f64 * (distinct[times] - 3.0 * distinct[times].sqrt() - explained).max(0.0)
    };
    (2..distinct.len() - 1).map(unexplained).sum::<f64>() / all.len() as f64
}

#[cfg(test)]
mod tests {
    use scorewise::{Purpose, stream};

    use super::*;

    /// A random number below `below` that depends only on `number`.
    fn random_below(number: u64, below: u64) -> u64 {
        stream(1, Purpose::Split, number) % below
    }

    #[test]
    fn copied_rows_are_reported_and_rows_that_are_equal_by_chance_are_not() {
        for values in [3u64, 50, 1000, 20_000, 1_000_000, u64::MAX] {
            let rows: Vec<u64> = (0..20_000).map(|row| random_below(row, values)).collect();
            // The rows are drawn independently, so they are equal only by chance, whatever the number of different values is.
            assert_eq!(repeated_rows(&rows[..15_000], &rows[15_000..]), None, "{values} values");
        }
        // Some rows are much more frequent than others, as in the Adult table without its column of sampling weights.
        let skewed: Vec<u64> =
            (0..20_000).map(|row| random_below(row, 1 + random_below(row + 50_000, 40_000))).collect();
        assert_eq!(repeated_rows(&skewed[..15_000], &skewed[15_000..]), None);
        // Every row occurs twice, and the order is random, so about three quarters of the test rows have a copy in the training rows.
        let mut doubled: Vec<(u64, u64)> = (0..20_000).map(|row| (random_below(row, u64::MAX), row / 2)).collect();
        doubled.sort_unstable();
        let doubled: Vec<u64> = doubled.into_iter().map(|(_, row)| row).collect();
        let note = repeated_rows(&doubled[..15_000], &doubled[15_000..]).unwrap().to_string();
        assert!(note.contains(" of 5000 test rows (7"), "{note}");
        // With only 300 different values, most test rows are equal to a training row by chance.
        let rows: Vec<u64> = (0..1000).map(|row| random_below(row, 300)).collect();
        assert_eq!(repeated_rows(&rows[..700], &rows[700..]), None);
        // The test table contains rows of the training table.
        let different: Vec<u64> = (0..1000).collect();
        assert!(repeated_rows(&different, &different[900..]).is_some());
        assert_eq!(repeated_rows(&different[..500], &different[500..]), None);
        assert_eq!(repeated_rows(&[], &[]), None);
    }
}
