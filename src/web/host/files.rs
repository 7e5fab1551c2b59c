//! Makes wasm-bindgen ship the files that `page.js` loads on demand: wasm-bindgen copies only the
//! files that are named here.

use wasm_bindgen::prelude::*;

macro_rules! ship {
    ($($name:ident from $path:literal;)*) => {$(
        #[wasm_bindgen(module = $path)]
        extern "C" {
            #[allow(dead_code)]
            fn $name();
        }
    )*};
}

ship! {
    askAgent from "/src/web/bundled/ask-agent.js";
    checkBy from "/src/web/bundled/checks.js";
    compile from "/src/web/bundled/compile.js";
    exposeTools from "/src/web/bundled/expose-tools.js";
    GatewayLink from "/src/web/bundled/link.js";
    serve from "/src/web/bundled/peer.js";
    worker from "/src/web/bundled/worker.js";
    Workers from "/src/web/bundled/workers.js";
}
