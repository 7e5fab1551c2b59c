//! The log of refused peers and requests. Each reason is logged now and then, because a peer may try as often
//! as it likes.

use std::net::SocketAddr;

use crate::seldom::SeldomOf;
use crate::tokens::Role;
use crate::wire::for_log;

/// A peer on a WebSocket is refused as an app or as an agent. The peer may have named an app.
pub(crate) fn peer(role: Role, reason: &str, address: Option<SocketAddr>, app: Option<&str>) {
    // The refusals of one kind of peer do not hide those of the other kind.
    static APPS: SeldomOf = SeldomOf::new();
    static AGENTS: SeldomOf = SeldomOf::new();
    let seldom = match role {
        Role::App => &APPS,
        Role::Agent | Role::Admin => &AGENTS,
    };
    let reason = for_log(reason);
    if let Some(suppressed) = seldom.is_due(&reason) {
        let address = address.map(tracing::field::display);
        let app = app.map(for_log);
        let suppressed = Some(suppressed).filter(|it| *it > 0);
        let role = role.as_str();
        tracing::warn!(reason, address, app, suppressed, "an {role} is refused");
    }
}

/// An HTTP request is refused because of its token, or because it has none. The log contains only the path of
/// the URL, because the query may contain a token. `token` says what was wrong with the token.
pub(crate) fn request(reason: &str, path: &str, address: SocketAddr, token: &str) {
    static REQUESTS: SeldomOf = SeldomOf::new();
    let reason = for_log(reason);
    if let Some(suppressed) = REQUESTS.is_due(&format!("{token} {reason}")) {
        let path = for_log(path);
        let suppressed = Some(suppressed).filter(|it| *it > 0);
        tracing::warn!(
            reason,
            token,
            path,
            %address,
            suppressed,
            "a request is refused"
        );
    }
}
