/* Names of BIDS: entities, suffixes, inheritance, and the search for images that belong to a series. */
#include "bids/dataset_names.h"
#include "bids/dataset_parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/status.h"
#include "util/text.h"

const gls_bids_entity gls_bids_entities[] = {
    {"sub", "subject", .is_form = false},
    {"ses", "session", .is_form = false},
    {"acq", "acquisition", .of_scan = true},
    {"ce", "ceagent", .of_scan = true},
    {"rec", "reconstruction", .of_scan = true},
    {"dir", "direction", .of_scan = true},
    {"run", "run", .of_scan = true, .is_index = true},
    {"echo", "echo", .of_scan = true, .is_index = true, .is_form = true},
    {"flip", "flip", .of_scan = true, .is_index = true, .is_form = true},
    {"inv", "inv", .of_scan = true, .is_index = true, .is_form = true},
    {"mt", "mt", .of_scan = true, .is_form = true},
    {"part", "part", .of_scan = true, .is_form = true},
    {"chunk", "chunk", .of_scan = true, .is_index = true},
    {"space", "space", .is_form = true},
    {"res", "resolution", .is_form = true},
    {"desc", "description", .is_form = false},
    {.key = NULL},
};

const gls_bids_entity *gls_bids_entity_find(const char *name)
{
    for (const gls_bids_entity *e = gls_bids_entities; e->key; e++)
        if (strcmp(name, e->name) == 0 || strcmp(name, e->key) == 0) return e;
    return NULL;
}

bool gls_bids_is_index(const char *key)
{
    const gls_bids_entity *e = gls_bids_entity_find(key);
    return e && e->is_index;
}

bool gls_bids_has_suffix(const char *name, const char *suffix, const char *extension)
{
    size_t n = strlen(name), s = strlen(suffix), e = strlen(extension);
    return n > s + e + 1 && strcmp(name + n - e, extension) == 0 && strncmp(name + n - e - s, suffix, s) == 0 &&
           name[n - e - s - 1] == '_';
}

/* Length of the entities in a name: up to the underscore before the suffix, which is the last part and has no dash. A
 * name without suffix, a stem, counts whole. */
static size_t stem_length(const char *name)
{
    size_t n = strcspn(name, ".");
    const char *last = memrchr(name, '_', n);
    if (!last) return memchr(name, '-', n) ? n : 0;
    return memchr(last, '-', (size_t)(name + n - last)) ? n : (size_t)(last - name);
}

bool gls_bids_is_valid(const char *name)
{
    size_t n = stem_length(name);
    /* check the form KEY-VALUE_KEY-VALUE... character by character; the end of the name counts as an underscore */
    bool has_key = false, has_dash = false, has_value = false;
    for (size_t i = 0; i <= n; i++) {
        char c = i < n ? name[i] : '_';
        if (c == '_') {
            if (!has_key || !has_value) return false;
            has_key = has_dash = has_value = false;
        } else if (c == '-') {
            if (!has_key || has_dash) return false;
            has_dash = true;
        } else if (gls_is_label_letter(c)) {
            if (has_dash)
                has_value = true;
            else
                has_key = true;
        } else {
            return false;
        }
    }
    return n > 0;
}

char *gls_bids_stem(const char *name)
{
    return strndup(name, stem_length(name));
}

/* Start in `name` of the entity KEY-VALUE with this key; NULL: none. *length: its length, without the underscore. */
static const char *find_entity(const char *name, const char *key, size_t *length)
{
    size_t n = stem_length(name), k = strlen(key);
    for (size_t at = 0; at < n;) {
        size_t entity = strcspn(name + at, "_.");
        if (at + entity > n) entity = n - at;
        if (entity > k && strncmp(name + at, key, k) == 0 && name[at + k] == '-') {
            *length = entity;
            return name + at;
        }
        at += entity + 1;
    }
    return NULL;
}

const char *gls_bids_value(const char *name, const char *key, char *value, size_t size)
{
    size_t n, k = strlen(key) + 1;
    const char *entity = find_entity(name, key, &n);
    snprintf(value, size, "%.*s", entity ? (int)(n - k) : 0, entity ? entity + k : "");
    return value;
}

char *gls_bids_without(const char *name, const char *key)
{
    size_t n;
    char *stem = gls_bids_stem(name);
    const char *found = stem ? find_entity(stem, key, &n) : NULL;
    if (!found) return stem;
    char *entity = stem + (found - stem);
    if (entity[n] == '_') n++;
    memmove(entity, entity + n, strlen(entity + n) + 1);
    size_t left = strlen(stem);
    if (left > 0 && stem[left - 1] == '_') stem[left - 1] = '\0';
    return stem;
}

/* Comparison for qsort(): names by their bytes, so that the order does not depend on the language. */
static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void gls_bids_names_free(char **names)
{
    for (size_t i = 0; names && names[i]; i++) free(names[i]);
    free(names);
}

gls_status gls_bids_names(const char *folder, char ***names)
{
    char **made = calloc(1, sizeof *made);
    size_t n = 0;
    /* a folder that does not exist has no names */
    DIR *directory = opendir(folder);
    if (!directory && errno != ENOENT && errno != ENOTDIR) {
        free(made);
        return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", folder, strerror(errno));
    }
    /* readdir() shows a failure only by errno */
    for (struct dirent *entry; made && directory && (errno = 0, entry = readdir(directory));) {
        if (entry->d_name[0] == '.') continue;
        char **grown = realloc(made, (n + 2) * sizeof *made);
        if (grown) made = grown;
        if (!grown || !(made[n] = strdup(entry->d_name))) {
            made[n] = NULL;
            gls_bids_names_free(made);
            made = NULL;
            break;
        }
        made[++n] = NULL;
    }
    const int reason = directory && made ? errno : 0;
    if (directory) closedir(directory);
    if (reason) {
        gls_bids_names_free(made);
        return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", folder, strerror(reason));
    }
    if (!made) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", folder);
    qsort(made, n, sizeof *made, by_bytes);
    *names = made;
    return GLS_OK;
}

/* Whether all entities of a name are entities of the stem. */
static bool is_part(const char *name, const char *stem)
{
    size_t n = stem_length(name);
    for (size_t at = 0; at < n;) {
        size_t entity = strcspn(name + at, "_."), length;
        char key[256];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(name + at, "-"), name + at);
        const char *found = find_entity(stem, key, &length);
        if (!found || length != entity || strncmp(found, name + at, entity) != 0) return false;
        at += entity + 1;
    }
    return true;
}

/* Path, from malloc, of the file in a folder that a stem inherits: the one with the longest stem. NULL: none. */
static char *best_in(const char *folder, const char *stem, const char *suffix, const char *extension)
{
    char **names, *found = NULL, plain[64];
    size_t best = 0;
    snprintf(plain, sizeof plain, "%s%s", suffix, extension);
    if (gls_bids_names(folder, &names)) return NULL;
    for (size_t i = 0; names[i]; i++) {
        /* SUFFIX.EXTENSION without entities applies to all */
        bool fits = strcmp(names[i], plain) == 0 ||
                    (gls_bids_has_suffix(names[i], suffix, extension) && is_part(names[i], stem));
        if (!fits || (found && stem_length(names[i]) <= best)) continue;
        best = stem_length(names[i]);
        free(found);
        gls_asprintf(&found, "%s/%s", folder, names[i]);
    }
    gls_bids_names_free(names);
    return found;
}

char *gls_bids_inherited(const char *root, const char *folder, const char *stem, const char *suffix,
                         const char *extension)
{
    /* look in the folder of the image, then in each folder above it, up to root */
    char below[520], path[1024], *found = NULL;
    snprintf(below, sizeof below, "%s", folder);
    for (;;) {
        snprintf(path, sizeof path, "%s%s%s", root, *below ? "/" : "", below);
        found = best_in(path, stem, suffix, extension);
        if (found || !*below) return found;
        char *slash = strrchr(below, '/');
        *(slash ? slash : below) = '\0';
    }
}

bool gls_bids_split(const char *text, gls_bids_ending *e)
{
    /* number of characters that matched the form, which must be all */
    int used = 0;
    *e = (gls_bids_ending){{0}, {0}, {0}};
    return sscanf(text, "%31[a-zA-Z0-9]-%63[a-zA-Z0-9+]_%31[a-zA-Z0-9]%n", e->key, e->value, e->suffix, &used) == 3 &&
           !text[used];
}

/* Whether the name has this value for the key. key NULL: whether it has no entity of kinds[] (special images). */
static bool is_kind(const char *name, const char *key, const char *value)
{
    static const char *const kinds[] = {"desc", "label", "seg", "atlas"};
    char text[256];
    if (key) return strcmp(gls_bids_value(name, key, text, sizeof text), value) == 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (*gls_bids_value(name, kinds[i], text, sizeof text)) return false;
    return true;
}

/* Whether two values of an entity are equal. Values of an index are numbers, which may have leading zeros. */
static bool is_one_value(const gls_bids_entity *e, const char *a, const char *b)
{
    if (e->is_index) {
        a += strspn(a, "0");
        b += strspn(b, "0");
    }
    return strcmp(a, b) == 0;
}

/* Rates how well an image fits a series (NULL: any), by the entities that distinguish scans of a session; higher is
 * better. -1: the image is of another scan. */
static int suits(const char *name, const char *series)
{
    char own[256], wanted[256];
    /* start above 0, so that an image with entities that the series lacks does not fall to -1 */
    int points = sizeof gls_bids_entities / sizeof *gls_bids_entities;
    for (const gls_bids_entity *e = gls_bids_entities; e->key && series; e++) {
        if (!e->of_scan) continue;
        gls_bids_value(name, e->key, own, sizeof own);
        gls_bids_value(series, e->key, wanted, sizeof wanted);
        if (*own && *wanted && !is_one_value(e, own, wanted)) return -1;
        /* an entity that the series has, too, gives a point; an entity that the series lacks costs a point */
        points += *own ? (*wanted ? 1 : -1) : 0;
    }
    return points;
}

char *gls_bids_find(const char *folder, const char *key, const char *value, const char *space, const char *suffix,
                    const char *series)
{
    char **names, *found = NULL, text[256];
    int best = -1;
    if (gls_bids_names(folder, &names)) return NULL;
    for (size_t i = 0; names[i]; i++) {
        if (!gls_bids_has_suffix(names[i], suffix, ".nii.gz") && !gls_bids_has_suffix(names[i], suffix, ".nii"))
            continue;
        if (!gls_bids_is_valid(names[i]) || !is_kind(names[i], key, value) ||
            strcmp(gls_bids_value(names[i], "space", text, sizeof text), space) != 0 || suits(names[i], series) <= best)
            continue;
        best = suits(names[i], series);
        free(found);
        gls_asprintf(&found, "%s/%s", folder, names[i]);
    }
    gls_bids_names_free(names);
    return found;
}

char *gls_bids_join(const char *folder, const char *name, char *path, size_t size)
{
    const int n = snprintf(path, size, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= size) *path = '\0';
    return path;
}
