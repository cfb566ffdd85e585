//! `--report` and `--plots`: the same result as a page and as pictures.

pub mod provenance;

use std::io::Write;
use std::path::{Path, PathBuf};

use scorewise_report::document::Document;
use scorewise_report::{figures, page};
use scorewise_table::output::{OutputKind, Outputs, SafeFile, SafeFolder};
use scorewise_table::table::Source;
use scorewise_train::{Error, Place};

use crate::outcome::{Failure, note};

/// The options of every command that can write its result as a page and as figures.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ReportFiles {
    /// The result as a page with a threshold to move, one HTML file; or, named .json, as data for `scorewise report`
    #[arg(long, value_name = "FILE.html|none", help_heading = "Looking")]
    pub report: Option<PathBuf>,
    /// Every figure as SVG and PNG, into this folder
    #[arg(long, value_name = "DIR", help_heading = "Looking")]
    pub plots: Option<PathBuf>,
    /// Replace files that are not older outputs of scorewise of the same kind; never one that the command reads
    #[arg(long, help_heading = "Looking")]
    pub overwrite: bool,
}

/// The former name of [`ReportFiles`].
pub type Looking = ReportFiles;

/// The name of the option that lets files of another kind be replaced.
pub const OVERWRITE: &str = "overwrite";

/// Places that can be written to.
#[derive(Debug)]
pub struct Places {
    report: Option<(PathBuf, SafeFile)>,
    plots: Option<SafeFolder>,
    /// The other files of the command, for those that are opened when the work is done.
    pub outputs: Outputs,
}

impl ReportFiles {
    /// The same, where `none` means no page.
    pub fn settled(&self) -> Self {
        let report = self.report.clone().filter(|path| path.as_os_str() != "none");
        ReportFiles { report, ..self.clone() }
    }

    /// Whether there is anything to show.
    pub fn are_used(&self) -> bool {
        self.settled().report.is_some() || self.plots.is_some()
    }

    /// That there is a place for the page and the figures of a command that reads these tables is found out before the work is done.
    pub fn places(&self, tables: &[&Path]) -> Result<Places, Failure> {
        let outputs = Outputs::new().overwrites(OVERWRITE, self.overwrite);
        let reads = |outputs: Outputs, table: &&Path| outputs.reads(&Source::parse(&table.to_string_lossy()));
        self.places_among(tables.iter().fold(outputs, reads))
    }

    /// The same for a command whose other files are these.
    pub fn places_among(&self, mut outputs: Outputs) -> Result<Places, Failure> {
        let report = self.settled().report.map(|path| -> Result<_, Failure> {
            if path.as_os_str() == "-" {
                let problem = "-: a page goes into a file, not to standard output";
                return Err(Error::setting("report", problem, "name a file, such as report.html").into());
            }
            let kind = if is_data(&path) { OutputKind::Results } else { OutputKind::Page };
            let file = outputs.create(&path, kind)?;
            Ok((path, file))
        });
        let report = report.transpose()?;
        let folder = |path: &Path| {
            SafeFolder::create(path).map_err(|error| {
                let place = Place::file(&path.display().to_string());
                Error::data(place, error.to_string(), "name another folder with `--plots`")
            })
        };
        Ok(Places { report, plots: self.plots.as_deref().map(folder).transpose()?, outputs })
    }

    /// Writes what was asked for, where something was.
    pub fn write(&self, places: Places, document: impl FnOnce() -> Result<Document, Failure>) -> Result<(), Failure> {
        if self.are_used() { places.write(&document()?) } else { Ok(()) }
    }
}

/// Whether what is asked for is the data of a page.
fn is_data(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

impl Places {
    /// Writes the page and the figures.
    pub fn write(mut self, document: &Document) -> Result<(), Failure> {
        let figures = self.plots.as_ref().map(|folder| Drawn::new(folder, &mut self.outputs, document)).transpose()?;
        if let Some((path, mut file)) = self.report {
            let is_data = is_data(&path);
            let text = if is_data { document.write() } else { page(document)? };
            file.write_all(text.as_bytes())?;
            file.finish()?;
            note(format!("the {} is in {}", if is_data { "result" } else { "report" }, path.display()));
        }
        figures.map_or(Ok(()), Drawn::write)
    }
}

/// All figures with a place for each, so that either all are written or none.
struct Drawn<'a> {
    folder: &'a SafeFolder,
    files: Vec<(SafeFile, Vec<u8>)>,
}

impl<'a> Drawn<'a> {
    fn new(folder: &'a SafeFolder, outputs: &mut Outputs, document: &Document) -> Result<Self, Failure> {
        let mut files = Vec::new();
        for figure in figures(document)? {
            let (svg, png) = (format!("{}.svg", figure.name), format!("{}.png", figure.name));
            files
                .push((outputs.create(&folder.path().join(svg), OutputKind::Svg)?, figure.picture.svg()?.into_bytes()));
            files.push((outputs.create(&folder.path().join(png), OutputKind::Png)?, figure.picture.png()?));
        }
        Ok(Drawn { folder, files })
    }

    fn write(self) -> Result<(), Failure> {
        let count = self.files.len() / 2;
        for (mut file, bytes) in self.files {
            file.write_all(&bytes)?;
            file.finish()?;
        }
        match count {
            0 => note("this result has no figures"),
            some => note(format!("{some} figures, each as SVG and PNG, are in {}", self.folder.path().display())),
        }
        Ok(())
    }
}
