//! Tests of training on workers. A model has the same bits as if it was trained on this machine, even if the transport reorders the chunks
//! (parts of the list of jobs) and loses, damages or repeats the responses of the workers.

use std::ops::ControlFlow;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use scorewise_table::split::CrossValidation;
use scorewise_table::table::{Category, Column, Reading, Table, Values};
use scorewise_train::backend::{Backend, Cpu, Device, Remote, RemoteRun, Watch, install, open, train_chunk};
use scorewise_train::fit::{Epoch, Fit};
use scorewise_train::job::Job;
use scorewise_train::learner::Learner;
use scorewise_train::plan::{Plan, Recipe, TrainingOptions};
use scorewise_train::reproduce::{Experiment, ExperimentData, Journal, Trial, perform};
use scorewise_train::train::{cross_validate, prepare, train};
use scorewise_train::{Error, Location, Result};

use crate::messages::{datasets, jobs};
use crate::mutated_models::MutationRandom;

/// Name of the environment variable that tells [`train_chunk_in_this_process`] a folder and the index of a chunk.
const CHUNK_VARIABLE: &str = "SCOREWISE_TEST_CHUNK";

/// A watcher that never stops a training run.
fn never_stop(_job: usize, _number: usize, _epoch: &Epoch) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A table with numbers, missing values, levels and sample weights, and a plan for training a few small networks, linear models and trees
/// on it.
fn table_and_plan() -> (Table, Plan) {
    let rows = 240;
    let wave = |row: usize| (row as f64 * 0.7).sin() + (row as f64 * 0.31).cos();
    let numbers = |name: &str, value: &dyn Fn(usize) -> f64| Column {
        name: name.into(),
        values: Values::Number((0..rows).map(value).collect()),
    };
    let codes = (0..rows as u32).map(|row| row * row % 7 % 3).collect();
    let levels = ["calm", "gust", "storm"].map(String::from).to_vec();
    let columns = vec![
        numbers("x", &wave),
        numbers("z", &|row| if row % 9 == 4 { f64::NAN } else { wave(3 * row) }),
        Column { name: "state".into(), values: Values::Category(Category { codes, levels }) },
        numbers("w", &|row| 1.0 + (row % 4) as f64 / 3.0),
        numbers("y", &|row| f64::from(u8::from(wave(row) + 0.4 * wave(5 * row) > 0.7))),
    ];
    let mut plan = Plan::new("y", "tss".parse().unwrap());
    let options = TrainingOptions {
        ensemble: Some(2),
        epochs: Some(3),
        hidden: Some("6".parse().unwrap()),
        learners: Some(serde_json::from_str(r#"["networks","trees","linear"]"#).unwrap()),
        ..TrainingOptions::default()
    };
    options.apply(&mut plan, ("default", Recipe::DEFAULT)).unwrap();
    for learner in &mut plan.learners {
        if let Learner::Trees(settings) = learner {
            settings.rounds = 5;
        }
    }
    plan.weight = Some("w".into());
    (Table { file: "waves.csv".into(), columns, ..Table::default() }, plan)
}

/// The bytes of a model file that is trained on this backend.
fn model_bytes(backend: &dyn Backend) -> Vec<u8> {
    let (table, plan) = table_and_plan();
    train(&table, None, &Reading::default(), &plan, backend, &never_stop).unwrap().model.to_bytes().unwrap()
}

/// A transport that trains every chunk twice, on three threads and in a random order. If the index of a chunk is even, the first
/// response is lost or damaged. If the index is odd, both responses are passed on.
fn careless_transport(run: &RemoteRun<'_>) -> Result<()> {
    let mut random = MutationRandom { seed: 11, numbers_drawn: 0 };
    let count = run.chunks().len();
    let mut order: Vec<usize> = (0..count).chain(0..count).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.number_below(last + 1));
    }
    let (order, attempts) = (Mutex::new(order), Mutex::new(vec![0; count]));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(chunk) = { order.lock().unwrap().pop() } {
                    let mut response = train_chunk(run.datasets(), &run.chunks()[chunk], 1);
                    let attempt = std::mem::replace(&mut attempts.lock().unwrap()[chunk], 1);
                    match chunk % 4 {
                        0 if attempt == 0 => continue,
                        2 if attempt == 0 => {
                            let middle = response.len() / 2;
                            response[middle] ^= 4;
                            let error = run.receive(chunk, &response).unwrap_err().to_string();
                            let place = format!("chunk {} of {count} (jobs ", chunk + 1);
                            assert!(
                                error.starts_with(&place) && error.contains("message with results: is damaged"),
                                "{error}"
                            );
                        }
                        _ => run.receive(chunk, &response).unwrap(),
                    }
                }
            });
        }
    });
    Ok(())
}

/// A transport that trains each chunk in its own process, two chunks at a time. Data sets, jobs and training results are exchanged as files.
fn process_transport(run: &RemoteRun<'_>) -> Result<()> {
    /// Number of calls of this transport so far. Every call has a folder of its own.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let number = CALLS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("scorewise-chunks-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("datasets"), run.datasets()).unwrap();
    for (chunk, jobs) in run.chunks().iter().enumerate() {
        std::fs::write(folder.join(format!("jobs-{chunk}")), jobs).unwrap();
    }
    let chunks: Vec<usize> = (0..run.chunks().len()).rev().collect();
    for pair in chunks.chunks(2) {
        let worker = |chunk: &usize| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "remote::train_chunk_in_this_process"])
                .env(CHUNK_VARIABLE, format!("{}:{chunk}", folder.display()))
                .output()
        };
        std::thread::scope(|scope| {
            for chunk in pair {
                scope.spawn(move || {
                    let output = worker(chunk).unwrap();
                    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
                });
            }
        });
        for chunk in pair {
            run.receive(*chunk, &std::fs::read(folder.join(format!("fits-{chunk}"))).unwrap())?;
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    Ok(())
}

#[test]
#[ignore = "not a test: other tests start it in a process of its own as their worker; without its environment variable it does nothing"]
fn train_chunk_in_this_process() {
    let Ok(text) = std::env::var(CHUNK_VARIABLE) else { return };
    let (folder, chunk) = text.rsplit_once(':').unwrap();
    let read = |name: &str| std::fs::read(format!("{folder}/{name}")).unwrap();
    let response = train_chunk(&read("datasets"), &read(&format!("jobs-{chunk}")), 1);
    std::fs::write(format!("{folder}/fits-{chunk}"), response).unwrap();
}

#[test]
fn a_model_has_the_same_bytes_if_its_jobs_run_in_chunks() {
    let expected = model_bytes(&Cpu { threads: 2 });
    for chunks in [0, 1, 3, 7, 1000] {
        assert!(model_bytes(&Remote { chunks, transport: careless_transport }) == expected, "{chunks} chunks");
    }
}

#[test]
fn a_model_has_the_same_bytes_if_its_jobs_run_in_other_processes() {
    let expected = model_bytes(&Cpu { threads: 1 });
    assert!(model_bytes(&Remote { chunks: 4, transport: process_transport }) == expected);
}

#[test]
fn a_cross_validation_has_the_same_results_if_its_jobs_run_in_chunks() {
    let (table, plan) = table_and_plan();
    let folds = CrossValidation { folds: 3, repeats: 1, validation: 0.0 };
    let results = |backend: &dyn Backend| {
        let (folds, _) = cross_validate(&table, &plan, &folds, backend, &never_stop).unwrap();
        folds.unwrap().into_iter().map(|fold| (fold.epochs, fold.decision, fold.test.probabilities)).collect::<Vec<_>>()
    };
    assert_eq!(results(&Remote { chunks: 5, transport: careless_transport }), results(&Cpu { threads: 2 }));
}

#[test]
fn an_experiment_whose_jobs_run_in_chunks_has_the_same_results_and_the_durations_of_the_workers() {
    let data = ExperimentData::new(Experiment::Pollution).unwrap();
    let scores = ["tss".parse().unwrap()];
    let contenders = ["cosine:0.5,0.1", "ce", "persistence"].map(|contender| contender.parse().unwrap());
    let tasks = Experiment::Pollution.tasks(&scores, &contenders, 2, &[true]);
    let trials = |backend: &dyn Backend, name: &str| -> Vec<Trial> {
        let path = std::env::temp_dir().join(format!("scorewise-remote-{name}-{}.csv", std::process::id()));
        let journal = Journal::open(&path, Experiment::Pollution, 3).unwrap();
        let trials = perform(&data, &tasks, 3, backend, &journal, |_, _, _| (), || false).unwrap().unwrap();
        std::fs::remove_file(path).unwrap();
        trials
    };
    let local = trials(&Cpu { threads: 2 }, "local");
    let remote = trials(&Remote { chunks: 3, transport: careless_transport }, "remote");
    for (local, remote) in local.iter().zip(&remote) {
        assert_eq!(Trial { seconds: 0.0, ..remote.clone() }, Trial { seconds: 0.0, ..local.clone() });
        // The duration is measured by the worker: receiving the response for a chunk takes microseconds, but training the chunk takes much
        // longer.
        assert!(remote.contender == "persistence" || remote.seconds > 0.01, "{} seconds", remote.seconds);
    }
}

#[test]
fn the_function_open_returns_the_installed_backend() {
    let transport = |_: &RemoteRun<'_>| Err(Error::data(Location::file("worker"), "is asleep", ""));
    let before = install(Some(Arc::new(Remote { chunks: 1, transport })));
    assert!(before.is_none());
    let (table, plan) = table_and_plan();
    let prepared = prepare(&table, false, &plan).unwrap();
    let fit = |backend: Arc<dyn Backend>| backend.fit(prepared.datasets(), &prepared.jobs()[..1], &never_stop);
    assert_eq!(fit(open(Device::Cpu, 1).unwrap()).unwrap_err().to_string(), "worker: is asleep");
    assert!(install(None).is_some());
    assert_eq!(fit(open(Device::Cpu, 1).unwrap()).unwrap().len(), 1);
}

/// Counts the epochs and lists the finished jobs of a training run. If `stop_after` is set, stops the run after this number of epochs.
#[derive(Default)]
struct CountingWatch {
    stop_after: Option<usize>,
    epochs: AtomicUsize,
    finished: Mutex<Vec<usize>>,
}

impl Watch for CountingWatch {
    fn epoch(&self, _job: usize, _number: usize, _epoch: &Epoch) -> ControlFlow<()> {
        let epochs = self.epochs.fetch_add(1, Ordering::Relaxed) + 1;
        if self.stop_after.is_some_and(|after| epochs >= after) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn finished(&self, job: usize, _fit: &Fit, _seconds: f64) -> Result<()> {
        self.finished.lock().unwrap().push(job);
        Ok(())
    }
}

#[test]
fn every_epoch_and_every_job_is_reported_once() {
    let (table, plan) = table_and_plan();
    let prepared = prepare(&table, false, &plan).unwrap();
    let (local, remote) = (CountingWatch::default(), CountingWatch::default());
    let fits = Cpu { threads: 1 }.fit(prepared.datasets(), prepared.jobs(), &local).unwrap();
    let backend = Remote { chunks: 6, transport: careless_transport };
    assert!(backend.fit(prepared.datasets(), prepared.jobs(), &remote).unwrap() == fits);
    let finished = |watch: &CountingWatch| {
        let mut finished = watch.finished.lock().unwrap().clone();
        finished.sort_unstable();
        finished
    };
    assert_eq!(finished(&remote), (0..prepared.jobs().len()).collect::<Vec<_>>());
    assert_eq!(finished(&local), finished(&remote));
    assert_eq!(remote.epochs.into_inner(), fits.iter().flatten().map(Fit::epochs).sum::<usize>());
}

/// A transport that trains the chunks one after the other, until the run is stopped.
fn ordered_transport(run: &RemoteRun<'_>) -> Result<()> {
    for (chunk, jobs) in run.chunks().iter().enumerate() {
        run.receive(chunk, &train_chunk(run.datasets(), jobs, 1))?;
        if run.is_stopped() {
            break;
        }
    }
    Ok(())
}

#[test]
fn a_stopped_run_keeps_the_training_results_that_have_arrived() {
    let (table, plan) = table_and_plan();
    let prepared = prepare(&table, false, &plan).unwrap();
    let jobs = &prepared.jobs()[..6];
    let watch = CountingWatch { stop_after: Some(1), ..CountingWatch::default() };
    let fits = Remote { chunks: 3, transport: ordered_transport }.fit(prepared.datasets(), jobs, &watch).unwrap();
    assert_eq!(fits.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, false, false, false, false]);
    /// A watcher that stops the run before it begins. A transport can see that the run is stopped although it has not received any response.
    struct Stopped;
    impl Watch for Stopped {
        fn epoch(&self, _job: usize, _number: usize, _epoch: &Epoch) -> ControlFlow<()> {
            ControlFlow::Break(())
        }

        fn is_stopped(&self) -> bool {
            true
        }
    }
    let waiting = |run: &RemoteRun<'_>| -> Result<()> {
        assert!(run.is_stopped());
        Ok(())
    };
    let fits = Remote { chunks: 3, transport: waiting }.fit(prepared.datasets(), jobs, &Stopped).unwrap();
    assert!(fits.len() == 6 && fits.iter().all(Option::is_none));
}

#[test]
fn errors_name_the_chunk() {
    let (table, plan) = table_and_plan();
    let prepared = prepare(&table, false, &plan).unwrap();
    let mut jobs = prepared.jobs()[..7].to_vec();
    let error = |jobs: &[Job], transport: fn(&RemoteRun<'_>) -> Result<()>| {
        Remote { chunks: 3, transport }.fit(prepared.datasets(), jobs, &never_stop).unwrap_err().to_string()
    };
    let missing = error(&jobs, |run| run.receive(0, &train_chunk(run.datasets(), &run.chunks()[0], 1)));
    assert_eq!(missing, "chunk 2 of 3 (jobs 3 to 4): no response has arrived");
    let other = error(&jobs, |run| run.receive(1, &train_chunk(run.datasets(), &run.chunks()[0], 1)));
    let expected =
        "chunk 2 of 3 (jobs 3 to 4): message with results: contains the results of other jobs or other data sets";
    assert!(other.starts_with(expected), "{other}");
    let none = error(&jobs, |run| run.receive(3, &[]));
    assert_eq!(none, "chunk: there is no chunk 3; the greatest chunk number is 2");
    let empty = error(&jobs, |run| run.receive(2, &[]));
    assert!(
        empty.starts_with("chunk 3 of 3 (jobs 5 to 7): message with results: is not a message of scorewise"),
        "{empty}"
    );
    let exchanged = error(&jobs, |run| run.receive(2, &train_chunk(&run.chunks()[2], run.datasets(), 1)));
    assert!(exchanged.contains("contains the results of other jobs"), "{exchanged}");
    // If training fails on a worker, the worker sends the error message as its response.
    jobs[3].learner.network_mut().unwrap().learning_rate = -1.0;
    let failed = error(&jobs, ordered_transport);
    assert!(failed.starts_with("chunk 2 of 3 (jobs 3 to 4): learning-rate: must be above 0, not -1"), "{failed}");
    jobs[3].split = 1000;
    let failed = error(&jobs, ordered_transport);
    assert!(failed.contains("needs split 1000 of data set 0, which does not exist"), "{failed}");
    // A job with an infinite number cannot be written, because JSON has no infinity.
    jobs[3].learner.network_mut().unwrap().learning_rate = f32::INFINITY;
    assert!(error(&jobs, ordered_transport).starts_with("message with jobs: cannot be written"));
}

#[test]
fn jobs_are_the_same_after_they_are_written_and_read_and_give_the_same_training_results() {
    let (datasets, jobs) = (&datasets()[..], jobs());
    assert_eq!(Job::from_bytes(&Job::to_bytes(&jobs).unwrap()).unwrap(), jobs);
    let watch = CountingWatch::default();
    let local = Cpu { threads: 1 }.fit(datasets, &jobs, &watch).unwrap();
    let remote = Remote { chunks: 2, transport: ordered_transport }.fit(datasets, &jobs, &watch).unwrap();
    let text = |fits: &[Option<Fit>]| format!("{fits:?}");
    assert_eq!(text(&local), text(&remote));
}
