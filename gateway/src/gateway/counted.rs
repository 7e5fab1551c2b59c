//! What a text frame counts as.

/// By which rate a frame is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// A message.
    Message,
    /// A request, which its endpoint has counted: it is answered, and need not wait.
    Request,
    /// `app/update`, for which much is done.
    Update,
    /// A message that was answered with an error at once.
    Refused,
    /// No message: it cannot be read.
    Aside,
}

impl Counted {
    /// A message of that kind, if it is one.
    pub(crate) fn of(kind: Option<&str>) -> Self {
        match kind {
            Some("app/update") => Counted::Update,
            Some(_) => Counted::Message,
            None => Counted::Aside,
        }
    }
}
