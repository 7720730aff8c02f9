%% The planets' movements in floating point numbers.
-module(nbody).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> round(energy(run(150000, planets())) * 1.0e12) end).

run(0, Bodies) -> Bodies;
run(N, Bodies) -> run(N - 1, [move(Body, 0.01) || Body <- pull(Bodies, 0.01)]).

%% Each body changes the speed of all that follow it, and they change its own.
pull([Body | Bodies], Step) ->
    {Pulled, Rest} = pull_all(Body, Bodies, [], Step),
    [Pulled | pull(Rest, Step)];
pull([], _) -> [].

pull_all(Body, [], Done, _) -> {Body, lists:reverse(Done)};
pull_all({X, Y, Z, Vx, Vy, Vz, Mass}, [{X1, Y1, Z1, Vx1, Vy1, Vz1, Mass1} | Bodies], Done, Step) ->
    Dx = X - X1, Dy = Y - Y1, Dz = Z - Z1,
    Squares = Dx * Dx + Dy * Dy + Dz * Dz,
    Force = Step / (Squares * math:sqrt(Squares)),
    A = Mass1 * Force,
    B = Mass * Force,
    pull_all({X, Y, Z, Vx - Dx * A, Vy - Dy * A, Vz - Dz * A, Mass}, Bodies,
             [{X1, Y1, Z1, Vx1 + Dx * B, Vy1 + Dy * B, Vz1 + Dz * B, Mass1} | Done], Step).

move({X, Y, Z, Vx, Vy, Vz, Mass}, Step) -> {X + Step * Vx, Y + Step * Vy, Z + Step * Vz, Vx, Vy, Vz, Mass}.

energy([]) -> 0.0;
energy([{X, Y, Z, Vx, Vy, Vz, Mass} | Bodies]) ->
    lists:foldl(fun({X1, Y1, Z1, _, _, _, Mass1}, Sum) ->
        Sum - Mass * Mass1 / math:sqrt((X - X1) * (X - X1) + (Y - Y1) * (Y - Y1) + (Z - Z1) * (Z - Z1))
    end, 0.5 * Mass * (Vx * Vx + Vy * Vy + Vz * Vz), Bodies) + energy(Bodies).

planets() ->
    [{0.0, 0.0, 0.0, -3.9e-4, -3.3e-3, -2.4e-5, 39.47},
     {4.84, -1.16, -0.104, 0.606, 2.81, -0.0252, 0.0377},
     {8.34, 4.12, -0.403, -1.01, 1.82, 0.00842, 0.0113},
     {12.9, -15.1, -0.224, 1.08, 0.868, -0.0108, 0.00172},
     {15.4, -25.9, 0.179, 0.979, 0.595, -0.0348, 0.00203}].
