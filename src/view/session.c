/* Who may use the window: any program of any user can reach a port of the loopback interface, and any page of the web
 * can make a browser send requests to it. So each request has to bring a secret, and the right names in its headers. */
#include "view/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/status.h"

gls_status gls_session_begin(gls_session *session)
{
    unsigned char bits[GLS_TOKEN_DIGITS / 2];
    for (int right = GLS_RIGHT_LOOK; right < GLS_RIGHTS; right++) {
        if (getrandom(bits, sizeof bits, 0) != sizeof bits)
            return gls_fail(GLS_ERR_UNSUPPORTED, "the system gives no random numbers for a token: %s", strerror(errno));
        for (size_t i = 0; i < sizeof bits; i++) snprintf(session->token[right] + 2 * i, 3, "%02x", bits[i]);
    }
    return GLS_OK;
}

void gls_session_listen(gls_session *session, int port, const char *socket)
{
    session->port = port;
    session->socket = socket;
    snprintf(session->cookie, sizeof session->cookie, "glslines-%s%d", socket ? "socket-" : "",
             socket ? (int)getpid() : port);
}

void gls_session_address(const gls_session *session, gls_right right, char text[GLS_ADDRESS])
{
    const char *host = session->socket ? "localhost" : session->ipv6 ? "[::1]" : "127.0.0.1";
    snprintf(text, GLS_ADDRESS, "http://%s:%d/?token=%s", host, session->port, session->token[right]);
}

/* Whether a text is nothing, or a colon and a port. */
static bool is_port(const char *text)
{
    return !*text || (*text == ':' && strlen(text) <= 6 && text[1] && !text[1 + strspn(text + 1, "0123456789")]);
}

bool gls_session_has_host(const gls_session *session, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char wanted[64];
    for (size_t i = 0; session->socket && i < sizeof names / sizeof *names; i++)
        if (strncmp(host, names[i], strlen(names[i])) == 0 && is_port(host + strlen(names[i]))) return true;
    for (size_t i = 0; i < sizeof names / sizeof *names && !session->socket; i++) {
        snprintf(wanted, sizeof wanted, "%s:%d", names[i], session->port);
        if (strcmp(host, wanted) == 0) return true;
    }
    return false;
}

bool gls_session_has_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 && strcmp(origin + sizeof scheme - 1, host) == 0;
}

gls_right gls_session_token_right(const gls_session *session, const char *text)
{
    unsigned differ[GLS_RIGHTS] = {0};
    if (strlen(text) != GLS_TOKEN_DIGITS) return GLS_RIGHT_NONE;
    for (size_t i = 0; i < GLS_TOKEN_DIGITS; i++)
        for (int right = GLS_RIGHT_LOOK; right < GLS_RIGHTS; right++)
            differ[right] |= (unsigned)(text[i] ^ session->token[right][i]);
    return differ[GLS_RIGHT_CHANGE] == 0 ? GLS_RIGHT_CHANGE
           : differ[GLS_RIGHT_LOOK] == 0 ? GLS_RIGHT_LOOK
                                         : GLS_RIGHT_NONE;
}

gls_right gls_session_cookie_right(const gls_session *session, const char *cookies)
{
    gls_right found = GLS_RIGHT_NONE;
    const size_t n = strlen(session->cookie);
    /* name=value; name=value */
    while (*cookies) {
        char value[GLS_TOKEN_DIGITS + 2];
        const size_t all = strcspn(cookies, ";");
        if (all > n && strncmp(cookies, session->cookie, n) == 0 && cookies[n] == '=') {
            snprintf(value, sizeof value, "%.*s", (int)(all - n - 1), cookies + n + 1);
            const gls_right right = gls_session_token_right(session, value);
            if (right > found) found = right;
        }
        cookies += all;
        cookies += strspn(cookies, "; ");
    }
    return found;
}
