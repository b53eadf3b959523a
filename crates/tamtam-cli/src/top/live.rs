//! The live table, and the keys that change it.

use std::io::stdout;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use super::answer::Answer;
use super::line::{Line, Request};
use super::screen::Screen;
use super::view::View;
use crate::printable::printable;
use crate::reason::reason;

/// How soon an answer is on the screen that has come.
const ATTENTION: Duration = Duration::from_millis(50);

/// Shows a program until the user has seen enough.
pub(crate) fn show(
    path: PathBuf,
    first: Line,
    request: Request,
    interval: Duration,
) -> Result<ExitCode> {
    let (requests, to_ask) = channel();
    let (answered, answers) = channel();
    // A program that does not answer keeps a thread, and not the keys.
    thread::Builder::new()
        .name("tamtam-line".to_owned())
        .spawn(move || ask(&path, first, &to_ask, &answered))?;
    let mut terminal = ratatui::try_init()?;
    let shown = run(&mut terminal, &requests, &answers, request, interval);
    ratatui::try_restore()?;
    shown.map(|()| ExitCode::SUCCESS)
}

/// Asks as it is told, and opens the line again if it has broken.
fn ask(
    path: &std::path::Path,
    first: Line,
    requests: &Receiver<Request>,
    answers: &Sender<Result<Answer>>,
) {
    let mut line = Some(first);
    while let Ok(request) = requests.recv() {
        let mut answer = line.as_mut().map(|line| line.look(&request));
        if !matches!(answer, Some(Ok(_))) {
            line = None;
            answer = Some(Line::open(path).and_then(|mut opened| {
                let answer = opened.look(&request)?;
                line = Some(opened);
                Ok(answer)
            }));
        }
        let Some(answer) = answer else {
            continue;
        };
        if answers.send(answer.map(|(_, answer)| answer)).is_err() {
            return;
        }
    }
}

fn run(
    terminal: &mut ratatui::DefaultTerminal,
    requests: &Sender<Request>,
    answers: &Receiver<Result<Answer>>,
    request: Request,
    interval: Duration,
) -> Result<()> {
    let most = request.most;
    let mut screen = Screen {
        by: request.by,
        named: request.named,
        ..Screen::default()
    };
    let mut before: Option<Answer> = None;
    let mut view: Option<View> = None;
    // The order in which an answer is awaited, whatever is chosen meanwhile.
    let mut asked = None;
    let mut next = Instant::now();
    loop {
        terminal.draw(|frame| screen.draw(frame, view.as_ref()))?;
        if asked.is_none() && !screen.is_paused && Instant::now() >= next {
            let _ = requests.send(Request {
                most,
                by: screen.by,
                named: screen.named.clone(),
            });
            asked = Some(screen.by);
            next = Instant::now() + interval;
        }
        if event::poll(ATTENTION)? {
            match event::read()? {
                Event::Key(key) if key.kind == KeyEventKind::Press && screen.is_typing => {
                    match key.code {
                        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                            return Ok(());
                        }
                        KeyCode::Char(letter) => screen.named.push(letter),
                        KeyCode::Backspace => drop(screen.named.pop()),
                        KeyCode::Esc => {
                            screen.named.clear();
                            screen.is_typing = false;
                        }
                        KeyCode::Enter => screen.is_typing = false,
                        _ => {}
                    }
                    screen.first = 0;
                    next = next.min(Instant::now() + interval / 4);
                }
                Event::Key(key) if key.kind == KeyEventKind::Press => match key.code {
                    KeyCode::Char('/') => screen.is_typing = true,
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(()),
                    KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                        return Ok(());
                    }
                    KeyCode::Char('s') => {
                        screen.by = screen.by.next();
                        screen.first = 0;
                        // Soon, and not at once: rates need some time in between.
                        next = next.min(Instant::now() + interval / 4);
                    }
                    KeyCode::Char('p') => screen.is_paused = !screen.is_paused,
                    KeyCode::Up => screen.first = screen.first.saturating_sub(1),
                    KeyCode::Down => screen.first += 1,
                    KeyCode::PageUp => screen.first = screen.first.saturating_sub(10),
                    KeyCode::PageDown => screen.first += 10,
                    _ => {}
                },
                _ => {}
            }
        }
        if let Ok(answer) = answers.try_recv() {
            let by = asked.take().unwrap_or(screen.by);
            match answer {
                Ok(answer) => {
                    screen.trouble = None;
                    view = Some(View::new(&answer, before.as_ref(), by, most));
                    before = Some(answer);
                }
                // The last figures stay to be read.
                Err(error) => screen.trouble = Some(printable(&reason(&error))),
            }
        }
    }
}

/// Whether there is a reader to show a live table to.
pub(crate) fn is_possible() -> bool {
    use std::io::IsTerminal;
    stdout().is_terminal() && std::io::stdin().is_terminal()
}
