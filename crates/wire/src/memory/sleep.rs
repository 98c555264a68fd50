//! How a rank falls asleep without missing anything.
//!
//! Who wants to sleep says so, looks once more, and sleeps only if there is nothing. Who has
//! written something looks whether its reader sleeps, and rings if so. Between what is said and
//! what is looked at stands a fence on either side, so that not both can look too early: either the
//! sleeper sees what was written, or the writer sees the sleeper. The one who takes back the word
//! rings, and nobody else.
//!
//! A producer without room sleeps likewise: it says so, then says that it *wants* room and that
//! somebody *starves*, and tries once more. A consumer asks for the latter whenever it polls, and
//! before it sleeps itself.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::word::Word;

#[cfg(all(test, target_os = "linux"))]
mod model;

const NO: u32 = 0;
const YES: u32 = 1;

/// Says that we sleep from now on, except for one more look.
pub(super) fn announce<W: Word>(asleep: &W) {
    asleep.store(YES, Relaxed);
    W::fence();
}

/// Says that we want room in a ring, after we have said that we sleep, and before one more try.
pub(super) fn starve<W: Word>(want: &W, starving: &W) {
    want.store(YES, Release);
    // Several may starve at once: who reads the word of the last one has to see what all of them
    // want, and swaps pass that on.
    starving.swap(YES, AcqRel);
    W::fence();
}

/// Says that we are awake.
pub(super) fn awake<W: Word>(asleep: &W) {
    asleep.store(NO, Relaxed);
}

/// Whether we have to ring, after we have written something for one who may sleep.
#[inline]
pub(super) fn must_ring<W: Word>(asleep: &W) -> bool {
    W::fence();
    asleep.load(Relaxed) == YES && asleep.swap(NO, AcqRel) == YES
}

/// Whether anybody may want room in one of our rings.
#[inline]
pub(super) fn may_starve<W: Word>(starving: &W) -> bool {
    starving.load(Relaxed) != NO
}

/// Whether anybody wants room in one of our rings, and has not been heard.
#[inline]
pub(super) fn anybody_starves<W: Word>(starving: &W) -> bool {
    may_starve(starving) && starving.swap(NO, Acquire) != NO
}

/// Whether the producer of a ring wants room; it does not any more.
pub(super) fn wanted<W: Word>(want: &W) -> bool {
    want.load(Acquire) != NO && want.swap(NO, AcqRel) != NO
}
