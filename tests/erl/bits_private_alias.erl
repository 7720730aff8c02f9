%% Hand-made code that no compiler makes: a private append whose source stands in a second register and is appended to itself.
%% What comes out is not defined; the machine must live, and other binaries must keep their contents. (Stock OTP 27.3 dies of it,
%% SIGSEGV: what is expected here was not recorded but written down.)
-module(bits_private_alias).
-export([main/1]).

main(_) ->
    Asm = {bits_alias, [{f, 1}, {module_info, 0}], [],
           [{function, f, 1, 2,
             [{label, 1}, {func_info, {atom, bits_alias}, {atom, f}, 1}, {label, 2},
              {bs_create_bin, {f, 0}, 0, 1, 8, {x, 0},
               {list, [{atom, append}, 1, 8, nil, {x, 0}, {atom, all}, {atom, integer}, 2, 1, nil, {integer, 1}, {integer, 8}]}},
              {move, {x, 0}, {x, 1}},
              {bs_create_bin, {f, 0}, 0, 2, 8, {x, 0},
               {list, [{atom, private_append}, 1, 8, nil, {x, 0}, {atom, all}, {atom, binary}, 2, 8, nil, {x, 1}, {atom, all}]}},
              return]},
            {function, module_info, 0, 4,
             [{label, 3}, {func_info, {atom, bits_alias}, {atom, module_info}, 0}, {label, 4}, {move, nil, {x, 0}}, return]}],
           5},
    {ok, bits_alias, Beam} = compile:forms(Asm, [from_asm, binary, no_postopt]),
    {module, bits_alias} = code:load_binary(bits_alias, "bits_alias", Beam),
    Witness = [binary:copy(<<N>>, 300) || N <- lists:seq(1, 50)],
    Sizes = [is_binary(bits_alias:f(binary:copy(<<7>>, N))) || N <- lists:seq(1, 700)],
    t:w(alive, lists:usort(Sizes)),
    t:w(witness, lists:usort([byte_size(W) || W <- Witness, W =:= binary:copy(binary:part(W, 0, 1), 300)])).
