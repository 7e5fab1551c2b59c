//! Has wasm-bindgen ship the files that `host.js` and `in-rust.js` import: it copies only those it is told of.

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
    acceptMessenger from "/src/web/js/accept-messenger.js";
    acceptPort from "/src/web/js/accept-port.js";
    Agent from "/src/web/js/agent.js";
    RETRYABLE from "/src/web/js/codes.js";
    connect from "/src/web/js/connect.js";
    Connection from "/src/web/js/connection.js";
    problem from "/src/web/js/errors.js";
    readFromAgent from "/src/web/js/from-agent.js";
    receiveFromApp from "/src/web/js/from-app.js";
    Delivery from "/src/web/js/gateway/delivery.js";
    leave from "/src/web/js/gateway/left.js";
    Offer from "/src/web/js/gateway/offer.js";
    GatewayLink from "/src/web/js/gateway/link.js";
    Guard from "/src/web/js/guard.js";
    exposeAbp from "/src/web/js/in-page.js";
    isPlain from "/src/web/js/inspect.js";
    Caller from "/src/web/js/invoke.js";
    extract from "/src/web/js/json-rpc/content.js";
    framing from "/src/web/js/json-rpc/framing.js";
    isMcp from "/src/web/js/json-rpc/mcp.js";
    PARSE_ERROR from "/src/web/js/json-rpc/message.js";
    Own from "/src/web/js/json-rpc/own.js";
    serve from "/src/web/js/json-rpc/peer.js";
    DIALECTS from "/src/web/js/json-rpc/policy.js";
    done from "/src/web/js/json-rpc/result.js";
    tool from "/src/web/js/json-rpc/tools.js";
    toText from "/src/web/js/json.js";
    lifeOfAgent from "/src/web/js/life/of-agent.js";
    LifeOfAgents from "/src/web/js/life/of-agents.js";
    holdLock from "/src/web/js/life/signs.js";
    Listing from "/src/web/js/listing.js";
    problemWithMessenger from "/src/web/js/messenger.js";
    open from "/src/web/js/open.js";
    portMessenger from "/src/web/js/port.js";
    Questions from "/src/web/js/questions.js";
    get from "/src/web/js/read.js";
    receive from "/src/web/js/receive.js";
    Requests from "/src/web/js/requests.js";
    Checker from "/src/web/js/schema/check.js";
    compile from "/src/web/js/schema/compile.js";
    examine from "/src/web/js/schema/examine.js";
    Expressions from "/src/web/js/schema/expressions.js";
    formats from "/src/web/js/schema/formats.js";
    LinearPattern from "/src/web/js/schema/linear.js";
    isMultipleOf from "/src/web/js/schema/multiples.js";
    resolve from "/src/web/js/schema/references.js";
    askWorker from "/src/web/js/schema/pattern-worker.js";
    Patterns from "/src/web/js/schema/patterns.js";
    Unchecked from "/src/web/js/schema/unchecked.js";
    announcing from "/src/web/js/short.js";
    underSignal from "/src/web/js/signal.js";
    snapshot from "/src/web/js/snapshot.js";
    defaultSocket from "/src/web/js/socket.js";
    SchemaChecks from "/src/web/js/standard-schema.js";
    Timer from "/src/web/js/timer.js";
    transferables from "/src/web/js/transfer.js";
    Validators from "/src/web/js/validators.js";
    windowMessenger from "/src/web/js/window.js";
    exposeTools from "/src/web/js/webmcp/expose-tools.js";
    inWorker from "/src/web/js/workers/serve.js";
    Thread from "/src/web/js/workers/thread.js";
    worker from "/src/web/js/workers/worker.js";
    Workers from "/src/web/js/workers/workers.js";
}
