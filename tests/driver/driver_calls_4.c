/* A driver whose ports say later that they have started, for tests/erl/driver_calls.erl. */

#include <erl_driver.h>
#include <errno.h>
#include <string.h>

typedef struct {
    ErlDrvPort port;
    long result;
} State;

static ErlDrvData start(ErlDrvPort port, char *command)
{
    State *state = driver_alloc(sizeof(State));
    state->port = port;
    state->result = strstr(command, "general") ? -1 : strstr(command, "errno") ? -2 : strstr(command, "badarg") ? -3 : 0;
    driver_set_timer(port, 20);
    return (ErlDrvData)state;
}

static void timeout(ErlDrvData data)
{
    State *state = (State *)data;
    errno = ENOSPC;
    erl_drv_init_ack(state->port, state->result ? (ErlDrvData)state->result : data);
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned int operation, char *buffer, ErlDrvSizeT size, char **reply, ErlDrvSizeT room)
{
    memcpy(*reply, "here", 4);
    return 4;
}

static ErlDrvEntry entry = {
    .start = start,
    .driver_name = "driver_calls_4",
    .control = control,
    .timeout = timeout,
    .extended_marker = ERL_DRV_EXTENDED_MARKER,
    .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
    .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
    .driver_flags = ERL_DRV_FLAG_USE_INIT_ACK,
};

DRIVER_INIT(driver_calls_4)
{
    return &entry;
}
