//! OUTPUT: every file that scorewise writes is opened by [`Outputs::create`].
//!
//! It refuses a file that the same command reads or writes elsewhere, and a file that is not an older output of the same kind: nobody
//! loses a table or a page of notes by a slip of the keyboard. What it opens is written beside its place and moved there at the end, so
//! a file is there whole or not at all.
//!
//! ```
//! use std::io::Write;
//! use std::path::Path;
//!
//! use scorewise_table::output::{OutputKind, Outputs};
//!
//! # let folder = std::env::temp_dir().join(format!("scorewise-output-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let table = folder.join("storms.csv");
//! std::fs::write(&table, "bz,storm\n-3.5,1\n")?;
//! let mut outputs = Outputs::new().reads_file(&table);
//! let refused = outputs.create(&table, OutputKind::Predictions).unwrap_err();
//! assert!(refused.to_string().contains("is read by this command"));
//! let mut file = outputs.create(&folder.join("predictions.csv"), OutputKind::Predictions)?;
//! file.write_all(b"probability,label\n0.75,1\n")?;
//! file.finish()?; // before this there is no predictions.csv
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Place, Result};
use crate::setting::Setting;
use crate::table::{Reader, Reading, Source};

/// What a file is for. A file of one kind never takes the place of another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputKind {
    /// A model file.
    Model,
    /// A table of predictions, in any format that tables are read in.
    Predictions,
    /// A model as an ONNX file.
    Onnx,
    /// A report, one HTML page.
    Page,
    /// The data of a report, JSON.
    Results,
    /// A figure as SVG.
    Svg,
    /// A figure as PNG.
    Png,
    /// The tables of `scorewise reproduce`, Markdown.
    Tables,
    /// The list of trainings of `scorewise reproduce`, CSV.
    Trainings,
}

/// As much of a file as is looked at to tell its kind.
const HEAD: u64 = 16 << 10;

impl OutputKind {
    /// As a message calls it.
    fn name(self) -> &'static str {
        match self {
            OutputKind::Model => "a model of scorewise",
            OutputKind::Predictions => "a table of predictions",
            OutputKind::Onnx => "an ONNX file of scorewise",
            OutputKind::Page => "a report of scorewise",
            OutputKind::Results => "a result of scorewise",
            OutputKind::Svg | OutputKind::Png => "a figure of scorewise",
            OutputKind::Tables => "a file of tables of `scorewise reproduce`",
            OutputKind::Trainings => "a list of trainings of `scorewise reproduce`",
        }
    }

    /// The kind that the ending of a file's name stands for; `None` for an ending that is not ours.
    fn of_ending(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let (_, ending) = name.trim_end_matches(".gz").rsplit_once('.')?;
        Some(match ending {
            "scorewise" => OutputKind::Model,
            "csv" | "tsv" | "parquet" | "pq" | "arrow" | "feather" => OutputKind::Predictions,
            "onnx" => OutputKind::Onnx,
            "html" | "htm" => OutputKind::Page,
            "json" => OutputKind::Results,
            "svg" => OutputKind::Svg,
            "png" => OutputKind::Png,
            _ => return None,
        })
    }

    /// An ending that a file of this kind may have, for hints.
    fn ending(self) -> &'static str {
        match self {
            OutputKind::Model => ".scorewise",
            OutputKind::Predictions => ".csv, .tsv, .csv.gz, .parquet or .arrow",
            OutputKind::Trainings => ".csv",
            OutputKind::Onnx => ".onnx",
            OutputKind::Page => ".html (or .json for its data)",
            OutputKind::Results => ".json",
            OutputKind::Svg => ".svg",
            OutputKind::Png => ".png",
            OutputKind::Tables => ".md",
        }
    }

    /// Whether the name promises another kind of file. A page is always named as one, since whoever opens it asks the name.
    fn is_misnamed(self, path: &Path) -> bool {
        match OutputKind::of_ending(path) {
            Some(OutputKind::Predictions) => !matches!(self, OutputKind::Predictions | OutputKind::Trainings),
            Some(kind) => kind != self,
            None => self == OutputKind::Page && path.extension().is_some(),
        }
    }

    /// Whether an output of this kind may take this place: there is nothing, an empty file, a pipe or a device, or an older output of
    /// this kind.
    #[must_use]
    pub fn may_replace(self, path: &Path) -> bool {
        match fs::metadata(path) {
            Ok(old) if old.is_file() && old.len() > 0 => self.is_kind_of(path),
            Ok(old) => !old.is_dir(),
            Err(_) => true,
        }
    }

    /// Whether this file, which has some bytes, is an output of this kind. A file that cannot be read is not.
    fn is_kind_of(self, path: &Path) -> bool {
        let mut head = Vec::new();
        if File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).is_err() {
            return false;
        }
        let contains = |mark: &str, within: usize| {
            head[..head.len().min(within)].windows(mark.len()).any(|window| window == mark.as_bytes())
        };
        match self {
            OutputKind::Model => {
                // Eight bytes of length come first. The description is among the first keys of the metadata, which come first.
                head.get(8..).is_some_and(|header| header.starts_with(b"{\"__metadata__\":{"))
                    && contains("\"scorewise\":\"{", 256)
            }
            OutputKind::Predictions => is_predictions(path),
            // Fields 1 and 2 of the protocol buffer: the version of the format, and a name of nine letters.
            OutputKind::Onnx => head.first() == Some(&8) && contains("\x12\x09scorewise", 32),
            OutputKind::Page => contains("<meta name=\"generator\" content=\"scorewise", head.len()),
            OutputKind::Results => head.starts_with(b"{\"scorewise\":\""),
            OutputKind::Svg => head.starts_with(b"<svg width=\"") && contains("stroke-linejoin=\"round\"", 128),
            OutputKind::Png => head.starts_with(b"\x89PNG\r\n\x1a\n") && contains("Software\0scorewise", 256),
            OutputKind::Tables => head.starts_with(b"`scorewise reproduce "),
            OutputKind::Trainings => head.starts_with(b"version,experiment,seed,score,contender,"),
        }
    }
}

/// Whether a file is a table with the columns that every table of predictions has.
fn is_predictions(path: &Path) -> bool {
    let Ok(reader) = Reader::open(&Source::File(path.into()), &Reading::default()) else { return false };
    let has = |is_it: fn(&str) -> bool| reader.fields().iter().any(|field| is_it(&field.name));
    has(|name| name == "probability" || name.starts_with("probability of "))
        && has(|name| name == "decision" || name == "label")
}

/// The files of one command: what it reads, which no output may take the place of, and what it writes, each to a place of its own.
#[derive(Debug, Default)]
pub struct Outputs {
    inputs: Vec<Identity>,
    outputs: Vec<Identity>,
    overwrites: bool,
    /// How a caller says that files of another kind may be replaced, for hints.
    option: Option<&'static str>,
}

impl Outputs {
    /// Of a command that reads nothing.
    #[must_use]
    pub fn new() -> Self {
        Outputs::default()
    }

    /// The command reads this table.
    #[must_use]
    pub fn reads(mut self, source: &Source) -> Self {
        match source {
            Source::File(path) => self.reads_file(path),
            Source::Stdin => {
                self.inputs.extend(Identity::of_standard_input());
                self
            }
            Source::BuiltIn(_) => self,
        }
    }

    /// The command reads this file.
    #[must_use]
    pub fn reads_file(mut self, path: &Path) -> Self {
        self.inputs.extend(Identity::of_file(path));
        self
    }

    /// Whether files of another kind may be replaced, and the bare name of the setting that says so. What the command reads stays all the same.
    #[must_use]
    pub fn overwrites(self, option: &'static str, overwrites: bool) -> Self {
        Outputs { overwrites, option: Some(option), ..self }
    }

    /// Opens an output. All that can be wrong with its place is found out here, before any work is done for it.
    pub fn create(&mut self, path: &Path, kind: OutputKind) -> Result<SafeFile> {
        self.check(path, kind)?;
        let file = SafeFile::create(path)?;
        self.outputs.push(Identity::of_output(path));
        Ok(file)
    }

    /// Writes a whole file: all of it, or the old one stays as it was.
    pub fn write(&mut self, path: &Path, kind: OutputKind, bytes: &[u8]) -> Result<()> {
        let mut file = self.create(path, kind)?;
        file.writer.as_mut().map_or(Ok(()), |writer| writer.write_all(bytes)).map_err(|error| fault(path, &error))?;
        file.finish()
    }

    /// Whether an output of this kind may go to this place; it is not opened yet.
    pub fn check(&self, path: &Path, kind: OutputKind) -> Result<()> {
        let refused = |problem: String, hint: String| Err(Error::data(place(path), problem, hint));
        let wanted = Identity::of_output(path);
        if self.inputs.iter().any(|input| input.is_same(&wanted)) {
            return refused("is read by this command, and would be written over".into(), "name another file".into());
        }
        if self.outputs.iter().any(|output| output.is_same(&wanted)) {
            return refused("is the place of two outputs of this command".into(), "name two files".into());
        }
        if self.overwrites || fs::metadata(path).is_ok_and(|old| old.is_dir()) {
            return Ok(());
        }
        if kind.may_replace(path) {
            if !kind.is_misnamed(path) {
                return Ok(());
            }
            let problem = format!("{} would be written under the name of another kind of file", kind.name());
            return refused(problem, format!("name a file that ends in {}", kind.ending()));
        }
        let hint = match self.option {
            Some(option) => format!("name another file, or add `{}` to replace this one", Setting(option)),
            None => "name another file, or remove this one first".into(),
        };
        refused(format!("is there already and is not {}", kind.name()), hint)
    }

    /// Keeps this place for an output that is opened by other means.
    pub fn reserve(&mut self, path: &Path) {
        self.outputs.push(Identity::of_output(path));
    }
}

/// What tells whether two paths are one file, links included.
#[derive(Debug, PartialEq)]
enum Identity {
    /// A file that is there: its device and its number there.
    #[cfg(unix)]
    File(u64, u64),
    /// A place where nothing is yet, or a file of a system without such numbers: the folder without links, and the name.
    Path(PathBuf),
    /// A pipe or a device, which nothing is lost by writing to.
    Stream,
}

impl Identity {
    fn of_file(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok()?;
        Some(Identity::of(&about).unwrap_or_else(|| Identity::Path(fs::canonicalize(path).unwrap_or(path.into()))))
    }

    fn of_output(path: &Path) -> Self {
        Identity::of_file(path).unwrap_or_else(|| {
            let absolute = std::path::absolute(path).unwrap_or(path.into());
            let folder = absolute.parent().and_then(|folder| fs::canonicalize(folder).ok());
            Identity::Path(match (folder, absolute.file_name()) {
                (Some(folder), Some(name)) => folder.join(name),
                _ => absolute,
            })
        })
    }

    /// A file that the shell put there: `< table.csv`.
    fn of_standard_input() -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
            Identity::of(&file.metadata().ok()?)
        }
        #[cfg(not(unix))]
        None
    }

    #[cfg(unix)]
    fn of(about: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(if about.is_file() { Identity::File(about.dev(), about.ino()) } else { Identity::Stream })
    }

    #[cfg(not(unix))]
    fn of(about: &Metadata) -> Option<Self> {
        (!about.is_file()).then_some(Identity::Stream)
    }

    fn is_same(&self, other: &Identity) -> bool {
        *self != Identity::Stream && self == other
    }
}

/// A file in the making, of [`Outputs::create`]. Until [`finish`](SafeFile::finish) what was there before stays; dropped before that, it
/// leaves no trace.
#[derive(Debug)]
pub struct SafeFile {
    path: PathBuf,
    writer: Option<BufWriter<File>>,
    /// Where it is written and where it goes; `None` for a pipe or a device, which is written to as it is.
    moves: Option<(PathBuf, PathBuf)>,
}

impl SafeFile {
    fn create(path: &Path) -> Result<Self> {
        let old = fs::metadata(path).ok();
        if path.file_name().is_none() || old.as_ref().is_some_and(Metadata::is_dir) {
            let hint = format!("name a file in it: `{}`", path.join("model.scorewise").display());
            return Err(Error::data(place(path), "is a folder, not a file to write to", hint));
        }
        if old.as_ref().is_some_and(|old| old.is_file() && old.permissions().readonly()) {
            return Err(Error::data(
                place(path),
                "is write-protected",
                "name another file, or allow writing to this one",
            ));
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let device = OpenOptions::new().write(true).open(path).map_err(|error| fault(path, &error))?;
            return Ok(SafeFile { path: path.into(), writer: Some(BufWriter::new(device)), moves: None });
        }
        // A link stays a link: what it points to is replaced.
        let to = if old.is_some() { fs::canonicalize(path).map_err(|error| fault(path, &error))? } else { path.into() };
        let (beside, file) = beside(&to).map_err(|error| fault(path, &error))?;
        let made = SafeFile { path: path.into(), writer: Some(BufWriter::new(file)), moves: Some((beside, to)) };
        if let (Some(old), Some((beside, _))) = (old, &made.moves) {
            // Who may read the old file may read the new one, as far as that can be kept.
            let _ = fs::set_permissions(beside, old.permissions());
        }
        Ok(made)
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<()> {
        self.close().map_err(|error| fault(&self.path, &error))
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some((from, to)) = &self.moves {
            file.sync_all()?;
            drop(file);
            let mut partial = partial();
            fs::rename(from, to)?;
            partial.retain(|path| path != from);
            drop(partial);
            self.moves = None;
        }
        Ok(())
    }
}

/// An error of writing names the file, whatever passes it on.
impl Write for SafeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.as_mut().map_or(Ok(0), |writer| writer.write(bytes)).map_err(|error| named(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), BufWriter::flush).map_err(|error| named(&self.path, &error))
    }
}

impl Drop for SafeFile {
    fn drop(&mut self) {
        // Nothing more is to be written: what is still in the buffer goes with the file.
        if let Some(writer) = self.writer.take() {
            drop(writer.into_parts());
        }
        if let Some((beside, _)) = &self.moves {
            let mut partial = partial();
            let _ = fs::remove_file(beside);
            partial.retain(|path| path != beside);
        }
    }
}

/// A folder for outputs. One that was made for them goes again where none was written.
#[derive(Debug)]
pub struct SafeFolder {
    path: PathBuf,
    is_new: bool,
}

impl SafeFolder {
    /// Makes it where it is not there.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut partial = partial();
        let is_new = !path.exists();
        fs::create_dir_all(path)?;
        if is_new {
            partial.push(path.into());
        }
        Ok(SafeFolder { path: path.into(), is_new })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SafeFolder {
    fn drop(&mut self) {
        if self.is_new {
            let mut partial = partial();
            // It stays where there is something in it.
            let _ = fs::remove_dir(&self.path);
            partial.retain(|path| *path != self.path);
        }
    }
}

/// Files that are being written and folders that are new, for whoever must end the program at once.
static PARTIAL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn partial() -> MutexGuard<'static, Vec<PathBuf>> {
    PARTIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all files that are being written, and new folders that are empty, and then ends the program with this code. From the removal
/// on no thread can begin another file or put one in its place.
pub fn remove_partial_files_and_exit(code: i32) -> ! {
    let partial = partial();
    // Files before the folders that they are in, which were made first.
    for path in partial.iter().rev() {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
    }
    std::process::exit(code)
}

/// A new file in the same folder, so that moving it is one step.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut partial = partial();
    for attempt in 0..1000 {
        let beside = path.with_file_name(format!(".{name}.{}.{attempt}.partial", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                partial.push(beside.clone());
                return Ok((beside, file));
            }
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn place(path: &Path) -> Place {
    Place::file(&path.display().to_string())
}

/// The same error with the sentence of [`fault`].
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), fault(path, error).to_string())
}

/// What went wrong, in the words of a user.
fn fault(path: &Path, error: &io::Error) -> Error {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = folder.display();
    let (problem, hint) = match error.kind() {
        ErrorKind::NotFound => {
            (format!("there is no folder `{name}` to write it in"), format!("make it first: mkdir -p '{name}'"))
        }
        ErrorKind::NotADirectory => {
            (format!("`{name}` is a file, not a folder to write in"), "name another folder".into())
        }
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            (format!("the folder `{name}` may not be written to"), "name a file in a folder of your own".into())
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            (format!("cannot be written: {error}"), "make room, or name a file on another disk".into())
        }
        _ => (format!("cannot be written: {error}"), String::new()),
    };
    Error::data(place(path), problem, hint)
}
