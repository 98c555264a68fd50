//! What shared memory between ranks costs, beside a bare flag in the same run. Peers are this
//! executable, run again.
//!
//! Two ranks are bound to two cores, if there are as many; four ranks share them.

#[cfg(unix)]
#[path = "memory/company.rs"]
mod company;
#[cfg(unix)]
#[path = "memory/measures.rs"]
mod measures;

#[cfg(unix)]
fn main() {
    company::run(&[(2, measures::two), (4, measures::four), (64, measures::many)]);
}

#[cfg(not(unix))]
fn main() {
    println!("there is no shared memory between ranks on this system");
}
