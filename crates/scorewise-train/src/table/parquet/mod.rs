//! Parquet files: columns decoded side by side, a chunk of rows at a time.

mod pages;
mod thrift;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Fields, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use rayon::prelude::*;

use super::blob::Blob;
use super::columns::{Chosen, Described, Stack, damaged, packed};
use super::guard::guarded;
use super::{Field, Reading, Table};
use crate::error::Result;

/// A Parquet file that is being read.
pub(super) struct Parquet {
    stack: Stack,
    columns: Vec<OneColumn>,
}

/// One column that is being read, row group by row group.
struct OneColumn {
    blob: Blob,
    metadata: ArrowReaderMetadata,
    at: usize,
    /// Its place among the columns that are not nested in others.
    leaf: usize,
    rows_at_once: usize,
    group: usize,
    reader: Option<ParquetRecordBatchReader>,
}

impl Parquet {
    pub(super) fn open(file: &str, blob: &Blob, reading: &Reading, notes: &mut Vec<String>) -> Result<Self> {
        let metadata = guarded(|| metadata(blob))
            .unwrap_or_else(|| Err(ParquetError::General("its schema makes no sense".into())))
            .map_err(|error| damaged(file, "Parquet", &error))?;
        let stack = Stack::new(file, "Parquet", &supported(&metadata), reading, notes)?;
        let rows_at_once = stack.rows_at_once();
        let leaves = metadata.metadata().file_metadata().schema_descr_ptr();
        let leaf = |at: usize| (0..leaves.num_columns()).find(|leaf| leaves.get_column_root_idx(*leaf) == at);
        let columns = stack.chosen().iter().filter_map(|Chosen { at, .. }| {
            let (blob, metadata, leaf) = (blob.clone(), metadata.clone(), leaf(*at)?);
            Some(OneColumn { blob, metadata, at: *at, leaf, rows_at_once, group: 0, reader: None })
        });
        let columns: Vec<OneColumn> = columns.collect();
        if let Some(codec) = columns.iter().find_map(OneColumn::unreadable_codec) {
            return Err(packed(file, codec));
        }
        Ok(Parquet { stack, columns })
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
    let sane = |at: usize| {
        let mut leaves = (0..leaves.num_columns())
            .filter(|leaf| leaves.get_column_root_idx(*leaf) == at)
            .map(|leaf| leaves.column(leaf));
        let sane = |leaf: &parquet::schema::types::ColumnDescPtr| {
            leaf.max_rep_level() == 0
                && (leaf.physical_type() != Type::FIXED_LEN_BYTE_ARRAY
                    || (1..=LONGEST_NUMBER).contains(&leaf.type_length()))
        };
        leaves.next().is_some_and(|leaf| sane(&leaf)) && leaves.next().is_none()
    };
    let one =
        |(at, field): (usize, &Arc<arrow_schema::Field>)| (field.name().clone(), field.data_type().clone(), sane(at));
    metadata.schema().fields().iter().enumerate().map(one).collect()
}

impl OneColumn {
    fn next(&mut self) -> std::result::Result<Option<ArrayRef>, String> {
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
                    let array = batch.columns().first().ok_or("a column is gone")?;
                    if !array.is_empty() {
                        return Ok(Some(array.clone()));
                    }
                }
            }
        }
    }

    /// What it is packed with, in any row group, where that was not built in.
    fn unreadable_codec(&self) -> Option<&'static str> {
        let groups = self.metadata.metadata().row_groups().iter();
        let codecs = groups.filter_map(|group| Some(group.columns().get(self.leaf)?.compression()));
        codecs.into_iter().find_map(|codec| match codec {
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
        let chunk = group.columns().get(self.leaf).ok_or(ParquetError::General("a row group lacks a column".into()))?;
        pages::check(&self.blob, chunk, rows)?;
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), [self.at]);
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
        let arrays = self.columns.par_iter_mut().map(OneColumn::next).collect::<Vec<_>>();
        self.stack.table(arrays)
    }
}
