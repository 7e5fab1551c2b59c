//! The errors about workers, before any worker is started.

use caphost::WorkerModule;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
fn a_clone_of_a_module_has_settings_of_its_own() {
    let module = WorkerModule::new("/app.js").pool(2);
    let before = format!("{module:?}");
    let other = module.clone().pool(4);
    assert_eq!(format!("{module:?}"), before);
    assert_ne!(format!("{other:?}"), before);
}
