%% The process dictionary, whose number of entries goes up and down.
-module(seq_dictionary).
-export([step/0, init/0, run/3, done/1]).

init() -> ok.
done(_) -> erase().

%% Keys come from a range that is chosen now and then, so phases of growth and of shrinking alternate.
step() ->
    {Range, Grow} = case get(phase) of
                        {Left, R, G} when Left > 0 -> put(phase, {Left - 1, R, G}), {R, G};
                        _ -> put(phase, {20 + seq_value:below(200), seq_value:one({5, 17, 18, 33, 34, 40, 70, 140, 600}), seq_value:one({15, 35, 50, 65, 90})}), {20, 50}
                    end,
    Key = case seq_value:below(8) of
              0 -> seq_value:make(key);
              1 -> {seq_value:below(Range)};
              2 -> float(seq_value:below(Range));
              _ -> seq_value:below(Range)
          end,
    case seq_value:below(100) of
        0 -> {all, [], none};
        1 -> {keys, [], none};
        2 -> {keys, [seq_value:below(3)], none};
        3 -> case seq_value:chance(5) of true -> {erase_all, [], none}; false -> {'get', [Key], any} end;
        N when N < 20 -> {'get', [Key], any};
        _ -> case seq_value:chance(Grow) of
                 true -> {'put', [Key, seq_value:arg(any)], any};
                 false -> {erase, [Key], any}
             end
    end.

run(all, [], S) -> {seq_value:sorted(get()), S};
run(keys, [], S) -> {seq_value:sorted(get_keys()), S};
run(keys, [V], S) -> {seq_value:sorted(get_keys(V)), S};
run(erase_all, [], S) -> {seq_value:sorted(erase()), S};
run('get', [K], S) -> {get(K), S};
run('put', [K, V], S) -> {put(K, V), S};
run(erase, [K], S) -> {erase(K), S}.
