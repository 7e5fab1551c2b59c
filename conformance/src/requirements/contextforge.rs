//! ContextForge's cancellation API: an operator cancels the call of another.

use super::{OURS, requirement};
use crate::requirement::Requirement;
use crate::scenarios::{ids, races, running, status, timing};

const API: &str =
    "https://github.com/IBM/mcp-context-forge/blob/main/mcpgateway/routers/cancellation_router.py";
const SERVICE: &str = "https://github.com/IBM/mcp-context-forge/blob/main/mcpgateway/services/cancellation_service.py";
const RESPONSES: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic#responses";

pub const REQUIREMENTS: &[Requirement] = &[
    requirement!(
        "CF-C-01",
        Must,
        "A call that nobody cancels is answered once, with the result of its work.",
        RESPONSES,
        running::completes
    ),
    requirement!(
        "CF-C-02",
        Must,
        "The cancel of a call that works has the status cancelled, and the work stops.",
        SERVICE,
        running::agrees
    ),
    requirement!(
        "CF-C-03",
        Must,
        "A cancelled call is answered with error -32800.",
        SERVICE,
        running::answered
    ),
    requirement!(
        "CF-C-04",
        Must,
        "The cancel of an unknown id has the status queued.",
        API,
        ids::unknown
    ),
    requirement!(
        "CF-C-05",
        Must,
        "The status of a run says whether it is cancelled, and why.",
        API,
        status::cancelled
    ),
    requirement!(
        "CF-C-06",
        Must,
        "The status of an unknown id is 404.",
        API,
        status::unknown
    ),
    requirement!(
        "CF-C-07",
        Must,
        "A cancel without a requestId that is a text is refused with 422.",
        API,
        ids::malformed
    ),
    requirement!(
        "CF-C-08",
        Ours,
        "The cancel of a call that has completed does not have the status cancelled.",
        OURS,
        timing::late
    ),
    requirement!(
        "CF-C-09",
        Ours,
        "The status of a call that has completed never says that it is cancelled.",
        OURS,
        status::completed
    ),
    requirement!(
        "CF-C-10",
        Ours,
        "Cancels of one call have the same status.",
        OURS,
        timing::double
    ),
    requirement!(
        "CF-C-11",
        Ours,
        "A cancel that comes before its call does no harm.",
        OURS,
        timing::early
    ),
    requirement!(
        "CF-C-12",
        Ours,
        "A cancel does not disturb other calls.",
        OURS,
        running::neighbours
    ),
    requirement!(
        "CF-C-13",
        Ours,
        "No progress comes after the answer of a cancelled call.",
        OURS,
        running::progress_ends
    ),
    requirement!(
        "CF-C-14",
        Ours,
        "A reason may be any text.",
        API,
        running::reasons
    ),
    requirement!(
        "CF-C-15",
        Ours,
        "Fifty calls that are cancelled at once all stop, and each is answered once.",
        OURS,
        timing::crowd
    ),
    requirement!(
        "CF-C-16",
        Ours,
        "Where cancels race with the end of their calls, status, answer and count never contradict each other.",
        OURS,
        races::races
    ),
];
