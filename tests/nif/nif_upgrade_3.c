#define VERSION 3
#include "nif_upgrade.c"
