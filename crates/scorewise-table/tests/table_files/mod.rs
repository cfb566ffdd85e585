//! Helpers for tests that read tables: temporary files, and access to the strings of a column.

#![allow(dead_code, reason = "not every test file uses all of these helpers")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use scorewise_table::table::{Category, Source, Table, Values};

/// A temporary folder that is removed at the end of the test. It is in memory if the system has `/dev/shm`.
pub struct ScratchFolder(PathBuf);

impl ScratchFolder {
    /// Creates an empty folder with a name that no other test uses.
    pub fn new() -> Self {
        static FOLDERS_CREATED: AtomicUsize = AtomicUsize::new(0);
        let count = FOLDERS_CREATED.fetch_add(1, Ordering::Relaxed);
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
        let name = format!("scorewise-table-{}-{count}", std::process::id());
        // `/dev/shm` may exist without being writable; then the temporary folder of the system is used.
        let folder = match fs::create_dir_all(base.join(&name)) {
            Ok(()) => base.join(name),
            Err(_) => std::env::temp_dir().join(name),
        };
        fs::create_dir_all(&folder).unwrap();
        ScratchFolder(folder)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file to this folder and returns it as the source of a table.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> Source {
        fs::write(self.0.join(name), bytes).unwrap();
        Source::File(self.0.join(name))
    }

    /// Removes the path of this folder from a message.
    pub fn without_path(&self, message: &str) -> String {
        message.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The strings of a categorical column, with `None` for missing values.
pub fn strings(table: &Table, name: &str) -> Vec<Option<String>> {
    match &table.required_column(name).unwrap().values {
        Values::Category(Category { codes, levels }) => {
            codes.iter().map(|code| levels.get(*code as usize).cloned()).collect()
        }
        other => panic!("{name} holds {:?}", other.kind()),
    }
}

/// Compresses bytes with gzip.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
