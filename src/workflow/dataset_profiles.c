/* One table of the bundle profiles of all participants, as pyAFQ's GroupAFQ.combine_profiles() makes it and AFQ-Browser
 * reads it: the rows of the tables of single participants, with subjectID and sessionID behind. */
#include "workflow/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/log.h"
#include "util/output.h"
#include "util/status.h"

#define OUTPUT "tract_profiles.csv"
#define LAST_COLUMNS "subjectID,sessionID"
#define MAX_TABLE ((size_t)1 << 30)
#define MAX_COLUMNS 512
/* What pyAFQ says where there is no session. */
#define NO_SESSION "unknown"

/* A table of one participant. */
typedef struct profiles {
    char path[2048], subject[128], session[128];
} profiles;

typedef struct study {
    const gls_dataset_options *options;
    profiles *table;
    size_t n, capacity, n_columns;
    char *column[MAX_COLUMNS]; /* of all tables, in the order in which they come first */
    gls_output output;
} study;

/* --- tables with commas ------------------------------------------------------------------------------------------ */

/* Cuts the next line off; NULL: there is none. */
static char *next_line(char **rest)
{
    char *line = strsep(rest, "\n");
    if (!line || (!*line && !*rest)) return NULL;
    size_t n = strlen(line);
    if (n > 0 && line[n - 1] == '\r') line[n - 1] = '\0';
    return line;
}

/* Cuts a line into its cells, which stay as they are, quotes included. More than MAX_COLUMNS are not told apart. */
static size_t cut_cells(char *line, char *cell[MAX_COLUMNS])
{
    size_t n = 0;
    bool quoted = false;
    cell[n++] = line;
    for (char *at = line; *at; at++) {
        if (*at == '"') quoted = !quoted;
        if (*at != ',' || quoted || n == MAX_COLUMNS) continue;
        *at = '\0';
        cell[n++] = at + 1;
    }
    return n;
}

/* pandas writes numbers of rows in a column without a name. Who it is of, a table's own name tells. */
static bool is_taken(const char *column)
{
    return *column && strncmp(column, "Unnamed", 7) != 0 && strcmp(column, "subjectID") != 0 &&
           strcmp(column, "sessionID") != 0;
}

static size_t find_column(const study *s, const char *name)
{
    for (size_t k = 0; k < s->n_columns; k++)
        if (strcmp(s->column[k], name) == 0) return k;
    return SIZE_MAX;
}

/* --- which tables there are -------------------------------------------------------------------------------------- */

/* Whether a name has all entities of --filter that tables of profiles have. */
static bool is_wanted(const gls_dataset_options *o, const char *name)
{
    char key[64], value[128];
    if (!gls_bids_has_suffix(name, "tractography", ".csv")) return false;
    if (strcmp(gls_bids_value(name, "desc", value, sizeof value), "profiles") != 0) return false;
    for (int i = 0; i < o->filters.n; i++) {
        const char *text = o->filters.value[i], *equals = strchr(text, '=');
        if (!equals) continue;
        snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
        if (strcmp(key, "desc") != 0 && strcmp(gls_bids_value(name, key, value, sizeof value), equals + 1) != 0)
            return false;
    }
    return true;
}

static gls_status add_table(study *s, const char *folder, const char *name)
{
    char session[128];
    if (s->n == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : 64;
        profiles *table = realloc(s->table, capacity * sizeof *table);
        if (!table) return gls_fail(GLS_ERR_MEMORY, "out of memory");
        s->table = table;
        s->capacity = capacity;
    }
    profiles *t = &s->table[s->n];
    snprintf(t->path, sizeof t->path, "%s/%s", folder, name);
    gls_bids_value(name, "sub", t->subject, sizeof t->subject);
    gls_bids_value(name, "ses", session, sizeof session);
    snprintf(t->session, sizeof t->session, "%s", *session ? session : NO_SESSION);
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->table[i].subject, t->subject) == 0 && strcmp(s->table[i].session, t->session) == 0)
            return gls_fail(GLS_ERR_INPUT, "%s and %s: two tables of profiles of one session; choose by --filter",
                            s->table[i].path, t->path);
    s->n++;
    return GLS_OK;
}

static gls_status add_folder(study *s, const char *folder)
{
    char **names;
    gls_status status = gls_bids_names(folder, &names);
    if (status) return status;
    for (size_t i = 0; names[i] && !status; i++) {
        if (!is_wanted(s->options, names[i])) continue;
        if (gls_bids_is_valid(names[i]))
            status = add_table(s, folder, names[i]);
        else
            gls_log(GLS_LOG_WARNING, "%s/%s: is no name of BIDS, and is left out", folder, names[i]);
    }
    gls_bids_names_free(names);
    return status;
}

/* A participant or a session: its tables, and those in dwi. */
static gls_status add_folders(study *s, const char *folder)
{
    char path[1600];
    gls_status status = add_folder(s, folder);
    snprintf(path, sizeof path, "%s/dwi", folder);
    return status ? status : add_folder(s, path);
}

static gls_status add_participant(study *s, const char *subject)
{
    char folder[1024], path[1536], **names;
    snprintf(folder, sizeof folder, "%s/%s", s->options->output, subject);
    gls_status status = add_folders(s, folder);
    if (!status) status = gls_bids_names(folder, &names);
    if (status) return status;
    for (size_t i = 0; names[i] && !status; i++) {
        if (strncmp(names[i], "ses-", 4) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        status = add_folders(s, path);
    }
    gls_bids_names_free(names);
    return status;
}

static gls_status find_tables(study *s)
{
    char **names;
    gls_status status = gls_bids_names(s->options->output, &names);
    if (status) return status;
    for (size_t i = 0; names[i] && !status; i++)
        if (strncmp(names[i], "sub-", 4) == 0) status = add_participant(s, names[i]);
    gls_bids_names_free(names);
    return status;
}

/* --- what they hold ---------------------------------------------------------------------------------------------- */

/* text is from malloc, lines where they begin: behind the mark of byte order that some editors write. */
static gls_status read_table(const profiles *t, char **text, char **lines)
{
    size_t bytes;
    gls_status status = gls_file_read(t->path, MAX_TABLE, text, &bytes);
    if (status) return status;
    *lines = *text + (strncmp(*text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    if (strlen(*text) == bytes) return GLS_OK;
    free(*text);
    return gls_fail(GLS_ERR_INPUT, "%s: has a byte of 0, and is no text", t->path);
}

/* Columns that no table before had. */
static gls_status add_columns(study *s, const profiles *t)
{
    char *text = NULL, *rest, *cell[MAX_COLUMNS];
    bool tract = false, node = false;
    gls_status status = read_table(t, &text, &rest);
    if (status) return status;
    char *line = next_line(&rest);
    const size_t n = line ? cut_cells(line, cell) : 0;
    for (size_t i = 0; i < n && !status; i++) {
        tract |= strcmp(cell[i], "tractID") == 0;
        node |= strcmp(cell[i], "nodeID") == 0;
        if (!is_taken(cell[i])) continue;
        for (size_t k = 0; k < i && !status; k++)
            if (strcmp(cell[k], cell[i]) == 0)
                status = gls_fail(GLS_ERR_INPUT, "%s: has two columns %s", t->path, cell[i]);
        if (status || find_column(s, cell[i]) != SIZE_MAX) continue;
        if (s->n_columns == MAX_COLUMNS)
            status = gls_fail(GLS_ERR_INPUT, "%s: more than %d columns", t->path, MAX_COLUMNS);
        else if (!(s->column[s->n_columns] = strdup(cell[i])))
            status = gls_fail(GLS_ERR_MEMORY, "out of memory");
        else
            s->n_columns++;
    }
    free(text);
    if (!status && !(tract && node)) status = gls_fail(GLS_ERR_INPUT, "%s: has no columns tractID and nodeID", t->path);
    return status;
}

/* place: of each cell among all columns. */
static gls_status copy_row(study *s, const profiles *t, char *line, const size_t *place, size_t n, size_t number,
                           FILE *out)
{
    char *cell[MAX_COLUMNS];
    const char *value[MAX_COLUMNS];
    const size_t found = cut_cells(line, cell);
    if (found != n)
        return gls_fail(GLS_ERR_INPUT, "%s: line %zu has %zu cells, the first line %zu", t->path, number, found, n);
    for (size_t k = 0; k < s->n_columns; k++) value[k] = "nan";
    for (size_t i = 0; i < n; i++)
        if (place[i] != SIZE_MAX && *cell[i]) value[place[i]] = cell[i];
    for (size_t k = 0; k < s->n_columns; k++) fprintf(out, "%s,", value[k]);
    fprintf(out, "%s,%s\n", t->subject, t->session);
    return GLS_OK;
}

static gls_status copy_table(study *s, const profiles *t)
{
    char *text = NULL, *rest, *out = NULL, *cell[MAX_COLUMNS];
    size_t place[MAX_COLUMNS], written = 0, number = 1;
    gls_status status = read_table(t, &text, &rest);
    if (status) return status;
    FILE *rows = open_memstream(&out, &written);
    if (!rows) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    char *line = next_line(&rest);
    const size_t n = line ? cut_cells(line, cell) : 0;
    for (size_t i = 0; i < n; i++) place[i] = is_taken(cell[i]) ? find_column(s, cell[i]) : SIZE_MAX;
    while (!status && (line = next_line(&rest))) status = copy_row(s, t, line, place, n, ++number, rows);
    if (rows && fclose(rows) != 0 && !status) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (!status) status = gls_output_write(&s->output, out, written);
    free(out);
    free(text);
    return status;
}

static gls_status write_header(study *s)
{
    gls_status status = GLS_OK;
    for (size_t k = 0; k < s->n_columns && !status; k++) {
        status = gls_output_write(&s->output, s->column[k], strlen(s->column[k]));
        if (!status) status = gls_output_write(&s->output, ",", 1);
    }
    static const char last[] = LAST_COLUMNS "\n";
    return status ? status : gls_output_write(&s->output, last, sizeof last - 1);
}

gls_status gls_dataset_profiles(const gls_dataset_options *o, size_t *n)
{
    study s = {.options = o, .output = GLS_OUTPUT_NONE};
    char path[1536];
    gls_status status = find_tables(&s);
    for (size_t i = 0; i < s.n && !status; i++) status = add_columns(&s, &s.table[i]);
    snprintf(path, sizeof path, "%s/" OUTPUT, o->output);
    if (!status && s.n > 0) status = gls_dataset_may_rewrite(path, "," LAST_COLUMNS);
    for (size_t i = 0; i < s.n && !status; i++) {
        const char *input = s.table[i].path; /* which may have these columns, too */
        status = gls_output_check(path, true, &input, 1, NULL, 0);
    }
    if (!status && s.n > 0) status = gls_output_create(path, true, &s.output);
    if (!status && s.n > 0) status = write_header(&s);
    for (size_t i = 0; i < s.n && !status; i++) status = copy_table(&s, &s.table[i]);
    if (!status && s.n > 0)
        status = gls_output_commit(&s.output);
    else
        gls_output_discard(&s.output);
    for (size_t k = 0; k < s.n_columns; k++) free(s.column[k]);
    *n = s.n;
    free(s.table);
    return status;
}
