//! Why a gateway does not start, or ends by itself.

use std::error::Error as StdError;
use std::{fmt, io};

/// Why a gateway does not start, or ends by itself.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The options contradict each other, or would let strangers in. The text names the options.
    Config(String),
    /// A file, or the address of Redis, cannot be used. The text names it.
    Unusable(String),
    /// Nothing can listen on this address.
    Listen {
        /// The address as it was configured, such as `127.0.0.1:8787`.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The system refuses something that the gateway needs to run, such as a thread.
    Io(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Config(message) | Error::Unusable(message) => f.write_str(message),
            Error::Listen { address, source } => write!(f, "cannot listen on {address}: {source}"),
            Error::Io(error) => error.fmt(f),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Error::Config(_) | Error::Unusable(_) => None,
            Error::Listen { source, .. } => Some(source),
            Error::Io(error) => Some(error),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}
