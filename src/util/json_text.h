/* Parses and prints JSON, with points in numbers whatever the locale of the calling program. The output is valid UTF-8
 * even where a file name is not: a byte that is not UTF-8 is written as \xHH ("\\xHH" in JSON), and parsing restores
 * the byte. Control characters and characters that change the direction of text are written as \uHHHH. */
#ifndef GLS_UTIL_JSON_H
#define GLS_UTIL_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include <cJSON.h>
#include <glslines/common.h>

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

/* The member of an object; NULL: there is none, or the value is no object. gls_json_text_at(): its text; NULL: it is no
 * string. */
cJSON *gls_json_at(const cJSON *object, const char *key);
const char *gls_json_text_at(const cJSON *object, const char *key);

struct gls_output_group;

/* Prints JSON and `end`, such as a line end, to a file, like gls_file_write(). */
gls_status gls_json_write(const cJSON *json, const char *path, bool overwrite, struct gls_output_group *group,
                          const char *end);

#endif
