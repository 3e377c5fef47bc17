/* Lists the papers to cite for a run and for the runs that made its inputs. Which papers a run has follows from the
 * paragraph on its methods alone (methods.c), so that text and references cannot differ. */
#include "render/cite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "image/grid.h"
#include "record/sidecar.h"
#include "render/backdrop.h"
#include "render/methods.h"
#include "render/page.h"
#include "util/json_text.h"
#include "util/status.h"

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

/* Name of the sidecar of an output: x.json for x.tck and for x_wm.nii.gz, where x_wm.json is not there. From malloc;
 * NULL: there is none. */
static char *find_sidecar(const char *output)
{
    const char *last = strrchr(output, '_');
    const size_t before = last && !strchr(last, '/') ? (size_t)(last - output) : 0;
    const size_t length[] = {gls_image_stem(output), before};
    struct stat info;
    char *name = gls_sidecar_find(output);
    for (size_t i = 0; i < sizeof length / sizeof *length && name && stat(name, &info) != 0; i++) {
        free(name);
        if (gls_asprintf(&name, "%.*s.json", (int)length[i], output) < 0) return NULL;
    }
    if (name && stat(name, &info) == 0) return name;
    free(name);
    return NULL;
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
    char *beside = dot && strcmp(dot, ".json") == 0 ? gls_text_copy(path) : find_sidecar(path);
    if (!beside) beside = gls_sidecar_find(path); /* for the message */
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
    if (!path) gls_papers_all(&papers);
    if (!status && papers.n == 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: describes no method that has a paper: give an output of 'glslines track', 'fit', "
                          "'weights' or another command with a method, or its sidecar",
                          chain.path[0]);
    const char *of_run = gls_json_text_at(gls_json_at(chain.n ? chain.sidecar[0] : NULL, "software"), "version");
    if (of_run) version = of_run;
    if (format == GLS_CITE_CFF) gls_text_puts(&out, gls_page_part("CITATION.cff"));
    if (format == GLS_CITE_BIBTEX) gls_papers_bibtex(&papers, version, &out);
    if (format == GLS_CITE_MARKDOWN) gls_papers_table(&papers, &out);
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
