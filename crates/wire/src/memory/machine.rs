//! Which ranks can share memory.

use std::fs;
use std::os::unix::fs::MetadataExt;

use super::folder::{Name, folder};

/// A text that is the same for two processes if they can share segments, and otherwise not: the
/// running kernel, the folder of shared memory, and the user.
///
/// The folder is told by device and inode, so that containers with shared memory of their own, and
/// the hosts of a box, are machines of their own, and ranks in several containers that share the
/// folder are on one machine. Only opening a segment is proof: copies of one suspended virtual
/// machine cannot be told apart, and users of different user namespaces may be different ones
/// although their numbers are the same. A rank that cannot open the segment of a peer with the same
/// text tells it so, and both use rails.
pub fn machine() -> String {
    let found = fs::metadata(folder()).ok().zip(kernel());
    match found {
        Some((folder, kernel)) => {
            let user = nix::unistd::geteuid();
            format!("{kernel}/{:x}.{:x}/{user}", folder.dev(), folder.ino())
        }
        // A machine of its own, because nobody else draws the same.
        None => match Name::random() {
            Ok(name) => name.to_string(),
            Err(_) => format!("process {}", std::process::id()),
        },
    }
}

/// Whether two such texts are of processes that run on the same cores, whether or not they can
/// share segments.
pub fn shares_cores(one: &str, other: &str) -> bool {
    one.split('/').next() == other.split('/').next()
}

/// The running kernel, as told from others and from itself before it was started again.
#[cfg(target_os = "linux")]
fn kernel() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

/// The machine by its name, where it has nothing better to tell. Segments of a machine before it
/// was started again are gone, or nobody's.
#[cfg(not(target_os = "linux"))]
fn kernel() -> Option<String> {
    let found = nix::sys::utsname::uname().ok()?;
    Some(found.nodename().to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_itself() {
        assert_eq!(machine(), machine());
        assert!(machine().len() < 200, "{}", machine());
        assert!(shares_cores(&machine(), &format!("{} and more", machine())));
        assert!(!shares_cores(&machine(), "another"));
    }
}
