use std::net::TcpListener;

use caphost_gateway::{Config, Error, Limits, Server, TlsOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::Directory;
use crate::binary::{caphost, output, port_of, serve};
use crate::support::{config, soon};

/// A port that nobody listened on a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flags_win_over_the_environment_and_that_over_the_file() {
    let directory = Directory::new();
    let [in_file, in_environment, on_line] = [free_port(), free_port(), free_port()];
    let file = directory.write("caphost.toml", &format!("port = {in_file}"));
    let line = on_line.to_string();
    for (environment, flag, expected) in [
        (false, false, in_file),
        (true, false, in_environment),
        (true, true, on_line),
    ] {
        let mut arguments = vec!["serve"];
        if flag {
            arguments.extend(["--port", &line]);
        }
        let mut command = caphost(&arguments);
        command.env("CAPHOST_CONFIG", &file);
        if environment {
            command.env("PORT", in_environment.to_string());
        }
        let (mut child, ready) = serve(command).await;
        assert_eq!(port_of(&ready), expected, "{environment} {flag}");
        child.kill().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_in_the_file_start_where_it_is() {
    let directory = Directory::new();
    directory.write("site/index.html", "the page beside the file");
    let file = directory.write(
        "etc/caphost.toml",
        "port = 0\nwww = \"../site\"\nallow-origin = [\"https://app.example\"]\n",
    );
    let (mut child, ready) = serve(caphost(&["serve", "--config", &file])).await;
    let port = port_of(&ready);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request = "GET / HTTP/1.1\r\nHost: app.example\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    soon("the page", stream.read_to_string(&mut answer))
        .await
        .unwrap();
    assert!(
        answer.ends_with("the page beside the file"),
        "the host of an allowed origin is a name of ours: {answer}"
    );
    child.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mistake_in_the_file_is_one_line_and_status_2() {
    let directory = Directory::new();
    let missing = directory.path().join("missing.toml");
    let missing = missing.to_str().unwrap().to_string();
    let mut cases = vec![(missing, "cannot read".to_string())];
    for (name, text, expected) in [
        (
            "unknown.toml",
            "prot = 1",
            "`prot`: there is no such option; expected `port`?",
        ),
        (
            "type.toml",
            "host = 7",
            "`host`: expected a string (HOST), found a number",
        ),
        (
            "range.toml",
            "max-depth = 0",
            "`max-depth`: expected a whole number of at least 1",
        ),
        (
            "token.toml",
            "token = [\"hidden\"]",
            "`token`: expected ROLE",
        ),
        (
            "broken.toml",
            "port = 1\ntoken = [\"hidden",
            "line 2: not TOML",
        ),
    ] {
        cases.push((directory.write(name, text), expected.into()));
    }
    for (file, expected) in cases {
        let output = output(&["serve", "--port", "0", "--config", &file]).await;
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.starts_with(&format!("caphost: {file}: {expected}")),
            "{said}"
        );
        assert!(
            said.lines().count() == 1 && !said.contains("hidden"),
            "{said}"
        );
        assert!(output.stdout.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_url_of_redis_is_status_2_and_not_repeated() {
    for url in ["nope", "redis://:hidden@127.0.0.1:port", "http://hidden"] {
        let output = output(&["serve", "--port", "0", "--redis", url]).await;
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{url}: {said}");
        assert!(said.contains("such as redis://127.0.0.1:6379"), "{said}");
        assert!(!said.contains("hidden"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mistake_in_what_may_be_secret_is_explained_without_repeating_it() {
    for (arguments, variable, value, expected) in [
        (
            &["serve", "--token", "king=hidden"][..],
            "",
            "",
            "'--token <ROLE[@APP]=SECRET>': expected ROLE[@APP]=SECRET",
        ),
        (
            &["serve"],
            "CAPHOST_TOKENS",
            "hidden==,agent=hidden",
            "'--token <ROLE[@APP]=SECRET>': expected ROLE[@APP]=SECRET",
        ),
        (
            &["serve", "--tool-server", "hidden@ftp://a"],
            "",
            "",
            "'--tool-server <[TOKEN@]URL>': relative URL",
        ),
        (
            &["serve"],
            "CAPHOST_TOOL_SERVERS",
            "http://a,hid den@http://a",
            "'--tool-server <[TOKEN@]URL>': a token has at least",
        ),
        (
            &["serve", "--public-url", "http://me:hidden@a"],
            "",
            "",
            "'--public-url <URL>': a URL must have no user name",
        ),
        (
            &["apps", "--token", "hidden secret"],
            "",
            "",
            "'--token <SECRET>': expected a token",
        ),
        (
            &["apps"],
            "CAPHOST_TOKEN",
            "hidden secret",
            "'--token <SECRET>': expected a token",
        ),
        (
            &["apps"],
            "CAPHOST_GATEWAY",
            "http://me:hidden@a",
            "'--gateway <URL>': a name or password",
        ),
        (
            &["serve", "--ping-interval", "soon"],
            "",
            "",
            "'soon' for '--ping-interval <TIME>': expected a time",
        ),
    ] {
        let mut command = caphost(arguments);
        if !variable.is_empty() {
            command.env(variable, value);
        }
        let output = soon("the end", command.output()).await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(!said.contains("hid"), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn who_embeds_a_gateway_is_told_of_options_that_contradict_each_other() {
    let half = Config {
        tls: TlsOptions {
            tls_cert: Some("cert.pem".into()),
            tls_key: None,
        },
        ..config()
    };
    let limits = Limits::default();
    let deaf = Config {
        limits: Limits {
            dead_peer_timeout: limits.ping_interval,
            ..limits
        },
        ..config()
    };
    for (config, said) in [
        (half, "--tls-cert needs --tls-key"),
        (deaf, "--dead-peer-timeout must be longer"),
    ] {
        let refused = Server::bind(config).await.err().expect(said);
        assert!(matches!(refused, Error::Config(_)), "{refused:?}");
        assert!(refused.to_string().starts_with(said), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_that_belong_together_may_come_from_different_places() {
    let directory = Directory::new();
    let file = directory.write("caphost.toml", "tls-cert = \"cert.pem\"");
    let alone = output(&["serve", "--port", "0", "--config", &file]).await;
    let said = String::from_utf8(alone.stderr).unwrap();
    assert_eq!(alone.status.code(), Some(2), "{said}");
    assert!(said.contains("--tls-cert needs --tls-key"), "{said}");
    let both = output(&["serve", "--port", "0", "--config", &file, "--tls-key", "k"]).await;
    let said = String::from_utf8(both.stderr).unwrap();
    // Both options are present now, and the certificate's path is relative to the TOML file.
    let expected = directory.path().join("cert.pem");
    assert_eq!(both.status.code(), Some(1), "{said}");
    assert!(said.contains(expected.to_str().unwrap()), "{said}");
}
