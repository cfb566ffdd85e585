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
    #[arg(long, value_name = "FILE.html|none", help_heading = "Looking")]
    pub report: Option<PathBuf>,
    /// Every figure as SVG and PNG, into this folder
    #[arg(long, value_name = "DIR", help_heading = "Looking")]
    pub plots: Option<PathBuf>,
}

/// Places that can be written to.
#[derive(Debug)]
pub struct Places {
    report: Option<(PathBuf, SafeFile)>,
    plots: Option<Folder>,
}

/// A folder for figures. One that was made for them goes again where none was drawn.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    is_new: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_new {
            // It stays where there is something in it.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

impl Looking {
    /// The same, where `none` means no page.
    pub fn settled(&self) -> Self {
        let report = self.report.clone().filter(|path| path.as_os_str() != "none");
        Looking { report, plots: self.plots.clone() }
    }

    /// Whether there is anything to show.
    pub fn are_used(&self) -> bool {
        self.settled().report.is_some() || self.plots.is_some()
    }

    /// That there is a place for the page and the figures, and that it is none of these other files of the command, is found out before the
    /// work is done for them.
    pub fn places(&self, others: &[&Path]) -> Result<Places, Failure> {
        let report = self.settled().report.map(|path| -> Result<_, Failure> {
            check(&path, others)?;
            Ok((path.clone(), SafeFile::create(&path)?))
        });
        let report = report.transpose()?;
        Ok(Places { report, plots: self.plots.as_deref().map(Folder::new).transpose()? })
    }

    /// Writes what was asked for, where something was.
    pub fn write(&self, places: Places, document: impl FnOnce() -> Result<Document, Failure>) -> Result<(), Failure> {
        if self.are_used() { places.write(&document()?) } else { Ok(()) }
    }
}

/// A page takes no place of what the command reads or writes besides.
fn check(path: &Path, others: &[&Path]) -> Result<(), Failure> {
    let fault = |problem: &str| {
        Error::setting("report", format!("{}: {problem}", path.display()), "name another file, such as report.html")
    };
    if path.as_os_str() == "-" {
        return Err(fault("a page goes into a file, not to standard output").into());
    }
    let whole = |path: &Path| std::path::absolute(path).ok().map(|path| path.canonicalize().unwrap_or(path));
    match others.iter().any(|other| whole(other).is_some() && whole(other) == whole(path)) {
        true => Err(fault("is a file that this command needs itself").into()),
        false => Ok(()),
    }
}

/// Whether there is no such file, or one that a report may take the place of: an older report.
pub fn is_free(path: &Path) -> bool {
    match std::fs::read(path) {
        Ok(bytes) => bytes.windows(GENERATOR.len()).take(4096).any(|window| window == GENERATOR.as_bytes()),
        Err(_) => true,
    }
}

impl Folder {
    fn new(path: &Path) -> Result<Self, Failure> {
        let is_new = !path.exists();
        std::fs::create_dir_all(path).map_err(|error| {
            let place = Place::file(&path.display().to_string());
            Error::data(place, error.to_string(), "name another folder with `--plots`")
        })?;
        Ok(Folder { path: path.into(), is_new })
    }
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
                write_safely(&folder.path.join(format!("{}.svg", figure.name)), figure.picture.svg()?.as_bytes())?;
                write_safely(&folder.path.join(format!("{}.png", figure.name)), &figure.picture.png()?)?;
            }
            match figures.len() {
                0 => note("this result has no figures"),
                some => note(format!("{some} figures, each as SVG and PNG, are in {}", folder.path.display())),
            }
        }
        Ok(())
    }
}
