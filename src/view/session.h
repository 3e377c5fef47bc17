/* Who may use the window: the secret tokens of a server, and the checks of the headers of a request. */
#ifndef GLS_VIEW_SESSION_H
#define GLS_VIEW_SESSION_H

#include <stdbool.h>

#include <glslines/common.h>

/* Digits of a token: 128 random bits in hexadecimal. */
#define GLS_TOKEN_DIGITS 32
/* Bytes of an address. */
#define GLS_ADDRESS 96

/* Right of a page: none, to look, or to look and change. */
typedef enum gls_right { GLS_RIGHT_NONE, GLS_RIGHT_LOOK, GLS_RIGHT_CHANGE, GLS_RIGHTS } gls_right;

/* A server's session. */
typedef struct gls_session {
    char token[GLS_RIGHTS][GLS_TOKEN_DIGITS + 1]; /* of each right but GLS_RIGHT_NONE */
    char cookie[32];    /* name of the cookie; it differs, because browsers send cookies to all ports of a machine */
    int port;           /* on which it listens; of a socket, that of the browser's machine which ssh is to bring */
    bool ipv6;          /* it listens on ::1, and not on 127.0.0.1 */
    const char *socket; /* path of the UNIX socket on which it listens, borrowed; NULL: on a port */
} gls_session;

/* Draws the tokens. */
gls_status gls_session_begin(gls_session *session);
/* Sets port and socket, and with them the name of the cookie. */
void gls_session_listen(gls_session *session, int port, const char *socket);
/* Writes the address of the page, with the token of a right, for a browser of this machine, or that to which ssh brings
 * a socket. */
void gls_session_address(const gls_session *session, gls_right right, char text[GLS_ADDRESS]);
/* Whether a header Host names this machine by a loopback name, and the port of the server; for a socket, which ssh
 * brings to any port, whatever port. A page of another name that leads to this machine (DNS rebinding) does not. */
bool gls_session_has_host(const gls_session *session, const char *host);
/* Whether a header Origin is the server itself, under the name of the header Host. */
bool gls_session_has_origin(const char *origin, const char *host);
/* The right of which a text is the token. Takes the same time for all texts of its length. */
gls_right gls_session_token_right(const gls_session *session, const char *text);
/* The highest right whose token a header Cookie has in a cookie of the session. */
gls_right gls_session_cookie_right(const gls_session *session, const char *cookies);

#endif
