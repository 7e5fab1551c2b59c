//! ABP 0.1: `capabilities/cancel`, and its confirmation.

use super::{OURS, requirement};
use crate::requirement::Requirement;
use crate::scenarios::{endings, ids, races, running, timing, truth};

const CANCELLATION: &str = "https://agenticbrowserprotocol.io/reference/cancellation";
const API: &str = "https://agenticbrowserprotocol.io/reference/api";

pub const REQUIREMENTS: &[Requirement] = &[
    requirement!(
        "ABP-C-01",
        Must,
        "A call that nobody cancels is answered once, with the result of its work.",
        API,
        running::completes
    ),
    requirement!(
        "ABP-C-02",
        Ours,
        "Progress increases, and ends with its call.",
        API,
        running::progress
    ),
    requirement!(
        "ABP-C-03",
        Must,
        "A cancel during the work is answered with cancelled: true, and the work stops.",
        CANCELLATION,
        running::agrees
    ),
    requirement!(
        "ABP-C-04",
        Must,
        "A cancelled call is answered once, with success: false and cancelled: true, without data and without an error.",
        CANCELLATION,
        running::answered
    ),
    requirement!(
        "ABP-C-05",
        Must,
        "A cancel of an unknown call is answered with cancelled: false and Operation not found.",
        CANCELLATION,
        ids::unknown
    ),
    requirement!(
        "ABP-C-06",
        Must,
        "A cancel of a call that has completed is answered with cancelled: false and Operation already completed.",
        CANCELLATION,
        timing::late
    ),
    requirement!(
        "ABP-C-07",
        Must,
        "All cancels of one call get the same answer.",
        CANCELLATION,
        timing::double
    ),
    requirement!(
        "ABP-C-08",
        Must,
        "A cancel that comes before the work begins is confirmed, and the work is skipped.",
        CANCELLATION,
        timing::same_turn
    ),
    requirement!(
        "ABP-C-09",
        Must,
        "A call or a cancel without a session is answered with NOT_INITIALIZED.",
        CANCELLATION,
        truth::without_session
    ),
    requirement!(
        "ABP-C-10",
        Must,
        "A timeout stops the work, and the call is answered as a cancelled one.",
        CANCELLATION,
        timing::timeout
    ),
    requirement!(
        "ABP-C-11",
        Ours,
        "The answer of the cancel comes before that of its call.",
        OURS,
        running::confirmed_first
    ),
    requirement!(
        "ABP-C-12",
        Ours,
        "A cancel that comes before its call does no harm.",
        OURS,
        timing::early
    ),
    requirement!(
        "ABP-C-13",
        Ours,
        "Another agent's call is not found, and not touched.",
        OURS,
        ids::foreign
    ),
    requirement!(
        "ABP-C-14",
        Ours,
        "No progress comes after the answer of a cancelled call.",
        OURS,
        running::progress_ends
    ),
    requirement!(
        "ABP-C-15",
        Ours,
        "A cancel does not disturb the other calls of its session.",
        OURS,
        running::neighbours
    ),
    requirement!(
        "ABP-C-16",
        Ours,
        "A reason may be any text.",
        CANCELLATION,
        running::reasons
    ),
    requirement!(
        "ABP-C-17",
        Ours,
        "A second call with the callId of one in flight does not disturb the first.",
        OURS,
        ids::duplicate
    ),
    requirement!(
        "ABP-C-18",
        Ours,
        "Fifty calls that are cancelled in one turn all stop, and each is answered once.",
        OURS,
        timing::crowd
    ),
    requirement!(
        "ABP-C-19",
        Ours,
        "The loss of the connection stops its work.",
        OURS,
        endings::cut_stops
    ),
    requirement!(
        "ABP-C-20",
        Ours,
        "A shutdown stops the work of its session.",
        API,
        endings::end_stops
    ),
    requirement!(
        "ABP-C-21",
        Ours,
        "Work that does not listen is not said to have stopped, and its late end is told.",
        OURS,
        truth::deaf
    ),
    requirement!(
        "ABP-C-22",
        Ours,
        "Where cancels race with the end of their calls, confirmation, answer and count never contradict each other.",
        CANCELLATION,
        races::races
    ),
];
