//! `scorewise reproduce`: the paper's experiments beside its own numbers, and beyond them.

mod arguments;
mod figures;
mod tables;

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_report::document::{Document, Reproduction};
use scorewise_report::evaluation::PaperComparison;
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_train::backend::Cpu;
use scorewise_train::reproduce::{ExperimentData, Journal, Task, Trial, perform};
use scorewise_train::{Error, Place};

pub use arguments::Arguments;
use arguments::Chosen;

use crate::interrupt;
use crate::outcome::{Failure, Outcome, note};
use crate::showing::OVERWRITE;
use crate::showing::provenance::provenance;
use crate::table::pretty;
use crate::train::threads;

/// Trains what is not trained yet, and puts tables and figures into the folder.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let chosen = arguments.chosen()?;
    let threads = threads(arguments.threads)?;
    let start = Instant::now();
    let journal = Journal::open(&chosen.csv, chosen.experiment, arguments.seed)?;
    // That there is a place for the tables is found out before the work is done for them.
    std::fs::create_dir_all(&chosen.out).map_err(|error| {
        let place = Place::file(&chosen.out.display().to_string());
        Error::data(place, error.to_string(), "name another folder with `--out`")
    })?;
    let mut outputs = Outputs::new().overwrites(OVERWRITE, arguments.showing.overwrite);
    outputs.reserve(&chosen.csv);
    let table_file = chosen.out.join(if arguments.beyond { "beyond.md" } else { "table.md" });
    outputs.check(&table_file, OutputKind::Tables)?;
    if !arguments.beyond {
        figures::check(&chosen, &outputs)?;
    }
    let mut places = arguments.showing.places_among(outputs)?;
    let tasks = chosen.experiment.tasks(&chosen.scores, &chosen.contenders, chosen.repeats, &chosen.cures);
    let Some(trials) = trained(&chosen, &tasks, arguments.seed, threads, &journal)? else {
        let done = tasks.iter().filter(|task| journal.find(task).is_some()).count();
        let all = tasks.len();
        let kept = format!("stopped after {done} of {all} trainings: they are kept, and the same command goes on");
        return Ok(Outcome { text: String::new(), unmet: Some(kept) });
    };
    journal.finish()?;
    let Chosen { experiment, scores, contenders, .. } = &chosen;
    let seconds = start.elapsed().as_secs_f64();
    let results = PaperComparison::new(*experiment, scores, contenders, &trials, arguments.seed, seconds);
    places.outputs.write(&table_file, OutputKind::Tables, tables::markdown(&results, arguments).as_bytes())?;
    if !arguments.beyond {
        figures::write(&chosen, &trials, &mut places.outputs)?;
    }
    let summary = results.summary();
    arguments.showing.write(places, || {
        let provenance = provenance(Some(arguments.seed), Vec::new());
        let reproduction = Reproduction {
            tables: results.grids(),
            remarks: results.remarks(),
            priors: if arguments.beyond { Vec::new() } else { figures::priors() },
            thresholds: figures::thresholds(&chosen, &trials),
        };
        Ok(Document { reproduction: Some(reproduction), ..Document::new(provenance, summary.clone().into()) })
    })?;
    note(format!("tables, figures and a line for each training are in {}", chosen.out.display()));
    Ok(if arguments.json { pretty(&summary) } else { tables::text(&results) }.into())
}

/// All trainings, with a bar; nothing where the user stopped them.
fn trained(
    chosen: &Chosen,
    tasks: &[Task],
    seed: u64,
    threads: usize,
    journal: &Journal,
) -> Result<Option<Vec<Trial>>, Failure> {
    let _grace = interrupt::Grace::new();
    let known = tasks.iter().filter(|task| journal.find(task).is_some()).count();
    if known > 0 && known < tasks.len() {
        note(format!("{known} of {} trainings are done already, in {}", tasks.len(), chosen.csv.display()));
    }
    let data = ExperimentData::new(chosen.experiment)?;
    // Drawn on standard error, and only where that is a terminal.
    let bar = ProgressBar::new(tasks.len() as u64).with_position(known as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos} of {len} trainings, {elapsed} so far, {eta} left, {msg}");
    bar.set_style(style?.progress_chars("━╸ "));
    bar.reset_eta();
    bar.enable_steady_tick(Duration::from_millis(200));
    let seen = |task: &Task, trial: &Trial, is_new: bool| {
        if is_new {
            bar.inc(1);
            bar.set_message(format!("{} with {}", task.score, trial.contender));
        }
    };
    let trials = perform(&data, tasks, seed, &Cpu { threads }, journal, seen, interrupt::stopped);
    bar.finish_and_clear();
    Ok(trials?)
}
