/* Measures how busy other processes keep the machine while the benchmark runs, because their load lengthens the
 * times. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <math.h>

#include "bench/bench.h"
#include "util/clock.h"

/* CPU seconds, in user mode and in the kernel, of this process (RUSAGE_SELF) or of its children that ended. */
static double seconds_of(int who)
{
    struct rusage usage;
    if (getrusage(who, &usage) != 0) return 0;
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec);
}

bench_busy bench_busy_now(void)
{
    bench_busy now = {.clock = gls_clock_seconds(), .own = seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN)};
    /* First line of /proc/stat: clock ticks of all CPUs together since the start of the machine. */
    unsigned long long user, nice, system, idle, wait, irq, soft, steal;
    FILE *file = fopen("/proc/stat", "r");
    now.known = file && fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &wait,
                               &irq, &soft, &steal) == 8;
    if (now.known) now.all = (double)(user + nice + system + irq + soft + steal) / (double)sysconf(_SC_CLK_TCK);
    if (file) fclose(file);
    return now;
}

double bench_busy_others(const bench_busy *from, const bench_busy *to)
{
    double elapsed = to->clock - from->clock, others = (to->all - from->all) - (to->own - from->own);
    if (!from->known || !to->known || elapsed <= 0) return NAN;
    return fmax(others / elapsed, 0);
}
