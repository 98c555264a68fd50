//! Boxes are for everybody, and where they are not, the error says why.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use crosstie_box::{Cluster, Options};
use nix::sched::{CloneFlags, unshare};

use crate::parts::{self, say};
use crate::stage::{company, live, live_with, shell, skip, spec};

#[test]
fn programs_run_as_who_made_the_box() {
    let _company = company();
    let spec = spec("[[rail]]\n");
    let Some(cluster) = live(&spec) else { return };
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let own = format!("{user}\n{group}\n");
    assert_eq!(shell(&cluster, 0, "id -u; id -g").well(), own);
    let root = Options { root: true, ..Options::default() };
    let Some(cluster) = live_with(&spec, &root) else { return };
    assert_eq!(shell(&cluster, 0, "id -u; id -g").well(), "0\n0\n");
}

/// Somebody who may do nothing.
const NOBODY: u32 = 65_534;

#[test]
fn another_user_has_boxes_too() {
    let _company = company();
    if !nix::unistd::geteuid().is_root() {
        return skip("this is an ordinary user already");
    }
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(folder.path(), 0o777);
    let copy = folder.path().join("live");
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    open(&copy, 0o755);
    let run = std::process::Command::new(&copy)
        .args(["programs", "tools", "outages", "a_box_ends", "users"])
        .args(["--skip", "another_user", "--nocapture"])
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/")
        .env("TMPDIR", folder.path())
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}\n{told}");
    for line in told.lines().filter(|line| line.starts_with("skipped")) {
        skip(&format!("as another user: {line}"));
    }
    assert!(!said.contains("running 0 tests"), "{said}");
}

/// A part: tries to make a box; says why there is none.
pub fn refused(_: &[&str]) -> i32 {
    match Cluster::start(&spec("[[rail]]\n")) {
        Ok(_) => say("made"),
        Err(error) => say(error.to_string().replace('\n', " / ")),
    }
    0
}

/// Runs a part in a user namespace of its own, without capabilities, where an administrator has
/// switched off namespaces of some kind; what it says.
#[allow(unsafe_code)]
fn where_switched_off(kind: &str) -> std::io::Result<String> {
    let (user, group) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let setting = format!("/proc/sys/user/max_{kind}_namespaces");
    let (name, role) = parts::role("refused", &[]);
    let words = parts::words();
    let mut command = std::process::Command::new(&words[0]);
    command.args(&words[1..]).env(name, role).stderr(Stdio::null());
    let enter = move || {
        unshare(CloneFlags::CLONE_NEWUSER)?;
        std::fs::write("/proc/self/setgroups", "deny")?;
        // Not root in there, so that a new program has no capabilities.
        std::fs::write("/proc/self/uid_map", format!("1000 {user} 1"))?;
        std::fs::write("/proc/self/gid_map", format!("1000 {group} 1"))?;
        std::fs::write(&setting, "0")
    };
    // SAFETY: it calls the kernel and allocates memory, which is allowed between `fork` and `exec`
    // here.
    let output = unsafe { command.pre_exec(enter) }.output()?;
    Ok(parts::line(&String::from_utf8_lossy(&output.stdout)).to_owned())
}

#[test]
fn where_namespaces_are_switched_off_the_error_names_the_setting() {
    let _company = company();
    for kind in ["user", "net", "mnt", "pid", "uts", "ipc"] {
        match where_switched_off(kind) {
            Err(error) => {
                return skip(&format!("cannot make a user namespace to try it in: {error}"));
            }
            Ok(said) => {
                let setting = format!("`sysctl -w user.max_{kind}_namespaces=");
                assert!(said.contains(&setting), "{kind}: {said}");
                assert!(said.starts_with("cannot make"), "{kind}: {said}");
            }
        }
    }
}
