//! Parquet files: columns decoded side by side, a chunk of rows at a time.

mod pages;
mod thrift;

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Fields, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaDataReader};
use rayon::prelude::*;

use super::blob::Blob;
use super::columns::{Chosen, Described, Stack, damaged, packed};
use super::guard::guarded;
use super::{Choose, Field, Reading, Table};
use crate::error::Result;

/// A Parquet file that is being read.
pub(super) struct Parquet {
    stack: Stack,
    parts: Vec<Part>,
}

/// At most so many readers of columns side by side. Each of them looks through the whole schema, so a reader for each column would take
/// time that grows with the square of their number.
const READERS: usize = 64;

/// Some columns that are being read, row group by row group.
struct Part {
    blob: Blob,
    metadata: ArrowReaderMetadata,
    at: Vec<usize>,
    /// Their places among the columns that are not nested in others.
    leaves: Vec<usize>,
    rows_at_once: usize,
    group: usize,
    reader: Option<ParquetRecordBatchReader>,
}

impl Parquet {
    pub(super) fn open(
        file: &str,
        blob: &Blob,
        reading: &mut Reading,
        choose: &Choose<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let metadata = guarded(|| metadata(blob))
            .unwrap_or_else(|| Err(ParquetError::General("its schema makes no sense".into())))
            .map_err(|error| damaged(file, "Parquet", &error))?;
        let stack = Stack::new(file, "Parquet", &supported(&metadata), reading, choose, notes)?;
        let rows_at_once = stack.rows_at_once();
        let leaves = metadata.metadata().file_metadata().schema_descr_ptr();
        // A column that can be read has one leaf; of any other it does not matter which one is kept.
        let leaf: HashMap<usize, usize> =
            (0..leaves.num_columns()).map(|leaf| (leaves.get_column_root_idx(leaf), leaf)).collect();
        let part = |columns: &[Chosen]| {
            let at: Vec<usize> = columns.iter().map(|Chosen { at, .. }| *at).collect();
            let leaves = at.iter().filter_map(|at| leaf.get(at).copied()).collect();
            let (blob, metadata) = (blob.clone(), metadata.clone());
            Part { blob, metadata, at, leaves, rows_at_once, group: 0, reader: None }
        };
        let parts: Vec<Part> = stack.chosen().chunks(stack.chosen().len().div_ceil(READERS).max(1)).map(part).collect();
        if let Some(codec) = parts.iter().find_map(Part::unreadable_codec) {
            return Err(packed(file, codec));
        }
        Ok(Parquet { stack, parts })
    }

    pub(super) fn fields(&self) -> Vec<Field> {
        self.stack.fields()
    }
}

fn metadata(blob: &Blob) -> std::result::Result<ArrowReaderMetadata, ParquetError> {
    pages::check_description(blob)?;
    let metadata = Arc::new(ParquetMetaDataReader::new().parse_and_finish(blob)?);
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let plain = ArrowReaderMetadata::try_new(metadata.clone(), options)?;
    // Texts come with the dictionary that the file has: a text that comes a million times is looked at once.
    let fields: Fields = plain
        .schema()
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            text @ (DataType::Utf8 | DataType::Binary) => {
                let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(text.clone()));
                Arc::new(field.as_ref().clone().with_data_type(dictionary))
            }
            _ => field.clone(),
        })
        .collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(metadata, options)
}

/// The columns' names and types, and whether the file's description of them is sound.
fn supported(metadata: &ArrowReaderMetadata) -> Vec<Described> {
    /// A number takes at most 32 bytes; a file that says otherwise is damaged.
    const LONGEST_NUMBER: i32 = 32;
    let leaves = metadata.metadata().file_metadata().schema_descr();
    let mut of_column: HashMap<usize, Vec<usize>> = HashMap::new();
    for leaf in 0..leaves.num_columns() {
        of_column.entry(leaves.get_column_root_idx(leaf)).or_default().push(leaf);
    }
    let sane = |at: usize| {
        let Some([leaf]) = of_column.get(&at).map(Vec::as_slice) else { return false };
        let leaf = leaves.column(*leaf);
        leaf.max_rep_level() == 0
            && (leaf.physical_type() != Type::FIXED_LEN_BYTE_ARRAY
                || (1..=LONGEST_NUMBER).contains(&leaf.type_length()))
    };
    let one =
        |(at, field): (usize, &Arc<arrow_schema::Field>)| (field.name().clone(), field.data_type().clone(), sane(at));
    metadata.schema().fields().iter().enumerate().map(one).collect()
}

impl Part {
    /// The next arrays, one for each column.
    fn next(&mut self) -> Vec<std::result::Result<Option<ArrayRef>, String>> {
        match self.next_batch() {
            Ok(Some(arrays)) => arrays.into_iter().map(|array| Ok(Some(array))).collect(),
            Ok(None) => self.at.iter().map(|_| Ok(None)).collect(),
            Err(error) => vec![Err(error)],
        }
    }

    fn next_batch(&mut self) -> std::result::Result<Option<Vec<ArrayRef>>, String> {
        loop {
            if self.reader.is_none() {
                if self.group == self.metadata.metadata().num_row_groups() {
                    return Ok(None);
                }
                let reader = guarded(|| self.open()).ok_or("a row group makes no sense")?;
                self.reader = Some(reader.map_err(|error| error.to_string())?);
                self.group += 1;
            }
            let Some(reader) = &mut self.reader else { continue };
            match guarded(|| reader.next()).ok_or("a page makes no sense")? {
                None => self.reader = None,
                Some(Err(error)) => return Err(error.to_string()),
                Some(Ok(batch)) => {
                    if batch.num_columns() != self.at.len() {
                        return Err("a column is gone".into());
                    }
                    if batch.num_rows() > 0 {
                        return Ok(Some(batch.columns().to_vec()));
                    }
                }
            }
        }
    }

    /// What a column of it is packed with, in any row group, where that was not built in.
    fn unreadable_codec(&self) -> Option<&'static str> {
        let groups = self.metadata.metadata().row_groups().iter();
        let chunks = groups.flat_map(|group| self.leaves.iter().filter_map(|leaf| group.columns().get(*leaf)));
        chunks.map(ColumnChunkMetaData::compression).find_map(|codec| match codec {
            Compression::BROTLI(_) => Some("Brotli"),
            Compression::LZO => Some("LZO"),
            _ => None,
        })
    }

    /// Looks at the pages of the next row group and opens it.
    fn open(&self) -> std::result::Result<ParquetRecordBatchReader, ParquetError> {
        let group = self.metadata.metadata().row_group(self.group);
        let rows = usize::try_from(group.num_rows())
            .map_err(|_| ParquetError::General("a row group has fewer than no rows".into()))?;
        for leaf in &self.leaves {
            let chunk = group.columns().get(*leaf);
            let chunk = chunk.ok_or(ParquetError::General("a row group lacks a column".into()))?;
            pages::check(&self.blob, chunk, rows)?;
        }
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), self.at.iter().copied());
        ParquetRecordBatchReaderBuilder::new_with_metadata(self.blob.clone(), self.metadata.clone())
            .with_projection(mask)
            .with_row_groups(vec![self.group])
            .with_batch_size(self.rows_at_once)
            .build()
    }
}

impl Iterator for Parquet {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        let arrays: Vec<Vec<_>> = self.parts.par_iter_mut().map(Part::next).collect();
        self.stack.table(arrays.into_iter().flatten().collect())
    }
}
