/* Diagnosis of a machine on which no device, or not the right one, is found. */
#ifndef GLS_CMD_DOCTOR_H
#define GLS_CMD_DOCTOR_H

#include <glslines/device.h>

/* Prints what is missing and how to mend it to standard output. */
void cmd_doctor(const gls_device_info *list, size_t n);
/* A gls_device_finding that prints the line; user is not used. */
void cmd_doctor_finding(void *user, bool usable, const char *line);

#endif
