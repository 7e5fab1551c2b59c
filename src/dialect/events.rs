//! The events of the notifications that an agent of the Agentic Browser Protocol gets from host and
//! gateway, beside those of the app.

constants! {
    &str:
    CAPABILITIES_CHANGED = "notifications/capabilities/list_changed",
        "The set of capabilities has changed: `{ added, removed, changed }`.";
    CALL_ENDED = "notifications/call/ended",
        "The handler of an abandoned call has ended: `{ callId, success, after }`.";
    ELICITATION_WITHDRAWN = "notifications/elicitation/withdrawn",
        "A question was withdrawn: `{ id }`.";
    HOST_CLOSED = "notifications/host/closed",
        "The host has let go of the agent.";
    LIFE_ASKED = "notifications/life/asked",
        "The host asks for a sign of life.";
    LIFE_LOCK = "notifications/life/lock",
        "The host holds a lock for as long as it lives: `{ lock }`.";
    LARGE_MESSAGE = "notifications/life/large",
        "The next message is large: `{ bytes }`.";
}
