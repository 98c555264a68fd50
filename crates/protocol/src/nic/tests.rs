//! The NIC process: its table, the contests of requests, and all that can happen to a few NICs.

mod contest;
mod exploration;
mod rail;
mod table;
