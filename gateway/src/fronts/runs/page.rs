//! `/runs`: the runs and their cancels for people. The page is part of the binary and asks the
//! [runs API](super::api).

use axum::Router;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_FRAME_OPTIONS};
use axum::http::{HeaderName, HeaderValue};
use axum::routing::get;

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($path:literal: $kind:ident = $file:literal,)*) => {
        &[$(($path, $kind, include_str!(concat!("page/", $file))),)*]
    };
}

/// Path, content type, content.
const FILES: &[(&str, &str, &str)] = files! {
    "/runs": HTML = "index.html",
    "/runs/favicon.svg": SVG = "favicon.svg",
    "/runs/style.css": STYLE = "style.css",
    "/runs/run.css": STYLE = "run.css",
    "/runs/main.js": SCRIPT = "main.js",
    "/runs/api.js": SCRIPT = "api.js",
    "/runs/cancel-form.js": SCRIPT = "cancel-form.js",
    "/runs/dom.js": SCRIPT = "dom.js",
    "/runs/filters.js": SCRIPT = "filters.js",
    "/runs/format.js": SCRIPT = "format.js",
    "/runs/run-card.js": SCRIPT = "run-card.js",
    "/runs/run-list.js": SCRIPT = "run-list.js",
    "/runs/run-text.js": SCRIPT = "run-text.js",
    "/runs/sign-in.js": SCRIPT = "sign-in.js",
    "/runs/watch.js": SCRIPT = "watch.js",
};

/// Stricter than that of the other pages, which run wasm: this one may only talk to the gateway,
/// and no other page may frame it and have its button pressed unseen.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page and its files.
pub fn routes() -> Router {
    FILES
        .iter()
        .fold(Router::new(), |router, (path, kind, text)| {
            let answer = get(move || async move { (headers(kind), *text) });
            router.route(path, answer)
        })
}

fn headers(kind: &'static str) -> [(HeaderName, HeaderValue); 3] {
    [
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (X_FRAME_OPTIONS, HeaderValue::from_static("deny")),
    ]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_file_of_the_page_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fronts/runs/page");
        let mut there: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.ends_with(".d.ts"))
            .map(|name| match &*name {
                "index.html" => "/runs".to_string(),
                name => format!("/runs/{name}"),
            })
            .collect();
        let mut served: Vec<_> = FILES.iter().map(|(path, ..)| path.to_string()).collect();
        there.sort();
        served.sort();
        assert_eq!(there, served);
    }

    #[test]
    fn nothing_on_the_page_needs_more_than_its_policy_allows() {
        for (path, _, text) in FILES {
            for inline in ["<style", " style=\"", " onclick=", "javascript:", "eval("] {
                assert!(!text.contains(inline), "{path} has {inline}");
            }
        }
        let (_, _, page) = FILES[0];
        assert_eq!(page.matches("<script").count(), 1);
        assert!(page.contains(r#"<script type="module" src="/runs/main.js"></script>"#));
    }
}
