/* How much work a dispatch gets: as much as takes well below a second on this device, from the times of those before.
 * Drivers reset a device that does not answer for a few seconds, and between dispatches a run can be cancelled. The
 * streamlines do not depend on it. */
#ifndef GLS_TRACK_ENGINE_PACE_H
#define GLS_TRACK_ENGINE_PACE_H

#include <stdint.h>

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
