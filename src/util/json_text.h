/* Parses and prints JSON, with points in numbers whatever the locale of the calling program. The output is valid UTF-8
 * even where a file name is not: a byte that is not UTF-8 is written as \xHH ("\\xHH" in JSON), and parsing restores
 * the byte. Control characters and characters that change the direction of text are written as \uHHHH. */
#ifndef GLS_UTIL_JSON_TEXT_H
#define GLS_UTIL_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cJSON.h>
#include <glslines/common.h>

/* Parses the JSON value at the start of text. NULL: no value, or out of memory. The caller frees the value by
 * cJSON_Delete(). */
cJSON *gls_json_parse(const char *text);
/* Parses a text that is one JSON value and nothing else; n bytes, followed by a NUL. NULL: the text is anything else,
 * and *stopped, unless stopped is NULL, points to the error. */
cJSON *gls_json_parse_whole(const char *text, size_t n, const char **stopped);

/* Prints JSON on several lines. From malloc; NULL: out of memory. */
char *gls_json_print(const cJSON *json);
/* Prints JSON on one line. From malloc; NULL: out of memory. */
char *gls_json_print_line(const cJSON *json);

/* The member of an object; NULL: there is none, or the value is not an object. */
cJSON *gls_json_at(const cJSON *object, const char *key);
/* The member of an object, which is an object, too; made if it is not there. NULL: out of memory. */
cJSON *gls_json_object_at(cJSON *object, const char *key);
/* The value at a path of keys such as "counts/seeds"; NULL: there is none. */
const cJSON *gls_json_at_path(const cJSON *root, const char *path);
/* Text of the member of an object; NULL: there is no such member, or it is not a string. Owned by the object. */
const char *gls_json_text_at(const cJSON *object, const char *key);

struct gls_output_group;

/* Prints JSON and `end`, such as a line end, to a file, like gls_file_write(). */
gls_status gls_json_write(const cJSON *json, const char *path, bool overwrite, struct gls_output_group *group,
                          const char *end);
/* The same for JSON that is text already, from malloc, which is freed. NULL: GLS_ERR_MEMORY. */
gls_status gls_json_write_text(char *json, const char *path, bool overwrite, struct gls_output_group *group,
                               const char *end);

/* --- Numbers that JSON readers get back exactly, comparison, files. */

/* Adds a text; null if text is NULL. */
void gls_json_text(cJSON *object, const char *key, const char *text);
/* Adds the shortest decimal that reads back as the same double; null if v is not finite. */
void gls_json_double(cJSON *object, const char *key, double v);
/* Like gls_json_double(), but appends to an array. */
void gls_json_append_double(cJSON *array, double v);
/* Adds v as a number up to 2^53, which every reader holds exactly, and as a string above. */
void gls_json_uint(cJSON *object, const char *key, uint64_t v);
/* Adds true or false. */
void gls_json_bool(cJSON *object, const char *key, bool v);
/* Adds members of a struct under their own names, each by the function for its type: GLS_JSON_MEMBERS(object, result,
 * seeds, points) adds result->seeds and result->points. Up to eight at a time. */
#define GLS_JSON_MEMBERS(object, from, ...) GLS_EACH(GLS_JSON_MEMBER, object, from, __VA_ARGS__)
#define GLS_JSON_MEMBER(object, from, member) \
    _Generic((from)->member,                \
             bool: gls_json_bool,           \
             double: gls_json_double,       \
             float: gls_json_double,        \
             char *: gls_json_text,         \
             const char *: gls_json_text,   \
             default: gls_json_uint)(object, #member, (from)->member)
/* each(a, b, item) for each of up to eight items. */
#define GLS_EACH(each, a, b, ...) GLS_EACH_NTH(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, )(each, a, b, __VA_ARGS__)
#define GLS_EACH_NTH(a, b, c, d, e, f, g, h, n, ...) GLS_EACH_##n
#define GLS_EACH_1(each, a, b, item) each(a, b, item)
#define GLS_EACH_2(each, a, b, item, ...) (each(a, b, item), GLS_EACH_1(each, a, b, __VA_ARGS__))
#define GLS_EACH_3(each, a, b, item, ...) (each(a, b, item), GLS_EACH_2(each, a, b, __VA_ARGS__))
#define GLS_EACH_4(each, a, b, item, ...) (each(a, b, item), GLS_EACH_3(each, a, b, __VA_ARGS__))
#define GLS_EACH_5(each, a, b, item, ...) (each(a, b, item), GLS_EACH_4(each, a, b, __VA_ARGS__))
#define GLS_EACH_6(each, a, b, item, ...) (each(a, b, item), GLS_EACH_5(each, a, b, __VA_ARGS__))
#define GLS_EACH_7(each, a, b, item, ...) (each(a, b, item), GLS_EACH_6(each, a, b, __VA_ARGS__))
#define GLS_EACH_8(each, a, b, item, ...) (each(a, b, item), GLS_EACH_7(each, a, b, __VA_ARGS__))

/* Makes the values that gls_json_double() and gls_json_uint() add. */
cJSON *gls_json_new_double(double v);
cJSON *gls_json_new_uint(uint64_t v);
/* Reads what gls_json_uint() wrote. Returns false if value is not such a number. */
bool gls_json_get_uint(const cJSON *value, uint64_t *n);
/* A copy of a value whose numbers are printed with all digits, which cJSON alone does not do: whole numbers up to 2^53
 * have no exponent, all others are written as by gls_json_double(). */
cJSON *gls_json_exact(const cJSON *entry);
/* Whether two values from files are equal to the last bit of every number. cJSON_Compare() tolerates differences. */
bool gls_json_same(const cJSON *a, const cJSON *b);
/* Key of the first member that differs between two objects, or that only one of them has. NULL: they are equal. */
const char *gls_json_difference(const cJSON *a, const cJSON *b);
/* Takes ownership of the object and returns it as a reader of its file would get it. NULL: out of memory. */
cJSON *gls_json_written(cJSON *object);
/* Reads a file of at most max_bytes as JSON. GLS_ERR_INPUT names the file that cannot be read or is no JSON. */
gls_status gls_json_load(const char *path, size_t max_bytes, cJSON **root);
/* Reads a regular file of at most max_bytes as JSON. NULL: it cannot be read, or is not JSON. */
cJSON *gls_json_read(const char *path, size_t max_bytes);
/* First member of an object. NULL if the value is not an object, or is empty. Elements of arrays have no names and are
 * never returned. */
const cJSON *gls_json_members(const cJSON *object);

#endif
