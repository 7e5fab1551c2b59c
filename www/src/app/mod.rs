//! The app in the browser: a caphost host that offers the capabilities.
//!
//! Long computations run in workers, which load this module like the page.

mod bitmap;
mod blob;
mod runaway;
mod turns;

use std::time::Duration;

use crate::failure::Failure;
use crate::{archive, markdown, pdf, picture, summary};
use bitmap::Bitmaps;
use blob::Blobs;
use caphost::{App, CallContext, Capability, Error, Host, WorkerModule, worker};
use turns::Turns;
use wasm_bindgen::prelude::*;

/// Starts the demo app. Returns the host, so that the page can expose and connect it.
#[wasm_bindgen(js_name = createDemo)]
pub fn create_demo() -> Result<JsValue, JsValue> {
    host().map(|host| host.as_js()).map_err(thrown)
}

/// The ABP manifest of the demo app as JSON text. Needs no page.
#[wasm_bindgen]
pub fn manifest() -> Result<String, JsValue> {
    let host = host().map_err(thrown)?;
    let manifest = js_sys::JSON::stringify(&host.manifest());
    host.close();
    manifest.map(String::from)
}

fn host() -> Result<Host, Error> {
    let app = App::new("caphost-demo", "Caphost demo", env!("CARGO_PKG_VERSION"));
    let host = Host::new(app.description("Capabilities that take a while and can be stopped"))?;

    let module = patient_module();

    let capability = Capability::new("convert.markdownToHtml")
        .read_only(true)
        .description(
            "Converts Markdown (CommonMark, tables, footnotes, task lists) to an HTML fragment",
        )
        .input_schema(markdown::INPUT_SCHEMA)
        .output_schema(markdown::OUTPUT_SCHEMA)
        .concurrency(4);
    host.register(
        capability,
        |params: markdown::Params, context: CallContext| async move {
            markdown::run(params, &Turns::new(context, markdown::STAGES))
                .await
                .map_err(error)
        },
    )?;

    let capability = Capability::new("export.pdf")
        .read_only(true)
        .description("Exports HTML or Markdown as a paginated PDF file whose text can be selected")
        .input_schema(pdf::INPUT_SCHEMA)
        .output_schema(pdf::OUTPUT_SCHEMA)
        .concurrency(2);
    host.register_worker(capability, &module)?;

    let capability = Capability::new("ai.summarize")
        .read_only(true)
        .description("Summarises a long text by its most representative sentences")
        .input_schema(summary::INPUT_SCHEMA)
        .output_schema(summary::OUTPUT_SCHEMA)
        .concurrency(2);
    host.register_worker(capability, &module)?;

    let capability = Capability::new("image.process")
        .read_only(true)
        .description("Resizes, blurs, removes the colour of and converts a PNG, JPEG or WebP image")
        .input_schema(picture::INPUT_SCHEMA)
        .output_schema(picture::OUTPUT_SCHEMA)
        .concurrency(2);
    host.register_worker(capability, &module)?;

    let capability = Capability::new("export.archive")
        .read_only(true)
        .description("Generates a zip archive of up to 500 MB of CSV files, and answers with a reference to it")
        .input_schema(archive::INPUT_SCHEMA)
        .output_schema(archive::OUTPUT_SCHEMA)
        .concurrency(2);
    host.register_worker(capability, &patient_module().finish(blob::publish))?;

    let capability = Capability::new(runaway::NAME)
        .read_only(true)
        .description("Never ends by itself, and never checks whether to stop")
        .input_schema(runaway::INPUT_SCHEMA)
        .output_schema(runaway::OUTPUT_SCHEMA);
    host.register_worker(capability, &worker_module())?;

    Ok(host)
}

/// This module, in the form that workers load.
fn worker_module() -> WorkerModule {
    WorkerModule::new("caphost_demo.js").script("worker.js")
}

/// The same module for capabilities that check at every checkpoint whether to stop. On a busy
/// machine the next checkpoint may take a while, and the worker must not be terminated for that.
fn patient_module() -> WorkerModule {
    worker_module().settle_grace(Duration::from_millis(500))
}

/// Runs when the module starts in the page or in a worker. Registers what a worker serves.
#[wasm_bindgen(start)]
pub fn start() {
    worker::serve("export.pdf", |params, context| async move {
        pdf::run(params, &Turns::new(context, pdf::STAGES))
            .await
            .map_err(error)
    });
    worker::serve("ai.summarize", |params, context| async move {
        summary::run(params, &Turns::new(context, summary::STAGES))
            .await
            .map_err(error)
    });
    worker::serve("image.process", |params, context| async move {
        let turns = Turns::new(context, picture::STAGES);
        picture::run(params, &Bitmaps, &turns).await.map_err(error)
    });
    worker::serve("export.archive", |params, context| async move {
        let turns = Turns::new(context, archive::STAGES);
        archive::run(params, Blobs::new(), &turns)
            .await
            .map_err(error)
    });
    worker::serve_sync(runaway::NAME, runaway::run);
}

fn error(failure: Failure) -> Error {
    Error::new(failure.code, failure.message)
}

fn thrown(error: Error) -> JsValue {
    js_sys::Error::new(&error.to_string()).into()
}
