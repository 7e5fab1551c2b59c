//! The ABP error, shared by every dialect.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, DerefMut};

#[cfg(test)]
mod written;

macro_rules! codes {
    ($($name:ident $retryable:literal $doc:literal;)*) => {
        /// An error code of ABP 0.1, or one of the app's own.
        ///
        /// ```
        /// use caphost::Code;
        ///
        /// assert!(Code::DISCONNECTED.retryable());
        /// assert_eq!(Code::from("TOO_LARGE"), "TOO_LARGE");
        ///
        /// fn advice(code: &Code) -> &str {
        ///     match code {
        ///         Code::TIMEOUT | Code::DISCONNECTED => "Nobody knows what became of it",
        ///         code if code == "TOO_LARGE" => "Send less",
        ///         code if code.retryable() => "Try again",
        ///         _ => "Ask somebody",
        ///     }
        /// }
        /// ```
        // The variants have the names that the codes have on the wire.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[derive(Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $doc] $name,)*
            /// A caller in Rust says this of a call that has completed: its data, or an answer, is not
            /// of the type that was expected. No code of ABP: no host says it of itself.
            DECODE_FAILED,
            /// A code of the app's own. It is made with [`Code::from`] and read with [`Code::as_str`].
            Own(OwnCode),
        }

        impl Code {
            const KNOWN: &[Code] = &[$(Code::$name,)* Code::DECODE_FAILED];

            /// Every code of ABP, whether it is retryable, and what it means: what JavaScript, the
            /// types and the page on errors say is made of this.
            #[cfg(test)]
            const TABLE: &[(&str, bool, &str)] = &[$((stringify!($name), $retryable, $doc)),*];

            /// Whether repeating the same request may succeed. A code of the app's own is not
            /// retryable unless its error says so.
            pub fn retryable(&self) -> bool {
                match self {
                    $(Code::$name => $retryable,)*
                    Code::DECODE_FAILED | Code::Own(_) => false,
                }
            }

            /// The code as it stands on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Code::$name => stringify!($name),)*
                    Code::DECODE_FAILED => "DECODE_FAILED",
                    Code::Own(own) => &own.0,
                }
            }
        }
    };
}

codes! {
    NOT_INITIALIZED true "There is no session: `initialize` first.";
    ALREADY_INITIALIZED false "There is a session already.";
    SESSION_EXPIRED true "The session has ended.";
    SESSION_INVALID true "No such session.";
    UNKNOWN_CAPABILITY false "No capability of that name is registered.";
    CAPABILITY_UNAVAILABLE true "The capability is registered and cannot be used right now.";
    REQUIREMENT_NOT_MET false "A requirement of the capability is not met.";
    PRECONDITION_FAILED false "The app is not in a state in which the call makes sense.";
    INVALID_PARAMS false "A parameter, an option or a message is malformed; `details.path` says where.";
    MISSING_PARAM false "A required parameter is missing.";
    INVALID_TYPE false "A parameter has the wrong type.";
    PERMISSION_DENIED false "The user or the app refused.";
    PERMISSION_REQUIRED true "The user must grant a permission first.";
    OPERATION_FAILED false "The capability's own code failed.";
    TIMEOUT true "No answer in time: the outcome is unknown.";
    CANCELLED false "The operation was cancelled.";
    RATE_LIMITED true "Too many requests, or too many calls in flight.";
    NOT_IMPLEMENTED false "No such message or method.";
    BROWSER_ERROR false "The browser refused something the capability needs.";
    NOT_SUPPORTED false "The peer, the browser or the protocol version does not support it.";
    INTERNAL_ERROR false "The host itself failed; it settles every call so.";
    TRANSPORT_ERROR true "A message could not be carried: if it was an answer, the outcome is unknown.";
    DISCONNECTED true "The other side is gone: the outcome is unknown.";
}

/// A code that [`Code`] does not name. Only [`Code::from`] makes an `OwnCode`, so each code has one
/// form, and equal codes compare as equal.
///
/// ```
/// use caphost::Code;
///
/// assert!(matches!(Code::from("TOO_LARGE"), Code::Own(_)));
/// assert_eq!(Code::from("TIMEOUT"), Code::TIMEOUT);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnCode(Cow<'static, str>);

impl Code {
    /// The codes of a call whose outcome is unknown.
    const OPEN: [Code; 3] = [Code::TIMEOUT, Code::TRANSPORT_ERROR, Code::DISCONNECTED];

    /// Whether the outcome of a call that has failed with that code is unknown.
    #[doc(hidden)]
    pub fn leaves_open(code: &str) -> bool {
        Code::OPEN.iter().any(|open| open.as_str() == code)
    }

    /// Those of a request whose session the host does not know.
    const NO_SESSION: [Code; 3] = [
        Code::NOT_INITIALIZED,
        Code::SESSION_EXPIRED,
        Code::SESSION_INVALID,
    ];

    /// Whether a request has failed with that code because there is no session.
    #[doc(hidden)]
    pub fn says_no_session(code: &str) -> bool {
        Code::NO_SESSION.iter().any(|gone| gone.as_str() == code)
    }

    fn known(code: &str) -> Option<Code> {
        Code::KNOWN.iter().find(|it| it.as_str() == code).cloned()
    }
}

impl From<String> for Code {
    fn from(code: String) -> Self {
        Code::known(&code).unwrap_or_else(|| Code::Own(OwnCode(code.into())))
    }
}

impl From<&'static str> for Code {
    fn from(code: &'static str) -> Self {
        Code::known(code).unwrap_or(Code::Own(OwnCode(code.into())))
    }
}

impl PartialEq<str> for Code {
    fn eq(&self, code: &str) -> bool {
        self.as_str() == code
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, code: &&str) -> bool {
        self.as_str() == *code
    }
}

impl PartialEq<Code> for str {
    fn eq(&self, code: &Code) -> bool {
        self == code.as_str()
    }
}

impl PartialEq<Code> for &str {
    fn eq(&self, code: &Code) -> bool {
        *self == code.as_str()
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// As on the wire.
impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error of a call. [`ErrorParts`] stands in a box, because nearly every result may be an error
/// and results stay small that way. `P` is the shell's payload type, used for `details` only.
#[derive(Clone, Debug, PartialEq)]
pub struct Error<P = ()>(Box<ErrorParts<P>>);

/// What an [`Error`] consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct ErrorParts<P> {
    /// What a program decides by.
    pub code: Code,
    /// What a person reads.
    pub message: Cow<'static, str>,
    /// Whether repeating the same request may succeed.
    pub retryable: bool,
    /// Milliseconds to wait before a retry.
    pub retry_after: Option<Millis>,
    /// Names of capabilities that may serve in its place.
    pub alternatives: Vec<String>,
    /// Anything else. For bad parameters, the path of the bad value.
    pub details: Option<P>,
}

use super::Millis;

impl<P> Error<P> {
    /// An error whose `retryable` follows from its code.
    pub fn new(code: impl Into<Code>, message: impl Into<Cow<'static, str>>) -> Self {
        let code = code.into();
        let retryable = code.retryable();
        Error(Box::new(ErrorParts {
            code,
            message: message.into(),
            retryable,
            retry_after: None,
            alternatives: Vec::new(),
            details: None,
        }))
    }

    /// [`Code::INVALID_PARAMS`] with a message.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(Code::INVALID_PARAMS, message)
    }

    /// A handler returns this error when it has stopped by itself. Its call then counts as
    /// cancelled.
    pub fn cancelled() -> Self {
        Error::new(Code::CANCELLED, "The capability stopped by itself")
    }

    /// Adds `details`.
    pub fn with_details(mut self, details: P) -> Self {
        self.details = Some(details);
        self
    }

    /// What it consists of.
    pub fn into_parts(self) -> ErrorParts<P> {
        *self.0
    }

    /// The same error for another payload type; `details` are lost.
    pub fn retype<Q>(self) -> Error<Q> {
        Error(Box::new(ErrorParts {
            code: self.0.code,
            message: self.0.message,
            retryable: self.0.retryable,
            retry_after: self.0.retry_after,
            alternatives: self.0.alternatives,
            details: None,
        }))
    }
}

impl<P> Deref for Error<P> {
    type Target = ErrorParts<P>;

    fn deref(&self) -> &ErrorParts<P> {
        &self.0
    }
}

impl<P> DerefMut for Error<P> {
    fn deref_mut(&mut self) -> &mut ErrorParts<P> {
        &mut self.0
    }
}

impl<P> fmt::Display for Error<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code.as_str())?;
        f.write_str(": ")?;
        f.write_str(&self.message)
    }
}

impl<P: fmt::Debug> std::error::Error for Error<P> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retryable_follows_the_code() {
        assert!(Error::<()>::new(Code::NOT_INITIALIZED, "").retryable);
        assert!(Error::<()>::new(Code::DISCONNECTED, "").retryable);
        assert!(!Error::<()>::new(Code::UNKNOWN_CAPABILITY, "").retryable);
        assert!(!Error::<()>::new("MY_APP_BROKE".to_string(), "").retryable);
    }

    #[test]
    fn a_code_is_matched_and_compared_with_text() {
        let of = |text: &str| Code::from(text.to_string());
        for code in Code::KNOWN {
            assert_eq!(&of(code.as_str()), code);
        }
        let advice = |code: &Code| match code {
            Code::TIMEOUT => "wait",
            code if code == "TOO_LARGE" => "send less",
            _ => "ask",
        };
        assert_eq!(advice(&of("TIMEOUT")), "wait");
        assert_eq!(advice(&Code::from("TIMEOUT")), "wait");
        assert_eq!(advice(&of("TOO_LARGE")), "send less");
        assert_eq!(advice(&of("timeout")), "ask");
        let code = of("TIMEOUT");
        assert!(code == "TIMEOUT" && "TIMEOUT" == code && code != "TIMEOUT ");
        assert!(code == *"TIMEOUT" && *"TIMEOUT" == code && code != Code::CANCELLED);
        assert_eq!(Code::from("TOO_LARGE"), of("TOO_LARGE"));
        assert_ne!(Code::from("TOO_LARGE"), of("TOO_SMALL"));
        assert_eq!(
            format!("{code:?} {:?}", of("TOO_LARGE")),
            "TIMEOUT TOO_LARGE"
        );
    }
}
