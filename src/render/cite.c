/* Citations for a run: the program and the papers of the methods that its sidecar names, and the paragraph of a report
 * on the methods. */
#include "render/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/run_params.h"
#include "record/sidecar.h"
#include "util/status.h"
#include "util/text.h"

/* Largest number of papers of a run. */
enum { MAX_PAPERS = 20 };

/* Keys of report.bib, in the order in which the papers of all methods are listed. */
static const char *const all_keys[] = {"tensor",     "opdt",      "csa",     "csd",          "msmt",
                                       "boot",       "ptt",       "ifod2",   "ifod1",        "fact",
                                       "eudx",       "act",       "pft",     "sift2",        "tensordet",
                                       "tensorprob", "nulldist1", "bedpost", "quickbundles", "quickbundlesx"};
_Static_assert(sizeof all_keys / sizeof *all_keys <= MAX_PAPERS, "a list has room for all papers");

/* Entry of report.bib with this key, from '@' to its last brace; *length is 0 if there is none. */
static const char *reference_of(const char *key, size_t *length)
{
    char head[32];
    snprintf(head, sizeof head, "{%s,\n", key);
    const char *all = gls_page_part("report.bib"), *found = strstr(all, head);
    *length = 0;
    if (!found) return "";
    /* the entry begins at the '@' before the key and ends at the next brace that begins a line */
    while (*found != '@') found--;
    *length = (size_t)(strstr(found, "\n}") - found) + 2;
    return found;
}

/* Adds the key `name` if there is a paper with this key and the list does not have it yet. */
static void add(const char *key[MAX_PAPERS], size_t *n, const char *name)
{
    size_t length = 0;
    for (size_t i = 0; i < *n; i++)
        if (strcmp(key[i], name) == 0) return;
    for (size_t i = 0; i < sizeof all_keys / sizeof *all_keys; i++) {
        if (strcmp(all_keys[i], name) != 0 || *n == MAX_PAPERS) continue;
        reference_of(name, &length);
        if (length) key[(*n)++] = all_keys[i];
    }
}

/* Member `name` of the object `group` of the sidecar; NULL: there is none. */
static const cJSON *at(const cJSON *sidecar, const char *group, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(sidecar, group), name);
}

/* Lists the keys of the papers for a run with this sidecar, at most MAX_PAPERS. sidecar NULL: the papers of all
 * methods. Returns the number of keys. */
static size_t list_keys(const cJSON *sidecar, const char *key[MAX_PAPERS])
{
    size_t n = 0;
    for (size_t i = 0; !sidecar && i < sizeof all_keys / sizeof *all_keys; i++) add(key, &n, all_keys[i]);
    if (!sidecar) return n;
    const cJSON *dg = at(sidecar, "parameters", "dg"), *model = at(sidecar, "model", "name");
    if (cJSON_IsString(model)) add(key, &n, model->valuestring);
    if (cJSON_IsString(dg)) {
        /* SD_STREAM is described in the paper of iFOD1, NullDist2 in the paper of NullDist1 */
        add(key, &n,
            strcmp(dg->valuestring, "sdstream") == 0    ? "ifod1"
            : strcmp(dg->valuestring, "nulldist2") == 0 ? "nulldist1"
                                                        : dg->valuestring);
    }
    /* Older sidecars have no tensor_fit: their runs fitted tensors unless the user gave a stop map. */
    const cJSON *tensor = cJSON_GetObjectItemCaseSensitive(sidecar, "tensor_fit");
    if (tensor ? cJSON_IsTrue(tensor) : cJSON_IsString(dg) && !cJSON_IsString(at(sidecar, "parameters", "fa")))
        add(key, &n, "tensor");
    if (cJSON_IsString(at(sidecar, "parameters", "act")) || cJSON_IsString(at(sidecar, "parameters", "pve_wm")))
        add(key, &n, "act");
    if (cJSON_IsTrue(at(sidecar, "parameters", "pft"))) add(key, &n, "pft");
    if (cJSON_IsTrue(at(sidecar, "parameters", "weights"))) add(key, &n, "sift2");
    if (cJSON_IsNumber(at(sidecar, "counts", "clusters"))) {
        add(key, &n, "quickbundles");
        if (cJSON_GetArraySize(at(sidecar, "parameters", "thresholds_mm")) > 0) add(key, &n, "quickbundlesx");
    }
    return n;
}

/* Appends BibTeX of this version of the program and of n papers. */
static void cite_bibtex(gls_text *out, const char *version, const char *const *key, size_t n)
{
    gls_text_printf(out,
                    "@software{glslines,\n  title = {glslines: diffusion MRI tractography in OpenGL compute shaders},\n"
                    "  author = {{The glslines developers}},\n  version = {%s}\n}\n",
                    version);
    for (size_t i = 0; i < n; i++) {
        size_t length = 0;
        const char *entry = reference_of(key[i], &length);
        gls_text_append(out, entry, length);
        gls_text_puts(out, "\n");
    }
}

/* Stores the value of a field "name = {value}" of a BibTeX entry, without braces; "" if there is none. Returns
 * value. */
static const char *field(const char *entry, size_t length, const char *name, char *value, size_t size)
{
    char head[32];
    int n = snprintf(head, sizeof head, "%s = {", name);
    const char *found = strstr(entry, head);
    *value = '\0';
    if (!found || (size_t)(found - entry) >= length) return value;
    snprintf(value, size, "%.*s", (int)strcspn(found + n, "}"), found + n);
    return value;
}

/* Appends the references as lines of text, made of the fields of the BibTeX entries. */
static void cite_list(gls_text *out, const char *version, const char *const *key, size_t n)
{
    static const char *const names[] = {"author", "title", "journal", "booktitle", "volume", "pages", "year", "school"};
    char value[8][512];
    gls_text_printf(out,
                    "The glslines developers. glslines: diffusion MRI tractography in OpenGL compute shaders. "
                    "Version %s.\n",
                    version);
    for (size_t i = 0; i < n; i++) {
        size_t length = 0;
        const char *entry = reference_of(key[i], &length);
        for (size_t f = 0; f < 8; f++) field(entry, length, names[f], value[f], sizeof *value);
        /* Turns BibTeX's "A and B" and "1--9" into printed form. */
        for (char *and; (and = strstr(value[0], " and ")) != NULL;)
            memmove(and+2, and+5, strlen(and+5) + 1), memcpy(and, ", ", 2);
        char *dash = strstr(value[5], "--");
        if (dash) memmove(dash, dash + 1, strlen(dash));
        if (*value[7])
            gls_text_printf(out, "%s %s. PhD thesis, %s, %s.\n", value[0], value[1], value[7], value[6]);
        else
            /* an abstract may have no page */
            gls_text_printf(out, "%s %s. %s%s %s%s%s, %s.\n", value[0], value[1], value[2], value[3], value[4],
                            *value[5] ? ":" : "", value[5], value[6]);
    }
}

gls_status gls_cite(const char *path, gls_cite_format format, char **text)
{
    const char *key[MAX_PAPERS], *dot = path ? strrchr(path, '.') : NULL, *version = gls_version();
    char *beside = NULL, *json = NULL;
    cJSON *sidecar = NULL;
    gls_text out = {0};
    gls_status status = GLS_OK;
    /* if path names a tractogram, read the sidecar beside it */
    if (path && !(dot && strcmp(dot, ".json") == 0)) {
        beside = gls_sidecar_find(path);
        status = beside ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory");
    }
    if (path && !status) status = gls_sidecar_read(beside ? beside : path, &json, &sidecar);
    if (path && !status && !gls_sidecar_describes_tracking(sidecar))
        status =
            gls_fail(GLS_ERR_INPUT, "%s: describes no tracking: give a tractogram of 'glslines track', or its sidecar",
                     beside ? beside : path);
    if (status) goto fail;
    size_t n = list_keys(sidecar, key);
    const cJSON *software = cJSON_GetObjectItemCaseSensitive(sidecar, "software");
    if (sidecar) version = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(software, "version"));
    if (format == GLS_CITE_CFF)
        gls_text_puts(&out, gls_page_part("CITATION.cff"));
    else
        (format == GLS_CITE_BIBTEX ? cite_bibtex : cite_list)(&out, version, key, n);
    *text = gls_text_take(&out);
    if (!*text) status = gls_fail(GLS_ERR_MEMORY, "out of memory for references");
fail:
    cJSON_Delete(sidecar);
    free(json);
    free(beside);
    return status;
}

/* --- The section of a report. */

/* Words for a model or getter in a sentence; an unknown name as it is; "an unknown method" for NULL. */
static const char *in_words(const char *word)
{
    static const char *const words[][2] = {{"opdt", "the orientation probability density transform"},
                                           {"csa", "constant solid angle q-ball imaging"},
                                           {"csd", "constrained spherical deconvolution"},
                                           {"msmt", "multi-tissue constrained spherical deconvolution"},
                                           {"boot", "the residual bootstrap"},
                                           {"ifod1", "first-order integration over fibre orientation distributions"},
                                           {"ifod2", "second-order integration over fibre orientation distributions"},
                                           {"sdstream", "the peaks of fibre orientation distributions"},
                                           {"fact", "fibre assignment by continuous tracking"},
                                           {"eudx", "Euler integration along the peaks around each point"},
                                           {"tensordet", "the main axis of the diffusion tensor"},
                                           {"tensorprob", "a wild bootstrap of the diffusion tensor"},
                                           {"closest", "the closest peaks"},
                                           {"nulldist1", "directions drawn at random, whatever the data"},
                                           {"nulldist2", "arcs drawn at random, whatever the data"},
                                           {"seedtest", "no steps, as the points of their seeds"},
                                           {"bedpost", "samples of the directions of fibres"},
                                           {"prob", "probabilistic drawing of directions"},
                                           {"det", "the most probable directions"},
                                           {"ptt", "parallel transport"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word && strcmp(word, words[i][0]) == 0) return words[i][1];
    return word ? word : "an unknown method";
}

/* If the run used tissue: appends by which rules tissue ended streamlines, and whether with back-tracking or particle
 * filtering. */
static void put_tissue(const gls_report *r, gls_text *out)
{
    const char *rule = gls_report_text(r, "parameters/act_rule");
    if (!rule) return;
    gls_text_printf(out, ", ended by tissue by %s",
                    strcmp(rule, "act") == 0   ? "MRtrix3's rules of ACT"
                    : strcmp(rule, "cmc") == 0 ? "the continuous map criterion"
                                               : "DIPY's thresholds");
    if (cJSON_IsTrue(gls_report_get(r, "parameters/backtrack"))) gls_text_puts(out, " with back-tracking");
    if (cJSON_IsTrue(gls_report_get(r, "parameters/pft"))) gls_text_puts(out, " with particle filtering");
}

void gls_report_methods(const gls_report *r, gls_text *out)
{
    const char *model = gls_report_text(r, "model/name"), *dg = gls_report_text(r, "parameters/dg"),
               *version = gls_report_text(r, "software/version");
    const char *keys[MAX_PAPERS];
    if (!dg) {
        gls_report_missing(r, out, "the methods");
        return;
    }
    /* a getter that ends streamlines by its own threshold has no stop map unless one is given */
    const gls_direction_getter getter = gls_getter_named(dg);
    const bool by_map =
        gls_report_text(r, "parameters/fa") || getter == GLS_DG_COUNT || !gls_getter_ends_itself(getter);
    gls_text_puts(out, "<p>Streamlines were tracked with glslines ");
    gls_html_puts(out, version);
    gls_text_puts(out, " by ");
    gls_html_puts(out, in_words(dg));
    if (model) {
        gls_text_puts(out, ", in orientation distributions from ");
        gls_html_puts(out, in_words(model));
    }
    /* a number that the sidecar lacks is NaN here, and the sentence leaves the number out */
    const double seeds = gls_report_number(r, "counts/seeds"), step = gls_report_number(r, "parameters/step_size_mm"),
                 angle = gls_report_number(r, "parameters/max_angle_degrees"),
                 directions = gls_report_number(r, "counts/directions"),
                 streamlines = gls_report_number(r, "counts/streamlines"),
                 length = r->counted ? r->counted->length.mean : gls_report_number(r, "lengths/mean_mm");
    if (!isnan(seeds)) gls_text_printf(out, ", from %.0f seeds", seeds);
    if (!isnan(step)) gls_text_printf(out, ", with steps of %g mm", step);
    if (!isnan(angle)) gls_text_printf(out, ", at most %g degrees between steps", angle);
    const double threshold = gls_report_number(r, by_map ? "parameters/fa_threshold" : "parameters/cutoff");
    const char *from = gls_report_text(r, "odf/source");
    const bool of_fa = from && strncmp(from, "tensor", 6) == 0;
    /* threshold is NaN for getters that stop at no threshold of the data, and below 0 where tissue replaces the stop
     * map */
    if (threshold >= 0)
        gls_text_printf(out, ", and %s of %g",
                        by_map  ? "a stop threshold"
                        : of_fa ? "a cutoff of FA"
                                : "a cutoff of amplitudes",
                        threshold);
    put_tissue(r, out);
    if (!isnan(directions) && !isnan(streamlines)) {
        gls_text_printf(out, ". Of %.0f initial directions %.0f gave streamlines", directions, streamlines);
        if (!isnan(length)) gls_text_printf(out, ", of %.1f mm in the mean", length);
    }
    gls_text_puts(out, ".</p>\n<label for=\"bibtex\">BibTeX of the methods</label>\n<textarea id=\"bibtex\" readonly "
                       "rows=\"12\">");
    gls_text bibtex = {0};
    cite_bibtex(&bibtex, version, keys, list_keys(r->sidecar, keys));
    char *text = gls_text_take(&bibtex);
    gls_html_puts(out, text ? text : "");
    free(text);
    gls_text_puts(out, "</textarea>\n");
}
