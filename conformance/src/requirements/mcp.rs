//! MCP 2025-11-25: `notifications/cancelled`.

use super::{OURS, requirement};
use crate::requirement::Requirement;
use crate::scenarios::{endings, ids, races, running, timing};

const CANCELLATION: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements";
const ERRORS: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#error-handling";
const TIMING: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#timing-considerations";
const PROGRESS: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress#behavior-requirements";
const REQUESTS: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic#requests";
const RESPONSES: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic#responses";
const SENDING: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server";
const SESSIONS: &str =
    "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management";
const SHUTDOWN: &str =
    "https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown";

pub const REQUIREMENTS: &[Requirement] = &[
    requirement!(
        "MCP-C-01",
        Must,
        "A request that nobody cancels is answered once, with the result of its work.",
        RESPONSES,
        running::completes
    ),
    requirement!(
        "MCP-C-02",
        Must,
        "Progress increases with each notification, and ends with its request.",
        PROGRESS,
        running::progress
    ),
    requirement!(
        "MCP-C-03",
        Should,
        "The work of a cancelled request stops.",
        CANCELLATION,
        running::stops
    ),
    requirement!(
        "MCP-C-04",
        Should,
        "A cancelled request is not answered.",
        CANCELLATION,
        running::answered
    ),
    requirement!(
        "MCP-C-05",
        Should,
        "A cancel of an unknown request is ignored.",
        ERRORS,
        ids::unknown
    ),
    requirement!(
        "MCP-C-06",
        Should,
        "A cancel of a request that has completed is ignored.",
        ERRORS,
        timing::late
    ),
    requirement!(
        "MCP-C-07",
        Should,
        "A malformed cancel is ignored.",
        ERRORS,
        ids::malformed
    ),
    requirement!(
        "MCP-C-08",
        Must,
        "A cancel concerns a request of its own session, and not one of another client with the same id.",
        REQUESTS,
        ids::foreign
    ),
    requirement!(
        "MCP-C-09",
        Should,
        "A response stream that breaks is no cancel.",
        SENDING,
        endings::cut_is_no_cancel
    ),
    requirement!(
        "MCP-C-10",
        Ours,
        "A program ends when its input has ended, also while a request works.",
        SHUTDOWN,
        endings::program_ends
    ),
    requirement!(
        "MCP-C-11",
        Ours,
        "A cancel in the same turn as its request stops the work.",
        TIMING,
        timing::same_turn
    ),
    requirement!(
        "MCP-C-12",
        Ours,
        "A cancel that comes before its request does no harm.",
        TIMING,
        timing::early
    ),
    requirement!(
        "MCP-C-13",
        Ours,
        "Two cancels of one request count as one.",
        OURS,
        timing::double
    ),
    requirement!(
        "MCP-C-14",
        Ours,
        "No progress comes after a cancelled request has stopped.",
        PROGRESS,
        running::progress_ends
    ),
    requirement!(
        "MCP-C-15",
        Ours,
        "A cancel does not disturb the other requests of its session.",
        OURS,
        running::neighbours
    ),
    requirement!(
        "MCP-C-16",
        Ours,
        "A reason may be any text.",
        CANCELLATION,
        running::reasons
    ),
    requirement!(
        "MCP-C-17",
        Ours,
        "A request with the id 0 can be cancelled.",
        REQUESTS,
        ids::zero
    ),
    requirement!(
        "MCP-C-18",
        Ours,
        "The ids 1 and \"1\" are two: a cancel of one does not concern the other.",
        REQUESTS,
        ids::types
    ),
    requirement!(
        "MCP-C-19",
        Ours,
        "A second request under the id of one in flight does not disturb the first.",
        REQUESTS,
        ids::duplicate
    ),
    requirement!(
        "MCP-C-20",
        Ours,
        "Fifty requests that are cancelled in one turn all stop.",
        OURS,
        timing::crowd
    ),
    requirement!(
        "MCP-C-21",
        Ours,
        "The end of a session stops its work.",
        SESSIONS,
        endings::end_stops
    ),
    requirement!(
        "MCP-C-22",
        Ours,
        "Where cancels race with the end of their requests, each request is answered once in full or not at all, and nothing works on.",
        TIMING,
        races::races
    ),
];
