//! How large an answer is in each form, and what it takes to write it.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tamtam_amf::packet::Version;
use tamtam_rows::{Compression, CompressionKind, Rows};

use crate::exchange::{Source, thread_cpu};
use crate::protocol::rest::{Form, PartWriter};
use crate::protocol::{amf, xml_rpc};
use crate::table_form::TableForm;
use crate::value::View;
use crate::{AmfClasses, AmfRows, Fault, Limits, Value, json};

/// An answer in one form.
#[derive(Clone, Debug)]
pub(crate) struct Weighed {
    /// `json`, `packed`, ..: see [`FORMS`].
    pub(crate) form: &'static str,
    pub(crate) bytes: usize,
    /// CPU time to write it.
    pub(crate) encode: Duration,
    pub(crate) compressed_bytes: usize,
    /// CPU time to compress it.
    pub(crate) compress: Duration,
}

/// All forms, in the order in which they are shown.
pub(crate) const FORMS: [&str; 12] = [
    "json",
    "packed",
    "arrow",
    "parquet",
    "jsonl",
    "msgpack",
    "csv",
    "json-rpc",
    "xml-rpc",
    "amf0",
    "amf0-objects",
    "amf3",
];

/// An answer as a value, and as a table if it is one, or could be given as one.
#[derive(Debug)]
pub(crate) struct Scale {
    value: Value,
    rows: Option<Rows>,
    /// The parts in which a table goes; none if it goes as a whole.
    parts: Vec<Rows>,
}

impl Weighed {
    /// What an answer has that is so many times as large.
    pub(crate) fn times(self, factor: f64) -> Weighed {
        let bytes = |bytes: usize| (bytes as f64 * factor).round() as usize;
        Weighed {
            form: self.form,
            bytes: bytes(self.bytes),
            encode: self.encode.mul_f64(factor),
            compressed_bytes: bytes(self.compressed_bytes),
            compress: self.compress.mul_f64(factor),
        }
    }
}

impl Scale {
    /// Of an answer; nothing if it cannot be read back.
    pub(crate) fn of(source: Source) -> Option<Scale> {
        let value = match source {
            Source::Rows(rows) => Value::from(rows),
            Source::Value(value) => value,
            Source::Json(body) => in_json(&body)?,
            Source::Unwritten | Source::Stream(_) => return None,
        };
        let rows = match &value {
            Value::Rows(rows) => Some(Rows::clone(rows)),
            Value::List(values) => as_rows(values),
            _ => None,
        };
        Some(Scale {
            value,
            rows,
            parts: Vec::new(),
        })
    }

    /// Of a table that goes in these parts; nothing if they are none of one table.
    pub(crate) fn of_parts(parts: Vec<Rows>) -> Option<Scale> {
        let mut rows = Rows::empty(parts.first()?.schema().clone());
        for part in &parts {
            rows.append(part).ok()?;
        }
        let scale = Scale::of(Source::Rows(rows))?;
        Some(Scale { parts, ..scale })
    }

    /// How many rows the answer has, if it is a table or could be one.
    pub(crate) fn rows(&self) -> Option<usize> {
        self.rows.as_ref().map(Rows::len)
    }

    /// Whether the method gives a table, and not what could be one.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.value, Value::Rows(_))
    }

    /// The answer in each form that carries it, and in which it has no more bytes than a table may have that is gathered.
    pub(crate) fn weigh(&self, kind: CompressionKind, classes: &AmfClasses) -> Vec<Weighed> {
        let compression = Compression {
            threshold_bytes: 0,
            ..Compression::new(kind)
        };
        FORMS
            .into_iter()
            .filter(|form| self.is_small_enough(form))
            .filter_map(|form| {
                let begun = thread_cpu();
                let body = self.encoded(form, classes)?.ok()?;
                let encoded = thread_cpu();
                let bytes = body.len();
                let compressed = compression.compress(body).ok()?;
                Some(Weighed {
                    form,
                    bytes,
                    encode: encoded.saturating_sub(begun),
                    compressed_bytes: compressed.bytes.len(),
                    compress: thread_cpu().saturating_sub(encoded),
                })
            })
            .collect()
    }

    /// Whether a form of a table has not too many bytes, as far as is known before it is written.
    fn is_small_enough(&self, form: &str) -> bool {
        let table_form = match form {
            "json" | "json-rpc" => TableForm::Json,
            "jsonl" => TableForm::JsonLines,
            "csv" => TableForm::Csv,
            "msgpack" => TableForm::MessagePack,
            "xml-rpc" => TableForm::XmlRpc,
            "amf0" => TableForm::RecordSet,
            "amf0-objects" => TableForm::Objects0,
            "amf3" => TableForm::Objects3,
            _ => TableForm::Columns,
        };
        let least = |rows: &Rows| table_form.least_bytes(rows);
        self.rows
            .as_ref()
            .is_none_or(|rows| least(rows) <= table_form.most_bytes())
    }

    fn goes_in_parts(&self, form: Form) -> bool {
        !self.parts.is_empty() && form.takes_parts()
    }

    /// The bytes in a form whose parts are sent one by one.
    fn in_parts(&self, form: Form) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        let mut writer = None;
        for part in &self.parts {
            let writer = match &mut writer {
                Some(writer) => writer,
                none => none.insert(PartWriter::new(form, part.schema())?),
            };
            bytes.extend(writer.write(part)?);
        }
        if let Some(writer) = writer {
            bytes.extend(writer.finish()?);
        }
        Ok(bytes)
    }

    /// The bytes in a form; nothing if that is for tables alone, and this is none.
    fn encoded(&self, form: &str, classes: &AmfClasses) -> Option<Result<Vec<u8>, Fault>> {
        let of_table = |form: Form| match &self.rows {
            Some(_) if self.goes_in_parts(form) => Some(self.in_parts(form)),
            rows => rows.as_ref().map(|rows| form.encode(rows)),
        };
        let of_any = |form: Form| match &self.value {
            Value::Rows(_) if self.goes_in_parts(form) => self.in_parts(form),
            Value::Rows(rows) => form.encode(rows),
            value => form.encode_value(value),
        };
        let amf = |version, rows| Some(amf::weighed::answer(&self.value, version, rows, classes));
        match form {
            "json" => Some(of_any(Form::Json)),
            "msgpack" => Some(of_any(Form::MessagePack)),
            "packed" => of_table(Form::Packed),
            "arrow" => of_table(Form::Arrow),
            "parquet" => of_table(Form::Parquet),
            "jsonl" => of_table(Form::JsonLines),
            "csv" => of_table(Form::Csv),
            "json-rpc" => Some(of_any(Form::Json).map(|body| {
                let around: [&[u8]; 2] = [br#"{"jsonrpc":"2.0","result":"#, br#","id":1}"#];
                [around[0], &body, around[1]].concat()
            })),
            "xml-rpc" => Some(match &self.value {
                Value::Rows(rows) => xml_rpc::gathered(rows),
                value => xml_rpc::response(value),
            }),
            "amf0" => amf(Version::Amf0, AmfRows::Usual),
            "amf0-objects" if self.is_table() => amf(Version::Amf0, AmfRows::Objects),
            "amf3" => amf(Version::Amf3, AmfRows::Usual),
            _ => None,
        }
    }
}

/// The forms as JSON: bytes, and microseconds of CPU.
pub(crate) fn to_json(forms: &[Weighed], kind: CompressionKind) -> Json {
    let forms = forms.iter().map(|weighed| {
        json!({
            "form": weighed.form,
            "bytes": weighed.bytes,
            "encode_us": micros(weighed.encode),
            "compressed_bytes": weighed.compressed_bytes,
            "compress_us": micros(weighed.compress),
        })
    });
    json!({ "compression": kind.content_encoding(), "forms": forms.collect::<Vec<_>>() })
}

/// Microseconds, to a tenth.
pub(crate) fn micros(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e7).round() / 10.0
}

/// The answer in a body of JSON: of JSON-RPC the result.
fn in_json(body: &[u8]) -> Option<Value> {
    let limits = Limits {
        values: usize::MAX,
        ..Limits::USUAL
    };
    match json::read(body, &limits).ok()? {
        Value::Map(members) if members.iter().any(|(name, _)| name == "jsonrpc") => {
            let result = members.into_iter().find(|(name, _)| name == "result");
            result.map(|(_, value)| value)
        }
        value => Some(value),
    }
}

/// The table that a list of objects with the same names could be.
fn as_rows(values: &[Value]) -> Option<Rows> {
    let is_object = |value: &Value| matches!(value, Value::Map(_) | Value::Object(_));
    if values.is_empty() || !values.iter().all(is_object) {
        return None;
    }
    let rows = Rows::from_serialize(values.iter().map(View)).ok()?;
    (!rows.schema().is_empty()).then_some(rows)
}
