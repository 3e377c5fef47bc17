#include "util/json.h"

#include <stdbool.h>

#include "util/plain.h"

cJSON *gls_json_parse(const char *text)
{
    locale_t before = gls_plain_enter();
    cJSON *json = cJSON_Parse(text);
    gls_plain_leave(before);
    return json;
}

cJSON *gls_json_parse_bytes(const char *text, size_t n)
{
    locale_t before = gls_plain_enter();
    cJSON *json = cJSON_ParseWithLength(text, n);
    gls_plain_leave(before);
    return json;
}

cJSON *gls_json_parse_whole(const char *text, size_t n, const char **stopped)
{
    locale_t before = gls_plain_enter();
    cJSON *json = cJSON_ParseWithLengthOpts(text, n + 1, stopped, true);
    gls_plain_leave(before);
    return json;
}

char *gls_json_print(const cJSON *json)
{
    locale_t before = gls_plain_enter();
    char *text = cJSON_Print(json);
    gls_plain_leave(before);
    return text;
}

char *gls_json_print_line(const cJSON *json)
{
    locale_t before = gls_plain_enter();
    char *text = cJSON_PrintUnformatted(json);
    gls_plain_leave(before);
    return text;
}
