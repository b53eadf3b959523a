//! The answer of one run: a single line, which counts only if it answers what was asked and was verified.

use anyhow::{Context, Result, bail, ensure};

use super::plan::Task;
use tamtam_lab::Outcome;

/// Reads the output of a run of `task`.
///
/// # Errors
///
/// If the output is not exactly one well-formed line, answers for something else, was not verified, did nothing, or
/// gives a metric twice.
pub(super) fn read(output: &str, task: &Task) -> Result<Outcome> {
    let mut lines = output.lines().filter(|line| !line.trim().is_empty());
    let line = lines.next().context("it ended without printing a result")?;
    ensure!(lines.next().is_none(), "it printed more than one result");
    let outcome: Outcome = serde_json::from_str(line).context("its result cannot be read")?;
    if (&outcome.experiment, &outcome.variant, &outcome.contender)
        != (&task.experiment, &task.variant, &task.contender)
    {
        bail!(
            "it answered for {} {} {}",
            outcome.experiment,
            outcome.variant,
            outcome.contender
        );
    }
    ensure!(outcome.verified, "its deliveries were not verified");
    ensure!(outcome.operations > 0, "it did no operation");
    ensure!(!outcome.metrics.is_empty(), "it gave no figure");
    for (place, metric) in outcome.metrics.iter().enumerate() {
        let before = &outcome.metrics[..place];
        ensure!(
            before.iter().all(|other| other.metric != metric.metric),
            "it gave {} twice",
            metric.metric
        );
        ensure!(
            metric.value.is_finite() && metric.value >= 0.0,
            "its {} is {}",
            metric.metric,
            metric.value
        );
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::Outcome;
    use crate::lab::plan::Task;

    const LINE: &str = r#"{"experiment":"handover","variant":"1000/free","contender":"slot","version":"0.1.0",
        "ours":true,"verified":true,"operations":1000,"elapsed_ns":180000,
        "metrics":[{"metric":"ns_per_op","unit":"ns","value":180.0}],"note":null}"#;

    fn read(output: &str) -> Result<Outcome, String> {
        let task = Task {
            experiment: "handover".to_owned(),
            variant: "1000/free".to_owned(),
            contender: "slot".to_owned(),
            version: "0.1.0".to_owned(),
            ours: true,
            program: Arc::from(Path::new("program")),
        };
        super::read(output, &task).map_err(|error| format!("{error:#}"))
    }

    fn line() -> String {
        LINE.replace('\n', "")
    }

    #[test]
    fn a_result_is_read() {
        let outcome = read(&(line() + "\n")).unwrap();
        assert_eq!(outcome.metrics[0].value, 180.0);
        assert_eq!(outcome.note, None);
    }

    #[test]
    fn an_unverified_result_is_refused() {
        let answer = read(&line().replace("\"verified\":true", "\"verified\":false"));
        assert_eq!(answer.unwrap_err(), "its deliveries were not verified");
    }

    #[test]
    fn a_result_without_operations_is_refused() {
        assert_eq!(
            read(&line().replace("1000,", "0,")).unwrap_err(),
            "it did no operation"
        );
    }

    #[test]
    fn a_result_for_another_contender_is_refused() {
        let answer = read(&line().replace("slot", "kanal"));
        assert_eq!(
            answer.unwrap_err(),
            "it answered for handover 1000/free kanal"
        );
    }

    #[test]
    fn no_two_and_broken_results_are_refused() {
        assert_eq!(
            read("\n").unwrap_err(),
            "it ended without printing a result"
        );
        assert_eq!(
            read(&format!("{0}\n{0}\n", line())).unwrap_err(),
            "it printed more than one result"
        );
        assert!(
            read("{\"experiment\":")
                .unwrap_err()
                .starts_with("its result cannot be read")
        );
    }

    #[test]
    fn a_figure_below_zero_is_refused() {
        assert_eq!(
            read(&line().replace("180.0", "-1.0")).unwrap_err(),
            "its ns_per_op is -1"
        );
    }

    #[test]
    fn a_metric_given_twice_is_refused() {
        let metric = r#"{"metric":"ns_per_op","unit":"ns","value":180.0}"#;
        let answer = read(&line().replace(metric, &format!("{metric},{metric}")));
        assert_eq!(answer.unwrap_err(), "it gave ns_per_op twice");
    }
}
