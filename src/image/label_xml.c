/* Reads the labels of an XML atlas of FSL: elements <label index="3" ...>Name</label>. The images of a probabilistic
 * atlas that have one label a voxel (maxprob) hold index + 1, those of a label atlas hold the index; an attribute
 * `value` states the label itself. */
#include <stdlib.h>
#include <string.h>

#include <glslines/labels.h>

#include "image/label_table.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* Appends a character of Unicode as UTF-8. Returns where the text goes on. */
static char *put_character(char *to, unsigned long c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* Replaces the references to characters in a text, in place; what is no reference stays. */
static void decode(char *text)
{
    static const struct {
        const char *name;
        char c;
    } named[] = {{"amp;", '&'}, {"lt;", '<'}, {"gt;", '>'}, {"quot;", '"'}, {"apos;", '\''}};
    char *to = text;
    for (const char *from = text; *from;) {
        const char *body = from + 1;
        const bool hex = *from == '&' && body[0] == '#' && gls_to_lower((unsigned char)body[1]) == 'x';
        char *end = NULL;
        const unsigned long c = *from == '&' && *body == '#' ? strtoul(body + (hex ? 2 : 1), &end, hex ? 16 : 10) : 0;
        if (end && *end == ';' && c > 0 && c <= 0x10ffff) {
            /* a reference is never shorter than its character */
            to = put_character(to, c);
            from = end + 1;
            continue;
        }
        size_t i = 0;
        while (i < sizeof named / sizeof *named && strncmp(body, named[i].name, strlen(named[i].name)) != 0) i++;
        const bool found = *from == '&' && i < sizeof named / sizeof *named;
        *to++ = found ? named[i].c : *from;
        from = found ? body + strlen(named[i].name) : from + 1;
    }
    *to = '\0';
}

/* Finds the next start of an element of this name, from `at` on, outside of comments. NULL: none. */
static char *find_element(char *at, const char *name)
{
    const size_t n = strlen(name);
    while ((at = strchr(at, '<'))) {
        if (strncmp(at, "<!--", 4) == 0) {
            at = strstr(at, "-->");
            if (!at) return NULL;
        } else if (strncmp(at + 1, name, n) == 0 && (gls_is_space((unsigned char)at[n + 1]) || at[n + 1] == '>')) {
            return at;
        }
        at++;
    }
    return NULL;
}

/* Reads a whole number from an attribute of a tag. */
static bool read_attribute(const char *tag, const char *name, int64_t *number)
{
    const size_t n = strlen(name);
    for (const char *at = tag; (at = strstr(at, name)); at += n) {
        if (!gls_is_space((unsigned char)at[-1])) continue;
        const char *value = at + n + strspn(at + n, " \t\r\n");
        if (*value != '=') continue;
        value += 1 + strspn(value + 1, " \t\r\n");
        char digits[24], quote = *value;
        const size_t length = quote == '"' || quote == '\'' ? strcspn(value + 1, "\"'") : sizeof digits;
        if (length >= sizeof digits) return false;
        memcpy(digits, value + 1, length);
        digits[length] = '\0';
        uint64_t read;
        if (!gls_parse_uint64(digits, &read) || read > GLS_LABEL_MAX) return false;
        *number = (int64_t)read;
        return true;
    }
    return false;
}

/* Whether the atlas is probabilistic, by the text of its element `type`. */
static bool is_probabilistic(char *text)
{
    const char *type = find_element(text, "type");
    type = type ? strchr(type, '>') : NULL;
    if (!type) return false;
    type += 1 + strspn(type + 1, " \t\r\n");
    return gls_case_compare_n(type, "probabilistic", 13) == 0 || gls_case_compare_n(type, "statistic", 9) == 0;
}

gls_status gls_label_table_read_xml(gls_label_table *table, const char *name, char *text)
{
    const int64_t offset = is_probabilistic(text);
    size_t capacity = 0;
    for (char *tag = text, *end, *close; (tag = find_element(tag, "label")); tag = close + 1) {
        int64_t label = 0;
        end = strchr(tag, '>');
        close = end ? strchr(end, '<') : NULL;
        if (!close || strncmp(close, "</label", 7) != 0)
            return gls_fail(GLS_ERR_INPUT, "%s: label %zu has no end, or elements inside: this is no atlas of FSL",
                            name, table->n + 1);
        *end = '\0';
        if (!read_attribute(tag, "value", &label)) {
            if (!read_attribute(tag, "index", &label))
                return gls_fail(GLS_ERR_INPUT, "%s: label %zu has no index that is a whole number from 0 on", name,
                                table->n + 1);
            label += offset;
        }
        if (table->n == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            gls_label_entry *more = realloc(table->entry, capacity * sizeof *more);
            if (!more) return gls_no_memory();
            table->entry = more;
        }
        *close = '\0';
        char *own = end + 1 + strspn(end + 1, " \t\r\n");
        for (size_t n = strlen(own); n > 0 && gls_is_space((unsigned char)own[n - 1]); n--) own[n - 1] = '\0';
        decode(own);
        if (*own && label <= GLS_LABEL_MAX)
            table->entry[table->n++] = (gls_label_entry){.label = (int32_t)label, .name = own, .abbreviation = ""};
    }
    return table->n > 0
               ? GLS_OK
               : gls_fail(GLS_ERR_INPUT, "%s: has no element <label index=\"...\">: this is no atlas of FSL", name);
}
