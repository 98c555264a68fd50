//! What has been measured so far: beside a spinner on a terminal, elsewhere a plain line now and
//! then.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::console::{self, Console};

/// The least time between two plain lines.
const LINE_EVERY: Duration = Duration::from_secs(15);

/// Who watches, told by any number of threads.
pub struct Watch {
    name: String,
    view: View,
    /// How much has been measured, and when that was last said in a line.
    state: Mutex<(u32, Instant)>,
}

enum View {
    Spinner(ProgressBar),
    Lines,
    Nothing,
}

impl Watch {
    /// Of a machine.
    pub fn new(name: &str, console: &Console) -> Watch {
        let view = match (console.quiet, console.draws_progress()) {
            (true, _) => View::Nothing,
            (false, true) => View::Spinner(spinner(name)),
            (false, false) => View::Lines,
        };
        Watch { name: name.to_owned(), view, state: Mutex::new((0, Instant::now())) }
    }

    /// Something has been measured.
    pub fn measured(&self, what: &str) {
        // Whoever panicked while holding it left whole numbers behind.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, shown) = &mut *state;
        *count += 1;
        match &self.view {
            View::Spinner(bar) => bar.set_message(format!("{count} measured, last {what}")),
            View::Lines if shown.elapsed() >= LINE_EVERY => {
                *shown = Instant::now();
                console::complain(&format!("{}: {count} measured, last {what}", self.name));
            }
            View::Lines | View::Nothing => {}
        }
    }

    /// Clears the spinner.
    pub fn close(&self) {
        if let View::Spinner(bar) = &self.view {
            bar.finish_and_clear();
        }
    }
}

fn spinner(name: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_prefix(name.to_owned());
    let style = ProgressStyle::with_template("{prefix} {spinner} {wide_msg}");
    bar.set_style(style.expect("the template is sound"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
