//! Snapshot tests: the command prints exactly what the README and the files in `tests/cmd` show.

#[test]
fn readme_and_snapshots_match_the_output() {
    trycmd::TestCases::new().case("../../README.md").case("tests/cmd/*.md");
}
