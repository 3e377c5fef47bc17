/* Why a GPU is not among the devices. */
#ifndef GLS_CMD_DOCTOR_H
#define GLS_CMD_DOCTOR_H

#include <glslines/device.h>

struct cJSON;

/* For gls_device_list(), user being the report: a JSON object. */
void cmd_doctor_finding(void *user, bool usable, const char *line);
/* Adds to the report what the system has, which devices glslines was tested on, what is missing and how to fix it. */
void cmd_doctor(struct cJSON *report, const gls_device_info *list, size_t n_devices);
/* On standard output: what was looked for; the rest. */
void cmd_doctor_print_search(const struct cJSON *report);
void cmd_doctor_print(const struct cJSON *report);

#endif
