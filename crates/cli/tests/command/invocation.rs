//! The command as its users meet it: arguments in; exit code, stdout and stderr out.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A ring of five switches, whose shortest paths can deadlock.
pub const RING: &str = "router 0 node 0 router 1\nrouter 1 node 1 router 2\nrouter 2 node 2 router 3\n\
                        router 3 node 3 router 4\nrouter 4 node 4 router 0\n";

/// What a run of the command left behind.
#[derive(Debug)]
pub struct End {
    /// The exit code.
    pub code: i32,
    /// Data.
    pub stdout: String,
    /// Progress, remarks, errors.
    pub stderr: String,
}

impl End {
    /// The same, if the exit code is the expected one.
    #[track_caller]
    pub fn expect(self, code: i32) -> End {
        assert_eq!(self.code, code, "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// Stdout as one JSON document of the current format.
    #[track_caller]
    pub fn json(&self) -> Value {
        let document: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.stdout));
        assert_eq!(document["format"], 1);
        document
    }
}

/// The command, with an environment that holds none of its variables.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crosstie"));
    for variable in ["JSON", "QUIET", "COLOR", "THREADS", "OUT", "FRESH", "NO_REPORT"] {
        command.env_remove(format!("CROSSTIE_{variable}"));
    }
    for variable in ["NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "TERM"] {
        command.env_remove(variable);
    }
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs the command to its end.
pub fn run(arguments: &[&str]) -> End {
    end(&mut command(arguments))
}

/// Runs the command to its end in a folder.
pub fn run_in(folder: &Path, arguments: &[&str]) -> End {
    end(command(arguments).current_dir(folder))
}

/// Runs a prepared command to its end.
pub fn end(command: &mut Command) -> End {
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    End {
        code: status.code().expect("it was not killed"),
        stdout: String::from_utf8(stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(stderr).expect("stderr is UTF-8"),
    }
}

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
