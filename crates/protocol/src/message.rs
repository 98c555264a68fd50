//! Messages between ranks: eager and rendezvous, in order, matched with the receives that ask for
//! them [liu, 3 to 6].
//!
//! A [`Messenger`] is one rank's end of its virtual channels, one to every other rank. It turns
//! sends and receives into *envelopes* and says which are to be posted; a [`Node`](crate::Node)
//! takes these to the other rank over its rails, as its policy says, each once and whole. Envelopes
//! between two ranks are numbered (PSN) and opened in order (ESN), whatever rail they took.
//!
//! ```text
//! eager        sender     EAGER with the data                                                receiver
//! rendezvous   sender     RTS                                                                receiver
//!                                                       when a receive asks for it   CTS
//!                         DATA, straight to its place, on as many rails as the policy says
//!                         FIN, one on each rail that carried data
//! ```
//!
//! Nothing that comes from another rank is trusted: what does not fit is counted
//! ([`Messenger::strays`]) and has no effect. The bytes that a rank keeps for another before
//! anybody has asked for them are bounded by *credit*: a sender without credit asks first (RTS),
//! whatever the length. So no message waits for one that nobody asks for.

mod envelope;
mod inboxes;
mod messenger;
mod order;

pub use envelope::{Body, Class, Context, Envelope, Tag};
pub use messenger::{Action, Cancelled, ClaimId, Input, MessageSpec, Messenger, PostId, RequestId};
