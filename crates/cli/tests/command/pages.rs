//! The pages of the documentation: what they print is what the commands print.
//!
//! A block that begins with `$ crosstie` is run, by a shell, in a folder of its page, and its
//! output is compared: stdout, and stderr too if the command fails. A line of dots stands for any
//! number of lines. Three comments, which readers do not see, may stand on the line before a block:
//! `<!-- file: NAME -->` puts the block into that file, and checks it if it is an experiment; `<!--
//! before: COMMAND -->` runs a command before the block is; `<!-- live -->` says that real ranks
//! have measured its numbers, so that other numbers do as well. Such a block is skipped where there
//! are no boxes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::invocation::{command, repository};
use tempfile::{TempDir, tempdir};

/// A block of a page, and the comment before it.
pub struct Block {
    line: usize,
    pub comment: String,
    pub text: String,
}

/// The blocks of a page.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines().enumerate();
    let mut before = "";
    while let Some((i, line)) = lines.next() {
        if line.starts_with("```") {
            let text: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
            let comment = before.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
            let comment = comment.unwrap_or_default().to_owned();
            blocks.push(Block { line: i + 2, comment, text: text.join("\n") + "\n" });
        }
        before = line;
    }
    blocks
}

/// A folder as a reader has it after a clone, with `crosstie` at hand.
pub fn clone() -> TempDir {
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    let link = |from: &Path, to: &str| {
        std::os::unix::fs::symlink(from, folder.path().join(to)).unwrap();
    };
    link(Path::new(env!("CARGO_BIN_EXE_crosstie")), "bin/crosstie");
    link(&repository("experiments").canonicalize().unwrap(), "experiments");
    folder
}

/// What a command prints there.
pub fn shell(folder: &Path, line: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let plain = command(&[]);
    let mut shell = Command::new("sh");
    for (variable, _) in plain.get_envs().filter(|(_, value)| value.is_none()) {
        shell.env_remove(variable);
    }
    let path = format!("{}:{path}", folder.join("bin").display());
    let shell =
        shell.args(["-c", line]).current_dir(folder).env("PATH", path).env("LANG", "C.UTF-8");
    let Output { status, stdout, stderr } = shell.output().expect("there is a shell");
    let mut text = String::from_utf8(stdout).expect("stdout is UTF-8");
    if !status.success() || text.is_empty() {
        text += &String::from_utf8(stderr).expect("stderr is UTF-8");
    }
    text
}

/// Whether lines are those printed on a page, where dots stand for any number of them.
fn is_printed(printed: &[&str], lines: &[&str]) -> bool {
    match (printed, lines) {
        ([], []) => true,
        ([dots, rest @ ..], _) if dots.trim() == "..." => {
            (0..=lines.len()).any(|skipped| is_printed(rest, &lines[skipped..]))
        }
        ([line, rest @ ..], [found, others @ ..]) => {
            line.trim_end() == found.trim_end() && is_printed(rest, others)
        }
        _ => false,
    }
}

/// Lines without what real ranks may measure differently another time: numbers, the space that they
/// take, and the remark that other programs had the cores meanwhile.
fn without_numbers(lines: &[&str]) -> Vec<String> {
    let word = |word: &str| match word.trim_end_matches(['%', ',']).replace(',', "").parse::<f64>()
    {
        Ok(_) => "#".to_owned(),
        Err(_) => word.to_owned(),
    };
    let line = |line: &&str| {
        let measured = line.split("# disturbed").next().unwrap_or_default();
        measured.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
    };
    lines.iter().map(line).collect()
}

/// Whether this machine allows boxes.
fn boxes_work() -> bool {
    static WORK: OnceLock<bool> = OnceLock::new();
    *WORK.get_or_init(|| command(&["box", "--check"]).output().is_ok_and(|o| o.status.success()))
}

/// Runs the blocks of a page; returns how many outputs were compared.
fn follow(name: &str) -> usize {
    let page = fs::read_to_string(repository(name)).unwrap();
    let folder = clone();
    let mut compared = 0;
    for Block { line, comment, text } in blocks(&page) {
        if let Some(file) = comment.strip_prefix("file: ") {
            fs::write(folder.path().join(file), &text).unwrap();
            if file.ends_with(".toml") {
                let output = shell(folder.path(), &format!("crosstie check {file}"));
                assert!(!output.contains("error"), "{name}:{line}: {output}");
            }
        }
        if let Some(before) = comment.strip_prefix("before: ") {
            shell(folder.path(), before);
        }
        let Some((first, printed)) = text.split_once('\n') else { continue };
        let Some(asked) = first.strip_prefix("$ ").filter(|line| line.starts_with("crosstie "))
        else {
            continue;
        };
        let is_live = comment == "live";
        if (asked.starts_with("crosstie box") || is_live) && !boxes_work() {
            eprintln!("{name}:{line}: skipped, because this machine allows no boxes");
            continue;
        }
        let output = shell(folder.path(), asked);
        let (printed, found): (Vec<&str>, Vec<&str>) =
            (printed.lines().collect(), output.lines().collect());
        let fits = match is_live {
            false => is_printed(&printed, &found),
            true => {
                let [printed, found] = [&printed, &found].map(|lines| without_numbers(lines));
                let [printed, found] =
                    [&printed, &found].map(|lines| lines.iter().map(|line| &line[..]));
                is_printed(&printed.collect::<Vec<_>>(), &found.collect::<Vec<_>>())
            }
        };
        assert!(
            fits,
            "{name}:{line}: the page prints\n{}\nthe command\n{output}",
            printed.join("\n")
        );
        compared += 1;
    }
    compared
}

/// The pages of the documentation.
pub fn names() -> Vec<String> {
    let mut pages: Vec<String> = vec!["README.md".to_owned(), "experiments/README.md".to_owned()];
    for entry in fs::read_dir(repository("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            pages.push(format!("docs/{name}"));
        }
    }
    pages.sort();
    pages
}

#[test]
fn the_pages_print_what_the_commands_print() {
    let compared: usize = names().iter().map(|name| follow(name)).sum();
    assert!(compared >= 11, "only {compared} outputs were compared");
}

/// What a page refers to: targets of links, and paths of the repository in code. `NAME` stands for
/// any name.
fn references(page: &str) -> impl Iterator<Item = &str> {
    let links = page.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    let code = page.split('`').skip(1).step_by(2).filter(|code| {
        ["crates/", "docs/", "experiments/", "benches/"]
            .iter()
            .any(|folder| code.starts_with(folder))
            && !code.contains("NAME")
            && !code.contains(['*', ' '])
    });
    links.filter(|link| !link.is_empty() && !link.starts_with("http")).chain(code)
}

#[test]
fn what_the_pages_refer_to_exists() {
    let root = repository("").canonicalize().unwrap();
    let mut followed = 0;
    for folder in ["", "docs", "experiments", "benches"].map(|folder| root.join(folder)) {
        for page in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if page.extension().is_none_or(|ending| ending != "md") {
                continue;
            }
            for reference in references(&fs::read_to_string(&page).unwrap()) {
                let found = [&folder, &root].iter().any(|from| from.join(reference).exists());
                assert!(found, "{} refers to {reference}", page.display());
                followed += 1;
            }
        }
    }
    assert!(followed > 100, "only {followed} references were followed");
}

#[test]
fn other_numbers_do_where_they_vary() {
    let told = |line: &str| without_numbers(&[line]);
    assert_eq!(told("8   12.5   1,024 us"), told("8 9.75 3 us"));
    assert_eq!(told("8 12.5  # disturbed: others had 50 % of the cores"), told("8 9.75"));
    assert_ne!(told("8 failed"), told("8 9.75"));
}

#[test]
fn dots_stand_for_lines() {
    let lines = ["a", "b", "c"];
    assert!(is_printed(&["a", "  ...", "c"], &lines) && is_printed(&["...", "c"], &lines));
    assert!(!is_printed(&["a", "c"], &lines) && !is_printed(&["a", "...", "d"], &lines));
}
