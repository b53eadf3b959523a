//! What the implementations of `Source` have in common: how a waiter enters a list and leaves it.

/// Entering and leaving a wait list, for a source that is one: which list, and the second look of who has
/// entered it. Accepting is no more than beginning, for a task that has not stood in the list: so one that waits alone need not be
/// entered.
macro_rules! in_list {
    ($this:ident => $list:expr, $look:expr) => {
        fn register(
            &self,
            operation: ::tamtam_wait::Operation,
            context: &::tamtam_wait::Context,
        ) -> bool {
            let $this = self;
            $list.register(operation, context);
            $look
        }

        fn unregister(
            &self,
            operation: ::tamtam_wait::Operation,
            context: &::tamtam_wait::Context,
        ) {
            let $this = self;
            $list.unregister(operation, context);
        }

        fn watch(
            &self,
            operation: ::tamtam_wait::Operation,
            context: &::tamtam_wait::Context,
        ) -> bool {
            let $this = self;
            $list.watch(operation, context);
            $look
        }

        fn unwatch(&self, operation: ::tamtam_wait::Operation, context: &::tamtam_wait::Context) {
            let $this = self;
            $list.unwatch(operation, context);
        }

        fn list(&self) -> Option<&::tamtam_wait::WaitList> {
            let $this = self;
            Some(&$list)
        }

        fn looks_ready(&self) -> bool {
            let $this = self;
            $look
        }
    };
}

/// For a source that no thread makes ready, so that there is no list: it is ready, or will be at its
/// `deadline`, or never.
macro_rules! in_no_list {
    () => {
        fn register(&self, _: ::tamtam_wait::Operation, _: &::tamtam_wait::Context) -> bool {
            self.is_ready()
        }

        fn unregister(&self, _: ::tamtam_wait::Operation, _: &::tamtam_wait::Context) {}

        fn watch(&self, _: ::tamtam_wait::Operation, _: &::tamtam_wait::Context) -> bool {
            self.is_ready()
        }

        fn unwatch(&self, _: ::tamtam_wait::Operation, _: &::tamtam_wait::Context) {}
    };
}

pub(crate) use {in_list, in_no_list};
