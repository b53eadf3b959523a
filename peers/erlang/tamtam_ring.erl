%% The peer of Erlang in Tamtam's lab: a process for each actor of the ring. The classics are in tamtam_savina.
%%
%% It answers `contender list` and `contender run ring erlang VARIANT --limit-ms N`. What is measured, and how it is
%% verified, is what the Rust programs do (crates/tamtam-lab/src/experiments/ring): a message, {Number, Hops}, counts its own
%% way, and must come to its end once, handled as often as it should, and in order.
-module(tamtam_ring).
-export([main/1]).

%% So many rounds are made however long they take.
-define(LEAST_ROUNDS, 3).
%% The hops of a message that came to the wrong actor.
-define(ASTRAY, 1 bsl 40).

-record(course, {count, actors = 10000, messages = 500, kind = last}).

main(Words) ->
    %% Units are not all ASCII.
    ok = io:setopts(standard_io, [{encoding, unicode}]),
    answer(Words).

answer(["contender", "list"]) ->
    list("ring", [
        "4875250/2cores/last", "4875250/2cores/all", "1000000/2cores/token", "4999990/2cores/million",
        "4875250/1core/last", "4875250/1core/all", "1000000/1core/token"
    ]),
    [list(Experiment, [integer_to_list(Count) ++ Placement || Placement <- ["/2cores", "/1core"]])
        || {Experiment, Count} <- tamtam_savina:variants()];
answer(["contender", "run", Experiment, "erlang", Variant, "--limit-ms", Limit]) ->
    {Count, OneRound} = case Experiment of
        "ring" ->
            Course = course(Variant),
            {Course#course.count, fun() -> one_round(Course) end};
        _ -> classic(Experiment, Variant)
    end,
    try run(Count, OneRound, list_to_integer(Limit)) of
        {Operations, Elapsed, Metrics} ->
            Lines = [io_lib:format("{\"metric\":\"~s\",\"unit\":\"~ts\",\"value\":~w}", [Name, Unit, float(Value)])
                || {Name, Unit, Value} <- Metrics],
            io:format("{\"experiment\":\"~s\",\"variant\":\"~s\",\"contender\":\"erlang\",\"version\":\"~s\","
                "\"ours\":false,\"verified\":true,\"operations\":~w,\"elapsed_ns\":~w,\"metrics\":[~ts],\"note\":null}~n",
                [Experiment, Variant, version(), Operations, Elapsed, lists:join(",", Lines)])
    catch
        throw:{unverified, Reason} ->
            fail(1, "~s erlang ~s: delivery not verified: ~ts~n", [Experiment, Variant, Reason])
    end;
answer(_) ->
    fail(2, "usage: contender list~n       contender run EXPERIMENT erlang VARIANT --limit-ms N~n", []).

list(Experiment, Variants) ->
    Quoted = [["\"", Variant, "\""] || Variant <- Variants],
    io:format("{\"contender\":\"erlang\",\"version\":\"~s\",\"ours\":false,\"experiment\":\"~s\",\"variants\":[~s],"
        "\"about\":\"a process for each actor\"}~n", [version(), Experiment, lists:join(",", Quoted)]).

%% How many operations a round is, and what makes one.
classic(Experiment, Variant) ->
    [Number | _] = string:split(Variant, "/"),
    case lists:keyfind(Experiment, 1, tamtam_savina:variants()) of
        {_, Count} ->
            integer_to_list(Count) =:= Number orelse fail(2, "no such variant: ~s~n", [Variant]),
            {Count, fun() -> tamtam_savina:one_round(Experiment) end};
        false -> fail(2, "no such experiment: ~s~n", [Experiment])
    end.

version() -> erlang:system_info(otp_release).

fail(Code, Format, Words) ->
    io:format(standard_error, Format, Words),
    halt(Code).

course(Variant) ->
    Course = case string:split(Variant, "/", all) of
        [Count, _, "last"] -> #course{count = list_to_integer(Count)};
        [Count, _, "all"] -> #course{count = list_to_integer(Count), kind = all};
        [Count, _, "token"] -> #course{count = list_to_integer(Count), kind = token, messages = 1};
        [Count, _, "million"] -> #course{count = list_to_integer(Count), actors = 1000000, messages = 5};
        _ -> fail(2, "no such variant: ~s~n", [Variant])
    end,
    #course{actors = Actors, messages = Messages, kind = Kind} = Course,
    case Actors * Messages - Messages * (Messages - 1) div 2 of
        Handled when Kind =:= token; Handled =:= Course#course.count -> Course;
        Handled -> fail(2, "~w messages are handled, not ~w~n", [Handled, Course#course.count])
    end.

run(Count, OneRound, Limit) ->
    Start = erlang:monotonic_time(nanosecond),
    {_, First} = OneRound(),
    {CpuBefore, _} = statistics(runtime),
    Rounds = rounds(OneRound, Start + Limit * 1000000, 1),
    {CpuAfter, _} = statistics(runtime),
    Wholes = [Whole || {_, Whole} <- Rounds],
    Steady = lists:nthtail(length(Rounds) div 2, Rounds),
    Total = median([Whole || {_, Whole} <- Steady]),
    Operations = Count * length(Rounds),
    {Operations, lists:sum(Wholes), [
        {"ns_per_op", "ns", Total / Count},
        {"total_us", "µs", Total / 1000},
        {"first_us", "µs", First / 1000},
        {"best_us", "µs", lists:min(Wholes) / 1000},
        {"build_us", "µs", median([Build || {Build, _} <- Steady]) / 1000},
        {"cpu_ns_per_op", "ns", (CpuAfter - CpuBefore) * 1000000 / Operations},
        {"peak_rss_kib", "KiB", peak()}
    ]}.

rounds(OneRound, End, Made) ->
    case Made >= ?LEAST_ROUNDS andalso erlang:monotonic_time(nanosecond) >= End of
        true -> [];
        false ->
            Round = OneRound(),
            [Round | rounds(OneRound, End, Made + 1)]
    end.

median(Values) ->
    Sorted = lists:sort(Values),
    Middle = length(Sorted) div 2,
    case length(Sorted) rem 2 of
        1 -> lists:nth(Middle + 1, Sorted);
        0 -> (lists:nth(Middle, Sorted) + lists:nth(Middle + 1, Sorted)) / 2
    end.

%% The largest memory so far, in KiB.
peak() ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [Kib]} = re:run(Status, "VmHWM:\\s*(\\d+)", [{capture, all_but_first, list}]),
    list_to_integer(Kib).

%% Builds the actors, sends, waits, and looks whether all is as it should be. The times in nanoseconds.
one_round(#course{actors = Actors, messages = Messages, kind = Kind} = Course) ->
    Main = self(),
    Latch = case Kind of
        all ->
            Reference = atomics:new(1, []),
            atomics:put(Reference, 1, Course#course.count),
            {Reference, Main};
        _ -> none
    end,
    Start = erlang:monotonic_time(nanosecond),
    {First, Entries} = build(Course, Latch, Main),
    Built = erlang:monotonic_time(nanosecond),
    send(0, Entries),
    case Kind of
        all -> receive all_counted -> ok end;
        _ -> receive all_ended -> ok end
    end,
    Done = erlang:monotonic_time(nanosecond),
    First ! stop,
    receive stopped -> ok end,
    End = receive {came_to_end, Came} -> lists:reverse(Came) end,
    Middle = case Kind of
        token -> none;
        _ -> receive {came_to_middle, CameBy} -> lists:reverse(CameBy) end
    end,
    verify(Course, End, Middle),
    (Actors > Messages) orelse throw({unverified, "too few actors"}),
    {Built - Start, Done - Start}.

send(_, []) -> ok;
send(Number, [Entry | Entries]) ->
    Entry ! {Number, 0},
    send(Number + 1, Entries).

%% From the last actor to the first; gives the first, and those at which messages enter.
build(#course{actors = Actors, kind = token, count = Hops}, none, Main) ->
    Last = spawn(fun() ->
        receive {first, First} -> token(Actors - 1, Actors, First, end_of(Actors - 1, Actors, Hops), Main, {last, Main}) end
    end),
    First = build_token(Actors - 2, Actors, Hops, Last, Main),
    Last ! {first, First},
    {First, [First]};
build(#course{actors = Actors, messages = Messages} = Course, Latch, Main) ->
    Last = spawn(fun() -> last(Actors - 1, Course#course.messages, Latch, Main, []) end),
    build_row(Actors - 2, Messages, Latch, Main, Last, []).

build_row(-1, _, _, _, Next, Entries) ->
    {Next, Entries};
build_row(Position, Messages, Latch, Main, Next, Entries) ->
    Actor = if
        Position =:= Messages - 1 -> spawn(fun() -> middle(Position, Latch, Next, Main, []) end);
        Latch =:= none -> spawn(fun() -> pass(Position, Next) end);
        true -> spawn(fun() -> pass_and_count(Position, Latch, Next) end)
    end,
    case Position < Messages of
        true -> build_row(Position - 1, Messages, Latch, Main, Actor, [Actor | Entries]);
        false -> build_row(Position - 1, Messages, Latch, Main, Actor, Entries)
    end.

build_token(-1, _, _, Next, _) ->
    Next;
build_token(Position, Actors, Hops, Next, Main) ->
    End = end_of(Position, Actors, Hops),
    Actor = spawn(fun() -> token(Position, Actors, Next, End, Main, other) end),
    build_token(Position - 1, Actors, Hops, Actor, Main).

%% After how many hops the actor at Position ends the token; never at most of them.
end_of(Position, Actors, Hops) when (Hops - 1) rem Actors =:= Position -> Hops;
end_of(_, _, _) -> never.

hop(Due, Number, Hops) when Number + Hops =:= Due -> Hops + 1;
hop(_, _, _) -> ?ASTRAY.

pass(Due, Next) ->
    receive
        {Number, Hops} ->
            Next ! {Number, hop(Due, Number, Hops)},
            pass(Due, Next);
        stop -> Next ! stop
    end.

pass_and_count(Due, Latch, Next) ->
    receive
        {Number, Hops} ->
            Next ! {Number, hop(Due, Number, Hops)},
            count_down(Latch),
            pass_and_count(Due, Latch, Next);
        stop -> Next ! stop
    end.

count_down(none) -> ok;
count_down({Reference, Main}) ->
    case atomics:sub_get(Reference, 1, 1) of
        0 -> Main ! all_counted;
        _ -> ok
    end.

%% The last actor at which a message enters notes which ones pass.
middle(Due, Latch, Next, Main, Came) ->
    receive
        {Number, Hops} ->
            Next ! {Number, hop(Due, Number, Hops)},
            count_down(Latch),
            middle(Due, Latch, Next, Main, [Number | Came]);
        stop ->
            Main ! {came_to_middle, Came},
            Next ! stop
    end.

%% The last actor notes them all, and counts unless every message is counted.
last(Due, Missing, Latch, Main, Came) ->
    receive
        {Number, Hops} ->
            count_down(Latch),
            case {Missing, Latch} of
                {1, none} -> Main ! all_ended;
                _ -> ok
            end,
            last(Due, Missing - 1, Latch, Main, [{Number, hop(Due, Number, Hops)} | Came]);
        stop ->
            Main ! {came_to_end, Came},
            Main ! stopped
    end.

token(Due, Round, Next, End, Main, Role) ->
    receive
        {Number, Hops} ->
            case hop(Due, Number, Hops) of
                Made when Made >= End; Made =:= ?ASTRAY ->
                    Main ! {came_to_end, [{Number, Made}]},
                    Main ! all_ended;
                Made -> Next ! {Number, Made}
            end,
            token(Due + Round, Round, Next, End, Main, Role);
        stop when Role =:= other -> Next ! stop;
        stop -> Main ! stopped
    end.

verify(#course{actors = Actors, messages = Messages, kind = Kind, count = Count}, End, Middle) ->
    Due = fun(Number) ->
        case Kind of
            token -> Count;
            _ -> Actors - Number
        end
    end,
    Numbers = [Number || {Number, _} <- End],
    lists:sort(Numbers) =:= lists:seq(0, Messages - 1)
        orelse throw({unverified, io_lib:format("~w messages came to the last actor, not each of ~w once", [length(End), Messages])}),
    lists:all(fun({Number, Hops}) -> Hops =:= Due(Number) end, End)
        orelse throw({unverified, "a message was not handled by each actor once"}),
    Kind =:= token orelse lists:sum([Hops || {_, Hops} <- End]) =:= Count
        orelse throw({unverified, "not as many messages were handled as were due"}),
    Kind =:= token orelse Middle =:= Numbers
        orelse throw({unverified, "messages of one sender overtook each other"}).
