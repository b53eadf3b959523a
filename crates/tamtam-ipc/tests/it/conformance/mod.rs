//! One suite for every channel between processes: what is documented of plain messages, bytes, encoded messages and sealed bytes alike holds for each.

mod ends;
mod kinds;
mod model;
mod tasks;
mod verbs;

use kinds::Kind;

/// Each of the tests for each of the kinds, by paths by which another process finds the half of its test.
macro_rules! for_each_channel {
    ($($module:ident: $($test:ident)+;)+) => {
        for_each_channel!(@one plain, Plain, $($module: $($test)+;)+);
        for_each_channel!(@one bytes, Bytes, $($module: $($test)+;)+);
        #[cfg(feature = "serde")]
        for_each_channel!(@one encoded, Encoded, $($module: $($test)+;)+);
        for_each_channel!(@one sealed, Sealed, $($module: $($test)+;)+);
    };
    (@one $name:ident, $kind:ident, $($module:ident: $($test:ident)+;)+) => {
        mod $name {
            $($(
                #[test]
                fn $test() {
                    let path = concat!("conformance::", stringify!($name), "::", stringify!($test));
                    super::$module::$test::<super::kinds::$kind>(path);
                }
            )+)+
        }
    };
}

for_each_channel! {
    verbs:
        another_process_sends_in_order
        another_process_receives_in_order
        each_sender_keeps_its_order
        what_finds_no_room_comes_back
        a_timed_call_ends_in_time
        a_batch_is_as_its_messages
        a_select_waits_for_messages_and_for_room;
    ends:
        what_was_sent_is_received_after_the_last_sender_has_gone
        what_is_sent_to_nobody_comes_back
        a_killed_sender_ends_each_way_to_wait
        a_killed_receiver_ends_each_way_to_wait;
    tasks:
        tasks_of_two_processes_send_and_receive
        a_dropped_future_has_taken_and_sent_nothing
        a_task_is_woken_by_a_message_by_room_and_by_the_end;
    model:
        any_calls_do_what_a_queue_does;
}
