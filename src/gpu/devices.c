/* Opens the devices that a run asks for. */
#include "gpu/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/status.h"

/* Length of the first name in the list. */
static size_t name_length(const char *names)
{
    size_t n = 0;
    while (names[n] && (names[n] != ',' || names[n + 1] == ' ')) n++;
    return n;
}

size_t gls_device_set_count(const char *names)
{
    size_t n = 1;
    for (const char *at = names; *(at += name_length(at)); at++) n++;
    return n;
}

gls_status gls_device_names_check(const char *names)
{
    const size_t n = gls_device_set_count(names);
    if (n > GLS_TRACKER_MAX_DEVICES)
        return gls_fail(GLS_ERR_ARGUMENT, "--device: has %zu names, but a run takes %d devices at most", n,
                        GLS_TRACKER_MAX_DEVICES);
    const char *at = names;
    for (size_t i = 0; i < n; i++, at += name_length(at) + 1)
        if (name_length(at) == 0)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--device: '%s' has an empty name: give names with one comma between them", names);
    return GLS_OK;
}

gls_status gls_device_gpus_check(const char *names, size_t n, gls_graphics api)
{
    if (strcmp(names, "cpu") == 0 && (n > 1 || api != GLS_GRAPHICS_AUTO))
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: not with --device cpu, which uses no device: leave out one of them",
                        n > 1 ? "ngpus" : "api");
    return gls_device_names_check(names);
}

/* Opens n devices of one name of --device; name: `length` bytes, without a NUL behind them. */
static gls_status open_named(gls_device_set *set, const char *name, size_t length, size_t n, gls_graphics api)
{
    char *copy = strndup(name, length);
    if (!copy) return gls_no_memory();
    gls_status status = gls_device_open_several(copy, api, n, &set->device[set->n]);
    free(copy);
    if (status) return status;
    set->n += n;
    return GLS_OK;
}

/* Logs n equal devices. asked_for_any: --device auto, where a software renderer means that no GPU was found. */
static void print_device(const gls_device_info *device, size_t n, bool asked_for_any)
{
    char times[32] = "";
    if (n > 1) snprintf(times, sizeof times, "%zu x ", n);
    if (device->software)
        gls_log(GLS_LOG_INFO, "device: %ssoftware renderer on the CPU: %s, %s%s", times, device->renderer,
                device->version, asked_for_any ? " (no GPU was found; see 'glslines devices --doctor')" : "");
    else
        gls_log(GLS_LOG_INFO, "device: %s%s, %s", times, device->renderer, device->version);
}

/* Logs the devices. Equal neighbours become one entry. */
static void print_devices(const gls_device_set *set, bool asked_for_any)
{
    for (size_t i = 0, n; i < set->n; i += n) {
        const gls_device_info *first = gls_device_get_info(set->device[i]);
        for (n = 1; i + n < set->n; n++) {
            const gls_device_info *next = gls_device_get_info(set->device[i + n]);
            if (strcmp(first->renderer, next->renderer) != 0 || strcmp(first->version, next->version) != 0) break;
        }
        print_device(first, n, asked_for_any);
    }
}

/* Makes ~/.cache, where NVIDIA's driver keeps compiled kernels if XDG_CACHE_HOME names no other folder; kept kernels
 * save a second in each run. The driver itself does not make it, and new users and containers lack it. Not done in the
 * home of another user, as under sudo. */
static void make_cache_folder(void)
{
    const char *named = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char path[4096];
    struct stat info;
    if ((named && *named) || !home || stat(home, &info) != 0 || info.st_uid != geteuid()) return;
    if (snprintf(path, sizeof path, "%s/.cache", home) < (int)sizeof path) mkdir(path, 0700);
}

gls_status gls_device_set_open(gls_device_set *set, const char *names, size_t n, gls_graphics api)
{
    make_cache_folder();
    const size_t n_names = gls_device_set_count(names);
    *set = (gls_device_set){.n = 0};
    gls_status status = gls_device_names_check(names);
    /* several names: one device each; one name: n devices */
    for (const char *at = names; !status && set->n < n_names; at += name_length(at) + 1)
        status = open_named(set, at, name_length(at), n_names > 1 ? 1 : n, api);
    if (status)
        gls_device_set_close(set);
    else
        print_devices(set, strcmp(names, "auto") == 0);
    return status;
}

gls_status gls_device_set_open_gpus(gls_device_set *set, const char *names, size_t n, gls_graphics api,
                                    const char *on_cpu)
{
    const bool any = strcmp(names, "auto") == 0;
    gls_status status = GLS_OK;
    *set = (gls_device_set){.n = 0};
    if (strcmp(names, "cpu") != 0) status = gls_device_set_open(set, names, n, api);
    if (status && (status != GLS_ERR_DEVICE || !any)) return status;
    if (set->n > 0 && any && gls_device_get_info(set->device[0])->software) gls_device_set_close(set);
    if (set->n == 0) gls_log(GLS_LOG_INFO, "%s", on_cpu);
    return GLS_OK;
}

void gls_device_set_close(gls_device_set *set)
{
    while (set->n > 0) gls_device_close(set->device[--set->n]);
}
