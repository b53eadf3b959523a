%% The classics of the Savina suite as Erlang has them: a process for each actor, which knows others by their pids.
%%
%% What they do, and how it is verified, is what the Rust programs do (crates/tamtam-lab/src/experiments/savina).
-module(tamtam_savina).
-export([variants/0, one_round/1]).

%% The experiments, and how many operations a round of each is.
variants() ->
    [{"counting", 1000000}, {"fork-join", 600000}, {"threadring", 100000}, {"big", 240000}, {"chameneos", 200000}].

%% Builds the actors, lets them work, waits, and ends them. The times in nanoseconds.
one_round(Experiment) ->
    Start = erlang:monotonic_time(nanosecond),
    {Actors, Begin, Finish} = build(Experiment, self()),
    Built = erlang:monotonic_time(nanosecond),
    Begin(),
    Finish(),
    Done = erlang:monotonic_time(nanosecond),
    [end_actor(Actor) || Actor <- Actors],
    {Built - Start, Done - Start}.

end_actor(Actor) ->
    Monitor = monitor(process, Actor),
    exit(Actor, kill),
    receive {'DOWN', Monitor, process, Actor, _} -> ok end.

%% The actors; what starts them; what waits until all is done, and looks whether it is as it should be.
build("counting", Main) ->
    Numbers = 1000000,
    Counter = spawn(fun() -> counter(0) end),
    Producer = spawn(fun() -> producer(Numbers, Counter, Main) end),
    {[Counter, Producer],
        fun() -> Producer ! start end,
        fun() -> expect({counted, Numbers}) end};
build("fork-join", Main) ->
    Messages = 10000,
    Actors = [spawn(fun() -> worker(0, Messages, Main) end) || _ <- lists:seq(1, 60)],
    {Actors,
        fun() -> fork(0, Messages, Actors) end,
        fun() -> [expect({handled, Messages}) || _ <- Actors] end};
build("threadring", Main) ->
    {Actors, Hops} = {100, 100000},
    Last = spawn(fun() -> receive {first, First} -> ring(Actors - 1, Actors, Hops, First, Main) end end),
    Others = ring_before(Actors - 2, Actors, Hops, [Last], Main),
    First = hd(Others),
    Last ! {first, First},
    {Others, fun() -> First ! 0 end, fun() -> expect({hops, Hops}) end};
build("big", Main) ->
    {Actors, Pings} = {120, 2000},
    All = [spawn(fun() ->
        receive {all, All} -> big(Position, All, Pings, 0, 16#9E3779B9 bxor Position, Main) end
    end) || Position <- lists:seq(0, Actors - 1)],
    Everybody = list_to_tuple(All),
    [Actor ! {all, Everybody} || Actor <- All],
    {All,
        fun() -> [Actor ! start || Actor <- All] end,
        fun() -> [expect({answered, Pings}) || _ <- All] end};
build("chameneos", Main) ->
    {Creatures, Meetings} = {100, 200000},
    Mall = spawn(fun() -> mall(none, Meetings) end),
    All = [spawn(fun() -> creature(Mall, element(Place rem 3 + 1, {blue, red, yellow}), Main) end)
        || Place <- lists:seq(1, Creatures)],
    {[Mall | All],
        fun() -> [Creature ! start || Creature <- All] end,
        fun() ->
            Met = lists:sum([receive {met, Creature, Times} -> Times; {wrong, Reason} -> unverified(Reason) end
                || Creature <- All]),
            Met =:= 2 * Meetings orelse unverified(io_lib:format("~w creatures met where ~w should", [Met, 2 * Meetings]))
        end}.

expect(Due) ->
    receive
        Due -> ok;
        Other -> unverified(io_lib:format("~w where ~w was due", [Other, Due]))
    end.

-spec unverified(iodata()) -> no_return().
unverified(Reason) ->
    throw({unverified, Reason}).

producer(Numbers, Counter, Main) ->
    receive start -> count_up(0, Numbers, Counter) end,
    Counter ! {how_many, self()},
    receive Counted -> Main ! Counted end.

count_up(Numbers, Numbers, _) -> ok;
count_up(Number, Numbers, Counter) ->
    Counter ! Number,
    count_up(Number + 1, Numbers, Counter).

counter(Counted) ->
    receive
        {how_many, Producer} -> Producer ! {counted, Counted};
        Counted -> counter(Counted + 1);
        Number when is_integer(Counted) -> counter({Number, came, where, Counted, was, due});
        _ -> counter(Counted)
    end.

fork(Messages, Messages, _) -> ok;
fork(Number, Messages, Actors) ->
    [Actor ! Number || Actor <- Actors],
    fork(Number + 1, Messages, Actors).

worker(Messages, Messages, Main) ->
    Main ! {handled, Messages},
    receive Number -> Main ! {wrong, Number} end;
worker(Due, Messages, Main) ->
    receive
        Due -> worker(Due + 1, Messages, Main);
        Number -> Main ! {handled, {Number, came, where, Due, was, due}}
    end.

ring_before(-1, _, _, All, _) -> All;
ring_before(Position, Actors, Hops, [Next | _] = All, Main) ->
    Actor = spawn(fun() -> ring(Position, Actors, Hops, Next, Main) end),
    ring_before(Position - 1, Actors, Hops, [Actor | All], Main).

ring(Due, Actors, Hops, Next, Main) ->
    receive
        Due when Due + 1 =:= Hops -> Main ! {hops, Hops};
        Due ->
            Next ! Due + 1,
            ring(Due + Actors, Actors, Hops, Next, Main);
        Hop -> Main ! {hops, {Hop, came, where, Due, was, due}}
    end.

%% Answered is how many of its pings were answered.
big(Position, All, Pings, Answered, Random, Main) ->
    receive
        {ping, From, Number} ->
            From ! {pong, self(), Number},
            big(Position, All, Pings, Answered, Random, Main);
        start when Answered =:= 0 ->
            big(Position, All, Pings, Answered, ping(Position, All, 0, Random), Main);
        {pong, _, Number} when Number =:= Answered, Number + 1 =:= Pings ->
            Main ! {answered, Pings},
            big(Position, All, Pings, Pings, Random, Main);
        {pong, _, Number} when Number =:= Answered ->
            big(Position, All, Pings, Answered + 1, ping(Position, All, Answered + 1, Random), Main);
        Other ->
            Main ! {answered, {Other, came, where, Answered, was, due}}
    end.

%% Sends a ping to anybody else; Marsaglia's generator ("Xorshift RNGs", 2003), as in the other programs.
ping(Position, All, Number, Random) ->
    First = (Random bxor (Random bsl 13)) band 16#FFFFFFFF,
    Second = First bxor (First bsr 17),
    Third = (Second bxor (Second bsl 5)) band 16#FFFFFFFF,
    Ahead = 1 + Third rem (tuple_size(All) - 1),
    element((Position + Ahead) rem tuple_size(All) + 1, All) ! {ping, self(), Number},
    Third.

mall(_, 0) ->
    receive
        {come, Creature, Visit, _} ->
            Creature ! {closed, Visit},
            mall(none, 0)
    end;
mall(none, Meetings) ->
    receive {come, _, _, _} = Waiting -> mall(Waiting, Meetings) end;
mall({come, First, FirstVisit, _}, Meetings) ->
    receive
        {come, Second, Visit, Colour} ->
            First ! {meet, FirstVisit, Second, Visit, Colour},
            mall(none, Meetings - 1)
    end.

creature(Mall, Colour, Main) ->
    receive start -> ok end,
    creature(Mall, Colour, 0, Main).

%% Comes to the mall; it has met somebody on each visit before.
creature(Mall, Colour, Visit, Main) ->
    Mall ! {come, self(), Visit, Colour},
    receive
        {meet, Visit, Other, OthersVisit, OthersColour} ->
            Now = met(Colour, OthersColour),
            Other ! {change, OthersVisit, Now},
            creature(Mall, Now, Visit + 1, Main);
        {change, Visit, Now} ->
            creature(Mall, Now, Visit + 1, Main);
        {closed, Visit} ->
            Main ! {met, self(), Visit},
            receive Message -> Main ! {wrong, io_lib:format("~w came after the end", [Message])} end;
        Message ->
            Main ! {wrong, io_lib:format("~w came on visit ~w", [Message, Visit])}
    end.

met(Colour, Colour) -> Colour;
met(First, Second) ->
    [Third] = [blue, red, yellow] -- [First, Second],
    Third.
