//! Tests of the experiments of Marchetti et al. (2022): numbers of rows, event rates and numbers of features are the published ones, results depend
//! only on the seed, and no finished result is lost if a run is interrupted.

#![allow(clippy::unwrap_used)] // Tests may call `unwrap`, because a panic fails the test.

use std::fs;
use std::path::PathBuf;

use scorewise_train::backend::Cpu;
use scorewise_train::reproduce::{
    Adult, Contender, Experiment, ExperimentData, Journal, Pollution, PollutionInputs, ResultRow, Task, Trial, WINDOWS,
    Window, paper, perform,
};

/// The tasks of the pollution experiment for the scores and contenders with these names. `cures` lists the values of `Task::cured`.
fn pollution_tasks(scores: &[&str], contenders: &[&str], repeats: usize, cures: &[bool]) -> Vec<Task> {
    let scores: Vec<_> = scores.iter().map(|score| score.parse().unwrap()).collect();
    let contenders: Vec<Contender> = contenders.iter().map(|contender| contender.parse().unwrap()).collect();
    Experiment::Pollution.tasks(&scores, &contenders, repeats, cures)
}

/// The trial with its duration set to 0, because durations differ between runs.
fn without_duration(trial: &Trial) -> Trial {
    Trial { seconds: 0.0, ..trial.clone() }
}

#[test]
fn the_adult_data_have_the_published_numbers_of_rows_and_features() {
    let adult = Adult::read().unwrap();
    assert_eq!(adult.rows(), 30_162);
    let rows = adult.repeat_rows(7);
    assert_eq!(rows.labels.iter().filter(|label| **label == 1).count(), 7508);
    assert_eq!(rows.matrix.columns(), 6 + 1 + 7 + 7 + 14 + 6 + 5 + 2);
    assert_eq!((rows.training.len(), rows.validation.len(), rows.test.len()), (16_086, 8043, 6033));
    let mut all: Vec<u32> = [&rows.training[..], &rows.validation, &rows.test].concat();
    all.sort_unstable();
    assert_eq!(all, (0..30_162).collect::<Vec<u32>>());
    for column in 0..48 {
        let values: Vec<f64> = (0..30_162).map(|row| f64::from(rows.matrix.row(row)[column])).collect();
        let mean = values.iter().sum::<f64>() / 30_162.0;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 30_162.0;
        assert!(
            mean.abs() < 1e-5 && (variance - 1.0).abs() < 1e-4,
            "column {column} has the mean {mean} and the variance {variance}"
        );
    }
    assert_eq!(adult.repeat_rows(7).training, rows.training);
    assert_ne!(adult.repeat_rows(8).training, rows.training);
}

#[test]
fn pollution_windows_have_the_published_event_rates() {
    let pollution = Pollution::read().unwrap();
    let (mut train, mut test, mut without_events) = (0.0, 0.0, 0);
    for repeat in 0..WINDOWS {
        let rows = pollution.window_rows(&Window::of_paper(repeat), &PollutionInputs::of_paper(), 0);
        train += rows.event_rate(&rows.seen) / WINDOWS as f64;
        test += rows.event_rate(&rows.test) / WINDOWS as f64;
        without_events += usize::from(rows.event_rate(&rows.test) == 0.0);
    }
    // The event rates in Marchetti et al. (2022) are 1.41 % in the training hours and 1.19 % in the test hours.
    assert_eq!((format!("{:.2}", 100.0 * train), format!("{:.2}", 100.0 * test)), ("1.41".into(), "1.19".into()));
    assert_eq!(without_events, 4);
}

#[test]
fn a_window_is_standardised_with_its_training_rows_only() {
    let pollution = Pollution::read().unwrap();
    for (inputs, columns) in [(PollutionInputs::of_paper(), 8), (PollutionInputs::one_hot(), 11)] {
        let rows = pollution.window_rows(&Window::of_paper(3), &inputs, 1);
        assert_eq!(rows.matrix.columns(), columns);
        assert_eq!((rows.training.len(), rows.validation.len(), rows.test.len()), (8736, 4368, 4320));
        for column in 0..columns {
            let values: Vec<f64> =
                rows.seen.iter().map(|row| f64::from(rows.matrix.row(*row as usize)[column])).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
            assert!(
                mean.abs() < 1e-5 && (variance - 1.0).abs() < 1e-4,
                "column {column} has the mean {mean} and the variance {variance}"
            );
        }
    }
}

#[test]
fn folds_test_every_training_hour_of_a_window_once_and_none_of_its_test_hours() {
    for repeat in [0, 42, 99] {
        let paper = Window::of_paper(repeat);
        for folds in [3, 4, 5, 6] {
            let tested: Vec<usize> = (0..folds).flat_map(|fold| Window::fold(repeat, fold, folds).test).collect();
            assert_eq!(tested, (paper.hours.start..paper.test.start).collect::<Vec<_>>());
        }
    }
    let pollution = Pollution::read().unwrap();
    let rows = pollution.window_rows(&Window::fold(0, 1, 3), &PollutionInputs::one_hot(), 0);
    assert_eq!((rows.seen.len(), rows.test.len()), (8736, 4368));
    assert!(rows.seen.iter().all(|row| !rows.test.contains(row)) && rows.test[0] == 4368);
    assert_eq!(rows.training.len() + rows.validation.len(), rows.seen.len());
}

#[test]
fn a_missing_pm25_value_is_0_or_the_last_measurement_depending_on_the_input() {
    // Row 1034 is 2010-02-14 02:00. As read by pandas 3.1, its PM2.5 is missing; PM2.5 is 980 one hour before and 599 one hour after.
    let pollution = Pollution::read().unwrap();
    let rows = pollution.window_rows(&Window::of_paper(0), &"pm2.5,last,lag-1,change-1".parse().unwrap(), 0);
    let value = |row: usize, column: usize| f64::from(rows.matrix.row(row)[column]);
    // The columns are standardised, so the test compares only values of the same column.
    assert!(value(1034, 0) < value(1033, 0) && (value(1034, 1) - value(1033, 1)).abs() < 1e-6);
    assert!(
        (value(1034, 2) - value(1035, 2)).abs() < 1e-6,
        "row 1034 has no measurement, so the input `lag-1` is 980, the value of row 1033, both in row 1034 and in row 1035"
    );
    let (rising, constant) = (value(1033, 3), value(1034, 3));
    assert!(constant != rising && rows.labels[1034] == 1);
}

#[test]
fn the_persistence_forecast_has_the_scores_of_an_independent_computation() {
    // The expected values, which are means over all windows, were computed by an independent implementation.
    let data = ExperimentData::new(Experiment::Pollution).unwrap();
    for (score, expected) in [("tss", "0.6192"), ("csi", "0.4965")] {
        let trials: Vec<Trial> = pollution_tasks(&[score], &["persistence"], 100, &[false])
            .iter()
            .map(|task| task.attempt(&data, 0).unwrap())
            .collect();
        let row = ResultRow::of(&trials.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(format!("{:.4}", row.test_half.unwrap().mean), expected);
    }
}

#[test]
fn every_published_result_is_for_a_score_and_a_method_of_its_experiment() {
    for experiment in Experiment::ALL {
        let contenders: Vec<String> = experiment.contenders().iter().map(ToString::to_string).collect();
        let published = paper(experiment);
        assert!(
            published
                .iter()
                .all(|row| contenders.contains(&row.contender) && experiment.scores().contains(&row.score.as_str()))
        );
        assert_eq!(published.len(), if experiment == Experiment::Adult { 7 } else { 10 });
    }
    assert_eq!(Experiment::Adult.contenders().len(), 10);
}

#[test]
fn a_loss_without_a_prior_has_only_one_task_for_both_values_of_the_setting_named_cure() {
    let all_tasks = pollution_tasks(&["tss"], &["ce", "uniform"], 2, &[false, true]);
    let settings: Vec<(String, bool)> = all_tasks.iter().map(|task| (task.contender.to_string(), task.cured)).collect();
    let one_repeat = [("ce".to_string(), false), ("uniform".into(), false), ("uniform".into(), true)];
    assert_eq!(settings, [one_repeat.clone(), one_repeat].concat());
}

#[test]
fn the_setting_named_cure_makes_a_stuck_network_learn() {
    let data = ExperimentData::new(Experiment::Pollution).unwrap();
    let prior = "cosine:0.9,0.02";
    let pair = pollution_tasks(&["tss"], &[prior], 1, &[false, true]);
    // A network that is stuck keeps the score of its initial weights, which is low with this seed.
    let (stuck, cured) = (pair[0].attempt(&data, 2).unwrap(), pair[1].attempt(&data, 2).unwrap());
    assert!(!stuck.success && stuck.train_best.unwrap() < 0.1, "{stuck:?}");
    assert!(cured.success && cured.train_best.unwrap() > 0.9, "{cured:?}");
}

/// The path of a results file that does not exist yet.
fn results_path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("scorewise-journal-{name}-{}.csv", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

#[test]
fn a_truncated_results_file_is_completed_to_the_same_bits() {
    let data = ExperimentData::new(Experiment::Pollution).unwrap();
    let all_tasks = pollution_tasks(&["csi"], &["persistence", "cosine:0.5,0.1"], 3, &[true]);
    let path = results_path("truncated");
    let run = |threads: usize| {
        let journal = Journal::open(&path, Experiment::Pollution, 5).unwrap();
        let trials =
            perform(&data, &all_tasks, 5, &Cpu { threads }, &journal, |_, _, _| (), || false).unwrap().unwrap();
        journal.finish().unwrap();
        (trials.iter().map(without_duration).collect::<Vec<_>>(), fs::read(&path).unwrap())
    };
    let (expected, text) = run(1);
    assert_eq!(
        run(2),
        (expected.clone(), text.clone()),
        "a second run on the complete results file changes neither the trials nor the file"
    );
    // The file is truncated in the header, within a number or between lines. The run is continued with two threads instead of one.
    for length in [0, 10, text.len() / 3, text.len() / 2, text.len() - 1] {
        fs::write(&path, &text[..length]).unwrap();
        assert_eq!(run(2).0, expected, "the file was truncated to {length} bytes");
    }
    let _ = fs::remove_file(&path);
}

#[test]
fn results_with_other_settings_are_computed_again() {
    let data = ExperimentData::new(Experiment::Pollution).unwrap();
    let all_tasks = pollution_tasks(&["csi"], &["persistence", "cosine:0.5,0.1"], 1, &[true]);
    let path = results_path("recipe");
    let run = || {
        let journal = Journal::open(&path, Experiment::Pollution, 5).unwrap();
        let is_finished = all_tasks.iter().map(|task| journal.find(task).is_some()).collect::<Vec<_>>();
        let trials =
            perform(&data, &all_tasks, 5, &Cpu { threads: 1 }, &journal, |_, _, _| (), || false).unwrap().unwrap();
        journal.finish().unwrap();
        (is_finished, trials)
    };
    let trials = run().1;
    assert_ne!(trials[0].recipe, trials[1].recipe);
    // The hash of the settings is changed in the file, as if it had been written with other settings of the same contender.
    let old = fs::read_to_string(&path).unwrap().replace(&trials[1].recipe, "0123456789abcdef");
    fs::write(&path, old).unwrap();
    let (is_finished, again) = run();
    assert_eq!(is_finished, [true, false]);
    assert_eq!((&again[0], without_duration(&again[1])), (&trials[0], without_duration(&trials[1])));
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.lines().count() == 3 && !text.contains("0123456789abcdef"),
        "the new result must replace the old one: {text}"
    );
    let _ = fs::remove_file(&path);
}

#[test]
fn files_without_results_and_results_of_other_experiments_or_seeds_are_refused() {
    let data = ExperimentData::new(Experiment::Pollution).unwrap();
    let all_tasks = pollution_tasks(&["csi"], &["persistence"], 1, &[false]);
    let path = results_path("other");
    {
        let journal = Journal::open(&path, Experiment::Pollution, 5).unwrap();
        perform(&data, &all_tasks, 5, &Cpu { threads: 1 }, &journal, |_, _, _| (), || false).unwrap();
        let busy = Journal::open(&path, Experiment::Pollution, 5).unwrap_err().to_string();
        assert!(busy.contains("another run is writing to this file"), "{busy}");
    }
    let refused = |experiment, seed| Journal::open(&path, experiment, seed).unwrap_err().to_string();
    assert!(refused(Experiment::Adult, 5).contains("has results of `pollution`, not of `adult`\nhint: move the file"));
    assert!(refused(Experiment::Pollution, 6).contains("has results for the seed 5, not 6"));
    // A file that is not a results file is not changed, even if it has no line break and could be taken for a truncated header.
    for text in ["a,b\n1,2\n", "my notes"] {
        fs::write(&path, text).unwrap();
        assert!(refused(Experiment::Pollution, 5).contains(": is not a results file: its header is different"));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let _ = fs::remove_file(&path);
}

#[test]
fn stopped_tasks_are_not_in_the_results_file() {
    let data = ExperimentData::new(Experiment::Pollution).unwrap();
    let all_tasks = pollution_tasks(&["tss"], &["cosine:0.5,0.1"], 2, &[true]);
    let path = results_path("stopped");
    let journal = Journal::open(&path, Experiment::Pollution, 5).unwrap();
    assert!(perform(&data, &all_tasks, 5, &Cpu { threads: 2 }, &journal, |_, _, _| (), || true).unwrap().is_none());
    assert!(all_tasks.iter().all(|task| journal.find(task).is_none()));
    drop(journal);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
    let _ = fs::remove_file(&path);
}
