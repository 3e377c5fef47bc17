// Coefficients of bootstrap samples, which sample.comp leaves to turn.comp in quads of the work buffer.
#include <quads>

const int COEFFICIENT_QUADS = (N_COEFFICIENTS + 3) / 4;

// Index of the first quad of this streamline.
uint coefficient_quads()
{
    return (uint(WORK_GUIDE + GUIDE_WORDS) * params.n_items + 3u) / 4u +
           min(work_index(), params.n_active - 1u) * uint(COEFFICIENT_QUADS);
}
