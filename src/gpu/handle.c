/* The register of live handles: a hash table of addresses, open addressing with linear probing. All functions may be
 * called from any thread; the table has a lock of its own. */

#include <glslines/device.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpu/handle.h"
#include "util/status.h"
#include "util/threads.h"

/* Leaked objects matter to developers; a release build logs them only at the level debug. */
#ifdef NDEBUG
#define LEAK_LEVEL GLS_LOG_DEBUG
#else
#define LEAK_LEVEL GLS_LOG_WARNING
#endif

/* A live object. owner: its device; drop: frees it when the device is closed. */
typedef struct entry {
    void *object; /* NULL: a free entry */
    const gls_device *owner;
    gls_handle_drop drop;
    gls_handle_kind kind;
    char label[44];
} entry;

static struct {
    pthread_mutex_t lock;
    entry *entries;
    size_t capacity, count; /* capacity is a power of two */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Gives a copy made by fork() a new lock: a thread that does not exist in the copy may hold the old one. */
static void renew(void)
{
    table.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
GLS_IN_COPIES(renew)

static const char *const kind_names[] = {
    "device", "buffer", "texture", "kernel", "program", "array", "element-wise kernel", "unified buffer"};

/* Position at which the search for an object begins. The factor is 2^64 divided by the golden ratio. */
static size_t home(const void *object, size_t capacity)
{
    uint64_t bits = (uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(bits >> 32) & (capacity - 1);
}

/* Position of an object, or of the free entry where it would be stored. */
static size_t find(const entry *entries, size_t capacity, const void *object)
{
    size_t at = home(object, capacity);
    while (entries[at].object && entries[at].object != object) at = (at + 1) & (capacity - 1);
    return at;
}

/* Doubles the table, or makes it if there is none. Returns false if memory ran out. Call with the lock held. */
static bool grow(void)
{
    size_t capacity = table.capacity ? 2 * table.capacity : 64;
    entry *entries = calloc(capacity, sizeof *entries);
    if (!entries) return false;
    for (size_t i = 0; i < table.capacity; i++)
        if (table.entries[i].object) entries[find(entries, capacity, table.entries[i].object)] = table.entries[i];
    free(table.entries);
    table.entries = entries;
    table.capacity = capacity;
    return true;
}

gls_status gls_handle_add(void *object, gls_handle_kind kind, const gls_device *owner, const char *label,
                          gls_handle_drop drop)
{
    pthread_mutex_lock(&table.lock);
    bool room = 2 * (table.count + 1) <= table.capacity || grow();
    if (room) {
        entry *e = &table.entries[find(table.entries, table.capacity, object)];
        *e = (entry){.object = object, .owner = owner, .drop = drop, .kind = kind};
        snprintf(e->label, sizeof e->label, "%s", label ? label : "");
        table.count++;
    }
    pthread_mutex_unlock(&table.lock);
    return room ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for an object (%s)", kind_names[kind]);
}

/* Whether the table has this object as one of this kind; *at: its position then. Call with the lock held. */
static bool is_alive(const void *object, gls_handle_kind kind, size_t *at)
{
    if (!object || table.count == 0) return false;
    *at = find(table.entries, table.capacity, object);
    return table.entries[*at].object == object && table.entries[*at].kind == kind;
}

bool gls_handle_listed(const void *object, gls_handle_kind kind)
{
    size_t at;
    pthread_mutex_lock(&table.lock);
    bool alive = is_alive(object, kind, &at);
    pthread_mutex_unlock(&table.lock);
    return alive;
}

/* Frees an entry and moves later entries back, so that each is still found by probing from its home position. With the
 * last entry the table is freed. */
static void erase(size_t at)
{
    size_t mask = table.capacity - 1, free_place = at;
    table.entries[at].object = NULL;
    for (size_t next = (at + 1) & mask; table.entries[next].object; next = (next + 1) & mask) {
        size_t wanted = home(table.entries[next].object, table.capacity);
        if (((next - wanted) & mask) < ((next - free_place) & mask)) continue;
        table.entries[free_place] = table.entries[next];
        table.entries[next].object = NULL;
        free_place = next;
    }
    if (--table.count > 0) return;
    free(table.entries);
    table.entries = NULL;
    table.capacity = 0;
}

bool gls_handle_remove(const void *object, gls_handle_kind kind)
{
    size_t at;
    pthread_mutex_lock(&table.lock);
    bool alive = is_alive(object, kind, &at);
    if (alive) erase(at);
    pthread_mutex_unlock(&table.lock);
    if (!alive) {
        gls_error_set("this %s was destroyed before, or never made", kind_names[kind]);
        gls_log(GLS_LOG_ERROR, "%s", gls_last_error());
    }
    return alive;
}

/* Removes the entry of one object on the device `owner` and stores it in *taken. Returns false if there is none. */
static bool take_one(const gls_device *owner, entry *taken)
{
    bool found = false;
    pthread_mutex_lock(&table.lock);
    for (size_t i = 0; i < table.capacity && !found; i++) {
        *taken = table.entries[i];
        found = taken->object && taken->owner == owner && taken->kind != GLS_HANDLE_DEVICE;
        if (found) erase(i);
    }
    pthread_mutex_unlock(&table.lock);
    return found;
}

void gls_handle_drop_all(const gls_device *owner)
{
    for (entry e; take_one(owner, &e); e.drop(e.object))
        gls_log(LEAK_LEVEL, "device closed before its %s '%s' was destroyed", kind_names[e.kind], e.label);
}

gls_status gls_handle_refuse(const char *function, const char *name, const void *object, gls_handle_kind kind)
{
    if (!object) return gls_fail(GLS_ERR_ARGUMENT, "%s: requires %s", function, name);
    return gls_fail(GLS_ERR_ARGUMENT, "%s: %s is no live %s: destroyed before, or of another kind", function, name,
                    kind_names[kind]);
}
