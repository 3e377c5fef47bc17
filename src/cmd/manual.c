/* Finds topics of the manual and the words that describe them. */
#include "cmd/manual.h"

#include <string.h>

#include "util/plain.h"

const manual_topic *manual_topic_find(const char *name, size_t n)
{
    for (const manual_topic *topic = manual_topics; topic->name; topic++)
        if (strlen(topic->name) == n && strncmp(topic->name, name, n) == 0) return topic;
    return NULL;
}

const char *manual_topic_title(const manual_topic *topic, char *buffer, size_t size)
{
    const char *title = topic->text + strspn(topic->text, "# ");
    snprintf(buffer, size, "%.*s", (int)strcspn(title, "\n"), title);
    return buffer;
}

const manual_topic *manual_link_topic(const char *target, size_t n)
{
    char name[64];
    size_t length = strcspn(target, "#)");
    if (length > n) length = n;
    if (length < 4 || length >= sizeof name || memcmp(target + length - 3, ".md", 3) != 0) return NULL;
    length -= 3;
    for (size_t i = 0; i < length; i++) name[i] = (char)gls_to_lower((unsigned char)target[i]);
    return manual_topic_find(name, length);
}
