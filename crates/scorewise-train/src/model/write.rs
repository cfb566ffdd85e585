//! A file is there whole or not at all: written beside its place, and moved there at the end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};

/// Writes a file: all of it, or the old one stays as it was.
pub fn write_safely(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = SafeFile::create(path)?;
    file.write_all(bytes).map_err(|error| fault(path, &error))?;
    file.finish()
}

/// A file in the making. Until [`finish`](SafeFile::finish) what was there before stays; dropped before that, it leaves no trace.
#[derive(Debug)]
pub struct SafeFile {
    path: PathBuf,
    writer: Option<BufWriter<File>>,
    /// Where it is written and where it goes; nothing for a pipe or a device, which is written to as it is.
    moves: Option<(PathBuf, PathBuf)>,
}

impl SafeFile {
    /// Begins. That the place can be written to is found out here, before any work is done for it.
    pub fn create(path: &Path) -> Result<Self> {
        let old = fs::metadata(path).ok();
        if path.file_name().is_none() || old.as_ref().is_some_and(fs::Metadata::is_dir) {
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
        self.close().map_err(|error| fault(&self.path, &error))?;
        self.moves = None;
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some((from, to)) = &self.moves {
            file.sync_all()?;
            drop(file);
            fs::rename(from, to)?;
        }
        Ok(())
    }
}

impl Write for SafeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.as_mut().map_or(Ok(0), |writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for SafeFile {
    fn drop(&mut self) {
        if let Some((beside, _)) = &self.moves {
            let _ = fs::remove_file(beside);
        }
    }
}

/// A new file in the same folder, so that moving it is one step.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for attempt in 0..1000 {
        let beside = path.with_file_name(format!(".{name}.{}.{attempt}.partial", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (beside, file)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn place(path: &Path) -> Place {
    Place::file(&path.display().to_string())
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
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            (format!("cannot be written: {error}"), "make room, or name a file on another disk".into())
        }
        _ => (format!("cannot be written: {error}"), String::new()),
    };
    Error::data(place(path), problem, hint)
}
