//! Ctrl-C: the first one asks a run to stop and keep what is done, the second one stops at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Failure;

/// The exit code of an interrupted command.
pub const CODE: u8 = 130;

/// Takes over Ctrl-C, and the polite signal of batch systems, for the rest of the command. Returns
/// the flag that they set.
pub fn watch() -> Result<Arc<AtomicBool>, Failure> {
    let wanted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the first signal finds the flag unset and only sets it.
        flag::register_conditional_shutdown(signal, CODE.into(), Arc::clone(&wanted))
            .and_then(|_| flag::register(signal, Arc::clone(&wanted)))
            .map_err(|error| Failure::ours(format!("cannot watch for Ctrl-C: {error}")))?;
    }
    Ok(wanted)
}
