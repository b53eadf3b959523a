//! A table of what devices measure.

use tamtam_rows::{Kind, Rows, ShapeError, Unit, Zone};

use super::layout::Layout;
use super::random::Random;

/// 2026-01-10 00:00:00 UTC in milliseconds.
const BEGIN: i64 = 1_768_003_200_000;

/// How many devices report.
const DEVICES: usize = 40;

/// One device, as it was last seen.
#[derive(Debug)]
struct Device {
    id: u32,
    phase: i64,
    temperature: f64,
    humidity: f64,
    pressure: f64,
    battery: f64,
    /// How many reports its humidity sensor is still out of order.
    humidity_out: u32,
    /// How many reports it is still silent.
    silent: u32,
}

/// What 40 devices measure: each reports every ten seconds, a little early or late; the reports of all lie one behind
/// the other in the order in which they came in, a round at a time.
pub(super) fn rows(count: usize) -> Result<Rows, ShapeError> {
    let mut random = Random::new(0x7365_6e73);
    let mut devices: Vec<Device> = (0..DEVICES)
        .map(|number| Device {
            id: 70_400 + 3 * number as u32 + random.below(3) as u32,
            phase: random.between(0, 9_999),
            temperature: random.unit() * 20.0 + 4.0,
            humidity: random.unit() * 40.0 + 35.0,
            pressure: 990.0 + random.unit() * 35.0,
            battery: 3_100.0 + random.unit() * 900.0,
            humidity_out: 0,
            silent: 0,
        })
        .collect();
    devices.sort_by_key(|device| device.phase);

    let (mut ids, mut times, mut temperatures, mut humidities) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut pressures, mut batteries, mut flags, mut moving) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0_i64.. {
        for device in &mut devices {
            if ids.len() == count {
                return Layout::default()
                    .with("device", Kind::U32, ids)
                    .with("time", Kind::Timestamp(Unit::Millisecond, Zone::Utc), times)
                    .with_nulls("temperature", Kind::F64, temperatures)
                    .with_nulls("humidity", Kind::F32, humidities)
                    .with("pressure", Kind::F64, pressures)
                    .with("battery_mv", Kind::U16, batteries)
                    .with("flags", Kind::U8, flags)
                    .with("moving", Kind::Bool, moving)
                    .rows();
            }
            // The walks go on while they are not reported.
            device.temperature += random.normal() * 0.03;
            device.humidity = (device.humidity + random.normal() * 0.15).clamp(5.0, 100.0);
            device.pressure += random.normal() * 0.02;
            device.battery = (device.battery - 0.003).max(2_400.0);
            if device.silent > 0 {
                device.silent -= 1;
                continue;
            }
            if random.chance(0.000_3) {
                device.silent = 10 + (random.exponential() * 200.0) as u32;
                continue;
            }
            if device.humidity_out > 0 {
                device.humidity_out -= 1;
            } else if random.chance(0.001) {
                device.humidity_out = 5 + (random.exponential() * 60.0) as u32;
            }
            ids.push(device.id);
            times.push(BEGIN + round * 10_000 + device.phase + (random.normal() * 25.0) as i64);
            temperatures.push(
                (!random.chance(0.002)).then(|| (device.temperature * 100.0).round() / 100.0),
            );
            humidities.push(
                (device.humidity_out == 0).then(|| (device.humidity as f32 * 10.0).round() / 10.0),
            );
            pressures.push((device.pressure * 10.0).round() / 10.0);
            batteries.push((device.battery + random.normal() * 1.5) as u16);
            let weak = if device.battery < 3_200.0 { 1_u8 } else { 0 };
            let unwell = if device.humidity_out > 0 { 4 } else { 0 };
            let restarted = if random.chance(0.000_5) { 16 } else { 0 };
            flags.push(weak | unwell | restarted);
            moving.push(random.chance(0.01));
        }
    }
    unreachable!("the rounds are without end")
}
