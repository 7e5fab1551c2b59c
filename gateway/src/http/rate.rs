//! How many requests come, and how many of one token are unanswered.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::bounds::ledger::Party;
use crate::bounds::shares::{Holder, Share, Shares};
use crate::fronts::auth::Bearer;
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::PeerAddress;
use crate::gateway::Hub;
use crate::http::{HttpLimits, health};
use crate::rate_limit::RateLimiter;
use crate::tokens::Role;
use caphost::call::{Code, Error};

/// Counts requests.
pub(crate) struct RequestRate {
    per_second: f64,
    /// The unanswered requests of each token.
    under_way: Arc<Shares>,
    limiter: RateLimiter,
    /// For the health routes, which must be answered in a flood of other requests.
    health: RateLimiter,
    hub: Arc<Hub>,
}

impl RequestRate {
    pub(crate) fn new(limits: &HttpLimits, hub: Arc<Hub>) -> Self {
        let per_second = limits.requests_per_second;
        RequestRate {
            per_second,
            // All tokens together may have as many as there are connections.
            under_way: Shares::new(usize::MAX, limits.connections_per_token),
            limiter: RateLimiter::per_second(per_second),
            health: RateLimiter::per_second(per_second),
            hub,
        }
    }

    /// Counts a request and returns its party, or the refusal if it comes too soon.
    pub(crate) fn count(
        &self,
        address: PeerAddress,
        bearer: &Bearer,
        path: &str,
    ) -> Result<Party, Box<Refusal>> {
        let party = self.party(address, bearer);
        let limiter = match health::is_asked_for(path) {
            true => &self.health,
            false => &self.limiter,
        };
        let checked = limiter.check(&party);
        checked.map_err(|wait| Box::new(self.too_many(wait)))?;
        Ok(party)
    }

    /// Begins a request: counts it, and returns its party with its place among the token's unanswered
    /// requests, to be kept until the answer. Or the refusal, if the request comes too soon or its token has
    /// too many unanswered.
    pub(crate) fn begin(
        &self,
        address: PeerAddress,
        bearer: &Bearer,
        path: &str,
    ) -> Result<(Party, Option<Share>), Box<Refusal>> {
        let party = self.count(address, bearer, path)?;
        let share = self.place(&party, path)?;
        Ok((party, share))
    }

    /// The party of a request: the token it has shown, of whatever role, or its address.
    pub(crate) fn party(&self, address: PeerAddress, bearer: &Bearer) -> Party {
        let network = address.network();
        if self.hub.tokens.is_empty() {
            return Party::Member(Holder::Network(network), Role::Agent);
        }
        let known = [Role::Agent, Role::App].into_iter().find_map(|role| {
            let identity = bearer.acts_as(role).ok()?;
            Some(Party::Member(Holder::Token(identity.name), role))
        });
        known.unwrap_or(Party::Stranger(network))
    }

    /// Counts the refusal of a request for something that does not exist.
    pub(crate) fn count_refusal(&self, party: &Party, response: Response) -> Response {
        let refused = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
        if !refused.contains(&response.status()) {
            return response;
        }
        let checked = self.limiter.check(party);
        match checked {
            Ok(()) => response,
            Err(wait) => self.too_many(wait).into_response(),
        }
    }

    /// A place among the token's unanswered requests. Where there are no tokens, only the connections of each
    /// address are bounded.
    fn place(&self, party: &Party, path: &str) -> Result<Option<Share>, Box<Refusal>> {
        let Party::Member(holder @ Holder::Token(_), _) = party else {
            return Ok(None);
        };
        if health::is_asked_for(path) {
            return Ok(None);
        }
        let share = self.under_way.take(holder).map(Some);
        share.map_err(|_| {
            let message = "Too many requests of this token are under way";
            Box::new(Refusal::busy(message))
        })
    }

    fn too_many(&self, wait: Duration) -> Refusal {
        let details = json!({ "limit": "httpRequestsPerSecond", "max": self.per_second });
        let error = Error::new(Code::RATE_LIMITED, "Too many requests per second");
        let mut error = error.with_details(Box::new(details));
        error.retry_after = Some((wait.as_secs_f64() * 1_000.0).ceil());
        Refusal::new(StatusCode::TOO_MANY_REQUESTS, error)
    }
}
