/* `glslines view`: shows tractograms in a browser, selects streamlines by regions that are moved, and tracks as a seed
 * sphere is moved. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "options/help.h"
#include "options/parser.h"
#include "record/tract_run.h"
#include "track/track_params.h"
#include "util/allocation.h"
#include "view/command.h"
#include "view/contents.h"
#include "view/live.h"
#include "view/review.h"
#include "view/server.h"
#include "view/socket.h"

typedef struct view_values {
    cmd_common common;
    /* how tractograms are read */
    gls_tract_common input;
    int port;
    const char *listen; /* address or path of a UNIX socket; NULL: both addresses of this machine */
    double idle;        /* minutes */
    bool open;
    uint64_t max_streamlines;
    /* the first sphere, "x,y,z,r" (NULL: in the middle), its number of seeds and their random seed */
    const char *seed_sphere;
    uint64_t nseeds, seed_seed;
    /* image of labels, table of their names, folder of what is saved; NULL: none */
    const char *atlas, *lut, *save_to;
    gls_strings transform; /* from the space of the streamlines to that of the images */
    const char *odf;       /* ODFs, shown as glyphs; NULL: none */
    int sh_basis, sh_frame;
} view_values;
#define OPTION_OWNER view_values

static const gls_option table[] = {
    GLS_NUMBER("Server", INT, port, "port", "N", NULL, GLS_BETWEEN(0, 65535), "any that is free",
               "Port of this machine on which the server listens, on 127.0.0.1 and ::1 alone."),
    GLS_TEXT("Server", listen, "listen", "ADDRESS", "127.0.0.1 and ::1",
             "Listen on 127.0.0.1 or ::1 alone, or on a UNIX socket, given by a path with /, which no other user can "
             "open; --port is then that to which ssh -L brings it."),
    GLS_NUMBER("Server", DOUBLE, idle, "idle", "MIN", "minutes", GLS_AT_LEAST(0), "0, never",
               "End when no page was open for MIN minutes."),
    GLS_FLAG("Server", open, "open",
             "Open the page where there is a desktop, with the first command of $BROWSER, or else xdg-open. A file "
             "that no other user can read leads the browser to the address.",
             .since = "0.2.0"),
    GLS_NUMBER("View", UINT64, max_streamlines, "max-streamlines", "N", NULL, GLS_BETWEEN(1, 1000000), NULL,
               "Largest number of streamlines that are shown, evenly spread over each file."),
#define ROW GLS_OPTION_ROW
#define SPACE_GROUP "View"
#define SPACE_IMAGES "IMAGE and of --atlas"
#include "tools/space.def"
#undef ROW
    GLS_TEXT("View", odf, "odf", "FILE", "none",
             "ODFs as an image of spherical harmonics, in the space of the streamlines, shown as glyphs on a slice."),
    GLS_CHOICE("View", sh_basis, "sh-basis", GLS_BASIS_CHOICES,
               "Basis of the file of --odf, as for 'glslines render'."),
    GLS_CHOICE("View", sh_frame, "sh-frame", "auto|" GLS_FRAME_CHOICES,
               "Axes of the file of --odf, as for 'glslines render'."),
    GLS_TEXT(
        "Selection", atlas, "atlas", "LABELS", "none",
        "Image of labels that select streamlines, on any grid in the space of the streamlines, or brought there by "
        "--transform."),
    GLS_TEXT("Selection", lut, "lut", "FILE", "none", "Names and colours of the labels of --atlas."),
    GLS_TEXT("Selection", save_to, "save-to", "DIR",
             "that of the first tractogram, or the data set; else the current one",
             "Folder into which the page saves bundles, what it tracks, and judgements of a data set."),
    GLS_TEXT("Live tracking", seed_sphere, "seed-sphere", "x,y,z,r", "5 mm in the middle of the images",
             "Centre and radius of the seed sphere with which the page begins, world mm."),
    GLS_NUMBER("Live tracking", UINT64, nseeds, "nseeds", "N", NULL, GLS_BETWEEN(1, GLS_VIEW_SEEDS), NULL,
               "Number of seeds in the sphere with which the page begins."),
    GLS_NUMBER("Live tracking", UINT64, seed_seed, "seed-seed", "K", NULL, GLS_BETWEEN(0, GLS_VIEW_SEED), NULL,
               "Random seed of the seed positions with which the page begins."),
    {.name = NULL},
};

static void set_view_defaults(void *values)
{
    view_values *v = values;
    v->max_streamlines = 20000;
    v->nseeds = 1000;
    v->sh_basis = GLS_SH_TOURNIER07;
}

/* Parses the options of `track` behind "--". Outputs are refused, because nothing is written, and seeds, because the
 * sphere has them. */
static int parse_track(const view_values *v, const char *const *words, size_t n, track_options *track,
                       cmd_arguments *arguments)
{
    char error[1024], nseeds[32], *argv[CMD_MAX_POSITIONALS + 16] = {(char *)"glslines", (char *)"track"};
    const char *const own[] = {"--output",
                               "/tmp/glslines-view.trx", /* is never written */
                               "--sidecar",
                               "none",
                               "--force",
                               "--seed-sphere",
                               v->seed_sphere ? v->seed_sphere : "0,0,0,5",
                               "--nseeds",
                               nseeds};
    int argc = 2;
    snprintf(nseeds, sizeof nseeds, "%llu", (unsigned long long)v->nseeds);
    for (size_t i = 0; i < n; i++) argv[argc++] = (char *)(uintptr_t)words[i];
    track_options_default(track);
    if (!cmd_options_parse(&command_track, argc, argv, 2, track, arguments, error, sizeof error))
        return cmd_error(CMD_EXIT_USAGE, "%s", error);
    const char *common = cmd_options_common(arguments);
    if (common) return cmd_error(CMD_EXIT_USAGE, "--%s: cannot follow --: give it before --", common);
    for (size_t i = 0; i < arguments->table.n_own; i++) {
        const gls_option *row = &arguments->table.option[i];
        if (arguments->given[i] && strcmp(row->group, "Output") == 0)
            return cmd_error(CMD_EXIT_USAGE, "--%s: cannot follow --: view writes nothing", row->name);
        if (arguments->given[i] && (strcmp(row->group, "Seeds") == 0 || strcmp(row->name, "roi") == 0))
            return cmd_error(CMD_EXIT_USAGE,
                             "--%s: cannot follow --: seeds lie in the sphere that the page moves (before --: "
                             "--seed-sphere, --nseeds, --seed-seed)",
                             row->name);
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) argv[argc++] = (char *)(uintptr_t)own[i];
    track_options_default(track);
    if (!cmd_options_parse(&command_track, argc, argv, 2, track, arguments, error, sizeof error))
        return cmd_error(CMD_EXIT_USAGE, "%s", error);
    if (cmd_options_random(arguments, "rng-seed"))
        return cmd_error(CMD_EXIT_USAGE, "--rng-seed random: cannot follow --: each movement would draw another one; "
                                         "give a number");
    track->run.job.seed_seed = v->seed_seed;
    return track_options_take(track, arguments);
}

/* gls_view_track.read. */
static gls_status read_track(void *user, const char *const *words, size_t n, gls_job_options *options)
{
    static track_options track;
    static cmd_arguments arguments;
    cmd_errors_keep(true);
    const int code = parse_track(user, words, n, &track, &arguments);
    cmd_errors_keep(false);
    *options = track.run.job;
    options->argc = 0;
    options->argv = NULL;
    return code ? GLS_ERR_ARGUMENT : GLS_OK;
}

/* Prints the addresses, and how they are reached from another machine. */
static void print_address(const gls_session *session)
{
    char host[256] = "HOST", address[GLS_ADDRESS], look[GLS_ADDRESS];
    if (gethostname(host, sizeof host - 1) != 0 || !*host) snprintf(host, sizeof host, "HOST");
    gls_session_address(session, GLS_RIGHT_CHANGE, address);
    gls_session_address(session, GLS_RIGHT_LOOK, look);
    printf("%s\nread-only: %s\n", address, look);
    fflush(stdout);
    if (session->socket) {
        char path[PATH_MAX];
        cmd_info("first: ssh -L %d:%s %s, from this machine or another one; Ctrl-C ends the server", session->port,
                 realpath(session->socket, path) ? path : session->socket, host);
        return;
    }
    cmd_info("from another machine: ssh -L %d:%s:%d %s, and the same address there; Ctrl-C ends the server",
             session->port, session->ipv6 ? "[::1]" : "127.0.0.1", session->port, host);
}

/* Serves until a signal, unless status is a failure, and frees everything. */
static int serve(const view_values *v, gls_status status, gls_view_contents *contents, gls_view_live *live,
                 gls_view_dissection *dissection, gls_view_review *review)
{
    const gls_view_server server = {.contents = contents,
                                    .live = live,
                                    .dissection = dissection,
                                    .paint = dissection->paint,
                                    .review = review,
                                    .port = v->port,
                                    .listen = v->listen,
                                    .open = v->open,
                                    .idle_seconds = 60 * v->idle,
                                    .go_on = cmd_goes_on,
                                    .ready = print_address};
    if (!status) status = gls_view_serve(&server);
    gls_view_paint_end(dissection->paint);
    gls_view_dissection_close(dissection);
    gls_view_contents_finish(contents);
    gls_view_live_close(live);
    gls_view_review_close(review);
    cmd_interrupt_release();
    return cmd_finish(status);
}

/* Writes ./ in front of a name that begins with a dash or a blank, so that it stays a name in command lines and tables.
 */
static void begin_plainly(const char **name, char *room, size_t size)
{
    if (!*name || !strchr("- ", **name) || (size_t)snprintf(room, size, "./%s", *name) >= size) return;
    *name = room;
}

/* Refuses names that pages cannot show. */
static gls_status check_names(const view_values *v, const cmd_arguments *arguments)
{
    const char *const name[] = {v->atlas, v->lut, v->save_to, v->input.reference, v->odf};
    gls_status status = GLS_OK;
    for (int i = 0; i < arguments->n_positionals && !status; i++)
        status = gls_view_name_check(arguments->positional[i]);
    for (size_t i = 0; i < sizeof name / sizeof *name && !status; i++) status = gls_view_name_check(name[i]);
    for (int i = 0; i < v->transform.n && !status; i++) status = gls_view_name_check(v->transform.value[i]);
    return status;
}

/* Refuses options that would have no effect. n: files; live: options of track are given; folder: is a data set. */
static int check_effects(const view_values *v, const cmd_arguments *arguments, size_t n, bool live, bool folder)
{
    static const char *const of_tracts[] = {"atlas", "max-streamlines", "reference", "vtk-space", "recover", NULL},
                             *const of_seeds[] = {"seed-sphere", "nseeds", "seed-seed", NULL},
                             *const of_odf[] = {"sh-basis", "sh-frame", NULL};
    gls_tractogram_format format;
    struct stat entry;
    size_t n_tracts = 0;
    for (size_t i = 0; i < n && !folder; i++)
        n_tracts += gls_tractogram_format_parse(arguments->positional[i], &format) == GLS_OK;
    if (v->listen && !gls_view_is_socket(v->listen) && strcmp(v->listen, "127.0.0.1") != 0 &&
        strcmp(v->listen, "::1") != 0)
        return cmd_error(CMD_EXIT_USAGE,
                         "--listen: %s: must be 127.0.0.1, ::1 or a path with / of a UNIX socket: other machines come "
                         "by ssh -L",
                         v->listen);
    if (v->open && gls_view_is_socket(v->listen))
        return cmd_error(CMD_EXIT_USAGE, "--open: no browser reaches the socket of --listen but by ssh -L: open the "
                                         "address there, or leave out --listen");
    const char *tracts = cmd_options_first(arguments, of_tracts), *seeds = cmd_options_first(arguments, of_seeds);
    if (cmd_options_first(arguments, of_odf) && !v->odf)
        return cmd_error(CMD_EXIT_USAGE, "--%s: needs --odf", cmd_options_first(arguments, of_odf));
    if (folder && v->odf) return cmd_error(CMD_EXIT_USAGE, "--odf: is not for a data set");
    if (v->lut && !v->atlas)
        return cmd_error(CMD_EXIT_USAGE, "--lut: needs --atlas, whose labels it gives names and colours");
    if (v->transform.n > 0 && !v->atlas && (folder || n_tracts == n))
        return cmd_error(CMD_EXIT_USAGE, "--transform: there is no image to bring: needs IMAGE or --atlas");
    if (tracts && n_tracts == 0) return cmd_error(CMD_EXIT_USAGE, "--%s: needs a tractogram", tracts);
    if (seeds && !live) return cmd_error(CMD_EXIT_USAGE, "--%s: needs options of 'track' behind --", seeds);
    if (v->save_to && n_tracts != 1 && !folder && !live)
        return cmd_error(CMD_EXIT_USAGE, "--save-to: needs one tractogram, whose bundles are saved, options of 'track' "
                                         "behind --, or a data set");
    if (v->save_to && (stat(v->save_to, &entry) != 0 || !S_ISDIR(entry.st_mode)))
        return cmd_error(CMD_EXIT_OUTPUT, "--save-to: %s: is no folder: make it first", v->save_to);
    return CMD_EXIT_OK;
}

/* Entry of the command: reads the files, prepares tracking, and serves until a signal. */
static int run_view(void *values, const cmd_arguments *arguments)
{
    static track_options track;
    static cmd_arguments track_arguments;
    static char room[3][PATH_MAX], room_of_chain[GLS_MAX_STRINGS][PATH_MAX];
    view_values *v = values;
    begin_plainly(&v->atlas, room[0], sizeof *room);
    begin_plainly(&v->save_to, room[1], sizeof *room);
    begin_plainly(&v->input.reference, room[2], sizeof *room);
    for (int i = 0; i < v->transform.n; i++)
        begin_plainly(&v->transform.value[i], room_of_chain[i], sizeof *room_of_chain);
    gls_view_contents contents = {.n = 0};
    gls_view_live live = {.job = NULL};
    gls_view_dissection dissection = {
        .input = &v->input, .atlas = v->atlas, .lut = v->lut, .folder = v->save_to, .transform = &v->transform};
    gls_view_options options = {
        .max_streamlines = v->max_streamlines, .read = gls_tractogram_read_options_default(), .go_on = cmd_goes_on};
    gls_view_review review = {.n = 0};
    gls_view_paint paint = {.go_on = cmd_goes_on};
    dissection.paint = &paint;
    dissection.gallery = &contents.gallery;
    gls_tractogram_format format;
    gls_grid reference;
    struct stat entry;
    /* the files stand before --, the words of track behind */
    size_t n_words = 0;
    for (int i = 2; i < arguments->argc && n_words == 0; i++)
        if (strcmp(arguments->argv[i], "--") == 0) n_words = (size_t)(arguments->argc - i - 1);
    const size_t n = (size_t)arguments->n_positionals - n_words;
    gls_status status = gls_view_require_server();
    if (!status) status = check_names(v, arguments);
    if (status) return cmd_error_status(status);
    gls_memory_share();
    if (n + n_words == 0)
        return cmd_error(CMD_EXIT_USAGE,
                         "view: takes tractograms, an image, or options of 'track' behind --; got none");
    /* a folder of a data set; TRX may be a folder, too */
    const char *folder = n == 1 && n_words == 0 ? arguments->positional[0] : NULL;
    if (folder && (stat(folder, &entry) != 0 || !S_ISDIR(entry.st_mode) ||
                   gls_tractogram_format_parse(folder, &format) == GLS_OK))
        folder = NULL;
    int code = check_effects(v, arguments, n, n_words > 0, folder);
    const gls_view_track tracked = {.word = arguments->positional + n,
                                    .n = n_words,
                                    .read = read_track,
                                    .user = v,
                                    .sphere = v->seed_sphere,
                                    .atlas = v->transform.n > 0 ? NULL : v->atlas};
    if (!code && n_words > 0) code = parse_track(v, tracked.word, n_words, &track, &track_arguments);
    if (!code && n_words > 0) cmd_options_log(&track_arguments);
    if (code) return code;
    cmd_interrupt_catch();
    if (folder) {
        status = gls_view_review_open(&review, folder, v->save_to);
        if (!status) status = gls_view_contents_review(&contents, folder);
        return serve(v, status, &contents, &live, &dissection, &review);
    }
    status = gls_tract_read_options(&v->input, &options.read, &reference);
    if (!status && n_words > 0) status = gls_view_live_open(&live, &tracked, cmd_monitor(true));
    dissection.live = &live;
    if (!status) status = gls_view_dissection_open(&dissection);
    if (!status && v->odf)
        status = gls_view_gallery_odf(&contents.gallery, v->odf, (gls_sh_basis)v->sh_basis, (gls_frame)v->sh_frame);
    if (!status) status = gls_view_contents_make(&contents, arguments->positional, n, &options, &live, &dissection);
    dissection.path = contents.tractogram;
    dissection.n_paths = contents.n_tractograms;
    dissection.box = &contents.box;
    dissection.n_lines = contents.n_lines;
    dissection.n_points = contents.n_points;
    dissection.read = &options.read;
    dissection.go_on = cmd_goes_on;
    if (!status) status = gls_view_dissection_begin(&dissection);
    return serve(v, status, &contents, &live, &dissection, &review);
}

const cmd_command command_view = {
    CMD_ENTRY(view),
    .of_tractograms = true,
    .synopsis = "[TRACKS...|DATASET] [IMAGE...] [options] [-- options of track]",
    .summary = "Show, dissect and track in a browser: streamlines follow regions and seeds as they are moved",
    .since = "0.2.0",
    .description =
        "Serves a page to the browsers of this machine: streamlines in three dimensions with slices of "
        "images. Spheres, boxes and labels select streamlines as they are moved, the same ones that 'glslines edit' "
        "selects, and the page saves them as bundles with a script that makes them again. With options of "
        "track behind --, the page has a seed sphere; streamlines follow it, the same ones that 'glslines "
        "track' gives. The page shows these command lines. Prints the address of the page, and a second one for "
        "read-only pages. Their tokens let nobody else in. All pages show one scene. Nothing is written but what the "
        "page saves. Ends with Ctrl-C. Given the folder of a data "
        "set instead, shows the pictures of one participant after the other, and keeps a table of what you judge.",
    .positionals = CMD_TEXTS("TRACKS", "Tractograms: TRX (files or folders), TRK, TCK, VTK or VTP, also .gz.", "IMAGE",
                             "Images whose slices are shown, such as FA or T1, up to 8. Default with options of track: "
                             "their stop map or mask.",
                             "DATASET", "Folder with folders sub-LABEL, whose pictures lie in folders named figures."),
    .max_positionals = CMD_MAX_POSITIONALS,
    .rows = {{.table = table}, {.table = gls_tract_input_rows, .at = offsetof(view_values, input), .group = "Input"}},
    .behind = &command_track,
    .examples =
        CMD_TEXTS("A tractogram over FA:", "glslines view tracks.trx fa.nii.gz",
                  "Streamlines through labels and spheres, saved as bundles:",
                  "glslines view tracks.trx fa.nii.gz --atlas aparc.nii.gz --lut names.tsv --save-to bundles",
                  "Streamlines from a sphere that is moved, along the FODs of MRtrix3:",
                  "glslines view t1.nii.gz -- --sh wmfod.nii.gz --mask mask.nii.gz",
                  "The same from a series, whose model is fitted first:", "glslines view -- dwi.nii.gz --model csd",
                  "Judging the participants of a data set by their pictures:", "glslines view derivatives/glslines"),
};
