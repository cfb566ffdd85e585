//! Output files, opened by [`Outputs::create`].
//!
//! [`Outputs::create`] refuses to overwrite an input of the same command, another output of the same command and, unless the user allows it, any
//! existing file that is not an older output of the same [`OutputKind`]. So a mistyped name cannot destroy a table. The data is written to a
//! temporary file in the same folder, which is renamed at the end, so an output file is written completely or not at all.
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
//! assert!(refused.to_string().contains("is an input of this command"));
//! let mut file = outputs.create(&folder.join("predictions.csv"), OutputKind::Predictions)?;
//! file.write_all(b"probability,label\n0.75,1\n")?;
//! file.finish()?; // predictions.csv does not exist before this call
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Location, Result};
use crate::setting::Setting;
use crate::table::{Reader, Reading, Source};

/// What an output file contains. Unless the user allows overwriting, an existing file is only replaced by an output with the same
/// `OutputKind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputKind {
    /// A model file.
    Model,
    /// A table of predictions, in any format that tables can be read from.
    Predictions,
    /// A model as an ONNX file.
    Onnx,
    /// A report as an HTML page.
    Page,
    /// The data of a report as JSON.
    Results,
    /// A figure as SVG.
    Svg,
    /// A figure as PNG.
    Png,
    /// The tables of `scorewise reproduce` as Markdown.
    Tables,
    /// The list of training runs of `scorewise reproduce` as CSV.
    TrainingRuns,
    /// The importance of columns, from `scorewise explain`, as CSV.
    Importance,
}

/// The number of bytes at the beginning of an existing file from which its [`OutputKind`] is recognised.
const HEAD_BYTES: u64 = 16 << 10;

impl OutputKind {
    /// The description of this kind of file in messages, with an article: "a scorewise model".
    fn description(self) -> &'static str {
        match self {
            OutputKind::Model => "a scorewise model",
            OutputKind::Predictions => "a table of predictions",
            OutputKind::Onnx => "an ONNX file written by scorewise",
            OutputKind::Page => "a scorewise report",
            OutputKind::Results => "a scorewise result",
            OutputKind::Svg | OutputKind::Png => "a scorewise figure",
            OutputKind::Tables => "a Markdown file with the tables of `scorewise reproduce`",
            OutputKind::TrainingRuns => "a list of training runs of `scorewise reproduce`",
            OutputKind::Importance => "a table of importances from `scorewise explain`",
        }
    }

    /// The kind of output that usually has the file extension of `path`; `None` for an extension that scorewise does not use.
    fn of_extension(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let (_, extension) = name.trim_end_matches(".gz").rsplit_once('.')?;
        Some(match extension {
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

    /// The file extensions for this kind of output, as text for hints.
    fn extensions(self) -> &'static str {
        match self {
            OutputKind::Model => ".scorewise",
            OutputKind::Predictions => ".csv, .tsv, .csv.gz, .parquet or .arrow",
            OutputKind::TrainingRuns | OutputKind::Importance => ".csv",
            OutputKind::Onnx => ".onnx",
            OutputKind::Page => ".html (or .json for the data of the report)",
            OutputKind::Results => ".json",
            OutputKind::Svg => ".svg",
            OutputKind::Png => ".png",
            OutputKind::Tables => ".md",
        }
    }

    /// Whether the file extension belongs to another kind of output. The name of an HTML page must end in `.html` or `.htm` or have no
    /// extension, since browsers recognise pages by their extension.
    fn is_misnamed(self, path: &Path) -> bool {
        match OutputKind::of_extension(path) {
            Some(OutputKind::Predictions) => match self {
                OutputKind::Predictions | OutputKind::TrainingRuns => false,
                OutputKind::Importance => !path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv")),
                _ => true,
            },
            Some(kind) => kind != self,
            None => self == OutputKind::Page && path.extension().is_some(),
        }
    }

    /// Whether an output of this kind may be written to this path. This is so if nothing exists there, or only an empty file, a pipe, a device
    /// or an older output of this kind.
    #[must_use]
    pub fn may_replace(self, path: &Path) -> bool {
        match fs::metadata(path) {
            Ok(old) if old.is_file() && old.len() > 0 => self.is_kind_of(path),
            Ok(old) => !old.is_dir(),
            Err(_) => true,
        }
    }

    /// Whether this non-empty file is an output of this kind; `false` for a file that cannot be read.
    fn is_kind_of(self, path: &Path) -> bool {
        let mut head = Vec::new();
        if File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head)).is_err() {
            return false;
        }
        let contains = |signature: &str, within: usize| {
            head[..head.len().min(within)].windows(signature.len()).any(|window| window == signature.as_bytes())
        };
        match self {
            OutputKind::Model => {
                // A safetensors file begins with eight bytes for the length of the header. The header begins with the metadata, in which
                // `scorewise` is one of the first keys.
                head.get(8..).is_some_and(|header| header.starts_with(b"{\"__metadata__\":{"))
                    && contains("\"scorewise\":\"{", 256)
            }
            OutputKind::Predictions => is_predictions_table(path),
            // An ONNX file is a protocol buffer. Field 1 is the version of the format; field 2 is the name of the producer, `scorewise`.
            OutputKind::Onnx => head.first() == Some(&8) && contains("\x12\x09scorewise", 32),
            OutputKind::Page => contains("<meta name=\"generator\" content=\"scorewise", head.len()),
            OutputKind::Results => head.starts_with(b"{\"scorewise\":\""),
            OutputKind::Svg => head.starts_with(b"<svg width=\"") && contains("stroke-linejoin=\"round\"", 128),
            OutputKind::Png => head.starts_with(b"\x89PNG\r\n\x1a\n") && contains("Software\0scorewise", 256),
            OutputKind::Tables => head.starts_with(b"`scorewise reproduce "),
            OutputKind::TrainingRuns => head.starts_with(b"version,experiment,seed,score,contender,"),
            OutputKind::Importance => head.starts_with(b"column,value,low,high\n"),
        }
    }
}

/// Whether a file is a table with the columns that all tables of predictions have.
fn is_predictions_table(path: &Path) -> bool {
    let Ok(reader) = Reader::open(&Source::File(path.into()), &Reading::default()) else { return false };
    let has = |matches: fn(&str) -> bool| reader.fields().iter().any(|field| matches(&field.name));
    has(|name| name == "probability" || name.starts_with("probability of "))
        && has(|name| name == "decision" || name == "label")
}

/// The files that one command reads and writes. No output may overwrite an input or another output.
#[derive(Debug, Default)]
pub struct Outputs {
    inputs: Vec<FileIdentity>,
    outputs: Vec<FileIdentity>,
    /// Whether an output may replace any existing file, not only an older output of the same kind.
    overwrites: bool,
    /// The name of the setting by which the user allows overwriting, without the `--` of the command line; used in hints.
    option: Option<&'static str>,
}

impl Outputs {
    /// Creates the list of the files of a command, which is empty at first.
    #[must_use]
    pub fn new() -> Self {
        Outputs::default()
    }

    /// Adds a table that the command reads. No output may overwrite this table.
    #[must_use]
    pub fn reads(mut self, source: &Source) -> Self {
        match source {
            Source::File(path) => self.reads_file(path),
            Source::Stdin => {
                self.inputs.extend(FileIdentity::of_standard_input());
                self
            }
            Source::BuiltIn(_) => self,
        }
    }

    /// Adds a file that the command reads. No output may overwrite this file.
    #[must_use]
    pub fn reads_file(mut self, path: &Path) -> Self {
        self.inputs.extend(FileIdentity::of_file(path));
        self
    }

    /// Sets whether existing files of another kind may be replaced. `option` is the plain name of the setting by which the user allows this. Inputs
    /// are never replaced.
    #[must_use]
    pub fn overwrites(self, option: &'static str, overwrites: bool) -> Self {
        Outputs { overwrites, option: Some(option), ..self }
    }

    /// Opens an output file. Problems with the path are reported here, so a caller that opens the file before a long computation finds them early.
    pub fn create(&mut self, path: &Path, kind: OutputKind) -> Result<AtomicFile> {
        self.check(path, kind)?;
        let file = AtomicFile::create(path)?;
        self.outputs.push(FileIdentity::of_output(path));
        Ok(file)
    }

    /// Writes an output file that consists of `bytes`. If writing fails, an existing file is left unchanged.
    pub fn write(&mut self, path: &Path, kind: OutputKind, bytes: &[u8]) -> Result<()> {
        let mut file = self.create(path, kind)?;
        file.writer
            .as_mut()
            .map_or(Ok(()), |writer| writer.write_all(bytes))
            .map_err(|error| write_error(path, &error))?;
        file.finish()
    }

    /// Checks whether an output of this kind may be written to this path, without creating or changing a file.
    pub fn check(&self, path: &Path, kind: OutputKind) -> Result<()> {
        let refused = |problem: String, hint: String| Err(Error::data(location_of(path), problem, hint));
        let new_output = FileIdentity::of_output(path);
        if self.inputs.iter().any(|input| input.is_same(&new_output)) {
            return refused("is an input of this command and would be overwritten".into(), "name another file".into());
        }
        if self.outputs.iter().any(|output| output.is_same(&new_output)) {
            return refused("is the path of two outputs of this command".into(), "name two different files".into());
        }
        if self.overwrites || fs::metadata(path).is_ok_and(|old| old.is_dir()) {
            return Ok(());
        }
        if kind.may_replace(path) {
            if !kind.is_misnamed(path) {
                return Ok(());
            }
            let problem = format!("{} cannot have this file extension", kind.description());
            return refused(problem, format!("name a file that ends in {}", kind.extensions()));
        }
        let hint = match self.option {
            Some(option) => format!("name another file, or add `{}` to replace this one", Setting(option)),
            None => "name another file, or remove this one first".into(),
        };
        refused(format!("already exists and is not {}", kind.description()), hint)
    }

    /// Registers a path that is written without [`Outputs::create`], so that no other output can use it.
    pub fn reserve(&mut self, path: &Path) {
        self.outputs.push(FileIdentity::of_output(path));
    }
}

/// The identity of a file. Two paths to the same file have the same identity, even if one is a link.
#[derive(Debug, PartialEq)]
enum FileIdentity {
    /// The device number and the inode number of an existing file.
    #[cfg(unix)]
    File(u64, u64),
    /// The absolute path, with links resolved, of a file that does not exist yet, or of any file on systems without inodes.
    Path(PathBuf),
    /// Anything that is not a regular file, such as a pipe or a device: it has no earlier content that could be overwritten.
    Stream,
}

impl FileIdentity {
    /// The identity of an existing file; `None` if the file does not exist.
    fn of_file(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(
            FileIdentity::of_metadata(&metadata)
                .unwrap_or_else(|| FileIdentity::Path(fs::canonicalize(path).unwrap_or(path.into()))),
        )
    }

    /// The identity of an output file, which need not exist yet.
    fn of_output(path: &Path) -> Self {
        FileIdentity::of_file(path).unwrap_or_else(|| {
            let absolute = std::path::absolute(path).unwrap_or(path.into());
            let folder = absolute.parent().and_then(|folder| fs::canonicalize(folder).ok());
            FileIdentity::Path(match (folder, absolute.file_name()) {
                (Some(folder), Some(name)) => folder.join(name),
                _ => absolute,
            })
        })
    }

    /// The identity of the file that the shell redirected to standard input, as in `< table.csv`; [`FileIdentity::Stream`] for a pipe or a
    /// terminal, and `None` on systems other than Unix.
    fn of_standard_input() -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
            FileIdentity::of_metadata(&file.metadata().ok()?)
        }
        #[cfg(not(unix))]
        None
    }

    /// The identity of a file with this metadata.
    #[cfg(unix)]
    fn of_metadata(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(if metadata.is_file() { FileIdentity::File(metadata.dev(), metadata.ino()) } else { FileIdentity::Stream })
    }

    /// The identity of a pipe or a device; `None` for a file, which cannot be identified by its metadata on this system.
    #[cfg(not(unix))]
    fn of_metadata(metadata: &Metadata) -> Option<Self> {
        (!metadata.is_file()).then_some(FileIdentity::Stream)
    }

    /// Whether both are the same file. Two streams are never the same file, because neither can overwrite the other.
    fn is_same(&self, other: &FileIdentity) -> bool {
        *self != FileIdentity::Stream && self == other
    }
}

/// A file being written, opened by [`Outputs::create`]. [`finish`](AtomicFile::finish) replaces an existing file at the same
/// path; if the `AtomicFile` is dropped without `finish`, the existing file is left unchanged.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    writer: Option<BufWriter<File>>,
    /// The path of the temporary file, and the final path to which it is renamed. `None` for a pipe or a device, which is written to directly.
    rename: Option<(PathBuf, PathBuf)>,
}

impl AtomicFile {
    /// Creates the temporary file for an output, or opens the output itself if it is a pipe or a device.
    fn create(path: &Path) -> Result<Self> {
        let old = fs::metadata(path).ok();
        if path.file_name().is_none() || old.as_ref().is_some_and(Metadata::is_dir) {
            let hint = format!("name a file in this folder: `{}`", path.join("model.scorewise").display());
            return Err(Error::data(location_of(path), "is a folder, not a file to write to", hint));
        }
        if old.as_ref().is_some_and(|old| old.is_file() && old.permissions().readonly()) {
            return Err(Error::data(
                location_of(path),
                "is write-protected",
                "name another file, or allow writing to this one",
            ));
        }
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let device = OpenOptions::new().write(true).open(path).map_err(|error| write_error(path, &error))?;
            return Ok(AtomicFile { path: path.into(), writer: Some(BufWriter::new(device)), rename: None });
        }
        // A symbolic link is kept, and the file that it points to is replaced.
        let to = if old.is_some() {
            fs::canonicalize(path).map_err(|error| write_error(path, &error))?
        } else {
            path.into()
        };
        let (temporary, file) = temporary_file(&to).map_err(|error| write_error(path, &error))?;
        let created =
            AtomicFile { path: path.into(), writer: Some(BufWriter::new(file)), rename: Some((temporary, to)) };
        if let (Some(old), Some((temporary, _))) = (old, &created.rename) {
            // The new file keeps the permissions of the old one where the file system allows it.
            let _ = fs::set_permissions(temporary, old.permissions());
        }
        Ok(created)
    }

    /// Writes the remaining data and renames the temporary file to its final path.
    pub fn finish(mut self) -> Result<()> {
        self.close().map_err(|error| write_error(&self.path, &error))
    }

    /// Does the same as [`finish`](AtomicFile::finish), but the error does not contain the name of the file.
    fn close(&mut self) -> io::Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some((from, to)) = &self.rename {
            file.sync_all()?;
            drop(file);
            let mut partial = lock_partial_files();
            fs::rename(from, to)?;
            partial.retain(|path| path != from);
            drop(partial);
            self.rename = None;
        }
        Ok(())
    }
}

/// Errors contain the name of the file, because libraries that write through an `AtomicFile`, such as the Parquet writer, do not add it.
impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer
            .as_mut()
            .map_or(Ok(0), |writer| writer.write(bytes))
            .map_err(|error| io_error_with_path(&self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), BufWriter::flush).map_err(|error| io_error_with_path(&self.path, &error))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // The file is discarded, so the buffer is dropped without being flushed.
        if let Some(writer) = self.writer.take() {
            drop(writer.into_parts());
        }
        if let Some((temporary, _)) = &self.rename {
            let mut partial = lock_partial_files();
            let _ = fs::remove_file(temporary);
            partial.retain(|path| path != temporary);
        }
    }
}

/// A folder for output files. On drop, the folder is removed if [`OutputFolder::create`] created it and it is still empty.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    is_new: bool,
}

impl OutputFolder {
    /// Creates the folder if it does not exist.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut partial = lock_partial_files();
        let is_new = !path.exists();
        fs::create_dir_all(path)?;
        if is_new {
            partial.push(path.into());
        }
        Ok(OutputFolder { path: path.into(), is_new })
    }

    /// The path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        if self.is_new {
            let mut partial = lock_partial_files();
            // `remove_dir` fails if the folder is not empty, which is intended.
            let _ = fs::remove_dir(&self.path);
            partial.retain(|path| *path != self.path);
        }
    }
}

/// Paths of temporary files and newly created folders. [`remove_partial_files_and_exit`] removes them if the program has to exit early.
static PARTIAL_FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Locks the list of temporary files and new folders, and returns it.
fn lock_partial_files() -> MutexGuard<'static, Vec<PathBuf>> {
    PARTIAL_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files and empty new folders, then ends the program with the exit code `code`. No other thread can create or finish a
/// file meanwhile, because the list of temporary files stays locked.
pub fn remove_partial_files_and_exit(code: i32) -> ! {
    let partial = lock_partial_files();
    // Paths are removed in reverse order of creation, so that files are removed before the folders that contain them.
    for path in partial.iter().rev() {
        let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
    }
    std::process::exit(code)
}

/// Creates a temporary file in the folder of `path`, so that it can be moved to `path` by one atomic rename.
fn temporary_file(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut partial = lock_partial_files();
    for attempt in 0..1000 {
        let temporary = path.with_file_name(format!(".{name}.{}.{attempt}.partial", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => {
                partial.push(temporary.clone());
                return Ok((temporary, file));
            }
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// The path as the location of an error.
fn location_of(path: &Path) -> Location {
    Location::file(&path.display().to_string())
}

/// An I/O error with the same `ErrorKind` as `error` and the message of [`write_error`].
fn io_error_with_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), write_error(path, error).to_string())
}

/// The error for a file that cannot be written. The message gives the cause and, if possible, a hint.
fn write_error(path: &Path, error: &io::Error) -> Error {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = folder.display();
    let (problem, hint) = match error.kind() {
        ErrorKind::NotFound => {
            (format!("the folder `{name}` does not exist"), format!("create it first: mkdir -p '{name}'"))
        }
        ErrorKind::NotADirectory => (format!("`{name}` is a file, not a folder"), "name another folder".into()),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            (format!("no permission to write to the folder `{name}`"), "name a file in another folder".into())
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            (format!("cannot be written: {error}"), "free some space, or name a file on another disk".into())
        }
        _ => (format!("cannot be written: {error}"), String::new()),
    };
    Error::data(location_of(path), problem, hint)
}
