//! Snapshots of the command: the examples of the README, and messages about mistakes.

#[test]
fn readme_and_snapshots_match_the_output() {
    trycmd::TestCases::new().case("../../README.md").case("tests/cmd/*.md");
}
