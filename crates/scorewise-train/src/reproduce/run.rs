//! Runs the tasks of an experiment as one list of jobs on a backend, and writes the result of every task to the journal as soon as the task ends.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use scorewise::{Purpose, stream};
use scorewise_table::error::Result;

use super::ExperimentData;
use super::contender::Contender;
use super::journal::Journal;
use super::pollution::Window;
use super::rows::RepeatRows;
use super::trial::{ForecastScores, Task, Trial};
use crate::backend::{Backend, Watch};
use crate::ensemble::Ensemble;
use crate::fit::{Epoch, Fit, StopReason};
use crate::job::{Dataset, Job};

/// Runs all tasks whose results are not yet in the journal, and writes the result of each to the journal when the task ends. Returns the trials in
/// the order of the tasks. `on_result` is called for every task; its last argument is true if the task was run now, and false if its result was in
/// the journal. If `stopped` returns true, no further task is begun, running tasks are abandoned, and `None` is returned.
pub fn perform(
    data: &ExperimentData,
    tasks: &[Task],
    seed: u64,
    backend: &dyn Backend,
    journal: &Journal,
    on_result: impl Fn(&Task, &Trial, bool) + Sync,
    stopped: impl Fn() -> bool + Sync,
) -> Result<Option<Vec<Trial>>> {
    let known: Vec<Option<Trial>> = tasks.iter().map(|task| journal.find(task)).collect();
    let new: Vec<&Task> = tasks.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(task, _)| task).collect();
    for (task, trial) in tasks.iter().zip(&known) {
        if let Some(trial) = trial {
            on_result(task, trial, false);
        }
    }
    let on_ended = |task: &Task, trial: &Trial| -> Result<()> {
        journal.add(trial)?;
        on_result(task, trial, true);
        Ok(())
    };
    let mut trials = run(data, &new, seed, backend, &on_ended, &stopped)?.into_iter();
    Ok(known.into_iter().map(|known| known.or_else(|| trials.next().flatten())).collect())
}

/// Runs tasks on a backend, and calls `on_ended` for each task as soon as it ends. The result of a task that was stopped or never begun is `None`.
pub(super) fn run(
    data: &ExperimentData,
    tasks: &[&Task],
    seed: u64,
    backend: &dyn Backend,
    on_ended: &(dyn Fn(&Task, &Trial) -> Result<()> + Sync),
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Option<Trial>>> {
    let mut work = Workload::default();
    for task in tasks {
        work.add_task(data, task, seed)?;
    }
    let progress = Progress {
        data,
        tasks,
        seed,
        work: &work,
        fits: tasks.iter().map(|_| Mutex::new(Vec::new())).collect(),
        trials: tasks.iter().map(|_| Mutex::new(None)).collect(),
        failed: AtomicBool::new(false),
        on_ended,
        stopped,
    };
    for (number, task) in tasks.iter().enumerate() {
        if work.tasks[number].jobs.is_empty() && !stopped() {
            progress.finish_task(number, task, &[], 0.0)?;
        }
    }
    backend.fit(&work.datasets, &work.jobs, &progress)?;
    Ok(progress.trials.into_iter().map(|trial| trial.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

/// The jobs of several tasks, and the encoded rows that the tasks share.
#[derive(Default)]
struct Workload {
    /// The rows for each combination of a repetition and inputs. Contenders with the same inputs share the rows.
    rows: Vec<RepeatRows>,
    /// The index in `rows` for each combination of a repetition and inputs.
    known: HashMap<(usize, String), usize>,
    /// The data set of each element of `rows`.
    datasets: Vec<Dataset>,
    jobs: Vec<Job>,
    /// For each job, the index in `tasks` of the task to which the job belongs.
    task_of_job: Vec<usize>,
    tasks: Vec<TaskJobs>,
}

/// The rows and jobs of one task.
struct TaskJobs {
    /// Index in [`Workload::rows`] of the rows on which the task is trained and scored.
    rows: usize,
    /// Indices of the jobs in [`Workload::jobs`].
    jobs: std::ops::Range<usize>,
}

impl Workload {
    /// Adds the rows and jobs of a task.
    fn add_task(&mut self, data: &ExperimentData, task: &Task, seed: u64) -> Result<()> {
        let inputs = task.contender.inputs()?;
        let rows = *self.known.entry((task.repeat, inputs.to_string())).or_insert_with(|| {
            // The seed does not depend on the contender: in each repetition all contenders have the same rows, so that they can be compared.
            let rows = data.rows(task.repeat, &inputs, stream(seed, Purpose::RepeatRows, task.repeat as u64));
            self.datasets.push(rows.dataset());
            self.rows.push(rows);
            self.rows.len() - 1
        });
        let (first, experiment) = (self.jobs.len(), data.experiment());
        if let Some((learner, objective)) = task.learner_and_loss(experiment)? {
            let members = task.contender.members();
            let seed = task.derived_seed(seed);
            let first_split = self.datasets[rows].splits.len();
            if members > 1 {
                self.datasets[rows].splits.extend(self.rows[rows].member_splits(members, seed));
            }
            self.jobs.extend((0..members).map(|member| Job {
                dataset: rows,
                split: if members > 1 { first_split + member } else { 0 },
                learner: learner.clone(),
                objective: objective.clone(),
                seed: stream(seed, Purpose::Member, member as u64),
            }));
        }
        self.task_of_job.resize(self.jobs.len(), self.tasks.len());
        self.tasks.push(TaskJobs { rows, jobs: first..self.jobs.len() });
        Ok(())
    }
}

/// Collects the fitted members of each task, and finishes a task when its last member is fitted.
struct Progress<'a> {
    data: &'a ExperimentData,
    tasks: &'a [&'a Task],
    seed: u64,
    work: &'a Workload,
    /// For each task, the finished members: index of the job, training result, and duration in seconds.
    fits: Vec<Mutex<Vec<(usize, Fit, f64)>>>,
    /// The result of each task; `None` until the task is finished.
    trials: Vec<Mutex<Option<Trial>>>,
    /// Whether a task has failed; if so, all running jobs end.
    failed: AtomicBool,
    on_ended: &'a (dyn Fn(&Task, &Trial) -> Result<()> + Sync),
    stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Progress<'_> {
    /// Computes the scores of a task whose members are all fitted, and stores its result.
    fn finish_task(&self, number: usize, task: &Task, fits: &[Fit], seconds: f64) -> Result<()> {
        let start = Instant::now();
        let rows = &self.work.rows[self.work.tasks[number].rows];
        let scores = match (&task.contender, self.data) {
            (Contender::Persistence, ExperimentData::Pollution(pollution)) => {
                let events = pollution.persistence(&Window::of_paper(task.repeat));
                let probabilities = |rows: &[u32]| rows.iter().map(|row| f64::from(events[*row as usize])).collect();
                ForecastScores::new(rows, &task.score, probabilities)?
            }
            _ => {
                let ensemble = Ensemble::of_fits(fits)?;
                ForecastScores::new(rows, &task.score, |indices| ensemble.probabilities(&rows.matrix, indices))?
            }
        };
        let seconds = seconds + start.elapsed().as_secs_f64();
        let trial = task.make_trial(self.data.experiment(), self.seed, &scores, fits, seconds)?;
        (self.on_ended)(task, &trial)?;
        *lock_mutex(&self.trials[number]) = Some(trial);
        Ok(())
    }
}

impl Watch for Progress<'_> {
    fn epoch(&self, _job: usize, _number: usize, _epoch: &Epoch) -> ControlFlow<()> {
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_stopped(&self) -> bool {
        (self.stopped)() || self.failed.load(Ordering::Relaxed)
    }

    fn finished(&self, job: usize, fit: &Fit, seconds: f64) -> Result<()> {
        if fit.stop_reason == StopReason::Stopped {
            return Ok(());
        }
        let number = self.work.task_of_job[job];
        let mut fits = lock_mutex(&self.fits[number]);
        fits.push((job, fit.clone(), seconds));
        if fits.len() < self.work.tasks[number].jobs.len() {
            return Ok(());
        }
        let mut fits = std::mem::take(&mut *fits);
        fits.sort_by_key(|(job, ..)| *job);
        let seconds = fits.iter().map(|(_, _, seconds)| seconds).sum();
        let fits: Vec<Fit> = fits.into_iter().map(|(_, fit, _)| fit).collect();
        let result = self.finish_task(number, self.tasks[number], &fits, seconds);
        if result.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        result
    }
}

/// Locks a mutex even if another thread panicked while it held the lock.
fn lock_mutex<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
