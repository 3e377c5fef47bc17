/* The metrics of a connectome (--metric): what the cells of a matrix hold, and how its file is named. */
#ifndef GLS_TRACTS_METRICS_H
#define GLS_TRACTS_METRICS_H

#include <glslines/connectome.h>
#include <glslines/params_fields.h>
#include <glslines/sample.h>

/* Names of metrics, for helps and messages. */
#define GLS_METRIC_NAMES "count, weight, length, invlength, invnodevol, mean:IMAGE, median:IMAGE, sift2 or commit"

/* A metric. All zero: none, the cells hold what other options say. */
typedef struct gls_metric {
    char *name;       /* for names of files and columns, such as "count" or "mean_fa"; owned */
    const char *path; /* image of which streamlines have the mean along them; borrowed; NULL: none */
    gls_image *image; /* NULL until gls_metric_open() */
    unsigned scale;   /* bits of gls_connectome_scale */
    gls_connectome_stat stat;
    bool weighted;      /* sums the weights of the run, or of the column below */
    const char *column; /* column of weights; NULL: none, or those of --weights */
} gls_metric;

/* Parses the metrics of the option --metric, names as in GLS_METRIC_NAMES. metric: room for GLS_MAX_STRINGS, zeros.
 * GLS_ERR_ARGUMENT: an unknown name, or two metrics of one name. */
gls_status gls_metrics_parse(const gls_strings *text, gls_metric *metric);
/* Sets scale and statistic of the options, and the columns of values and weights. weights: column of --weights. */
void gls_metric_choose(const gls_metric *metric, const char *weights, gls_connectome_options *options);
/* Name of the file of a matrix: FILE with _NAME before its suffix, or with _meas-NAME before _relmat.tsv. From malloc;
 * NULL: out of memory. */
char *gls_metric_file(const gls_metric *metric, const char *file);
/* Reads the image of a metric; does nothing without one. */
gls_status gls_metric_open(gls_metric *metric);
/* Puts in front of *sink, which the filter then owns, one that samples the images of n metrics, if there are any.
 * counts must outlive it. */
gls_status gls_metrics_sink(const gls_metric *metric, size_t n, gls_sample_counts *counts, gls_sink *sink);
/* Frees what the metric owns. */
void gls_metric_finish(gls_metric *metric);

#endif
