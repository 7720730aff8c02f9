"""The table on the terminal: a line per program and number of schedulers, as they come in."""

from figures import against, fastest_against

HEAD = (f"{'program':18} {'sched':>5} | {'heddle ms':>10} {'spread':>6} {'speed-up':>8} {'best':>5} {'reds':>6} "
        f"| {'stock ms':>10} {'spread':>6} {'speed-up':>8} {'best':>5} {'reds':>6} | {'ratio':>6} {'best':>5}")


def lines(program):
    for heddle, stock in zip(program["emulators"]["heddle"]["points"], program["emulators"]["stock"]["points"]):
        yield (f"{program['name']:18} {heddle['schedulers']:5} | {side(heddle)} | {side(stock)} | "
               f"{show(against(heddle, stock), '6.2f', 6)} {show(fastest_against(heddle, stock), '5.2f', 5)}")
        for who, point in (("heddle", heddle), ("stock", stock)):
            if point["error"]:
                yield f"{'':18} {'':5} | {who}: {point['error']}"
    for who, row in program["emulators"].items():
        for mode, name in (("sequential", "sequential mode"), ("private", "private threads")):
            if row[mode]["ratio"]:
                yield (f"{'':24} | {who}: SMP with one scheduler / {name} {row[mode]['ratio']:.2f} ({row[mode]['median_ms']:.1f} ms), "
                       f"of the fastest runs {row[mode]['fastest_ratio']:.2f}")


def side(point):
    if point["error"]:
        return f"{'no figures':>39}"
    return (f"{show(point['median_ms'], '10.1f', 10)} {show(point['spread'], '6.0%', 6)} "
            f"{show(point['speedup'], '8.2f', 8)} {show(point['fastest_speedup'], '5.2f', 5)} {show(point['reductions_ratio'], '6.3f', 6)}")


def show(value, form, width):
    return f"{'-':>{width}}" if value is None else format(value, form)
