//! The file that a result is written to.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::terminal::print_bytes;

/// Where to write. A regular file appears at once and complete, or not at all.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Output {
    StandardOutput,
    File(PathBuf),
}

impl Output {
    /// Parses the value of the command line.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("expected a file".into()),
            "-" => Ok(Output::StandardOutput),
            path => Ok(Output::File(path.into())),
        }
    }

    /// Checks that the output could be written, before a call is made.
    pub fn check(&self) -> Result<(), String> {
        let Output::File(path) = self else {
            return Ok(());
        };
        let tried = match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            // A pipe is not opened, because opening could wait for its reader.
            Ok(found) if !found.is_file() => Ok(()),
            _ => Draft::new(path).map(drop),
        };
        tried.map_err(|error| cannot(path, &error))
    }

    /// Writes all bytes. Blocks.
    pub fn write(&self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Output::StandardOutput => print_bytes(bytes),
            Output::File(path) => write(path, bytes).map_err(|error| cannot(path, &error)),
        }
    }

    /// The output's name for messages.
    pub fn shown(&self) -> String {
        match self {
            Output::StandardOutput => "standard output".into(),
            Output::File(path) => path.display().to_string(),
        }
    }
}

fn cannot(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        // The bytes are written into a device or a pipe, which must not be replaced.
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let mut draft = Draft::new(path)?;
    draft.file.write_all(bytes)?;
    draft.file.sync_all()?;
    draft.publish()
}

/// A temporary file in the same directory, which replaces the target when it is complete. Dropping the draft
/// before removes it.
struct Draft {
    file: File,
    draft: PathBuf,
    target: PathBuf,
}

impl Draft {
    fn new(path: &Path) -> io::Result<Self> {
        // A symbolic link stays, and its target is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let mut name = OsString::from(".");
        name.push(target.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        name.push(format!(".{}.part", uuid::Uuid::new_v4().simple()));
        let draft = target.with_file_name(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&draft)?;
        let made = Draft {
            file,
            draft,
            target,
        };
        if let Ok(replaced) = fs::metadata(&made.target) {
            if replaced.permissions().readonly() {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            made.file.set_permissions(replaced.permissions())?;
        }
        Ok(made)
    }

    fn publish(self) -> io::Result<()> {
        fs::rename(&self.draft, &self.target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // The draft no longer exists if it was published.
        let _ = fs::remove_file(&self.draft);
    }
}

#[cfg(test)]
mod tests;
