/* Which streamlines share a work group, and how much work one dispatch gets. */
#ifndef GLS_TRACK_ENGINE_SCHEDULE_H
#define GLS_TRACK_ENGINE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "track/shader/layout.h"

/* --- The order in which a round's streamlines are tracked. It never changes the result. */

typedef struct gls_order_entry {
    uint32_t key, line;
} gls_order_entry;

/* Orders n lines along a Morton curve through the voxels of their seeds, equal ones as they were: those that are
 * tracked together then mostly read the same part of a field. entry: room for 2 n; the first n tell the lines in their
 * new order. */
void gls_order_lines(const gls_line_record *line, size_t n, gls_order_entry *entry);

/* --- How much work a dispatch gets: as much as takes well below a second on this device, from the times of those
 * before. Drivers reset a device that does not answer for a few seconds, and between dispatches a run can be cancelled.
 * The streamlines do not depend on it. */

/* One for each kind of dispatch; zeroed: nothing is known of the device yet. */
typedef struct gls_pace {
    uint32_t limit;          /* items of a dispatch */
    uint32_t first;          /* of the first one; 0: the rule's */
    uint32_t least;          /* with fewer this device is no faster; 0: the rule's */
    double wanted;           /* seconds of a dispatch, for drivers with little patience; 0: the rule's */
    double seconds_per_item; /* of the fastest dispatch */
    double longest;          /* seconds */
} gls_pace;

/* Items of the next dispatch, at most wanted. */
uint32_t gls_pace_items(const gls_pace *pace, uint32_t wanted);
/* A dispatch of so many items has taken so long. */
void gls_pace_note(gls_pace *pace, uint32_t items, double seconds);
/* The same, where that is the least that it may have taken: only a dispatch that was too long teaches anything then. */
void gls_pace_note_least(gls_pace *pace, uint32_t items, double seconds);
/* A first guess for dispatches whose items are as much work each as so many of another kind, unless there are times
 * already. */
void gls_pace_guess(gls_pace *pace, const gls_pace *other, double times);
/* After the device was lost, perhaps because a dispatch took too long. */
void gls_pace_slow(gls_pace *pace);

/* Variables for tests only. */
typedef struct gls_pace_rules {
    uint32_t first, least;  /* items of the first dispatch, and of any unless the device has a least of its own */
    double wanted, longest; /* seconds of a dispatch: those beyond longest get shorter, those far below wanted longer */
} gls_pace_rules;
extern gls_pace_rules gls_pace_rule;

#endif
