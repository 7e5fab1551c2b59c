//! RAP: `/cancel_tool_call` and `/close_thread`, which nobody need heed.

use super::{OURS, requirement};
use crate::requirement::Requirement;
use crate::scenarios::{endings, ids, races, running, timing};

const CANCELLATION: &str = "https://infinity.hydro.run/docs/rap/spec/basic/tool-cancellation";
const CLOSURE: &str = "https://infinity.hydro.run/docs/rap/spec/basic/thread-closure";
const TRANSPORT: &str = "https://infinity.hydro.run/docs/rap/spec/basic/transport";

pub const REQUIREMENTS: &[Requirement] = &[
    requirement!(
        "RAP-C-01",
        Must,
        "An invocation that nobody cancels has one result, that of its work.",
        TRANSPORT,
        running::completes
    ),
    requirement!(
        "RAP-C-02",
        Must,
        "A cancel of an unknown call is answered with 200, and ignored.",
        CANCELLATION,
        ids::unknown
    ),
    requirement!(
        "RAP-C-03",
        Must,
        "A cancel of a call that has completed changes nothing.",
        CANCELLATION,
        timing::late
    ),
    requirement!(
        "RAP-C-04",
        Should,
        "Two cancels of one call count as one.",
        CANCELLATION,
        timing::double
    ),
    requirement!(
        "RAP-C-05",
        Ours,
        "The work of a cancelled call stops.",
        CANCELLATION,
        running::stops
    ),
    requirement!(
        "RAP-C-06",
        Ours,
        "A cancelled call has one result too, which is not that of its work.",
        OURS,
        running::answered
    ),
    requirement!(
        "RAP-C-07",
        Must,
        "A cancel with the id of another thread's call does not concern that call.",
        CANCELLATION,
        ids::foreign
    ),
    requirement!(
        "RAP-C-08",
        Ours,
        "A cancel right after its invocation stops the work.",
        OURS,
        timing::same_turn
    ),
    requirement!(
        "RAP-C-09",
        Ours,
        "A cancel that comes before its invocation does no harm.",
        OURS,
        timing::early
    ),
    requirement!(
        "RAP-C-10",
        Ours,
        "A cancel does not disturb the other calls of its thread.",
        OURS,
        running::neighbours
    ),
    requirement!(
        "RAP-C-11",
        Ours,
        "Another invocation with the id of one in flight does not disturb the first.",
        TRANSPORT,
        ids::duplicate
    ),
    requirement!(
        "RAP-C-12",
        Ours,
        "The same invocation again, as a runtime repeats it, starts nothing, and there is one result.",
        TRANSPORT,
        ids::retried
    ),
    requirement!(
        "RAP-C-13",
        Ours,
        "The end of a thread stops its work.",
        CLOSURE,
        endings::end_stops
    ),
    requirement!(
        "RAP-C-14",
        Ours,
        "Fifty calls that are cancelled at once all stop, and each has one result.",
        OURS,
        timing::crowd
    ),
    requirement!(
        "RAP-C-15",
        Ours,
        "Where cancels race with the end of their calls, each has one result, a result of the work means the whole work, and nothing works on.",
        CANCELLATION,
        races::races
    ),
];
