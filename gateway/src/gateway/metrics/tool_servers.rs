//! The metrics of RAP tool servers whose tools the gateway uses.

use crate::count::Count;

/// The counts since the gateway started.
#[derive(Debug, Default)]
pub struct ToolServerCounters {
    /// How many invocations were made.
    pub invocations: Count,
    /// How many results ended a call.
    pub results: Count,
    /// How many results belonged to no call in flight: late, repeated, or never requested.
    pub results_dropped: Count,
    /// How many events were passed on to an agent.
    pub events: Count,
    /// How many events belonged to no subscription.
    pub events_dropped: Count,
    /// How many callbacks could not be read.
    pub callbacks_refused: Count,
    /// How many notifications a tool server has acknowledged.
    pub notices: Count,
    /// How many notifications did not reach the tool server.
    pub notices_lost: Count,
}

/// A metric of tool servers: its name, its description, and its counter.
pub(super) type ToolServerMetric = (
    &'static str,
    &'static str,
    fn(&ToolServerCounters) -> &Count,
);

pub(super) const TOOL_SERVERS: &[ToolServerMetric] = &[
    (
        "caphost_tool_invocations_total",
        "Invocations of tool servers.",
        |it| &it.invocations,
    ),
    (
        "caphost_tool_results_total",
        "Results of tool servers that ended a call.",
        |it| &it.results,
    ),
    (
        "caphost_tool_results_dropped_total",
        "Results of no call in flight: late, repeated, or never asked for.",
        |it| &it.results_dropped,
    ),
    (
        "caphost_tool_events_total",
        "Subscription events passed on to agents.",
        |it| &it.events,
    ),
    (
        "caphost_tool_events_dropped_total",
        "Events of no subscription.",
        |it| &it.events_dropped,
    ),
    (
        "caphost_tool_callbacks_refused_total",
        "Callbacks of tool servers that could not be read.",
        |it| &it.callbacks_refused,
    ),
    (
        "caphost_tool_notices_total",
        "Cancellations and thread closures that tool servers acknowledged.",
        |it| &it.notices,
    ),
    (
        "caphost_tool_notices_lost_total",
        "Cancellations and thread closures that did not reach their tool server.",
        |it| &it.notices_lost,
    ),
];
