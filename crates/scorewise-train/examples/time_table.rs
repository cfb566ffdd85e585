//! Times the reading of a table: `cargo run --release --example time_table -- FILE [whole|stream] [COLUMN…]`.
//!
//! Prints seconds, rows, columns and the most memory that was held (Linux), for bench/table_peers.py to compare.

use std::time::Instant;

use scorewise_train::Result;
use scorewise_train::table::{Reader, Reading, Source, read};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = arguments.first() else {
        eprintln!("time_table FILE [whole|stream] [COLUMN…]");
        std::process::exit(2);
    };
    let source = Source::parse(file);
    let only = (arguments.len() > 2).then(|| arguments[2..].to_vec());
    let reading = Reading { only, ..Reading::default() };
    let begun = Instant::now();
    let (rows, columns) = if arguments.get(1).is_some_and(|way| way == "stream") {
        let reader = Reader::open(&source, &reading)?;
        let columns = reader.fields().len();
        (reader.map(|chunk| chunk.map(|chunk| chunk.rows())).sum::<Result<usize>>()?, columns)
    } else {
        let table = read(&source, &reading)?;
        (table.rows(), table.columns.len())
    };
    let seconds = begun.elapsed().as_secs_f64();
    println!("seconds {seconds:.3}");
    println!("rows {rows}");
    println!("columns {columns}");
    if let Some(kilobytes) = most_memory() {
        println!("most_kb {kilobytes}");
    }
    Ok(())
}

/// The most memory this program held, in kB, as Linux tells it.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
