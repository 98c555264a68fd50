use super::*;
use proptest::prelude::*;

/// What a launcher says to a rank that joins.
const WELCOME: [&str; 3] = [
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
    "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
    "cmd=my_kvsname kvsname=kvs_1",
];

/// Rank 1 of 3, which has joined.
fn client() -> Client {
    let mut client = Client::new(Some((1, 3)));
    client.join(None).unwrap();
    for line in WELCOME {
        assert!(client.next_line().is_some());
        client.hear(line).unwrap();
    }
    assert_eq!(client.next_line(), None);
    client
}

/// The error, and whether the conversation can go on.
fn refused(client: &mut Client, line: &str) -> (String, bool) {
    let error = client.hear(line).unwrap_err().to_string();
    (error, client.fence().is_ok())
}

#[test]
fn joining_asks_what_there_is_to_know() {
    let mut client = Client::new(Some((1, 3)));
    client.join(None).unwrap();
    assert_eq!(client.next_line().unwrap(), "cmd=init pmi_version=1 pmi_subversion=1\n");
    assert_eq!(client.hear(WELCOME[0]).unwrap(), None);
    assert_eq!(client.next_line().unwrap(), "cmd=get_maxes\n");
    assert_eq!(client.hear(WELCOME[1]).unwrap(), None);
    assert_eq!(client.next_line().unwrap(), "cmd=get_my_kvsname\n");
    assert_eq!(client.hear(WELCOME[2]).unwrap(), Some(Outcome::Done));
    assert_eq!((client.rank(), client.size()), (1, 3));
}

#[test]
fn at_a_port_a_rank_is_told_who_it_is() {
    let mut client = Client::new(None);
    client.join(Some(7)).unwrap();
    assert_eq!(client.next_line().unwrap(), "cmd=initack pmiid=7\n");
    for line in ["cmd=initack", "cmd=set size=9", "cmd=set rank=7"] {
        assert_eq!(client.hear(line).unwrap(), None);
        assert_eq!(client.next_line(), None);
    }
    client.hear("cmd=set debug=0").unwrap();
    assert_eq!(client.next_line().unwrap(), GREETING);
    assert_eq!((client.rank(), client.size()), (7, 9));
}

#[test]
fn who_cannot_be_is_not_believed() {
    for (lines, words) in [
        (&["cmd=initack", "cmd=set size=2", "cmd=set rank=2", "cmd=set debug=0"][..], "rank 2"),
        (&["cmd=initack", "cmd=set size=0", "cmd=set rank=0", "cmd=set debug=0"], "rank 0"),
        (
            &["cmd=initack", "cmd=set size=70000", "cmd=set rank=0", "cmd=set debug=0"],
            "70000 ranks",
        ),
        (&["cmd=initack", "cmd=set size=2", "cmd=set debug=0"], "before `debug`"),
        (&["cmd=initack", "cmd=set rank=-1", "cmd=set debug=0"], "before `debug`"),
        (&["cmd=initack rc=-1 msg=who_are_you"], "who_are_you"),
        (&["cmd=set size=2"], "expected `cmd=initack`"),
    ] {
        let mut client = Client::new(None);
        client.join(Some(0)).unwrap();
        let (last, before) = lines.split_last().unwrap();
        before.iter().for_each(|line| assert_eq!(client.hear(line).unwrap(), None));
        let (error, goes_on) = refused(&mut client, last);
        assert!(error.contains(words) && !goes_on, "{error}");
    }
}

#[test]
fn launchers_that_cannot_help_are_told_of() {
    for (lines, words) in [
        (&["cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0"][..], "refuses"),
        (&["cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0"], "`pmi_version=1`"),
        (&["cmd=maxes"], "expected `cmd=response_to_init`"),
        (&["HTTP/1.1 400 Bad Request"], "said `HTTP/1.1 400 Bad Request`"),
        (&[""], "said ``"),
        (&[WELCOME[0], "cmd=maxes keylen_max=64"], "`vallen_max`"),
        (&[WELCOME[0], "cmd=maxes keylen_max=64 vallen_max=0"], "numbers above 0"),
        (&[WELCOME[0], "cmd=maxes keylen_max=16 vallen_max=1024"], "keys of 15"),
        (&[WELCOME[0], "cmd=maxes keylen_max=64 vallen_max=9"], "values of 8"),
        (&[WELCOME[0], WELCOME[1], "cmd=my_kvsname"], "`kvsname` and a word"),
        (&[WELCOME[0], WELCOME[1], "cmd=my_kvsname kvsname="], "`kvsname` and a word"),
    ] {
        let mut client = Client::new(Some((0, 1)));
        client.join(None).unwrap();
        let (last, before) = lines.split_last().unwrap();
        before.iter().for_each(|line| assert_eq!(client.hear(line).unwrap(), None));
        let (error, goes_on) = refused(&mut client, last);
        assert!(
            error.starts_with("cannot join the job: ") || error.contains("too little"),
            "{error}"
        );
        assert!(error.contains(words) && !goes_on, "{error}");
    }
    let mut client = Client::new(Some((0, 1)));
    client.join(None).unwrap();
    WELCOME[..2].iter().for_each(|line| assert_eq!(client.hear(line).unwrap(), None));
    let long = format!("cmd=my_kvsname kvsname={}", "k".repeat(1000));
    assert!(refused(&mut client, &long).0.contains("a shorter `kvsname`"));
}

#[test]
fn long_values_go_in_pieces_that_fit() {
    let mut client = client();
    client.put("a", &[7; 2000]).unwrap();
    let mut lines = Vec::new();
    while let Some(line) = client.next_line() {
        assert!(line.len() <= LONGEST_LINE, "{}", line.len());
        lines.push(line);
        client.hear("cmd=put_result rc=0").unwrap();
    }
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("cmd=put kvsname=kvs_1 key=crosstie-a-1-0 value=2000.BwcH"));
    assert!(lines[2].starts_with("cmd=put kvsname=kvs_1 key=crosstie-a-1-2 value=BwcH"));
    client.fence().unwrap();
}

#[test]
fn values_are_put_together_again() {
    let mut client = client();
    client.get(2, "a").unwrap();
    assert_eq!(client.next_line().unwrap(), "cmd=get kvsname=kvs_1 key=crosstie-a-2-0\n");
    assert_eq!(client.hear("cmd=get_result rc=0 value=6.Zm9v").unwrap(), None);
    assert_eq!(client.next_line().unwrap(), "cmd=get kvsname=kvs_1 key=crosstie-a-2-1\n");
    let bytes = client.hear("cmd=get_result rc=0 msg=success value=YmFy").unwrap();
    assert_eq!(bytes, Some(Outcome::Bytes(b"foobar".to_vec())));
}

#[test]
fn a_value_that_is_missing_is_no_end() {
    let mut client = client();
    client.get(2, "a").unwrap();
    let (error, goes_on) = refused(&mut client, "cmd=get_result rc=1");
    assert!(error.contains("rank 2 has put no `a`") && goes_on, "{error}");
}

#[test]
fn values_that_cannot_be_are_refused() {
    for value in ["value=unknown", "value=", "", "value=99999999.AAAA", "value=3.", "value=2.Zm9v"]
    {
        let mut client = client();
        client.get(0, "a").unwrap();
        let (error, goes_on) = refused(&mut client, &format!("cmd=get_result rc=0 {value}"));
        assert!(error.starts_with("cannot get `a` of rank 0: the launcher said") && !goes_on);
    }
    let mut client = client();
    client.get(0, "a").unwrap();
    client.hear("cmd=get_result rc=0 value=6.Zm9v").unwrap();
    let (error, goes_on) = refused(&mut client, "cmd=get_result rc=-1 msg=none");
    assert!(error.contains("refuses: none") && !goes_on, "the rest of a value has to be there");
}

#[test]
fn mistakes_of_the_caller_change_nothing() {
    let mut client = client();
    let long = "x".repeat(33);
    for name in ["", "a b", "a=b", "a.b", "\u{e9}", long.as_str()] {
        assert!(matches!(client.put(name, b""), Err(StartError::Name { .. })), "{name}");
        assert!(matches!(client.get(0, name), Err(StartError::Name { .. })), "{name}");
    }
    assert!(matches!(client.put("a", &[0; LONGEST + 1]), Err(StartError::Long { .. })));
    assert!(matches!(client.get(3, "a"), Err(StartError::Rank { rank: 3, size: 3 })));
    assert_eq!(client.next_line(), None);
    client.put("a", b"").unwrap();
    client.hear("cmd=put_result").unwrap();
    assert!(matches!(client.put("a", b""), Err(StartError::Again { .. })));
    client.fence().unwrap();
    let error = client.get(0, "a").unwrap_err().to_string();
    assert!(
        error.contains("in the middle of a request to wait for all ranks at a fence"),
        "{error}"
    );
}

#[test]
fn last_words_fit_a_line() {
    assert_eq!(Client::abort_line(3, ""), "cmd=abort exitcode=3\n");
    let line = Client::abort_line(-1, "no way\nto b=2\u{2026}");
    assert_eq!(line, "cmd=abort exitcode=-1 message=no_way_to_b:2?\n");
    assert!(Client::abort_line(1, &"x".repeat(9999)).len() < 300);
}

/// Lines that are nearly right, and some that are not.
fn lines() -> impl Strategy<Value = String> {
    let command = prop::sample::select(vec![
        "initack",
        "set",
        "response_to_init",
        "maxes",
        "my_kvsname",
        "put_result",
        "get_result",
        "barrier_out",
        "finalize_ack",
        "x",
    ]);
    let word = (
        prop::sample::select(vec![
            "rc",
            "msg",
            "rank",
            "size",
            "debug",
            "pmi_version",
            "keylen_max",
            "vallen_max",
            "kvsname",
            "value",
        ]),
        prop_oneof!["[0-9]{1,3}", "[0-9]{1,6}[.][A-Za-z0-9_-]{0,20}", "[!-~]{0,8}"],
    );
    let right = (command, prop::collection::vec(word, 0..4)).prop_map(|(command, words)| {
        words
            .iter()
            .fold(format!("cmd={command}"), |text, (name, value)| format!("{text} {name}={value}"))
    });
    prop_oneof![9 => right, 1 => any::<String>()]
}

proptest! {
    /// Whatever a launcher says, a rank stays sane, and says nothing that is too long.
    #[test]
    fn any_launcher_is_survived(
        lines in prop::collection::vec(lines(), 0..40),
        port: bool,
        wishes in prop::collection::vec(0..5, 1..9),
    ) {
        let mut client = Client::new((!port).then_some((0, 2)));
        let _ = client.join(port.then_some(0));
        let mut wishes = wishes.into_iter();
        for line in lines {
            if let Some(said) = client.next_line() {
                prop_assert!(said.len() <= LONGEST_LINE && said.ends_with('\n'));
            }
            if let Ok(Some(_)) = client.hear(&line) {
                let _ = match wishes.next() {
                    Some(0) => client.put("n", &[1; 900]),
                    Some(1) => client.fence(),
                    Some(2) => client.get(0, "n"),
                    _ => client.leave(),
                };
            }
        }
        prop_assert!(client.rank() < client.size());
    }
}
