//! Messages between processes, with open files.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use crosstie_launch::process::not_standard;
use nix::cmsg_space;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg,
    sendmsg, socketpair,
};

/// The most files in one message.
const MOST_FILES: usize = 4;

/// The longest message.
const LONGEST: usize = 4096;

/// What came: bytes, and open files.
#[derive(Debug)]
pub(super) struct Message {
    pub bytes: Vec<u8>,
    pub files: Vec<OwnedFd>,
}

/// Two sockets that keep messages apart.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (one, other) =
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
    Ok((not_standard(one)?, not_standard(other)?))
}

/// Sends a message.
pub(super) fn send(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let files: Vec<RawFd> = files.iter().map(|file| file.as_raw_fd()).collect();
    let rights = [ControlMessage::ScmRights(&files)];
    let control: &[ControlMessage<'_>] = if files.is_empty() { &[] } else { &rights };
    let parts = [IoSlice::new(bytes)];
    loop {
        match sendmsg::<()>(socket.as_raw_fd(), &parts, control, MsgFlags::MSG_NOSIGNAL, None) {
            Err(nix::errno::Errno::EINTR) => {}
            sent => return sent.map(drop).map_err(io::Error::from),
        }
    }
}

/// Waits for a message; `None` if the other side is gone.
#[allow(unsafe_code)]
pub(super) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<Message>> {
    let mut bytes = vec![0; LONGEST];
    let mut control = cmsg_space!([RawFd; MOST_FILES]);
    let (length, files) = loop {
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let flags = MsgFlags::MSG_CMSG_CLOEXEC;
        match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), flags) {
            Err(nix::errno::Errno::EINTR) => {}
            Err(nix::errno::Errno::ECONNRESET) => return Ok(None),
            Err(error) => return Err(error.into()),
            Ok(message) => {
                let mut files = Vec::new();
                // There is room for all files of a message, unless the process has too many.
                let parts = message.cmsgs().map_err(|_| nix::errno::Errno::EMFILE)?;
                for part in parts {
                    if let ControlMessageOwned::ScmRights(raw) = part {
                        // SAFETY: the kernel has just opened these for us, and nobody else knows
                        // them.
                        files.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
                    }
                }
                break (message.bytes, files);
            }
        }
    };
    let files = files.into_iter().map(not_standard).collect::<io::Result<Vec<OwnedFd>>>()?;
    bytes.truncate(length);
    // Nobody sends empty messages, so this is the end.
    Ok((length > 0).then_some(Message { bytes, files }))
}
