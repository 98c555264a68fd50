//! What all tests need: programs that may not be installed, and processes that must not be left.

use std::process::{Command, Output};

/// Says that the test of this thread is skipped, and why.
pub fn skip(why: &str) {
    let thread = std::thread::current();
    // Not `eprintln!`, which the harness shows of failed tests only.
    let line = format!("skipped {}: {why}\n", thread.name().unwrap_or("a test"));
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}

/// Whether a program is installed on this machine; says so where it is not.
pub fn installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !found {
        skip(&format!("`{name}` is not installed"));
    }
    found
}

/// A command with an environment in which nobody has launched anything.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["PMI_", "PMIX_", "CROSSTIE_", "MPI_", "SLURM_", "OMPI_"]
            .iter()
            .any(|start| text.starts_with(start))
        {
            command.env_remove(&name);
        }
    }
    command
}

/// What a command printed, if it ended well.
pub fn well(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.success(), "{status}\n{text}\n{}", String::from_utf8_lossy(&stderr));
    text
}
