//! The options of `tamtam watch`.

use std::time::Duration;

use clap::Args;
use tamtam_gateway::{Policy, WhenBehind, Wish};

use crate::client::ServerArguments;

const EXAMPLES: &str = "Examples:
  tamtam watch http://127.0.0.1:8787 Market.prices
  tamtam watch http://127.0.0.1:8787 Market.prices --policy keys --after 0 -n 5
  tamtam watch http://127.0.0.1:8787 Panel.slider --policy latest --interval 500
  tamtam watch unix:/run/tiles.sock Market.prices --policy batches | head -n 3";

/// `tamtam watch`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct WatchArguments {
    /// Where it is, and as whom.
    #[command(flatten)]
    pub server: ServerArguments,
    /// The topic or property: SERVICE.NAME
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Which values
    #[arg(long, value_name = "POLICY", value_enum, default_value_t = Which::All)]
    pub policy: Which,
    /// Milliseconds from one look for values to the next
    #[arg(long, value_name = "MILLISECONDS")]
    pub interval: Option<u64>,
    /// Go on behind this number; 0: begin with what is kept
    #[arg(long, value_name = "NUMBER")]
    pub after: Option<u64>,
    /// Be so many values behind at most
    #[arg(long, value_name = "N")]
    pub most_messages: Option<usize>,
    /// Be closed when farther behind, in place of losing the oldest values
    #[arg(long)]
    pub close: bool,
    /// End after so many messages
    #[arg(short = 'n', long, value_name = "N")]
    pub messages: Option<u64>,
}

/// Which values are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Which {
    /// Each
    All,
    /// The newest
    Latest,
    /// The newest of each key
    Keys,
    /// Each, those of an interval together: in one line, if they are not many
    Batches,
}

impl WatchArguments {
    /// What is asked of the server.
    pub(super) fn wish(&self) -> Wish {
        let mut wish = Wish::new().policy(match self.policy {
            Which::All => Policy::All,
            Which::Latest => Policy::Latest,
            Which::Keys => Policy::LatestOfEachKey,
            Which::Batches => Policy::Batches,
        });
        if let Some(milliseconds) = self.interval {
            wish = wish.interval(Duration::from_millis(milliseconds));
        }
        if let Some(number) = self.after {
            wish = wish.after(number);
        }
        if let Some(messages) = self.most_messages {
            wish = wish.most_messages(messages);
        }
        if self.close {
            wish = wish.when_behind(WhenBehind::Close);
        }
        wish
    }
}
