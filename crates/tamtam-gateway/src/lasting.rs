//! What a stop waits for: connections, and what outlives the request by which it came, sockets and streams of events.

use std::pin::pin;

use tokio::sync::watch;

use crate::branch::Branch;

/// Knows the connections, those too that outlive the request by which they came, and tells them of the end.
#[derive(Debug)]
pub(crate) struct Lasting {
    stage: watch::Sender<Stage>,
    open: watch::Sender<usize>,
}

/// How far the server has come to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    #[default]
    Serving,
    /// What was accepted is finished.
    Stopping,
    /// There is no time left.
    Cut,
}

impl Default for Lasting {
    fn default() -> Lasting {
        Lasting {
            stage: watch::Sender::new(Stage::Serving),
            open: watch::Sender::new(0),
        }
    }
}

impl Lasting {
    /// A connection that lasts until this is dropped.
    pub(crate) fn begin(&self) -> Lasts {
        self.open.send_modify(|open| *open += 1);
        Lasts {
            open: self.open.clone(),
            stage: self.stage.subscribe(),
        }
    }

    /// Tells all of them how far the server has come to its end.
    pub(crate) fn tell(&self, stage: Stage) {
        self.stage.send_replace(stage);
    }

    /// Ready when all of them have ended.
    pub(crate) async fn ended(&self) {
        // It does not fail, since the sender is here.
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }
}

/// A connection that lasts.
#[derive(Debug)]
pub(crate) struct Lasts {
    open: watch::Sender<usize>,
    stage: watch::Receiver<Stage>,
}

impl Lasts {
    /// How far the server has come.
    pub(crate) fn stage(&self) -> Stage {
        *self.stage.borrow()
    }

    /// Ready when the server has come so far.
    pub(crate) async fn reached(&mut self, stage: Stage) {
        let branch = Branch::new();
        let reached = pin!(self.stage.wait_for(|now| *now >= stage));
        if branch.run(reached).await.is_err() {
            // The gateway has gone without an end; so will the runtime.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Lasts {
    fn drop(&mut self) {
        self.open.send_modify(|open| *open -= 1);
    }
}
