//! A table of the lines of a shop's orders.

use tamtam_rows::{Column, Kind, Rows, ShapeError, Strings, Unit, Values, Zone};

use super::layout::Layout;
use super::random::{Random, Weights};

/// 2026-02-01 00:00:00 UTC in seconds.
const BEGIN: f64 = 1_769_904_000.0;

/// How busy each hour of the day is.
const HOURS: [f64; 24] = [
    0.25, 0.15, 0.1, 0.08, 0.08, 0.12, 0.3, 0.6, 0.9, 1.1, 1.25, 1.3, 1.4, 1.3, 1.2, 1.2, 1.25,
    1.4, 1.6, 1.9, 2.1, 1.8, 1.1, 0.5,
];

const COUNTRIES: [(&str, &str, f64); 12] = [
    ("DE", "EUR", 410.0),
    ("AT", "EUR", 120.0),
    ("FR", "EUR", 110.0),
    ("GB", "GBP", 95.0),
    ("CH", "CHF", 70.0),
    ("NL", "EUR", 60.0),
    ("IT", "EUR", 45.0),
    ("US", "USD", 40.0),
    ("PL", "PLN", 22.0),
    ("ES", "EUR", 18.0),
    ("SE", "SEK", 6.0),
    ("DK", "DKK", 4.0),
];

const STATES: [(&str, f64); 6] = [
    ("delivered", 861.0),
    ("shipped", 62.0),
    ("paid", 31.0),
    ("returned", 28.0),
    ("cancelled", 14.0),
    ("open", 4.0),
];

/// The lines of a shop's orders, as they came in.
pub(super) fn rows(count: usize) -> Result<Rows, ShapeError> {
    let mut random = Random::new(0x6f72_6465_7273);
    // Prices end as prices do.
    let prices: Vec<i128> = (0..2_400)
        .map(|_| {
            let whole = random.log_normal(24.0, 0.9) as i128 + 1;
            100 * whole - *random.one_of(&[1, 1, 1, 5, 10, 50, 100])
        })
        .collect();
    let products = Weights::zipf(prices.len(), 8.0);
    let customers = Weights::zipf(60_000, 30.0);
    let countries = Weights::new(COUNTRIES.iter().map(|country| country.2));
    let states = Weights::new(STATES.iter().map(|state| state.1));
    let hours_mean = HOURS.iter().sum::<f64>() / 24.0;

    let (mut orders, mut times, mut days, mut buyers, mut goods, mut quantities) = (
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
        Vec::new(),
    );
    let (mut units, mut totals) = (Vec::new(), Vec::new());
    let (mut currencies, mut lands, mut ends) = (Strings::new(), Strings::new(), Strings::new());
    let mut coupons: Vec<Option<String>> = Vec::new();
    let mut now = BEGIN;
    let mut order = 4_210_000_u32;
    let mut customer = 0;
    let mut land = 0;
    let mut lines_left = 0_u64;
    for _ in 0..count {
        if lines_left == 0 {
            let hour = (now / 3600.0) as usize % 24;
            now += random.exponential() * 21.0 * hours_mean / HOURS[hour];
            // A number is lost when a cart is given up.
            order += 1 + u32::from(random.chance(0.07));
            lines_left = 1 + (random.exponential() * 0.8) as u64;
            customer = customers.pick(&mut random);
            // A customer that buys again lives at the same place.
            land = countries.pick(&mut Random::new(customer as u64));
        }
        lines_left -= 1;
        let product = products.pick(&mut random);
        let quantity = 1 + (random.exponential() * 0.55) as u8;
        // A discount by the hundred now and then.
        let unit = if random.chance(0.08) {
            prices[product] * 9 / 10
        } else {
            prices[product]
        };
        orders.push(order);
        times.push(now as i64);
        days.push((now / 86_400.0) as i32 + random.between(1, 4) as i32);
        buyers.push(10_000 + customer as u32 * 7 % 420_001);
        goods.push(100_000 + product as u32 * 13);
        quantities.push(quantity);
        units.push(unit);
        totals.push(unit * i128::from(quantity));
        currencies.push(COUNTRIES[land].1)?;
        lands.push(COUNTRIES[land].0)?;
        ends.push(STATES[states.pick(&mut random)].0)?;
        coupons.push(random.chance(0.04).then(|| match random.below(3) {
            0 => "SPRING26".to_owned(),
            1 => "WELCOME10".to_owned(),
            _ => format!("GIFT-{:06X}", random.below(1 << 24)),
        }));
    }
    let price = Kind::Decimal {
        precision: 10,
        scale: 2,
    };
    Layout::default()
        .with("order_id", Kind::U32, orders)
        .with(
            "ordered_at",
            Kind::Timestamp(Unit::Second, Zone::Utc),
            times,
        )
        .with("deliver_on", Kind::Date, Column::new(Values::I32(days)))
        .with("customer_id", Kind::U32, buyers)
        .with("product_id", Kind::U32, goods)
        .with("quantity", Kind::U8, quantities)
        .with("unit_price", price.clone(), units)
        .with("total", price, totals)
        .with("currency", Kind::Text, currencies)
        .with("country", Kind::Text, lands)
        .with("status", Kind::Text, ends)
        .with_nulls(
            "coupon",
            Kind::Text,
            coupons.iter().map(Option::as_deref).collect::<Column>(),
        )
        .rows()
}
