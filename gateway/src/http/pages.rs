//! The demo page, the npm package and the manifest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any_service, get};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;
use tower_http::services::ServeDir;

use crate::fronts::auth::Bearer;
use crate::fronts::refusal::{Refusal, json_text};
use crate::gateway::Hub;
use crate::http::headers::forbid_storing;
use crate::tokens::{Denied, Role};

/// How many bytes of a file are read at once, for each request.
const CHUNK: usize = 16 << 10;

/// The static manifest beside the page.
const MANIFEST: &str = "abp.json";

#[derive(Deserialize)]
struct Wanted {
    app: Option<String>,
}

/// The page and its files. Without the directory, `/` says what the gateway serves.
pub(crate) fn page(directory: &Path) -> MethodRouter {
    files(directory, WITHOUT_PAGE)
}

/// The npm package.
pub(crate) fn package(directory: &Path) -> MethodRouter {
    files(directory, "")
}

/// The files of a directory, but for the manifest in it. Without the directory, its root answers `index`.
fn files(directory: &Path, index: &'static str) -> MethodRouter {
    let root = directory.to_path_buf();
    let missing = {
        let root = root.clone();
        get(move |uri: Uri| {
            let root = root.clone();
            async move { not_found(&root, if uri.path() == "/" { index } else { "" }) }
        })
    };
    any_service(
        ServeDir::new(directory)
            .with_buf_chunk_size(CHUNK)
            .fallback(missing),
    )
    .layer(from_fn(move |request: Request, next: Next| {
        let root = root.clone();
        async move {
            match is_manifest(request.uri().path()) {
                true => not_found(&root, ""),
                false => next.run(request).await,
            }
        }
    }))
}

/// Whether the file at that path is the manifest, in any spelling. The manifest is not for everybody, and a
/// file system may ignore case or what follows a name.
fn is_manifest(path: &str) -> bool {
    let path = percent_decode_str(path).decode_utf8_lossy();
    let names = path.split(['/', '\\']);
    let mut names = names.filter(|name| !matches!(*name, "" | "."));
    let name = names.next().and_then(|name| name.split(':').next());
    let name = name.map(|name| name.trim_end_matches(['.', ' ']));
    names.next().is_none() && name.is_some_and(|name| name.eq_ignore_ascii_case(MANIFEST))
}

/// What a gateway without a page says at `/`.
const WITHOUT_PAGE: &str = "
This is a caphost gateway without a page: --www names the directory of one. It serves:

/abp/app                  WebSocket for apps
/abp                      WebSocket for agents
/mcp                      MCP clients
/jsonrpc                  WebSocket for JSON-RPC peers, such as those of ACP and LSP
/.well-known/rap-toolset  the Reactive Agent Protocol
/abp.json                 the manifest of the connected app
/runs                     the page of runs
/healthz                  health, with /readyz and /metrics
";

/// The answer where there is no file. `more` follows where there is no directory `root` either.
fn not_found(root: &Path, more: &str) -> Response {
    let message = match root.is_dir() {
        true => "Not found\n".to_string(),
        false => format!(
            "Not found: there is no directory {}\n{more}",
            root.display()
        ),
    };
    (
        StatusCode::NOT_FOUND,
        [(CONTENT_TYPE, "text/plain; charset=utf-8")],
        message,
    )
        .into_response()
}

/// Who may see the offers of apps.
#[derive(Clone)]
pub(crate) struct Manifests {
    pub hub: Arc<Hub>,
    pub www: PathBuf,
    /// Whether everybody may, even where there are tokens.
    pub public: bool,
}

impl Manifests {
    /// The wanted app, if the requester may see its offer.
    fn wanted(
        &self,
        query: Result<Query<Wanted>, QueryRejection>,
        bearer: &Bearer,
    ) -> Result<Option<String>, Refusal> {
        let Query(Wanted { app }) = query.map_err(|error| Refusal::invalid(error.body_text()))?;
        let wanted = app.filter(|app| !app.is_empty());
        if self.public {
            return Ok(wanted);
        }
        let viewer = bearer.acts_as(Role::Agent);
        let viewer = viewer.or_else(|_| bearer.acts_as(Role::App));
        let needed = "A valid token is needed";
        let viewer = viewer.map_err(|denied| Refusal::denied(denied, needed, needed))?;
        let wanted = wanted.or_else(|| viewer.app.as_deref().map(str::to_string));
        match wanted.as_deref().is_none_or(|app| viewer.may_reach(app)) {
            true => Ok(wanted),
            false => {
                let other = "The token is for another app";
                Err(Refusal::denied(Denied::Forbidden, other, other))
            }
        }
    }

    async fn answer(
        &self,
        query: Result<Query<Wanted>, QueryRejection>,
        bearer: &Bearer,
    ) -> Result<Response, Refusal> {
        let wanted = self.wanted(query, bearer)?;
        match self.hub.manifest(wanted.as_deref()) {
            Ok(manifest) => Ok(json_text(StatusCode::OK, manifest)),
            Err(error) => match static_manifest(&self.www, wanted.as_deref()).await {
                Some(text) => Ok(json_text(StatusCode::OK, text)),
                None => Err(Refusal::no_app(error)),
            },
        }
    }
}

/// `/abp.json`: the manifest of the connected app, or else the file beside the page.
pub(crate) fn manifest(manifests: Manifests) -> MethodRouter {
    let answer = |State(manifests): State<Manifests>,
                  query: Result<Query<Wanted>, QueryRejection>,
                  bearer: Bearer| async move {
        let answer = manifests.answer(query, &bearer).await;
        let mut response = answer.into_response();
        if !manifests.public && !manifests.hub.tokens.is_empty() {
            forbid_storing(&mut response);
        }
        response
    };
    get(answer).with_state(manifests)
}

/// The manifest beside the page, unless another app is wanted.
async fn static_manifest(www: &Path, wanted: Option<&str>) -> Option<String> {
    let text = tokio::fs::read_to_string(www.join(MANIFEST)).await.ok()?;
    if let Some(id) = wanted {
        let manifest: Value = serde_json::from_str(&text).ok()?;
        (manifest["app"]["id"].as_str() == Some(id)).then_some(())?;
    }
    Some(text)
}
