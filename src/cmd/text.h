/* Numbers as people read them. Each writes to buffer and returns it. */
#ifndef GLS_CMD_TEXT_H
#define GLS_CMD_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* 1234567 -> "1,234,567" */
char *cmd_text_count(uint64_t n, char *buffer, size_t size);
/* 1234567 -> "1.2 MB", in powers of 1000 */
char *cmd_text_bytes(uint64_t n, char *buffer, size_t size);
/* 134217728 -> "128 MiB", in powers of 1024: limits of devices */
char *cmd_text_limit(uint64_t n, char *buffer, size_t size);
/* 1234567.0 -> "1.23 M", 12.5 -> "12.5 ": a unit is put directly after it */
char *cmd_text_rate(double v, char *buffer, size_t size);
/* Seconds as "0.12 s", "12.3 s", "2:05" or "1:02:05". */
char *cmd_text_duration(double seconds, char *buffer, size_t size);
/* The shortest decimal that reads back as the same double. */
char *cmd_text_double(double v, char *buffer, size_t size);

/* Seconds of a clock that only goes forward. */
double cmd_clock(void);

#endif
