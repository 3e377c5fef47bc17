/* Limits the work of a dispatch by the measured times of earlier dispatches. An item is a seed of pass 1, a streamline
 * of pass 2, or, in staged plans, one iteration of one half-streamline. Pure arithmetic: no device is touched, and no
 * global but the default rules is read. */
#include "track/engine/pace.h"
#include "track/engine/schedule.h"

#include <math.h>
#include <stdbool.h>

/* Largest factor by which the limit grows at once: the times of few items say little about many. A pace without a
 * wanted duration of its own may grow by more, until a dispatch takes 1 / MAX_GROWTH of the default duration. */
#define MAX_GROWTH 8

gls_pace_rules gls_pace_rule = {.first = 1024, .least = 256, .wanted = 0.7, .longest = 0.76};

/* Returns items * factor, limited to the range from the least number of items of a dispatch to UINT32_MAX. */
static uint32_t scaled(const gls_pace *pace, double items, double factor)
{
    double product = items * factor;
    uint32_t least = pace->least > 0 ? pace->least : gls_pace_rule.least;
    if (product < least) return least;
    return product < UINT32_MAX ? (uint32_t)product : UINT32_MAX;
}

/* Largest number of items of the next dispatch: the measured limit, else the first one. */
static uint32_t limit_of(const gls_pace *pace)
{
    if (pace->limit > 0) return pace->limit;
    return pace->first > 0 ? pace->first : gls_pace_rule.first;
}

/* Wanted duration of a dispatch, s. */
static double wanted_of(const gls_pace *pace)
{
    return pace->wanted > 0 ? pace->wanted : gls_pace_rule.wanted;
}

/* Whether a dispatch took so long that the limit must fall: longer than the wanted duration times the default rules'
 * longest / wanted. */
static bool is_too_long(const gls_pace *pace, double seconds)
{
    return seconds > gls_pace_rule.longest / gls_pace_rule.wanted * wanted_of(pace);
}

uint32_t gls_pace_items(const gls_pace *pace, uint32_t wanted)
{
    uint32_t limit = limit_of(pace);
    return wanted < limit ? wanted : limit;
}

void gls_pace_note(gls_pace *pace, uint32_t items, double seconds)
{
    uint32_t limit = limit_of(pace);
    if (items == 0) return;
    if (seconds < 1e-9) seconds = 1e-9;
    if (items >= pace->most) {
        pace->most = items;
        pace->seconds_per_item = seconds / items;
    }
    if (seconds > pace->longest) pace->longest = seconds;
    /* Lower the limit after a dispatch that took too long. Raise it only after one that nearly used the limit and was
     * clearly too short, because a small dispatch says nothing about a large one. */
    double change = wanted_of(pace) / seconds;
    double growth = pace->wanted > 0 ? MAX_GROWTH : fmax(MAX_GROWTH, change / MAX_GROWTH);
    if (is_too_long(pace, seconds))
        limit = scaled(pace, items, change);
    else if (items >= limit / 4 * 3 && change > 1.25)
        limit = scaled(pace, items, fmin(change, growth));
    pace->limit = limit;
}

void gls_pace_note_least(gls_pace *pace, uint32_t items, double seconds)
{
    if (is_too_long(pace, seconds)) gls_pace_note(pace, items, seconds);
}

void gls_pace_guess(gls_pace *pace, const gls_pace *other, double times)
{
    if (pace->limit > 0 || other->seconds_per_item <= 0) return;
    /* use half of the wanted time, because the cost is a guess */
    pace->limit = scaled(pace, 1, wanted_of(pace) / 2 / (other->seconds_per_item * times));
    if (pace->first > 0 && pace->limit > pace->first) pace->limit = pace->first;
}

void gls_pace_guess_from(gls_pace *pace, uint32_t items, double seconds, double times)
{
    if (items == 0) return;
    /* half of the wanted time, because the cost is a guess */
    pace->limit = scaled(pace, items, wanted_of(pace) / 2 / (fmax(seconds, 1e-9) * times));
}

void gls_pace_slow(gls_pace *pace)
{
    if (pace->limit > 0) pace->limit = scaled(pace, pace->limit, 0.25);
}
