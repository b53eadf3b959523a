//! The guide's pages as documentation, so that their code is compiled and run as doc tests:
//! `cargo test -p tamtam-guide`. What else is asked of a page is in `tests/`.

#![forbid(unsafe_code)]

/// One module a page, named after it, so that a failing test says where it stands.
macro_rules! pages {
    ($($name:ident = $file:literal),+ $(,)?) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!(concat!("src/", $file))]
            mod $name {}
        )+

        /// Every page whose code is tested, by its path in `src`.
        pub const PAGES: &[&str] = &[$($file),+];
    };
}

pages! {
    introduction = "introduction.md",
    which = "which.md",
    channel = "channel/index.md",
    channel_full = "channel/full.md",
    channel_ending = "channel/ending.md",
    channel_batches = "channel/batches.md",
    channel_select = "channel/select.md",
    channel_broadcast = "channel/broadcast.md",
    specialised = "specialised.md",
    slot = "slot.md",
    property = "property.md",
    event = "event.md",
    latch = "latch.md",
    actors = "actors.md",
    actors_homes = "actors/homes.md",
    actors_mailboxes = "actors/mailboxes.md",
    actors_stepper = "actors/stepper.md",
    actors_time = "actors/time.md",
    actors_life = "actors/life.md",
    actors_top = "actors/top.md",
    actors_topic = "actors/topic.md",
    rows = "rows.md",
    rows_packed = "rows/packed.md",
    rows_browser = "rows/browser.md",
    gateway = "gateway.md",
    gateway_pages = "gateway/pages.md",
    asynchronous = "async.md",
    practice_program = "practice/program.md",
    practice_web_server = "practice/web-server.md",
    practice_recipes = "practice/recipes.md",
    practice_metrics = "practice/metrics.md",
    promises = "promises.md",
    costs = "costs.md",
    waiting = "waiting.md",
    rows_tool = "rows/tool.md",
    lab = "lab.md",
    platforms = "platforms.md",
    link = "link.md",
    links = "links.md",
    link_tls = "link-tls.md",
    distances = "distances.md",
    process = "process.md",
    process_limits = "process/limits.md",
    ipc = "ipc.md",
    moving = "moving/index.md",
    moving_from_crossbeam = "moving/crossbeam.md",
    moving_from_std = "moving/std.md",
    moving_from_flume = "moving/flume.md",
    moving_from_tokio = "moving/tokio.md",
    moving_from_tasks = "moving/tasks.md",
    moving_from_actix = "moving/actix.md",
    moving_from_ractor = "moving/ractor.md",
    moving_from_kameo = "moving/kameo.md",
    moving_from_erlang = "moving/erlang.md",
}
