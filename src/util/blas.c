/* Loads OpenBLAS at its first use, if memory suffices for it, and sets its number of threads. */
#include "util/threads.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/lapack.h"
#include "util/status.h"
#include "util/allocation.h"
#include "util/text.h"

/* Memory that OpenBLAS maps for each thread at a time (BUFFER_SIZE on x86-64, its largest value), with some pages to
 * spare. */
#define THREAD_BYTES (((size_t)128 << 20) + ((size_t)1 << 20))
/* Memory that the shared libraries need, and the memory of the thread with which OpenBLAS starts. */
#define LIBRARY_BYTES (((size_t)96 << 20) + THREAD_BYTES)

/* the value that openblas_get_parallel() returns for a build with OpenMP; such a build takes its number of threads from
 * OpenMP on the calling thread, whatever openblas_set_num_threads() has set */
#define BUILT_WITH_OPENMP 2

/* --- Stand-ins where OpenBLAS cannot be loaded. */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define ABSENT(name, parameters)               \
    static lapack_int absent_##name parameters \
    {                                          \
        return LAPACK_WORK_MEMORY_ERROR;       \
    }
GLS_LAPACK_FUNCTIONS(ABSENT)
#pragma GCC diagnostic pop
#undef ABSENT

#define ABSENT(name, parameters) .name = absent_##name,
static const gls_lapack_functions absent = {GLS_LAPACK_FUNCTIONS(ABSENT)};

/* --- loading ---------------------------------------------------------------- */

/* held by the thread that loads the library, so that only one does */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(const gls_lapack_functions *) loaded; /* NULL: not loaded yet */
/* number of threads that gls_blas_set_threads() asked for; 0: OpenBLAS decides */
static atomic_int wanted_threads;

/* Whether the limit on the address space leaves this many bytes. Maps and unmaps the bytes without access, which costs
 * nothing. */
static bool has_room(size_t bytes)
{
    void *probe = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe != MAP_FAILED) munmap(probe, bytes);
    return probe != MAP_FAILED;
}

/* folder: gets the path of the folder of the program or shared library that contains this function. Returns false if it
 * is unknown. */
static bool find_folder(char *folder, size_t size)
{
    Dl_info info;
    struct link_map *map = NULL;
    char path[PATH_MAX];
    if (!dladdr1((void *)find_folder, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return false;
    if (*map->l_name) {
        if (!realpath(map->l_name, path)) return false;
    } else { /* search the folder of the program itself; without /proc, by the path with which it was started */
        const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
        if (n < 0 && !realpath((const char *)getauxval(AT_EXECFN), path)) return false;
        if (n >= 0) path[n] = '\0';
    }
    char *slash = strrchr(path, '/');
    return slash && snprintf(folder, size, "%.*s", (int)(slash - path), path) < (int)size;
}

/* Opens the library of src/blas. Looks in the folder of the program or shared library that contains this function, then
 * in its parent, then in the folder whose path relative to it is GLS_BLAS_FROM_PROGRAM, then where the system looks for
 * libraries. */
static void *open_library(void)
{
    static const char *const places[] = {"", "/..", ("/" GLS_BLAS_FROM_PROGRAM)};
    char folder[PATH_MAX], path[PATH_MAX + 128];
    void *library = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library && find_folder(folder, sizeof folder); i++) {
        snprintf(path, sizeof path, "%s%s/" GLS_BLAS_LIBRARY, folder, places[i]);
        if (access(path, F_OK) == 0) library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library ? library : dlopen(GLS_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

/* Opens the library. Where the address space is limited, OpenBLAS starts with one thread, because it takes memory for
 * each thread. */
static void *open_with_threads(bool limited)
{
    static const char variable[] = "OPENBLAS_NUM_THREADS";
    const char *set = limited ? getenv(variable) : NULL;
    char *before = set ? strdup(set) : NULL;
    if (limited) setenv(variable, "1", true);
    void *library = open_library();
    if (limited && before)
        setenv(variable, before, true);
    else if (limited)
        unsetenv(variable);
    free(before);
    return library;
}

/* Returns an error that names the limit on the address space, the memory needed, and --nthreads if fewer threads would
 * help. */
static gls_status fail_for_room(const char *what, uint64_t limit, size_t bytes)
{
    return gls_fail(
        GLS_ERR_MEMORY,
        "%s: the limit on the address space (ulimit -v, %llu MiB) leaves less than the %zu MiB that OpenBLAS "
        "needs%s",
        what, (unsigned long long)limit, bytes >> 20,
        omp_get_max_threads() > 1 ? "; with fewer threads (--nthreads) it needs less" : "");
}

/* Loads OpenBLAS unless the limit on the address space is too small for it, because OpenBLAS would then wait for ever.
 */
static gls_status load(const char *what)
{
    /* bytes: memory for loading OpenBLAS, and for each thread that will use it */
    const uint64_t limit = gls_address_limit();
    const size_t bytes = LIBRARY_BYTES + (size_t)omp_get_max_threads() * THREAD_BYTES;
    if (limit > 0 && !has_room(bytes)) return fail_for_room(what, limit, bytes);
    void *library = open_with_threads(limit > 0);
    const gls_lapack_functions *found = library ? dlsym(library, GLS_LAPACK_SYMBOL) : NULL;
    if (!found) {
        const char *reason = dlerror();
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "%s: %s; the library libglslines_blas belongs beside the program or in " GLS_BLAS_FROM_PROGRAM
                        ", and needs OpenBLAS and LAPACKE",
                        what, reason ? reason : GLS_BLAS_LIBRARY " cannot be used");
    }
    const int n = atomic_load(&wanted_threads);
    if (n > 0 && limit == 0) found->set_threads(n);
    atomic_store(&loaded, found);
    return GLS_OK;
}

gls_status gls_blas_check(const char *what)
{
    if (!atomic_load(&loaded)) {
        pthread_mutex_lock(&loading);
        const gls_status status = atomic_load(&loaded) ? GLS_OK : load(what);
        pthread_mutex_unlock(&loading);
        return status;
    }
    /* the library is loaded: check only whether memory is left for its threads */
    const uint64_t limit = gls_address_limit();
    const size_t bytes = (size_t)omp_get_max_threads() * THREAD_BYTES;
    return limit == 0 || has_room(bytes) ? GLS_OK : fail_for_room(what, limit, bytes);
}

const gls_lapack_functions *gls_lapack(void)
{
    const gls_lapack_functions *found = atomic_load(&loaded);
    if (found) return found;
    return gls_blas_check("linear algebra") == GLS_OK ? atomic_load(&loaded) : &absent;
}

void gls_blas_set_threads(int n)
{
    const gls_lapack_functions *found = atomic_load(&loaded);
    atomic_store(&wanted_threads, n);
    if (found && gls_address_limit() == 0) found->set_threads(n);
}

const char *gls_blas_config(void)
{
    const gls_lapack_functions *found = atomic_load(&loaded);
    return found ? found->get_config() : NULL;
}

/* --- threads ---------------------------------------------------------------- */

/* State of a build of OpenBLAS with threads of its own, whose number holds for the process. users: pairs of
 * gls_blas_begin() and gls_blas_end() that are open, on all threads; before: number of threads before the first of
 * these pairs. */
static struct {
    pthread_mutex_t lock;
    int users, before;
} single = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Resets the state in a child process, in which no pair is open. */
static void renew(void)
{
    single.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    single.users = 0;
}
GLS_IN_COPIES(renew)

/* State of the calling thread, if OpenBLAS is built with OpenMP: number of open pairs gls_blas_begin() and
 * gls_blas_end(), and the number of OpenMP threads outside these pairs. */
static _Thread_local int depth, team;
static _Thread_local int n_absent; /* open pairs of this thread that began while OpenBLAS could not be loaded */

void gls_blas_begin(void)
{
    /* if the outer gls_blas_begin() had no OpenBLAS, an inner one does without it, too, even if OpenBLAS has been
     * loaded meanwhile, so that each gls_blas_end() undoes its own gls_blas_begin() */
    const gls_lapack_functions *blas = n_absent > 0 ? &absent : gls_lapack();
    if (!blas->get_parallel) {
        n_absent++;
        return;
    }
    if (blas->get_parallel() == BUILT_WITH_OPENMP) {
        if (depth++ > 0) return;
        team = omp_get_max_threads();
        omp_set_num_threads(1);
        return;
    }
    pthread_mutex_lock(&single.lock);
    if (single.users++ == 0) {
        single.before = blas->get_threads();
        if (single.before > 1) blas->set_threads(1);
    }
    pthread_mutex_unlock(&single.lock);
}

void gls_blas_end(void)
{
    const gls_lapack_functions *blas = gls_lapack();
    if (n_absent > 0) {
        n_absent--;
        return;
    }
    if (blas->get_parallel() == BUILT_WITH_OPENMP) {
        if (--depth == 0) omp_set_num_threads(team);
        return;
    }
    pthread_mutex_lock(&single.lock);
    /* Restore the earlier number of threads, unless the calling program has set another number meanwhile. */
    if (--single.users == 0 && single.before > 1 && blas->get_threads() == 1) blas->set_threads(single.before);
    pthread_mutex_unlock(&single.lock);
}

int gls_blas_team(void)
{
    return depth > 0 ? team : omp_get_max_threads();
}
