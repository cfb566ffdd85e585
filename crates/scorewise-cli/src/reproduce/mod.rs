//! `scorewise reproduce`: repeats the experiments of Marchetti et al. (2022) and compares the results with the published numbers. With `--beyond`, it
//! trains other models on the same data.

mod arguments;
mod figures;
mod tables;

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use scorewise_report::document::{Document, Reproduction};
use scorewise_report::evaluation::PaperComparison;
use scorewise_table::output::{OutputKind, Outputs};
use scorewise_train::backend::{self, Backend};
use scorewise_train::reproduce::{ExperimentData, Journal, Task, Trial, perform as run_trials};
use scorewise_train::{Error, Location};

pub use arguments::ReproduceArguments;
use arguments::ReproduceSettings;

use crate::formatting::pretty_json;
use crate::interrupt;
use crate::outcome::{Failure, Outcome, note};
use crate::report_output::OVERWRITE;
use crate::report_output::provenance::provenance;
use crate::train::thread_count;

/// Performs all training runs that are not yet in the file of finished training runs (`--csv`), then writes tables and figures.
pub fn run(arguments: &ReproduceArguments) -> Result<Outcome, Failure> {
    let settings = arguments.settings()?;
    let backend = backend::open(arguments.device, thread_count(arguments.threads)?)?;
    let start = Instant::now();
    let journal = Journal::open(&settings.csv, settings.experiment, arguments.seed)?;
    // Output paths are checked before training, because training takes long.
    std::fs::create_dir_all(&settings.out).map_err(|error| {
        let place = Location::file(&settings.out.display().to_string());
        Error::data(place, error.to_string(), "name another folder with `--out`")
    })?;
    let mut outputs = Outputs::new().overwrites(OVERWRITE, arguments.report.overwrite);
    outputs.reserve(&settings.csv);
    let table_file = settings.out.join(if arguments.beyond { "beyond.md" } else { "table.md" });
    outputs.check(&table_file, OutputKind::Tables)?;
    if !arguments.beyond {
        figures::check_figure_paths(&settings, &outputs)?;
    }
    let mut report_files = arguments.report.open_with(outputs)?;
    let tasks = settings.experiment.tasks(&settings.scores, &settings.contenders, settings.repeats, &settings.cures);
    let Some(trials) = run_tasks(&settings, &tasks, arguments.seed, &*backend, &journal)? else {
        let done = tasks.iter().filter(|task| journal.find(task).is_some()).count();
        let total = tasks.len();
        let message = format!("stopped after {done} of {total} training runs; run the same command again to continue");
        return Ok(Outcome { text: String::new(), unmet: Some(message) });
    };
    journal.finish()?;
    let ReproduceSettings { experiment, scores, contenders, .. } = &settings;
    let seconds = start.elapsed().as_secs_f64();
    let results = PaperComparison::new(*experiment, scores, contenders, &trials, arguments.seed, seconds);
    report_files.outputs.write(
        &table_file,
        OutputKind::Tables,
        tables::tables_as_markdown(&results, arguments).as_bytes(),
    )?;
    if !arguments.beyond {
        figures::write_figures(&settings, &trials, &mut report_files.outputs)?;
    }
    let summary = results.summary();
    arguments.report.write(report_files, || {
        let provenance = provenance(Some(arguments.seed), Vec::new());
        let reproduction = Reproduction {
            tables: results.result_tables(),
            remarks: results.remarks(),
            priors: if arguments.beyond { Vec::new() } else { figures::figure_1_priors() },
            thresholds: figures::figure_2_thresholds(&settings, &trials),
        };
        Ok(Document { reproduction: Some(reproduction), ..Document::new(provenance, summary.clone().into()) })
    })?;
    note(written_files_text(arguments.beyond, &settings));
    Ok(if arguments.json { pretty_json(&summary) } else { tables::tables_as_text(&results) }.into())
}

/// A sentence that says which results were written, and where.
fn written_files_text(beyond: bool, settings: &ReproduceSettings) -> String {
    let tables = if beyond { "table" } else { "table and figures" };
    let (folder, csv) = (settings.out.display(), settings.csv.display());
    format!("{tables} written to the folder `{folder}`, results of all training runs to `{csv}`")
}

/// Performs all training runs with a progress bar; returns `None` if the user stopped the command.
fn run_tasks(
    settings: &ReproduceSettings,
    tasks: &[Task],
    seed: u64,
    backend: &dyn Backend,
    journal: &Journal,
) -> Result<Option<Vec<Trial>>, Failure> {
    let _graceful_stop = interrupt::GracefulStop::new();
    let finished = tasks.iter().filter(|task| journal.find(task).is_some()).count();
    if finished > 0 && finished < tasks.len() {
        note(format!(
            "{finished} of {} training runs are already done, according to {}",
            tasks.len(),
            settings.csv.display()
        ));
    }
    let data = ExperimentData::new(settings.experiment)?;
    // The progress bar appears on standard error, and is hidden if standard error is not a terminal.
    let bar = ProgressBar::new(tasks.len() as u64).with_position(finished as u64);
    let style =
        ProgressStyle::with_template("{bar:30} {pos} of {len} training runs, {elapsed} elapsed, {eta} left, {msg}");
    bar.set_style(style?.progress_chars("━╸ "));
    bar.reset_eta();
    bar.enable_steady_tick(Duration::from_millis(200));
    let on_trial = |task: &Task, trial: &Trial, is_new: bool| {
        if is_new {
            bar.inc(1);
            bar.set_message(format!("{} with {}", task.score, trial.contender));
        }
    };
    let trials = run_trials(&data, tasks, seed, backend, journal, on_trial, interrupt::is_stop_requested);
    bar.finish_and_clear();
    Ok(trials?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_says_where_the_results_are_and_mentions_figures_only_if_they_were_written() {
        let settings = ReproduceSettings {
            experiment: scorewise_train::reproduce::Experiment::Pollution,
            scores: Vec::new(),
            contenders: Vec::new(),
            cures: Vec::new(),
            repeats: 1,
            out: "here".into(),
            csv: "elsewhere/runs.csv".into(),
        };
        let end = "written to the folder `here`, results of all training runs to `elsewhere/runs.csv`";
        assert_eq!(written_files_text(false, &settings), format!("table and figures {end}"));
        assert_eq!(written_files_text(true, &settings), format!("table {end}"));
    }
}
