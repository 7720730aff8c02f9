%% A NIF library written in Rust with rustler (tests/nif/rustler_calls): terms there and back, errors and panics, dirty NIFs,
%% resources, and messages from threads.
-module(rustler_calls).
-export([main/1]).
-export([add/2, half/1, square/1, shout/1, reversed/1, part/3, resized/2, total/1, swapped/1, mirrored/1, counted/1, other/1, area/1, kind/1,
         written/1, sorted/1, external/1, unique/0, even/1, raises/1, fibonacci/1, file_size/1, panics_dirty/0, new/1, bump/2, watch/2, forget/1,
         text/1, live/0, sums/2, thread_that_panics/0, tell/2, is_scheduler/0]).

main(_) ->
    Library = filename:join(os:getenv("HEDDLE_TEST_NIFS"), "rustler_calls"),
    t:w(not_loaded, t:e(add, fun() -> add(1, 2) end)),
    t:w(refuses, element(1, element(2, erlang:load_nif(Library, 26)))),
    t:w(loads, erlang:load_nif(Library, 27)),
    terms(),
    errors(),
    dirty(),
    resources(),
    threads().

terms() ->
    t:w(add, [add(A, B) || {A, B} <- [{1, 2}, {-1, 1}, {1 bsl 62, 1 bsl 61}]]),
    t:w(half, [half(X) || X <- [1.0, -3.5, 1.0e300]]),
    t:w(square, [square(X) || X <- [0, -12, 1 bsl 64, -(1 bsl 200) + 1]]),
    t:w(shout, [shout(X) || X <- [<<>>, <<"abc">>, <<"äöü"/utf8>>]]),
    Large = << <<N>> || N <- lists:seq(0, 255) >>,
    t:w(reversed, [reversed(B) || B <- [<<>>, <<1>>, <<1, 2, 3>>, Large]]),
    Part = part(Large, 100, 80),
    t:w(part, {Part =:= binary:part(Large, 100, 80), binary:referenced_byte_size(Part)}),
    t:w(resized, [resized(A, B) || {A, B} <- [{0, 0}, {4, 2}, {2, 4}, {100, 70}, {70, 100}]]),
    t:w(total, [total(L) || L <- [[], [1], lists:seq(1, 1000)]]),
    t:w(swapped, [lists:sort(maps:to_list(swapped(M))) || M <- [#{}, #{a => 1, b => 2}, #{N => {N} || N <- lists:seq(1, 40)}]]),
    t:w(mirrored, mirrored(#{x => 1, y => 2})),
    t:w(counted, counted({1, <<"four">>})),
    t:w(other, [other(C) || C <- [red, green]]),
    t:w(area, [area(S) || S <- [nothing, {circle, 2.0}, {box, #{width => 3, height => 4}}]]),
    Terms = [a, 1, 1 bsl 70, 1.5, <<1>>, <<1:1>>, [], [1 | 2], {}, #{}, self(), make_ref(), fun() -> ok end, hd(erlang:ports())],
    t:w(kind, [kind(T) || T <- Terms]),
    t:w(written, [written(T) || T <- [a, 'B c', -1, 1 bsl 70, 1.5, <<"abc">>, [1, {2, "3"}], #{a => [b]}, {}]]),
    t:w(sorted, sorted([{}, 2, <<"b">>, a, [], #{}, 1.5, <<"a">>, {1}, 1, [a]])),
    t:w(external, [begin {B, T} = external(T), binary_to_term(B) =:= T end || T <- [Terms, lists:seq(1, 1000), Large]]),
    t:w(unique, {is_reference(unique()), unique() =:= unique()}).

errors() ->
    t:w(even, [even(N) || N <- [2, 3]]),
    [t:w({raises, N}, t:e(raises, fun() -> raises(N) end)) || N <- lists:seq(0, 5)],
    Wrong = [{add, [a, 1]}, {add, [1 bsl 64, 1]}, {half, [1]}, {shout, [<<255>>]}, {shout, [abc]}, {part, [<<1>>, 1, 2]}, {total, [[1 | a]]},
             {total, [[a]]}, {swapped, [[]]}, {mirrored, [#{x => 1}]}, {counted, [{1}]}, {other, [blue]}, {area, [{box, 1}]}, {bump, [make_ref(), 1]},
             {watch, [new(1), a]}],
    [t:w({F, wrong}, t:e(F, fun() -> apply(?MODULE, F, A) end)) || {F, A} <- Wrong].

dirty() ->
    t:w(fibonacci, [fibonacci(N) || N <- [0, 1, 10, 20]]),
    t:w(together, [receive {P, N} -> N end || P <- [begin Me = self(), spawn(fun() -> Me ! {self(), fibonacci(15)} end) end || _ <- lists:seq(1, 20)]]),
    {ok, Size} = file_size(list_to_binary(code:which(?MODULE))),
    t:w(file_size, {Size > 1000, file_size(<<"/no such file">>)}),
    t:w(panics_dirty, t:e(panics_dirty, fun() -> panics_dirty() end)).

resources() ->
    erlang:garbage_collect(),
    t:wait_until(fun() -> live() =:= 0 end),
    Counter = new(10),
    t:w(counter, {is_reference(Counter), bump(Counter, 5), bump(Counter, -20), live()}),
    t:w(text, text(Counter)),
    t:w(elsewhere, begin
        {P, M} = spawn_monitor(fun() -> receive {C, By} -> exit(bump(C, By)) end end),
        P ! {Counter, 100},
        receive {'DOWN', M, _, _, Bumped} -> Bumped end
    end),
    Watched = spawn(fun() -> receive stop -> ok end end),
    t:w(watch, [watch(Counter, Watched), watch(Counter, Watched)]),
    Watched ! stop,
    t:w(down, lists:sort([receive {down, Watched, Was, Value} -> {Was, Value} end || _ <- [1, 2]])),
    t:wait_until(fun() -> not is_process_alive(Watched) end),
    t:w(watch_dead, watch(Counter, Watched)),
    Other = spawn(fun() -> receive stop -> ok end end),
    t:w(forget, {watch(Counter, Other), forget(Counter), forget(Counter)}),
    exit(Other, kill),
    Holder = spawn(fun() -> Many = [new(N) || N <- lists:seq(1, 100)], receive stop -> Many end end),
    t:w(held, t:wait_until(fun() -> live() =:= 101 end)),
    exit(Holder, kill),
    t:w(freed, t:wait_until(fun() -> erlang:garbage_collect(), live() =:= 1 end)),
    t:w(kept, bump(Counter, 0)),
    t:w(silent, receive Any -> Any after 20 -> nothing end).

threads() ->
    t:w(sums, begin
        ok = sums(20, lists:seq(1, 100)),
        lists:sort([receive {from_thread, N, Sum} -> {N, Sum} end || _ <- lists:seq(1, 20)])
    end),
    t:w(thread_that_panics, begin ok = thread_that_panics(), receive Said -> Said end end),
    t:w(tell, {tell(self(), [a, {b}]), receive Told -> Told end}),
    Dead = spawn(fun() -> ok end),
    t:wait_until(fun() -> not is_process_alive(Dead) end),
    t:w(tell_dead, tell(Dead, a)),
    t:w(is_scheduler, element(1, is_scheduler())).

add(_, _) -> erlang:nif_error(not_loaded).
half(_) -> erlang:nif_error(not_loaded).
square(_) -> erlang:nif_error(not_loaded).
shout(_) -> erlang:nif_error(not_loaded).
reversed(_) -> erlang:nif_error(not_loaded).
part(_, _, _) -> erlang:nif_error(not_loaded).
resized(_, _) -> erlang:nif_error(not_loaded).
total(_) -> erlang:nif_error(not_loaded).
swapped(_) -> erlang:nif_error(not_loaded).
mirrored(_) -> erlang:nif_error(not_loaded).
counted(_) -> erlang:nif_error(not_loaded).
other(_) -> erlang:nif_error(not_loaded).
area(_) -> erlang:nif_error(not_loaded).
kind(_) -> erlang:nif_error(not_loaded).
written(_) -> erlang:nif_error(not_loaded).
sorted(_) -> erlang:nif_error(not_loaded).
external(_) -> erlang:nif_error(not_loaded).
unique() -> erlang:nif_error(not_loaded).
even(_) -> erlang:nif_error(not_loaded).
raises(_) -> erlang:nif_error(not_loaded).
fibonacci(_) -> erlang:nif_error(not_loaded).
file_size(_) -> erlang:nif_error(not_loaded).
panics_dirty() -> erlang:nif_error(not_loaded).
new(_) -> erlang:nif_error(not_loaded).
bump(_, _) -> erlang:nif_error(not_loaded).
watch(_, _) -> erlang:nif_error(not_loaded).
forget(_) -> erlang:nif_error(not_loaded).
text(_) -> erlang:nif_error(not_loaded).
live() -> erlang:nif_error(not_loaded).
sums(_, _) -> erlang:nif_error(not_loaded).
thread_that_panics() -> erlang:nif_error(not_loaded).
tell(_, _) -> erlang:nif_error(not_loaded).
is_scheduler() -> erlang:nif_error(not_loaded).
