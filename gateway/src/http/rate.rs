//! How many requests come, and how many of one token are unanswered.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::bounds::{Budget, Permit, QuotaKey, RateLimiter};
use crate::fronts::auth::Bearer;
use crate::fronts::refusal::Refusal;
use crate::fronts::socket::PeerAddress;
use crate::http::{HttpLimits, health};
use crate::tokens::Role;
use caphost::call::{Code, Error};

/// Counts requests.
pub(crate) struct RequestRate {
    per_second: f64,
    /// The unanswered requests of each token.
    under_way: Arc<Budget>,
    limiter: RateLimiter,
    /// For the health routes, which must be answered in a flood of other requests.
    health: RateLimiter,
    told_apart: bool,
}

impl RequestRate {
    pub(crate) fn new(limits: &HttpLimits, told_apart: bool) -> Self {
        let per_second = limits.requests_per_second;
        RequestRate {
            per_second,
            // All tokens together may have as many as there are connections.
            under_way: Budget::new(usize::MAX, limits.connections_per_token),
            limiter: RateLimiter::per_second(per_second),
            health: RateLimiter::per_second(per_second),
            told_apart,
        }
    }

    /// Counts a request and returns its party, or the refusal if it comes too soon.
    pub(crate) fn count(
        &self,
        address: PeerAddress,
        bearer: &Bearer,
        path: &str,
    ) -> Result<QuotaKey, Box<Refusal>> {
        let quota_key = self.quota_key(address, bearer);
        let limiter = match health::is_asked_for(path) {
            true => &self.health,
            false => &self.limiter,
        };
        let checked = limiter.check(&quota_key);
        checked.map_err(|wait| Box::new(self.too_many(wait)))?;
        Ok(quota_key)
    }

    /// Begins a request: counts it, and returns its party with its place among the token's unanswered
    /// requests, to be kept until the answer. Or the refusal, if the request comes too soon or its token has
    /// too many unanswered.
    pub(crate) fn begin(
        &self,
        address: PeerAddress,
        bearer: &Bearer,
        path: &str,
    ) -> Result<(QuotaKey, Option<Permit>), Box<Refusal>> {
        let quota_key = self.count(address, bearer, path)?;
        let share = self.place(&quota_key, path)?;
        Ok((quota_key, share))
    }

    /// The party of a request: the token it has shown, of whatever role, or its address.
    pub(crate) fn quota_key(&self, address: PeerAddress, bearer: &Bearer) -> QuotaKey {
        let network = address.network();
        if !self.told_apart {
            return QuotaKey::Network(network);
        }
        let known = [Role::Agent, Role::App].into_iter().find_map(|role| {
            let identity = bearer.acts_as(role).ok()?;
            Some(QuotaKey::Token(identity.name).in_role(role))
        });
        known.unwrap_or(QuotaKey::Stranger(network))
    }

    /// Counts the refusal of a request for something that does not exist.
    pub(crate) fn count_refusal(&self, quota_key: &QuotaKey, response: Response) -> Response {
        let refused = [StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
        if !refused.contains(&response.status()) {
            return response;
        }
        let checked = self.limiter.check(quota_key);
        match checked {
            Ok(()) => response,
            Err(wait) => self.too_many(wait).into_response(),
        }
    }

    /// A place among the token's unanswered requests. Where there are no tokens, only the connections of each
    /// address are bounded.
    fn place(&self, quota_key: &QuotaKey, path: &str) -> Result<Option<Permit>, Box<Refusal>> {
        let (QuotaKey::Token(_) | QuotaKey::AppsOfToken(_)) = quota_key else {
            return Ok(None);
        };
        if health::is_asked_for(path) {
            return Ok(None);
        }
        let share = self.under_way.take(quota_key, 1).map(Some);
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
