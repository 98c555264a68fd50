//! What those above ask of NICs that match messages for them, through tagged ports.

/// What goes from port to port. A thread of the NIC takes what comes in for it, and is told when
/// all of it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// An envelope that a process has written into its NIC. The thread of the other takes it.
    Envelope,
    /// A message with its envelope, which a process sends. The other NIC keeps it for its thread;
    /// the process is told that its message has left.
    Message,
    /// An envelope of a thread for the thread of another NIC.
    Answer,
    /// Bytes of a message for which there is a receive: a thread lets them go straight to the place
    /// of that, and both processes are told.
    Data,
}

/// What the thread of a NIC does for its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chore {
    /// It takes a receive, which a process has written to its command port, and looks for a
    /// message.
    Receive,
    /// It looks for the receive of a message that has come in.
    Match,
    /// It moves a message that the NIC has kept to where the process wants it, and tells the
    /// process.
    Deliver {
        /// The length of the message.
        bytes: u32,
    },
}
