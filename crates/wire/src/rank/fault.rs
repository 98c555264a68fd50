//! Panics at inputs of layers: tests put one at each of them in turn.

/// Something is told to a layer. A test may let it panic here.
#[inline(always)]
pub(crate) fn input() {
    #[cfg(test)]
    injected::input();
}

#[cfg(test)]
pub(crate) mod injected {
    use std::cell::Cell;

    thread_local! {
        /// How many inputs of this thread are left before one panics; `None`: none does.
        static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
    }

    /// What such a panic says.
    pub(crate) const WORD: &str = "an injected panic";

    pub(super) fn input() {
        let Some(left) = LEFT.get() else { return };
        LEFT.set(left.checked_sub(1));
        assert!(left > 0, "{WORD}");
    }

    /// Lets this thread panic at an input, after `inputs` others.
    pub(crate) fn after(inputs: u64) {
        LEFT.set(Some(inputs));
    }

    /// Does something in which no input panics or counts.
    pub(crate) fn without<R>(work: impl FnOnce() -> R) -> R {
        let left = LEFT.take();
        let result = work();
        LEFT.set(left);
        result
    }

    /// No input panics any more. Returns true if none has.
    pub(crate) fn disarm() -> bool {
        LEFT.take().is_some()
    }
}
