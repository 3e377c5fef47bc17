/* Quality control of a data set: participants with their pictures, and a table of what a person judges of them. Each
 * judgement goes into the table as it is then, so that nothing is lost when the window ends, or when other people
 * judge, or edit the table, at the same time. */
#include "view/review.h"

#include <cJSON.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text_tables.h"

/* Largest picture and largest table that are read, bytes. */
#define BYTES ((size_t)64 << 20)

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
    gls_status status = is_folder ? add_name(review, name) : GLS_OK;
    gls_view_participant *p = status || !is_folder ? NULL : &review->list[review->n - 1];
    if (p) status = add_figures(p, folder, name);
    if (p && !status) status = each(path, is_session, add_figures, p);
    free(path);
    return status;
}

/* --- The table. */

static gls_status read_row(gls_view_review *review, char *const *field, size_t n, size_t line)
{
    size_t i = 0;
    const gls_view_judgement judgement = n == N_COLUMNS ? gls_view_judgement_parse(field[1]) : GLS_VIEW_JUDGEMENTS;
    if (judgement == GLS_VIEW_JUDGEMENTS)
        return gls_fail(GLS_ERR_INPUT, "%s: line %zu: is no judgement: participant, good, doubtful, bad or n/a, note",
                        review->table, line);
    while (i < review->n && strcmp(review->list[i].name, field[0]) != 0) i++;
    /* a judgement of someone who is not there any more is kept */
    gls_status status = i == review->n ? add_name(review, field[0]) : GLS_OK;
    if (status) return status;
    review->list[i].judgement = judgement;
    free(review->list[i].note);
    review->list[i].note = strcmp(field[2], "n/a") == 0 ? NULL : gls_text_copy(field[2]);
    return GLS_OK;
}

/* Forgets all judgements. */
static void clear(gls_view_review *review)
{
    for (size_t i = 0; i < review->n; i++) {
        review->list[i].judgement = GLS_VIEW_UNJUDGED;
        free(review->list[i].note);
        review->list[i].note = NULL;
    }
}

/* Reads the table, in place of the judgements of before. */
static gls_status read_table(gls_view_review *review)
{
    char *text = NULL, *field[N_COLUMNS];
    size_t bytes = 0, n;
    clear(review);
    if (access(review->table, F_OK) != 0) return GLS_OK;
    gls_status status = gls_file_read_text(review->table, BYTES, &text, &bytes);
    if (status) return status;
    gls_records records = gls_records_begin(text, '\t');
    bool fits = gls_record_next(&records, field, N_COLUMNS) == N_COLUMNS;
    for (int i = 0; i < N_COLUMNS && fits; i++) fits = strcmp(field[i], columns[i]) == 0;
    if (!fits)
        status = gls_fail(GLS_ERR_INPUT, "%s: has not the columns participant_id, judgement, note: give --save-to",
                          review->table);
    while (!status && (n = gls_record_next(&records, field, N_COLUMNS)) > 0) {
        if (n == 1 && !*field[0]) continue;
        status = read_row(review, field, n, records.line);
    }
    free(text);
    return status;
}

/* Lets one server at a time read and write the table of a folder. Returns a descriptor that holds the lock until it is
 * closed; -1: the file system has no locks. */
static int lock_table(const gls_view_review *review)
{
    const int length = (int)(gls_file_name(review->table) - review->table);
    char *folder = NULL;
    int fd = -1;
    if (gls_asprintf(&folder, "%.*s", length, review->table) >= 0) fd = open(folder, O_RDONLY | O_CLOEXEC);
    free(folder);
    if (fd >= 0) flock(fd, LOCK_EX);
    return fd;
}

static gls_status write_table(const gls_view_review *review)
{
    gls_text table = {0};
    for (int i = 0; i < N_COLUMNS; i++) gls_text_printf(&table, "%s%s", i ? "\t" : "", columns[i]);
    gls_text_puts(&table, "\n");
    for (size_t i = 0; i < review->n; i++) {
        const gls_view_participant *p = &review->list[i];
        if (p->judgement == GLS_VIEW_UNJUDGED && !p->note) continue;
        gls_text_printf(&table, "%s\t%s\t", p->name, gls_view_judgement_word(p->judgement));
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

/* Reads the table again, and writes it with a judgement. */
static gls_status judge(gls_view_review *review, const gls_view_request *request)
{
    gls_status status = read_table(review);
    if (status) return status;
    gls_view_participant *p = &review->list[request->participant];
    char *note = *request->note ? gls_text_copy(request->note) : NULL;
    if (*request->note && !note) return gls_no_memory();
    free(p->note);
    p->note = note;
    p->judgement = request->judgement;
    return write_table(review);
}

gls_status gls_view_review_judge(gls_view_review *review, const gls_view_request *request, gls_text *json)
{
    if (request->participant >= review->n) return gls_fail(GLS_ERR_ARGUMENT, "there is no such participant");
    const int lock = lock_table(review);
    gls_status status = judge(review, request);
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
