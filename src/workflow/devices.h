/* The devices of a run, and diagnosis where none is found. */
#ifndef GLS_WORKFLOW_DEVICES_H
#define GLS_WORKFLOW_DEVICES_H

#include <glslines/device.h>
#include <glslines/workflow.h>

/* --- The devices of a run, as --device, --ngpus and --api ask for them. */

typedef struct gls_device_set {
    gls_device *device[GLS_TRACKER_MAX_DEVICES];
    size_t n;
} gls_device_set;

/* How many devices a list of names stands for: they are parted by commas without a blank behind them, since renderers
 * have such in their names. */
size_t gls_device_set_count(const char *names);
/* Opens the devices of the list, or n of the one name in it (see gls_device_open_several()). Logs what they are.
 */
gls_status gls_device_set_open(gls_device_set *set, const char *names, size_t n, gls_graphics api);
void gls_device_set_close(gls_device_set *set);

/* What devices are, and which drivers failed, as lines and as JSON; from malloc, NULL: out of memory. */
char *gls_devices_text(const gls_device_info *list, size_t n);
char *gls_devices_json(const gls_device_info *list, size_t n);

/* --- Diagnosis of a machine on which no device, or not the right one, is found. */

struct cJSON;

/* A gls_device_finding; user is the report, a JSON object. */
void gls_doctor_finding(void *user, bool usable, const char *line);
/* Adds to the report what the system has, which devices glslines was tested on, what is missing and how to fix it. */
void gls_doctor_examine(struct cJSON *report, const gls_device_info *list, size_t n_devices);
/* The report in words: what was looked for; the rest. From malloc, NULL: out of memory. */
char *gls_doctor_search_text(const struct cJSON *report);
char *gls_doctor_text(const struct cJSON *report);

#endif
