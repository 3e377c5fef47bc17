/* Quality control of a data set: participants with their pictures, and a table of what a person judges of them. Each
 * judgement goes into the table as it is then, so that nothing is lost when the window ends, or when other people
 * judge, or edit the table, at the same time. */
#include "view/review.h"

#include <cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text_tables.h"
#include "view/command.h"

/* Largest picture and largest table that are read, bytes. */
#define BYTES ((size_t)64 << 20)
/* Longest time that a judgement waits for another program to let go of the table, seconds. */
#define PATIENCE 1

static const char *const columns[] = {"participant_id", "judgement", "note"};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* --- Folders. */

/* For scandir(): names by bytes, in any locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_participant(const struct dirent *entry)
{
    return strncmp(entry->d_name, "sub-", 4) == 0 && !strpbrk(entry->d_name, ".\t\r\n");
}

static int is_session(const struct dirent *entry)
{
    return strncmp(entry->d_name, "ses-", 4) == 0;
}

static int is_picture(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return *entry->d_name != '.' && dot && strcmp(dot, ".png") == 0;
}

/* Calls take() for each entry of a folder, sorted; a folder that cannot be read has none. */
static gls_status each(const char *folder, int (*wanted)(const struct dirent *entry),
                       gls_status (*take)(void *user, const char *folder, const char *name), void *user)
{
    struct dirent **entry = NULL;
    const int n = scandir(folder, &entry, wanted, by_name);
    gls_status status = GLS_OK;
    for (int i = 0; i < n; i++) {
        if (!status) status = take(user, folder, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    return status;
}

/* Whether a path is of this kind, such as S_IFREG; symbolic links are followed. */
static bool is_kind(const char *path, mode_t kind)
{
    struct stat entry;
    return stat(path, &entry) == 0 && (entry.st_mode & S_IFMT) == kind;
}

static gls_status add_picture(void *user, const char *folder, const char *name)
{
    gls_view_participant *p = user;
    char *path = NULL, **list = realloc(p->picture, (p->n_pictures + 1) * sizeof *list);
    if (list) p->picture = list;
    if (!list || gls_asprintf(&path, "%s/%s", folder, name) < 0) return gls_no_memory();
    /* a pipe of such a name would never end */
    if (is_kind(path, S_IFREG))
        p->picture[p->n_pictures++] = path;
    else
        free(path);
    return GLS_OK;
}

/* Adds the pictures of one folder, and of the folder figures in it. */
static gls_status add_figures(void *user, const char *folder, const char *name)
{
    char *path = NULL;
    if (gls_asprintf(&path, "%s/%s/figures", folder, name) < 0) return gls_no_memory();
    gls_status status = each(path, is_picture, add_picture, user);
    free(path);
    return status;
}

/* Adds a participant without pictures. */
static gls_status add_name(gls_view_review *review, const char *name)
{
    gls_view_participant *list = realloc(review->list, (review->n + 1) * sizeof *list);
    if (!list) return gls_no_memory();
    review->list = list;
    list[review->n] = (gls_view_participant){.name = gls_text_copy(name)};
    return list[review->n++].name ? GLS_OK : gls_no_memory();
}

static gls_status add_participant(void *user, const char *folder, const char *name)
{
    gls_view_review *review = user;
    char *path = NULL;
    if (gls_asprintf(&path, "%s/%s", folder, name) < 0) return gls_no_memory();
    const bool is_folder = is_kind(path, S_IFDIR);
    gls_status status = is_folder ? gls_view_name_check(path) : GLS_OK;
    if (is_folder && !status) status = add_name(review, name);
    gls_view_participant *p = status || !is_folder ? NULL : &review->list[review->n - 1];
    if (p) status = add_figures(p, folder, name);
    if (p && !status) status = each(path, is_session, add_figures, p);
    free(path);
    return status;
}

/* --- The table. */

/* Number of the participant of this name; review->n: there is none. */
static size_t find(const gls_view_review *review, const char *name)
{
    size_t i = 0;
    while (i < review->n && strcmp(review->list[i].name, name) != 0) i++;
    return i;
}

/* Adds the judgement of a row to a list that has only participants of the table. */
static gls_status read_row(gls_view_review *rows, char *const *field, size_t n, size_t line)
{
    const gls_view_judgement judgement = n == N_COLUMNS ? gls_view_judgement_parse(field[1]) : GLS_VIEW_JUDGEMENTS;
    if (judgement == GLS_VIEW_JUDGEMENTS)
        return gls_fail(GLS_ERR_INPUT, "%s: line %zu: is no judgement: participant, good, doubtful, bad or n/a, note",
                        rows->table, line);
    const size_t i = find(rows, field[0]);
    gls_status status = i == rows->n ? add_name(rows, field[0]) : GLS_OK;
    char *note = status || strcmp(field[2], "n/a") == 0 ? NULL : gls_text_copy(field[2]);
    if (!status && !note && strcmp(field[2], "n/a") != 0) status = gls_no_memory();
    if (status) return status;
    rows->list[i].judgement = judgement;
    free(rows->list[i].note);
    rows->list[i].note = note;
    return GLS_OK;
}

/* Reads all rows of the table. */
static gls_status read_rows(gls_view_review *rows)
{
    char *text = NULL, *field[N_COLUMNS];
    size_t bytes = 0, n;
    gls_status status = gls_file_read_text(rows->table, BYTES, &text, &bytes);
    if (status) return status;
    gls_records records = gls_records_begin(text, '\t');
    bool fits = gls_record_next(&records, field, N_COLUMNS) == N_COLUMNS;
    for (int i = 0; i < N_COLUMNS && fits; i++) fits = strcmp(field[i], columns[i]) == 0;
    if (!fits)
        status = gls_fail(GLS_ERR_INPUT, "%s: has not the columns participant_id, judgement, note: give --save-to",
                          rows->table);
    while (!status && (n = gls_record_next(&records, field, N_COLUMNS)) > 0) {
        if (n == 1 && !*field[0]) continue;
        status = read_row(rows, field, n, records.line);
    }
    free(text);
    return status;
}

/* Replaces all judgements by those of the rows, whose notes it takes. */
static gls_status take_rows(gls_view_review *review, const gls_view_review *rows)
{
    gls_status status = GLS_OK;
    /* a judgement of someone who is not there any more is kept */
    for (size_t i = 0; i < rows->n && !status; i++)
        if (find(review, rows->list[i].name) == review->n) status = add_name(review, rows->list[i].name);
    if (status) return status;
    for (size_t i = 0; i < review->n; i++) {
        gls_view_participant *p = &review->list[i];
        const size_t row = find(rows, p->name);
        free(p->note);
        p->note = row < rows->n ? rows->list[row].note : NULL;
        p->judgement = row < rows->n ? rows->list[row].judgement : GLS_VIEW_UNJUDGED;
        if (row < rows->n) rows->list[row].note = NULL;
    }
    return GLS_OK;
}

/* Reads the table, in place of the judgements of before. These stay if there is no table, or if it cannot be read. */
static gls_status read_table(gls_view_review *review)
{
    if (access(review->table, F_OK) != 0 && errno == ENOENT) return GLS_OK;
    gls_view_review rows = {.table = review->table};
    gls_status status = read_rows(&rows);
    if (!status) status = take_rows(review, &rows);
    rows.table = NULL;
    gls_view_review_close(&rows);
    return status;
}

/* Lets one server at a time read and write the table of a folder. *lock: a descriptor that holds the lock until it is
 * closed; -1: none, on a file system without locks. GLS_ERR_OUTPUT: another program keeps the lock. */
static gls_status lock_table(const gls_view_review *review, int *lock)
{
    const int length = (int)(gls_file_name(review->table) - review->table);
    const double end = gls_clock_seconds() + PATIENCE;
    char *folder = NULL;
    *lock = gls_asprintf(&folder, "%.*s", length, review->table) < 0 ? -1 : open(folder, O_RDONLY | O_CLOEXEC);
    free(folder);
    /* the server answers no page while it waits here, so it must not wait for long */
    while (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) != 0) {
        const bool held = errno == EWOULDBLOCK || errno == EINTR;
        if (held && gls_clock_seconds() < end) {
            nanosleep(&(struct timespec){.tv_nsec = 2 * 1000 * 1000}, NULL);
            continue;
        }
        close(*lock);
        *lock = -1;
        if (held) return gls_fail(GLS_ERR_OUTPUT, "%s: another program holds the table: try again", review->table);
    }
    return GLS_OK;
}

static gls_status write_table(const gls_view_review *review)
{
    gls_text table = {0};
    for (int i = 0; i < N_COLUMNS; i++) gls_text_printf(&table, "%s%s", i ? "\t" : "", columns[i]);
    gls_text_puts(&table, "\n");
    for (size_t i = 0; i < review->n; i++) {
        const gls_view_participant *p = &review->list[i];
        if (p->judgement == GLS_VIEW_UNJUDGED && !p->note) continue;
        gls_field_append(&table, p->name, '\t');
        gls_text_printf(&table, "\t%s\t", gls_view_judgement_word(p->judgement));
        gls_field_append(&table, p->note ? p->note : "n/a", '\t');
        gls_text_puts(&table, "\n");
    }
    return gls_text_write(&table, review->table, true, NULL, GLS_OK);
}

/* --- For the server. */

gls_status gls_view_review_open(gls_view_review *review, const char *folder, const char *save_to)
{
    if (gls_asprintf(&review->table, "%s/desc-qc_participants.tsv", save_to ? save_to : folder) < 0)
        return gls_no_memory();
    gls_status status = gls_output_check(review->table, true, NULL, 0);
    if (!status) status = each(folder, is_participant, add_participant, review);
    if (!status && review->n == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: has no participants: a data set has folders sub-LABEL", folder);
    return status ? status : read_table(review);
}

gls_status gls_view_review_list(const gls_view_review *review, gls_text *json)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < review->n; i++) {
        const gls_view_participant *p = &review->list[i];
        cJSON *one = cJSON_CreateObject(), *names = cJSON_AddArrayToObject(one, "pictures");
        cJSON_AddStringToObject(one, "name", p->name);
        for (size_t k = 0; k < p->n_pictures; k++)
            cJSON_AddItemToArray(names, cJSON_CreateString(gls_file_name(p->picture[k])));
        cJSON_AddStringToObject(one, "judgement", gls_view_judgement_word(p->judgement));
        cJSON_AddStringToObject(one, "note", p->note ? p->note : "");
        cJSON_AddItemToArray(list, one);
    }
    return gls_view_answer_end(list, json);
}

gls_status gls_view_review_picture(const gls_view_review *review, size_t participant, size_t picture, gls_text *bytes)
{
    char *data = NULL;
    size_t n = 0;
    if (participant >= review->n || picture >= review->list[participant].n_pictures ||
        !is_kind(review->list[participant].picture[picture], S_IFREG))
        return gls_fail(GLS_ERR_ARGUMENT, "there is no such picture");
    gls_status status = gls_file_read(review->list[participant].picture[picture], BYTES, &data, &n);
    if (!status) gls_text_append(bytes, data, n);
    free(data);
    return status ? status : bytes->failed ? gls_no_memory() : GLS_OK;
}

/* Reads the table again, and writes it with a judgement. After a failure the judgement of before stays. */
static gls_status judge(gls_view_review *review, const gls_view_request *request)
{
    gls_status status = read_table(review);
    if (status) return status;
    gls_view_participant *p = &review->list[request->participant];
    const gls_view_participant before = *p;
    char *note = *request->note ? gls_text_copy(request->note) : NULL;
    if (*request->note && !note) return gls_no_memory();
    p->note = note;
    p->judgement = request->judgement;
    status = write_table(review);
    if (status) *p = before;
    free(status ? note : before.note);
    return status;
}

gls_status gls_view_review_judge(gls_view_review *review, const gls_view_request *request, gls_text *json)
{
    int lock;
    if (request->participant >= review->n) return gls_fail(GLS_ERR_ARGUMENT, "there is no such participant");
    gls_status status = lock_table(review, &lock);
    if (!status) status = judge(review, request);
    if (lock >= 0) close(lock);
    if (status) return status;
    cJSON *root = gls_view_answer_begin(request->id, "judge");
    cJSON_AddStringToObject(root, "table", review->table);
    return gls_view_answer_end(root, json);
}

void gls_view_review_close(gls_view_review *review)
{
    for (size_t i = 0; i < review->n; i++) {
        for (size_t k = 0; k < review->list[i].n_pictures; k++) free(review->list[i].picture[k]);
        free(review->list[i].picture);
        free(review->list[i].name);
        free(review->list[i].note);
    }
    free(review->list);
    free(review->table);
    *review = (gls_view_review){.n = 0};
}
