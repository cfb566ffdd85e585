//! Reads Parquet files in chunks of rows. Within a chunk, groups of columns are decoded in parallel.

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

use super::byte_source::ByteSource;
use super::catch_panic::catch_panic;
use super::selected_columns::{
    DeclaredColumn, SelectedColumn, SelectedColumns, damaged_error, unsupported_codec_error,
};
use super::{ChooseColumns, Field, Reading, Table};
use crate::error::Result;

/// Reads a Parquet file.
pub(super) struct ParquetReader {
    columns: SelectedColumns,
    groups: Vec<ColumnGroup>,
}

/// The maximum number of groups of columns that are decoded in parallel. The reader of a group scans the whole schema of the file, so with
/// one reader for each column the time would grow with the square of the number of columns.
const MAX_COLUMN_GROUPS: usize = 64;

/// Reads a group of columns from all row groups of the file, one row group after the other.
struct ColumnGroup {
    source: ByteSource,
    metadata: ArrowReaderMetadata,
    /// The indices of the columns among the top-level columns of the schema.
    indices: Vec<usize>,
    /// The indices of the columns among the leaf columns of the schema.
    leaves: Vec<usize>,
    batch_rows: usize,
    /// The index of the next row group to open.
    row_group: usize,
    reader: Option<ParquetRecordBatchReader>,
}

impl ParquetReader {
    /// Opens a Parquet file and reads its schema. `choose` gets the names of all columns and may change `reading`.
    pub(super) fn open(
        file: &str,
        source: &ByteSource,
        reading: &mut Reading,
        choose: &ChooseColumns<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Self> {
        let metadata = catch_panic(|| read_metadata(source))
            .unwrap_or_else(|| Err(ParquetError::General("the schema is invalid".into())))
            .map_err(|error| damaged_error(file, "Parquet", &error))?;
        let columns = SelectedColumns::new(file, "Parquet", &declared_columns(&metadata), reading, choose, notes)?;
        let batch_rows = columns.batch_rows();
        let leaves = metadata.metadata().file_metadata().schema_descr_ptr();
        // A column that can be read has exactly one leaf column. Nested columns may have several, but are never read, so it does not matter
        // which of their leaf columns is stored in this map.
        let leaf_of: HashMap<usize, usize> =
            (0..leaves.num_columns()).map(|leaf| (leaves.get_column_root_idx(leaf), leaf)).collect();
        let group = |columns: &[SelectedColumn]| {
            let indices: Vec<usize> = columns.iter().map(|SelectedColumn { index, .. }| *index).collect();
            let leaves = indices.iter().filter_map(|index| leaf_of.get(index).copied()).collect();
            let (source, metadata) = (source.clone(), metadata.clone());
            ColumnGroup { source, metadata, indices, leaves, batch_rows, row_group: 0, reader: None }
        };
        let group_size = columns.columns().len().div_ceil(MAX_COLUMN_GROUPS).max(1);
        let groups: Vec<ColumnGroup> = columns.columns().chunks(group_size).map(group).collect();
        if let Some(codec) = groups.iter().find_map(ColumnGroup::unsupported_codec) {
            return Err(unsupported_codec_error(file, codec));
        }
        Ok(ParquetReader { columns, groups })
    }

    /// The names and types of the columns that are read.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.columns.fields()
    }
}

/// Reads the metadata of a file, and changes the schema so that the decoder returns strings dictionary-encoded.
fn read_metadata(source: &ByteSource) -> std::result::Result<ArrowReaderMetadata, ParquetError> {
    pages::check_file_metadata(source)?;
    let metadata = Arc::new(ParquetMetaDataReader::new().parse_and_finish(source)?);
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let plain = ArrowReaderMetadata::try_new(metadata.clone(), options)?;
    // Strings are read as dictionary arrays, so that a string that occurs a million times is processed only once.
    let fields: Fields = plain
        .schema()
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            string @ (DataType::Utf8 | DataType::Binary) => {
                let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(string.clone()));
                Arc::new(field.as_ref().clone().with_data_type(dictionary))
            }
            _ => field.clone(),
        })
        .collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(fields)));
    ArrowReaderMetadata::try_new(metadata, options)
}

/// The columns that the file declares. The declaration of a column is valid if the column is not nested and its values have a possible length.
fn declared_columns(metadata: &ArrowReaderMetadata) -> Vec<DeclaredColumn> {
    /// A decimal number takes at most 32 bytes; a file that declares more is damaged.
    const MAX_NUMBER_BYTES: i32 = 32;
    let leaves = metadata.metadata().file_metadata().schema_descr();
    let mut leaves_of: HashMap<usize, Vec<usize>> = HashMap::new();
    for leaf in 0..leaves.num_columns() {
        leaves_of.entry(leaves.get_column_root_idx(leaf)).or_default().push(leaf);
    }
    let is_valid = |column: usize| {
        let Some([leaf]) = leaves_of.get(&column).map(Vec::as_slice) else { return false };
        let leaf = leaves.column(*leaf);
        leaf.max_rep_level() == 0
            && (leaf.physical_type() != Type::FIXED_LEN_BYTE_ARRAY
                || (1..=MAX_NUMBER_BYTES).contains(&leaf.type_length()))
    };
    let declared = |(column, field): (usize, &Arc<arrow_schema::Field>)| {
        (field.name().clone(), field.data_type().clone(), is_valid(column))
    };
    metadata.schema().fields().iter().enumerate().map(declared).collect()
}

impl ColumnGroup {
    /// Decodes the next rows. Returns a list of one array for each column of the group. At the end of the file, the list contains `None` for each
    /// column. If the rows cannot be decoded, the list contains only the error.
    fn next(&mut self) -> Vec<std::result::Result<Option<ArrayRef>, String>> {
        match self.next_batch() {
            Ok(Some(arrays)) => arrays.into_iter().map(|array| Ok(Some(array))).collect(),
            Ok(None) => self.indices.iter().map(|_| Ok(None)).collect(),
            Err(error) => vec![Err(error)],
        }
    }

    /// Decodes the next rows of all columns of the group; `None` at the end of the file.
    fn next_batch(&mut self) -> std::result::Result<Option<Vec<ArrayRef>>, String> {
        loop {
            if self.reader.is_none() {
                if self.row_group == self.metadata.metadata().num_row_groups() {
                    return Ok(None);
                }
                let reader = catch_panic(|| self.open_row_group()).ok_or("a row group is invalid")?;
                self.reader = Some(reader.map_err(|error| error.to_string())?);
                self.row_group += 1;
            }
            let Some(reader) = &mut self.reader else { continue };
            match catch_panic(|| reader.next()).ok_or("a page is invalid")? {
                None => self.reader = None,
                Some(Err(error)) => return Err(error.to_string()),
                Some(Ok(batch)) => {
                    if batch.num_columns() != self.indices.len() {
                        return Err("a column is missing".into());
                    }
                    if batch.num_rows() > 0 {
                        return Ok(Some(batch.columns().to_vec()));
                    }
                }
            }
        }
    }

    /// The name of the first unsupported codec that compresses one of the columns; `None` if all codecs are supported.
    fn unsupported_codec(&self) -> Option<&'static str> {
        let groups = self.metadata.metadata().row_groups().iter();
        let chunks = groups.flat_map(|group| self.leaves.iter().filter_map(|leaf| group.columns().get(*leaf)));
        chunks.map(ColumnChunkMetaData::compression).find_map(|codec| match codec {
            Compression::BROTLI(_) => Some("Brotli"),
            Compression::LZO => Some("LZO"),
            _ => None,
        })
    }

    /// Opens the next row group after checking the pages of its columns.
    fn open_row_group(&self) -> std::result::Result<ParquetRecordBatchReader, ParquetError> {
        let group = self.metadata.metadata().row_group(self.row_group);
        let rows = usize::try_from(group.num_rows())
            .map_err(|_| ParquetError::General("a row group has a negative number of rows".into()))?;
        for leaf in &self.leaves {
            let chunk = group.columns().get(*leaf);
            let chunk = chunk.ok_or(ParquetError::General("a row group has too few columns".into()))?;
            pages::check_pages(&self.source, chunk, rows)?;
        }
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), self.indices.iter().copied());
        ParquetRecordBatchReaderBuilder::new_with_metadata(self.source.clone(), self.metadata.clone())
            .with_projection(mask)
            .with_row_groups(vec![self.row_group])
            .with_batch_size(self.batch_rows)
            .build()
    }
}

impl Iterator for ParquetReader {
    type Item = Result<Table>;

    fn next(&mut self) -> Option<Result<Table>> {
        let arrays: Vec<Vec<_>> = self.groups.par_iter_mut().map(ColumnGroup::next).collect();
        self.columns.make_chunk(arrays.into_iter().flatten().collect())
    }
}
