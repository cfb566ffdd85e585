//! A temporary folder in which tests run the command.

#![allow(dead_code)] // not every test file uses all methods

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// A temporary folder for one test. It is removed when the value is dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Creates the folder; its name contains `name` and the id of the process, so that tests do not share a folder.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("scorewise-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// The command `scorewise` with these arguments, to be run in the folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scorewise"));
        command.current_dir(&self.0).args(arguments);
        command
    }

    /// Standard output of a command that must succeed.
    pub fn run(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// Standard output of a command that must succeed, parsed as JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_slice(&self.run(arguments)).unwrap()
    }

    /// The content of a file in the folder.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }
}

impl Drop for Folder {
    /// Removes the folder with all its files.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
