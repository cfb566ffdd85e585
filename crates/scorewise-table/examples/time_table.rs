//! Times the reading of a table: `cargo run --release --example time_table -- FILE [whole|stream|encode] [COLUMN…]`.
//!
//! `whole` reads it, `stream` reads it chunk by chunk, `encode` reads it, fits an encoder on all rows and encodes them.
//! Prints seconds, rows, columns and the most memory that was held (Linux), for bench/table_peers.py to compare.

use std::time::Instant;

use scorewise_table::Result;
use scorewise_table::encode::{Choice, Encoder};
use scorewise_table::table::{Reader, Reading, Source, read};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = arguments.first() else {
        eprintln!("time_table FILE [whole|stream|encode] [COLUMN…]");
        std::process::exit(2);
    };
    let source = Source::parse(file);
    let only = (arguments.len() > 2).then(|| arguments[2..].to_vec());
    let reading = Reading { only, ..Reading::default() };
    let begun = Instant::now();
    let (rows, columns) = match arguments.get(1).map_or("whole", String::as_str) {
        "stream" => {
            let reader = Reader::open(&source, &reading)?;
            let columns = reader.fields().len();
            (reader.map(|chunk| chunk.map(|chunk| chunk.rows())).sum::<Result<usize>>()?, columns)
        }
        "encode" => {
            let table = read(&source, &reading)?;
            println!("read {:.3}", begun.elapsed().as_secs_f64());
            let rows: Vec<u32> = (0..table.rows() as u32).collect();
            let (encoder, _) = Encoder::fit(&table, &rows, &Choice::default())?;
            encoder.encode(&table)?;
            (rows.len(), encoder.width())
        }
        _ => {
            let table = read(&source, &reading)?;
            (table.rows(), table.columns.len())
        }
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
