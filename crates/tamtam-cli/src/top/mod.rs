//! `tamtam top`: a live table of a running program.
//!
//! The program opts in by `tamtam::actor::observe::serve()`, which makes a socket that only the same user can reach. It is
//! asked once an interval for a line of JSON.

#[cfg(unix)]
mod answer;
pub mod arguments;
#[cfg(unix)]
mod find;
#[cfg(unix)]
mod line;
#[cfg(unix)]
mod live;
#[cfg(unix)]
mod plain;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod screen;
#[cfg(unix)]
mod type_name;
#[cfg(unix)]
mod view;

use std::process::ExitCode;

use anyhow::Result;

use arguments::TopArguments;

/// Does what the arguments say.
///
/// # Errors
///
/// If there is no such program, or it cannot be looked at; each error says what to do.
#[cfg(unix)]
pub fn command(arguments: &TopArguments) -> Result<ExitCode> {
    use std::io::Write;
    use std::time::Duration;

    use crate::standard_output;

    let path = find::one(arguments.program.as_deref())?;
    let mut line = line::Line::open(&path)?;
    let request = line::Request {
        most: arguments.most,
        by: arguments.by,
        named: arguments.named.clone().unwrap_or_default(),
    };
    let interval = Duration::from_secs_f64(arguments.interval);
    if !arguments.json && !arguments.once && live::is_possible() {
        // Refused now, it is said in words that stay.
        line.hello()?;
        return live::show(path, line, request, interval);
    }
    // The first look begins the time for which the next one has figures.
    let (_, before) = line.look(&request)?;
    loop {
        std::thread::sleep(interval);
        let (text, answer) = line.look(&request)?;
        let mut out = standard_output::lock();
        if arguments.json {
            out.write_all(processes::with_objects(&text).as_bytes())?;
        } else {
            let view = view::View::new(&answer, Some(&before), request.by, request.most);
            out.write_all(plain::text(&view).as_bytes())?;
        }
        out.flush()?;
        if arguments.once || !arguments.json {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// # Errors
///
/// Always: programs serve their figures on Unix sockets.
#[cfg(not(unix))]
pub fn command(_: &TopArguments) -> Result<ExitCode> {
    anyhow::bail!(
        "tamtam top looks at programs over Unix sockets, and there are none on this system"
    )
}
