//! ACP's `$/cancel_request` and LSP's `$/cancelRequest`: every request is answered.

use super::{OURS, requirement};
use crate::requirement::Requirement;
use crate::scenarios::{endings, ids, races, running, timing, truth};

const LSP: &str = "https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#cancelRequest";
const ACP: &str = "https://agentclientprotocol.com/protocol/v1/cancellation";
const PROGRESS: &str = "https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#progress";
const JSONRPC: &str = "https://www.jsonrpc.org/specification#response_object";
const REQUESTS: &str = "https://www.jsonrpc.org/specification#request_object";

pub const REQUIREMENTS: &[Requirement] = &[
    requirement!(
        "RPC-C-01",
        Must,
        "A request that nobody cancels is answered once, with the result of its work.",
        JSONRPC,
        running::completes
    ),
    requirement!(
        "RPC-C-02",
        Ours,
        "Progress increases with each notification, and ends with its request.",
        PROGRESS,
        running::progress
    ),
    requirement!(
        "RPC-C-03",
        Must,
        "A cancelled request is answered once: with error -32800, or with its result.",
        LSP,
        running::answered_in_any_way
    ),
    requirement!(
        "RPC-C-04",
        Should,
        "The work of a cancelled request stops.",
        ACP,
        running::stops
    ),
    requirement!(
        "RPC-C-05",
        Should,
        "A cancel of an unknown request is ignored.",
        ACP,
        ids::unknown
    ),
    requirement!(
        "RPC-C-06",
        Should,
        "A cancel of a request that has completed is ignored.",
        ACP,
        timing::late
    ),
    requirement!(
        "RPC-C-07",
        Ours,
        "A malformed cancel is ignored.",
        OURS,
        ids::malformed
    ),
    requirement!(
        "RPC-C-08",
        Must,
        "A cancel concerns a request of its own sender, and not one of another client with the same id.",
        ACP,
        ids::foreign
    ),
    requirement!(
        "RPC-C-09",
        Ours,
        "A cancel in the same turn as its request stops the work, and the request is answered.",
        LSP,
        timing::same_turn
    ),
    requirement!(
        "RPC-C-10",
        Ours,
        "A cancel that comes before its request does no harm.",
        OURS,
        timing::early
    ),
    requirement!(
        "RPC-C-11",
        Ours,
        "Two cancels of one request give one answer.",
        LSP,
        timing::double
    ),
    requirement!(
        "RPC-C-12",
        Ours,
        "No progress comes after the answer of a cancelled request.",
        PROGRESS,
        running::progress_ends
    ),
    requirement!(
        "RPC-C-13",
        Ours,
        "A cancel does not disturb the other requests of its connection.",
        OURS,
        running::neighbours
    ),
    requirement!(
        "RPC-C-14",
        Ours,
        "A request with the id 0 can be cancelled.",
        REQUESTS,
        ids::zero
    ),
    requirement!(
        "RPC-C-15",
        Ours,
        "A request with the id \"\" can be cancelled.",
        REQUESTS,
        ids::empty
    ),
    requirement!(
        "RPC-C-16",
        Ours,
        "The ids 1 and \"1\" are two: a cancel of one does not concern the other.",
        REQUESTS,
        ids::types
    ),
    requirement!(
        "RPC-C-17",
        Ours,
        "A second request under the id of one in flight does not disturb the first.",
        REQUESTS,
        ids::duplicate
    ),
    requirement!(
        "RPC-C-18",
        Ours,
        "An id that was cancelled and answered can be used again.",
        REQUESTS,
        ids::reused
    ),
    requirement!(
        "RPC-C-19",
        Ours,
        "A time limit stops the work, and the request is answered as cancelled.",
        OURS,
        timing::timeout
    ),
    requirement!(
        "RPC-C-20",
        Ours,
        "Fifty requests that are cancelled in one turn all stop, and each is answered once.",
        OURS,
        timing::crowd
    ),
    requirement!(
        "RPC-C-21",
        Ours,
        "The end of a connection stops its work.",
        OURS,
        endings::cut_stops
    ),
    requirement!(
        "RPC-C-22",
        Ours,
        "A program ends when its input has ended, also while a request works.",
        OURS,
        endings::program_ends
    ),
    requirement!(
        "RPC-C-23",
        Ours,
        "Work that does not listen is not said to have stopped, and its late end is told.",
        OURS,
        truth::deaf
    ),
    requirement!(
        "RPC-C-24",
        Ours,
        "Where cancels race with the end of their requests, each is answered once, a result means the whole work, and nothing works on.",
        OURS,
        races::races
    ),
];
