/* Scores of methods: the built-in phantom is tracked with several models and direction getters, and each tractogram is
 * scored against the phantom's bundles. */
#ifndef GLS_WORKFLOW_METHOD_SCORES_H
#define GLS_WORKFLOW_METHOD_SCORES_H

#include <glslines/glslines.h>

struct cJSON;

enum { GLS_N_MODELS = 4, GLS_N_GETTERS = GLS_DG_COUNT, GLS_MAX_METHODS = GLS_N_MODELS * GLS_N_GETTERS };

/* The score of one model with one direction getter. */
typedef struct gls_method_score {
    /* the model that was fitted */
    gls_model_kind model;
    /* the getter that tracked */
    gls_direction_getter dg;
    /* result.bundle points here */
    gls_score_result result;
    /* one for each bundle of the phantom */
    gls_score_bundle bundle[GLS_SCORE_MAX_BUNDLES];
    double seconds; /* time to compile kernels, track and score */
} gls_method_score;

/* The scores of all methods; free with gls_method_scores_finish(). */
typedef struct gls_method_scores {
    /* the first n are valid */
    gls_method_score row[GLS_MAX_METHODS];
    /* number of rows */
    int n;
    bool act; /* set before the call: the phantom's tissue constrains streamlines */
    /* of the phantom; its voxels are the unit of the distances of scores */
    gls_grid grid;
    /* name of the device */
    char renderer[256];
    gls_phantom *phantom; /* owns the names of bundles */
} gls_method_scores;

/* Scores each wanted pair of model and getter. Call gls_method_scores_finish() also after a failure. options: sh_order,
 * nseeds, seed_seed (for noise and seeds), device, api, preset and the parameters of the tracker are used. given:
 * names, up to NULL, of parameters whose values replace the defaults of each method. snr: of the phantom. */
gls_status gls_methods_score(const gls_job_options *options, const char *const *given, double snr,
                             const bool wanted[GLS_N_MODELS][GLS_N_GETTERS], const gls_monitor *monitor,
                             gls_method_scores *scores);
/* Adds rules, grid, device and an entry for each method. */
void gls_method_scores_add(struct cJSON *root, const gls_method_scores *scores);
/* Name of the model; "" if the getter uses no model. */
const char *gls_method_model(const gls_method_score *score);
/* Adds counts, means and bundles of one result. */
void gls_score_json(struct cJSON *object, const gls_score_result *result, const gls_score_bundle *bundles);
/* Frees the phantom, which owns the names of bundles. */
void gls_method_scores_finish(gls_method_scores *scores);

#endif
