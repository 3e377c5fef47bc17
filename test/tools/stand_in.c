/* What two of Mesa's stand-ins for drivers of the kernel lack, loaded in front of them by test/tools/boards.sh.
 * Etnaviv's has any number of equal cores, and its driver looks for an end of them for ever; Mali's newest (panthor)
 * gives every open of the GPU the same page, which the driver unmaps when the first one is closed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ETNAVIV_GET_PARAM 0x6440          /* type and number of the request */
#define PANTHOR_PAGES (UINT64_C(1) << 56) /* offset from which pages are the registers of the GPU */

typedef struct etnaviv_param {
    uint32_t core, param;
    uint64_t value;
} etnaviv_param;

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (getenv("ETNA_SHIM_GPU") && (request & 0xffff) == ETNAVIV_GET_PARAM &&
        ((const etnaviv_param *)argument)->core > 0) {
        errno = ENXIO;
        return -1;
    }
    int (*next)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
    return next(fd, request, argument);
}

typedef void *map_function(void *, size_t, int, int, int, off_t);

static void *map(const char *name, void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    if ((uint64_t)offset >= PANTHOR_PAGES) /* zeros */
        return ((map_function *)dlsym(RTLD_NEXT, name))(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                                        -1, 0);
    return ((map_function *)dlsym(RTLD_NEXT, name))(at, size, protection, flags, fd, offset);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map("mmap", at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map("mmap64", at, size, protection, flags, fd, offset);
}
