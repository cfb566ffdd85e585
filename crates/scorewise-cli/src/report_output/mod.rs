//! The options `--report` and `--plots`: a result as an HTML report and as figures.

pub mod provenance;

use std::io::Write;
use std::path::{Path, PathBuf};

use scorewise_report::document::Document;
use scorewise_report::{figures, page};
use scorewise_table::output::{AtomicFile, OutputFolder, OutputKind, Outputs};
use scorewise_table::table::Source;
use scorewise_train::{Error, Location};

use crate::formatting::count_text;
use crate::outcome::{Failure, note};

/// Options of every command that can write its result as a report and as figures.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ReportArguments {
    /// Write an HTML report with a movable threshold; a file that ends in .json gets the data for `scorewise report`
    #[arg(long, value_name = "FILE.html|none", help_heading = "Report")]
    pub report: Option<PathBuf>,
    /// Folder for the figures as SVG and PNG
    #[arg(long, value_name = "DIR", help_heading = "Report")]
    pub plots: Option<PathBuf>,
    /// Replace existing files whatever they contain; without this option, a file is replaced only by an output of its kind, such as a
    /// report by a report. Input files are never replaced
    #[arg(long, help_heading = "Report")]
    pub overwrite: bool,
}

/// The name of the option that allows files of any kind to be replaced.
pub const OVERWRITE: &str = "overwrite";

/// The report file and the folder for the figures. They are opened before any work is done, so that a path that cannot be written is reported early.
#[derive(Debug)]
pub struct ReportFiles {
    report: Option<(PathBuf, AtomicFile)>,
    plots: Option<OutputFolder>,
    /// The files that the command already reads or writes. Another output file must be a different file.
    pub outputs: Outputs,
}

impl ReportArguments {
    /// The path of the report; `None` without `--report` and with `--report none`.
    fn report_path(&self) -> Option<&PathBuf> {
        self.report.as_ref().filter(|path| path.as_os_str() != "none")
    }

    /// Whether a report or figures will be written.
    pub fn is_requested(&self) -> bool {
        self.report_path().is_some() || self.plots.is_some()
    }

    /// Opens the output files. `tables` are the paths of the input tables, which are never replaced.
    pub fn open(&self, tables: &[&Path]) -> Result<ReportFiles, Failure> {
        let outputs = Outputs::new().overwrites(OVERWRITE, self.overwrite);
        let with_input = |outputs: Outputs, table: &&Path| outputs.reads(&Source::parse(&table.to_string_lossy()));
        self.open_with(tables.iter().fold(outputs, with_input))
    }

    /// Opens the output files. `outputs` knows the input files and the other output files of the command; the report and the figures never replace
    /// them.
    pub fn open_with(&self, mut outputs: Outputs) -> Result<ReportFiles, Failure> {
        let report = self.report_path().map(|path| -> Result<_, Failure> {
            if path.as_os_str() == "-" {
                let problem = "-: a report cannot be written to standard output";
                return Err(Error::setting("report", problem, "name a file, such as report.html").into());
            }
            let kind = if is_json(path) { OutputKind::Results } else { OutputKind::Page };
            let file = outputs.create(path, kind)?;
            Ok((path.clone(), file))
        });
        let report = report.transpose()?;
        let folder = |path: &Path| {
            OutputFolder::create(path).map_err(|error| {
                let place = Location::file(&path.display().to_string());
                Error::data(place, error.to_string(), "name another folder with `--plots`")
            })
        };
        Ok(ReportFiles { report, plots: self.plots.as_deref().map(folder).transpose()?, outputs })
    }

    /// Writes the report and the figures if the user requested them. `document` makes the data of the report; it is called only if
    /// the report or figures were requested.
    pub fn write(
        &self,
        files: ReportFiles,
        document: impl FnOnce() -> Result<Document, Failure>,
    ) -> Result<(), Failure> {
        if self.is_requested() { files.write(&document()?) } else { Ok(()) }
    }
}

/// Whether the path ends in `.json`.
fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

impl ReportFiles {
    /// Writes the report and the figures.
    pub fn write(mut self, document: &Document) -> Result<(), Failure> {
        let figures =
            self.plots.as_ref().map(|folder| FigureFiles::new(folder, &mut self.outputs, document)).transpose()?;
        if let Some((path, mut file)) = self.report {
            let is_json = is_json(&path);
            let text = if is_json { document.write() } else { page(document)? };
            file.write_all(text.as_bytes())?;
            file.finish()?;
            note(format!("{} written to {}", if is_json { "result" } else { "report" }, path.display()));
        }
        figures.map_or(Ok(()), FigureFiles::write)
    }
}

/// All figures with their output files. Every figure is rendered and every file is opened before the first file is written, so that an error leaves
/// no incomplete set of figures.
struct FigureFiles<'a> {
    folder: &'a OutputFolder,
    files: Vec<(AtomicFile, Vec<u8>)>,
}

impl<'a> FigureFiles<'a> {
    /// Renders all figures of the report and opens their files.
    fn new(folder: &'a OutputFolder, outputs: &mut Outputs, document: &Document) -> Result<Self, Failure> {
        let mut files = Vec::new();
        for figure in figures(document)? {
            let (svg, png) = (format!("{}.svg", figure.name), format!("{}.png", figure.name));
            files
                .push((outputs.create(&folder.path().join(svg), OutputKind::Svg)?, figure.picture.svg()?.into_bytes()));
            files.push((outputs.create(&folder.path().join(png), OutputKind::Png)?, figure.picture.png()?));
        }
        Ok(FigureFiles { folder, files })
    }

    /// Writes the files, and prints a note with the number of figures.
    fn write(self) -> Result<(), Failure> {
        let count = self.files.len() / 2;
        for (mut file, bytes) in self.files {
            file.write_all(&bytes)?;
            file.finish()?;
        }
        match count {
            0 => note("this result has no figures"),
            count => {
                let figures = count_text(count as u64, "figure");
                note(format!("{figures} written as SVG and PNG to `{}`", self.folder.path().display()));
            }
        }
        Ok(())
    }
}
