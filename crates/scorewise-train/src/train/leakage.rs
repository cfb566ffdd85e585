//! Signs of leakage: inputs that know the target, and test rows that were learnt from. They are told as notes, since both can be right.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use scorewise_table::Matrix;
use scorewise_table::Note;
use scorewise_table::encode::Encoder;
use scorewise_table::setting::Setting;
use scorewise_table::table::{Category, Table, Values};
use scorewise_table::target::{Labels, Target};

/// Rows of a column that are looked at, at the most.
const MOST_ROWS: usize = 100_000;
/// Rows of the rarer class below which a perfect column may be one by chance.
const LEAST_EVENTS: usize = 20;
/// The area under the ROC curve beyond which a number is said to know the target. The dust of this hour, by which everybody would forecast that of the
/// next, reaches 0.99.
const AREA: f64 = 0.999;
/// The share of the errors of the most frequent class that may remain where levels are said to know the target.
const REMAINING: f64 = 0.005;
/// A number with no more different values is also looked at value by value.
const MOST_LEVELS: usize = 64;
/// Rows that a level must have on average, for a level of a single row always knows its class.
const ROWS_OF_A_LEVEL: usize = 20;
/// The share of test rows that must be known from training before it is told.
const NOTABLE: f64 = 0.01;

/// A note for each input that alone predicts the target almost perfectly on the training rows. With a lead, the target's own column is known when the
/// forecast is made and is not looked at.
pub(super) fn columns(
    table: &Table,
    target: &Target,
    labels: &Labels,
    encoder: &Encoder,
    training: &[u32],
) -> Vec<Note> {
    let is_looked_at = |name: &str| {
        let is_input = encoder.inputs.iter().any(|input| input.lag == 0 && input.column == name);
        is_input && !(target.lead > 0 && target.column == name)
    };
    let step = training.len().div_ceil(MOST_ROWS).max(1);
    let rows: Vec<u32> = training.iter().step_by(step).copied().collect();
    let classes: Vec<u32> = rows.iter().map(|row| labels.classes[*row as usize]).collect();
    let found = table.columns.iter().filter(|column| is_looked_at(&column.name)).filter_map(|column| {
        let how = by_order(&column.values, &rows, &classes, labels.names.len())
            .or_else(|| by_levels(&column.values, &rows, &classes, labels.names.len()))?;
        let cure =
            format!("is it known when the forecast is made? `{}` leaves it out", Setting("drop").to(&column.name));
        Some(Note::of(&column.name, format!("alone predicts the target almost perfectly ({how}): {cure}")))
    });
    found.collect()
}

/// How well the order of numbers tells one class from the others, where that is almost perfectly.
fn by_order(values: &Values, rows: &[u32], classes: &[u32], n_classes: usize) -> Option<String> {
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
    // For each class, pairs of one of its rows and one of another class with a lower value; equal values count half.
    let (mut pairs, mut below, mut all_below) = (vec![0.0; n_classes], vec![0usize; n_classes], 0);
    let mut here: Vec<usize> = vec![0; n_classes];
    for equal in known.chunk_by(|a, b| a.0 == b.0) {
        equal.iter().for_each(|(_, class)| here[*class as usize] += 1);
        for (_, class) in equal {
            let class = *class as usize;
            pairs[class] += (all_below - below[class]) as f64 + (equal.len() - here[class]) as f64 / 2.0;
        }
        for (_, class) in equal {
            below[*class as usize] += 1;
            here[*class as usize] = 0;
        }
        all_below += equal.len();
    }
    // Of two classes one says it all.
    (usize::from(n_classes == 2)..n_classes).find_map(|class| {
        let (members, others) = (totals[class], known.len() - totals[class]);
        if members.min(others) < LEAST_EVENTS {
            return None;
        }
        let area = pairs[class] / (members as f64 * others as f64);
        let area = area.max(1.0 - area);
        (area > AREA).then(|| format!("ROC area {area:.4}"))
    })
}

/// How well single values, or that a value is missing, tell the classes apart, where that is almost perfectly.
fn by_levels(values: &Values, rows: &[u32], classes: &[u32], n_classes: usize) -> Option<String> {
    let levels = levels(values, rows);
    let n_levels = levels.iter().max().map_or(0, |most| *most as usize + 1);
    if n_levels < 2 || rows.len() < ROWS_OF_A_LEVEL * n_levels {
        return None;
    }
    let mut pairs: Vec<(u32, u32)> = levels.into_iter().zip(classes.iter().copied()).collect();
    pairs.sort_unstable();
    let most_frequent = |rows: &[(u32, u32)]| rows.chunk_by(|a, b| a.1 == b.1).map(<[_]>::len).max().unwrap_or(0);
    let right: usize = pairs.chunk_by(|a, b| a.0 == b.0).map(most_frequent).sum();
    let mut counts = vec![0usize; n_classes];
    classes.iter().for_each(|class| counts[*class as usize] += 1);
    let (wrong, wrong_without) = (rows.len() - right, rows.len() - counts.iter().max().copied().unwrap_or(0));
    let is_perfect = wrong_without >= LEAST_EVENTS && wrong as f64 <= REMAINING * wrong_without as f64;
    is_perfect.then(|| match wrong {
        0 => format!("its values settle the class of all {} rows", rows.len()),
        _ => format!("its values settle the class of all but {wrong} of {} rows", rows.len()),
    })
}

/// A level for each row, counted from 0: texts, yes and no, numbers where there are few of them; else whether there is a value.
fn levels(values: &Values, rows: &[u32]) -> Vec<u32> {
    let is_missing = |row: &u32| u32::from(values.is_missing(*row as usize));
    match values {
        Values::Category(category) => {
            // Only levels that these rows have are counted.
            let mut place = vec![Category::MISSING; category.levels.len() + 1];
            let mut found = 0;
            let code = |row: &u32| (category.codes[*row as usize] as usize).min(category.levels.len());
            rows.iter()
                .map(|row| {
                    let place = &mut place[code(row)];
                    if *place == Category::MISSING {
                        *place = found;
                        found += 1;
                    }
                    *place
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
                if let Err(place) = different.binary_search_by(|other| other.total_cmp(&number)) {
                    if different.len() == MOST_LEVELS {
                        return rows.iter().map(is_missing).collect();
                    }
                    different.insert(place, number);
                }
            }
            let level = |number: f64| different.partition_point(|other| other.total_cmp(&number).is_lt()) as u32;
            rows.iter().map(|row| level(numbers[*row as usize])).collect()
        }
        Values::Time(_) => rows.iter().map(is_missing).collect(),
    }
}

/// A number for each of these rows, the same for rows that are equal in all inputs and in the target.
pub(super) fn fingerprints(matrix: &Matrix, labels: &[u32], rows: &[u32]) -> Vec<u64> {
    let mut bytes = Vec::with_capacity(4 * matrix.columns());
    let fingerprint = |row: &u32| {
        bytes.clear();
        // −0 is 0.
        matrix.row(*row as usize).iter().for_each(|x| bytes.extend((x + 0.0).to_bits().to_le_bytes()));
        xxh3_64_with_seed(&bytes, u64::from(labels[*row as usize]))
    };
    rows.iter().map(fingerprint).collect()
}

/// A note where more test rows equal rows that the model has learnt from than chance would make equal.
///
/// In a table of a few categories many rows are equal, and that is no fault. Two signs tell rows that were copied from rows that are alike: the
/// test rows are found among the learnt ones far more often than these are found among each other (a test table that overlaps), or more rows come exactly
/// twice, three times … than rows drawn at random would (a table with repeated rows).
pub(super) fn known_rows(learnt: &[u64], test: &[u64]) -> Option<Note> {
    let mut sorted = learnt.to_vec();
    sorted.sort_unstable();
    let known = test.iter().filter(|row| sorted.binary_search(row).is_ok()).count();
    let share = known as f64 / test.len().max(1) as f64;
    if known < 5 || share <= NOTABLE {
        return None;
    }
    let twins: usize = sorted.chunk_by(|a, b| a == b).map(<[_]>::len).filter(|size| *size > 1).sum();
    let share_of_twins = twins as f64 / sorted.len() as f64;
    if share <= 2.0 * share_of_twins + NOTABLE && repeated_share(&sorted, test) <= NOTABLE {
        return None;
    }
    let text = format!(
        "{known} of {} test rows ({:.1} %) equal rows that were learnt from, in all inputs and in the target: their scores are too good; \
         take out rows that are there twice, or keep them in one part with `{}`",
        test.len(),
        100.0 * share,
        Setting("split").to("group:COLUMN")
    );
    Some(Note::new(text))
}

/// The share of all rows that come k times beyond what chance explains.
///
/// Where rows are drawn independently, whatever their law, the numbers f₁, f₂, … of different rows that come once, twice … have expectations with
/// k f_k² ≤ (k + 1) f_{k−1} f_{k+1} (Cauchy and Schwarz, for a mixture of Poisson laws): many pairs without triples are no chance. Counts are taken
/// three standard errors to the side of chance.
fn repeated_share(sorted: &[u64], test: &[u64]) -> f64 {
    let mut all = [sorted, test].concat();
    all.sort_unstable();
    let mut different = [0.0; 10];
    for equal in all.chunk_by(|a, b| a == b) {
        if let Some(count) = different.get_mut(equal.len()) {
            *count += 1.0;
        }
    }
    let at_most = |count: f64| count + 3.0 * (count + 1.0_f64).sqrt();
    let unexplained = |times: usize| {
        let beside = at_most(different[times - 1]) * at_most(different[times + 1]);
        let explained = ((times + 1) as f64 / times as f64 * beside).sqrt();
        times as f64 * (different[times] - 3.0 * different[times].sqrt() - explained).max(0.0)
    };
    (2..different.len() - 1).map(unexplained).sum::<f64>() / all.len() as f64
}

#[cfg(test)]
mod tests {
    use scorewise::{Purpose, stream};

    use super::*;

    /// Numbers that look like chance, below a limit.
    fn dice(number: u64, below: u64) -> u64 {
        stream(1, Purpose::Split, number) % below
    }

    #[test]
    fn rows_of_a_few_categories_are_alike_and_copied_rows_are_not() {
        for kinds in [3u64, 50, 1000, 20_000, 1_000_000, u64::MAX] {
            let rows: Vec<u64> = (0..20_000).map(|at| dice(at, kinds)).collect();
            // Independent rows, whatever their number of kinds.
            assert_eq!(known_rows(&rows[..15_000], &rows[15_000..]), None, "{kinds} kinds");
        }
        // Of very unlike frequencies, as in Adult without its weights.
        let skewed: Vec<u64> = (0..20_000).map(|at| dice(at, 1 + dice(at + 50_000, 40_000))).collect();
        assert_eq!(known_rows(&skewed[..15_000], &skewed[15_000..]), None);
        // Every row twice, in random order: three quarters of the test rows have their copy among the others.
        let mut doubled: Vec<(u64, u64)> = (0..20_000).map(|at| (dice(at, u64::MAX), at / 2)).collect();
        doubled.sort_unstable();
        let doubled: Vec<u64> = doubled.into_iter().map(|(_, row)| row).collect();
        let note = known_rows(&doubled[..15_000], &doubled[15_000..]).unwrap().to_string();
        assert!(note.contains(" of 5000 test rows (7"), "{note}");
        // A test table that holds rows of the first.
        let rows: Vec<u64> = (0..1000).map(|at| dice(at, 300)).collect();
        assert_eq!(known_rows(&rows[..700], &rows[700..]), None);
        let different: Vec<u64> = (0..1000).collect();
        assert!(known_rows(&different, &different[900..]).is_some());
        assert_eq!(known_rows(&different[..500], &different[500..]), None);
        assert_eq!(known_rows(&[], &[]), None);
    }
}
