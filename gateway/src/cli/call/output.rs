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
mod tests {
    use super::*;

    /// A temporary directory, which is removed when this value is dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let folder = std::env::temp_dir().join(format!("caphost-{}", uuid::Uuid::new_v4()));
            fs::create_dir(&folder).unwrap();
            Folder(folder)
        }

        fn names(&self) -> Vec<OsString> {
            let entries = fs::read_dir(&self.0).unwrap();
            let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = Folder::new();
        let path = folder.0.join("x.pdf");
        let output = Output::File(path.clone());
        for bytes in [&b"first"[..], b"2"] {
            output.check().unwrap();
            output.write(bytes).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
            assert_eq!(folder.names(), ["x.pdf"]);
        }
    }

    #[test]
    fn a_draft_that_is_not_published_leaves_what_was_there() {
        let folder = Folder::new();
        let path = folder.0.join("x.pdf");
        fs::write(&path, "old").unwrap();
        let mut draft = Draft::new(&path).unwrap();
        draft.file.write_all(b"half").unwrap();
        assert_eq!(folder.names().len(), 2);
        drop(draft);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(folder.names(), ["x.pdf"]);
    }

    #[test]
    fn what_cannot_be_written_is_found_out_first() {
        let folder = Folder::new();
        fs::write(folder.0.join("file"), "").unwrap();
        for path in ["", "no/x", "file/x", ".."] {
            let path = folder.0.join(path);
            let error = Output::File(path.clone()).check().unwrap_err();
            assert!(
                error.starts_with(&format!("cannot write {}: ", path.display())),
                "{error}"
            );
        }
        assert_eq!(folder.names(), ["file"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay_and_devices_are_written_to() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new();
        let (file, link) = (folder.0.join("file"), folder.0.join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
        symlink("file", &link).unwrap();
        Output::File(link.clone()).write(b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o604
        );

        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        let error = Output::File(file).check().unwrap_err();
        assert!(error.contains("permission denied"), "{error}");

        let null = Output::File("/dev/null".into());
        null.check().unwrap();
        null.write(b"bytes").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let error = Output::File("/dev/full".into()).write(b"bytes");
        if Path::new("/dev/full").exists() {
            assert!(error.unwrap_err().contains("/dev/full"));
        }
    }
}
