/* What to cite: the entries of page/report.bib as BibTeX, as a list and as a table, and the papers of a run. Which
 * papers a run has follows from the paragraph on its methods alone (methods.c), so that text and references cannot
 * differ. */
#include "render/cite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/sidecar.h"
#include "render/methods.h"
#include "render/report_parts.h"
#include "render/studio.h"
#include "render/studio.h"
#include "util/json_text.h"
#include "util/status.h"

/* --- Entries of report.bib. */

/* The first entry at or after `from`; NULL: there is none. *length: bytes from '@' to the brace that begins a line. */
static const char *next_entry(const char *from, size_t *length)
{
    const char *entry = strchr(from, '@');
    if (entry) *length = (size_t)(strstr(entry, "\n}") - entry) + 2;
    return entry;
}

/* Stores the value of a field "name = {value}" of an entry, without braces; "" if there is none. Returns value. */
static const char *field(const char *entry, size_t length, const char *name, char *value, size_t size)
{
    char head[32];
    const int n = snprintf(head, sizeof head, " %s = {", name);
    const char *found = strstr(entry, head);
    *value = '\0';
    if (!found || (size_t)(found - entry) >= length) return value;
    snprintf(value, size, "%.*s", (int)strcspn(found + n, "}"), found + n);
    return value;
}

/* Writes "Smith et al., 2015" into label[128]. */
static void write_label(const char *entry, size_t length, char *label)
{
    char authors[512], year[16];
    field(entry, length, "author", authors, sizeof authors);
    field(entry, length, "year", year, sizeof year);
    const char *second = strstr(authors, " and ");
    const int first = (int)strcspn(authors, ",");
    if (!second)
        snprintf(label, 128, "%.*s, %s", first, authors, year);
    else if (strstr(second + 5, " and "))
        snprintf(label, 128, "%.*s et al., %s", first, authors, year);
    else
        snprintf(label, 128, "%.*s and %.*s, %s", first, authors, (int)strcspn(second + 5, ","), second + 5, year);
}

/* Letter behind the year of an entry: 'a', 'b' ... if report.bib has several of the same authors and year, else 0. */
static char letter_of(const char *entry, size_t length)
{
    char own[128], other[128];
    size_t n = 0;
    int same = 0, before = 0;
    write_label(entry, length, own);
    for (const char *e = gls_page_part("report.bib"); (e = next_entry(e, &n)) != NULL; e += n) {
        write_label(e, n, other);
        same += strcmp(own, other) == 0;
        before += strcmp(own, other) == 0 && e < entry;
    }
    return same > 1 ? (char)('a' + before) : '\0';
}

/* Adds an entry unless the list has it. */
static void add(gls_papers *papers, const char *entry, size_t length)
{
    for (size_t i = 0; i < papers->n; i++)
        if (papers->entry[i] == entry) return;
    if (papers->n == GLS_MAX_PAPERS) return;
    papers->entry[papers->n] = entry;
    papers->length[papers->n++] = length;
}

void gls_papers_cite(gls_papers *papers, const char *key, gls_text *out)
{
    char head[64], label[128];
    size_t length = 0;
    snprintf(head, sizeof head, "{%s,\n", key);
    const char *all = gls_page_part("report.bib"), *found = strstr(all, head);
    if (!found) return;
    while (*found != '@') found--;
    found = next_entry(found, &length);
    add(papers, found, length);
    write_label(found, length, label);
    const char letter[2] = {letter_of(found, length)};
    if (out) gls_text_printf(out, "%s%s", label, letter);
}

/* Adds all entries. */
static void add_all(gls_papers *papers)
{
    size_t n = 0;
    for (const char *e = gls_page_part("report.bib"); (e = next_entry(e, &n)) != NULL; e += n) add(papers, e, n);
}

/* --- Forms of references. */

void gls_papers_bibtex(const gls_papers *papers, const char *version, gls_text *out)
{
    gls_text_puts(out,
                  "@software{glslines,\n  title = {glslines: diffusion MRI tractography in OpenGL compute shaders},\n"
                  "  author = {{The glslines developers}},\n  version = {");
    gls_text_show(out, version);
    gls_text_puts(out, "}\n}\n");
    for (size_t i = 0; i < papers->n; i++) {
        gls_text_append(out, papers->entry[i], papers->length[i]);
        gls_text_puts(out, "\n");
    }
}

/* Appends a reference in one sentence, made of the fields of an entry. */
static void append_reference(gls_text *out, const char *entry, size_t length)
{
    static const char *const names[] = {"author", "title", "journal", "booktitle", "volume", "pages", "year", "school"};
    char value[8][512];
    for (size_t f = 0; f < 8; f++) field(entry, length, names[f], value[f], sizeof *value);
    /* turn BibTeX's "A and B" and "1--9" into printed form */
    for (char *and; (and = strstr(value[0], " and ")) != NULL;)
        memmove(and+2, and+5, strlen(and+5) + 1), memcpy(and, ", ", 2);
    char *dash = strstr(value[5], "--");
    if (dash) memmove(dash, dash + 1, strlen(dash));
    const char letter[2] = {letter_of(entry, length)};
    gls_text_printf(out, "%s %s%s ", value[0], value[1], strchr(value[1], '?') ? "" : ".");
    if (*value[7])
        gls_text_printf(out, "PhD thesis, %s, ", value[7]);
    else
        gls_text_printf(out, "%s%s%s%s%s%s, ", value[2], value[3], *value[4] ? " " : "", value[4],
                        *value[4] ? ":" : ", ", value[5]);
    gls_text_printf(out, "%s%s.", value[6], letter);
}

void gls_papers_list(const gls_papers *papers, const char *version, const char *bullet, gls_text *out)
{
    gls_text_printf(
        out, "%sThe glslines developers. glslines: diffusion MRI tractography in OpenGL compute shaders. Version ",
        bullet);
    gls_text_show(out, version);
    gls_text_puts(out, ".\n");
    for (size_t i = 0; i < papers->n; i++) {
        gls_text_puts(out, bullet);
        append_reference(out, papers->entry[i], papers->length[i]);
        gls_text_puts(out, "\n");
    }
}

/* Appends a table with a row for each paper: the methods that it describes, and the reference. */
static void append_table(gls_text *out, const gls_papers *papers)
{
    char methods[256];
    gls_text_puts(out, "| method | paper |\n|---|---|\n");
    for (size_t i = 0; i < papers->n; i++) {
        gls_text_printf(out, "| %s | ",
                        field(papers->entry[i], papers->length[i], "keywords", methods, sizeof methods));
        append_reference(out, papers->entry[i], papers->length[i]);
        gls_text_puts(out, " |\n");
    }
}

/* --- The papers of a run. */

/* Largest number of sidecars that lead from an output to the runs that made its inputs. */
enum { MAX_RUNS = 16 };

/* Sidecars of a run and of the runs before it. */
typedef struct run_chain {
    /* names of the sidecars, owned */
    char *path[MAX_RUNS];
    cJSON *sidecar[MAX_RUNS];
    size_t n;
} run_chain;

/* Reads the sidecar of this name, unless the chain has it. */
static gls_status read_run(run_chain *chain, const char *path)
{
    char *text = NULL;
    for (size_t i = 0; i < chain->n; i++)
        if (strcmp(chain->path[i], path) == 0) return GLS_OK;
    if (chain->n == MAX_RUNS) return GLS_OK;
    const size_t k = chain->n++;
    chain->path[k] = gls_text_copy(path);
    gls_status status = gls_sidecar_read(path, &text, &chain->sidecar[k]);
    free(text);
    return status || chain->path[k] ? status : gls_no_memory();
}

/* Name of the sidecar of an output: x.json for x.tck, or x.json for x_wm.nii.gz of `fit`. From malloc; NULL: there is
 * none. */
static char *find_sidecar(const char *output)
{
    struct stat info;
    char *name = gls_sidecar_find(output);
    if (name && stat(name, &info) != 0) {
        const char *last = strrchr(output, '_');
        free(name);
        name = NULL;
        if (last && !strchr(last, '/') && asprintf(&name, "%.*s.json", (int)(last - output), output) < 0) name = NULL;
        if (name && stat(name, &info) != 0) {
            free(name);
            name = NULL;
        }
    }
    return name;
}

/* Reads the sidecars of the inputs of run k, where they exist and the input has the size that the run read. */
static void read_runs_before(run_chain *chain, size_t k)
{
    struct stat info;
    const cJSON *input;
    cJSON_ArrayForEach(input, gls_json_at(chain->sidecar[k], "inputs"))
    {
        const char *name = gls_json_text_at(input, "path");
        uint64_t bytes;
        if (!name || !gls_json_get_uint(gls_json_at(input, "bytes"), &bytes)) continue;
        char *path = gls_file_beside(chain->path[k], name), *sidecar = path ? find_sidecar(path) : NULL;
        const size_t before = chain->n;
        /* a sidecar that cannot be read says nothing on this run itself, and is left out */
        if (sidecar && stat(path, &info) == 0 && (uint64_t)info.st_size == bytes && read_run(chain, sidecar) &&
            chain->n > before) {
            cJSON_Delete(chain->sidecar[before]);
            free(chain->path[before]);
            chain->n = before;
        }
        free(sidecar);
        free(path);
    }
}

/* Reads the sidecar of a run, which is path itself or lies beside the output path, and those of the runs before it. */
static gls_status read_chain(run_chain *chain, const char *path)
{
    const char *dot = strrchr(path, '.');
    char *beside = dot && strcmp(dot, ".json") == 0 ? gls_text_copy(path) : gls_sidecar_find(path);
    gls_status status = beside ? read_run(chain, beside) : gls_no_memory();
    for (size_t k = 0; k < chain->n && !status; k++) read_runs_before(chain, k);
    free(beside);
    return status;
}

gls_status gls_cite(const char *path, gls_cite_format format, char **text)
{
    run_chain chain = {.n = 0};
    gls_papers papers = {.n = 0};
    gls_text methods = {0}, out = {0};
    const char *version = gls_version();
    if (!path && format == GLS_CITE_METHODS)
        return gls_fail(GLS_ERR_ARGUMENT, "--format methods: needs a run: give its output or its sidecar");
    gls_status status = path ? read_chain(&chain, path) : GLS_OK;
    /* the first run stands first */
    for (size_t k = chain.n; k-- > 0 && !status;) {
        const size_t before = methods.length;
        gls_methods_write(chain.sidecar[k], &papers, &methods);
        if (methods.length > before) gls_text_puts(&methods, "\n\n");
    }
    if (!path) add_all(&papers);
    if (!status && papers.n == 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: describes no method that has a paper: give an output of 'glslines track', 'fit', "
                          "'weights' or another command with a method, or its sidecar",
                          chain.path[0]);
    const char *of_run = gls_json_text_at(gls_json_at(chain.n ? chain.sidecar[0] : NULL, "software"), "version");
    if (of_run) version = of_run;
    if (format == GLS_CITE_CFF) gls_text_puts(&out, gls_page_part("CITATION.cff"));
    if (format == GLS_CITE_BIBTEX) gls_papers_bibtex(&papers, version, &out);
    if (format == GLS_CITE_MARKDOWN) append_table(&out, &papers);
    char *words = gls_text_take(&methods);
    if (format == GLS_CITE_METHODS) gls_text_puts(&out, words ? words : "");
    if (format == GLS_CITE_METHODS) gls_papers_list(&papers, version, "- ", &out);
    if (format == GLS_CITE_TEXT) gls_papers_list(&papers, version, "", &out);
    *text = gls_text_take(&out);
    if (!status && (!*text || !words)) status = gls_fail(GLS_ERR_MEMORY, "out of memory for references");
    if (status) free(*text), *text = NULL;
    free(words);
    for (size_t k = 0; k < chain.n; k++) {
        cJSON_Delete(chain.sidecar[k]);
        free(chain.path[k]);
    }
    return status;
}
