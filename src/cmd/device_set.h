/* The devices of a run, as --device, --ngpus and --api ask for them. */
#ifndef GLS_CMD_DEVICE_SET_H
#define GLS_CMD_DEVICE_SET_H

#include <glslines/track.h>

typedef struct device_set {
    gls_device *device[GLS_TRACKER_MAX_DEVICES];
    size_t n;
} device_set;

/* How many devices a list of names stands for: they are parted by commas without a blank behind them, since renderers
 * have such in their names. */
size_t device_set_count(const char *names);
/* Opens the devices of the list, or n of the one name in it (see gls_device_open_several()). Prints what they are.
 * Returns an exit code, the message printed. */
int device_set_open(device_set *set, const char *names, size_t n, const char *api);
void device_set_close(device_set *set);

#endif
