//! The picture in the terminal.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, BorderType, Cell, Paragraph, Row, Table as Grid, TableState};

use super::arguments::By;
use super::view::{Column, Table, View, Weight};

/// What is on the screen besides the figures.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    pub(crate) by: By,
    pub(crate) is_paused: bool,
    /// Only actors in whose name or type this is are shown, and whether it is being typed.
    pub(crate) named: String,
    pub(crate) is_typing: bool,
    /// What went wrong.
    pub(crate) trouble: Option<String>,
    /// The first of the actors that is seen.
    pub(crate) first: usize,
}

const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const FAINT: Style = Style::new().fg(Color::DarkGray);

impl Screen {
    pub(crate) fn draw(&mut self, frame: &mut Frame<'_>, view: Option<&View>) {
        let homes = view.map_or(0, |view| view.homes.rows.len()).min(8) as u16;
        let warnings = view.map_or(0, |view| view.warnings.len()).min(3) as u16;
        let processes = match view.map_or(0, |view| view.processes.rows.len()) {
            0 => 0,
            rows => rows.min(10) as u16 + 3,
        };
        let [head, warned, tree, above, below, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(warnings),
            Constraint::Length(processes),
            Constraint::Length(homes + 3),
            Constraint::Min(4),
            Constraint::Length(1),
        ])
        .areas(frame.area());

        frame.render_widget(self.head(view), head);
        frame.render_widget(Self::foot(), foot);
        let Some(view) = view else {
            return;
        };
        let lines = view.warnings.iter().map(|warning| {
            let style = STRONG.fg(Color::Red);
            Line::from(Span::styled(format!(" {warning}"), style))
        });
        frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), warned);
        if processes != 0 {
            let title = title(format!(
                "processes{}",
                left_out(&view.processes, tree.width)
            ));
            frame.render_widget(grid(&view.processes, tree.width).block(title), tree);
        }
        let more = left_out(&view.homes, above.width);
        let block = title(format!("pools and threads{more}"));
        frame.render_widget(grid(&view.homes, above.width).block(block), above);

        let room = usize::from(below.height.saturating_sub(3));
        let most = view.actors.rows.len();
        self.first = self.first.min(most.saturating_sub(room));
        let last = (self.first + room).min(most);
        let block = match view.note {
            Some(_) => title("actors".to_owned()),
            None => title(format!(
                "actors {} to {last} of {}{}",
                (self.first + 1).min(last),
                view.observed,
                left_out(&view.actors, below.width)
            )),
        };
        if let Some(note) = view.note {
            let note = Paragraph::new(Text::raw(note))
                .style(FAINT)
                .wrap(ratatui::widgets::Wrap { trim: true });
            frame.render_widget(note.block(block), below);
        } else {
            let mut state = TableState::new().with_offset(self.first);
            let actors = grid(&view.actors, below.width).block(block);
            frame.render_stateful_widget(actors, below, &mut state);
        }
    }

    fn head<'a>(&self, view: Option<&'a View>) -> Line<'a> {
        let program = view.map_or("tamtam top", |view| view.program.as_str());
        let mut words = vec![
            Span::styled(format!(" {program} "), STRONG),
            Span::raw(format!(" by {} ", self.by.word())),
        ];
        if self.is_typing || !self.named.is_empty() {
            let cursor = if self.is_typing { "_" } else { "" };
            words.push(Span::styled(
                format!(" named {}{cursor} ", self.named),
                STRONG.fg(Color::Cyan),
            ));
        }
        if self.is_paused {
            words.push(Span::styled(" paused ", STRONG.fg(Color::Yellow)));
        }
        if let Some(trouble) = &self.trouble {
            words.push(Span::styled(format!(" {trouble} "), STRONG.fg(Color::Red)));
        }
        Line::from(words)
    }

    fn foot() -> Line<'static> {
        let keys = [
            ("q", "quit"),
            ("s", "sort by the next"),
            ("/", "name"),
            ("p", "pause"),
            ("↑ ↓", "move"),
        ];
        let mut words = Vec::new();
        for (key, what) in keys {
            words.push(Span::styled(format!(" {key} "), STRONG));
            words.push(Span::styled(format!("{what}  "), FAINT));
        }
        Line::from(words)
    }
}

fn title(title: String) -> Block<'static> {
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(FAINT)
        .title(Span::styled(
            format!(" {title} "),
            Style::new().fg(Color::Cyan),
        ))
}

/// Which columns there is room for, by their ranks, each with its width; the one that is sorted by is always there.
fn fitting(table: &Table, width: u16) -> Vec<(usize, u16)> {
    let all = 0..table.columns.len();
    let mut shown: Vec<(usize, u16)> = all.map(|place| (place, width_of(table, place))).collect();
    let room = width.saturating_sub(2);
    while needed(&shown) > room && shown.len() > 1 {
        let rank = |(place, _): &(usize, u16)| match table.sorted {
            Some(sorted) if sorted == *place => None,
            _ => Some((table.columns[*place].rank, *place)),
        };
        // A long word is cut before a column goes.
        let excess = needed(&shown) - room;
        let words = shown
            .iter_mut()
            .filter(|(place, width)| !table.columns[*place].is_number && *width > LEAST_WORD);
        if let Some((_, widest)) = words.max_by_key(|(_, width)| *width) {
            *widest = (*widest - excess.min(*widest)).max(LEAST_WORD);
            continue;
        }
        let last = shown
            .iter()
            .map(rank)
            .enumerate()
            .max_by_key(|(_, rank)| *rank);
        if let Some((last, _)) = last {
            shown.remove(last);
        }
    }
    shown
}

/// What these columns take, each with a space before the next one.
fn needed(columns: &[(usize, u16)]) -> u16 {
    let gaps = columns.len().saturating_sub(1) as u16;
    columns.iter().map(|(_, width)| width).sum::<u16>() + gaps
}

/// A word is cut to so many characters where there is no room, and not to fewer.
const LEAST_WORD: u16 = 12;

/// What is said of columns for which there is no room.
fn left_out(table: &Table, width: u16) -> String {
    match table.columns.len() - fitting(table, width).len() {
        0 => String::new(),
        1 => " · 1 more column where it is wider".to_owned(),
        more => format!(" · {more} more columns where it is wider"),
    }
}

/// As many columns as there is room for.
fn grid(table: &Table, width: u16) -> Grid<'_> {
    let shown = fitting(table, width);
    let columns = || {
        shown
            .iter()
            .map(|(place, _)| (*place, &table.columns[*place]))
    };
    let heading = columns().map(|(place, column)| {
        let style = if table.sorted == Some(place) {
            STRONG.fg(Color::Cyan).add_modifier(Modifier::UNDERLINED)
        } else {
            STRONG
        };
        cell(column, column.heading, style)
    });
    let rows = table.rows.iter().map(|row| {
        let cells = columns().filter_map(|(place, column)| Some((column, row.get(place)?)));
        Row::new(cells.map(|(column, value)| {
            let style = match value.weight {
                Weight::Faint => FAINT,
                Weight::Plain => Style::new(),
                Weight::Notable => Style::new().fg(Color::Yellow),
                Weight::Alarming => Style::new().fg(Color::Red),
            };
            cell(column, &value.text, style)
        }))
    });
    // Apart as far as there is room for.
    let gaps = shown.len().saturating_sub(1).max(1) as u16;
    let spacing = 1 + width.saturating_sub(2 + needed(&shown)) / gaps;
    let constraints = shown.iter().map(|(_, width)| Constraint::Length(*width));
    Grid::new(rows, constraints)
        .column_spacing(spacing.min(3))
        .header(Row::new(heading))
}

fn width_of(table: &Table, place: usize) -> u16 {
    let cells = table.rows.iter().filter_map(|row| row.get(place));
    let cells = cells.map(|value| value.text.chars().count());
    let heading = table.columns[place].heading.chars().count();
    // A long word is cut, so that numbers have room.
    let most = if table.columns[place].is_number {
        12
    } else {
        36
    };
    cells.max().unwrap_or(0).min(most).max(heading) as u16
}

fn cell<'a>(column: &Column, text: &'a str, style: Style) -> Cell<'a> {
    let alignment = if column.is_number {
        Alignment::Right
    } else {
        Alignment::Left
    };
    Cell::new(Text::styled(text, style).alignment(alignment))
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::answer::Answer;
    use super::super::view::View;
    use super::{By, Screen};

    fn picture(width: u16, height: u16, screen: &mut Screen, view: Option<&View>) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| screen.draw(frame, view)).unwrap();
        terminal.backend().to_string()
    }

    fn view(actors: usize) -> View {
        let actor = r#"{"id":7,"type":"shop::Till","home":"shop","handled":9,"queued":12,"longest_ns":1500,
            "at_work_ns":2000000000,"restarts":3456,"lost":1,"handled_since":5,"turn_ns_since":250000000}"#;
        let line = format!(
            r#"{{"tamtam":1,"program":"shop","pid":42,"since_ns":1000000000,"actors_observed":{actors},
            "homes":[{{"number":1,"kind":"pool","name":"shop","threads":2,"idle_threads":1,"actors":{{"living":1}}}}],
            "actors":[{}]}}"#,
            vec![actor; actors].join(",")
        );
        View::new(&Answer::read(&line).unwrap(), None, By::Queued, 1_000)
    }

    #[test]
    fn what_a_program_does_is_on_the_screen() {
        let mut screen = Screen {
            is_paused: true,
            ..Screen::default()
        };
        let shown = picture(130, 16, &mut screen, Some(&view(1)));
        for words in [
            "shop (42)",
            "by queued",
            "paused",
            "pools and threads",
            "actors 1 to 1 of 1",
            "#7",
            "Till",
            "12",
            "25.0 %",
            "1.50 µs",
            "2.00 s",
            "RESTARTS",
            "3456",
            "q  quit",
        ] {
            let words = words.replace("q  quit", " q quit");
            assert!(shown.contains(&words), "{words} is missing in\n{shown}");
        }
    }

    #[test]
    fn where_there_is_no_room_what_is_needed_least_goes_and_what_is_sorted_by_stays() {
        let mut screen = Screen::default();
        let shown = picture(62, 16, &mut screen, Some(&view(1)));
        for words in [
            "Till",
            "QUEUED",
            "AT IT",
            "TIME",
            "LOST",
            "more columns where it is wider",
        ] {
            assert!(shown.contains(words), "{words} is missing in\n{shown}");
        }
        assert!(!shown.contains("MOST"), "{shown}");
        let mut by_longest = view(1);
        by_longest.actors.sorted = Some(9);
        for width in [24, 40, 80] {
            let shown = picture(width, 16, &mut screen, Some(&by_longest));
            assert!(shown.contains("LONGEST"), "{width} columns:\n{shown}");
        }
    }

    #[test]
    fn a_program_and_its_processes_are_a_tree() {
        let below = r#"{\"tamtam\":1,\"since_ns\":1000000000,\"homes\":[{\"number\":1,\"actors\":{\"living\":1}}],
            \"actors\":[{\"id\":1,\"type\":\"Decoder\",\"home\":\"frame\",\"queued\":1}]}"#;
        let line = format!(
            r#"{{"tamtam":1,"program":"shop","pid":42,"memory":2000000,"homes":[],"processes":[
            {{"name":"decoder","pid":43,"restarts":2,"queued":6,"memory":12345678,"answer":"{}","carrier":"shared memory"}},
            {{"name":"printer","restarts":9,"age_ns":3000000000,"carrier":"socket","carrier_refused":"no memory"}}]}}"#,
            below.replace('\n', " ")
        );
        let view = View::new(&Answer::read(&line).unwrap(), None, By::Queued, 40);
        let shown = picture(130, 24, &mut Screen::default(), Some(&view));
        for words in [
            "processes",
            "shop",
            "├ decoder",
            "└ printer",
            "12.3 MB",
            "decoder[43] frame",
            "printer: the process has said nothing for 3.00 s",
            "43   memory ",
            "-   socket ",
            "printer: messages to this process go through a socket: no memory",
        ] {
            assert!(shown.contains(words), "{words} is missing in\n{shown}");
        }
    }

    #[test]
    fn no_size_is_too_small_and_no_list_too_long() {
        let mut screen = Screen::default();
        for (width, height) in [(1, 1), (3, 4), (20, 5), (80, 24), (400, 3)] {
            for actors in [0, 1, 500] {
                screen.first = usize::MAX / 2;
                picture(width, height, &mut screen, Some(&view(actors)));
            }
            picture(width, height, &mut screen, None);
        }
        screen.first = 1_000;
        let shown = picture(80, 24, &mut screen, Some(&view(500)));
        assert!(shown.contains("to 500 of 500"), "{shown}");
    }

    #[test]
    fn trouble_is_said_beside_the_last_figures() {
        let mut screen = Screen {
            trouble: Some("the program has gone".to_owned()),
            ..Screen::default()
        };
        let shown = picture(100, 16, &mut screen, Some(&view(1)));
        assert!(shown.contains("the program has gone") && shown.contains("Till"));
    }
}
