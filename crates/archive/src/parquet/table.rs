//! A table of one run as a Parquet file: columns by name, written by the crate's low-level writer,
//! which needs no Arrow.

use std::sync::Arc;

use anyhow::{Context, Result};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

/// The version of the tables, in every file's footer under `unixmark.format`.
pub const FORMAT: &str = "unixmark-parquet/1";

/// The rows of a group: readers skip groups and work on several at once.
const MAX_GROUP_ROWS: usize = 1 << 20;

/// The rows of one run in one table, column by column.
#[derive(Debug)]
pub struct Table {
    /// The number of its rows.
    pub rows: usize,
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    name: &'static str,
    values: Values,
}

/// The values of a column; a row without a value is null.
#[derive(Debug)]
enum Values {
    /// The same text in every row.
    SameText(Option<ByteArray>),
    /// The same moment in every row, in microseconds since 1970.
    SameMoment(Option<i64>),
    Text(Vec<Option<ByteArray>>),
    Whole(Vec<Option<i32>>),
    Real(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
}

impl Table {
    /// A table of this many rows and no columns yet.
    pub(super) fn new(rows: usize) -> Table {
        Table { rows, columns: Vec::new() }
    }

    /// The columns' names and types, in order.
    pub fn columns(&self) -> Vec<(&'static str, &'static str)> {
        self.columns.iter().map(|column| (column.name, column.values.name())).collect()
    }

    fn put(mut self, name: &'static str, values: Values) -> Table {
        self.columns.push(Column { name, values });
        self
    }

    /// Adds a column with the same text in every row.
    pub(super) fn same<'a>(self, name: &'static str, text: impl Into<Option<&'a str>>) -> Table {
        self.put(name, Values::SameText(text.into().map(ByteArray::from)))
    }

    /// Adds a column with the same moment in every row, in microseconds since 1970.
    pub(super) fn when(self, name: &'static str, moment: Option<i64>) -> Table {
        self.put(name, Values::SameMoment(moment))
    }

    /// Adds a column of text.
    pub(super) fn text<'a, T: Into<Option<&'a str>>>(
        self,
        name: &'static str,
        texts: impl Iterator<Item = T>,
    ) -> Table {
        self.put(name, Values::Text(texts.map(|text| text.into().map(ByteArray::from)).collect()))
    }

    /// Adds a column of whole numbers.
    pub(super) fn whole<T: Into<Option<i32>>>(
        self,
        name: &'static str,
        numbers: impl Iterator<Item = T>,
    ) -> Table {
        self.put(name, Values::Whole(numbers.map(Into::into).collect()))
    }

    /// Adds a column of numbers.
    pub(super) fn real<T: Into<Option<f64>>>(
        self,
        name: &'static str,
        numbers: impl Iterator<Item = T>,
    ) -> Table {
        self.put(name, Values::Real(numbers.map(Into::into).collect()))
    }

    /// Adds a column of truth values.
    pub(super) fn flag<T: Into<Option<bool>>>(
        self,
        name: &'static str,
        flags: impl Iterator<Item = T>,
    ) -> Table {
        self.put(name, Values::Flag(flags.map(Into::into).collect()))
    }

    /// The table as the bytes of a Parquet file: the same table gives the same bytes.
    ///
    /// # Errors
    /// A column has fewer or more values than the table has rows.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut writer =
            SerializedFileWriter::new(Vec::new(), self.schema()?, Arc::new(properties()))?;
        for from in (0..self.rows).step_by(MAX_GROUP_ROWS) {
            let rows = from..self.rows.min(from + MAX_GROUP_ROWS);
            let mut group = writer.next_row_group()?;
            for Column { name, values } in &self.columns {
                let mut column =
                    group.next_column()?.context("a column is missing in its own schema")?;
                values
                    .write(&mut column, rows.clone())
                    .with_context(|| format!("the column '{name}' is odd"))?;
                column.close()?;
            }

            group.close()?;
        }

        Ok(writer.into_inner()?)
    }

    fn schema(&self) -> Result<TypePtr> {
        let fields = self
            .columns
            .iter()
            .map(|column| Ok(Arc::new(column.schema()?)))
            .collect::<Result<_>>()?;
        Ok(Arc::new(Type::group_type_builder("unixmark").with_fields(fields).build()?))
    }
}

impl Column {
    fn schema(&self) -> Result<Type> {
        let (physical, logical) = match self.values {
            Values::SameText(_) | Values::Text(_) => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String))
            }
            // In UTC, without a zone, so that readers everywhere show the same.
            Values::SameMoment(_) => {
                (Physical::INT64, Some(LogicalType::timestamp(false, TimeUnit::MICROS)))
            }
            Values::Whole(_) => (Physical::INT32, None),
            Values::Real(_) => (Physical::DOUBLE, None),
            Values::Flag(_) => (Physical::BOOLEAN, None),
        };
        // Every column may have nulls: no reader makes use of one that may not.
        let builder =
            Type::primitive_type_builder(self.name, physical).with_repetition(Repetition::OPTIONAL);
        Ok(builder.with_logical_type(logical).build()?)
    }
}

impl Values {
    fn name(&self) -> &'static str {
        match self {
            Values::SameText(_) | Values::Text(_) => "string",
            Values::SameMoment(_) => "timestamp",
            Values::Whole(_) => "int32",
            Values::Real(_) => "double",
            Values::Flag(_) => "boolean",
        }
    }

    fn write(
        &self,
        column: &mut SerializedColumnWriter,
        rows: std::ops::Range<usize>,
    ) -> Result<()> {
        let count = rows.len();
        let why = "its number of values is not that of the table's rows";
        match self {
            Values::SameText(value) => repeat::<ByteArrayType>(column, value.as_ref(), count),
            Values::SameMoment(value) => repeat::<Int64Type>(column, value.as_ref(), count),
            Values::Text(values) => write::<ByteArrayType>(column, values.get(rows).context(why)?),
            Values::Whole(values) => write::<Int32Type>(column, values.get(rows).context(why)?),
            Values::Real(values) => write::<DoubleType>(column, values.get(rows).context(why)?),
            Values::Flag(values) => write::<BoolType>(column, values.get(rows).context(why)?),
        }
    }
}

/// Writes one value in every row.
fn repeat<T: DataType>(
    column: &mut SerializedColumnWriter,
    value: Option<&T::T>,
    rows: usize,
) -> Result<()> {
    let values: Vec<T::T> = value.map_or_else(Vec::new, |value| vec![value.clone(); rows]);
    let levels = vec![i16::from(value.is_some()); rows];
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}

/// Writes the values that are there, and the rows that have none as nulls.
fn write<T: DataType>(column: &mut SerializedColumnWriter, values: &[Option<T::T>]) -> Result<()> {
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.iter().flatten().cloned().collect();
    column.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}

fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(vec![KeyValue::new(
            "unixmark.format".to_owned(),
            FORMAT.to_owned(),
        )]))
        .set_created_by(concat!("unixmark ", env!("CARGO_PKG_VERSION")).to_owned())
        // A run has few pages, so the minimum and maximum of a column are stated once a row group.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .build()
}
