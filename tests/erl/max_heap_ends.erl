%% A collection that finds more than max_heap_size ends the process, whatever it does before its slice is over.
-module(max_heap_ends).
-export([main/1]).

main(_) ->
    Name = fun(F) -> element(2, erlang:fun_info(F, name)) end,
    [t:w(Name(F), [ended(F), ended(fun() -> catch F() end)]) || F <- [fun exits/0, fun returns/0, fun fails/0, fun bignum/0, fun sends/0, fun waits/0, fun calls/0]].

ended(F) ->
    Options = [monitor, {max_heap_size, #{size => 233, kill => true, error_logger => false}}],
    {Pid, Ref} = spawn_opt(F, Options),
    receive {'DOWN', Ref, process, Pid, killed} -> killed; {'DOWN', Ref, process, Pid, _} -> lives end.

exits() ->
    A = erlang:make_tuple(209, a),
    Size = id(64),
    B = <<0:Size/unit:8>>,
    C = <<1:Size/unit:8>>,
    D = <<2:Size/unit:8>>,
    exit(id({A, B, C, D})).

returns() -> id(build(2000)).

fails() -> error(id(build(2000))).

bignum() ->
    Size = id(233 * 8),
    Bin = id(<<255:Size/little-unit:8>>),
    <<N:Size/big-unit:8>> = Bin,
    exit(id(N)).

%% The first message after the collection may be under way.
sends() ->
    List = build(2000),
    self() ! one,
    self() ! two,
    id(List).

waits() ->
    List = build(2000),
    receive never -> ok after 1 -> ok end,
    id(List).

calls() ->
    List = build(2000),
    _ = erlang:crc32(List),
    id(List).

build(N) -> build(N, []).

build(0, List) -> List;
build(N, List) -> build(N - 1, [0 | List]).

%% With a shared heap nothing is full yet, so a process that wants a collection asks for it, and what counts is what it has when its slice ends.
id(X) ->
    is_shared() andalso begin erlang:garbage_collect(), erlang:yield() end,
    X.

is_shared() -> (catch erlang:system_info(heap_type)) =:= shared.
