//! The frame network: Ethernet links and switches with finite memory, frame by frame.
//!
//! # The rules
//!
//! **Links.** A frame that carries m bytes is padded to [`MINIMUM`](framing::MINIMUM) and framed
//! ([`framing`]): a preamble and a header before, a check sequence and a pause behind. A channel
//! sends one frame at a time. Of a frame that starts at s, with τ the time of a byte on that link
//! and w its wire,
//!
//! ```text
//! its header is at the other end at      s + w + 22 τ
//! its last bit is at the other end at    s + w + (m + 26) τ
//! the next one may start at              s + (m + 38) τ
//! ```
//!
//! Hosts send their frames in the order in which they are handed over, and have room for all of
//! them.
//!
//! **Switches.** A switch *notices* a frame when it has all of it (store-and-forward), or its
//! header (cut-through, unless the frame goes on to a faster link). Its forwarding engine looks up
//! one frame after the other, `lookup` each, in the order in which they were noticed (of several at
//! one instant, the one of the lower channel first); `latency` later the frame is *decided*: it
//! finds room in the [memory](Memory) of the switch, or is dropped. It has its room until its last
//! bit has left.
//!
//! | memory | is | who goes next on an output |
//! |---|---|---|
//! | [`Output`](Memory::Output) | one for each output | the first decided |
//! | [`Shared`](Memory::Shared) | one for all, of which an output has at most its cap | the first decided |
//! | [`Input`](Memory::Input) | one for each input, whose frames start in order | inputs take turns, each with its first frame only |
//!
//! With memory at the inputs a frame that waits for its output keeps those behind it waiting,
//! whatever their output: head-of-line blocking. An input hands over one frame at a time
//! ([`HandOver::LastBit`]): the memory of an input runs at the speed of its link, so it offers the
//! next frame when the last bit of the previous one has been read. That is when the last bit has
//! left, but for an output that is slower than the input: such an output is fed at its own speed,
//! while the input has the capacity for others beside it, and is taken for as long as the frame
//! takes at the input's own speed. With [`HandOver::FirstBit`] an input offers the next frame
//! as soon as the previous one starts, and frames of one input leave by several outputs at once.
//!
//! An output may keep a few frames beside (its *stage*) of those that come from faster links, so
//! that a frame for a slow output that is busy does not keep those behind it waiting. An input that
//! is faster than the output of its first frame hands it over to that stage as soon as there is
//! room, at its own speed; a frame in a stage has no room in the memory any more. An output takes
//! frames of its stage in turn with those of inputs, the stage behind the last input.
//!
//! A port to another switch may have a [`Circuit`]: it passes one frame at a time, whichever way,
//! and takes (m + 38) bytes at the rate of that way. A frame passes the circuit of the port that it
//! leaves by when it starts there, and that of the port it came by when its input hands it over;
//! the input is taken until then. Where frames of both ways could pass at one instant, the one that
//! comes from the other switch goes first, unless the one before came from there too.
//!
//! At one instant frames are decided first, in the order of their channels, then inputs offer their
//! next frames; then stages take frames, lower inputs first, and outputs that are free take frames,
//! in the order of their channels, until none can.
//!
//! **Ways.** A frame takes the route of the routing. Where that leaves a choice among several
//! ports, all frames from one host to another take the same, drawn from the two: as switches do
//! that spread flows by their addresses, so that frames stay in order.
//!
//! **Rails.** Every port of a host leads into a copy of the fabric. Rails that have a port in
//! common share its links and that copy, and differ in the way: the second of them takes, wherever
//! there is a choice, the next port behind the one drawn. Where the routing leaves no choice, the
//! first takes its way, and the others take the next shortest ones beside it, if there are any:
//! frames that are dropped rather than stopped cannot deadlock.
//!
//! **Changes.** Links may change ([`Change`](crate::network::Change)): at one instant they do
//! before all else. What is on a link that goes down is spoiled. It shows when the other end should
//! have noticed it, or all of it: a spoiled frame that was cut through is dropped by the next that
//! notices it. A frame that is cut through on to a link that has become faster goes on no faster
//! than it comes.

mod changing;
mod circuit;
mod detour;
mod engine;
pub mod framing;
mod input;
mod memory;
mod path;
mod spec;

pub use engine::Frames;
pub use spec::{Capacity, Circuit, Forwarding, FrameSpec, HandOver, Line, Memory, SwitchSpec};
