//! The machine that the figures belong to, in one line.

use std::fs;

/// Describes this machine: processor, cores, memory, kernel, governor, and whether it is a virtual machine.
///
/// What cannot be found out is left out; nothing here fails.
#[must_use]
pub(super) fn describe() -> String {
    let mut parts = vec![processor(), cores()];
    parts.extend(memory());
    parts.push(system());
    parts.extend(governor());
    parts.extend(virtualised().then(|| "virtual machine".to_owned()));
    parts.join(", ")
}

/// How many processors this process may use; one if that cannot be found out.
#[must_use]
pub(super) fn usable_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What is to be known before anything is measured, where others use the machine: by the mean of the last minute, more than half of a core each.
#[must_use]
pub(super) fn busy() -> Option<String> {
    busy_by(&fs::read_to_string("/proc/loadavg").ok()?, usable_cores())
}

fn busy_by(load: &str, cores: usize) -> Option<String> {
    let load: f64 = load.split_whitespace().next()?.parse().ok()?;
    let plural = if cores == 1 { "core" } else { "cores" };
    (load > 0.5 * cores as f64).then(|| {
        format!(
            "Others use this machine: its load was {load:.1} in the last minute, for {cores} {plural}. What is measured now is of that, too: \
             trust ratios more than times, and neither where ranges overlap."
        )
    })
}

fn processor() -> String {
    fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| cpuinfo_field(&text, "model name"))
        .unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

fn cores() -> String {
    let usable = usable_cores();
    let plural = if usable == 1 { "core" } else { "cores" };
    match fs::read_to_string("/proc/cpuinfo").map(|text| {
        text.lines()
            .filter(|line| is_field(line, "processor"))
            .count()
    }) {
        Ok(online) if online > usable => format!("{usable} of {online} cores"),
        _ => format!("{usable} {plural}"),
    }
}

fn memory() -> Option<String> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = total_memory(&text)?;
    Some(format!("{:.0} GiB", (kib / (1024.0 * 1024.0)).max(1.0)))
}

#[cfg(unix)]
fn system() -> String {
    let name = rustix::system::uname();
    format!(
        "{} {} {}",
        name.sysname().to_string_lossy(),
        name.release().to_string_lossy(),
        name.machine().to_string_lossy()
    )
}

#[cfg(not(unix))]
fn system() -> String {
    format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)
}

fn governor() -> Option<String> {
    let text = fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").ok()?;
    Some(format!("governor {}", text.trim()))
}

/// Whether the processor says that a hypervisor is below it.
fn virtualised() -> bool {
    fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| cpuinfo_field(&text, "flags"))
        .is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn is_field(line: &str, name: &str) -> bool {
    line.split_once(':')
        .is_some_and(|(key, _)| key.trim() == name)
}

fn cpuinfo_field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|line| is_field(line, name))?;
    let words: Vec<&str> = line.split_once(':')?.1.split_whitespace().collect();
    Some(words.join(" "))
}

/// `MemTotal` in KiB.
fn total_memory(text: &str) -> Option<f64> {
    text.lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::{busy_by, cpuinfo_field, describe, total_memory, usable_cores};

    const CPUINFO: &str =
        "processor\t: 0\nmodel name\t: Some  Processor @ 2.60GHz\nflags\t\t: fpu hypervisor sse\n";

    #[test]
    fn a_load_of_others_is_told() {
        assert_eq!(busy_by("0.90 1.00 9.00 1/200 4711\n", 2), None);
        let told = busy_by("11.30 1.00 1.00 1/200 4711\n", 2).unwrap();
        assert!(
            told.contains("11.3 in the last minute, for 2 cores"),
            "{told}"
        );
        assert_eq!(busy_by("nonsense", 2), None);
    }

    #[test]
    fn fields_are_found_and_tidied() {
        assert_eq!(
            cpuinfo_field(CPUINFO, "model name").as_deref(),
            Some("Some Processor @ 2.60GHz")
        );
        assert_eq!(cpuinfo_field(CPUINFO, "model"), None);
        assert_eq!(
            total_memory("MemTotal:       24684084 kB\nMemFree: 1 kB\n"),
            Some(24_684_084.0)
        );
        assert_eq!(total_memory("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn this_machine_is_described_in_one_short_line() {
        let text = describe();
        assert!(!text.contains('\n') && text.len() < 200, "{text}");
        assert!(text.contains(&format!("{} ", usable_cores())), "{text}");
        assert!(text.contains("core"), "{text}");
    }
}
