//! `scorewise train`: from a table to a model that carries its threshold, with honest scores.

mod arguments;
mod contradictions;
mod defaults;
mod shown;
mod looked;
mod watch;

use std::time::Instant;

use scorewise_table::output::{OutputKind, Outputs, SafeFile};
use scorewise_table::split::Folds;
use scorewise_table::table::{Reader, Source, Table, Writing, warnings};
use scorewise_train::Note;
use scorewise_train::backend::Cpu;
use scorewise_train::fit::Fit;
use scorewise_train::model::Model;
use scorewise_train::plan::Plan;
use scorewise_train::train::{FoldResult, Trained, cross_validate, train};
use serde_json::{Value, json};

pub use arguments::{Arguments, Reading};
use defaults::Inputs;
pub use defaults::{reading, threads};
pub use looked::training;
use shown::{Judged, folds_json, judge};
use watch::ProgressWatch;

use crate::interrupt;
use crate::outcome::{Failure, Outcome, note, with_options};
use crate::showing::OVERWRITE;
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
    let judged = judge(&finished.trained, &plan, arguments)?;
    finished.trained.model.results = judged.json();
    write(file, &finished.trained.model)?;
    let results = document(&finished, &judged, &plan, arguments)?;
    let looked = || looked::document(&finished, &judged, &plan, &table, arguments, results.clone());
    // The model is written and its scores are known: what happens to the report costs neither.
    let unmet =
        showing.write(places, looked).err().map(|Failure(problem)| format!("the report was not written: {problem}"));
    let text = if arguments.json {
        pretty(&results)
    } else {
        let text =
            shown::text(&finished.trained, finished.folds.as_deref(), &judged, &plan, arguments, finished.seconds)?;
        format!("{text}{}", closing(&finished, &plan, arguments)?)
    };
    Ok(Outcome { text, unmet })
}

/// The last words: a picture, and where the model is.
fn closing(finished: &Finished, plan: &Plan, arguments: &Arguments) -> Result<String, Failure> {
    let plot = looked::plot(finished, plan)?;
    let gap = if plot.is_empty() { "" } else { "\n" };
    Ok(format!("{gap}{plot}\nmodel written to {}\n", arguments.output.display()))
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

/// By the names that stay.
fn document(finished: &Finished, judged: &Judged, plan: &Plan, arguments: &Arguments) -> Result<Value, Failure> {
    let model = &finished.trained.model;
    let fits = &finished.trained.fits;
    let member = |fit: &Fit| {
        json!({
            "epochs": fit.epochs(),
            "kept": fit.kept.map(|epoch| epoch + 1),
            "success": fit.success,
            "restarts": fit.restarts,
            "validation_loss": fit.kept.and_then(|epoch| fit.history.get(epoch)).map(|epoch| epoch.validation),
            "coverage": fit.kept.and_then(|epoch| fit.history.get(epoch)).map(|epoch| epoch.coverage),
        })
    };
    let notes: Vec<String> = finished.trained.notes.iter().map(with_options).collect();
    let mut document = json!({
        "model": arguments.output.display().to_string(),
        "seed": model.seed,
        "epochs": fits.iter().map(Fit::epochs).max(),
        "success": fits.iter().all(|fit| fit.success),
        "seconds": finished.seconds,
        "target": model.target.to_string(),
        "classes": model.classes,
        "score": model.score,
        "prior": model.prior,
        "loss": model.loss,
        "threshold": model.decision.threshold(),
        "decision": model.decision,
        "train": judged.training.json(),
        "validation": judged.validation.json(),
        "test": judged.test.as_ref().map(shown::Part::json),
        "members": fits.iter().map(member).collect::<Vec<_>>(),
        "features": model.encoder.names(),
        "fingerprint": model.fingerprint,
        "notes": notes,
    });
    if let Some(folds) = &finished.folds {
        document["folds"] = folds_json(folds, plan, arguments)?;
    }
    Ok(document)
}
