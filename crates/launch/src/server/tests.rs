use super::super::client::{Client, Outcome};
use super::*;
use proptest::prelude::*;

fn server(size: usize) -> Server {
    Server::named(size, "store")
}

/// What a rank is told after it has said something.
fn ask(server: &mut Server, rank: usize, text: &str) -> String {
    server.hear(rank, text.as_bytes());
    told(server, rank)
}

fn told(server: &mut Server, rank: usize) -> String {
    let text = String::from_utf8(server.to_say(rank).to_vec()).unwrap();
    server.said(rank, text.len());
    text
}

#[test]
fn requests_have_the_answers_of_hydra() {
    let mut server = server(4);
    for (request, answer) in [
        (
            "cmd=init pmi_version=1 pmi_subversion=1\n",
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
        ),
        (
            "cmd=init pmi_version=2 pmi_subversion=0\n",
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1\n",
        ),
        ("cmd=get_maxes\n", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"),
        ("cmd=get_appnum\n", "cmd=appnum appnum=0\n"),
        ("cmd=get_universe_size\n", "cmd=universe_size size=4\n"),
        ("cmd=get_my_kvsname\n", "cmd=my_kvsname kvsname=store\n"),
        (
            "cmd=get kvsname=store key=PMI_process_mapping\n",
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,4))\n",
        ),
        ("cmd=put kvsname=store key=k value=v=1\n", "cmd=put_result rc=0 msg=success\n"),
        ("cmd=get kvsname=store key=k\n", "cmd=get_result rc=0 msg=success value=v=1\n"),
        (
            "cmd=get kvsname=store key=l\n",
            "cmd=get_result rc=-1 msg=nothing_under_this_key value=unknown\n",
        ),
        ("cmd=initack pmiid=2\n", "cmd=initack\ncmd=set size=4\ncmd=set rank=2\ncmd=set debug=0\n"),
        (
            "mcmd=spawn\nnprocs=2\nexecname=a\nendcmd\n",
            "cmd=spawn_result rc=-1 msg=ranks_cannot_be_added\n",
        ),
        ("cmd=lookup_name service=s\n", "cmd=lookup_result rc=-1 msg=no_service_of_names\n"),
        ("cmd=finalize\n", "cmd=finalize_ack\n"),
    ] {
        assert_eq!(ask(&mut server, 2, request), answer);
    }
    assert_eq!(server.next_event(), None);
    let mut apart = Server::named(3, "store").on_hosts_of_their_own();
    let mapping = ask(&mut apart, 0, "cmd=get key=PMI_process_mapping\n");
    assert!(mapping.ends_with("value=(vector,(0,3,1))\n"), "{mapping}");
}

#[test]
fn stores_of_two_jobs_have_two_names() {
    assert_ne!(Server::new(1).name, Server::new(1).name);
}

#[test]
fn a_fence_opens_when_all_have_come() {
    let mut server = server(3);
    for _ in 0..2 {
        for rank in [2, 0] {
            assert_eq!(ask(&mut server, rank, "cmd=barrier_in\n"), "");
        }
        assert_eq!(ask(&mut server, 1, "cmd=barrier_in\n"), "cmd=barrier_out\n");
        assert_eq!(told(&mut server, 0), "cmd=barrier_out\n");
        assert_eq!(told(&mut server, 2), "cmd=barrier_out\n");
    }
}

#[test]
fn who_waits_for_one_that_has_left_is_told() {
    let mut server = server(3);
    assert_eq!(ask(&mut server, 2, "cmd=barrier_in\n"), "");
    server.closed(1);
    let refusal = "cmd=barrier_out rc=-1 msg=rank_1_has_left\n";
    assert_eq!(told(&mut server, 2), refusal);
    assert_eq!(told(&mut server, 0), "", "it does not wait");
    assert_eq!(ask(&mut server, 0, "cmd=barrier_in\n"), refusal);
    assert_eq!(ask(&mut server, 1, "cmd=get_maxes\n"), "", "it is not heard any more");
    server.closed(0);
    assert_eq!(ask(&mut server, 2, "cmd=barrier_in\n"), refusal, "the first to leave is told of");
}

#[test]
fn aborts_are_told_with_code_and_message() {
    let mut server = server(3);
    server.hear(1, b"cmd=abort exitcode=7 message=no way\x1b out\ncmd=abort exitcode=8\n");
    server.hear(2, b"cmd=abort\n");
    let message = "no way\\u{1b} out".to_owned();
    assert_eq!(server.next_event(), Some(Event::Aborted { rank: 1, code: 7, message }));
    let message = String::new();
    assert_eq!(server.next_event(), Some(Event::Aborted { rank: 2, code: 1, message }));
    assert_eq!(server.next_event(), None);
}

#[test]
fn what_is_put_is_bounded() {
    let mut server = server(1);
    for (line, reason) in [
        ("cmd=put value=v\n".to_owned(), "no_key"),
        ("cmd=put key= value=v\n".to_owned(), "no_key"),
        (format!("cmd=put key={} value=v\n", "k".repeat(64)), "no_key"),
        ("cmd=put key=k\n".to_owned(), "no_value"),
        (format!("cmd=put key=k value={}\n", "v".repeat(1025)), "no_value"),
        ("cmd=put key=PMI_process_mapping value=v\n".to_owned(), "keys_that_begin_so"),
    ] {
        let answer = ask(&mut server, 0, &line);
        assert!(answer.starts_with(&format!("cmd=put_result rc=-1 msg={reason}")), "{answer}");
    }
    let value = "v".repeat(1024);
    let mut kept = 0;
    while ask(&mut server, 0, &format!("cmd=put key={kept:06} value={value}\n")).contains("rc=0") {
        kept += 1;
    }
    assert_eq!(kept, ROOM / (6 + 1024));
    let again = ask(&mut server, 0, &format!("cmd=put key={:06} value={value}\n", 0));
    assert!(again.contains("rc=0"), "what replaces takes no room: {again}");
}

#[test]
fn nonsense_ends_the_conversation_with_one_rank() {
    for (text, found) in [
        (&b"GET / HTTP/1.1\n"[..], "GET / HTTP/1.1"),
        (b"cmd=dance\n", "cmd=dance"),
        (b"\n", ""),
        (b"\xff\xfe\n", "a line that is not UTF-8 text"),
        (&[b'x'; 9000], "a line of more than 8192 bytes"),
    ] {
        let mut server = server(2);
        server.hear(1, text);
        let event = Event::Garbled { rank: 1, found: found.to_owned() };
        assert_eq!(server.next_event(), Some(event));
        assert!(server.has_left(1) && !server.has_left(0));
        assert!(ask(&mut server, 0, "cmd=get_appnum\n").contains("appnum=0"));
    }
}

#[test]
fn who_asks_without_reading_is_left() {
    let mut server = server(1);
    ask(&mut server, 0, &format!("cmd=put key=k value={}\n", "v".repeat(1000)));
    for _ in 0..1000 {
        server.hear(0, &b"cmd=get key=k\n".repeat(100));
    }
    assert!(matches!(server.next_event(), Some(Event::Garbled { rank: 0, .. })));
    assert_eq!(server.to_say(0), b"", "and nothing is kept for it");
}

#[test]
fn ranks_that_there_are_not_say_nothing() {
    let mut server = server(1);
    server.hear(1, b"cmd=barrier_in\n");
    server.closed(7);
    server.said(7, 3);
    assert_eq!((server.to_say(1), server.has_left(1)), (&b""[..], true));
}

/// A rank that exchanges bytes with all others, twice, step by step.
struct Rank {
    client: Client,
    /// The steps that are left, the next one last.
    steps: Vec<Step>,
    /// What was learned, in order.
    learned: Vec<Vec<u8>>,
    said: Vec<u8>,
}

#[derive(Clone)]
enum Step {
    Join,
    Put(usize, Vec<u8>),
    Fence,
    Get(usize, usize),
    Leave,
}

impl Rank {
    fn new(rank: usize, mine: &[Vec<u8>; 2], size: usize, port: bool) -> Rank {
        let mut steps = vec![Step::Join];
        for (round, bytes) in mine.iter().enumerate() {
            steps.extend([Step::Put(round, bytes.clone()), Step::Fence]);
            steps.extend((0..size).map(|other| Step::Get(other, round)));
        }
        steps.push(Step::Leave);
        steps.reverse();
        let client = Client::new((!port).then_some((rank, size)));
        let mut new = Rank { client, steps, learned: Vec::new(), said: Vec::new() };
        new.go_on(port.then_some(rank as u32));
        new
    }

    /// Wishes for the next step.
    fn go_on(&mut self, id: Option<u32>) {
        let Some(step) = self.steps.pop() else { return };
        match step {
            Step::Join => self.client.join(id),
            Step::Put(round, bytes) => self.client.put(&format!("round{round}"), &bytes),
            Step::Fence => self.client.fence(),
            Step::Get(rank, round) => self.client.get(rank, &format!("round{round}")),
            Step::Leave => self.client.leave(),
        }
        .unwrap();
        self.say();
    }

    fn say(&mut self) {
        self.said.extend(self.client.next_line().unwrap_or_default().into_bytes());
    }

    fn hear(&mut self, line: &str) {
        match self.client.hear(line).unwrap() {
            Some(outcome) => {
                if let Outcome::Bytes(bytes) = outcome {
                    self.learned.push(bytes);
                }
                self.go_on(None);
            }
            None => self.say(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// In whatever order bytes go to and fro, and however they are cut, all learn what all have said.
    #[test]
    fn all_learn_all(
        contributions in prop::collection::vec(
            prop::array::uniform2(prop::collection::vec(any::<u8>(), 0..2500)), 1..6),
        ports: bool,
        choices in prop::collection::vec((any::<prop::sample::Index>(), 1..2000usize), 1..400),
    ) {
        let size = contributions.len();
        let mut server = server(size);
        let mut ranks: Vec<Rank> = (contributions.iter().enumerate())
            .map(|(rank, mine)| Rank::new(rank, mine, size, ports))
            .collect();
        let mut inboxes: Vec<Inbox> = (0..size).map(|_| Inbox::default()).collect();
        let mut choices = choices.into_iter().cycle();
        // Anybody may be next; after some without a word, each in turn, until nobody has one.
        let mut quiet = 0;
        while quiet < 8 + size {
            let (who, length) = choices.next().unwrap();
            let rank = if quiet < 8 { who.index(size) } else { quiet % size };
            quiet += 1;
            let said = &mut ranks[rank].said;
            if !said.is_empty() {
                let count = length.min(said.len());
                let bytes: Vec<u8> = said.drain(..count).collect();
                server.hear(rank, &bytes);
                quiet = 0;
            }
            let answer = server.to_say(rank);
            if !answer.is_empty() {
                let count = length.min(answer.len());
                inboxes[rank].add(&answer[..count]);
                server.said(rank, count);
                quiet = 0;
            }
            while let Some(line) = inboxes[rank].next() {
                ranks[rank].hear(line.unwrap());
            }
        }
        let all: Vec<Vec<u8>> =
            [0, 1].into_iter().flat_map(|round| contributions.iter().map(move |mine| mine[round].clone())).collect();
        for (number, rank) in ranks.iter().enumerate() {
            prop_assert_eq!(&rank.learned, &all);
            prop_assert!(rank.steps.is_empty());
            prop_assert_eq!((rank.client.rank(), rank.client.size()), (number, size));
        }
        prop_assert_eq!(server.next_event(), None);
    }

    /// Whatever some ranks say, the server stays bounded and goes on with the others.
    #[test]
    fn any_ranks_are_survived(says in prop::collection::vec((0..4usize, says()), 0..60)) {
        let mut server = server(4);
        for (rank, bytes) in says {
            // Rank 3 only ever asks for something simple.
            match rank {
                3 => prop_assert!(ask(&mut server, 3, "cmd=get_appnum\n").ends_with("appnum=0\n")),
                rank => server.hear(rank, &bytes),
            }
        }
        let mut events = 0;
        while server.next_event().is_some() {
            events += 1;
        }
        prop_assert!(events <= 3 && !server.has_left(3));
    }
}

fn says() -> impl Strategy<Value = Vec<u8>> {
    let line = (
        prop::sample::select(vec![
            "cmd=put",
            "cmd=get",
            "cmd=barrier_in",
            "cmd=abort",
            "cmd=init",
            "cmd=finalize",
            "mcmd=spawn",
            "endcmd",
            "cmd=",
            "x",
        ]),
        prop::collection::vec("(key|value|exitcode|message|pmi_version)=[!-~]{0,70}", 0..4),
    );
    let lines =
        line.prop_map(|(command, words)| format!("{command} {}\n", words.join(" ")).into_bytes());
    prop_oneof![9 => lines, 1 => prop::collection::vec(any::<u8>(), 0..9000)]
}
