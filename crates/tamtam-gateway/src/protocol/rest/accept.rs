//! What a client accepts.

use tamtam_rows::CompressionKind;

use super::Form;

/// The forms that a header `Accept` names, what is liked best first; none if there is no form that it takes.
pub(crate) fn accepted(header: Option<&str>) -> Vec<Form> {
    let Some(header) = header.filter(|header| !header.trim().is_empty()) else {
        return Form::ALL.to_vec();
    };
    let ranges: Vec<(String, f32)> = entries(header).collect();
    let mut liked: Vec<(Form, f32)> = Form::ALL
        .into_iter()
        .filter_map(|form| {
            let types = form.media_types().iter();
            let quality = types
                .map(|name| quality_of(name, &ranges))
                .fold(0.0, f32::max);
            (quality > 0.0).then_some((form, quality))
        })
        .collect();
    // A stable sort: what is liked alike stays in our order.
    liked.sort_by(|one, other| other.1.total_cmp(&one.1));
    liked.into_iter().map(|(form, _)| form).collect()
}

/// Whether a client with this header `Accept` takes an answer of this type.
pub(crate) fn takes(header: Option<&str>, content_type: &str) -> bool {
    let Some(header) = header.filter(|header| !header.trim().is_empty()) else {
        return true;
    };
    let name = content_type.split(';').next().unwrap_or_default().trim();
    let ranges: Vec<(String, f32)> = entries(header).collect();
    quality_of(&name.to_ascii_lowercase(), &ranges) > 0.0
}

/// How a type is liked: the most specific range counts.
fn quality_of(name: &str, ranges: &[(String, f32)]) -> f32 {
    let (kind, _) = name.split_once('/').unwrap_or((name, ""));
    let specific = |range: &str| {
        if range == name {
            3
        } else if range.strip_suffix("/*") == Some(kind) {
            2
        } else {
            u8::from(range == "*/*")
        }
    };
    ranges
        .iter()
        .map(|(range, quality)| (specific(range), *quality))
        .filter(|(specific, _)| *specific > 0)
        .max_by_key(|(specific, _)| *specific)
        .map_or(0.0, |(_, quality)| quality)
}

/// By what to compress for a client with this header `Accept-Encoding`; what is liked alike by what is quickest.
pub(crate) fn compression(header: Option<&str>) -> CompressionKind {
    let Some(header) = header else {
        return CompressionKind::None;
    };
    let named: Vec<(String, f32)> = entries(header).collect();
    let quality = |name: &str| {
        let find = |wanted: &str| named.iter().find(|(known, _)| known == wanted);
        let exact = find(name).or_else(|| if name == "gzip" { find("x-gzip") } else { None });
        exact
            .or_else(|| find("*"))
            .map_or(0.0, |(_, quality)| *quality)
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

/// The names in a list, in lower case, with their qualities.
fn entries(header: &str) -> impl Iterator<Item = (String, f32)> + '_ {
    header.split(',').filter_map(|entry| {
        let mut parameters = entry.split(';');
        let name = parameters.next()?.trim().to_ascii_lowercase();
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
        assert_eq!(accepted(Some("text/csv")), [Form::Csv]);
        let listed = "application/json;q=0.5, application/vnd.tamtam.rows, application/vnd.apache.arrow.stream;q=0.9";
        assert_eq!(
            accepted(Some(listed)),
            [Form::Packed, Form::Arrow, Form::Json]
        );
        assert_eq!(
            accepted(Some("application/*;q=0.1, application/json;q=0, text/*"))[..2],
            [Form::Csv, Form::Packed]
        );
        assert!(!accepted(Some("*/*, application/json;q=0")).contains(&Form::Json));
        assert_eq!(accepted(Some("image/png")), []);
        assert_eq!(accepted(Some("application/x-msgpack")), [Form::MessagePack]);
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
