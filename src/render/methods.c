/* The methods of a run in words, as a paper has them. Each sentence names the papers of what it says; the list of
 * references of a run (cite.c) is made of these alone. Numbers and known words of the sidecar go into the text, and no
 * names of files. */
#include "render/methods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/track.h>

#include "record/run_params.h"
#include "render/page.h"
#include "render/report_parts.h"
#include "render/report_tables.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/text.h"

/* The paragraph that is written. */
typedef struct writer {
    /* sidecar of the run */
    const cJSON *run;
    gls_papers *papers;
    gls_text *out;
} writer;

/* --- Values of the sidecar, at a path of keys such as "counts/seeds". */

static const char *text_at(const writer *w, const char *path)
{
    return cJSON_GetStringValue(gls_json_at_path(w->run, path));
}

/* NAN: there is no number. */
static double number_at(const writer *w, const char *path)
{
    const cJSON *item = gls_json_at_path(w->run, path);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static bool is_true_at(const writer *w, const char *path)
{
    return cJSON_IsTrue(gls_json_at_path(w->run, path));
}

/* Whether the value is there and is neither null nor false nor an empty list. */
static bool is_given_at(const writer *w, const char *path)
{
    const cJSON *item = gls_json_at_path(w->run, path);
    return item && !cJSON_IsNull(item) && !cJSON_IsFalse(item) &&
           (!cJSON_IsArray(item) || cJSON_GetArraySize(item) > 0);
}

/* Whether the value is this text. */
static bool is_at(const writer *w, const char *path, const char *word)
{
    const char *text = text_at(w, path);
    return text && strcmp(text, word) == 0;
}

/* --- Words. */

/* Appends " (Smith et al., 2012; Basser et al., 1994)" for a list of keys that NULL ends. */
static void cite_keys(const writer *w, const char *const *key)
{
    for (size_t i = 0; key[i]; i++) {
        gls_text_puts(w->out, i ? "; " : " (");
        gls_papers_cite(w->papers, key[i], w->out);
    }
    gls_text_puts(w->out, ")");
}
#define CITE(w, ...) cite_keys(w, (const char *const[]){__VA_ARGS__, NULL})

/* Text of a number, in which the author of a paper sees what the sidecar does not say. */
static const char *number_text(double number, int digits, char *text, size_t size)
{
    if (isfinite(number))
        gls_snprintf(text, size, "%.*g", digits, number);
    else
        gls_snprintf(text, size, "(unknown)");
    return text;
}
/* The number in memory that lasts to the end of the enclosing block. */
#define NUMBER(number) number_text(number, 6, (char[32]){""}, 32)
/* The same for the length of a side. */
#define SIDE(number) number_text(number, 4, (char[32]){""}, 32)

/* Appends a whole number with commas between thousands. */
static void put_count(const writer *w, double n)
{
    gls_text_puts(w->out, n >= 0 && n < 0x1p63 ? GLS_COUNT((uint64_t)n) : NUMBER(NAN));
}

/* Appends what stands between item i and the item before it in a list of n: nothing, ", " or " and ". */
static void put_between(const writer *w, size_t i, size_t n)
{
    gls_text_puts(w->out, i == 0 ? "" : i + 1 < n ? ", " : " and ");
}

/* A name in sidecars, what it is in a sentence, and its papers. */
typedef struct method {
    const char *name, *words;
    const char *keys[3]; /* NULL ends them */
} method;

/* The entry of this name in a table that an entry without a name ends; NULL: there is none. */
static const method *find_method(const method *table, const char *name)
{
    for (; name && table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

/* Appends the words of an entry, and its papers; NULL: "an unknown method". */
static void put_method(const writer *w, const method *m)
{
    gls_text_puts(w->out, m ? m->words : "an unknown method");
    if (m && m->keys[0]) cite_keys(w, m->keys);
}

static const method models[] = {
    {"opdt", "the orientation probability density transform", {"opdt"}},
    {"csa", "q-ball imaging in constant solid angle", {"csa"}},
    {"csd", "constrained spherical deconvolution", {"csd"}},
    {"msmt", "multi-tissue constrained spherical deconvolution", {"msmt"}},
    {NULL, NULL, {NULL}},
};

static const method tissue_rules[] = {
    {"act", "the rules of anatomically-constrained tractography", {"act"}},
    {"cmc", "the continuous map criterion", {"pft"}},
    {"pve", "thresholds of tissue fractions", {"dipy"}},
    {NULL, NULL, {NULL}},
};

static const method response_algorithms[] = {
    {"dhollander", "from the signal alone", {"dhollander2016", "dhollander2019"}},
    {"tournier", "in voxels of single fibres, found by repeated deconvolution", {"tournier2013"}},
    {"fa", "in the voxels of largest FA", {"tournier2004"}},
    {"msmt_5tt", "in voxels of tissues that were given", {"msmt"}},
    {"manual", "in voxels that were given", {NULL}},
    {NULL, NULL, {NULL}},
};

static const method weight_methods[] = {
    {"sift2", "Streamlines got weights by SIFT2", {"sift2"}},
    {"linear", "Streamlines got weights by a linear estimate in one pass", {"linear"}},
    {"sift", "Streamlines were selected by SIFT", {"sift"}},
    {"commit", "Streamlines got weights that explain the diffusion signal, by COMMIT", {"commit", "fista"}},
    {NULL, NULL, {NULL}},
};

/* --- Series and model. */

/* Appends the volumes of each shell. */
static void put_series(const writer *w)
{
    const cJSON *shells = gls_json_at_path(w->run, "gradients/shells"), *shell,
                *sides = gls_json_at_path(w->run, "grid/voxel_size_mm");
    const size_t n = (size_t)cJSON_GetArraySize(shells);
    if (gls_json_at_path(w->run, "inputs/phantom"))
        gls_text_puts(w->out, " The data were those of the built-in phantom.");
    if (n == 0) return;
    size_t i = 0;
    gls_text_puts(w->out, " The diffusion series had ");
    cJSON_ArrayForEach(shell, shells)
    {
        put_between(w, i, n);
        put_count(w, cJSON_GetNumberValue(gls_json_at(shell, "volumes")));
        gls_text_printf(w->out, " %sof b = %s", i++ ? "" : "volumes ",
                        NUMBER(cJSON_GetNumberValue(gls_json_at(shell, "b_s_per_mm2"))));
    }
    gls_text_puts(w->out, " s/mm2");
    if (cJSON_GetArraySize(sides) == 3)
        gls_text_printf(w->out, ", in voxels of %s x %s x %s mm",
                        SIDE(cJSON_GetNumberValue(cJSON_GetArrayItem(sides, 0))),
                        SIDE(cJSON_GetNumberValue(cJSON_GetArrayItem(sides, 1))),
                        SIDE(cJSON_GetNumberValue(cJSON_GetArrayItem(sides, 2))));
    gls_text_puts(w->out, ".");
    if (is_given_at(w, "made/mask")) {
        gls_text_puts(w->out, " The brain mask was made from the series by the rules of dwi2mask");
        CITE(w, "dhollander2016", "mrtrix3");
        gls_text_puts(w->out, ".");
    }
}

/* Appends where the responses of the tissues of msmt come from. */
static void put_tissues(const writer *w)
{
    static const char *const kinds[][2] = {{"wm", "white matter"}, {"gm", "grey matter"}, {"csf", "CSF"}};
    const cJSON *tissues = gls_json_at_path(w->run, "model/tissues"), *tissue;
    const size_t n = (size_t)cJSON_GetArraySize(tissues);
    const bool estimated = is_at(w, "model/tissues/wm/response", "dhollander");
    size_t i = 0;
    if (n == 0) return;
    gls_text_puts(w->out, " Response functions of ");
    cJSON_ArrayForEach(tissue, tissues)
    {
        put_between(w, i++, n);
        for (size_t k = 0; k < 3; k++)
            if (strcmp(tissue->string, kinds[k][0]) == 0) gls_text_puts(w->out, kinds[k][1]);
    }
    gls_text_puts(w->out, estimated ? " were estimated from the series" : " were given");
    if (estimated) CITE(w, "dhollander2016", "dhollander2019");
    i = 0;
    const cJSON *counted = estimated ? tissues : NULL;
    cJSON_ArrayForEach(tissue, counted)
    {
        gls_text_puts(w->out, i ? "" : ", from ");
        put_between(w, i++, n);
        put_count(w, cJSON_GetNumberValue(gls_json_at(tissue, "voxels")));
    }
    gls_text_puts(w->out, estimated ? " voxels." : ".");
}

/* Appends where the response of csd comes from. */
static void put_response(const writer *w)
{
    const double voxels = number_at(w, "model/response/voxels"), fa = number_at(w, "model/response/fa_threshold");
    if (!is_given_at(w, "model/response")) return;
    if (!is_at(w, "model/response/source", "estimated")) {
        gls_text_puts(w->out, " The response function was given.");
        return;
    }
    gls_text_puts(w->out, " The response function was estimated as DIPY does");
    CITE(w, "dipy");
    gls_text_puts(w->out, " in ");
    put_count(w, voxels);
    gls_text_puts(w->out, " voxels");
    if (fa >= 0) gls_text_printf(w->out, " of FA above %g", fa);
    gls_text_puts(w->out, ", by a fit of tensors");
    CITE(w, "tensor");
    gls_text_puts(w->out, ".");
}

/* Appends the model that was fitted, with its shells and order. */
static void put_model(const writer *w)
{
    const char *name = text_at(w, "model/name");
    const double order = number_at(w, "model/sh_order"), shell = number_at(w, "model/shell_b_s_per_mm2"),
                 lambda = number_at(w, "parameters/sm_lambda");
    const cJSON *shells = gls_json_at_path(w->run, "parameters/shells_s_per_mm2"), *value;
    const size_t n = (size_t)cJSON_GetArraySize(shells);
    size_t i = 0;
    if (shell > 0) shells = NULL;
    /* the model of the weights of a tractogram has no name */
    if (!name) return;
    put_tissues(w);
    put_response(w);
    gls_text_puts(w->out, " Orientation distributions were computed by ");
    put_method(w, find_method(models, name));
    if (shell > 0) gls_text_printf(w->out, " of the shell of b = %.6g s/mm2", shell);
    cJSON_ArrayForEach(value, shells)
    {
        gls_text_puts(w->out, i ? "" : " of the shells of b = ");
        put_between(w, i++, n);
        gls_text_puts(w->out, NUMBER(cJSON_GetNumberValue(value)));
    }
    if (i > 0) gls_text_puts(w->out, " s/mm2");
    if (is_at(w, "model/csd_rule", "mrtrix")) gls_text_puts(w->out, " by the rule of MRtrix3"), CITE(w, "mrtrix3");
    if (is_at(w, "model/csd_rule", "dipy")) gls_text_puts(w->out, " by the rule of DIPY"), CITE(w, "dipy");
    if (order > 0) gls_text_printf(w->out, ", with spherical harmonics of order %g", order);
    if (lambda >= 0) gls_text_printf(w->out, " and a regularisation of %g", lambda), CITE(w, "sh");
    gls_text_puts(w->out, ".");
    if (!is_given_at(w, "model/normalisation")) return;
    gls_text_puts(w->out,
                  " Intensity was normalised over the brain by the densities of the tissues, in the log domain");
    CITE(w, "raffelt2017", "dhollander2021");
    gls_text_puts(w->out, ".");
}

/* Appends what streamlines follow, if it is not a model that this run fitted. */
static void put_source(const writer *w)
{
    const double order = number_at(w, "odf/sh_order"), peaks = number_at(w, "odf/peaks_per_voxel");
    const char *source = text_at(w, "odf/source");
    if (!source) return;
    if (strcmp(source, "sh") == 0)
        gls_text_printf(w->out, " Orientation distributions were given as spherical harmonics of order %s.",
                        NUMBER(order));
    if (strcmp(source, "amplitudes") == 0)
        gls_text_puts(w->out, " Orientation distributions were given as amplitudes on a sphere.");
    if (strcmp(source, "peaks") == 0) gls_text_printf(w->out, " Peaks were given, %s in a voxel.", NUMBER(peaks));
    if (strcmp(source, "bedpostx") == 0) {
        gls_text_printf(w->out, " Samples of the directions of %s fibres, %s of each, were those of bedpostX",
                        NUMBER(number_at(w, "odf/fibres")), NUMBER(number_at(w, "odf/samples")));
        CITE(w, "bedpost");
        gls_text_puts(w->out, ".");
    }
    if (strcmp(source, "tensors of the series") == 0) {
        gls_text_puts(w->out, " Tensors were fitted to the signal");
        CITE(w, "tensor");
        gls_text_puts(w->out, ".");
    } else if (peaks > 0 && strcmp(source, "peaks") != 0) {
        gls_text_printf(w->out, " Up to %g peaks of the distributions were found in a voxel", peaks);
        CITE(w, "peaks");
        gls_text_puts(w->out, ".");
    }
}

/* --- Tracking. */

/* Appends the getter with its steps and angle, and what is particular to it. */
static void put_getter(const writer *w)
{
    const double step = number_at(w, "parameters/step_size_mm"), angle = number_at(w, "parameters/max_angle_degrees"),
                 samples = number_at(w, "parameters/samples"), probe = number_at(w, "parameters/probe_length_mm"),
                 weight = number_at(w, "parameters/angular_weight");
    /* a length with its unit, such as "0.15vox" */
    const char *length = text_at(w, "parameters/step_noise");
    char *unit = NULL;
    const double noise = length ? gls_strtod(length, &unit) : 0;
    const char *dg = text_at(w, "parameters/dg");
    const char *paper, *words = gls_getter_words(dg ? gls_getter_named(dg) : GLS_DG_COUNT, &paper);
    const bool steps = !is_at(w, "parameters/dg", "seedtest");
    gls_text_puts(w->out, " Streamlines were tracked by ");
    put_method(w, words ? &(const method){dg, words, {paper}} : NULL);
    if (steps && step > 0) gls_text_printf(w->out, ", in steps of %g mm", step);
    if (steps && angle > 0) gls_text_printf(w->out, ", at most %g degrees from step to step", angle);
    if (is_true_at(w, "parameters/rk4"))
        gls_text_puts(w->out, ", integrated by the fourth-order method of Runge and Kutta"), CITE(w, "tensordet");
    if (samples > 0)
        gls_text_printf(w->out, ", with %g samples along an arc, each to the power of %s", samples,
                        NUMBER(number_at(w, "parameters/power")));
    if (probe > 0)
        gls_text_printf(w->out, ", with probes of %g mm and %s samples", probe,
                        NUMBER(number_at(w, "parameters/probe_quality")));
    if (noise > 0) {
        gls_text_printf(w->out, ", with noise of %g %s on each step", noise,
                        unit && strcmp(unit, "vox") == 0 ? "voxels" : "mm");
        CITE(w, "tom");
    }
    if (weight > 0) gls_text_printf(w->out, ", with an angular weight of %g", weight);
    gls_text_puts(w->out, ".");
}

/* Appends where seeds lie. */
static void put_seed_place(const writer *w)
{
    if (is_given_at(w, "parameters/seeds"))
        gls_text_puts(w->out, " at points that were given");
    else if (is_given_at(w, "parameters/seed_gmwmi"))
        gls_text_puts(w->out, " on the interface of grey and white matter"), CITE(w, "act");
    else if (is_given_at(w, "parameters/seed_dynamic"))
        gls_text_puts(w->out, " in fixels of the FODs that lacked streamlines, drawn in rounds"), CITE(w, "sift2");
    else if (is_given_at(w, "parameters/seed_sphere"))
        gls_text_puts(w->out, " in a sphere");
    else if (is_given_at(w, "parameters/seed_rejection"))
        gls_text_puts(w->out, " with the density of an image");
    else {
        const char *made = text_at(w, "made/seed_region");
        const double voxels = number_at(w, "voxels/seeds");
        gls_text_puts(w->out, made ? " in white matter, that is, in voxels " : " in a seed mask");
        /* only texts of this program stand here, see gls_job_inputs.region */
        if (made) gls_text_show(w->out, made);
        if (made && strstr(made, "FA")) CITE(w, "tensor");
        if (voxels > 0) gls_text_puts(w->out, " ("), put_count(w, voxels), gls_text_puts(w->out, " voxels)");
    }
}

/* Appends the number of seeds, where they lie, and how many streamlines begin at one. */
static void put_seeds(const writer *w)
{
    const double seeds = number_at(w, "counts/seeds"), each = number_at(w, "parameters/seeds_per_voxel"),
                 grid = number_at(w, "parameters/seed_grid"), select = number_at(w, "parameters/select"),
                 most = number_at(w, "parameters/max_directions_per_seed");
    if (isnan(seeds)) return;
    gls_text_puts(w->out, " They began at ");
    put_count(w, seeds);
    gls_text_puts(w->out, " seeds");
    if (each > 0) gls_text_printf(w->out, ", %g at random in each voxel,", each);
    if (grid > 0) gls_text_printf(w->out, " on a grid of %g x %g x %g in each voxel", grid, grid, grid);
    if (!(each > 0) && !(grid > 0) && !is_given_at(w, "parameters/seeds")) gls_text_puts(w->out, " at random");
    put_seed_place(w);
    if (most > 1) gls_text_printf(w->out, ", along up to %g directions each", most);
    if (is_true_at(w, "parameters/seed_unidirectional")) gls_text_puts(w->out, ", to one side");
    if (select > 0) gls_text_puts(w->out, ", until "), put_count(w, select), gls_text_puts(w->out, " were accepted");
    gls_text_puts(w->out, ".");
}

/* Appends what ends streamlines: mask, thresholds, tissue. */
static void put_stops(const writer *w)
{
    const double fa = number_at(w, "parameters/fa_threshold"), cutoff = number_at(w, "parameters/cutoff");
    const char *from = text_at(w, "odf/source"), *rule = text_at(w, "parameters/act_rule");
    const char *dg = text_at(w, "parameters/dg");
    const gls_direction_getter getter = dg ? gls_getter_named(dg) : GLS_DG_COUNT;
    const bool fitted = getter == GLS_DG_COUNT || !gls_getter_ends_itself(getter);
    gls_text_puts(w->out, " They ended at the border of the mask");
    /* older sidecars have a threshold below 0 where tissue replaces the stop map, and one for getters without a map */
    if (fa >= 0 && is_given_at(w, "parameters/fa"))
        gls_text_printf(w->out, ", and where the stop map was at or below %g", fa);
    else if (fa >= 0 && fitted)
        gls_text_printf(w->out, ", and where FA was at or below %g", fa), CITE(w, "tensor");
    if (cutoff > 0)
        gls_text_printf(w->out, ", and where %s below %g",
                        !from                                   ? "amplitudes were"
                        : strncmp(from, "tensor", 6) == 0       ? "FA of the tensor was"
                        : strcmp(from, "bedpostx") == 0         ? "the fraction of a fibre was"
                        : is_given_at(w, "odf/peaks_per_voxel") ? "amplitudes of peaks were"
                                                                : "amplitudes of the distributions were",
                        cutoff);
    if (rule) {
        gls_text_puts(w->out, ", and by tissue, according to ");
        put_method(w, find_method(tissue_rules, rule));
    }
    if (is_true_at(w, "parameters/backtrack")) gls_text_puts(w->out, ", with back-tracking"), CITE(w, "act");
    if (is_true_at(w, "parameters/pft")) {
        gls_text_printf(w->out,
                        ", with particle filtering from %s mm before to %s mm beyond a bad end, by %s particles",
                        NUMBER(number_at(w, "parameters/pft_back_mm")), NUMBER(number_at(w, "parameters/pft_front_mm")),
                        NUMBER(number_at(w, "parameters/pft_particles")));
        CITE(w, "pft");
    }
    if (is_true_at(w, "parameters/crop_at_gmwmi"))
        gls_text_puts(w->out, ", and were cut off at the interface of grey and white matter");
    gls_text_puts(w->out, ".");
}

/* Appends the lengths that are kept, and how many regions of each role select or end streamlines. */
static void put_selection(const writer *w)
{
    const double least = number_at(w, "parameters/min_length_mm"), most = number_at(w, "parameters/max_length_mm"),
                 tolerance = number_at(w, "parameters/compress_mm"), every = number_at(w, "parameters/downsample");
    const bool rejects = is_given_at(w, "parameters/act_rule") && !is_true_at(w, "parameters/keep_all_ends");
    const cJSON *region;
    if (least > 0) gls_text_printf(w->out, " Streamlines shorter than %g mm were rejected", least);
    if (most > 0)
        gls_text_printf(w->out, "%s longer ones than %g mm were %s", least > 0 ? "," : " Streamlines", most,
                        rejects ? "rejected" : "cut off");
    if (least > 0 || most > 0) gls_text_puts(w->out, ".");
    int n_of[GLS_REGION_ROLES + 1] = {0}, roles = 0, done = 0;
    cJSON_ArrayForEach(region, gls_json_at(w->run, "regions"))
    {
        const char *role = gls_json_text_at(region, "role");
        for (int r = 0; role && r < GLS_REGION_ROLES; r++)
            if (r != GLS_REGION_MASK && strcmp(role, gls_region_role_name((gls_region_role)r)) == 0 && n_of[r]++ == 0)
                roles++;
    }
    if (roles > 0) gls_text_puts(w->out, " Regions selected or ended them: ");
    for (int r = 0; r < GLS_REGION_ROLES; r++) {
        if (n_of[r] == 0) continue;
        put_between(w, (size_t)done++, (size_t)roles);
        gls_text_printf(w->out, "%d %s", n_of[r], gls_region_role_name((gls_region_role)r));
    }
    if (roles > 0) gls_text_puts(w->out, ".");
    if (tolerance > 0) {
        gls_text_printf(w->out, " Points within %g mm of the line between others were left out", tolerance);
        CITE(w, "compress");
        gls_text_puts(w->out, ".");
    }
    if (every > 1) gls_text_printf(w->out, " One point in %g was stored.", every);
}

/* Appends how many streamlines there are, and their mean length. */
static void put_counts(const writer *w)
{
    const double begun = number_at(w, "counts/directions"), kept = number_at(w, "counts/streamlines"),
                 mean = number_at(w, "lengths/mean_mm");
    const char *seed = text_at(w, "rng/algorithm");
    if (begun >= 0 && kept >= 0) {
        gls_text_puts(w->out, " Of "), put_count(w, begun);
        gls_text_puts(w->out, " initial directions "), put_count(w, kept);
        gls_text_puts(w->out, " gave streamlines");
        if (mean > 0) gls_text_printf(w->out, ", of %.1f mm in the mean", mean);
        gls_text_puts(w->out, ".");
    }
    if (seed && strncmp(seed, "Philox", 6) == 0) {
        gls_text_puts(w->out, " Random numbers were those of Philox4x32-10");
        CITE(w, "philox");
        gls_text_puts(w->out, ".");
    }
}

/* Appends the results that were made while tracking. */
static void put_results(const writer *w)
{
    const char *word = text_at(w, "parameters/weights"), *weights = NULL;
    /* old sidecars have true for sift2 */
    if (!word && is_given_at(w, "parameters/weights")) weights = "sift2";
    if (word && strcmp(word, "none") != 0) weights = word;
    if (weights) {
        gls_text_puts(w->out, " ");
        put_method(w, find_method(weight_methods, weights));
        if (strcmp(weights, "sift2") == 0) gls_text_puts(w->out, ", from fixels of the distributions"), CITE(w, "sift");
        gls_text_puts(w->out, ".");
    }
    if (is_given_at(w, "parameters/connectome")) {
        gls_text_puts(w->out, " A connectome joins the regions nearest to both ends of each streamline");
        CITE(w, "connectome");
        gls_text_puts(w->out, weights ? ", and adds up the weights." : ".");
    }
    if (is_given_at(w, "parameters/density") || is_given_at(w, "parameters/dec"))
        gls_text_puts(w->out, " The density of streamlines was mapped"), CITE(w, "tdi"), gls_text_puts(w->out, ".");
    if (is_given_at(w, "parameters/profile"))
        gls_text_puts(w->out, " Profiles along bundles were computed"), CITE(w, "profile"), gls_text_puts(w->out, ".");
}

/* --- Commands. */

/* Appends the paragraph of a run of tracking. */
static void write_tracking(const writer *w)
{
    const char *preset = text_at(w, "defaults/preset");
    if (preset && strcmp(preset, "default") != 0) {
        gls_text_puts(w->out, " Defaults were those of the preset ");
        gls_text_show(w->out, preset);
        gls_text_puts(w->out, ".");
    }
    put_series(w);
    put_model(w);
    put_source(w);
    put_getter(w);
    put_seeds(w);
    put_stops(w);
    put_selection(w);
    put_counts(w);
    put_results(w);
}

/* Appends the paragraph of `fit`. */
static void write_fit(const writer *w)
{
    put_series(w);
    put_model(w);
    if (!is_given_at(w, "tensor")) return;
    gls_text_puts(w->out, " Tensors were fitted to the signal");
    CITE(w, "tensor");
    gls_text_puts(w->out, ".");
}

static void write_response(const writer *w)
{
    put_series(w);
    gls_text_puts(w->out, " Response functions were estimated ");
    put_method(w, find_method(response_algorithms, text_at(w, "parameters/algorithm")));
    gls_text_puts(w->out, ", by the rules of MRtrix3"), CITE(w, "mrtrix3");
    gls_text_puts(w->out, ".");
}

static void write_weights(const writer *w)
{
    gls_text_puts(w->out, " ");
    const char *name = text_at(w, "parameters/method");
    put_method(w, find_method(weight_methods, name));
    if (!name || strcmp(name, "commit") != 0)
        gls_text_puts(w->out, ", from fixels of the distributions"), CITE(w, "sift");
    else if (number_at(w, "parameters/lambda") > 0)
        gls_text_puts(w->out, ", with a penalty on groups"), CITE(w, "commit2");
    const char *kernel = name && strcmp(name, "commit") == 0 ? text_at(w, "parameters/kernel") : NULL;
    if (kernel && strcmp(kernel, "life") == 0) gls_text_puts(w->out, ", with the kernel of LiFE"), CITE(w, "life");
    if (kernel && strcmp(kernel, "cylinder") == 0)
        gls_text_puts(w->out, ", with the signal of cylinders"), CITE(w, "cylinder");
    gls_text_puts(w->out, ".");
}

static void write_connectome(const writer *w)
{
    const cJSON *scale;
    bool by_size = false;
    cJSON_ArrayForEach(scale, gls_json_at_path(w->run, "parameters/scale"))
    {
        const char *word = cJSON_GetStringValue(scale);
        by_size = by_size || (word && strncmp(word, "inv", 3) == 0);
    }
    gls_text_puts(w->out, " A connectome joins the regions of each streamline");
    if (text_at(w, "parameters/assign") && strncmp(text_at(w, "parameters/assign"), "radial", 6) == 0)
        gls_text_puts(w->out, ", those nearest to its ends"), CITE(w, "connectome");
    if (by_size) gls_text_puts(w->out, ", scaled by length or by size of the regions"), CITE(w, "hagmann");
    if (is_given_at(w, "parameters/weights")) gls_text_puts(w->out, ", with weights of streamlines");
    gls_text_puts(w->out, ".");
}

static void write_permute(const writer *w)
{
    gls_text_puts(w->out, " A general linear model was tested by permutations of subjects"), CITE(w, "freedman");
    if (is_at(w, "parameters/enhance", "nbs"))
        gls_text_puts(w->out, ", with the size of connected components of edges as statistic"), CITE(w, "nbs");
    if (is_at(w, "parameters/enhance", "tfnbs"))
        gls_text_puts(w->out, ", with the sizes of connected components of edges over all heights as statistic"),
            CITE(w, "tfnbs");
    gls_text_puts(w->out, ". P-values are corrected for all elements by the largest statistic of each permutation.");
}

static void write_density(const writer *w)
{
    gls_text_puts(w->out, " The density of streamlines was mapped"), CITE(w, "tdi"), gls_text_puts(w->out, ".");
}

static void write_profile(const writer *w)
{
    gls_text_puts(w->out, " Profiles along bundles were computed");
    if (is_given_at(w, "parameters/assign"))
        gls_text_puts(w->out, " at the nodes of models"), CITE(w, "buan");
    else if (is_at(w, "parameters/mode", "buan"))
        CITE(w, "profile", "buan");
    else
        CITE(w, "profile");
    gls_text_puts(w->out, ".");
}

static void write_fixels(const writer *w)
{
    gls_text_puts(w->out, " Fixels are the lobes of the distributions"), CITE(w, "sift"), gls_text_puts(w->out, ".");
}

static void write_peaks(const writer *w)
{
    gls_text_puts(w->out, " Peaks of the distributions were found"), CITE(w, "peaks"), gls_text_puts(w->out, ".");
}

static void write_cluster(const writer *w)
{
    gls_text_puts(w->out, " Streamlines that run alike were joined to clusters"), CITE(w, "quickbundles");
    if (is_given_at(w, "parameters/thresholds_mm")) gls_text_puts(w->out, ", level by level"), CITE(w, "quickbundlesx");
    gls_text_puts(w->out, ".");
}

static void write_recognize(const writer *w)
{
    gls_text_puts(w->out, " Bundles of an atlas were recognised");
    if (is_at(w, "parameters/method", "recobundles"))
        CITE(w, "recobundles", "quickbundlesx");
    else
        CITE(w, "bundleseg", "quickbundles");
    if (!is_true_at(w, "parameters/no_local")) gls_text_puts(w->out, ", after each was registered"), CITE(w, "slr");
    gls_text_puts(w->out, ".");
}

static void write_clean(const writer *w)
{
    const double all = number_at(w, "counts/streamlines"), kept = number_at(w, "counts/kept");
    if (!(all >= 0 && kept >= 0)) return;
    gls_text_puts(w->out, " Of "), put_count(w, all), gls_text_puts(w->out, " streamlines "), put_count(w, kept);
    static const struct {
        const char *count, *words;
    } dropped[] = {{"counts/duplicates", "repetitions"},
                   {"counts/loops", "loops"},
                   {"counts/curved", "strongly curved ones"},
                   {"counts/sharp_turns", "clusters with sharp turns"},
                   {"counts/outliers", "outliers"}};
    gls_text_puts(w->out, " stayed");
    for (size_t k = 0, n = 0; k < sizeof dropped / sizeof *dropped; k++)
        if (number_at(w, dropped[k].count) > 0)
            gls_text_printf(w->out, "%s%s", n++ > 0 ? ", " : " without ", dropped[k].words);
    if (number_at(w, "counts/sharp_turns") > 0) CITE(w, "quickbundlesx");
    if (is_at(w, "parameters/method", "qb")) CITE(w, "outliers_depth", "quickbundles");
    if (is_at(w, "parameters/method", "cci")) CITE(w, "confidence");
    gls_text_puts(w->out, ".");
}

static void write_register(const writer *w)
{
    if (gls_json_at(w->run, "streamlines")) {
        gls_text_puts(w->out, " Tractograms were aligned by a linear registration of streamlines"), CITE(w, "slr");
        if (is_at(w, "parameters/compare", "clusters"))
            gls_text_puts(w->out, ", of the centroids of their clusters"), CITE(w, "quickbundlesx");
        gls_text_puts(w->out, ".");
        return;
    }
    gls_text_puts(w->out, " Images were aligned by normalised mutual information"), CITE(w, "nmi");
    if (gls_json_at(w->run, "nonlinear")) {
        gls_text_puts(w->out, ", then by a stationary velocity field"), CITE(w, "logdemons");
        if (!is_at(w, "parameters/metric", "ssd")) gls_text_puts(w->out, " with local correlation"), CITE(w, "syn");
    }
    gls_text_puts(w->out, ".");
}

static void write_anat(const writer *w)
{
    gls_text_puts(w->out, " The T1 image was aligned to the series by a rigid map that maximises mutual information");
    CITE(w, "nmi");
    if (is_true_at(w, "t1_to_series/boundary/taken"))
        gls_text_puts(w->out, ", refined by the border of white matter"), CITE(w, "bbr");
    if (gls_json_at(w->run, "t1_to_template")) {
        gls_text_puts(w->out, ", and to the template by an affine map and a stationary velocity field");
        CITE(w, "logdemons", "syn");
    }
    gls_text_puts(w->out, ". Fluid, grey and white matter were found by expectation-maximisation with a bias field");
    CITE(w, "biasmodel");
    gls_text_puts(w->out, " and a Markov field"), CITE(w, "hiddenfield");
    gls_text_puts(w->out, ", and fractions of voxels by intensity"), CITE(w, "partialvolume");
    gls_text_puts(w->out, ".");
}

static void write_edit(const writer *w)
{
    const double read = number_at(w, "counts/read"), written = number_at(w, "counts/written");
    if (!(read >= 0 && written >= 0)) return;
    gls_text_puts(w->out, " Of "), put_count(w, read), gls_text_puts(w->out, " streamlines "), put_count(w, written);
    gls_text_puts(w->out, " were selected.");
}

static void write_atlas(const writer *w)
{
    gls_text_puts(w->out, " An atlas was made of the bundles of several subjects: their streamlines were clustered");
    CITE(w, "quickbundles");
    if (!is_at(w, "parameters/type", "none"))
        gls_text_puts(w->out, " after a registration of their centroids"), CITE(w, "slr");
    gls_text_puts(w->out, ", and one streamline of each cluster was kept that enough subjects shared.");
}

/* The commands that have a method, by their names. */
static const struct {
    const char *name;
    void (*write)(const writer *w);
} commands[] = {{"fit", write_fit},           {"response", write_response},
                {"weights", write_weights},   {"connectome", write_connectome},
                {"density", write_density},   {"profile", write_profile},
                {"fixels", write_fixels},     {"peaks", write_peaks},
                {"cluster", write_cluster},   {"recognize", write_recognize},
                {"clean", write_clean},       {"edit", write_edit},
                {"register", write_register}, {"anat", write_anat},
                {"atlas", write_atlas},       {"permute", write_permute}};

void gls_methods_write(const cJSON *sidecar, gls_papers *papers, gls_text *out)
{
    gls_text words = {0};
    const writer w = {.run = sidecar, .papers = papers, .out = &words};
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(gls_json_at(sidecar, "command_line"), 1));
    if (gls_json_at_path(sidecar, "parameters/dg")) {
        write_tracking(&w);
    } else {
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
            if (name && strcmp(name, commands[i].name) == 0) commands[i].write(&w);
    }
    const char *version = text_at(&w, "software/version");
    out->failed |= words.failed;
    if (words.length > 0) {
        gls_text_puts(out, "This was done with glslines ");
        gls_text_show(out, version ? version : gls_version());
        gls_text_puts(out, ".");
        gls_text_append(out, words.data, words.length);
    }
    gls_text_finish(&words);
}

/* Takes a text and appends it as HTML, its lines in the element `tag`, or, tag NULL, as they are. */
static void put_html(gls_text *text, const char *tag, gls_text *out)
{
    char *all = gls_text_take(text), *rest = all;
    out->failed |= !all;
    if (all && !tag) gls_html_puts(out, all);
    for (char *line; tag && rest && (line = strsep(&rest, "\n"));) {
        if (!*line) continue;
        gls_text_printf(out, "<%s>", tag);
        gls_html_puts(out, line);
        gls_text_printf(out, "</%s>\n", tag);
    }
    free(all);
}

void gls_report_methods(const gls_report *r, gls_text *out)
{
    gls_papers papers = {.n = 0};
    gls_text words = {0}, list = {0}, bibtex = {0};
    const char *given = gls_report_text(r, "software/version"), *version = given ? given : gls_version();
    gls_methods_write(r->sidecar, &papers, &words);
    if (words.length == 0) {
        gls_text_finish(&words);
        gls_report_missing(r, out, "the methods");
        return;
    }
    gls_papers_list(&papers, version, "", &list);
    gls_papers_bibtex(&papers, version, &bibtex);
    put_html(&words, "p", out);
    gls_text_puts(out, "<ul class=\"references\">\n");
    put_html(&list, "li", out);
    gls_text_puts(out, "</ul>\n<div class=\"screen\"><label for=\"bibtex\">BibTeX of the methods</label>\n<textarea "
                       "id=\"bibtex\" readonly rows=\"12\">");
    put_html(&bibtex, NULL, out);
    gls_text_puts(out, "</textarea></div>\n");
}
