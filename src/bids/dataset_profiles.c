/* Joins the bundle profiles of all participants in one table, as pyAFQ's GroupAFQ.combine_profiles() makes it and
 * AFQ-Browser reads it: the rows of all tables, with the columns subjectID and sessionID at the end. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bids/dataset.h"
#include "bids/dataset_describe.h"
#include "bids/dataset_names.h"
#include "bids/dataset_profiles.h"
#include "bids/dataset_select.h"
#include "record/run.h"
#include "util/allocation.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text_tables.h"

/* Name of the joined table and of its sidecar, without extension, as in pyAFQ. */
#define OUTPUT "tract_profiles"
/* Description in the sidecar, by which a later run recognises its own files. */
#define MARK "Profiles along bundles of all participants, put together by glslines bids"
#define LAST_COLUMNS "subjectID,sessionID"
/* largest table of one participant, bytes */
#define MAX_TABLE ((size_t)1 << 30)
/* largest number of columns of a table, and of all tables together */
#define MAX_COLUMNS 512
/* pyAFQ's name for no session. */
#define NO_SESSION "unknown"

/* The table of one participant or session. */
typedef struct profiles {
    /* path of the table; values of the columns subjectID and sessionID in its rows */
    char path[2048], subject[256], session[256];
} profiles;

/* The tables that are joined, and the text of the result. */
typedef struct profile_tables {
    /* borrowed */
    const gls_dataset_options *options;
    /* tables in the order in which they were found */
    profiles *table;
    /* number of tables, of tables for which memory is allocated, and of columns */
    size_t n, capacity, n_columns;
    char *column[MAX_COLUMNS]; /* columns of all tables, in the order of their first occurrence */
    gls_text output;
} profile_tables;

/* Whether a column is copied. pandas writes row numbers in a column without a name; participant and session follow from
 * the name of the file. */
static bool is_taken(const char *column)
{
    return *column && strncmp(column, "Unnamed", 7) != 0 && strcmp(column, "subjectID") != 0 &&
           strcmp(column, "sessionID") != 0;
}

/* Index of a column in the joined table; SIZE_MAX: none. */
static size_t find_column(const profile_tables *s, const char *name)
{
    for (size_t k = 0; k < s->n_columns; k++)
        if (strcmp(s->column[k], name) == 0) return k;
    return SIZE_MAX;
}

/* --- Finding the tables. */

/* Whether the name of a table says that it has profiles, of a session that the options ask for. */
static bool is_wanted(const gls_dataset_options *o, const char *name)
{
    char value[256], session[256];
    if (strcmp(gls_bids_value(name, "desc", value, sizeof value), "profiles") != 0) return false;
    if (!*gls_bids_value(name, "ses", value, sizeof value)) return o->sessions.n == 0;
    snprintf(session, sizeof session, "ses-%.250s", value);
    return gls_dataset_takes(&o->sessions, "ses-", session);
}

/* Adds a table with the participant and session in its name. GLS_ERR_INPUT: the session has a table already. */
static gls_status add_table(profile_tables *s, const char *folder, const char *name)
{
    char session[256];
    if (!gls_list_reserve(&s->table, s->n, &s->capacity, 64, sizeof *s->table)) return gls_no_memory();
    profiles *t = &s->table[s->n];
    snprintf(t->path, sizeof t->path, "%s/%s", folder, name);
    gls_bids_value(name, "sub", t->subject, sizeof t->subject);
    gls_bids_value(name, "ses", session, sizeof session);
    snprintf(t->session, sizeof t->session, "%s", *session ? session : NO_SESSION);
    /* GroupAFQ.combine_profiles() identifies rows by participant and session only */
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->table[i].subject, t->subject) == 0 && strcmp(s->table[i].session, t->session) == 0)
            return gls_fail(GLS_ERR_INPUT,
                            "%s and %s are two tables of profiles of one session: choose one with --filter",
                            s->table[i].path, t->path);
    s->n++;
    return GLS_OK;
}

/* Adds the tables in one folder that the options ask for. session "": tables of any session. */
static gls_status add_folder(profile_tables *s, const char *subject, const char *session, const char *folder)
{
    char **names;
    gls_status status = gls_bids_names(folder, &names);
    if (status) return status;
    for (size_t i = 0; names[i] && !status; i++) {
        char own[256];
        if (!gls_bids_has_suffix(names[i], "tractography", ".csv")) continue;
        if (gls_bids_is_valid(names[i]) && !is_wanted(s->options, names[i])) continue;
        /* own: session in the name of the table, which is accepted if `session` is "" */
        gls_bids_value(names[i], "ses", own, sizeof own);
        if (gls_dataset_takes_file(s->options, folder, names[i], subject, *session ? session : own))
            status = add_table(s, folder, names[i]);
    }
    gls_bids_names_free(names);
    return status;
}

/* Adds the tables in the folder of a participant or session, and in its folder dwi. */
static gls_status add_folders(void *user, const char *subject, const char *session, const char *folder)
{
    char path[GLS_DATASET_MAX_PATH];
    gls_status status = add_folder(user, subject, session, folder);
    return status ? status : add_folder(user, subject, session, gls_bids_join(folder, "dwi", path, sizeof path));
}

/* --- Reading the tables. */

/* Reads a table and its first row, the names of columns. *text: from malloc; *records and names[] point into it. */
static gls_status read_table(const profiles *t, char **text, gls_records *records, char **names, size_t *n)
{
    size_t bytes;
    gls_status status = gls_file_read(t->path, MAX_TABLE, text, &bytes);
    if (status) return status;
    /* a NUL byte would hide the rest of the text */
    if (strlen(*text) != bytes) status = gls_fail(GLS_ERR_INPUT, "%s: is no text: it has a NUL byte", t->path);
    *records = gls_records_begin(*text, ',');
    *n = status ? 0 : gls_record_next(records, names, MAX_COLUMNS);
    if (*n > MAX_COLUMNS) status = gls_fail(GLS_ERR_INPUT, "%s: has more than %d columns", t->path, MAX_COLUMNS);
    if (status) free(*text);
    return status;
}

/* Adds the columns of a table that no earlier table has. GLS_ERR_INPUT: the table is not one of profiles. */
static gls_status add_columns(profile_tables *s, const profiles *t)
{
    char *text = NULL, *cell[MAX_COLUMNS];
    bool tract = false, node = false;
    size_t n;
    gls_records records;
    gls_status status = read_table(t, &text, &records, cell, &n);
    if (status) return status;
    for (size_t i = 0; i < n && !status; i++) {
        /* the columns that identify a row must exist; other columns are joined by name */
        tract |= strcmp(cell[i], "tractID") == 0;
        node |= strcmp(cell[i], "nodeID") == 0;
        if (!is_taken(cell[i])) continue;
        /* columns of one table must differ; equal names in several tables are one column */
        for (size_t k = 0; k < i && !status; k++)
            if (strcmp(cell[k], cell[i]) == 0)
                status = gls_fail(GLS_ERR_INPUT, "%s: has two columns of the name %s: rename one", t->path, cell[i]);
        if (status || find_column(s, cell[i]) != SIZE_MAX) continue;
        if (s->n_columns == MAX_COLUMNS)
            status = gls_fail(GLS_ERR_INPUT, "%s: with this table the joined table has more than %d columns", t->path,
                              MAX_COLUMNS);
        else if (!(s->column[s->n_columns] = strdup(cell[i])))
            status = gls_no_memory();
        else
            s->n_columns++;
    }
    free(text);
    if (!status && !(tract && node))
        status = gls_fail(GLS_ERR_INPUT, "%s: needs the columns tractID and nodeID of a table of profiles", t->path);
    return status;
}

/* Appends a cell of the joined table with the comma behind it. */
static void append_cell(profile_tables *s, const char *cell)
{
    gls_field_append(&s->output, cell, ',');
    gls_text_puts(&s->output, ",");
}

/* Appends a row to the joined table. place: column of each cell in the joined table; SIZE_MAX: not copied. Missing and
 * empty cells become nan, as in pandas. */
static void copy_row(profile_tables *s, const profiles *t, char *const *cell, const size_t *place, size_t n)
{
    const char *value[MAX_COLUMNS];
    const size_t n_columns = s->n_columns;
    for (size_t k = 0; k < n_columns; k++) value[k] = "nan";
    for (size_t i = 0; i < n; i++)
        if (place[i] != SIZE_MAX && *cell[i]) value[place[i]] = cell[i];
    for (size_t k = 0; k < n_columns; k++) append_cell(s, value[k]);
    gls_text_printf(&s->output, "%s,%s\n", t->subject, t->session);
}

/* Appends the rows of one table to the joined table. */
static gls_status copy_table(profile_tables *s, const profiles *t)
{
    char *text = NULL, *cell[MAX_COLUMNS];
    size_t place[MAX_COLUMNS], found, n;
    gls_records records;
    gls_status status = read_table(t, &text, &records, cell, &n);
    if (status) return status;
    for (size_t i = 0; i < n; i++) place[i] = is_taken(cell[i]) ? find_column(s, cell[i]) : SIZE_MAX;
    while (!status && (found = gls_record_next(&records, cell, MAX_COLUMNS)) > 0) {
        /* copy a row only if it has one cell for each column, else its cells would go into wrong columns */
        if (found == n)
            copy_row(s, t, cell, place, n);
        else
            status = gls_fail(GLS_ERR_INPUT,
                              "%s: line %zu has %zu cells, the first line %zu: each line needs a cell for each column",
                              t->path, records.line, found, n);
    }
    free(text);
    return status;
}

/* --- Writing the joined table. */

/* Fills in *text: the joined table, from malloc. */
static gls_status make_table(profile_tables *s, char **text, size_t *bytes)
{
    gls_status status = GLS_OK;
    for (size_t k = 0; k < s->n_columns; k++) append_cell(s, s->column[k]);
    gls_text_puts(&s->output, LAST_COLUMNS "\n");
    for (size_t i = 0; i < s->n && !status; i++) status = copy_table(s, &s->table[i]);
    *bytes = s->output.length;
    *text = gls_text_take(&s->output);
    return !status && !*text ? gls_no_memory() : status;
}

/* Members of the sidecar: hash of the table, and hash of the table that it replaced. */
#define TABLE "xxh3_64"
#define TABLE_BEFORE "xxh3_64_before"

/* Whether the sidecar has this hash under the key. */
static bool records(const cJSON *root, const char *key, const char *digits)
{
    const char *recorded = gls_json_text_at(root, key);
    return recorded && strcmp(recorded, digits) == 0;
}

/* pyAFQ writes a table of the same name with the same columns. Only a table whose hash is in the sidecar may be
 * replaced. before: gets the hash of the existing table, or "". */
static gls_status may_replace(const char *table, const char *sidecar, char before[17])
{
    struct stat info;
    uint64_t hash;
    *before = '\0';
    /* without a table nothing but a sidecar of another program is in the way */
    const bool exists = lstat(table, &info) == 0;
    if (!exists && gls_dataset_owns(sidecar, MARK)) return GLS_OK;
    cJSON *root = gls_json_read(sidecar, (size_t)1 << 20);
    bool same = exists && gls_dataset_owns(sidecar, MARK) && root && !gls_hash_file(table, &hash);
    if (same) gls_hash_text(hash, before);
    same = same && (records(root, TABLE, before) || records(root, TABLE_BEFORE, before));
    cJSON_Delete(root);
    if (same) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT,
                    "%s: no run of glslines bids has recorded this content, so that it stays: move it elsewhere",
                    exists ? table : sidecar);
}

/* Writes the sidecar. It gets its final name before the table, so it also describes the old table, `before`. */
static gls_status write_sidecar(const char *path, const char *text, size_t bytes, const char *before,
                                gls_output_group *group)
{
    char digits[17];
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "Description", MARK);
    cJSON_AddStringToObject(root, TABLE, gls_hash_text(gls_hash(text, bytes), digits));
    if (*before) cJSON_AddStringToObject(root, TABLE_BEFORE, before);
    char *json = gls_json_print(root);
    cJSON_Delete(root);
    gls_status status = json ? gls_dataset_rewrite(path, MARK, json, strlen(json), group) : gls_no_memory();
    cJSON_free(json);
    return status;
}

/* Writes the joined table and its sidecar. Neither may replace an input or a file of another program. */
static gls_status write_table(profile_tables *s)
{
    char table[GLS_DATASET_MAX_PATH], sidecar[GLS_DATASET_MAX_PATH], before[17], *text = NULL;
    size_t bytes = 0;
    gls_run run;
    gls_status status = GLS_OK;
    gls_run_begin(&run, true);
    snprintf(table, sizeof table, "%s/" OUTPUT ".csv", s->options->output);
    snprintf(sidecar, sizeof sidecar, "%s/" OUTPUT ".json", s->options->output);
    /* add the tables as inputs of the run, which then refuses an output that would replace one of them */
    for (size_t i = 0; i < s->n && !status; i++) status = gls_run_reads(&run, s->table[i].path);
    if (!status) status = gls_run_writes(&run, table);
    if (!status) status = may_replace(table, sidecar, before);
    if (!status) status = make_table(s, &text, &bytes);
    if (!status) status = write_sidecar(sidecar, text, bytes, before, &run.group);
    if (!status) status = gls_file_write(table, true, &run.group, text, bytes);
    if (!status) status = gls_run_commit(&run, NULL);
    gls_run_end(&run);
    free(text);
    return status;
}

gls_status gls_dataset_profiles(const gls_dataset_options *o, size_t *n)
{
    profile_tables s = {.options = o};
    gls_status status = gls_dataset_walk(o, add_folders, &s);
    for (size_t i = 0; i < s.n && !status; i++) status = add_columns(&s, &s.table[i]);
    if (!status && s.n > 0) status = write_table(&s);
    for (size_t k = 0; k < MAX_COLUMNS; k++) free(s.column[k]);
    *n = s.n;
    free(s.table);
    return status;
}
