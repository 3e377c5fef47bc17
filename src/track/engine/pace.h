/* Limits the work of a dispatch by the measured times of earlier dispatches. */
#ifndef GLS_TRACK_ENGINE_PACE_H
#define GLS_TRACK_ENGINE_PACE_H

#include "track/engine/schedule.h"

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
