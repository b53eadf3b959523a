//! What is in the window: what was heard of the search, and how it looks.

use egui::{
    Align, Button, Color32, CornerRadius, Layout, ProgressBar, Rect, RichText, Sense, Slider, vec2,
};
use tamtam::Address;

use crate::search::{Job, News};

/// The state of the window. It is changed by messages and by the user, both on the window's thread.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// What the slider says.
    up_to: u64,
    /// What the search that runs, or ran last, was told.
    searching_to: u64,
    searched: u64,
    primes: u64,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) state: State,
    /// Messages that the worker has posted, all in all.
    pub(crate) received: u64,
    /// Where the button is that begins a search.
    pub(crate) button: Option<Rect>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) after: u64,
    pub(crate) length: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Idle,
    Searching,
    Ended {
        complete: bool,
    },
}

impl View {
    pub(crate) fn new(up_to: u64) -> Self {
        View {
            up_to,
            ..View::default()
        }
    }

    pub(crate) fn hear(&mut self, news: News) {
        self.received += 1;
        match news {
            News::Began { up_to } => {
                self.searching_to = up_to;
                self.searched = 0;
                self.primes = 0;
                self.gaps.clear();
                self.state = State::Searching;
            }
            News::Gap { after, length } => self.gaps.push(Gap { after, length }),
            News::Progress { searched, primes } => {
                self.searched = searched;
                self.primes = primes;
            }
            News::Ended { complete } => self.state = State::Ended { complete },
        }
    }

    pub(crate) fn show(&mut self, context: &egui::Context, worker: &Address<Job>) {
        egui::TopBottomPanel::top("search").show(context, |ui| {
            ui.add_space(10.0);
            ui.heading("Record gaps between primes");
            ui.label("A worker thread searches and posts what it finds. The window sleeps until there is mail.");
            ui.add_space(6.0);
            ui.horizontal(|ui| {
                ui.label("Up to");
                let slider = Slider::new(&mut self.up_to, 100_000..=1_000_000_000)
                    .logarithmic(true)
                    .custom_formatter(|number, _| grouped(number as u64));
                ui.add(slider);
                let is_searching = self.state == State::Searching;
                let text = if is_searching { "Stop" } else { "Search" };
                let button = ui.add(Button::new(text).min_size(vec2(80.0, 24.0)));
                if button.clicked() {
                    let job = match is_searching {
                        true => Job::Stop,
                        false => Job::Search { up_to: self.up_to },
                    };
                    // The worker lives as long as the window, and its mailbox has no limit.
                    let _ = worker.tell(job);
                }
                self.button = Some(button.rect);
            });
            ui.add_space(6.0);
            let done = self.searched as f32 / self.searching_to.max(1) as f32;
            ui.add(ProgressBar::new(done).show_percentage());
            ui.horizontal(|ui| {
                ui.label(self.summary());
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.weak(format!("{} messages", grouped(self.received)));
                });
            });
            ui.add_space(6.0);
        });
        egui::CentralPanel::default().show(context, |ui| {
            egui::ScrollArea::vertical()
                .auto_shrink(false)
                .stick_to_bottom(true)
                .show(ui, |ui| self.show_gaps(ui));
        });
    }

    fn summary(&self) -> String {
        let primes = grouped(self.primes);
        let searched = grouped(self.searched);
        match self.state {
            State::Idle => "Nothing was searched yet.".to_owned(),
            State::Searching => format!("{primes} primes up to {searched} ..."),
            State::Ended { complete: true } => format!("{primes} primes up to {searched}."),
            State::Ended { complete: false } => {
                format!("Stopped: {primes} primes up to {searched}.")
            }
        }
    }

    fn show_gaps(&self, ui: &mut egui::Ui) {
        let longest = self.gaps.last().map_or(1, |gap| gap.length) as f32;
        egui::Grid::new("gaps")
            .num_columns(4)
            .striped(true)
            .spacing(vec2(24.0, 4.0))
            .show(ui, |ui| {
                for title in ["from", "to", "gap"] {
                    right(ui, RichText::new(title).weak());
                }
                ui.end_row();
                for gap in &self.gaps {
                    right(ui, RichText::new(grouped(gap.after)).monospace());
                    right(
                        ui,
                        RichText::new(grouped(gap.after + gap.length)).monospace(),
                    );
                    right(
                        ui,
                        RichText::new(gap.length.to_string()).monospace().strong(),
                    );
                    let most = (ui.available_width() - 8.0).max(0.0);
                    let (place, _) = ui.allocate_exact_size(vec2(most, 12.0), Sense::hover());
                    let width = most * gap.length as f32 / longest;
                    let bar = Rect::from_min_size(place.min, vec2(width, place.height()));
                    let colour = Color32::from_rgb(0x3d, 0x8b, 0xcd);
                    ui.painter().rect_filled(bar, CornerRadius::same(2), colour);
                    ui.end_row();
                }
            });
    }
}

/// A cell of a table whose text ends where those of other rows end.
fn right(ui: &mut egui::Ui, text: RichText) {
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(text));
}

/// A number with commas, as in 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        let all = [0, 12, 999, 1_000, 123_456, 1_234_567].map(grouped);
        assert_eq!(all, ["0", "12", "999", "1,000", "123,456", "1,234,567"]);
    }
}
