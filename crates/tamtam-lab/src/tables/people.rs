//! A table of people, as an address book has them.

use std::sync::LazyLock;

use tamtam_rows::{Column, Kind, Rows, ShapeError, Strings, Values};

use super::layout::Layout;
use super::random::{Random, Weights};
use super::words::{self, Words, listed};

static FIRST: Words = LazyLock::new(|| {
    listed(
        "Maria|Anna|Peter|Thomas|Michael|Sofia|Julia|Andreas|Stefan|Laura|Emma|Lukas|Jürgen|Ayşe|Chloé|José|Nina|\
     Omar|Paul|Elena|Marek|Ingrid|Søren|Zoë|Björn|Fatima|Li|Hana|Giulia|Matteo|Olga|Ivan|Katarzyna|Tomasz|Aisha|\
     David|Sarah|Rachel|Noah|Mia|Jan|Pieter|Lena|Felix|Clara|Hugo|Alice|Oscar|Ines|Bruno",
    )
});
static LAST: Words = LazyLock::new(|| {
    listed(
        "Müller|Schmidt|Schneider|Fischer|Weber|Meyer|Wagner|Becker|Schulz|Hoffmann|Smith|Jones|Taylor|Brown|Martin|\
     Bernard|Dubois|Petit|Rossi|Russo|Ferrari|García|Fernández|López|Nowak|Kowalski|Wiśniewski|Jensen|Nielsen|\
     Hansen|Johansson|Andersson|Novák|Svoboda|Horváth|Nagy|Yılmaz|Kaya|Silva|Santos|de Vries|van den Berg|Bakker|\
     Okafor|Nguyen|Kim|Chen|Singh|Haddad|O'Brien|Murphy|Kelly|Schwarz|Zimmermann|Braun|Krüger|Hofmann|Hartmann|\
     Lange|Werner",
    )
});
static CITIES: Words = LazyLock::new(|| {
    listed(
        "Berlin 10|Hamburg 20|München 80|Köln 50|Frankfurt am Main 60|Stuttgart 70|Düsseldorf 40|Leipzig 04|\
     Dortmund 44|Essen 45|Bremen 28|Dresden 01|Hannover 30|Nürnberg 90|Duisburg 47|Bochum 44|Wuppertal 42|\
     Bielefeld 33|Bonn 53|Münster 48|Karlsruhe 76|Mannheim 68|Augsburg 86|Wiesbaden 65|Kiel 24|Aachen 52|\
     Halle (Saale) 06|Magdeburg 39|Freiburg im Breisgau 79|Lübeck 23",
    )
});
static STREETS: Words = LazyLock::new(|| {
    listed(
        "Hauptstraße|Bahnhofstraße|Gartenweg|Dorfstraße|Schulstraße|Lindenallee|Am Markt|Kirchgasse|Bergstraße|\
     Waldweg|Ringstraße|Goethestraße|Schillerplatz|Mozartweg|Rosenstraße|Feldweg|Mühlenweg|Industriestraße|\
     Parkallee|Uferpromenade",
    )
});
static PROVIDERS: Words = LazyLock::new(|| {
    listed("gmail.com|gmx.de|web.de|outlook.com|t-online.de|icloud.com|yahoo.com")
});

/// People as an address book or a customer file has them.
pub(super) fn rows(count: usize) -> Result<Rows, ShapeError> {
    let mut random = Random::new(0x7065_6f70_6c65);
    let firsts = Weights::zipf(FIRST.len(), 4.0);
    let lasts = Weights::zipf(LAST.len(), 4.0);
    let cities = Weights::zipf(CITIES.len(), 0.5);
    let providers = Weights::zipf(PROVIDERS.len(), 0.2);
    let frequency = words::frequency();

    let mut ids = Vec::new();
    let (mut first_names, mut last_names, mut streets, mut codes, mut towns) = (
        Strings::new(),
        Strings::new(),
        Strings::new(),
        Strings::new(),
        Strings::new(),
    );
    let (mut mails, mut phones, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let mut born: Vec<Option<i32>> = Vec::new();
    let mut id = 50_000_u64;
    for _ in 0..count {
        id += random.between(1, 5) as u64;
        let first = FIRST[firsts.pick(&mut random)];
        let last = LAST[lasts.pick(&mut random)];
        ids.push(id);
        first_names.push(first)?;
        last_names.push(last)?;
        let domain = if random.chance(0.85) {
            PROVIDERS[providers.pick(&mut random)].to_owned()
        } else {
            format!("{}-{}.example", ascii(last), random.one_of(&words::NOUNS))
        };
        mails.push(random.chance(0.92).then(|| match random.below(4) {
            0 => format!("{}.{}@{domain}", ascii(first), ascii(last)),
            1 => format!("{}{}@{domain}", ascii(first), random.between(1, 2_009)),
            2 => format!(
                "{}.{}{}@{domain}",
                ascii(first),
                ascii(last),
                random.between(1, 99)
            ),
            _ => format!("{}{}@{domain}", &ascii(first)[..1], ascii(last)),
        }));
        phones.push(random.chance(0.6).then(|| {
            format!(
                "+49 {} {}",
                random.one_of(&[151, 160, 170, 171, 175, 176]),
                random.between(1_000_000, 99_999_999)
            )
        }));
        // Its name, and how its post codes begin.
        let city = CITIES[cities.pick(&mut random)];
        let (town, region) = city.rsplit_once(' ').unwrap_or((city, ""));
        let addition = if random.chance(0.08) { "a" } else { "" };
        streets.push(&format!(
            "{} {}{addition}",
            random.one_of(&STREETS),
            1 + (random.exponential() * 28.0) as u32
        ))?;
        codes.push(&format!("{region}{:03}", random.below(1_000)))?;
        towns.push(town)?;
        born.push(
            random
                .chance(0.7)
                .then(|| (random.normal() * 6_200.0) as i32 + 3_000),
        );
        notes.push(random.chance(0.35).then(|| {
            let length = 4 + (random.exponential() * 16.0) as usize;
            words::prose(&mut random, &frequency, length)
        }));
    }
    let nulls = born.iter().map(Option::is_none).collect();
    let days = born.into_iter().map(Option::unwrap_or_default).collect();
    let text = |texts: &[Option<String>]| texts.iter().map(Option::as_deref).collect::<Column>();
    Layout::default()
        .with("id", Kind::U64, ids)
        .with("first_name", Kind::Text, first_names)
        .with("last_name", Kind::Text, last_names)
        .with_nulls("email", Kind::Text, text(&mails))
        .with_nulls("phone", Kind::Text, text(&phones))
        .with("street", Kind::Text, streets)
        .with("post_code", Kind::Text, codes)
        .with("city", Kind::Text, towns)
        .with_nulls(
            "born",
            Kind::Date,
            Column::with_nulls(Values::I32(days), nulls)?,
        )
        .with_nulls("note", Kind::Text, text(&notes))
        .rows()
}

/// A name as it stands in an e-mail address.
fn ascii(name: &str) -> String {
    let mut written = String::new();
    for letter in name.to_lowercase().chars() {
        match letter {
            'ä' => written.push_str("ae"),
            'ö' | 'ø' => written.push_str("oe"),
            'ü' => written.push_str("ue"),
            'á' | 'à' => written.push('a'),
            'é' | 'ë' => written.push('e'),
            'í' | 'ı' => written.push('i'),
            'ó' => written.push('o'),
            'ś' | 'ş' => written.push('s'),
            letter if letter.is_ascii_alphanumeric() => written.push(letter),
            _ => {}
        }
    }
    written
}
