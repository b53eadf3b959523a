//! How does a window show what other threads find, without asking them all the time?
//!
//! The window is an actor in a [`Frame`]: its mail is handled on the window's thread, when the loop pumps. The loop
//! sleeps in winit. The first message to the idle frame calls the hook, which wakes the loop by an event of its own;
//! the messages after it find it awake, and cost nothing more. A [`Worker`] does the work: a button tells it what to
//! search, and it posts what it finds.
//!
//! ```text
//!  worker thread                       window thread
//!  ┌────────┐  tell(News)  ┌──────────────────────────────────────┐
//!  │ Search │ ───────────▶ │ frame: on_mail ─▶ EventLoopProxy      │
//!  │        │ ◀─────────── │ winit: user_event ─▶ pump ─▶ redraw   │
//!  └────────┘  tell(Job)   └──────────────────────────────────────┘
//! ```
//!
//! `cargo run` opens the window. `cargo run -- --visit FILE` clicks the button itself, waits for the end of the search
//! and one second more, saves a picture as FILE (PNG), and prints what it has counted.

mod primes;
mod screen;
mod search;
mod view;
mod visit;

use std::cell::RefCell;
use std::error::Error;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tamtam::actor::{Budget, Quit};
use tamtam::{Address, Frame, Worker};
use winit::application::ApplicationHandler;
use winit::event::{StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::WindowId;

use crate::screen::Screen;
use crate::search::{Job, Search};
use crate::view::View;
use crate::visit::{Next, Rest, Visit};

/// What the loop hears beside winit's own events.
#[derive(Debug)]
struct Mail;

/// Mail has so much time before the window is drawn again.
const MAIL_AT_ONCE: Duration = Duration::from_millis(4);

struct App {
    frame: Frame,
    view: Rc<RefCell<View>>,
    worker: Worker,
    jobs: Address<Job>,
    waker: EventLoopProxy<Mail>,
    screen: Option<Screen>,
    visit: Option<Visit>,
    /// Rounds of the loop, and those in which mail was handled.
    rounds: u64,
    pumps: u64,
    outcome: Result<(), Box<dyn Error>>,
}

impl App {
    fn new(waker: EventLoopProxy<Mail>, visit: Option<Visit>) -> Result<Self, Box<dyn Error>> {
        let frame = Frame::new();
        let hook = waker.clone();
        frame.on_mail(move || drop(hook.send_event(Mail)));

        let view = Rc::new(RefCell::new(View::new(10_000_000)));
        // It need not be Send: it never leaves the thread of the window.
        let state = Rc::clone(&view);
        let window = frame.spawn_fn(move |news, _| state.borrow_mut().hear(news));

        let worker = Worker::builder().name("primes").build()?;
        let jobs = worker.spawn(Search::new(window));
        Ok(App {
            frame,
            view,
            worker,
            jobs,
            waker,
            screen: None,
            visit,
            rounds: 0,
            pumps: 0,
            outcome: Ok(()),
        })
    }

    fn try_or_leave(&mut self, event_loop: &ActiveEventLoop, outcome: Result<(), Box<dyn Error>>) {
        if outcome.is_err() {
            self.outcome = outcome;
            event_loop.exit();
        }
    }

    fn draw(&mut self) -> Result<(), Box<dyn Error>> {
        let (view, jobs) = (&self.view, &self.jobs);
        match &mut self.screen {
            Some(screen) => screen.draw(|context| view.borrow_mut().show(context, jobs)),
            None => Ok(()),
        }
    }

    /// The end of a visit: a picture, and what was counted.
    fn report(&mut self, rest: &Rest) -> Result<(), Box<dyn Error>> {
        let (Some(screen), Some(visit)) = (&mut self.screen, &self.visit) else {
            return Ok(());
        };
        screen.save_picture(&visit.picture)?;
        let view = self.view.borrow();
        println!("posted {}", self.jobs.ask(Job::Posted)?);
        println!("received {}", view.received);
        println!("pumps {}", self.pumps);
        println!("drawings {}", screen.drawn);
        println!("idle-drawings {}", rest.drawings);
        println!("idle-rounds {}", rest.rounds);
        for gap in &view.gaps {
            println!("gap {} {}", gap.after, gap.length);
        }
        Ok(())
    }
}

impl ApplicationHandler<Mail> for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.screen.is_none() {
            let opened = Screen::open(event_loop).map(|screen| self.screen = Some(screen));
            self.try_or_leave(event_loop, opened);
        }
    }

    fn new_events(&mut self, _: &ActiveEventLoop, _: StartCause) {
        self.rounds += 1;
    }

    fn user_event(&mut self, _: &ActiveEventLoop, Mail: Mail) {
        let pumped = self.frame.pump(Budget::time(MAIL_AT_ONCE));
        if pumped.left {
            // Nobody tells of it again, so the loop tells itself: what the user does comes in between.
            drop(self.waker.send_event(Mail));
        }
        // What was told of may still be on its way.
        if pumped.handled > 0 {
            self.pumps += 1;
            if let Some(screen) = &self.screen {
                screen.ask_to_draw();
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::RedrawRequested => {
                let drawn = self.draw();
                self.try_or_leave(event_loop, drawn);
            }
            event => {
                if let Some(screen) = &mut self.screen {
                    screen.hear(&event);
                }
            }
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(screen) = &mut self.screen else {
            return;
        };
        if screen.draw_at.is_some_and(|at| at <= Instant::now()) {
            screen.draw_at = None;
            screen.ask_to_draw();
        }
        let mut until = screen.draw_at;
        if let Some(visit) = &mut self.visit {
            let next = visit.go_on(screen, &self.view.borrow(), self.rounds);
            match next {
                Next::Continue(at) => until = [until, at].into_iter().flatten().min(),
                Next::Leave(rest) => {
                    let reported = self.report(&rest);
                    self.try_or_leave(event_loop, reported);
                    event_loop.exit();
                    return;
                }
            }
        }
        event_loop.set_control_flow(match until {
            Some(at) => ControlFlow::WaitUntil(at),
            None => ControlFlow::Wait,
        });
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let visit = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => None,
        ["--visit", file] => Some(Visit::new(file.into())),
        _ => return Err("usage: tamtam-window [--visit FILE]".into()),
    };
    let event_loop = EventLoop::with_user_event().build()?;
    let mut app = App::new(event_loop.create_proxy(), visit)?;
    event_loop.run_app(&mut app)?;
    // A search that is under way need not come to its end.
    app.worker.quit(Quit::Discard);
    app.outcome
}
