//! The page, the package and the manifest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, any_service, get};
use serde::Deserialize;
use serde_json::{Value, json};
use tower_http::services::ServeDir;

use crate::fronts::refusal::{json_text, refuse};
use crate::gateway::Hub;
use caphost::call::{Code, Error};

/// The static manifest beside the page.
const MANIFEST: &str = "abp.json";

#[derive(Deserialize)]
struct Wanted {
    app: Option<String>,
}

/// The files of a directory.
pub(crate) fn files(directory: &Path) -> MethodRouter {
    let root = directory.to_path_buf();
    let missing = get(move || {
        let root = root.clone();
        async move { not_found(&root) }
    });
    any_service(ServeDir::new(directory).fallback(missing))
}

fn not_found(root: &Path) -> Response {
    let message = if root.is_dir() {
        "Not found\n".to_string()
    } else {
        format!(
            "Not found: there is no directory {}. `npm run build` makes it.\n",
            root.display()
        )
    };
    (
        StatusCode::NOT_FOUND,
        [(CONTENT_TYPE, "text/plain; charset=utf-8")],
        message,
    )
        .into_response()
}

/// `/abp.json`: of the app connected, else the one beside the page.
pub(crate) fn manifest(hub: Arc<Hub>, www: PathBuf) -> MethodRouter {
    let answer = |State((hub, www)): State<(Arc<Hub>, PathBuf)>,
                  query: Result<Query<Wanted>, QueryRejection>| async move {
        let wanted = match query {
            Ok(Query(Wanted { app })) => app.filter(|app| !app.is_empty()),
            Err(error) => {
                return refuse(
                    StatusCode::BAD_REQUEST,
                    &Error::invalid_params(error.body_text()),
                );
            }
        };
        if let Some(manifest) = hub.manifest(wanted.as_deref()) {
            return json_text(StatusCode::OK, manifest);
        }
        if let Some(manifest) = static_manifest(&www, wanted.as_deref()).await {
            return json_text(StatusCode::OK, manifest);
        }
        let message = match wanted {
            Some(id) => format!("No app with id {id:?} is connected"),
            None => "No app is connected, or several are: name one with `?app=`".into(),
        };
        let error = Error::new(Code::DISCONNECTED, message);
        refuse(
            StatusCode::NOT_FOUND,
            &error.with_details(Box::new(json!({ "path": "app" }))),
        )
    };
    get(answer).with_state((hub, www))
}

/// The manifest beside the page, unless it is another app's than the one wanted.
async fn static_manifest(www: &Path, wanted: Option<&str>) -> Option<String> {
    let text = tokio::fs::read_to_string(www.join(MANIFEST)).await.ok()?;
    if let Some(id) = wanted {
        let manifest: Value = serde_json::from_str(&text).ok()?;
        (manifest["app"]["id"].as_str() == Some(id)).then_some(())?;
    }
    Some(text)
}
