//! `/runs`: the runs and their cancels for people. The page is part of the binary and uses the [runs
//! API](super::api).

use axum::Router;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_FRAME_OPTIONS};
use axum::http::{HeaderName, HeaderValue};
use axum::routing::get;

/// The path and the content of each file.
const FILES: &[(&str, &str)] = &[
    ("/runs", include_str!("page/index.html")),
    ("/runs/favicon.svg", include_str!("page/favicon.svg")),
    ("/runs/style.css", include_str!("page/style.css")),
    ("/runs/run.css", include_str!("page/run.css")),
    ("/runs/main.js", include_str!("page/main.js")),
    ("/runs/api.js", include_str!("page/api.js")),
    ("/runs/app-list.js", include_str!("page/app-list.js")),
    ("/runs/cancel-form.js", include_str!("page/cancel-form.js")),
    ("/runs/dom.js", include_str!("page/dom.js")),
    ("/runs/filters.js", include_str!("page/filters.js")),
    ("/runs/format.js", include_str!("page/format.js")),
    ("/runs/run-card.js", include_str!("page/run-card.js")),
    ("/runs/run-list.js", include_str!("page/run-list.js")),
    ("/runs/run-text.js", include_str!("page/run-text.js")),
    ("/runs/sign-in.js", include_str!("page/sign-in.js")),
    ("/runs/watch.js", include_str!("page/watch.js")),
];

/// A stricter policy than the policy of the other pages, which run wasm. This page may only talk to the
/// gateway. No other page may frame it and trick a person into pressing its button.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page and its files.
pub fn routes() -> Router {
    FILES.iter().fold(Router::new(), |router, (path, text)| {
        router.route(path, get(move || async move { (headers(path), *text) }))
    })
}

fn headers(path: &str) -> [(HeaderName, HeaderValue); 3] {
    let kind = match path.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/html; charset=utf-8",
    };
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
        let mut served: Vec<_> = FILES.iter().map(|(path, _)| path.to_string()).collect();
        there.sort();
        served.sort();
        assert_eq!(there, served);
    }

    #[test]
    fn nothing_on_the_page_needs_more_than_its_policy_allows() {
        for (path, text) in FILES {
            for inline in ["<style", " style=\"", " onclick=", "javascript:", "eval("] {
                assert!(!text.contains(inline), "{path} has {inline}");
            }
        }
        let (_, page) = FILES[0];
        assert_eq!(page.matches("<script").count(), 1);
        assert!(page.contains(r#"<script type="module" src="/runs/main.js"></script>"#));
    }
}
