%% `system_info(dist)`: this node, a node that is connected and one that is hidden.
-module(dist_told).
-export([main/1]).

main(_) ->
    t:w(alone, sections()),
    {ok, _} = net_kernel:start([list_to_atom("dist_told_" ++ os:getpid()), shortnames]),
    {Visible, _} = node_with([]),
    {Hidden, _} = node_with(["-hidden"]),
    t:w(named, sections()),
    [peer:stop(Peer) || Peer <- [Visible, Hidden]],
    net_kernel:stop().

node_with(Args) ->
    {Erl, First} = t:emulator(),
    {ok, Peer, Node} = peer:start_link(#{name => peer:random_name(dist_told), connection => standard_io, exec => {Erl, First},
                                         args => ["-setcookie", atom_to_list(erlang:get_cookie()) | Args]}),
    pong = net_adm:ping(Node),
    {Peer, Node}.

%% The names of sections, and in those of connected nodes the names of lines that all emulators have.
sections() ->
    [Own | Others] = string:split(binary_to_list(erlang:system_info(dist)), "\n=", all),
    {own(Own), lists:sort([Section || Text <- Others, Section <- section(string:lexemes(Text, "\n"))])}.

own(Text) -> string:trim(Text) =:= "=node:'" ++ atom_to_list(node()) ++ "'".

section(["no_distribution"]) -> [no_distribution];
section([Head | Lines]) ->
    case hd(string:lexemes(Head, ":")) of
        "not_connected" -> [];
        Kind -> [{list_to_atom(Kind), [list_to_atom(Name) || Line <- Lines, [Name | _] <- [string:lexemes(Line, ":")], lists:member(Name, ["Name", "Controller", "Creation"])]}]
    end.
