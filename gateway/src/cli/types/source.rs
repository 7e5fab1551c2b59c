//! The sources of an app's description.

use std::fs;
use std::io::{self, stdin};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use url::Url;

use crate::cli::api::MAX_ANSWER_BYTES;
use crate::cli::failure::Failure;
use crate::cli::gateway_args::{Access, GatewayArgs, gateway_url};
use crate::cli::list::offered;
use crate::http_client::{self, innermost, whole_body};
use crate::wire::read_value;
use caphost::call::Code;

/// How long a manifest may take to arrive.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the gateway and the app's page may take to answer.
const TO_CONNECT: Duration = Duration::from_secs(10);

const EXPECTED: &str =
    "expected a file, - for standard input, or the URL of a manifest (http) or of agents (ws)";

const HINT: &str = "The manifest of an app is usually at /abp.json.";

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    /// The app at the gateway of the options.
    Gateway,
    /// The app at another gateway, given by the URL for its agents.
    Agents {
        gateway: Url,
        app: Option<String>,
    },
    /// A manifest on a server.
    Manifest(Url),
    File(PathBuf),
    StandardInput,
}

impl Source {
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once("://").map_or("", |(scheme, _)| scheme) {
            "http" | "https" => Url::parse(text)
                .map(Source::Manifest)
                .map_err(|error| error.to_string()),
            "ws" | "wss" => Self::agents(text),
            _ if text == "-" => Ok(Source::StandardInput),
            _ => Ok(Source::File(text.into())),
        }
    }

    fn agents(text: &str) -> Result<Self, String> {
        let mut url = Url::parse(text).map_err(|error| error.to_string())?;
        let app = url.query_pairs().find(|(name, _)| name == "app");
        let app = app.map(|(_, id)| id.into_owned());
        url.set_query(None);
        let Some(base) = url.path().strip_suffix("/abp").map(String::from) else {
            return Err("expected the URL for agents, such as ws://127.0.0.1:8787/abp".into());
        };
        url.set_path(&base);
        let gateway = gateway_url(url.as_str())?;
        Ok(Source::Agents { gateway, app })
    }

    /// Checks that a file exists, before anything is requested.
    pub fn check(&self) -> Result<(), String> {
        let Source::File(path) = self else {
            return Ok(());
        };
        let shown = path.display();
        let wrong = |error| format!("cannot read {shown}: {error}; {EXPECTED}");
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(wrong(io::ErrorKind::IsADirectory.into())),
            // A pipe is not opened, because opening could wait for its writer.
            Ok(found) if !found.is_file() => Ok(()),
            _ => fs::File::open(path).map(drop).map_err(wrong),
        }
    }

    /// The app, and its capabilities.
    pub async fn read(self, gateway: &GatewayArgs) -> Result<(Value, Vec<Value>), Failure> {
        match self {
            Source::Gateway => offered(gateway, TO_CONNECT).await,
            Source::Agents { gateway: url, app } => {
                let mut there = gateway.clone();
                there.access.gateway = url;
                there.app = app.or(there.app);
                offered(&there, TO_CONNECT).await
            }
            Source::Manifest(url) => {
                let text = fetched(&url, &gateway.access).await?;
                manifest(url.as_str(), &text)
            }
            Source::File(path) => {
                let shown = path.display().to_string();
                let text = tokio::fs::read_to_string(&path).await;
                manifest(&shown, &text.map_err(|it| unreadable(&shown, &it))?)
            }
            Source::StandardInput => {
                let text = io::read_to_string(stdin());
                let text = text.map_err(|it| unreadable("standard input", &it))?;
                manifest("standard input", &text)
            }
        }
    }
}

/// Gets the text at a URL. The token goes to its gateway only.
async fn fetched(url: &Url, access: &Access) -> Result<String, Failure> {
    let failed = |error: reqwest::Error| unreadable(url.as_str(), innermost(&error));
    let mut request = http_client::client(PATIENCE).get(url.clone());
    if url.origin() == access.gateway.origin()
        && let Some(authorization) = access.authorization()
    {
        request = request.header("authorization", authorization);
    }
    let response = request.send().await.map_err(failed)?;
    let status = response.status();
    if !status.is_success() {
        let message = format!("{url} answers with status {status}");
        return Err(Failure::new(Code::TRANSPORT_ERROR, message).hint(HINT));
    }
    let body = whole_body(response, MAX_ANSWER_BYTES).await;
    let Some(body) = body.map_err(failed)? else {
        let message = format!("the answer of {url} is too long");
        return Err(Failure::new(Code::TRANSPORT_ERROR, message));
    };
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn unreadable(place: &str, error: &dyn std::error::Error) -> Failure {
    Failure::new(
        Code::TRANSPORT_ERROR,
        format!("cannot read {place}: {error}"),
    )
}

/// Reads a manifest, or the output of `caphost list --json`.
fn manifest(place: &str, text: &str) -> Result<(Value, Vec<Value>), Failure> {
    let wrong = |what: String| {
        let message = format!("{place} is no manifest: {what}");
        Failure::new(Code::INVALID_PARAMS, message).hint(HINT)
    };
    let text = text.trim_start_matches('\u{feff}');
    let mut manifest = read_value(text).map_err(|error| wrong(format!("not JSON: {error}")))?;
    match manifest.get_mut("capabilities").map(Value::take) {
        Some(Value::Array(capabilities)) => Ok((manifest["app"].take(), capabilities)),
        _ => Err(wrong("it has no list of `capabilities`".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agents(gateway: &str, app: Option<&str>) -> Result<Source, String> {
        Ok(Source::Agents {
            gateway: Url::parse(gateway).unwrap(),
            app: app.map(String::from),
        })
    }

    #[test]
    fn the_scheme_says_what_is_there() {
        let url = "https://app.example/abp.json?v=1";
        let manifest = Source::Manifest(Url::parse(url).unwrap());
        assert_eq!(Source::parse(url), Ok(manifest));
        assert_eq!(
            Source::parse("ws://127.0.0.1:1/abp"),
            agents("http://127.0.0.1:1/", None)
        );
        assert_eq!(
            Source::parse("wss://a.example/below/abp?app=my+app"),
            agents("https://a.example/below", Some("my app"))
        );
        assert_eq!(Source::parse("-"), Ok(Source::StandardInput));
        assert_eq!(
            Source::parse("a/abp.json"),
            Ok(Source::File("a/abp.json".into()))
        );
        for bad in ["ws://a/else", "ws://a:b@c/abp", "http://"] {
            assert!(Source::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_manifest_says_so() {
        for (text, said) in [
            ("<!doctype html>", "not JSON"),
            ("[]", "no list of `capabilities`"),
            (r#"{"capabilities": {}}"#, "no list of `capabilities`"),
        ] {
            let failure = manifest("it", text).unwrap_err();
            let explained = failure.explain("x");
            assert!(explained.contains(said), "{explained}");
            assert!(explained.contains("/abp.json"), "{explained}");
        }
        let (app, capabilities) = manifest("it", r#"{"capabilities": [1]}"#).unwrap();
        assert_eq!((app, capabilities.len()), (Value::Null, 1));
    }
}
