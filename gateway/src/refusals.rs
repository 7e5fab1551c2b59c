//! The log of those that are refused: each reason now and then, as one may try as often as it likes.

use std::net::SocketAddr;

use crate::seldom::SeldomOf;
use crate::tokens::Role;
use crate::wire::for_log;

/// A peer on a WebSocket is refused, as an app or as an agent. It may have named an app.
pub(crate) fn peer(role: Role, reason: &str, address: Option<SocketAddr>, app: Option<&str>) {
    // What one does does not hide what others do.
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

/// A request over HTTP is refused for the token it shows, or for showing none. Of its URL only the path
/// is told: the query may hold a token.
pub(crate) fn request(reason: &str, path: &str, address: SocketAddr, token_shown: bool) {
    static REQUESTS: SeldomOf = SeldomOf::new();
    let reason = for_log(reason);
    let token = match token_shown {
        true => "wrong",
        false => "none",
    };
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
