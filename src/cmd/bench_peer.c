/* DIPY and MRtrix3 on the data of the benchmark. */
#include "cmd/bench_peer.h"

#include <cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/text.h"

static const char *const getters[] = {
    [GLS_DG_BOOT] = "boot", [GLS_DG_PROB] = "prob", [GLS_DG_DET] = "det", [GLS_DG_PTT] = "ptt"};

static const char *interpreter(void)
{
    const char *named = getenv("GLSLINES_PYTHON");
    return named && *named ? named : "python3";
}

/* The script: $GLSLINES_SHARE_DIR, or share/glslines beside the program (build tree) or beside its folder
 * (installation). */
static bool find_script(char *path, size_t size)
{
    static const char *const places[] = {"/share/glslines", "/../share/glslines"};
    const char *named = getenv("GLSLINES_SHARE_DIR");
    char program[4096];
    if (named && *named) {
        snprintf(path, size, "%s/bench_dipy.py", named);
        return access(path, R_OK) == 0;
    }
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return false;
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%s%s/bench_dipy.py", program, places[i]);
        if (access(path, R_OK) == 0) return true;
    }
    return false;
}

/* A folder for what the peers read and write. */
static int make_directory(char *directory, size_t size)
{
    const char *place = getenv("TMPDIR");
    snprintf(directory, size, "%s/glslines-peers-XXXXXX", place && *place ? place : "/tmp");
    if (mkdtemp(directory)) return CMD_EXIT_OK;
    return cmd_error(CMD_EXIT_OUTPUT, "%s: no temporary folder can be made there: %s", directory, strerror(errno));
}

static int check_dipy(bench_run *run, const char *directory)
{
    char script[4200], line[1024];
    if (!find_script(script, sizeof script))
        return cmd_error(CMD_EXIT_UNSUPPORTED, "--with-dipy: bench_dipy.py is not in share/glslines beside the "
                                               "program; GLSLINES_SHARE_DIR names another folder");
    int status = bench_process_run(directory, (const char *const[]){interpreter(), script, "--check", NULL});
    bench_process_last_line(directory, status == 0 ? "stdout.txt" : "stderr.txt", line, sizeof line);
    if (status == 127)
        return cmd_error(CMD_EXIT_UNSUPPORTED,
                         "--with-dipy: %s cannot be run; GLSLINES_PYTHON names another interpreter", interpreter());
    if (status != 0) return cmd_error(CMD_EXIT_UNSUPPORTED, "--with-dipy: %s", line);
    snprintf(run->dipy_version, sizeof run->dipy_version, "%.60s", line);
    return CMD_EXIT_OK;
}

static int check_mrtrix(bench_run *run, const char *directory)
{
    char path[4200], line[256] = "", version[64] = "";
    int status = bench_process_run(directory, (const char *const[]){"tckgen", "-version", NULL});
    if (status != 0)
        return cmd_error(
            CMD_EXIT_UNSUPPORTED,
            "--with-mrtrix: tckgen of MRtrix3 cannot be run (exit status %d); is it installed and in PATH?", status);
    snprintf(path, sizeof path, "%s/stdout.txt", directory);
    FILE *file = fopen(path, "r");
    /* == tckgen 3.0.3 == */
    if (file && fgets(line, sizeof line, file)) sscanf(line, "== %*s %63s", version);
    if (file) fclose(file);
    snprintf(run->mrtrix_version, sizeof run->mrtrix_version, "%s", *version ? version : "unknown");
    return CMD_EXIT_OK;
}

int bench_peers_check(bench_run *run)
{
    char directory[4096];
    bool prob = false;
    if (!run->options->with_dipy && !run->options->with_mrtrix) return CMD_EXIT_OK;
    for (int i = 0; i < run->lists.n_dg; i++) prob = prob || run->lists.dg[i] == GLS_DG_PROB;
    if (run->options->with_mrtrix && !prob)
        return cmd_error(CMD_EXIT_USAGE, "--with-mrtrix: its iFOD1 is compared with --dg prob, which is not asked for");
    int code = make_directory(directory, sizeof directory);
    if (code) return code;
    if (run->options->with_dipy) code = check_dipy(run, directory);
    if (!code && run->options->with_mrtrix) code = check_mrtrix(run, directory);
    bench_peer_files_remove(directory);
    return code;
}

static bench_peer *add_peer(bench_run *run, const char *program, const char *tracker, int dg)
{
    if (run->n_peers == BENCH_MAX_PEERS) return NULL;
    bench_peer *peer = &run->peer[run->n_peers++];
    *peer = (bench_peer){.dg = dg};
    snprintf(peer->program, sizeof peer->program, "%s", program);
    snprintf(peer->tracker, sizeof peer->tracker, "%.40s", tracker);
    return peer;
}

static double number_of(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItem(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static bool take_result(bench_run *run, const cJSON *item)
{
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(item, "name")),
               *dg = cJSON_GetStringValue(cJSON_GetObjectItem(item, "dg"));
    for (int g = 0; name && dg && g < BENCH_GETTERS; g++) {
        if (strcmp(getters[g], dg) != 0) continue;
        bench_peer *peer = add_peer(run, "DIPY", name, g);
        if (!peer) return false;
        peer->threads = (int)number_of(item, "threads");
        peer->seeds = (uint64_t)number_of(item, "seeds");
        peer->streamlines = (uint64_t)number_of(item, "streamlines");
        peer->points = (uint64_t)number_of(item, "points");
        peer->seconds = number_of(item, "seconds");
        return peer->seconds > 0;
    }
    return false;
}

static int run_dipy(bench_run *run, const char *directory)
{
    char script[4200], line[16384];
    if (!find_script(script, sizeof script))
        return cmd_error(CMD_EXIT_UNSUPPORTED, "--with-dipy: bench_dipy.py is gone");
    cmd_info("DIPY %s", run->dipy_version);
    int status = bench_process_run(directory, (const char *const[]){interpreter(), script, directory, NULL});
    if (cmd_interrupted()) return cmd_error(CMD_EXIT_INTERRUPTED, "interrupted");
    if (status != 0) {
        bench_process_last_line(directory, "stderr.txt", line, sizeof line);
        return cmd_error(CMD_EXIT_INTERNAL, "DIPY ended with status %d: %s", status, line);
    }
    char path[4200];
    snprintf(path, sizeof path, "%s/stdout.txt", directory);
    FILE *file = fopen(path, "r");
    size_t length = file ? fread(line, 1, sizeof line - 1, file) : 0;
    if (file) fclose(file);
    line[length] = '\0';
    cJSON *root = cJSON_Parse(line), *results = cJSON_GetObjectItem(root, "results"), *item;
    bool ok = results != NULL;
    cJSON_ArrayForEach(item, results) ok = take_result(run, item) && ok;
    cJSON_Delete(root);
    return ok ? CMD_EXIT_OK : cmd_error(CMD_EXIT_INTERNAL, "DIPY: its figures cannot be read");
}

/* One run of tckgen; seconds of the whole process. */
static int run_tckgen(bench_run *run, const char *directory, int threads, uint64_t seeds, bench_peer *peer,
                      double *seconds)
{
    const gls_track_params *p = &run->params;
    char fod[4200], out[4200], seed_mask[4200], track_mask[4200], n_seeds[32], n_threads[16], step[32], angle[32],
        cutoff[32], longest[32], line[512];
    snprintf(fod, sizeof fod, "%s/fod.nii", directory);
    snprintf(out, sizeof out, "%s/out.tck", directory);
    snprintf(seed_mask, sizeof seed_mask, "%s/seed_mask.nii", directory);
    snprintf(track_mask, sizeof track_mask, "%s/track_mask.nii", directory);
    snprintf(n_seeds, sizeof n_seeds, "%" PRIu64, seeds);
    snprintf(n_threads, sizeof n_threads, "%d", threads);
    snprintf(step, sizeof step, "%.9g", p->step_size);
    snprintf(angle, sizeof angle, "%.9g", p->max_angle);
    snprintf(cutoff, sizeof cutoff, "%.9g", run->fod_cutoff);
    snprintf(longest, sizeof longest, "%.9g", p->max_length);
    const char *argv[] = {"tckgen",     fod,        out,         "-algorithm", "iFOD1",  "-seed_image", seed_mask,
                          "-mask",      track_mask, "-select",   "0",          "-seeds", n_seeds,       "-step",
                          step,         "-angle",   angle,       "-cutoff",    cutoff,   "-minlength",  "0",
                          "-maxlength", longest,    "-nthreads", n_threads,    "-quiet", "-force",      NULL};
    double start = cmd_clock();
    int status = bench_process_run(directory, argv);
    *seconds = cmd_clock() - start;
    if (cmd_interrupted()) return cmd_error(CMD_EXIT_INTERRUPTED, "interrupted");
    if (status == 0 && bench_tck_count(out, &peer->streamlines, &peer->points)) return CMD_EXIT_OK;
    bench_process_last_line(directory, "stderr.txt", line, sizeof line);
    return cmd_error(CMD_EXIT_INTERNAL, "tckgen ended with status %d: %s", status, line);
}

/* The time of a run of one seed, which reads the same files, is taken off. Fast machines get more seeds, so that what
 * is left can be measured. */
static int measure_tckgen(bench_run *run, const char *directory, int threads)
{
    double loading = 0, seconds = 0;
    uint64_t seeds = run->nseeds, limit = 100 * run->nseeds;
    bench_peer *peer = add_peer(run, "MRtrix3", "tckgen iFOD1", GLS_DG_PROB);
    if (!peer) return CMD_EXIT_OK;
    peer->threads = threads;
    int code = run_tckgen(run, directory, threads, 1, peer, &loading);
    if (!code) code = run_tckgen(run, directory, threads, seeds, peer, &seconds);
    double tracked = seconds - loading;
    if (!code && tracked < run->options->peer_seconds / 2) {
        double more = run->options->peer_seconds / fmax(tracked, run->options->peer_seconds / 100);
        seeds = (double)seeds * more < (double)limit ? (uint64_t)((double)seeds * more) : limit;
        code = run_tckgen(run, directory, threads, seeds, peer, &seconds);
    }
    peer->seeds = seeds;
    peer->seconds = fmax(seconds - loading, 1e-6);
    return code;
}

static int run_mrtrix(bench_run *run, const char *directory)
{
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    cmd_info("MRtrix3 %s", run->mrtrix_version);
    int code = measure_tckgen(run, directory, 2);
    if (!code && cores > 2) code = measure_tckgen(run, directory, cores);
    return code;
}

int bench_peers_measure(bench_run *run)
{
    char directory[4096];
    bench_model model;
    if (!run->options->with_dipy && !run->options->with_mrtrix) return CMD_EXIT_OK;
    int code = bench_model_fit(run, GLS_DG_PROB, &model);
    if (!code) {
        cmd_interrupt_catch();
        code = make_directory(directory, sizeof directory);
        if (!code) {
            code = bench_peer_files_write(run, &model, directory);
            if (!code && run->options->with_dipy) code = run_dipy(run, directory);
            if (!code && run->options->with_mrtrix) code = run_mrtrix(run, directory);
            bench_peer_files_remove(directory);
        }
        cmd_interrupt_release();
    }
    bench_model_finish(&model);
    return code;
}
