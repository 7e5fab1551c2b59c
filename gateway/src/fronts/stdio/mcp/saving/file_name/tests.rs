use super::*;

#[test]
fn a_name_has_no_path_and_no_control_characters() {
    for (said, name) in [
        ("report.pdf", "report.pdf"),
        ("Größe 1.zip", "Größe 1.zip"),
        ("../../etc/passwd", "passwd"),
        (r"C:\Windows\system.ini", "system.ini"),
        ("/", "file"),
        ("..", "file"),
        ("a/..", "file"),
        ("a/", "a"),
        (".bashrc", "bashrc"),
        (" . .profile", "profile"),
        ("a.pdf. ", "a.pdf"),
        ("a\0b\n\u{1b}[31mc.pdf", "ab[31mc.pdf"),
        ("cod\u{202e}fdp.exe", "codfdp.exe"),
        ("a:b|c?.txt", "a_b_c_.txt"),
        ("NUL", "_NUL"),
        ("com1.txt", "_com1.txt"),
        ("common.txt", "common.txt"),
        ("", "file"),
    ] {
        assert_eq!(safe_name(Some(said)), name, "{said:?}");
    }
    assert_eq!(safe_name(None), "file");
}

#[test]
fn a_long_name_keeps_its_ending_and_whole_characters() {
    let name = safe_name(Some(&format!("{}.tar.gz", "é".repeat(300))));
    assert!(name.len() <= MOST_BYTES && name.len() > MOST_BYTES - 4);
    assert!(name.ends_with("é.gz"), "{name}");
    let name = safe_name(Some(&format!("a.{}", "b".repeat(300))));
    assert_eq!(name.len(), MOST_BYTES);
}

#[test]
fn a_number_stands_before_the_ending() {
    assert_eq!(numbered("a.pdf", 1), "a.pdf");
    assert_eq!(numbered("a.pdf", 2), "a-2.pdf");
    assert_eq!(numbered("a", 12), "a-12");
    assert_eq!(
        numbered("a. b and no ending at all", 3),
        "a. b and no ending at all-3"
    );
}
