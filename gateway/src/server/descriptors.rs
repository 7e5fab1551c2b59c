//! Descriptors of open files. Every connection needs one. The system's limit is raised to what the bounds
//! need, or the bounds are lowered to the limit.

use crate::http::HttpLimits;
use crate::http::places::SPARE;
use crate::limits::Limits;

/// Descriptors for everything but the counted connections of clients: files, Redis, tool servers, callbacks,
/// and spare connections.
const OTHERS: u64 = 256 + SPARE as u64;

/// Raises the soft limit of this process as far as the bounds need and the hard limit allows. Lowers the
/// bounds if that is not enough.
pub(super) fn fit(limits: &mut Limits, http_limits: &mut HttpLimits) {
    let wanted = sum(limits, http_limits) + OTHERS;
    if let Some(allowed) = raise(wanted) {
        lower(limits, http_limits, wanted, allowed);
    }
}

/// The bounds of connections, and how many descriptors each counted connection takes. Each HTTP connection
/// may send a file. Beside the agents, as many JSON-RPC peers may be connected.
fn bounds<'a>(
    limits: &'a mut Limits,
    http_limits: &'a mut HttpLimits,
) -> [(&'a mut usize, u64); 4] {
    [
        (&mut http_limits.connections, 2),
        (&mut limits.sessions, 2),
        (&mut limits.apps, 1),
        (&mut limits.unregistered_apps, 1),
    ]
}

/// The descriptors that all connections take together.
fn sum(limits: &mut Limits, http_limits: &mut HttpLimits) -> u64 {
    let bounds = bounds(limits, http_limits).into_iter();
    bounds.map(|(bound, each)| *bound as u64 * each).sum()
}

fn lower(limits: &mut Limits, http_limits: &mut HttpLimits, wanted: u64, allowed: u64) {
    if allowed >= wanted {
        return;
    }
    let others = OTHERS.min(allowed * 3 / 8);
    let part = (allowed - others) as f64 / (wanted - OTHERS) as f64;
    for (bound, _) in bounds(limits, http_limits) {
        *bound = ((*bound as f64 * part) as usize).max(1);
    }
    let of_one = &mut http_limits.connections_per_address;
    *of_one = (*of_one).min((http_limits.connections / 2).max(1));
    tracing::warn!(
        open_files = allowed,
        wanted,
        max_http_connections = http_limits.connections,
        max_http_connections_per_address = http_limits.connections_per_address,
        max_sessions = limits.sessions,
        max_apps = limits.apps,
        max_unregistered_apps = limits.unregistered_apps,
        "the system allows too few open files: the bounds of connections are lowered"
    );
}

/// How many descriptors the process may have now, if that can be known.
#[cfg(unix)]
fn raise(wanted: u64) -> Option<u64> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    let soft = limit.current?;
    let most = limit.maximum.unwrap_or(u64::MAX);
    if soft >= wanted || soft >= most {
        return Some(soft);
    }
    let raised = wanted.min(most);
    limit.current = Some(raised);
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => {
            tracing::info!(from = soft, to = raised, "raised the limit of open files");
            Some(raised)
        }
        Err(error) => {
            tracing::warn!(%error, "cannot raise the limit of open files");
            Some(soft)
        }
    }
}

#[cfg(not(unix))]
fn raise(_: u64) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_lowered_in_proportion() {
        let (mut limits, mut http_limits) = (Limits::default(), HttpLimits::default());
        let before = (limits.clone(), http_limits.clone());
        lower(&mut limits, &mut http_limits, 10_000, 10_000);
        assert_eq!((&limits, &http_limits), (&before.0, &before.1));
        let wanted = sum(&mut limits, &mut http_limits) + OTHERS;
        let connections = 2 * http_limits.connections + 2 * limits.sessions + limits.apps;
        assert!(wanted > connections as u64 + OTHERS);
        lower(&mut limits, &mut http_limits, wanted, 1_024);
        assert!(sum(&mut limits, &mut http_limits) + OTHERS <= 1_024);
        let lowered = bounds(&mut limits, &mut http_limits);
        assert!(lowered.iter().all(|(it, _)| **it > 10));
        assert_eq!(
            http_limits.connections_per_address,
            http_limits.connections / 2
        );
        lower(&mut limits, &mut http_limits, wanted, 3);
        assert!(
            bounds(&mut limits, &mut http_limits)
                .iter()
                .all(|(it, _)| **it == 1)
        );
    }
}
