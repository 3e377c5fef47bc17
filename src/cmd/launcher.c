/* Progress on the icon in the desktop's launcher, and notifications, through libunity. */
#include "cmd/message.h"

#include <stddef.h>

#ifdef GLS_HAVE_UNITY
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* unity.h and the headers that it includes use extensions that -Wpedantic would report. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <unity.h>
#pragma GCC diagnostic pop

/* Progress on one icon. entry: object of libunity, of which the struct holds one reference. */
struct cmd_launcher {
    UnityLauncherEntry *entry;
};

/* Whether a session bus exists. Without this test GIO would start a bus, or wait for one. */
static int session_bus_exists(void)
{
    char path[64];
    const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
    if (address && *address) return 1;
    snprintf(path, sizeof path, "/run/user/%u/bus", (unsigned)getuid());
    return access(path, R_OK | W_OK) == 0;
}

/* Sends the messages that libunity queued on the default main context, which nothing else runs here. */
static void deliver(void)
{
    for (int i = 0; i < 64 && g_main_context_iteration(NULL, FALSE); i++) continue;
}

cmd_launcher *cmd_launcher_create(void)
{
    if (!session_bus_exists()) return NULL;
    /* A program of the command line has no icon unless its .desktop file is installed. The variable names another icon,
     * such as that of the terminal. */
    const char *id = getenv("GLSLINES_DESKTOP_ID");
    GError *error = NULL;
    GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    if (!bus) {
        g_clear_error(&error);
        return NULL;
    }
    /* the program must survive the end of the bus */
    g_dbus_connection_set_exit_on_close(bus, FALSE);
    cmd_launcher *launcher = malloc(sizeof *launcher);
    UnityLauncherEntry *entry =
        launcher ? unity_launcher_entry_get_for_desktop_id(id && *id ? id : "glslines.desktop") : NULL;
    g_object_unref(bus);
    if (!entry) {
        free(launcher);
        return NULL;
    }
    launcher->entry = entry;
    unity_launcher_entry_set_progress(entry, 0.0);
    unity_launcher_entry_set_progress_visible(entry, TRUE);
    deliver();
    return launcher;
}

void cmd_launcher_update(cmd_launcher *launcher, double fraction)
{
    if (!launcher) return;
    unity_launcher_entry_set_progress(launcher->entry, fraction);
    deliver();
}

void cmd_launcher_destroy(cmd_launcher *launcher)
{
    if (!launcher) return;
    unity_launcher_entry_set_progress_visible(launcher->entry, FALSE);
    deliver();
    /* flush the bus before the program ends, else the icon would show progress for ever */
    GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
    if (bus) {
        g_dbus_connection_flush_sync(bus, NULL, NULL);
        g_object_unref(bus);
    }
    g_object_unref(launcher->entry);
    free(launcher);
}

void cmd_launcher_notify(const char *title, const char *text)
{
    GVariantBuilder actions, hints;
    GDBusConnection *bus = session_bus_exists() ? g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL) : NULL;
    if (!bus) return;
    g_dbus_connection_set_exit_on_close(bus, FALSE);
    g_variant_builder_init(&actions, G_VARIANT_TYPE("as"));
    g_variant_builder_init(&hints, G_VARIANT_TYPE("a{sv}"));
    /* arguments of Notify by the Desktop Notifications Specification: program, id 0 for a new one, no icon, title,
     * text, actions, hints, and -1 for the desktop's own time of display */
    GVariant *what = g_variant_new("(susssasa{sv}i)", "glslines", 0u, "", title, text, &actions, &hints, -1);
    /* wait at most two seconds for a desktop that does not answer */
    GVariant *answer = g_dbus_connection_call_sync(bus, "org.freedesktop.Notifications",
                                                   "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
                                                   "Notify", what, NULL, G_DBUS_CALL_FLAGS_NONE, 2000, NULL, NULL);
    if (answer) g_variant_unref(answer);
    g_object_unref(bus);
}

#else

void cmd_launcher_notify(const char *title, const char *text)
{
    (void)title;
    (void)text;
}

cmd_launcher *cmd_launcher_create(void)
{
    return NULL;
}

void cmd_launcher_update(cmd_launcher *launcher, double fraction)
{
    (void)launcher;
    (void)fraction;
}

void cmd_launcher_destroy(cmd_launcher *launcher)
{
    (void)launcher;
}

#endif
