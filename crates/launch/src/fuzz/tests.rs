//! Every seed, and what is made of it by chance, through every target; and seeds from real
//! conversations.

use super::{Client, Inbox, Server, client, environment, server};
use crate::StartError;

#[path = "../../../../fuzz/chance.rs"]
mod chance;

#[test]
fn environments() {
    chance::run("environment", environment, 5000);
}

#[test]
fn what_launchers_say() {
    chance::run("client", client, 5000);
}

#[test]
fn what_ranks_say() {
    chance::run("server", server, 5000);
}

/// Writes the seeds anew: `cargo test -p crosstie-launch write_all_seeds -- --ignored`. Those with
/// other names, which fuzzers have found, stay.
#[test]
#[ignore = "it writes into the repository"]
fn write_all_seeds() {
    let write = |target: &str, name: &str, bytes: &[u8]| {
        let folder = chance::folder(target);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(name), bytes).unwrap();
    };
    write("environment", "file", b"PMI_FD=6\nPMI_RANK=1\nPMI_SIZE=2\n");
    let secret = "000102030405060708090a0b0c0d0e0f";
    let all = format!("PMI_PORT=a:1\nPMI_ID=3\nCROSSTIE_TIMEOUT=90 s\nCROSSTIE_SECRET={secret}\n");
    write("environment", "port", all.as_bytes());
    for (name, knows) in [("told", false), ("knows", true)] {
        let (says, hears) = conversation(knows);
        write("client", name, &[&[u8::from(!knows)][..], &hears].concat());
        write("server", name, &says);
    }
}

/// Something that a rank wants of its launcher.
type Wish = fn(&mut Client) -> Result<(), StartError>;

/// What a rank and a launcher say to each other from the beginning to the end: what the launcher
/// hears, as the target `server` takes it, and what the rank does.
fn conversation(knows: bool) -> (Vec<u8>, Vec<u8>) {
    let (mut says, mut hears) = (Vec::new(), Vec::new());
    let mut server = Server::named(1, "store");
    let mut client = Client::new(knows.then_some((0, 1)));
    let wishes: [Wish; 4] = [
        |client| client.put("card", &[0x5a; 30]),
        Client::fence,
        |client| client.get(0, "card"),
        Client::leave,
    ];
    client.join((!knows).then_some(0)).expect("it is idle");
    let mut inbox = Inbox::default();
    for wish in wishes.into_iter().map(Some).chain([None]) {
        let mut done = false;
        while !done {
            if let Some(line) = client.next_line() {
                for piece in line.as_bytes().chunks(119) {
                    says.extend([20, piece.len() as u8]);
                    says.extend(piece);
                }
                server.hear(0, line.as_bytes());
            }
            hears.extend(server.to_say(0));
            inbox.add(server.to_say(0));
            server.said(0, usize::MAX);
            while let Some(line) = inbox.next() {
                let line = line.expect("text").to_owned();
                done |= client.hear(&line).expect("an answer").is_some();
            }
        }
        if let Some(wish) = wish {
            wish(&mut client).expect("it is idle");
        }
    }
    (says, hears)
}
