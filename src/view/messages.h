/* Messages between the page of the window and its server. */
#ifndef GLS_VIEW_MESSAGES_H
#define GLS_VIEW_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cJSON.h>
#include <glslines/common.h>
#include <glslines/regions.h>

#include "render/scene_parts.h"
#include "util/text.h"

/* --- Limits. The page gets them from here: those of its script in /scene.json, those of its fields in their HTML. */

/* Largest message of a page, bytes: more than the largest numbers of bundles and regions take. */
#define GLS_VIEW_MESSAGE 65536
/* Largest number of seeds that a page may ask for. */
#define GLS_VIEW_SEEDS 100000
/* Largest random seed: above 2^53 JSON's numbers are not all whole numbers. */
#define GLS_VIEW_SEED (INT64_C(1) << 53)
/* Largest coordinate of a centre, and largest radius or half width of a region, mm. */
#define GLS_VIEW_PLACE 10000
#define GLS_VIEW_RADIUS 1000
/* Largest number of selected streamlines that are sent. */
#define GLS_VIEW_SHOWN 100000
/* Largest numbers of regions of a bundle, of bundles, and of regions of all bundles of a message. */
#define GLS_VIEW_REGIONS 32
#define GLS_VIEW_BUNDLES 32
#define GLS_VIEW_ALL_REGIONS 256
/* Longest time that a page may say it needs for a preview, s. */
#define GLS_VIEW_PAGE 60
/* Largest radius of a brush, mm, largest number of places of its way in a message, and largest limit of values. */
#define GLS_VIEW_BRUSH 50
#define GLS_VIEW_PLACES 64
#define GLS_VIEW_VALUE 1000000000
/* Largest number of groups in criteria. */
#define GLS_VIEW_GROUPS 16
/* Largest number of letters of a note on a participant, in units of 16 bits, as browsers count them. */
#define GLS_VIEW_LETTERS 200
/* Size of such a note in UTF-8, with its NUL: a unit takes up to 3 bytes. */
#define GLS_VIEW_NOTE (3 * GLS_VIEW_LETTERS + 1)
/* Controls of live tracking that are options of `track`, and the size of a value of one, with its NUL. */
#define GLS_VIEW_CONTROLS 4
#define GLS_VIEW_CONTROL 32
/* Size of a name of a bundle or of saved files, with its NUL. */
#define GLS_VIEW_NAME 64

/* Kinds of requests of a page: streamlines from a sphere or a painted region; the streamlines that meet regions; the
 * label at a place; voxels that the brush passes; glyphs of a part of a slice; files of the bundles that were made;
 * that the judgement of a participant is noted; to be sent the scene that all pages share whenever it changes; another
 * state of the scene; the state before or after a change; the voxels of a painted region. */
typedef enum gls_view_kind {
    GLS_VIEW_TRACK,
    GLS_VIEW_SELECT,
    GLS_VIEW_PICK,
    GLS_VIEW_PAINT,
    GLS_VIEW_GLYPHS,
    GLS_VIEW_SAVE,
    GLS_VIEW_JUDGE,
    GLS_VIEW_JOIN,
    GLS_VIEW_SCENE,
    GLS_VIEW_UNDO,
    GLS_VIEW_VOXELS
} gls_view_kind;

/* Judgements that a person can give a participant. */
typedef enum gls_view_judgement {
    GLS_VIEW_UNJUDGED,
    GLS_VIEW_GOOD,
    GLS_VIEW_DOUBTFUL,
    GLS_VIEW_BAD,
    GLS_VIEW_JUDGEMENTS
} gls_view_judgement;
/* The judgement of a word, in messages and tables: n/a, good, doubtful, bad; GLS_VIEW_JUDGEMENTS: it is none. */
gls_view_judgement gls_view_judgement_parse(const char *word);
/* The word of a judgement. */
const char *gls_view_judgement_word(gls_view_judgement judgement);

/* Names of the controls: dg, max-angle, cutoff, step-size. */
extern const char *const gls_view_control_name[GLS_VIEW_CONTROLS];

/* The controls of live tracking. */
typedef struct gls_view_controls {
    char value[GLS_VIEW_CONTROLS][GLS_VIEW_CONTROL]; /* as the command line takes them; "": the option is not given */
    bool act;                                        /* tissue is used, where there is one */
} gls_view_controls;

/* A region that streamlines meet or avoid, or in which those that are tracked stop. */
typedef struct gls_view_region {
    /* GLS_REGION_INCLUDE, GLS_REGION_INCLUDE_ANY, GLS_REGION_EXCLUDE or a role of ends; of TRACK GLS_REGION_STOP_AT */
    gls_region_role role;
    int n;            /* numbers: 4, a sphere; 6, a box; 0, a label of the atlas or a painted region */
    double number[6]; /* as the command line takes them, world mm */
    int32_t label;
    uint32_t mask; /* number of a painted region; 0: none */
} gls_view_region;

/* The criteria that streamlines have to fulfil beside regions, as the options of 'glslines edit' have them. */
typedef struct gls_view_criteria {
    double min_length, max_length;              /* mm; 0, INFINITY: no limit */
    char column[GLS_VIEW_NAME];                 /* of a number for each streamline, UTF-8; "": none */
    double min_value, max_value;                /* of the column; -INFINITY, INFINITY: no limit */
    char group[GLS_VIEW_GROUPS][GLS_VIEW_NAME]; /* first those in which they are all, then those in which none is */
    size_t n_groups, n_not_groups;
} gls_view_criteria;

/* A request. Its regions are those of bundle 0, then those of bundle 1, and so on; a selection is one bundle. */
typedef struct gls_view_request {
    gls_view_kind kind;
    uint32_t id;      /* number that the answer repeats */
    double sphere[4]; /* TRACK: centre and radius; PICK: the place; world mm */
    uint64_t nseeds, seed;
    bool has_controls; /* TRACK: controls are given; else those with which the page begins hold */
    gls_view_controls controls;
    bool preview;        /* TRACK: of as many of the seeds as the time allows */
    double page_seconds; /* TRACK, a preview: part of that time which the page needs for itself, up to GLS_VIEW_PAGE */
    bool tracks;         /* SAVE: what is tracked, with the members of TRACK, and no bundles */
    /* TRACK: painted region in place of the sphere; PAINT: the region before; SAVE: that of the seeds; 0: none */
    uint32_t mask;
    /* PAINT: voxels are added or erased; the region before is not needed any more; of the part that hangs together with
     * the place, not along the way of the brush; axis of the world across the slice outside of which nothing changes,
     * or -1; radius of the brush, mm; values that are changed */
    bool adds, replaces, whole_part;
    int plane;
    /* GLYPHS: plane; sphere[0]: its place; point[0], point[1]: limits along the other axes */
    double radius, low, high, point[GLS_VIEW_PLACES][3];
    size_t n_points;
    uint64_t shown;                               /* SELECT: largest number of streamlines to send */
    gls_view_region region[GLS_VIEW_ALL_REGIONS]; /* TRACK: those in which streamlines stop */
    size_t n_regions;
    size_t end[GLS_VIEW_BUNDLES]; /* index of the region behind the last one of each bundle */
    size_t n_bundles;
    gls_view_criteria criteria; /* SELECT, SAVE */
    /* SAVE: names of the bundles, and of the files; letters, digits, _ and -, the first no - */
    char bundle[GLS_VIEW_BUNDLES][GLS_VIEW_NAME], name[GLS_VIEW_NAME];
    bool force; /* SAVE: replace files */
    /* JUDGE */
    size_t participant;
    gls_view_judgement judgement;
    char note[GLS_VIEW_NOTE]; /* UTF-8 without control characters */
    /* SCENE, UNDO: number of the state that is changed; SCENE: whether the change goes on with the last one; UNDO: the
     * state after that of now is asked for, not that before */
    uint64_t base;
    bool joins, forward;
} gls_view_request;

/* Reads a message, an object with one member:
 * {"track": {"id": 1, "sphere": [x, y, z, r], "nseeds": 1000, "seed": 0}}
 * {"track": {"id": 1, "mask": 3, "nseeds": 1000, "seed": 0}}, and perhaps
 * "controls": {"dg": "ifod2", "max-angle": "45", "cutoff": "", "step-size": "1mm", "act": true},
 * "stop": [{"role": "stop", "sphere": [x, y, z, r]}, ...], "preview": true, and with it "page_seconds": 0.1
 * {"select": {"id": 1, "shown": 5000, "regions": [{"role": "include", "sphere": [x, y, z, r]},
 *                                                {"role": "exclude", "box": [x, y, z, X, Y, Z]},
 *                                                {"role": "include", "label": 7}, {"role": "end", "mask": 3}]}},
 * and roles "any", of which one is met at least, "both-ends", each end in any of these regions, and "no-end"
 * A select or save may also have "criteria" with any of these: {"length": [20, null], "column": "weights", "values":
 * [0.5, null], "groups": ["AF_L"], "not_groups": ["CST_L"]}; a select with criteria may have no region.
 * {"pick": {"id": 1, "at": [x, y, z]}}
 * {"paint": {"id": 1, "mask": 0, "replaces": false, "adds": true, "part": false, "plane": 2, "radius": 3, "low": null,
 *            "high": 0.5, "at": [[x, y, z], ...]}}; mask 0: a new region; plane null: in all slices
 * {"glyphs": {"id": 1, "axis": 2, "at": 3.5, "low": [x, y, z], "high": [x, y, z]}}
 * {"save": {"id": 1, "name": "text", "force": false, "bundles": [{"name": "AF_L", "regions": [...]}]}}, and perhaps
 * "seeds": 3, a painted region that is saved with those of the bundles
 * {"save": {"id": 1, "name": "text", "force": false, "track": {"sphere": ..., "nseeds": ..., "seed": ...}}}, with the
 * members of a message "track" but "id", "preview" and "page_seconds"
 * {"judge": {"id": 1, "participant": 0, "judgement": "good", "note": "text"}}, or doubtful, bad, n/a; control
 * characters of a note become blanks
 * {"join": {"id": 1}}
 * {"scene": {"id": 1, "base": 7, "joins": false, "regions": [{"name": "region 1", "role": "include", "sphere": [x, y,
 * z, r]}, ...], "bundles": [{"name": "AF_L", "regions": [...], "count": 12}]}}, and perhaps "track": {"sphere": ...,
 * "nseeds": ..., "seed": ..., "controls": ...} and "criteria"; all regions have names, those that are painted may have
 * the mask 0, no voxels yet, and the role seed
 * {"undo": {"id": 1, "base": 7, "forward": false}}
 * {"voxels": {"id": 1, "mask": 3}}
 * GLS_ERR_INPUT: it is no JSON in UTF-8. GLS_ERR_ARGUMENT: it is another object, or beyond a limit; id and kind of the
 * request are those of the message then, as far as it has them, else 0 and GLS_VIEW_TRACK. Errors fit into the reason
 * of a closed WebSocket, 123 bytes. */
gls_status gls_view_request_read(const char *text, size_t bytes, gls_view_request *request);
/* Writes n numbers as the command line has them, with commas between them. Rounds the numbers to those of the text. */
void gls_view_numbers(double *number, int n, char text[160]);
/* Whether a region has one of the roles that look at the ends of streamlines. */
bool gls_view_region_is_of_ends(const gls_view_region *region);
/* Whether a region of the request is a label. */
bool gls_view_request_has_label(const gls_view_request *request);
/* Appends a number of 32 bits, little-endian. */
void gls_view_put32(uint32_t v, gls_text *out);
/* Appends the head of an answer of bytes: u8 version 1, u8 kind (1 tracked, 2 selected, 3 painted, 4 glyphs), u16 0,
 * u32 id, u32 n, little-endian. */
void gls_view_answer_head(uint32_t id, int kind, uint32_t n, gls_text *out);
/* Appends the answer of streamlines: head with their number; then gls_stage_lines(). */
gls_status gls_view_answer_lines(uint32_t id, int kind, const gls_scene *scene, gls_text *out);
/* Begins the answer to a request in JSON; kind: its name in messages; NULL: none. */
cJSON *gls_view_answer_begin(uint32_t id, const char *kind);
/* Appends an answer on one line, and frees it. */
gls_status gls_view_answer_end(cJSON *root, gls_text *out);
/* Appends the answer that a request failed, as JSON: its number, and why. exists: because files exist. */
void gls_view_answer_error(uint32_t id, const char *why, bool exists, gls_text *out);

#endif
