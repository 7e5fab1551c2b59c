//! Errors of apps, and of the gateway in their place.

use std::borrow::{Borrow, Cow};

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::wire::{Json, Said, error_json};
use caphost::call::{Code, Error};

/// What an app's error says that has no message.
const NO_MESSAGE: &str = "The app did not say what failed";

/// An `ABPError`.
#[derive(Clone, Debug, PartialEq)]
pub struct AbpError {
    /// The error code, for programs.
    pub code: String,
    /// The error message, for people.
    pub message: String,
    /// The whole error.
    pub body: Json,
}

impl AbpError {
    /// An error of the gateway itself.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        AbpError::from(&Error::<Value>::new(code, message.into()))
    }

    /// The app, or the connection to it, is gone.
    pub fn disconnected() -> Self {
        AbpError::from(&super::outcome::disconnected())
    }

    /// Reads an error of an app.
    pub fn read(body: &Value) -> Self {
        let text = |key: &str| body[key].as_str().map(Cow::Borrowed);
        AbpError::of(text("code"), text("message"), body.into())
    }

    /// The error in an app's answer. `shared` is the buffer of the answer, if it may be shared.
    pub(in crate::broker) fn said(said: &Said<'_>, shared: Option<&Bytes>) -> Self {
        let body = match &said.error {
            Some(Cow::Borrowed(error)) => Json::keep(error, shared),
            Some(Cow::Owned(error)) => error.clone().into(),
            None => Json::from(&Value::Null),
        };
        AbpError::of(said.code.clone(), said.message.clone(), body)
    }

    fn of(code: Option<Cow<'_, str>>, message: Option<Cow<'_, str>>, body: Json) -> Self {
        AbpError {
            code: code.map_or_else(|| Code::OPERATION_FAILED.as_str().into(), Cow::into_owned),
            message: message.map_or_else(|| NO_MESSAGE.into(), Cow::into_owned),
            body,
        }
    }
}

impl<D: Borrow<Value>> From<&Error<D>> for AbpError {
    fn from(error: &Error<D>) -> Self {
        AbpError::read(&error_json(error))
    }
}

impl Serialize for AbpError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.body.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AbpError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|body| AbpError::read(&body))
    }
}
