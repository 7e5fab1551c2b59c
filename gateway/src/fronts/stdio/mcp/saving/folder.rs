//! The folder that files are saved to. A file appears there complete or not at all, and replaces no other file.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use uuid::Uuid;

use super::file_name::{numbered, safe_name};

/// How many files of one name a folder may have.
const MOST_OF_ONE_NAME: u32 = 10_000;

/// A folder in which files can be made.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at that path. An error if there is none, or if no file can be made in it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let folder = fs::canonicalize(path)?;
        if !folder.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        let folder = Folder(folder);
        Unfinished::new(folder.draft_path()).map(drop)?;
        Ok(folder)
    }

    fn draft_path(&self) -> PathBuf {
        self.0.join(format!(".{}.part", Uuid::new_v4().simple()))
    }
}

/// A file that is removed when this value is dropped, unless it is [kept](Self::keep).
#[derive(Debug)]
pub struct Unfinished(Option<PathBuf>);

impl Unfinished {
    /// Makes an empty file. An error if there is one already.
    fn new(path: PathBuf) -> io::Result<Self> {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)?;
        Ok(Unfinished(Some(path)))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// Leaves the file where it is.
    pub fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// A file that is being written, under a name that nobody looks for.
pub struct Draft {
    folder: Folder,
    file: File,
    place: Unfinished,
}

impl Draft {
    /// Begins a file.
    pub async fn begin(folder: &Folder) -> io::Result<Self> {
        let place = Unfinished::new(folder.draft_path())?;
        let file = File::options().write(true).open(place.path()).await?;
        Ok(Draft {
            folder: folder.clone(),
            file,
            place,
        })
    }

    /// Writes the next bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await
    }

    /// The last bytes were written. The file gets a name like the one that the app `said`.
    pub async fn finish(mut self, said: Option<&str>) -> io::Result<Unfinished> {
        self.file.flush().await?;
        self.file.sync_all().await?;
        let name = safe_name(said);
        let named = self.name(&name)?;
        fs::rename(self.place.path(), named.path())?;
        self.place.keep();
        Ok(named)
    }

    /// Takes the first free name, with an empty file.
    fn name(&self, name: &str) -> io::Result<Unfinished> {
        for number in 1..=MOST_OF_ONE_NAME {
            match Unfinished::new(self.folder.0.join(numbered(name, number))) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                named => return named,
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }
}
