//! Measures the time to read a table: `cargo run --release --example time_table -- FILE [whole|stream|encode] [COLUMN…]`.
//!
//! `whole` reads the table at once, `stream` reads it in chunks, `encode` reads it, fits an encoder to all rows and encodes them.
//! Prints the time in seconds, the numbers of rows and columns and, on Linux, the peak memory. `bench/table_peers.py` compares these
//! numbers with those of other libraries.

use std::time::Instant;

use scorewise_table::Result;
use scorewise_table::encode::{Encoder, EncodingOptions};
use scorewise_table::table::{Reader, Reading, Source, read};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = arguments.first() else {
        eprintln!("usage: time_table FILE [whole|stream|encode] [COLUMN…]");
        std::process::exit(2);
    };
    let source = Source::parse(file);
    let only = (arguments.len() > 2).then(|| arguments[2..].to_vec());
    let reading = Reading { only, ..Reading::default() };
    let start = Instant::now();
    let (rows, columns) = match arguments.get(1).map_or("whole", String::as_str) {
        "stream" => {
            let reader = Reader::open(&source, &reading)?;
            let columns = reader.fields().len();
            (reader.map(|chunk| chunk.map(|chunk| chunk.rows())).sum::<Result<usize>>()?, columns)
        }
        "encode" => {
            let table = read(&source, &reading)?;
            println!("read {:.3}", start.elapsed().as_secs_f64());
            let rows: Vec<u32> = (0..table.rows() as u32).collect();
            let (encoder, _) = Encoder::fit(&table, &rows, &EncodingOptions::default())?;
            encoder.encode(&table)?;
            (rows.len(), encoder.width())
        }
        _ => {
            let table = read(&source, &reading)?;
            (table.rows(), table.columns.len())
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    println!("seconds {seconds:.3}");
    println!("rows {rows}");
    println!("columns {columns}");
    if let Some(kilobytes) = peak_memory() {
        println!("most_kb {kilobytes}");
    }
    Ok(())
}

/// The peak memory of this process in kB; `None` on systems other than Linux.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
