//! Notes that people and agents write. The host belongs to the page, its capabilities belong to components.

mod app;
mod assistant;
mod hooks;
mod notes;

use caphost::{App, Error, Host};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(start)]
fn start() -> Result<(), Error> {
    let host = Host::new(App::new("notes", "Notes", "1.0.0"))?;
    host.expose(&js_sys::global())?; // `window.abp`
    host.accept_messages(&[])?; // windows of this origin
    yew::Renderer::<app::Page>::with_props(app::Props { host }).render();
    Ok(())
}
