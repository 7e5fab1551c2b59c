//! Has wasm-bindgen ship the files that `host.js` imports: it copies only those it is told of.

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
    acceptMessages from "/src/web/js/accept-messages.js";
    acceptPort from "/src/web/js/accept-port.js";
    Connection from "/src/web/js/connection.js";
    Context from "/src/web/js/context.js";
    GatewayLink from "/src/web/js/gateway-link.js";
    abpError from "/src/web/js/errors.js";
    Guard from "/src/web/js/guard.js";
    exposeAbp from "/src/web/js/in-page.js";
    toText from "/src/web/js/json.js";
    compile from "/src/web/js/json-schema.js";
    transferables from "/src/web/js/transfer.js";
    Validators from "/src/web/js/validators.js";
}
