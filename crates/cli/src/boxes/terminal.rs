//! The terminal, lent to a program of a box.

use std::io;
use std::os::fd::AsFd;

/// Takes the terminal back from a program that has ended.
pub fn take_back() {
    // Without a terminal of ours there is nothing to take back.
    let _ = crosstie_box::take_terminal(io::stdin().as_fd());
}
