//! What ranks send to each other.

/// What tells messages between two ranks apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

/// What messages are matched in: a send never meets a receive of another context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Context {
    /// What kind of traffic it is.
    pub class: Class,
    /// Its number.
    pub id: u16,
}

/// Kinds of traffic between ranks. Each has its own order and its own credit, so that a message
/// that no receive asks for in one never holds up another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Class {
    /// Sends and receives of the application.
    #[default]
    Application,
    /// Collective operations.
    Collective,
    /// Remote memory access.
    Remote,
}

impl Class {
    /// All there are.
    pub const ALL: [Class; 3] = [Class::FIRST, Class::Collective, Class::LAST];

    /// The first of them, which also carries what belongs to none.
    pub const FIRST: Class = Class::Application;

    /// The last of them.
    pub const LAST: Class = Class::Remote;
}

/// What one rank sends to another, in one piece or, if it is data, in several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// The kind of traffic that it belongs to.
    pub class: Class,
    /// Its number among those of its class between two ranks, PSN; it wraps. Data has none: it goes
    /// to its place whenever it comes. Nor has a probe, or the word of a rank that has left.
    pub number: Option<u32>,
    /// What is in it.
    pub body: Body,
}

/// What can be in an envelope. Sends and receives are known by the numbers that their own rank gave
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Body {
    /// A short message.
    Eager {
        /// The number of its context.
        context: u16,
        /// Its tag.
        tag: Tag,
        /// Its length.
        bytes: u64,
        /// The send, if that waits until a receive has taken it.
        send: Option<u32>,
    },
    /// Request to send a long message.
    Rts {
        /// The number of its context.
        context: u16,
        /// Its tag.
        tag: Tag,
        /// Its length.
        bytes: u64,
        /// The send.
        send: u32,
    },
    /// Clear to send: there is a place for it.
    Cts {
        /// The send.
        send: u32,
        /// The receive.
        receive: u32,
    },
    /// A receive has taken the short message of a send that waits for that.
    Matched {
        /// The send.
        send: u32,
    },
    /// No receive will ask for the message of a send that waits for one: the rank is closed.
    Refused {
        /// The send.
        send: u32,
    },
    /// The bytes of a long message.
    Data {
        /// The receive that has a place for them.
        receive: u32,
    },
    /// All data that took this rail have been sent.
    Fin {
        /// The receive.
        receive: u32,
        /// How many of these there are.
        of: u32,
    },
    /// Nothing: that it is there tells whether there is a way.
    Probe,
    /// Its sender has left: it sends and receives nothing any more.
    Left {
        /// True if it left after an error, and waits for nobody.
        failed: bool,
    },
    /// What was kept has been asked for: there is room for so much more.
    Credit {
        /// In bytes.
        bytes: u64,
    },
}

impl Body {
    /// Whether it is numbered and opened in order; where that is not `strict`, only what is
    /// matched, and the credit for it.
    pub(super) fn is_numbered(&self, strict: bool) -> bool {
        match self {
            Body::Eager { .. } | Body::Rts { .. } | Body::Credit { .. } => true,
            Body::Cts { .. } | Body::Matched { .. } | Body::Fin { .. } => strict,
            Body::Refused { .. } | Body::Data { .. } | Body::Probe | Body::Left { .. } => false,
        }
    }
}

/// What is kept of a message besides its bytes.
pub(super) const ENVELOPE: u64 = 64;
