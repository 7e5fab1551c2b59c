//! What can happen in one exploration.

use crate::call::Millis;
use crate::offers::Ending;

/// The handler of a capability, by how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A future in Rust, which a stop drops.
    Future,
    /// A future whose parameters are checked before it starts.
    Checked,
    /// A future that a person must allow before it starts.
    Asked,
    /// A handler in JavaScript, which can only be told.
    Script,
    /// A handler in JavaScript, one at a time.
    Single,
    /// A handler that gets no time to end.
    Hasty,
    /// A handler in a worker, which can be ended from outside.
    Worker,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::Future,
        Kind::Checked,
        Kind::Asked,
        Kind::Script,
        Kind::Single,
        Kind::Hasty,
        Kind::Worker,
    ];

    /// Whether a stop drops what runs.
    pub fn is_dropped(self) -> bool {
        self.ending() == Ending::AtOnce
    }

    /// The name of its capability.
    pub fn capability(self) -> &'static str {
        match self {
            Kind::Future => "future",
            Kind::Checked => "checked",
            Kind::Asked => "asked",
            Kind::Script => "script",
            Kind::Single => "single",
            Kind::Hasty => "hasty",
            Kind::Worker => "worker",
        }
    }

    pub fn ending(self) -> Ending {
        match self {
            Kind::Future | Kind::Checked | Kind::Asked => Ending::AtOnce,
            Kind::Script | Kind::Single => Ending::Told { grace: GRACE },
            Kind::Hasty => Ending::Told { grace: 0.0 },
            Kind::Worker => Ending::Forced {
                grace: GRACE,
                proof: PROOF,
            },
        }
    }

    pub fn concurrency(self) -> Option<usize> {
        (self == Kind::Single).then_some(1)
    }

    /// How long a handler of this kind is waited for at least, once it has been told.
    pub fn grace(self) -> Millis {
        self.longest().min(GRACE)
    }

    /// How long a handler of this kind may take to end at most, once it has been told.
    pub fn longest(self) -> Millis {
        match self {
            Kind::Future | Kind::Checked | Kind::Asked | Kind::Hasty => 0.0,
            Kind::Script | Kind::Single => GRACE,
            Kind::Worker => GRACE + PROOF,
        }
    }
}

/// How long a handler has to end once it was told.
pub const GRACE: Millis = 5.0;
/// How long the proof of the end of a worker is waited for.
pub const PROOF: Millis = 7.0;
/// How long the app has to answer a cancel.
pub const AGENT_GRACE: Millis = 40.0;
/// How long past its timeout a call is left to the host.
pub const SLACK: Millis = 2.0;
/// The timeout of a call that has one.
pub const TIMEOUT: Millis = 10.0;

/// One call of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wanted {
    pub kind: Kind,
    pub timeout: bool,
    /// How many cancels the caller may send, each at any time.
    pub cancels: u8,
    /// Whether the caller's signal may fire.
    pub aborts: bool,
    /// The handler may call a capability of that kind.
    pub child: Option<Kind>,
}

impl Wanted {
    pub const fn of(kind: Kind) -> Self {
        Wanted {
            kind,
            timeout: false,
            cancels: 2,
            aborts: false,
            child: None,
        }
    }

    pub const fn cancels(self, cancels: u8) -> Self {
        Wanted { cancels, ..self }
    }

    pub const fn timeout(self) -> Self {
        Wanted {
            timeout: true,
            ..self
        }
    }

    pub const fn aborts(self) -> Self {
        Wanted {
            aborts: true,
            ..self
        }
    }

    pub const fn with_child(self, kind: Kind) -> Self {
        Wanted {
            child: Some(kind),
            ..self
        }
    }
}

/// The agents and their calls, and how often each disturbance may happen in one run.
#[derive(Clone, Debug)]
pub struct Scope {
    pub name: &'static str,
    pub agents: Vec<Vec<Wanted>>,
    /// How often time passes until a deadline.
    pub ticks: u8,
    /// How many messages are lost.
    pub losses: u8,
    /// How many answers come twice.
    pub repeats: u8,
    /// How many cancels the app makes.
    pub app_cancels: u8,
    /// How many calls are made a second time, under their callIds.
    pub reuses: u8,
    /// How often handlers report progress, and ask their agents.
    pub reports: u8,
    pub questions: u8,
    /// How many agents shut their sessions down.
    pub shutdowns: u8,
    /// How many connections are cut. The agents connect again if `resumes`.
    pub cuts: u8,
    pub resumes: bool,
    /// Whether the app may stop waiting for its handlers.
    pub gives_up: bool,
    /// How many ended calls a session remembers.
    pub remembered: usize,
    /// Handlers start within the entry of their calls, as over a port.
    pub at_once: bool,
    /// Handlers may stop by themselves.
    pub stops_itself: bool,
}

impl Scope {
    pub fn new(name: &'static str, agents: &[&[Wanted]]) -> Self {
        Scope {
            name,
            agents: agents.iter().map(|calls| calls.to_vec()).collect(),
            ticks: 0,
            losses: 0,
            repeats: 0,
            app_cancels: 0,
            reuses: 0,
            reports: 0,
            questions: 0,
            shutdowns: 0,
            cuts: 0,
            resumes: false,
            gives_up: false,
            remembered: 100,
            at_once: false,
            stops_itself: false,
        }
    }
}
