//! The processes below a process, as Linux shows them.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::process::{Child, ExitStatus};
use std::{fs, io};

/// All processes below one: its children, their children, and so on. Those whose parents have ended
/// are below whoever has taken them over.
pub(super) fn descendants(of: i32) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in entries.flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let Some(number) = number else { continue };
        let status = fs::read(format!("/proc/{number}/stat")).unwrap_or_default();
        if let Some(parent) = parent(&status) {
            children.entry(parent).or_default().push(number);
        }
    }
    let mut found = Vec::new();
    let mut unseen = vec![of];
    while let Some(process) = unseen.pop() {
        // Each has one parent, so that nobody is seen twice; a number that was taken anew meanwhile
        // is not in the map.
        for child in children.remove(&process).unwrap_or_default() {
            found.push(child);
            unseen.push(child);
        }
    }
    found
}

/// Kills a child and all processes below it, those in sessions of their own too.
pub fn kill_with_descendants(child: &mut Child) -> io::Result<ExitStatus> {
    // A child that stands still starts nothing new, and its dead children keep their numbers.
    let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGSTOP);
    for process in descendants(child.id() as i32) {
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
    child.kill()?;
    child.wait()
}

/// The parent of a process, from a line such as `17 (name) S 1 ...`. A name may have anything in
/// it, so that it ends at the last parenthesis.
fn parent(status: &[u8]) -> Option<i32> {
    let end = status.iter().rposition(|byte| *byte == b')')?;
    let rest = str::from_utf8(&status[end + 1..]).ok()?;
    let mut words = rest.split_ascii_whitespace();
    // The state tells little: of a process whose first thread has ended it is that of one that has
    // ended itself.
    words.nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_parent_stands_behind_name_and_state() {
        for (status, expected) in [
            (&b"17 (sleep) S 4 17 4 0"[..], Some(4)),
            (b"17 (a) S 9 (b) R 5 1", Some(5)),
            (b"17 (\xff) R 5 1", Some(5)),
            (b"17 (sleep) S", None),
            (b"17 sleep S 4", None),
            (b"", None),
        ] {
            assert_eq!(parent(status), expected);
        }
    }

    #[test]
    fn children_of_children_are_found() {
        let line = "sleep 100 & echo $!; exec cat";
        let mut shell = Command::new("/bin/sh")
            .args(["-c", line])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let output = shell.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut said).unwrap();
        let sleep: i32 = said.trim().parse().unwrap();
        let below = descendants(std::process::id() as i32);
        let found = below.contains(&(shell.id() as i32)) && below.contains(&sleep);
        assert_eq!(descendants(shell.id() as i32), [sleep]);
        kill(Pid::from_raw(sleep), Signal::SIGKILL).unwrap();
        shell.kill().unwrap();
        shell.wait().unwrap();
        assert!(found, "{below:?}");
    }

    #[test]
    fn nobody_outlives_a_child_that_is_killed() {
        // The pipe ends when the last of them has.
        let line = "setsid sh -c 'trap \"\" TERM; sleep 100 & sleep 100' & echo; sleep 100";
        let mut shell =
            Command::new("/bin/sh").args(["-c", line]).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut String::new()).unwrap();
        let begin = std::time::Instant::now();
        while descendants(shell.id() as i32).len() < 4 && begin.elapsed().as_secs() < 20 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let status = kill_with_descendants(&mut shell).unwrap();
        assert!(!status.success());
        assert_eq!(io::Read::read(&mut output, &mut [0]).unwrap(), 0);
        assert!(begin.elapsed().as_secs() < 50, "{:?}", begin.elapsed());
    }
}
