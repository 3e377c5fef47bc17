/* JSON text in and out, with points in its numbers whatever locale the calling program has set. It is UTF-8 whatever
 * the texts are: names of files may be any bytes. Those that are no UTF-8 are written as \xHH (in JSON "\\xHH"), and
 * reading makes the same bytes of that again. Control characters and those that turn text are \uHHHH. */
#ifndef GLS_UTIL_JSON_H
#define GLS_UTIL_JSON_H

#include <stddef.h>

#include <cJSON.h>

/* The value that the text begins with; NULL: there is none, or memory ran out. */
cJSON *gls_json_parse(const char *text);
/* The same of n bytes. */
cJSON *gls_json_parse_bytes(const char *text, size_t n);
/* The value that the text of n bytes, with a NUL behind them, is; otherwise NULL, and *stopped says where it is none.
 */
cJSON *gls_json_parse_whole(const char *text, size_t n, const char **stopped);

/* On several lines, or on one. From malloc; NULL: memory ran out. */
char *gls_json_print(const cJSON *json);
char *gls_json_print_line(const cJSON *json);

#endif
