//! What happened, for what looks back: the critical path, backlogs and the use of rails.

use super::crossing::Wait;
use crate::Cut;
use crosstie_collective::{Rank, Schedule, When};
use crosstie_units::Time;

/// What happened. Operations are told by their places, messages and their parts by their numbers.
pub(super) struct Log {
    pub ops: Vec<Record>,
    pub messages: Vec<Message>,
    /// What messages put on each rail, those of one message together.
    pub parts: Vec<Part>,
    /// What waited at uplinks.
    pub waits: Vec<Wait>,
}

/// No such message.
pub(super) const NONE: u32 = u32::MAX;

/// What happened to an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// What it waited for last; `None` if for nothing.
    pub cause: Option<(u32, When)>,
    /// When it could start, and did, and was done.
    pub ready: Time,
    pub start: Time,
    pub end: Time,
    /// When the processor became free on which it started.
    pub free: Time,
    /// The message that a send has begun with; [`NONE`] of others.
    pub message: u32,
    /// The message with whose reception it was done; [`NONE`] if with none.
    pub by: u32,
    /// True if the operations that wait for its start have been told, and if it is done.
    pub begun: bool,
    pub done: bool,
}

impl Record {
    /// Nothing has happened.
    pub const IDLE: Record = Record {
        cause: None,
        ready: Time::ZERO,
        start: Time::ZERO,
        end: Time::ZERO,
        free: Time::ZERO,
        message: NONE,
        by: NONE,
        begun: false,
        done: false,
    };
}

/// Why a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// An operation could start.
    Operation(u32),
    /// Another message was received.
    Received(u32),
    /// Another message was handed to its rails.
    HandedOver(u32),
}

/// What happened to a message: one of an operation, or a control message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message {
    pub cause: Cause,
    pub from: Rank,
    pub to: Rank,
    /// When its processor was asked to send it, and began.
    pub ready: Time,
    pub began: Time,
    /// When the processor became free that sent it.
    pub free: Time,
    /// The message whose feedback let it start, if it waited for the global window last; [`NONE`]
    /// otherwise.
    pub released: u32,
    /// The number of its first part, and how many there are.
    pub first: u32,
    pub parts: u32,
    /// When its reception could start, and did, and was done.
    pub arrived: Time,
    pub start: Time,
    pub end: Time,
}

/// What a message puts on one rail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// The message.
    pub message: u32,
    /// The rail, and its port.
    pub rail: u16,
    pub port: u16,
    pub bytes: u32,
    pub cut: Cut,
    /// When its first packet was written, was handed to the NIC, and was at the receiver.
    pub written: Time,
    pub handed: Time,
    pub first: Time,
    /// How long it was held up at uplinks.
    pub queued: Time,
    /// When its last packet would be there if nothing were in the way.
    pub alone: Time,
    /// When its first and its last packet were delivered.
    pub begin: Time,
    pub last: Time,
}

impl Log {
    /// When each rank was done.
    pub fn finish(&self, schedule: &Schedule) -> Vec<Time> {
        let last = |rank| self.ops[schedule.places(Rank(rank))].iter().map(|op| op.end).max();
        (0..schedule.ranks()).map(|rank| last(rank).unwrap_or(Time::ZERO)).collect()
    }

    /// The parts of a message.
    pub fn parts_of(&self, number: u32) -> &[Part] {
        let Message { first, parts, .. } = self.messages[number as usize];
        &self.parts[first as usize..(first + parts) as usize]
    }
}
