//! `--report` and `--plots`: the same result as a page and as pictures.

pub mod forecast;
pub mod provenance;

use std::io::Write;
use std::path::{Path, PathBuf};

use scorewise_report::document::Document;
use scorewise_report::{GENERATOR, figures, page};
use scorewise_train::model::{SafeFile, write_safely};
use scorewise_train::{Error, Place};

use crate::outcome::{Failure, note};

/// The options of every command whose result can be looked at.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Looking {
    /// The result as a page with a threshold to move, one HTML file; or, named .json, as data for `scorewise report`
    #[arg(long, value_name = "FILE.html", help_heading = "Looking")]
    pub report: Option<PathBuf>,
    /// Every figure as SVG and PNG, into this folder
    #[arg(long, value_name = "DIR", help_heading = "Looking")]
    pub plots: Option<PathBuf>,
}

/// Places that can be written to.
#[derive(Debug)]
pub struct Places {
    report: Option<(PathBuf, SafeFile)>,
    plots: Option<PathBuf>,
}

impl Looking {
    /// Whether there is anything to show.
    pub fn are_used(&self) -> bool {
        self.report.is_some() || self.plots.is_some()
    }

    /// That there is a place for the page and the figures is found out before the work is done for them.
    pub fn places(&self) -> Result<Places, Failure> {
        let report =
            self.report.as_ref().map(|path| -> Result<_, Failure> { Ok((path.clone(), SafeFile::create(path)?)) });
        let report = report.transpose()?;
        if let Some(folder) = &self.plots {
            create(folder)?;
        }
        Ok(Places { report, plots: self.plots.clone() })
    }

    /// Writes what was asked for, where something was.
    pub fn write(&self, places: Places, document: impl FnOnce() -> Result<Document, Failure>) -> Result<(), Failure> {
        if self.are_used() { places.write(&document()?) } else { Ok(()) }
    }
}

/// Whether there is no such file, or one that a report may take the place of: an older report.
pub fn is_free(path: &Path) -> bool {
    match std::fs::read(path) {
        Ok(bytes) => bytes.windows(GENERATOR.len()).take(4096).any(|window| window == GENERATOR.as_bytes()),
        Err(_) => true,
    }
}

fn create(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let place = Place::file(&folder.display().to_string());
        Error::data(place, error.to_string(), "name another folder with `--plots`").into()
    })
}

impl Places {
    /// Writes the page and the figures.
    pub fn write(self, document: &Document) -> Result<(), Failure> {
        if let Some((path, mut file)) = self.report {
            let is_data = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
            let text = if is_data { document.write() } else { page(document)? };
            file.write_all(text.as_bytes())?;
            file.finish()?;
            note(format!("the {} is in {}", if is_data { "result" } else { "report" }, path.display()));
        }
        if let Some(folder) = self.plots {
            let figures = figures(document)?;
            for figure in &figures {
                write_safely(&folder.join(format!("{}.svg", figure.name)), figure.picture.svg()?.as_bytes())?;
                write_safely(&folder.join(format!("{}.png", figure.name)), &figure.picture.png()?)?;
            }
            note(format!("{} figures, each as SVG and PNG, are in {}", figures.len(), folder.display()));
        }
        Ok(())
    }
}
