//! `scorewise train`: from a table to a model that carries its threshold, with honest scores.

mod arguments;
mod contradictions;
mod defaults;
mod summary;
mod watch;

use std::time::Instant;

use scorewise_report::evaluation::{
    TrainSummary, TrainingRun, evaluate_folds, evaluate_model, evaluation_bootstrap, evaluation_sweep, model_data,
    model_document,
};
use scorewise_table::output::{OutputKind, Outputs, SafeFile};
use scorewise_table::split::Folds;
use scorewise_table::table::{Reader, Source, Table, Writing, warnings};
use scorewise_train::Note;
use scorewise_train::backend::Cpu;
use scorewise_train::model::Model;
use scorewise_train::plan::Plan;
use scorewise_train::train::{FoldResult, Trained, cross_validate, train};

pub use arguments::{Arguments, Reading};
use defaults::Inputs;
pub use defaults::{reading, threads};
use watch::ProgressWatch;

use crate::interrupt;
use crate::outcome::{Failure, Outcome, note, with_options};
use crate::plot::Plot;
use crate::showing::OVERWRITE;
use crate::showing::provenance::provenance;
use crate::table::pretty;

/// What has been trained, and how long it took.
struct Finished {
    trained: Trained,
    folds: Option<Vec<FoldResult>>,
    seconds: f64,
}

/// Trains, writes the model, and says how good it is.
pub fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    contradictions::of_options(arguments)?;
    let mut inputs = Inputs::new(arguments)?;
    let plan = inputs.plan(arguments)?;
    // That the model can be written, and over no table, is found out before the work is done for it.
    let reads = |outputs: Outputs, source: &Source| outputs.reads(source);
    let outputs = [Some(&inputs.table), inputs.test.as_ref()].into_iter().flatten().fold(Outputs::new(), reads);
    let mut outputs = outputs.overwrites(OVERWRITE, arguments.overwrite);
    let file = outputs.create(&arguments.output, OutputKind::Model)?;
    let showing = arguments.showing();
    let places = showing.places_among(outputs)?;
    let (table, writing) = whole(&inputs.table, &inputs.reading)?;
    arguments.reading.numeric.iter().try_for_each(|name| table.need(name).map(|_| ()))?;
    contradictions::with_table(arguments, &plan, &table)?;
    warnings(&table, &inputs.reading).iter().for_each(note);
    // The test table, and those of `predict`, are read as this one is written.
    inputs.reading.writing = Some(writing);
    let test = inputs.test.as_ref().map(|source| whole(source, &inputs.test_reading(&table, &plan))).transpose()?;
    let test = test.map(|(test, _)| test);
    // From here on there is a model to keep.
    let _grace = interrupt::Grace::new();
    let mut finished = finish(&table, test.as_ref(), &inputs, &plan, arguments)?;
    finished.trained.notes.iter().for_each(note);
    let bootstrap = evaluation_bootstrap(&plan, arguments.replicates as usize);
    let evaluation = evaluate_model(&finished.trained, &plan, &bootstrap)?;
    finished.trained.model.results = serde_json::to_value(&evaluation)?;
    write(file, &finished.trained.model)?;
    let Finished { trained, folds, seconds } = &finished;
    let folds = folds.as_ref().map(|folds| evaluate_folds(folds, &plan, &bootstrap)).transpose()?;
    let run = TrainingRun {
        model: arguments.output.display().to_string(),
        seconds: *seconds,
        notes: trained.notes.iter().map(with_options).collect(),
    };
    let summary = TrainSummary::new(trained, &evaluation, folds, run);
    // Only a page and a plot need all thresholds.
    let swept = if showing.are_used() || !arguments.json { evaluation_sweep(trained)? } else { None };
    let document = || {
        let data = model_data(&table.file, table.rows(), &trained.model);
        let provenance = provenance(Some(trained.model.seed), vec![data]);
        let (summary, swept) = (summary.clone(), swept.as_ref());
        Ok(model_document(trained, &plan, &evaluation, summary, swept, &bootstrap, provenance)?)
    };
    // The model is written and its scores are known: what happens to the report costs neither.
    let unmet =
        showing.write(places, document).err().map(|Failure(problem)| format!("the report was not written: {problem}"));
    if arguments.json {
        return Ok(Outcome { text: pretty(&summary), unmet });
    }
    let plot = match (&swept, trained.model.decision.threshold()) {
        (Some(sweep), Some(threshold)) => {
            let score = plan.score.binary()?;
            Plot::new(sweep, &score, threshold, None).text(&score)
        }
        _ => String::new(),
    };
    let gap = if plot.is_empty() { "" } else { "\n" };
    let text = summary::text(trained, &evaluation, &summary, &plan);
    let text = format!("{text}{gap}{plot}\nmodel written to {}\n", arguments.output.display());
    Ok(Outcome { text, unmet })
}

/// Reads a table, says what was recognised in it, and returns how it is written.
fn whole(source: &Source, reading: &scorewise_table::table::Reading) -> Result<(Table, Writing), Failure> {
    let mut reader = Reader::open(source, reading)?;
    reader.notes().iter().for_each(note);
    let table = reader.whole()?;
    reader.late_notes().iter().for_each(note);
    Ok((table, reader.writing().clone()))
}

fn finish(
    table: &Table,
    test: Option<&Table>,
    inputs: &Inputs,
    plan: &Plan,
    arguments: &Arguments,
) -> Result<Finished, Failure> {
    let start = Instant::now();
    let backend = Cpu { threads: threads(arguments.threads)? };
    let mut notes: Vec<Note> = Vec::new();
    let folds = arguments
        .folds
        .map(|folds| -> Result<Vec<FoldResult>, Failure> {
            let folds = Folds { folds, repeats: arguments.repeats, validation: plan.validation };
            let watch = ProgressWatch::new("fold", folds.folds * folds.repeats * plan.ensemble, plan)?;
            let (found, fold_notes) = cross_validate(table, plan, &folds, &backend, &watch)?;
            notes.extend(fold_notes);
            match (watch.end(), found) {
                (false, Some(found)) => Ok(found),
                _ => Err(Failure("stopped before all folds were trained; nothing was written".into())),
            }
        })
        .transpose()?;
    let watch = ProgressWatch::new("member", plan.ensemble, plan)?;
    // The folds have tested; the model that is kept learns from all rows.
    let whole = Plan { test: if folds.is_some() { 0.0 } else { plan.test }, ..plan.clone() };
    let mut trained = train(table, test, &inputs.reading, &whole, &backend, &watch)?;
    if watch.end() {
        notes.push(Note::new(format!("stopped by {}: the best model so far is kept", interrupt::name())));
    }
    notes.append(&mut trained.notes);
    trained.notes = notes;
    Ok(Finished { trained, folds, seconds: start.elapsed().as_secs_f64() })
}

fn write(mut file: SafeFile, model: &Model) -> Result<(), Failure> {
    use std::io::Write;
    file.write_all(&model.to_bytes()?)?;
    Ok(file.finish()?)
}
