//! Conditions with a confidence: which thresholds qualify, in which order they are tested, and what is said if none does.

use scorewise::sweep::{BlockLength, Bootstrap, Condition, Guarantee, Resampling, TestMethod, sweep};
use scorewise::{Confusion, Probabilities, Rows, Score};

use crate::common::{Batch, Random};

/// A bootstrap of independent rows.
const INDEPENDENT: Bootstrap<'static> = Bootstrap { resampling: Resampling::Poisson, replicates: 400, seed: 3 };

fn score(text: &str) -> Score {
    Score::parse(text).unwrap()
}

fn conditions(text: &str) -> Vec<Condition> {
    Condition::parse(text).unwrap()
}

/// A forecast with some skill: the predictions and the labels of its rows.
fn forecast(rows: usize, seed: u64) -> (Vec<f64>, Vec<bool>) {
    let mut random = Random(seed);
    let predictions: Vec<f64> = (0..rows).map(|_| random.uniform()).collect();
    let labels = predictions.iter().map(|p| random.uniform() < p * p).collect();
    (predictions, labels)
}

/// Tests at which thresholds the conditions in `text` hold for these predictions and labels. All rows count as independent.
fn guarantee(predictions: &[f64], labels: &[bool], text: &str) -> Guarantee {
    let rows = Rows::new(Probabilities(predictions), labels).unwrap();
    INDEPENDENT.guarantee(&rows, &conditions(text)).unwrap().unwrap()
}

/// The probability of at least `at_least` successes in `trials` independent trials, each with the success probability `share`.
fn tail(at_least: usize, trials: usize, share: f64) -> f64 {
    let mut terms = vec![0.0; trials + 1];
    terms[0] = 1.0;
    for trial in 0..trials {
        for successes in (0..=trial).rev() {
            terms[successes + 1] += terms[successes] * share;
            terms[successes] *= 1.0 - share;
        }
    }
    terms[at_least..].iter().sum()
}

#[test]
fn confidences_and_numbers_of_alarms_are_parsed_and_mistakes_are_explained() {
    let parsed =
        conditions("precision >= 0.3 and recall > 0.5 with 95%, far <= 0.5 with 90 % and alarms <= 50 per 1000 rows");
    let texts: Vec<_> = parsed.iter().map(|condition| (condition.text(), condition.confidence())).collect();
    assert_eq!(
        texts,
        [
            ("precision >= 0.3 with 95%", Some(0.95)),
            ("recall > 0.5 with 95%", Some(0.95)),
            ("far <= 0.5 with 90%", Some(0.9)),
            ("alarms <= 50 per 1000 rows", None),
        ]
    );
    // The text of a condition parses to the same condition.
    for condition in &parsed {
        assert_eq!(conditions(condition.text()), std::slice::from_ref(condition));
        assert_eq!(conditions(condition.without_confidence().text()), [condition.without_confidence()]);
    }
    let at_most = |text: &str, confusion: Confusion| conditions(text)[0].holds(&confusion);
    assert!(at_most("alarms <= 50 per 1000", Confusion::new(1900.0, 60.0, 0.0, 40.0)));
    assert!(!at_most("alarms <= 50 per 1000", Confusion::new(1899.0, 61.0, 0.0, 40.0)));
    assert!(at_most("alarms <= 100", Confusion::new(0.0, 60.0, 0.0, 40.0)));
    assert!(!at_most("alarms < 100", Confusion::new(0.0, 60.0, 0.0, 40.0)));
    assert!(at_most("fn <= 1 per 10", Confusion::new(9.0, 0.0, 1.0, 0.0)));
    for (text, part) in [
        ("precision >= 0.3 with 0.95", "`%` is missing"),
        ("precision >= 0.3 with", "a percentage is expected here"),
        ("precision >= 0.3 with 100%", "from 50 to below 100"),
        ("precision >= 0.3 with 5%", "from 50 to below 100"),
        ("precision = 0.3 with 95%", "only a condition with >=, >, <= or < can have a confidence"),
        ("precision >= 30%", "`%` has no meaning in a formula"),
        ("precision >= 0.3 per 1000", "only a number of rows"),
        ("alarms <= 50 per", "a number of rows above 0 is expected"),
        ("alarms <= 50 per 0", "a number of rows above 0 is expected"),
        ("alrms <= 50", "did you mean `alarms`?"),
    ] {
        let error = Condition::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    assert!(Score::parse("30%").is_err() && Score::parse("f1 with 95%").is_err());
}

#[test]
fn recall_is_tested_from_the_lowest_threshold_upwards_with_exact_binomial_probabilities() {
    let (predictions, labels) = forecast(120, 5);
    let found = guarantee(&predictions, &labels, "recall >= 0.8 with 95%");
    assert_eq!((found.tests[0].method, found.tests[0].sequences), (TestMethod::Exact, 1));
    // The thresholds that qualify reach from 0 to the first threshold at which the p-value exceeds 5 %.
    let mut sorted = predictions.clone();
    sorted.sort_by(f64::total_cmp);
    let rows = Rows::new(Probabilities(&predictions), &labels).unwrap();
    let swept = sweep(&rows).unwrap();
    let positives = labels.iter().filter(|label| **label).count();
    let passes = |threshold: f64| tail(swept.at(threshold).tp as usize, positives, 0.8) <= 0.05 + 1e-12;
    let first_failure = sorted.iter().find(|prediction| !passes(**prediction)).unwrap();
    assert!(passes(0.0));
    assert_eq!(found.thresholds, [(0.0, *first_failure)]);
}

#[test]
fn alarms_and_specificity_are_tested_from_the_highest_threshold_downwards() {
    let (predictions, labels) = forecast(400, 6);
    for text in ["alarms <= 100 per 1000 with 95%", "specificity >= 0.9 with 90%", "pofd <= 0.1 with 90%"] {
        let found = guarantee(&predictions, &labels, text);
        assert_eq!(found.tests[0].sequences, 1, "{text}");
        let [(low, high)] = found.thresholds[..] else { panic!("{text}: {:?}", found.thresholds) };
        assert!(low > 0.0 && high == 1.0, "{text}");
    }
    let found = guarantee(&predictions, &labels, "alarms <= 100 per 1000 with 95%");
    let rows = Rows::new(Probabilities(&predictions), &labels).unwrap();
    // If each of 400 rows is an alarm with a probability of 10 %, the probability of at most 29 alarms is below 5 %, and that of at most 30 is above.
    let alarms = (0..400).rev().find(|alarms| tail(400 - alarms, 400, 0.9) <= 0.05).unwrap();
    let matrix = sweep(&rows).unwrap().at(found.thresholds[0].0);
    assert_eq!(matrix.tp + matrix.fp, alarms as f64);
}

#[test]
fn the_p_value_of_a_condition_on_a_ratio_is_at_most_the_level_at_every_threshold_that_qualifies() {
    let mut random = Random(11);
    let mut qualified = 0;
    for _ in 0..60 {
        let batch = Batch::random(&mut random);
        if batch.weights.is_some() {
            continue;
        }
        let rows = batch.rows();
        let swept = sweep(&rows).unwrap();
        for (text, numerator, denominator, share) in [
            ("precision >= 0.3 with 80%", "tp", "tp + fp", 0.3),
            ("npv >= 0.6 with 80%", "tn", "tn + fn", 0.6),
            ("csi >= 0.2 with 80%", "tp", "tp + fp + fn", 0.2),
            ("f1 >= 0.5 with 80%", "tp", "tp + fp + fn", 1.0 / 3.0),
        ] {
            let found = INDEPENDENT.guarantee(&rows, &conditions(text)).unwrap().unwrap();
            let test = &found.tests[0];
            let level = test.level / test.sequences as f64;
            for (low, high) in &found.thresholds {
                for threshold in [*low, 0.5 * (low + high)] {
                    let value = |formula: &str| score(formula).value(&swept.at(threshold)) as usize;
                    let p_value = tail(value(numerator), value(denominator), share);
                    assert!(p_value <= level + 1e-9, "{text}, threshold {threshold}: {p_value}");
                    qualified += 1;
                }
            }
            assert_eq!(
                found.needed.is_some() || !found.thresholds.is_empty(),
                found.needed.is_some() ^ !found.thresholds.is_empty()
            );
        }
    }
    assert!(qualified > 50, "{qualified}");
}

#[test]
fn a_higher_confidence_never_lets_more_thresholds_qualify_if_they_are_tested_in_a_fixed_order() {
    for seed in 0..20 {
        let (predictions, labels) = forecast(300, seed);
        for condition in ["recall >= 0.7", "specificity >= 0.6", "alarms <= 40 per 100"] {
            let width = |confidence: &str| {
                let found = guarantee(&predictions, &labels, &format!("{condition} with {confidence}"));
                found.thresholds.iter().map(|(low, high)| high - low).sum::<f64>()
            };
            let widths = ["50%", "80%", "95%", "99.9%"].map(width);
            assert!(widths.is_sorted_by(|one, other| one >= other), "{condition}: {widths:?}");
        }
    }
}

#[test]
fn two_conditions_are_each_tested_at_half_the_level_and_a_threshold_must_pass_both_tests() {
    let (predictions, labels) = forecast(2000, 8);
    let one = guarantee(&predictions, &labels, "precision >= 0.5 with 95%");
    let both = guarantee(&predictions, &labels, "precision >= 0.5 and recall >= 0.5 with 95%");
    assert!(
        (one.tests[0].level - 0.05).abs() < 1e-12 && both.tests.iter().all(|test| (test.level - 0.025).abs() < 1e-12)
    );
    let recall = guarantee(&predictions, &labels, "recall >= 0.5 with 97.5%");
    for (low, high) in &both.thresholds {
        let inside = |thresholds: &[(f64, f64)]| thresholds.iter().any(|(first, end)| first <= low && high <= end);
        assert!(inside(&one.thresholds) && inside(&recall.thresholds));
    }
    assert!(!both.thresholds.is_empty());
}

#[test]
fn the_best_threshold_is_searched_among_those_that_qualify() {
    let (predictions, labels) = forecast(1500, 9);
    let rows = Rows::new(Probabilities(&predictions), &labels).unwrap();
    let swept = sweep(&rows).unwrap();
    for (text, method) in [
        ("precision >= 0.6 with 95%", TestMethod::Exact),
        ("f1 >= 0.55 with 95%", TestMethod::Exact),
        ("tss >= 0.35 with 95%", TestMethod::Bootstrap),
        ("fbeta(2) >= 0.6 with 95%", TestMethod::Bootstrap),
    ] {
        let parsed = conditions(text);
        let found = INDEPENDENT.guarantee(&rows, &parsed).unwrap().unwrap();
        assert_eq!(found.tests[0].method, method, "{text}");
        for name in ["recall", "precision", "tss"] {
            let best = swept.best_subject_to(&score(name), &found.conditions(&parsed)).unwrap();
            let qualifies =
                |threshold: f64| found.thresholds.iter().any(|(low, high)| *low <= threshold && threshold < *high);
            assert!(qualifies(best.threshold) && parsed[0].holds(&best.confusion), "{text}, {name}");
            // The best value must equal the greatest value at the predictions that qualify.
            let values = predictions.iter().filter(|threshold| qualifies(**threshold));
            let greatest = values.map(|threshold| score(name).value(&swept.at(*threshold))).fold(f64::MIN, f64::max);
            assert_eq!(best.value, greatest, "{text}, {name}");
            // Without its confidence, the condition allows more thresholds, so the best value is at least as good.
            let plain = swept.best_subject_to(&score(name), &[parsed[0].without_confidence()]).unwrap();
            assert!(plain.value >= best.value, "{text}, {name}");
        }
        // The replicates and the corrected score are also computed from the thresholds that qualify.
        let distribution = INDEPENDENT.best(&rows, &score("recall"), &parsed).unwrap();
        let (low, high) = (found.thresholds[0].0, found.thresholds[found.thresholds.len() - 1].1);
        assert!(distribution.threshold.values().iter().all(|threshold| (low..=high).contains(threshold)), "{text}");
        let runs = swept.runs(usize::MAX);
        assert!(INDEPENDENT.corrected_best(&rows, &runs, &score("tss"), &parsed).unwrap().is_some());
    }
    // If a condition with a confidence has not been tested yet, `best_subject_to` tests it as if the rows were independent.
    let parsed = conditions("precision >= 0.6 with 95%");
    let tested = INDEPENDENT.guarantee(&rows, &parsed).unwrap().unwrap().conditions(&parsed);
    assert_eq!(swept.best_subject_to(&score("recall"), &parsed), swept.best_subject_to(&score("recall"), &tested));
}

#[test]
fn if_no_threshold_qualifies_the_number_of_rows_that_would_be_enough_is_estimated() {
    // 10 rows with the prediction 0.9, of which 8 are events, and 10 rows with the prediction 0.1 without events.
    let predictions: Vec<f64> = (0..20).map(|row| if row < 10 { 0.9 } else { 0.1 }).collect();
    let labels: Vec<bool> = (0..20).map(|row| row < 8).collect();
    let found = guarantee(&predictions, &labels, "precision >= 0.6 with 95%");
    assert!(found.thresholds.is_empty() && !found.tests[0].is_met);
    let needed = found.needed.unwrap();
    assert!((0.1..0.9).contains(&needed.threshold));
    // If the true precision is 0.6, the probability of at least 8 hits in 10 alarms is 0.167, of at least 16 in 20 it is 0.051, and of at least 24
    // in 30 it is 0.017.
    assert!((tail(16, 20, 0.6) - 0.051).abs() < 5e-4 && tail(24, 30, 0.6) < 0.05);
    assert!(needed.factor > 2.0 && needed.factor < 2.2, "{needed:?}");
    assert_eq!(needed.events, ((needed.factor - 1.0) * 8.0).ceil());
    assert_eq!(needed.rows, ((needed.factor - 1.0) * 20.0).ceil());
    // Three times as many rows are more than needed, so the threshold qualifies.
    let copies = |values: &[f64]| values.repeat(3);
    let found = guarantee(&copies(&predictions), &labels.repeat(3), "precision >= 0.6 with 95%");
    assert_eq!(found.thresholds, [(0.1, 0.9)]);
    // More rows cannot help if these rows violate the condition or satisfy it only with equality.
    assert_eq!(guarantee(&predictions, &labels, "precision >= 0.9 with 95%").needed, None);
    assert_eq!(guarantee(&predictions, &labels, "precision >= 0.8 with 95%").needed, None);
}

#[test]
fn rows_that_are_dependent_or_have_unequal_weights_count_less_than_independent_rows() {
    let (predictions, labels) = forecast(300, 4);
    let parsed = conditions("recall >= 0.6 with 95%");
    let rows = Rows::new(Probabilities(&predictions), &labels).unwrap();
    let width = |found: Guarantee| found.thresholds.iter().map(|(low, high)| high - low).sum::<f64>();
    let found = |rows: &Rows<'_, Probabilities<'_, f64>>, resampling| {
        let found = Bootstrap { resampling, ..INDEPENDENT }.guarantee(rows, &parsed).unwrap().unwrap();
        let method = found.tests[0].method;
        (width(found), method)
    };
    let (independent, method) = found(&rows, Resampling::Poisson);
    assert!(independent > 0.1 && method == TestMethod::Exact);
    // If the four copies of each row form a group, no more thresholds qualify than without copies. If the copies counted as independent rows, more
    // thresholds would qualify.
    let (copies, labels_of_copies) = (predictions.repeat(4), labels.repeat(4));
    let groups: Vec<u32> = (0..1200).map(|row| row % 300).collect();
    let repeated = Rows::new(Probabilities(&copies), &labels_of_copies).unwrap();
    let (grouped, method) = found(&repeated, Resampling::Groups(&groups));
    assert!(
        grouped <= independent && grouped > 0.3 * independent && method == TestMethod::EffectiveRows,
        "{grouped}, {independent}"
    );
    assert!(found(&repeated, Resampling::Poisson).0 > independent);
    let (blocks, method) = found(&rows, Resampling::Blocks(BlockLength::Rows(10)));
    assert!(blocks > 0.0 && method == TestMethod::EffectiveRows);
    // Equal weights count as no weights, and unequal ones reduce the effective number of rows.
    let weights: Vec<f64> = (0..300).map(|row| if row % 10 == 0 { 20.0 } else { 1.0 }).collect();
    let equal = found(&rows.weighted(&[2.0; 300]).unwrap(), Resampling::Poisson);
    assert!((equal.0 - independent).abs() < 1e-12 && equal.1 == TestMethod::EffectiveRows);
    let unequal = rows.weighted(&weights).unwrap();
    assert!(found(&unequal, Resampling::Poisson).0 < independent);
    let best = sweep(&unequal).unwrap().best_subject_to(&score("precision"), &parsed);
    assert!(best.is_none_or(|best| parsed[0].holds(&best.confusion)));
}

#[test]
fn the_same_seed_gives_the_same_thresholds() {
    let (predictions, labels) = forecast(500, 2);
    let rows = Rows::new(Probabilities(&predictions), &labels).unwrap();
    let parsed = conditions("tss >= 0.2 with 90%");
    let found = INDEPENDENT.guarantee(&rows, &parsed).unwrap();
    assert_eq!(found, INDEPENDENT.guarantee(&rows, &parsed).unwrap());
    assert!(!found.unwrap().thresholds.is_empty());
}

#[test]
fn unusual_rows_and_conditions_do_not_cause_a_panic() {
    let mut random = Random(1);
    for _ in 0..80 {
        let batch = Batch::random(&mut random);
        let rows = batch.rows();
        for text in [
            "precision >= 0.99 with 99%",
            "fp <= 0 with 95%",
            "tp >= 1 with 95%",
            "mcc > 0 with 60%",
            "exp(1000*total) > 1 with 95%",
            "p/total > 0.1 with 95%",
            "specificity >= 0 with 95%",
        ] {
            let found = INDEPENDENT.guarantee(&rows, &conditions(text)).unwrap().unwrap();
            assert!(found.thresholds.iter().all(|(low, high)| low <= high), "{text}");
        }
    }
    let rows = Rows::new(Probabilities(&[1.0, 0.0, 1.0]), &[true, false, true]).unwrap();
    assert!(INDEPENDENT.guarantee(&rows, &conditions("precision > 0.3")).unwrap().is_none());
    let none = Bootstrap { replicates: 0, ..INDEPENDENT }.guarantee(&rows, &conditions("tss > 0.3 with 95%"));
    assert!(none.is_err());
    let paired = INDEPENDENT.paired_best(
        &rows,
        Probabilities(&[0.5; 3]),
        &score("tss"),
        &conditions("recall > 0.3 with 95%"),
        10,
    );
    assert!(paired.unwrap_err().to_string().contains("must have no confidence if two forecasts are compared"));
}
