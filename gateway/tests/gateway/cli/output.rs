//! `--output`

use super::*;

fn pdf() -> Value {
    json!({ "success": true, "data": {
        "pdf": "JVBERi0xLjcK", "mimeType": "application/pdf", "encoding": "base64", "size": 9, "pageCount": 1,
    } })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_in_a_result_is_written() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let folder = Folder::new();
    let path = folder.path("x.pdf");
    std::fs::write(&path, "what was there, and is longer").unwrap();
    let command = caphost(&gateway, &["call", "a.b", "--output", &path]);
    let ended = answered(&gateway, &mut app, command, pdf()).await;
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_eq!(
        ended.out,
        format!("Wrote {path} (9 bytes, application/pdf)\n")
    );
    assert_eq!(std::fs::read(&path).unwrap(), b"%PDF-1.7\n");
    assert_eq!(folder.names(), ["x.pdf"]);

    receives(&mut app, "agent/closed").await;
    let command = caphost(
        &gateway,
        &["call", "a.b", "--json", "--call-id", "c", "-o", &path],
    );
    let ended = answered(&gateway, &mut app, command, pdf()).await;
    let expected = json!({
        "callId": "c", "success": true,
        "data": { "mimeType": "application/pdf", "encoding": "base64", "size": 9, "pageCount": 1 },
        "output": { "path": path, "bytes": 9, "mimeType": "application/pdf" },
    });
    assert_eq!((ended.status, ended.document()), (Some(0), expected));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_without_a_file_is_written_as_json() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let folder = Folder::new();
    let path = folder.path("x.json");
    let command = caphost(&gateway, &["call", "a.b", "--output", &path]);
    let data = json!({ "downloadUrl": "https://a.example/x", "mimeType": "application/zip" });
    let response = json!({ "success": true, "data": data });
    let ended = answered(&gateway, &mut app, command, response).await;
    assert_eq!(ended.status, Some(0), "{ended:?}");
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), data);
    let size = written.len();
    let expected = format!(
        "Wrote {path} ({size} bytes, application/json)\nIt is a reference: the file itself is at https://a.example/x\n"
    );
    assert_eq!(ended.out, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_only_the_page_can_read_is_not_written() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let folder = Folder::new();
    let path = folder.path("a.zip");
    let data = json!({ "downloadUrl": "blob:http://a/1", "mimeType": "application/zip" });
    for json_wanted in [false, true] {
        let mut arguments = vec!["call", "a.b", "--output", &path];
        arguments.extend(json_wanted.then_some("--json"));
        let response = json!({ "success": true, "data": data });
        let ended = answered(&gateway, &mut app, caphost(&gateway, &arguments), response).await;
        let said = format!(
            "caphost: nothing is written to {path}: the file is at blob:http://a/1, which only the page can read"
        );
        assert_eq!((ended.status, &*ended.err), (Some(1), &*said));
        let printed = ended.document();
        let printed = if json_wanted {
            &printed["data"]
        } else {
            &printed
        };
        assert_eq!(*printed, data);
        assert!(folder.names().is_empty());
        receives(&mut app, "agent/closed").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standard_output_is_a_file_too() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let command = caphost(&gateway, &["call", "a.b", "--output", "-"]);
    let ended = answered(&gateway, &mut app, command, pdf()).await;
    assert_eq!((ended.status, &*ended.out), (Some(0), "%PDF-1.7\n"));
    assert_eq!(
        ended.err,
        "Wrote standard output (9 bytes, application/pdf)"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_does_not_succeed_writes_nothing() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let folder = Folder::new();
    let path = folder.path("x.pdf");
    std::fs::write(&path, "old").unwrap();
    let failed = json!({ "success": false, "error": { "code": "OPERATION_FAILED", "message": "m", "retryable": false } });
    for (response, status) in [
        (failed, 1),
        (json!({ "success": false, "cancelled": true }), 130),
    ] {
        let command = caphost(&gateway, &["call", "a.b", "--output", &path]);
        let ended = answered(&gateway, &mut app, command, response).await;
        assert_eq!(ended.status, Some(status));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(folder.names(), ["x.pdf"]);
        receives(&mut app, "agent/closed").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_written_is_not_lost() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let folder = Folder::new();
    std::fs::create_dir(folder.path("sub")).unwrap();
    let path = folder.path("sub/x.pdf");
    for json_wanted in [false, true] {
        let mut arguments = vec!["call", "a.b", "--output", &path];
        arguments.extend(json_wanted.then_some("--json"));
        let running = Running::start(caphost(&gateway, &arguments));
        let call = called(&mut app).await;
        // The directory is removed after the command has checked it.
        std::fs::remove_dir(folder.path("sub")).unwrap();
        returns(&mut app, &call, pdf()).await;
        let ended = running.ended().await;
        assert_eq!(ended.status, Some(1));
        assert!(
            ended
                .err
                .starts_with(&format!("caphost: cannot write {path}: ")),
            "{ended:?}"
        );
        let printed = ended.document();
        let data = if json_wanted {
            &printed["data"]
        } else {
            &printed
        };
        assert_eq!(*data, pdf()["data"]);
        if json_wanted {
            assert!(printed["output"]["error"].is_string(), "{printed}");
        }
        std::fs::create_dir(folder.path("sub")).unwrap();
        receives(&mut app, "agent/closed").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn base64_that_is_none_is_a_failure() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let folder = Folder::new();
    let path = folder.path("x.pdf");
    let mut response = pdf();
    response["data"]["pdf"] = json!("%%%");
    let command = caphost(&gateway, &["call", "a.b", "--output", &path]);
    let ended = answered(&gateway, &mut app, command, response.clone()).await;
    assert_eq!(
        (ended.status, ended.document()),
        (Some(1), response["data"].clone())
    );
    assert!(
        ended.err.contains("pdf of the result is not base64"),
        "{ended:?}"
    );
    assert!(folder.names().is_empty());
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_is_a_failure_and_a_closed_pipe_is_not() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut command = caphost(&gateway, &["call", "a.b"]);
    command.stdout(
        std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap(),
    );
    let ended = answered(&gateway, &mut app, command, json!({ "success": true })).await;
    assert_eq!(ended.status, Some(1));
    assert!(
        ended
            .err
            .starts_with("caphost: cannot write to standard output: "),
        "{ended:?}"
    );

    receives(&mut app, "agent/closed").await;
    let mut running = Running::start(caphost(&gateway, &["call", "a.b"]));
    drop(running.child.stdout.take());
    let call = called(&mut app).await;
    returns(&mut app, &call, json!({ "success": true })).await;
    let ended = running.ended().await;
    assert_eq!((ended.status, &*ended.err), (Some(0), ""));
}
