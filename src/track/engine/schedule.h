/* The order in which streamlines are tracked, and the amount of work of one dispatch. Neither changes the result. */
#ifndef GLS_TRACK_ENGINE_SCHEDULE_H
#define GLS_TRACK_ENGINE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "track/shader/layout.h"

/* --- Order of the streamlines of a round. */

/* A streamline of a round and the key by which the round is sorted. */
typedef struct gls_order_entry {
    uint32_t key, line;
} gls_order_entry;

/* Sorts n lines along a Morton curve through the voxels of their seeds; the sort is stable. Lines that are tracked
 * together then mostly read the same part of a field. entry: memory for 2 n entries; the first n get the new order. */
void gls_order_lines(const gls_line_record *line, size_t n, gls_order_entry *entry);

/* --- Amount of work of a dispatch, from the times of earlier dispatches, so that it takes well below a second. Drivers
 * reset a device that does not answer for a few seconds, and a run can only be cancelled between dispatches. */

/* Pace of one kind of dispatch. All zero: no times are known yet. */
typedef struct gls_pace {
    uint32_t limit;          /* largest number of items of the next dispatch; 0: unknown */
    uint32_t first;          /* items of the first dispatch; 0: gls_pace_rule.first */
    uint32_t least;          /* smallest limit: fewer items take as long; 0: gls_pace_rule.least */
    double wanted;           /* wanted duration of a dispatch, s; 0: gls_pace_rule.wanted */
    uint32_t most;           /* items of the largest dispatch so far */
    double seconds_per_item; /* time for each item in the largest dispatch so far, s; smaller ones say little */
    double longest;          /* duration of the longest dispatch so far, s */
} gls_pace;

/* Number of items of the next dispatch: `wanted`, or the limit if that is lower. */
uint32_t gls_pace_items(const gls_pace *pace, uint32_t wanted);
/* Call after a dispatch of `items` items that took `seconds`. */
void gls_pace_note(gls_pace *pace, uint32_t items, double seconds);
/* Call this instead of gls_pace_note() if `seconds` is only a lower bound of the duration. The limit changes only if
 * even this time is too long. */
void gls_pace_note_least(gls_pace *pace, uint32_t items, double seconds);
/* Sets a first limit if there is none: an item of this kind costs `times` as much as an item of `other`. The limit is
 * `first` at most if that is set. */
void gls_pace_guess(gls_pace *pace, const gls_pace *other, double times);
/* Sets the first limit from a small part of the work: for `items` items it took `seconds`, and the whole work will
 * probably take `times` as long. */
void gls_pace_guess_from(gls_pace *pace, uint32_t items, double seconds, double times);
/* Call after the device was lost, perhaps because a dispatch took too long: quarters the limit, if there is one. */
void gls_pace_slow(gls_pace *pace);

/* Global defaults. Only tests change them. */
typedef struct gls_pace_rules {
    uint32_t first, least;  /* items of the first dispatch; smallest limit */
    double wanted, longest; /* wanted duration of a dispatch; a duration above `longest` lowers the limit; s */
} gls_pace_rules;
extern gls_pace_rules gls_pace_rule;

#endif
