//! The file of results: a line for each training, appended as soon as it ends, so that nothing is lost whatever happens.
//!
//! It is the CSV file that users get, and it is what a later run goes on from. A line that was cut off in the middle is dropped.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Experiment;
use super::trial::{Key, Task, Trial};
use scorewise_table::error::{Error, Place, Result};
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_table::setting::Setting;

/// The trainings that are done.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    experiment: Experiment,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    known: HashMap<Key, Trial>,
}

impl Journal {
    /// Opens the file, or begins it. Nobody else may write to it meanwhile.
    pub fn open(path: &Path, experiment: Experiment, seed: u64) -> Result<Self> {
        let fault = |error: std::io::Error| {
            Error::data(
                place(path),
                error.to_string(),
                format!("name another folder with `{}`, or another file with `{}`", Setting("out"), Setting("csv")),
            )
        };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(fault)?;
        }
        if path.is_dir() {
            return Err(Error::data(place(path), "is a folder, not a file to write to", "name a file in it"));
        }
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(fault)?;
        if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
            let hint = format!("wait for it, or name another folder with `{}`", Setting("out"));
            return Err(Error::data(place(path), "another run is writing to it", hint));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(fault)?;
        let header = header()?;
        let common = bytes.len().min(header.len());
        if bytes[..common] != header.as_bytes()[..common] {
            let hint = format!("move it away, or name another folder with `{}`", Setting("out"));
            return Err(Error::data(place(path), "is no file of results: its first line is another", hint));
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut known = HashMap::new();
        for trial in parse(path, &bytes[..whole])? {
            check(path, &trial, experiment, seed)?;
            known.insert(trial.key(), trial);
        }
        // What follows the last whole line was cut off, and is written over.
        file.set_len(whole as u64).map_err(fault)?;
        file.seek(SeekFrom::End(0)).map_err(fault)?;
        if whole == 0 {
            file.write_all(header.as_bytes()).map_err(fault)?;
        }
        Ok(Journal { path: path.into(), experiment, state: Mutex::new(State { file, known }) })
    }

    /// What is known of a task. A line of another recipe of that name is not: it is done anew, and takes the old one's place.
    #[must_use]
    pub fn find(&self, task: &Task) -> Option<Trial> {
        let known = self.locked().known.get(&task.key()).cloned()?;
        (task.recipe(self.experiment).ok()? == known.recipe).then_some(known)
    }

    /// Writes down what came of a training.
    pub fn add(&self, trial: &Trial) -> Result<()> {
        let line = lines(std::slice::from_ref(trial), false)?;
        let mut state = self.locked();
        // In one go: a reader never sees half of it unless the machine stops in between.
        state.file.write_all(line.as_bytes()).map_err(|error| {
            let hint = "make room, and run the same command again: what is written stays";
            Error::data(place(&self.path), error.to_string(), hint)
        })?;
        state.known.insert(trial.key(), trial.clone());
        Ok(())
    }

    /// Puts the lines in order, by score, contender and repeat, whichever ended first.
    pub fn finish(self) -> Result<()> {
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut trials: Vec<Trial> = state.known.into_values().collect();
        trials.sort_by_cached_key(Trial::key);
        Outputs::new().write(&self.path, OutputKind::Trainings, lines(&trials, true)?.as_bytes())
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn place(path: &Path) -> Place {
    Place::file(&path.display().to_string())
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Trial>> {
    let mut reader = csv::Reader::from_reader(bytes);
    let strange = |line: Option<u64>, error: csv::Error| {
        let hint = format!("move it away, or name another folder with `{}`", Setting("out"));
        Error::data(Place { line, ..place(path) }, format!("is no file of results: {error}"), hint)
    };
    let mut trials = Vec::new();
    for record in reader.deserialize() {
        let record: csv::Result<Trial> = record;
        trials.push(record.map_err(|error| strange(error.position().map(csv::Position::line), error))?);
    }
    Ok(trials)
}

/// Results of another experiment, seed or version must not be taken for these.
fn check(path: &Path, trial: &Trial, experiment: Experiment, seed: u64) -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    let differs = if trial.experiment != experiment.name() {
        format!("holds results of `{}`, not of `{}`", trial.experiment, experiment.name())
    } else if trial.seed != seed {
        format!("holds results of seed {}, not of {seed}", trial.seed)
    } else if trial.version != version {
        format!("holds results of version {}, and this is {version}", trial.version)
    } else {
        return Ok(());
    };
    Err(Error::data(place(path), differs, format!("move it away, or name another folder with `{}`", Setting("out"))))
}

fn header() -> Result<String> {
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
    Ok(lines(&[example], true)?.lines().next().map(|line| format!("{line}\n")).unwrap_or_default())
}

/// Lines with every digit of every number.
fn lines(trials: &[Trial], header: bool) -> Result<String> {
    let mut writer = csv::WriterBuilder::new().has_headers(header).from_writer(Vec::new());
    let fault = |problem: String| Error::setting("results", problem, "");
    for trial in trials {
        writer.serialize(trial).map_err(|error| fault(error.to_string()))?;
    }
    let bytes = writer.into_inner().map_err(|error| fault(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| fault(error.to_string()))
}
