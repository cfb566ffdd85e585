//! `scorewise train`: trains a model on a table, chooses its threshold, and evaluates it on held-out rows.

mod arguments;
mod contradictions;
mod cost_matrix;
mod defaults;
mod summary;
mod progress;
mod out_of_fold;

use std::ops::ControlFlow;
use std::time::Instant;

use scorewise_report::evaluation::{
    ExplainOptions, ExplainedRows, Explanation, TrainSummary, TrainingRun, evaluate_folds, evaluate_model,
    evaluation_bootstrap, evaluation_sweep, explain, held_out, model_data, model_document,
};
use scorewise_table::output::{AtomicFile, OutputKind, Outputs};
use scorewise_table::split::CrossValidation;
use scorewise_table::table::{Reader, Source, Table, TableFormat, TextConventions, warnings};
use scorewise_table::target::Target;
use scorewise_train::Note;
use scorewise_train::backend;
use scorewise_train::model::Model;
use scorewise_train::plan::{Plan, ThresholdRule};
use scorewise_train::train::{FoldResult, Trained, cross_validate, train};

pub use arguments::{ReadArguments, TrainArguments};
use cost_matrix::CostFile;
use defaults::TrainInputs;
pub use defaults::{read_options, thread_count};
use progress::ProgressWatch;

use crate::formatting::pretty_json;
use crate::interrupt;
use crate::outcome::{Failure, Outcome, note, with_options};
use crate::plot::TerminalPlot;
use crate::report_output::OVERWRITE;
use crate::report_output::provenance::provenance;

/// The trained model, the results of the folds of a cross-validation if there was one, and the training time in seconds.
struct TrainingResult {
    trained: Trained,
    folds: Option<Vec<FoldResult>>,
    seconds: f64,
}

/// Trains a model, writes it, and reports its scores.
pub fn run(arguments: &TrainArguments) -> Result<Outcome, Failure> {
    contradictions::check_options(arguments)?;
    let mut inputs = TrainInputs::new(arguments)?;
    let mut plan = inputs.plan(arguments)?;
    let costs = arguments.costs.as_deref().map(CostFile::read).transpose()?;
    // Output files are opened before training, which may take long, so that a path that cannot be written is reported at once.
    let with_input = |outputs: Outputs, source: &Source| outputs.reads(source);
    let outputs = [Some(&inputs.table), inputs.test.as_ref()].into_iter().flatten().fold(Outputs::new(), with_input);
    let mut outputs = outputs.overwrites(OVERWRITE, arguments.overwrite);
    let file = outputs.create(&arguments.output, OutputKind::Model)?;
    let out_of_fold = match &arguments.out_of_fold {
        Some(path) => Some((TableFormat::of(path)?, outputs.create(path, OutputKind::Predictions)?)),
        None => None,
    };
    let report_arguments = arguments.report_arguments();
    let report_files = report_arguments.open_with(outputs)?;
    let (table, conventions) = read_table(&inputs.table, &inputs.reading)?;
    arguments.reading.numeric.iter().try_for_each(|name| table.required_column(name).map(|_| ()))?;
    contradictions::check_table(arguments, &plan, &table)?;
    if let Some(costs) = costs {
        let (target, _) = Target::parse(&plan.target, &table, plan.positive.as_deref(), plan.lead)?;
        plan.score = costs.score(&target.classes())?;
        if arguments.options.threshold.is_none() && plan.score.binary().is_err() {
            // `Auto` predicts the class with the lowest expected cost, which needs no tuning. Without a warm start, the rule would be `Tuned`.
            plan.threshold = ThresholdRule::Auto;
        }
        note(format!("the score is the mean cost, {}: lower is better", plan.score));
    }
    warnings(&table, &inputs.reading).iter().for_each(note);
    // In the test table, and later in the tables of `predict`, numbers and dates are read in the format that was detected in the training
    // table, for example with a decimal comma.
    inputs.reading.writing = Some(conventions);
    let test =
        inputs.test.as_ref().map(|source| read_table(source, &inputs.test_reading(&table, &plan))).transpose()?;
    let test = test.map(|(test, _)| test);
    // From here on, a signal stops the training, and the best model so far is saved.
    let _graceful_stop = interrupt::GracefulStop::new();
    let mut result = run_training(&table, test.as_ref(), &inputs, &plan, arguments)?;
    result.trained.notes.iter().for_each(note);
    let bootstrap = evaluation_bootstrap(&plan, arguments.replicates as usize);
    let evaluation = evaluate_model(&result.trained, &plan, &bootstrap)?;
    result.trained.model.results = serde_json::to_value(&evaluation)?;
    let held_out = held_out(&result.trained, &plan, &bootstrap)?;
    if let Some(reference) = &mut result.trained.model.reference {
        reference.held_out = held_out;
    }
    write_model(file, &result.trained.model)?;
    if let Some((format, file)) = out_of_fold {
        out_of_fold::write(file, format, &result.trained)?;
    }
    let TrainingResult { trained, folds, seconds } = &result;
    let folds = folds.as_ref().map(|folds| evaluate_folds(folds, &plan, &bootstrap)).transpose()?;
    let run = TrainingRun {
        model: arguments.output.display().to_string(),
        seconds: *seconds,
        notes: trained.notes.iter().map(with_options).collect(),
    };
    let summary = TrainSummary::new(trained, &evaluation, folds, run);
    // Only the report and the plot need the sweep over all thresholds.
    let sweep = if report_arguments.is_requested() || !arguments.json { evaluation_sweep(trained)? } else { None };
    let document = || {
        let data = model_data(&table.file, table.rows(), &trained.model);
        let provenance = provenance(Some(trained.model.seed), vec![data]);
        let (summary, sweep) = (summary.clone(), sweep.as_ref());
        let mut document = model_document(trained, &plan, &evaluation, summary, sweep, &bootstrap, provenance)?;
        let rows = ExplainedRows::of_training(trained, test.as_ref().unwrap_or(&table));
        match training_explanation(&trained.model, &rows) {
            Ok(explanation) => document.explanation = explanation,
            Err(Failure(problem)) => {
                document.notes.push(format!("the importance of the columns was not computed: {problem}"));
            }
        }
        Ok(document)
    };
    // The model is already saved, so a failure to write the report is reported but does not discard the scores.
    let unmet = report_arguments
        .write(report_files, document)
        .err()
        .map(|Failure(problem)| format!("the report was not written: {problem}"));
    if arguments.json {
        return Ok(Outcome { text: pretty_json(&summary), unmet });
    }
    let plot = match (&sweep, trained.model.decision.threshold()) {
        (Some(sweep), Some(threshold)) if plan.temporal.is_none() => {
            let score = plan.score.binary()?;
            TerminalPlot::new(sweep, &score, threshold, None).text(&score)
        }
        _ => String::new(),
    };
    let scale = match (&trained.model.calibration, plot.is_empty()) {
        (Some(_), false) => "        (thresholds before the calibration)\n",
        _ => "",
    };
    let gap = if plot.is_empty() { "" } else { "\n" };
    let text = summary::text(trained, &evaluation, &summary, &plan);
    let text = format!("{text}{gap}{plot}{scale}\nmodel written to {}\n", arguments.output.display());
    Ok(Outcome { text, unmet })
}

/// How important the columns are, and how the predictions depend on them, for the report.
fn training_explanation(model: &Model, rows: &ExplainedRows<'_>) -> Result<Option<Explanation>, Failure> {
    let Some(options) = ExplainOptions::for_report(model) else {
        return Err(Failure("explaining a model of this size takes long; run `scorewise explain` to do it".into()));
    };
    Ok(explain(model, rows, &options, &|_, _| ControlFlow::Continue(()))?)
}

/// Reads a table and prints notes about it. Returns the table and the detected format of its numbers and dates.
fn read_table(source: &Source, reading: &scorewise_table::table::Reading) -> Result<(Table, TextConventions), Failure> {
    let mut reader = Reader::open(source, reading)?;
    reader.notes().iter().for_each(note);
    let table = reader.whole()?;
    reader.late_notes().iter().for_each(note);
    Ok((table, reader.writing().clone()))
}

/// Trains the folds of a cross-validation, if the user wants one, and then the final model.
fn run_training(
    table: &Table,
    test: Option<&Table>,
    inputs: &TrainInputs,
    plan: &Plan,
    arguments: &TrainArguments,
) -> Result<TrainingResult, Failure> {
    let start = Instant::now();
    let backend = backend::open(arguments.device, thread_count(arguments.threads)?)?;
    let mut notes: Vec<Note> = Vec::new();
    let folds = arguments
        .folds
        .map(|folds| -> Result<Vec<FoldResult>, Failure> {
            let folds = CrossValidation { folds, repeats: arguments.repeats, validation: plan.validation_share() };
            let watch =
                ProgressWatch::new("fold", folds.folds.saturating_mul(folds.repeats).saturating_mul(plan.members()))?;
            let (trained_folds, fold_notes) = cross_validate(table, plan, &folds, &*backend, &watch)?;
            notes.extend(fold_notes);
            match (watch.finish(), trained_folds) {
                (false, Some(trained_folds)) => Ok(trained_folds),
                _ => Err(Failure("stopped before all folds were trained; no model was written".into())),
            }
        })
        .transpose()?;
    let watch = ProgressWatch::new("member", plan.members())?;
    // After a cross-validation the final model needs no test rows, so it trains on all rows.
    let final_plan = Plan { test: if folds.is_some() { 0.0 } else { plan.test }, ..plan.clone() };
    let mut trained = train(table, test, &inputs.reading, &final_plan, &*backend, &watch)?;
    if watch.finish() {
        notes.push(Note::new(format!("stopped by {}; the best model so far is saved", interrupt::signal_name())));
    }
    // A note about a fold is left out if the final model has the same note.
    notes.retain(|note| !trained.notes.iter().any(|final_note| note.repeats(final_note)));
    notes.append(&mut trained.notes);
    trained.notes = notes;
    Ok(TrainingResult { trained, folds, seconds: start.elapsed().as_secs_f64() })
}

/// Writes the model file, which gets its final name when it is complete.
fn write_model(mut file: AtomicFile, model: &Model) -> Result<(), Failure> {
    use std::io::Write;
    file.write_all(&model.to_bytes()?)?;
    Ok(file.finish()?)
}
