%% Float segments of 16, 32 and 64 bits: values, infinities and not-a-numbers that must not match.
-module(bits_match_floats).
-export([main/1]).

main(_) ->
    Fs = [0.0, -0.0, 1.0, -1.5, 0.1, 65504.0, 1.0e-5, 6.0e-8, 1.0e30, 1.0e-40, 3.4028234663852886e38],
    t:w(f64, [<<F/float>> || F <- Fs]),
    t:w(f32, [<<F:32/float>> || F <- Fs]),
    t:w(f16, [try <<F:16/float>> catch error:badarg -> badarg end || F <- Fs]),
    t:w(little, [{<<F/little-float>>, <<F:32/float-little>>} || F <- Fs]),
    t:w(back64, [begin <<X/float>> = <<F/float>>, X =:= F end || F <- Fs]),
    t:w(back32, [begin <<X:32/float>> = <<F:32/float>>, X end || F <- Fs]),
    t:w(back16, [begin <<X:16/float>> = <<F:16/float>>, X end || F <- lists:sublist(Fs, 8)]),
    t:w(special, [case B of <<X/float>> -> X; <<X:32/float>> -> X; <<X:16/float>> -> X; _ -> no end || B <- [<<16#7ff0000000000000:64>>, <<16#fff0000000000000:64>>, <<16#7ff8000000000000:64>>,
        <<16#7f800000:32>>, <<16#ffc00000:32>>, <<16#7c00:16>>, <<16#7e00:16>>, <<1:64>>, <<1:32>>, <<1:16>>, <<16#3c00:16>>, <<16#fbff:16>>]]),
    t:w(unaligned, case <<1:3, 2.5/float, -7.25:32/float-little, 0:5>> of <<_:3, X1/float, Y1:32/float-little, _:5>> -> {X1, Y1} end),
    t:w(ints, [<<1/float>>, <<2:32/float>>, <<3:16/float>>, <<-1/float-little>>]),
    t:w(size_var, [case <<1.5:S/float>> of <<X:S/float>> -> X; _ -> no end || S <- [16, 32, 64]]),
    t:w(bad_size, [case <<0:128>> of <<X:S/float, _/bits>> -> X; _ -> no end || S <- [t:id(8), 24, 128, 0]]),
    t:w(nan_rest, [X || <<X:32/float>> <= <<1.0:32/float, 16#7fc00000:32, 2.0:32/float>>]).
