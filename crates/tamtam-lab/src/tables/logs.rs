//! A table of log lines.

use tamtam_rows::{Kind, Rows, ShapeError, Strings, Unit, Zone};

use super::layout::Layout;
use super::random::{Random, Weights};
use super::words;

/// 2026-03-02 06:00:00 UTC in milliseconds.
const BEGIN: i64 = 1_772_431_200_000;

const SERVICES: [&str; 20] = [
    "gateway",
    "catalog",
    "session",
    "search",
    "cart",
    "checkout",
    "payment",
    "inventory",
    "pricing",
    "recommend",
    "profile",
    "mail",
    "image-proxy",
    "shipping",
    "auth",
    "audit",
    "reports",
    "billing",
    "notify",
    "feature-flags",
];

/// Status codes and how often each is answered, of 1,000.
const STATUSES: [(u16, f64); 14] = [
    (200, 781.0),
    (304, 82.0),
    (201, 31.0),
    (204, 24.0),
    (301, 18.0),
    (404, 27.0),
    (400, 11.0),
    (401, 9.0),
    (403, 4.0),
    (429, 5.0),
    (499, 2.5),
    (500, 3.0),
    (502, 1.0),
    (503, 1.5),
];

/// Lines of the logs of a shop's servers, in the order in which they came.
pub(super) fn rows(count: usize) -> Result<Rows, ShapeError> {
    let mut random = Random::new(0x6c6f_6773);
    let services = Weights::zipf(SERVICES.len(), 0.3);
    let statuses = Weights::new(STATUSES.iter().map(|status| status.1));
    let frequency = words::frequency();
    let paths = path_templates(&mut random);
    let path_weights = Weights::zipf(paths.len(), 2.0);
    let agents = user_agents(&mut random);
    let agent_weights = Weights::zipf(agents.len(), 0.5);
    let bases: Vec<f64> = (0..SERVICES.len())
        .map(|_| random.log_normal(9_000.0, 1.0))
        .collect();

    let mut times = Vec::with_capacity(count);
    let (mut levels, mut service_names, mut methods, mut all_paths, mut all_agents, mut messages) = (
        Strings::new(),
        Strings::new(),
        Strings::new(),
        Strings::new(),
        Strings::new(),
        Strings::new(),
    );
    let (mut codes, mut latencies, mut sizes, mut users, mut requests) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut now = BEGIN as f64;
    let mut burst_left = 0_u64;
    for _ in 0..count {
        // Mostly calm; now and then hundreds of lines within a second.
        if burst_left == 0 && random.chance(0.002) {
            burst_left = 50 + (random.exponential() * 250.0) as u64;
        }
        now += random.exponential() * if burst_left > 0 { 1.2 } else { 38.0 };
        burst_left = burst_left.saturating_sub(1);
        times.push(now as i64);

        let service = services.pick(&mut random);
        let code = STATUSES[statuses.pick(&mut random)].0;
        let level = match code {
            500.. => "ERROR",
            429 | 499 => "WARN",
            _ if random.chance(0.09) => "DEBUG",
            _ if random.chance(0.03) => "WARN",
            _ => "INFO",
        };
        levels.push(level)?;
        service_names.push(SERVICES[service])?;
        codes.push(code);
        let mut latency = random.log_normal(bases[service], 0.8);
        if code == 503 && random.chance(0.6) {
            // The time limit of the gateway.
            latency = 30_000_000.0 + random.exponential() * 900.0;
        }
        latencies.push(latency as u32);
        let template = &paths[path_weights.pick(&mut random)];
        methods.push(template.method)?;
        all_paths.push(&template.fill(&mut random))?;
        all_agents.push(&agents[agent_weights.pick(&mut random)])?;
        sizes.push(
            (!matches!(code, 204 | 304 | 499)).then(|| random.log_normal(2_300.0, 1.3) as u32),
        );
        users.push(
            random
                .chance(0.71)
                .then(|| 100_000 + (random.pareto() * 700.0) as u64),
        );
        requests.push(random.uuid());
        let message = match random.below(10) {
            0..6 => format!("request finished in {} ms", (latency / 1000.0) as u64),
            6..8 => format!(
                "{} {}",
                SERVICES[service],
                words::prose(&mut random, &frequency, 5)
            ),
            _ => {
                let length = 4 + (random.exponential() * 7.0) as usize;
                words::prose(&mut random, &frequency, length)
            }
        };
        messages.push(&message)?;
    }
    Layout::default()
        .with("time", Kind::Timestamp(Unit::Millisecond, Zone::Utc), times)
        .with("level", Kind::Text, levels)
        .with("service", Kind::Text, service_names)
        .with("method", Kind::Text, methods)
        .with("path", Kind::Text, all_paths)
        .with("status", Kind::U16, codes)
        .with("latency_us", Kind::U32, latencies)
        .with_nulls("bytes", Kind::U32, sizes)
        .with_nulls("user_id", Kind::U64, users)
        .with("user_agent", Kind::Text, all_agents)
        .with("request", Kind::Uuid, requests)
        .with("message", Kind::Text, messages)
        .rows()
}

/// A path with places for numbers.
#[derive(Debug)]
struct Template {
    method: &'static str,
    parts: Vec<&'static str>,
    version: u64,
    asks: bool,
}

impl Template {
    fn fill(&self, random: &mut Random) -> String {
        let mut path = format!("/api/v{}", self.version);
        for (at, part) in self.parts.iter().enumerate() {
            path.push('/');
            path.push_str(part);
            if at + 1 < self.parts.len() || !self.asks {
                path.push_str(&format!("/{}", 1 + (random.pareto() * 90.0) as u64));
            }
        }
        if self.asks && random.chance(0.5) {
            path.push_str(&format!(
                "?page={}&size=50",
                1 + (random.exponential() * 3.0) as u64
            ));
        }
        path
    }
}

fn path_templates(random: &mut Random) -> Vec<Template> {
    (0..300)
        .map(|_| {
            let parts = (0..random.between(1, 3))
                .map(|_| *random.one_of(&words::NOUNS))
                .collect();
            let asks = random.chance(0.4);
            let method = match random.below(10) {
                _ if asks => "GET",
                0..5 => "GET",
                5..8 => "POST",
                8 => "PUT",
                _ => "DELETE",
            };
            Template {
                method,
                parts,
                version: 1 + random.below(3),
                asks,
            }
        })
        .collect()
}

fn user_agents(random: &mut Random) -> Vec<String> {
    let systems = [
        "Windows NT 10.0; Win64; x64",
        "Macintosh; Intel Mac OS X 10_15_7",
        "X11; Linux x86_64",
        "iPhone; CPU iPhone OS 18_3 like Mac OS X",
        "Linux; Android 15; Pixel 8",
        "Linux; Android 14; SM-S918B",
    ];
    (0..120)
        .map(|_| {
            let system = *random.one_of(&systems);
            let version = random.between(109, 145);
            match random.below(5) {
                0 => format!("Mozilla/5.0 ({system}; rv:{version}.0) Gecko/20100101 Firefox/{version}.0"),
                1 => format!("okhttp/4.{}.{}", random.below(13), random.below(4)),
                2 => format!(
                    "Mozilla/5.0 ({system}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/{}.{} Safari/605.1.15",
                    random.between(15, 19), random.below(6)
                ),
                _ => format!(
                    "Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{version}.0.0.0 Safari/537.36"
                ),
            }
        })
        .collect()
}
