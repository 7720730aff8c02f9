/* A library that is no driver, for tests/erl/driver_calls.erl. */

int driver_calls_2(void)
{
    return 0;
}
