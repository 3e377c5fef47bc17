/* Failures of the driver that tests inject: none, see inject.h. A file of its own, because the linker replaces only
 * functions of other files. */
#include "gpu/inject.h"

gls_status gls_inject_begin(void)
{
    return GLS_OK;
}

bool gls_inject(gls_fault fault)
{
    (void)fault;
    return false;
}

bool gls_inject_memory(uint64_t bytes)
{
    (void)bytes;
    return false;
}

void gls_inject_work(const char *label, const uint32_t groups[3])
{
    (void)label;
    (void)groups;
}

bool gls_inject_wait(void)
{
    return false;
}
