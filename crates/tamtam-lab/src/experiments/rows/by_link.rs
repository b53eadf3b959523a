use super::{Form, LINKS, Link, cell};
use crate::tables::Table;
use crate::{Conditions, Failure, Measurement, Metric};

/// What makes up a total.
const PARTS: [&str; 3] = ["encode_us", "bytes_per_row", "decode_us"];

/// Measures each form that is chosen for a link, and takes its total there and what makes it up. Everything else is that of
/// the form on the link of the primary figure.
pub(super) fn run<F: Form + PartialEq>(
    choose: fn(Link) -> F,
    table: &Table,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let mut forms: Vec<F> = Vec::new();
    for form in LINKS.map(choose) {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    let conditions = Conditions {
        limit: conditions.limit / forms.len() as u32,
        ..conditions.clone()
    };
    let measured: Vec<Measurement> = forms
        .iter()
        .map(|form| cell::run(form, None, table, &conditions))
        .collect::<Result<_, _>>()?;
    let on = |link: Link| {
        let chosen = choose(link);
        let index = forms.iter().position(|form| *form == chosen);
        &measured[index.expect("each link's form was measured")]
    };
    // The primary figure comes first.
    let primary = LINKS
        .into_iter()
        .find(|link| measured[0].metrics[0].metric == link.metric)
        .unwrap_or(LINKS[0]);
    let mut all = on(primary).clone();
    for metric in &mut all.metrics {
        let link = LINKS.into_iter().find(|link| link.metric == metric.metric);
        if let Some(value) = link.and_then(|link| on(link).value(&metric.metric)) {
            metric.value = value;
        }
    }
    for link in LINKS {
        let of_link = on(link).metrics.iter();
        let parts = of_link.filter(|metric| PARTS.contains(&metric.metric.as_str()));
        let alone =
            parts.map(|part| Metric::new(&link.alone(&part.metric), &part.unit, part.value));
        all.metrics.extend(alone);
    }
    all.operations = measured.iter().map(|one| one.operations).sum();
    all.elapsed = measured.iter().map(|one| one.elapsed).sum();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tamtam_rows::packed::{self, Mode};

    use super::super::PackedIn;
    use super::*;
    use crate::{Variant, tables};

    /// Plain on the fastest link, small on the others.
    fn choose(link: Link) -> PackedIn {
        PackedIn(if link.megabits_per_second >= 1000.0 {
            Mode::Plain
        } else {
            Mode::Small
        })
    }

    #[test]
    fn each_total_is_that_of_the_form_on_its_link() {
        let table = tables::find("random").unwrap();
        let conditions = Conditions {
            variant: Variant::of_table(1000, table),
            limit: Duration::from_millis(20),
        };
        let found = run(choose, table, &conditions).unwrap();
        let rows = table.rows(1000).unwrap();
        let sent = |mode| {
            let mut bytes = Vec::new();
            packed::encode(&rows, mode, &mut bytes).unwrap();
            bytes.len() as f64
        };
        // Nothing is ready before its bytes have come, and what is small takes less of a slow link than all of the
        // plain bytes would.
        let [small, plain] = [sent(Mode::Small), sent(Mode::Plain)];
        let total = |link: Link| found.value(link.metric).unwrap();
        assert!(total(LINKS[0]) > LINKS[0].microseconds(small));
        assert!(total(LINKS[3]) > LINKS[3].microseconds(plain));
        assert_eq!(found.value("bytes_per_row"), Some(small / 1000.0));
        assert_eq!(found.metrics[0].metric, LINKS[1].metric);
        for link in LINKS {
            let part = |metric| found.value(&link.alone(metric)).unwrap();
            let bytes = part("bytes_per_row") * 1000.0;
            assert_eq!(bytes, if link == LINKS[3] { plain } else { small });
            let sum = part("encode_us") + link.microseconds(bytes) + part("decode_us");
            assert!((sum - total(link)).abs() < 1e-6 * sum);
        }
    }
}
