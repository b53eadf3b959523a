//! What a client accepts.

use std::ops::Deref;

use tamtam_rows::CompressionKind;

use super::Form;

/// The forms that a client takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    forms: [Form; Form::ALL.len()],
    count: usize,
}

/// What is liked best comes first.
impl Deref for Accepted {
    type Target = [Form];

    fn deref(&self) -> &[Form] {
        &self.forms[..self.count]
    }
}

/// The forms that a header `Accept` names; none if there is no form that it takes.
pub(crate) fn accepted(header: Option<&str>) -> Accepted {
    let all = Accepted {
        forms: Form::ALL,
        count: Form::ALL.len(),
    };
    let header = header.map_or("", str::trim);
    if header.is_empty() || header == "*/*" {
        return all;
    }
    // Mostly it is one type, of which no list has to be made.
    if let Some(form) = Form::named(header) {
        return Accepted {
            forms: [form; Form::ALL.len()],
            count: 1,
        };
    }
    let entries: Vec<_> = entries(header).collect();
    let mut liked = Form::ALL.map(|form| {
        let types = form.media_types().iter();
        let quality = types
            .map(|name| quality_of(name, &entries))
            .fold(0.0, f32::max);
        (form, quality)
    });
    // A stable sort: what is liked alike stays in our order.
    liked.sort_by(|one, other| other.1.total_cmp(&one.1));
    let count = liked.partition_point(|(_, quality)| *quality > 0.0);
    Accepted {
        forms: liked.map(|(form, _)| form),
        count,
    }
}

/// Whether a client with this header `Accept` takes an answer of this type.
pub(crate) fn takes(header: Option<&str>, content_type: &str) -> bool {
    let Some(header) = header.filter(|header| !header.trim().is_empty()) else {
        return true;
    };
    let name = content_type.split(';').next().unwrap_or_default().trim();
    let entries: Vec<_> = entries(header).collect();
    quality_of(name, &entries) > 0.0
}

/// How a type is liked: the most specific range counts.
fn quality_of(name: &str, entries: &[(&str, f32)]) -> f32 {
    let (kind, _) = name.split_once('/').unwrap_or((name, ""));
    let specific = |range: &str| {
        if range.eq_ignore_ascii_case(name) {
            3
        } else if range
            .strip_suffix("/*")
            .is_some_and(|of| of.eq_ignore_ascii_case(kind))
        {
            2
        } else {
            u8::from(range == "*/*")
        }
    };
    entries
        .iter()
        .map(|&(range, quality)| (specific(range), quality))
        .filter(|(specific, _)| *specific > 0)
        .max_by_key(|(specific, _)| *specific)
        .map_or(0.0, |(_, quality)| quality)
}

/// By what to compress for a client with this header `Accept-Encoding`; what is liked alike by what is quickest.
pub(crate) fn compression(header: Option<&str>) -> CompressionKind {
    let Some(header) = header else {
        return CompressionKind::None;
    };
    let find = |wanted: &str| entries(header).find(|(known, _)| known.eq_ignore_ascii_case(wanted));
    let quality = |name: &str| {
        let exact = find(name).or_else(|| if name == "gzip" { find("x-gzip") } else { None });
        exact
            .or_else(|| find("*"))
            .map_or(0.0, |(_, quality)| quality)
    };
    let mut best = (CompressionKind::None, 0.0);
    for kind in [
        CompressionKind::Zstd,
        CompressionKind::Gzip,
        CompressionKind::Brotli,
    ] {
        let quality = quality(kind.content_encoding());
        if quality > best.1 {
            best = (kind, quality);
        }
    }
    best.0
}

/// The names in a list, with their qualities.
fn entries(header: &str) -> impl Iterator<Item = (&str, f32)> {
    header.split(',').filter_map(|entry| {
        let mut parameters = entry.split(';');
        let name = parameters.next()?.trim();
        let mut quality = 1.0;
        for parameter in parameters {
            if let Some((key, value)) = parameter.split_once('=')
                && key.trim().eq_ignore_ascii_case("q")
            {
                quality = value.trim().parse().unwrap_or(0.0);
            }
        }
        (!name.is_empty()).then_some((name, quality))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_what_it_likes_best() {
        assert_eq!(accepted(None)[0], Form::Json);
        assert_eq!(accepted(Some("*/*"))[0], Form::Json);
        assert_eq!(*accepted(Some("text/csv")), [Form::Csv]);
        assert_eq!(*accepted(Some("Text/CSV")), [Form::Csv]);
        assert_eq!(*accepted(Some(" text/csv ")), [Form::Csv]);
        assert_eq!(*accepted(Some("text/csv;q=0")), []);
        assert_eq!(accepted(Some(" */* "))[..], Form::ALL);
        let listed = "application/json;q=0.5, application/vnd.tamtam.rows, application/vnd.apache.arrow.stream;q=0.9";
        assert_eq!(
            *accepted(Some(listed)),
            [Form::Packed, Form::Arrow, Form::Json]
        );
        assert_eq!(
            accepted(Some("application/*;q=0.1, application/json;q=0, text/*"))[..2],
            [Form::Csv, Form::Packed]
        );
        assert!(!accepted(Some("*/*, application/json;q=0")).contains(&Form::Json));
        assert_eq!(*accepted(Some("image/png")), []);
        assert_eq!(
            *accepted(Some("application/x-msgpack")),
            [Form::MessagePack]
        );
    }

    #[test]
    fn the_quickest_of_the_accepted_compressors_is_taken() {
        assert_eq!(compression(None), CompressionKind::None);
        assert_eq!(
            compression(Some("gzip, deflate, br, zstd")),
            CompressionKind::Zstd
        );
        assert_eq!(compression(Some("gzip, deflate")), CompressionKind::Gzip);
        assert_eq!(
            compression(Some("br;q=1, gzip;q=0.5")),
            CompressionKind::Brotli
        );
        assert_eq!(compression(Some("identity, *;q=0")), CompressionKind::None);
        assert_eq!(compression(Some("*")), CompressionKind::Zstd);
        assert_eq!(compression(Some("deflate")), CompressionKind::None);
    }
}
