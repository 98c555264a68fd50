//! A report on disk.

mod samples;

use std::fs;
use std::path::Path;

use crosstie_report::write;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names.retain(|name| !name.ends_with(".png"));
    names
}

#[test]
fn a_report_is_figures_and_a_page_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("new/folder");
    let files = write(&samples::results(), &folder).unwrap();
    assert_eq!(names(&folder), ["figures", "report.html"]);
    assert_eq!(names(&folder.join("figures")), ["accepted.svg", "latency.svg", "tails.svg"]);
    assert!(files.iter().all(|file| file.is_file()));
    assert!(files.contains(&folder.join("report.html")));
}

#[test]
fn a_second_report_replaces_the_first_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("report.html");
    write(&samples::results(), folder.path()).unwrap();
    let first = fs::read(&page).unwrap();
    write(&samples::results(), folder.path()).unwrap();
    assert_eq!(fs::read(&page).unwrap(), first);
}

#[test]
fn names_of_figures_cannot_leave_the_folder_or_collide() {
    let folder = tempfile::tempdir().unwrap();
    let mut results = samples::results();
    for (figure, name) in results.figures.iter_mut().zip(["../../up", "a b", "a/b"]) {
        figure.name = name.to_owned();
    }
    write(&results, folder.path()).unwrap();
    assert_eq!(names(&folder.path().join("figures")), ["------up.svg", "a-b-2.svg", "a-b.svg"]);
}

#[test]
fn a_figure_that_is_renamed_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut results = samples::results();
    write(&results, folder.path()).unwrap();
    let figures = folder.path().join("figures");
    fs::write(figures.join("mine.svg"), "<svg/>").unwrap();
    results.figures[0].name = "renamed".to_owned();
    write(&results, folder.path()).unwrap();
    assert_eq!(names(&figures), ["accepted.svg", "mine.svg", "renamed.svg", "tails.svg"]);
    results.figures.clear();
    write(&results, folder.path()).unwrap();
    assert_eq!(names(&figures), ["mine.svg"], "what others put there stays");
}

#[test]
fn a_refusal_names_the_path_and_what_to_look_at() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "in the way").unwrap();
    let message = write(&samples::results(), &file).unwrap_err().to_string();
    assert!(message.contains("file") && message.contains("writable"), "{message}");
}

#[test]
fn channels_beside_the_results_are_in_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut results = samples::results();
    results.folder = folder.path().to_owned();
    let counters = folder.path().join("channels.csv");
    let head = "point,channel,rail,from,to,kind,flits,utilisation,blocked,waiting\n";
    fs::write(&counters, format!("{head}3,0,1,s1.0,s2.3,up,1200,0.625,0.1,0.05\n")).unwrap();
    write(&results, folder.path()).unwrap();
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("<td>s2.3</td><td>up</td><td>1</td><td class=\"number\">62.5%</td>"));

    fs::write(&counters, format!("{head}3,zero\n")).unwrap();
    let message = write(&results, folder.path()).unwrap_err().to_string();
    assert!(message.contains("channels.csv"), "{message}");
}

#[test]
fn time_lines_are_figures_and_leave_as_figures_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut results = samples::results();
    results.folder = folder.path().to_owned();
    results.figures.truncate(1);
    results.figures[0].name = "timeline-7".to_owned();
    let recorded = folder.path().join("timeline.csv");
    let head = "point,rank,to,bytes,begin,left,end\n";
    fs::write(&recorded, format!("{head}7,0,1,1024,0.0,1.5,4.0\n12,1,,,0.0,2.0,2.0\n")).unwrap();
    let files = write(&results, folder.path()).unwrap();
    let figures = folder.path().join("figures");
    assert_eq!(names(&figures), ["timeline-12.svg", "timeline-7-2.svg", "timeline-7.svg"]);
    assert!(files.contains(&figures.join("timeline-12.svg")));
    let drawn = fs::read_to_string(figures.join("timeline-7.svg")).unwrap();
    assert!(drawn.contains("rank 0 to rank 1, 1024 B: 0 to 4 us"));

    fs::remove_file(&recorded).unwrap();
    results.figures.clear();
    write(&results, folder.path()).unwrap();
    assert!(names(&figures).is_empty());
}
