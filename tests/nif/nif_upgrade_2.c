#define VERSION 2
#include "nif_upgrade.c"
