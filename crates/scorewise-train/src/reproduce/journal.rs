//! The results file of an experiment. It is a CSV file to which a line is appended whenever a task is finished, so that no finished task is lost
//! if the run is interrupted.
//!
//! A later run reads the file and runs only the tasks that are missing. An incomplete last line is dropped.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Experiment;
use super::trial::{Task, TaskKey, Trial};
use scorewise_table::error::{Error, Location, Result};
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_table::setting::Setting;

/// The finished tasks of an experiment, in memory and in the results file.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    experiment: Experiment,
    state: Mutex<JournalState>,
}

/// The part of a [`Journal`] that changes while tasks run.
#[derive(Debug)]
struct JournalState {
    file: File,
    /// The results of the finished tasks.
    finished: HashMap<TaskKey, Trial>,
}

impl Journal {
    /// Opens or creates the results file, and locks it so that no other run writes to it.
    pub fn open(path: &Path, experiment: Experiment, seed: u64) -> Result<Self> {
        let io_error = |error: std::io::Error| {
            Error::data(
                location_of(path),
                error.to_string(),
                format!("choose another folder with `{}`, or another file with `{}`", Setting("out"), Setting("csv")),
            )
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(io_error)?;
        }
        if path.is_dir() {
            return Err(Error::data(
                location_of(path),
                "is a folder, not a file",
                "give the name of a file in this folder",
            ));
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io_error)?;
        if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
            let hint = format!("wait until the other run ends, or choose another folder with `{}`", Setting("out"));
            return Err(Error::data(location_of(path), "another run is writing to this file", hint));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io_error)?;
        let header = header_line()?;
        let common = bytes.len().min(header.len());
        if bytes[..common] != header.as_bytes()[..common] {
            let hint = format!("move the file, or choose another folder with `{}`", Setting("out"));
            return Err(Error::data(location_of(path), "is not a results file: its header is different", hint));
        }
        let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut finished = HashMap::new();
        for trial in parse_trials(path, &bytes[..complete])? {
            check_origin(path, &trial, experiment, seed)?;
            finished.insert(trial.key(), trial);
        }
        // An incomplete last line is removed.
        file.set_len(complete as u64).map_err(io_error)?;
        file.seek(SeekFrom::End(0)).map_err(io_error)?;
        if complete == 0 {
            file.write_all(header.as_bytes()).map_err(io_error)?;
        }
        Ok(Journal { path: path.into(), experiment, state: Mutex::new(JournalState { file, finished }) })
    }

    /// The result of a task; `None` if the task is not finished, or was finished with other settings. In the second case the task is run again,
    /// and its new result replaces the old one.
    #[must_use]
    pub fn find(&self, task: &Task) -> Option<Trial> {
        let finished = self.lock_state().finished.get(&task.key()).cloned()?;
        (task.settings_hash(self.experiment).ok()? == finished.recipe).then_some(finished)
    }

    /// Appends the result of a task to the results file.
    pub fn add(&self, trial: &Trial) -> Result<()> {
        let line = csv_lines(std::slice::from_ref(trial), false)?;
        let mut state = self.lock_state();
        // The whole line is written at once, so that the file ends in an incomplete line only if the machine stops during this write.
        state.file.write_all(line.as_bytes()).map_err(|error| {
            let hint = "free some disk space and run the same command again: finished results are kept";
            Error::data(location_of(&self.path), error.to_string(), hint)
        })?;
        state.finished.insert(trial.key(), trial.clone());
        Ok(())
    }

    /// Rewrites the results file with its lines sorted by score, contender and repetition.
    pub fn finish(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut trials: Vec<Trial> = state.finished.into_values().collect();
        trials.sort_by_cached_key(Trial::key);
        Outputs::new().write(&self.path, OutputKind::TrainingRuns, csv_lines(&trials, true)?.as_bytes())
    }

    /// Locks the state, even if another thread panicked while it held the lock.
    fn lock_state(&self) -> std::sync::MutexGuard<'_, JournalState> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The [`Location`] with which error messages about a results file begin.
fn location_of(path: &Path) -> Location {
    Location::file(&path.display().to_string())
}

/// Parses the lines of a results file.
fn parse_trials(path: &Path, bytes: &[u8]) -> Result<Vec<Trial>> {
    let mut reader = csv::Reader::from_reader(bytes);
    let not_results = |line: Option<u64>, error: csv::Error| {
        let hint = format!("move the file, or choose another folder with `{}`", Setting("out"));
        Error::data(Location { line, ..location_of(path) }, format!("is not a results file: {error}"), hint)
    };
    let mut trials = Vec::new();
    for record in reader.deserialize() {
        let record: csv::Result<Trial> = record;
        trials.push(record.map_err(|error| not_results(error.position().map(csv::Position::line), error))?);
    }
    Ok(trials)
}

/// Returns an error if a result belongs to another experiment, another seed or another version of scorewise.
fn check_origin(path: &Path, trial: &Trial, experiment: Experiment, seed: u64) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let problem = if trial.experiment != experiment.name() {
        format!("has results of `{}`, not of `{}`", trial.experiment, experiment.name())
    } else if trial.seed != seed {
        format!("has results for the seed {}, not {seed}", trial.seed)
    } else if trial.version != version {
        format!("has results of scorewise version {}, but this is version {version}", trial.version)
    } else {
        return Ok(());
    };
    Err(Error::data(
        location_of(path),
        problem,
        format!("move the file, or choose another folder with `{}`", Setting("out")),
    ))
}

/// The first line of a results file, with the names of the columns.
fn header_line() -> Result<String> {
    let example = Trial {
        version: String::new(),
        experiment: String::new(),
        seed: 0,
        score: String::new(),
        contender: String::new(),
        recipe: String::new(),
        cured: false,
        repeat: 0,
        success: false,
        restarts: 0,
        epochs: 0.0,
        threshold: None,
        outside: false,
        train_half: 0.0,
        train_best: None,
        test_half: 0.0,
        test_best: None,
        seconds: 0.0,
    };
    Ok(csv_lines(&[example], true)?.lines().next().map(|line| format!("{line}\n")).unwrap_or_default())
}

/// The CSV lines of the given trials. Numbers are written with all their digits, so that they can be read back exactly.
fn csv_lines(trials: &[Trial], header: bool) -> Result<String> {
    let mut writer = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
    let error = |problem: String| Error::setting("results", problem, "");
    for trial in trials {
        writer.serialize(trial).map_err(|cause| error(cause.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|cause| error(cause.to_string()))?;
    String::from_utf8(bytes).map_err(|cause| error(cause.to_string()))
}
