//! The file that a result is written to.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::terminal::print_bytes;

/// How long a file may still take to be written after an interrupt.
pub(super) const LAST_BYTES: Duration = Duration::from_secs(1);

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
        let mut writing = self.begin()?;
        writing.write(bytes)?;
        writing.finish()
    }

    /// Begins to write. Blocks.
    pub fn begin(&self) -> Result<Writing, String> {
        let Output::File(path) = self else {
            return Ok(Writing::StandardOutput);
        };
        let begun = match fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            // The bytes are written into a device or a pipe, which must not be replaced.
            true => OpenOptions::new()
                .write(true)
                .open(path)
                .map(Target::Device),
            false => Draft::new(path).map(Target::Draft),
        };
        match begun {
            Ok(target) => Ok(Writing::File(path.clone(), target)),
            Err(error) => Err(cannot(path, &error)),
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

/// An output that is being written. A regular file that is not finished is removed.
pub(super) enum Writing {
    StandardOutput,
    File(PathBuf, Target),
}

/// What the bytes of a file are written to.
pub(super) enum Target {
    Device(File),
    Draft(Draft),
}

impl Writing {
    /// Writes the next bytes. Blocks.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Writing::StandardOutput => print_bytes(bytes),
            Writing::File(path, target) => {
                let (Target::Device(file) | Target::Draft(Draft { file, .. })) = target;
                file.write_all(bytes).map_err(|error| cannot(path, &error))
            }
        }
    }

    /// The last bytes were written. Blocks.
    pub fn finish(self) -> Result<(), String> {
        let Writing::File(path, Target::Draft(draft)) = self else {
            return Ok(());
        };
        let synced = draft.file.sync_all();
        let published = synced.and_then(|()| draft.publish());
        published.map_err(|error| cannot(&path, &error))
    }
}

/// A temporary file in the same directory, which replaces the target when it is complete. Dropping the draft
/// before removes it.
pub(super) struct Draft {
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
