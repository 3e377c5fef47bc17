// Coefficients of bootstrap samples, which sample.comp leaves to turn.comp in quads of the work buffer. The slot
// <quads> defines load_quad() and store_quad().
#include <quads>

// Quads of one sample; the last one may be filled in part.
const int COEFFICIENT_QUADS = (N_COEFFICIENTS + 3) / 4;

// Index of the first quad of this streamline: behind the list and the words of all slots, which are rounded up to whole
// quads. Samples lie in the order of the list, not of the slots.
uint coefficient_quads()
{
    return (uint(WORK_GUIDE + GUIDE_WORDS) * params.n_items + 3u) / 4u +
           min(work_index(), params.n_active - 1u) * uint(COEFFICIENT_QUADS);
}
