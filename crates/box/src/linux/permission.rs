//! What this machine allows, and what would allow the rest.

use std::fs;
use std::io;

use super::cluster::Options;
use super::{BoxError, Cluster};
use crate::{Hosts, Rail, Shape, Spec};
use crosstie_units::{Capacity, Rate};

/// One thing that a box needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub what: &'static str,
    /// Whether it works here; `None`: not tried, because something before it does not.
    pub works: Option<bool>,
    /// What was refused.
    pub problem: Option<BoxError>,
}

/// Tries everything that boxes are made of.
pub fn permissions() -> Vec<Finding> {
    let rail = Rail::default;
    let switch = |buffer| Some(Shape::Switch { buffer });
    let rate = Some(Rate::from_bytes_per_second(125_000_000));
    let steps: [(&'static str, Option<Rail>); 5] = [
        ("hosts: user, network, mount, PID, UTS and IPC namespaces", None),
        ("cables: veth pairs", Some(rail())),
        ("switches: bridges", Some(Rail { shape: switch(None), ..rail() })),
        ("rates: token buckets", Some(Rail { rate, ..rail() })),
        (
            "queues in frames",
            Some(Rail { rate, shape: switch(Some(Capacity::Frames(95))), ..rail() }),
        ),
    ];
    let mut hosts_stand = true;
    let mut findings = Vec::new();
    for (what, rail) in steps {
        if !hosts_stand {
            findings.push(Finding { what, works: None, problem: None });
            continue;
        }
        let needs_rails = rail.is_some();
        let spec = Spec {
            title: None,
            description: None,
            seed: None,
            hosts: Hosts::numbered(2),
            rails: rail.into_iter().collect(),
            events: Vec::new(),
        };
        let made = match needs_rails {
            true => Cluster::start(&spec).map(drop),
            false => Cluster::of_hosts(&spec, &Options::default()).map(drop),
        };
        hosts_stand &= needs_rails || made.is_ok();
        findings.push(Finding { what, works: Some(made.is_ok()), problem: made.err() });
    }
    findings
}

/// A number that an administrator sets; `None` where the kernel does not know it.
fn setting(name: &str) -> Option<u64> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// What an administrator can do about a refusal to make namespaces or to mount in them.
pub(super) fn advice(error: &io::Error) -> Option<String> {
    let command = |name: &str, value: &str| {
        format!(
            "unprivileged namespaces are switched off by `{name}`; an administrator allows them by \
             `sysctl -w {name}={value}`, and for good by that line in /etc/sysctl.d/"
        )
    };
    if !matches!(
        error.raw_os_error(),
        Some(libc::EPERM | libc::EACCES | libc::ENOSPC | libc::EUSERS)
    ) {
        return None;
    }
    if setting("kernel.unprivileged_userns_clone") == Some(0) {
        return Some(command("kernel.unprivileged_userns_clone", "1"));
    }
    if setting("kernel.apparmor_restrict_unprivileged_userns").is_some_and(|value| value > 0) {
        return Some(command("kernel.apparmor_restrict_unprivileged_userns", "0"));
    }
    for kind in ["user", "net", "mnt", "pid", "uts", "ipc"] {
        let name = format!("user.max_{kind}_namespaces");
        if setting(&name) == Some(0) {
            return Some(command(&name, "10000"));
        }
    }
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EUSERS) => Some(
            "there are as many namespaces as `user.max_user_namespaces` and its like allow, or they \
             are nested too deeply"
                .to_owned(),
        ),
        _ => Some(
            "a container or a security policy forbids it: run outside of the container, or start that \
             with `--privileged`, or with `--security-opt seccomp=unconfined --security-opt \
             systempaths=unconfined`"
                .to_owned(),
        ),
    }
}

/// What to do where a process has too many files open for a box of so many hosts.
pub(super) fn advice_for_files(error: &io::Error, hosts: usize) -> Option<String> {
    let files = 2 * hosts + 16;
    matches!(error.raw_os_error(), Some(libc::EMFILE)).then(|| {
        format!(
            "a box of {hosts} hosts takes {files} open files at most: allow more by `ulimit -n`"
        )
    })
}

/// What to do where the kernel does not know a device or a queue.
pub(super) fn advice_for_devices(error: &io::Error) -> Option<String> {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP) => Some(
            "the kernel lacks it: an administrator loads it by `modprobe -a veth bridge sch_tbf`"
                .to_owned(),
        ),
        Some(libc::EPERM | libc::EACCES) => advice(error),
        _ => None,
    }
}
