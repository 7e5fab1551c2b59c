//! How a text frame counts towards the rate limits.

/// The rate that a frame counts towards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// A message.
    Message,
    /// A request that its endpoint has counted already. The gateway answers it without delay.
    Request,
    /// `app/update`, which costs the gateway much work.
    Update,
    /// A message that the gateway answered with an error at once.
    Refused,
    /// No message: the frame cannot be read.
    Aside,
}

impl Counted {
    /// A message of that kind, if the frame has a kind.
    pub(crate) fn of(kind: Option<&str>) -> Self {
        match kind {
            Some("app/update") => Counted::Update,
            Some(_) => Counted::Message,
            None => Counted::Aside,
        }
    }
}
