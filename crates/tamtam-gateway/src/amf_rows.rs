//! In which form AMF's clients get tables.

/// In which form AMF's clients get tables.
///
/// A client chooses by the URL, too: `/amf?rows=recordset`, `/amf?rows=objects`.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{AmfRows, Gateway};
///
/// let gateway = Gateway::new().amf_rows(AmfRows::Objects);
/// # drop(gateway);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AmfRows {
    /// In version 0 a RecordSet, as Flash Remoting has it; in version 3 an array of objects.
    #[default]
    Usual,
    /// A RecordSet in both.
    RecordSet,
    /// An array of objects in both.
    Objects,
}

impl AmfRows {
    /// What the query of a URL asks for.
    pub(crate) fn of_query(self, query: &str) -> AmfRows {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        match pairs.find(|(name, _)| name == "rows") {
            Some((_, value)) if value == "recordset" => AmfRows::RecordSet,
            Some((_, value)) if value == "objects" => AmfRows::Objects,
            _ => self,
        }
    }
}
