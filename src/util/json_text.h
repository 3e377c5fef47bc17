/* Parses and prints JSON, with points in numbers whatever the locale of the calling program. The output is valid UTF-8
 * even where a file name is not: a byte that is not UTF-8 is written as \xHH ("\\xHH" in JSON), and parsing restores
 * the byte. Control characters and characters that change the direction of text are written as \uHHHH. */
#ifndef GLS_UTIL_JSON_H
#define GLS_UTIL_JSON_H

#include <stddef.h>

#include <cJSON.h>

/* Parses the JSON value at the start of text. NULL: no value, or out of memory. The caller frees the value by
 * cJSON_Delete(). */
cJSON *gls_json_parse(const char *text);
/* Like gls_json_parse(), for a text of n bytes. */
cJSON *gls_json_parse_bytes(const char *text, size_t n);
/* Parses a text that is one JSON value and nothing else; n bytes, followed by a NUL. NULL: it is not, and *stopped
 * points to the place of the error. */
cJSON *gls_json_parse_whole(const char *text, size_t n, const char **stopped);

/* Prints JSON on several lines; gls_json_print_line(): on one line. From malloc; NULL: out of memory. */
char *gls_json_print(const cJSON *json);
char *gls_json_print_line(const cJSON *json);

#endif
