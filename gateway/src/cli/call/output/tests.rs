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
