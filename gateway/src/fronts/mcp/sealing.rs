//! The ids of sessions: all that is needed of a session, sealed so that only gateways with the key read it.
//!
//! An id is the number of its session and the sealed text, in lower-case hexadecimal digits, because some
//! programs lower the case of headers. Each number has a key of its own, made of the gateway's key, so no nonce
//! repeats. The caller is sealed with the text without being part of it: another caller cannot open the id.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::caller::Caller;
use super::request::ClientInfo;
use crate::gateway::Hub;
use crate::session_key::SessionKey;
use crate::wire::clipped;
use caphost::dialect::mcp::Version;

/// Characters of a client's name and version that are kept.
const NAME_CHARS: usize = 256;
/// How long a session lives at most.
pub(crate) const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// A text that is sealed.
pub(super) trait Sealed: Serialize + DeserializeOwned {
    /// What the keys are for. A later form of the text needs other keys.
    const PURPOSE: &[u8];
}

impl Sealed for Said {
    const PURPOSE: &[u8] = b"caphost: sessions of MCP, 1";
}

/// What the id of a session says.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Said {
    pub client: ClientInfo,
    /// The version of MCP.
    pub version: Box<str>,
    /// Whether the client fills in forms.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_forms: bool,
    /// When the session ends, in seconds of Unix time.
    pub until: u64,
}

impl Said {
    /// What is said of a session that begins now.
    pub fn new(client: ClientInfo, version: &Version, takes_forms: bool) -> Self {
        let clip = |text: String| clipped(&text, NAME_CHARS).to_string();
        Said {
            client: ClientInfo {
                name: clip(client.name),
                version: clip(client.version),
            },
            version: version.name.into(),
            takes_forms,
            until: unix_time() + LIFETIME.as_secs(),
        }
    }
}

/// Whether that time has passed, in seconds of Unix time.
pub(super) fn is_over(until: u64) -> bool {
    unix_time() >= until
}

/// The number of the session with that id.
pub(super) fn number_of(id: &str) -> Option<Uuid> {
    split(id).map(|(number, _)| number)
}

/// The keys of this gateway.
pub(super) struct Seals {
    hub: Arc<Hub>,
    /// The configured key, or a random one.
    own: SessionKey,
    is_configured: bool,
}

/// Why an id is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unopened {
    /// It is not an id of this caller.
    Foreign,
    /// Another worker may have sealed it, and the key of the workers is not known yet.
    Unsure,
}

impl Seals {
    pub fn new(hub: Arc<Hub>, configured: Option<SessionKey>) -> Self {
        Seals {
            hub,
            is_configured: configured.is_some(),
            own: configured.unwrap_or_else(SessionKey::random),
        }
    }

    /// A new number, and the id that says so much of its session.
    pub fn seal(&self, caller: &Caller, said: &impl Sealed) -> (Uuid, String) {
        let key = self.shared().unwrap_or_else(|| self.own.clone());
        let (number, bound) = (Uuid::new_v4(), self.bound(caller));
        (number, seal(&key, number, &bound, said))
    }

    /// What the id says of its session.
    pub fn open<T: Sealed>(&self, id: &str, caller: &Caller) -> Result<T, Unopened> {
        let bound = self.bound(caller);
        let shared = self.shared();
        let mut keys = shared.iter().chain([&self.own]);
        let opened = keys.find_map(|key| open(key, id, &bound));
        let are_all = self.is_configured || self.hub.cluster().is_none() || shared.is_some();
        opened.ok_or(match are_all {
            true => Unopened::Foreign,
            false => Unopened::Unsure,
        })
    }

    /// The key of all workers, if none is configured.
    fn shared(&self) -> Option<SessionKey> {
        let cluster = self.hub.cluster().filter(|_| !self.is_configured);
        cluster?.session_key()
    }

    /// The caller, to whom ids are bound: its token, the token's rights, the path and the wanted tools.
    fn bound(&self, caller: &Caller) -> Vec<u8> {
        let token = self.hub.tokens.secret_of(&caller.identity);
        // Texts can always be written.
        serde_json::to_vec(&(caller, token)).unwrap_or_default()
    }
}

fn seal<T: Sealed>(key: &SessionKey, number: Uuid, bound: &[u8], said: &T) -> String {
    let mut text = serde_json::to_vec(said).unwrap_or_default();
    let key = key_of::<T>(number, key);
    let sealed = key.seal_in_place_append_tag(nonce(), Aad::from(bound), &mut text);
    // It fails with texts of many gigabytes only.
    sealed.unwrap_or_else(|_| text.clear());
    HEXLOWER.encode(&[number.as_bytes().as_slice(), &text].concat())
}

fn open<T: Sealed>(key: &SessionKey, id: &str, bound: &[u8]) -> Option<T> {
    let (number, mut sealed) = split(id)?;
    let key = key_of::<T>(number, key);
    let text = key.open_in_place(nonce(), Aad::from(bound), &mut sealed);
    serde_json::from_slice(text.ok()?).ok()
}

/// The number in an id, and the sealed text.
fn split(id: &str) -> Option<(Uuid, Vec<u8>)> {
    let bytes = HEXLOWER.decode(id.as_bytes()).ok()?;
    let (number, sealed) = bytes.split_first_chunk()?;
    Some((Uuid::from_bytes(*number), sealed.into()))
}

/// The key for the id of the session with that number.
fn key_of<T: Sealed>(number: Uuid, key: &SessionKey) -> LessSafeKey {
    let of_number = Salt::new(HKDF_SHA256, number.as_bytes()).extract(key.as_str().as_bytes());
    let key = of_number.expand(&[T::PURPOSE], &AES_256_GCM);
    let key = key.unwrap_or_else(|_| unreachable!("a hash makes a key of this length"));
    LessSafeKey::new(UnboundKey::from(key))
}

/// Each key seals one text.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

fn unix_time() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests;
