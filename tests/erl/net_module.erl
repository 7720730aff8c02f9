%% Names of hosts and interfaces: prim_net and the module net. Only what is the same on every computer is printed.
-module(net_module).
-export([main/1]).

main(_) ->
    {ok, Found} = net:getaddrinfo("127.0.0.1", "80"),
    t:w(getaddrinfo, [{F, T, P, lists:sort(maps:to_list(A))} || #{family := F, socktype := T, protocol := P, addr := A} <- Found]),
    {ok, Six} = net:getaddrinfo("::1"),
    t:w(getaddrinfo6, lists:usort([lists:sort(maps:to_list(A)) || #{addr := A} <- Six])),
    [t:e({getaddrinfo, A, B}, fun() -> net:getaddrinfo(A, B) end) ||
        {A, B} <- [{"no such name", undefined}, {undefined, undefined}, {[300], "80"}, {a, "80"}, {"127.0.0.1", "no such service"}]],
    V4 = #{family => inet, addr => {127, 0, 0, 1}, port => 80},
    V6 = #{family => inet6, addr => {0, 0, 0, 0, 0, 0, 0, 1}, port => 80},
    Numbers = [numerichost, numericserv],
    [t:e({getnameinfo, lists:sort(maps:to_list(A)), Flags}, fun() -> pairs(net:getnameinfo(A, Flags)) end) ||
        {A, Flags} <- [{V4, Numbers}, {V6, Numbers}, {V4, [dgram | Numbers]}, {V4, [foo]}, {V4#{addr => {1, 2, 3, 400}}, Numbers},
                       {V4#{addr => any}, Numbers}, {V4#{port => 65536 + 7}, Numbers}, {V6#{addr => loopback, scope_id => -1}, Numbers},
                       {#{family => local, path => "/tmp/a"}, Numbers}, {#{family => inet, addr => a, port => 1}, Numbers}]],
    {ok, Name} = net:gethostname(),
    t:w(gethostname, Name =/= [] andalso lists:all(fun erlang:is_integer/1, Name)),
    t:w(lo, {net:if_name2index("lo"), net:if_index2name(1)}),
    {ok, Names} = net:if_names(),
    t:w(if_names, lists:member({1, "lo"}, Names)),
    [t:e(E, F) || {E, F} <- [{no_name, fun() -> net:if_name2index("nonesuch") end},
                             {long_name, fun() -> net:if_name2index(lists:duplicate(40, $a)) end},
                             {no_index, fun() -> net:if_index2name(100000) end},
                             {bad_index, fun() -> prim_net:if_index2name(-1) end},
                             {big_index, fun() -> prim_net:if_index2name(1 bsl 70) end},
                             {service, fun() -> prim_net:getservbyname("no such service", "tcp") end},
                             {no_namespace, fun() -> prim_net:getifaddrs(#{netns => "/nonesuch"}) end},
                             {windows, fun() -> prim_net:get_if_entry(#{}) end}]],
    {ok, Interfaces} = net:getifaddrs(),
    t:w(loopback, lists:sort([{pairs(A), pairs(M)} || #{name := "lo", addr := #{family := inet} = A, netmask := M} <- Interfaces])),
    t:w(hardware, [{pairs(A)} || #{name := "lo", addr := #{family := packet} = A} <- Interfaces]).

pairs({ok, Map}) -> {ok, pairs(Map)};
pairs(Map) when is_map(Map) -> lists:sort(maps:to_list(Map));
pairs(Other) -> Other.
