//! The command from end to end.

mod conduct;
mod experiments;
mod invocation;
mod mistakes;
mod networks;
mod papers;
mod rails;
