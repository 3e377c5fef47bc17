/* The server of the window: sends the files of the page, and tracks, selects and saves what its pages ask for over a
 * WebSocket. It listens on the loopback interface or a UNIX socket alone, and refuses whatever does not bring a
 * token. HTTP and WebSockets are those of libwebsockets; one thread serves and tracks, and another one saves. */
#include "view/server.h"

#include "util/status.h"

#ifndef GLS_HAVE_WEBSOCKETS

gls_status gls_view_require_server(void)
{
    return gls_fail(GLS_ERR_UNSUPPORTED, "view: this program was built without libwebsockets: install its package "
                                         "(libwebsockets-dev on Debian) and build the program again, or take the "
                                         "Debian package or the wheel");
}

gls_status gls_view_serve(const gls_view_server *server)
{
    (void)server;
    return gls_view_require_server();
}

#else

#include <libwebsockets.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/allocation.h"
#include "util/clock.h"
#include "util/numbers.h"
#include "view/browser.h"
#include "view/messages.h"
#include "view/save.h"
#include "view/scene_shared.h"
#include "view/socket.h"

/* Bytes of a file that are sent at a time. */
#define CHUNK 65536
/* Largest number of pages that are open. Read-only ones are let in while fewer than half as many are. */
#define MAX_PAGES 16
/* Freed memory is given back when nothing was asked for so many seconds, because the next answer needs as much. */
#define REST 1
/* A connection that takes nothing for so many seconds is closed. */
#define PATIENCE 30

/* Bytes to be sent to a page, behind LWS_PRE bytes that libwebsockets fills. */
typedef struct answer {
    unsigned char *room; /* owned; NULL: nothing */
    size_t bytes;
} answer;

/* Kinds of results that all pages show: what is tracked, and what is selected. */
enum { RESULTS = 2 };

/* A connection: a request, or a page. */
typedef struct connection {
    /* the rest of the file that is sent */
    const char *body;
    size_t left;
    char *owned; /* all of it, if it is freed when it is sent */
    /* --- of a page */
    struct lws *wsi;
    struct connection *next;
    char message[GLS_VIEW_MESSAGE + 1]; /* the part of a message that came so far */
    size_t bytes;
    bool asks; /* the last request of a place has no answer yet */
    gls_view_request request;
    answer text, lines;       /* to be sent; newer ones replace them */
    answer said;              /* to be sent: that of a save or a judgement, of which each has its answer */
    bool changes, joined;     /* it may change the scene; it is sent the scene whenever that changes */
    answer scene;             /* to be sent: the scene, or why it was not changed */
    uint32_t scene_id;        /* number of the request that it answers; 0: of none */
    bool refused;             /* the last scene of this page was not taken */
    answer seen[2 * RESULTS]; /* to be sent: results of other pages, of each kind text and streamlines */
} connection;

/* State of the server. */
typedef struct state {
    const gls_view_server *server;
    gls_session session;
    connection *page; /* list of open pages */
    int n_pages;
    struct lws *asking; /* the page whose request is done */
    bool yields;        /* the run ends for a newer message of that page */
    bool overtaken;     /* it has ended for one */
    gls_view_shared shared;
    answer last[2 * RESULTS]; /* the results that pages show, of each kind text and streamlines */
    double empty_since;       /* time since which no page is open */
    double worked;            /* time of the last answer; 0: memory that it has freed was given back */
    gls_view_saving *saving;  /* NULL: nothing is saved */
    connection *saver;        /* the page that saves; NULL: it is closed */
    uint32_t save_id;         /* number of its request */
    gls_view_browser browser;
    lws_sorted_usec_list_t tick;
} state;

/* Sent with each answer. */
static const struct lws_protocol_vhost_options no_sniff = {NULL, NULL, "x-content-type-options:", "nosniff"},
                                               no_store = {&no_sniff, NULL, "cache-control:", "no-store"},
                                               no_referrer = {&no_store, NULL, "referrer-policy:", "no-referrer"},
                                               own = {&no_referrer, NULL,
                                                      "cross-origin-resource-policy:", "same-origin"},
                                               policy = {&own, NULL, "content-security-policy:",
                                                         "default-src 'self'; frame-ancestors 'none'; base-uri "
                                                         "'none'; form-action 'none'; object-src 'none'"};

/* --- Requests. */

/* Sends the head of an answer, and lets libwebsockets ask for its body. cookie: sets it; NULL: none. Returns whether
 * the connection has to be closed. */
static int respond(struct lws *wsi, connection *c, unsigned code, const char *type, const char *body, size_t bytes,
                   const char *cookie)
{
    unsigned char head[LWS_PRE + 2048], *start = head + LWS_PRE, *at = start, *end = head + sizeof head - 1;
    if (lws_add_http_common_headers(wsi, code, type, bytes, &at, end)) return 1;
    if (cookie && lws_add_http_header_by_name(wsi, (const unsigned char *)"set-cookie:", (const unsigned char *)cookie,
                                              (int)strlen(cookie), &at, end))
        return 1;
    if (lws_finalize_write_http_header(wsi, start, &at, end)) return 1;
    c->body = body;
    c->left = bytes;
    lws_callback_on_writable(wsi);
    return 0;
}

/* Refuses a request with a line of text. */
static int refuse(struct lws *wsi, connection *c, unsigned code, const char *why)
{
    return respond(wsi, c, code, "text/plain; charset=utf-8", why, strlen(why), NULL);
}

/* Copies a header; "" if there is none, or if it is too long. Returns whether there is one. */
static bool header(struct lws *wsi, enum lws_token_indexes which, char *text, int size)
{
    const int n = lws_hdr_total_length(wsi, which);
    if (n <= 0 || n >= size || lws_hdr_copy(wsi, text, size, which) < 0) *text = 0;
    return n > 0;
}

/* Why the headers of a request are refused, besides its token. NULL: they are not. A browser sends Origin with each
 * WebSocket; needs_origin: refuse without it. */
static const char *check_names(const state *s, struct lws *wsi, bool needs_origin)
{
    char host[128], origin[160];
    header(wsi, WSI_TOKEN_HOST, host, sizeof host);
    if (!gls_session_has_host(&s->session, host)) return "Host: is not this server by a name of this machine\n";
    const bool given = header(wsi, WSI_TOKEN_ORIGIN, origin, sizeof origin);
    if ((given || needs_origin) && !gls_session_has_origin(origin, host)) return "Origin: is another site\n";
    return NULL;
}

/* Returns the right that the token in the cookie of a request gives. */
static gls_right right_of(const state *s, struct lws *wsi)
{
    char cookies[2048];
    return header(wsi, WSI_TOKEN_HTTP_COOKIE, cookies, sizeof cookies) ? gls_session_cookie_right(&s->session, cookies)
                                                                       : GLS_RIGHT_NONE;
}

/* Reads a picture at a path /picture/PARTICIPANT/PICTURE, two numbers, or the list of participants. */
static gls_status read_review(const gls_view_review *review, const char *path, gls_text *bytes)
{
    char number[32];
    const char *rest = path + strlen("/picture/"), *slash = strchr(rest, '/');
    uint64_t participant, picture;
    if (strcmp(path, "/participants") == 0) return gls_view_review_list(review, bytes);
    snprintf(number, sizeof number, "%.*s", slash ? (int)(slash - rest) : 0, rest);
    if (!slash || slash - rest > 9 || !gls_parse_uint64(number, &participant) || !gls_parse_uint64(slash + 1, &picture))
        return gls_fail(GLS_ERR_ARGUMENT, "there is no such picture");
    return gls_view_review_picture(review, participant, picture, bytes);
}

/* Answers a request for a part of a data set. */
static int answer_review(const state *s, struct lws *wsi, connection *c, const char *path)
{
    gls_text bytes = {0};
    gls_status status = read_review(s->server->review, path, &bytes);
    const size_t n = bytes.length;
    char *data = gls_text_take(&bytes);
    if (status || !data) {
        free(data);
        return refuse(wsi, c, HTTP_STATUS_NOT_FOUND, "there is no such part\n");
    }
    c->owned = data;
    return respond(wsi, c, HTTP_STATUS_OK, path[2] == 'a' ? "application/json" : "image/png", data, n, NULL);
}

/* Answers a request for a file. The first one has the token in its address: it gets the cookie and a page that leads to
 * `/`, so that the token does not stay in the address. A redirection would not do: after a link of another site or of a
 * file, browsers follow it without a cookie of SameSite=Strict. A token that allows no more than the cookie of before
 * does not replace it: pages that are open keep their right when they are loaded again. */
static int answer_request(const state *s, struct lws *wsi, connection *c, const char *path)
{
    static const char field[] = "token=",
                      lead[] = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>glslines view"
                               "</title><meta http-equiv=\"refresh\" content=\"0; url=/\"></head><body><a href=\"/\">"
                               "glslines view</a></body></html>\n";
    char argument[64], cookie[128];
    if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0)
        return refuse(wsi, c, HTTP_STATUS_METHOD_NOT_ALLOWED, "only GET is answered\n");
    const char *why = check_names(s, wsi, false);
    if (why) return refuse(wsi, c, HTTP_STATUS_FORBIDDEN, why);
    const gls_right right = right_of(s, wsi);
    const bool has_field = strcmp(path, "/") == 0 &&
                           lws_hdr_copy_fragment(wsi, argument, sizeof argument, WSI_TOKEN_HTTP_URI_ARGS, 0) > 0 &&
                           strncmp(argument, field, sizeof field - 1) == 0;
    const gls_right given =
        has_field ? gls_session_token_right(&s->session, argument + sizeof field - 1) : GLS_RIGHT_NONE;
    if (given) {
        snprintf(cookie, sizeof cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/", s->session.cookie,
                 s->session.token[given > right ? given : right]);
        return respond(wsi, c, HTTP_STATUS_OK, "text/html; charset=utf-8", lead, sizeof lead - 1, cookie);
    }
    if (!right)
        return refuse(wsi, c, HTTP_STATUS_FORBIDDEN,
                      "the token is missing or wrong: open the address that 'glslines view' printed\n");
    if (s->server->review->n > 0 && (strncmp(path, "/picture/", 9) == 0 || strcmp(path, "/participants") == 0))
        return answer_review(s, wsi, c, path);
    const gls_view_file *file = gls_view_contents_find(s->server->contents, path);
    if (!file) return refuse(wsi, c, HTTP_STATUS_NOT_FOUND, "there is no such file\n");
    return respond(wsi, c, HTTP_STATUS_OK, file->type, file->bytes, file->size, NULL);
}

/* Refuses CONNECT, for which libwebsockets would hand on what follows as it comes. Returns -1: the connection ends. */
static int refuse_tunnel(struct lws *wsi)
{
    static const char answer[] =
        "HTTP/1.1 405 Method Not Allowed\r\nallow: GET\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    unsigned char room[LWS_PRE + sizeof answer];
    memcpy(room + LWS_PRE, answer, sizeof answer);
    lws_write(wsi, room + LWS_PRE, sizeof answer - 1, LWS_WRITE_RAW);
    return -1;
}

/* Sends the next part of a body. */
static int send_body(struct lws *wsi, connection *c)
{
    static unsigned char room[LWS_PRE + CHUNK];
    const size_t n = c->left < CHUNK ? c->left : CHUNK;
    if (!c->body) return 0;
    memcpy(room + LWS_PRE, c->body, n);
    lws_set_timeout(wsi, PENDING_TIMEOUT_HTTP_CONTENT, PATIENCE);
    if (lws_write(wsi, room + LWS_PRE, n, n == c->left ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP) < (int)n) return -1;
    c->body += n;
    c->left -= n;
    if (c->left == 0) {
        c->body = NULL;
        free(c->owned);
        c->owned = NULL;
        return lws_http_transaction_completed(wsi) ? -1 : 0;
    }
    lws_callback_on_writable(wsi);
    return 0;
}

/* Refuses a WebSocket that is not of a page of this server. */
static int confirm_page(const state *s, struct lws *wsi)
{
    char path[16];
    header(wsi, WSI_TOKEN_GET_URI, path, sizeof path);
    const gls_right right = right_of(s, wsi);
    const int most = right == GLS_RIGHT_CHANGE ? MAX_PAGES : MAX_PAGES / 2;
    const unsigned code = strcmp(path, "/live") != 0            ? HTTP_STATUS_NOT_FOUND
                          : check_names(s, wsi, true) || !right ? HTTP_STATUS_FORBIDDEN
                          : s->n_pages >= most                  ? HTTP_STATUS_SERVICE_UNAVAILABLE
                                                                : 0;
    if (!code) return 0;
    lws_return_http_status(wsi, code, NULL);
    return -1;
}

/* --- Pages. */

/* Begins the text of an answer, behind the bytes that libwebsockets fills. */
static gls_text begin_answer(void)
{
    gls_text text = {0};
    char *room = gls_text_extend(&text, LWS_PRE);
    if (room) memset(room, 0, LWS_PRE);
    return text;
}

/* Takes a text of begin_answer() as what is to be sent, in place of what was not sent yet. */
static void replace(answer *a, gls_text *text)
{
    free(a->room);
    a->bytes = text->length - LWS_PRE;
    a->room = (unsigned char *)gls_text_take(text);
}

/* Sends one of the answers. */
static int send_answer(struct lws *wsi, connection *c)
{
    /* the scene comes before what is selected in it, and a text before its streamlines */
    answer *const all[] = {&c->scene,   &c->text,    &c->lines,   &c->said,
                           &c->seen[0], &c->seen[1], &c->seen[2], &c->seen[3]};
    enum { ALL = sizeof all / sizeof *all };
    size_t i = 0;
    while (i < ALL && !all[i]->room) i++;
    if (i == ALL) return 0;
    const bool binary = all[i] == &c->lines || (i >= ALL - 2 * RESULTS && i % 2 == 1);
    /* libwebsockets keeps the part that the page does not take yet, and asks for nothing more until it is sent */
    const int sent = lws_write(wsi, all[i]->room + LWS_PRE, all[i]->bytes, binary ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
    free(all[i]->room);
    all[i]->room = NULL;
    if (sent < 0) return -1;
    while (i < ALL && !all[i]->room) i++;
    if (i < ALL) lws_callback_on_writable(wsi);
    return 0;
}

/* Ends a page with a reason that it can show. */
static int end_page(struct lws *wsi, enum lws_close_status code, const char *why)
{
    lws_close_reason(wsi, code, (unsigned char *)(uintptr_t)why, strnlen(why, 123));
    return -1;
}

/* Sends an answer. Takes the text. */
static void send_text(connection *c, answer *to, gls_text *text)
{
    replace(to, text);
    lws_callback_on_writable(c->wsi);
}

/* Sends the last error as the answer to request number id. exists: files exist. */
static void send_error(connection *c, answer *to, uint32_t id, bool exists)
{
    gls_text text = begin_answer();
    gls_view_answer_error(id, gls_last_error(), exists, &text);
    send_text(c, to, &text);
}

/* --- The scene that pages share. */

/* Sends the scene to a page, as the answer to request number id; 0: to none. It takes the place of an answer that was
 * not sent yet, and its number. taken: the request has made the scene of now. */
static void send_scene(const state *s, connection *c, uint32_t id, bool taken)
{
    gls_text text = begin_answer();
    if (id > 0 || !c->scene.room) c->scene_id = id;
    if (gls_view_shared_describe(&s->shared, c->scene_id, c->changes, taken, &text))
        gls_text_finish(&text);
    else
        send_text(c, &c->scene, &text);
}

/* Sends the scene to all pages but one, which may be NULL. */
static void spread_scene(const state *s, const connection *but)
{
    for (connection *c = s->page; c; c = c->next)
        if (c->joined && c != but) send_scene(s, c, 0, false);
}

/* Frees an answer. */
static void drop(answer *a)
{
    free(a->room);
    *a = (answer){.bytes = 0};
}

/* Sends the last result of a kind to a page that did not ask for it. A failure leaves the page without it. */
static void send_seen(const state *s, connection *c, int k)
{
    for (int i = 2 * k; i < 2 * k + 2; i++) {
        gls_text copy = begin_answer();
        drop(&c->seen[i]);
        if (s->last[i].room) gls_text_append(&copy, (const char *)s->last[i].room + LWS_PRE, s->last[i].bytes);
        if (!copy.failed && copy.length > LWS_PRE) send_text(c, &c->seen[i], &copy);
        gls_text_finish(&copy);
    }
}

/* Does what a page asks for that changes the scene, or lets it take part. */
static void share(state *s, connection *c, const gls_view_request *request)
{
    const uint64_t version = s->shared.version;
    if (request->kind == GLS_VIEW_SCENE && gls_view_shared_take(&s->shared, request, c->message, c)) {
        send_error(c, &c->scene, request->id, false);
        return;
    }
    if (request->kind == GLS_VIEW_UNDO) gls_view_shared_undo(&s->shared, request);
    const bool taken = s->shared.version != version;
    c->refused = request->kind == GLS_VIEW_SCENE && !taken;
    if (taken) spread_scene(s, c);
    send_scene(s, c, request->id, taken);
    if (request->kind != GLS_VIEW_JOIN) return;
    c->joined = true;
    for (int k = 0; k < RESULTS; k++) send_seen(s, c, k);
}

/* Keeps a result as pages get it that did not ask for it: {"seen": ...}, then its streamlines with the number 0. */
static void keep_result(state *s, int k, const gls_text *text, const gls_text *lines)
{
    gls_text wrapped = begin_answer(), copy = begin_answer();
    gls_text_puts(&wrapped, "{\"seen\":");
    gls_text_append(&wrapped, text->data + LWS_PRE, text->length - LWS_PRE);
    gls_text_puts(&wrapped, "}");
    gls_text_append(&copy, lines->data + LWS_PRE, lines->length - LWS_PRE);
    drop(&s->last[2 * k]);
    drop(&s->last[2 * k + 1]);
    if (!wrapped.failed && !copy.failed && copy.length > LWS_PRE + 8) {
        memset(copy.data + LWS_PRE + 4, 0, 4);
        replace(&s->last[2 * k], &wrapped);
        replace(&s->last[2 * k + 1], &copy);
    }
    gls_text_finish(&wrapped);
    gls_text_finish(&copy);
}

/* Keeps a result that all pages show, and sends it to all but the page that asked, which forgets an older one. The
 * result of a scene that was not taken is not kept: its page gets that of the scene of now behind it. */
static void spread_result(state *s, connection *asked, const gls_text *text, const gls_text *lines)
{
    const gls_view_request *request = &asked->request;
    const int k = request->kind == GLS_VIEW_SELECT;
    if ((request->kind != GLS_VIEW_TRACK && request->kind != GLS_VIEW_SELECT) || !asked->joined) return;
    if (asked->refused) {
        send_seen(s, asked, k);
        return;
    }
    keep_result(s, k, text, lines);
    drop(&asked->seen[2 * k]);
    drop(&asked->seen[2 * k + 1]);
    for (connection *c = s->page; c; c = c->next)
        if (c->joined && c != asked) send_seen(s, c, k);
}

/* Begins to save what a page asks for. */
static void begin_save(state *s, connection *c, const gls_view_request *request)
{
    bool exists = false;
    gls_status status = s->saving ? gls_fail(GLS_ERR_OUTPUT, "a save goes on: wait until it is done")
                                  : gls_view_save_begin(s->server->dissection, s->server->contents->image, request,
                                                        &s->saving, &exists);
    if (status) {
        send_error(c, &c->said, request->id, exists);
        return;
    }
    s->saver = c;
    s->save_id = request->id;
}

/* Answers the page that saved, if the save has ended. */
static void end_save(state *s)
{
    if (!s->saving || !gls_view_save_ended(s->saving)) return;
    gls_text text = begin_answer();
    gls_status status = gls_view_save_end(s->saving, &text);
    s->saving = NULL;
    if (s->saver && status)
        send_error(s->saver, &s->saver->said, s->save_id, false);
    else if (s->saver)
        send_text(s->saver, &s->saver->said, &text);
    gls_text_finish(&text);
}

/* Notes what a page judges. */
static void judge(state *s, connection *c, const gls_view_request *request)
{
    gls_text text = begin_answer();
    if (gls_view_review_judge(s->server->review, request, &text)) {
        send_error(c, &c->said, request->id, false);
    } else {
        send_text(c, &c->said, &text);
        spread_scene(s, c); /* other pages read the table again */
    }
    gls_text_finish(&text);
}

/* Whether a page may ask for this: a read-only one asks for what its slices show. */
static bool may_ask(const connection *c, gls_view_kind kind)
{
    return c->changes || kind == GLS_VIEW_JOIN || kind == GLS_VIEW_PICK || kind == GLS_VIEW_GLYPHS ||
           kind == GLS_VIEW_VOXELS;
}

/* Receives a part of a message. */
static int receive(state *s, struct lws *wsi, connection *c, const void *part, size_t bytes)
{
    static gls_view_request request;
    if (lws_frame_is_binary(wsi)) return end_page(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE, "message: must be text");
    if (c->bytes + bytes + lws_remaining_packet_payload(wsi) > GLS_VIEW_MESSAGE)
        return end_page(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE, "message: is too large");
    memcpy(c->message + c->bytes, part, bytes);
    c->bytes += bytes;
    if (lws_remaining_packet_payload(wsi) > 0 || !lws_is_final_fragment(wsi)) return 0;
    c->message[c->bytes] = 0;
    gls_status status = gls_view_request_read(c->message, c->bytes, &request);
    c->bytes = 0;
    if (status == GLS_ERR_INPUT) return end_page(wsi, LWS_CLOSE_STATUS_PROTOCOL_ERR, gls_last_error());
    const bool stays = request.kind == GLS_VIEW_SAVE || request.kind == GLS_VIEW_JUDGE;
    const bool shares =
        request.kind == GLS_VIEW_JOIN || request.kind == GLS_VIEW_SCENE || request.kind == GLS_VIEW_UNDO;
    if (!status && !may_ask(c, request.kind))
        status = gls_fail(GLS_ERR_ARGUMENT, "this page is read-only: open the first address that 'glslines view' "
                                            "printed to change the scene");
    if (shares) c->scene_id = request.id;
    if (status) {
        send_error(c, stays ? &c->said : shares ? &c->scene : &c->text, request.id, false);
    } else if (shares) {
        share(s, c, &request);
    } else if (request.kind == GLS_VIEW_SAVE) {
        begin_save(s, c, &request);
    } else if (request.kind == GLS_VIEW_JUDGE) {
        judge(s, c, &request);
    } else {
        /* a request that is not answered yet is replaced: the page wants the last place of its sphere */
        c->request = request;
        c->asks = true;
    }
    return 0;
}

/* Adds a page to the list. */
static void open_page(state *s, struct lws *wsi, connection *c)
{
    *c = (connection){.wsi = wsi, .next = s->page, .changes = right_of(s, wsi) == GLS_RIGHT_CHANGE};
    s->page = c;
    s->n_pages++;
    gls_view_browser_close(&s->browser);
}

/* Removes a page from the list. */
static void close_page(state *s, connection *c)
{
    connection **at = &s->page;
    while (*at && *at != c) at = &(*at)->next;
    if (!*at) return;
    *at = c->next;
    free(c->text.room);
    free(c->lines.room);
    free(c->said.room);
    free(c->scene.room);
    for (int k = 0; k < 2 * RESULTS; k++) free(c->seen[k].room);
    if (s->shared.by == c) s->shared.by = NULL;
    if (s->saver == c) s->saver = NULL;
    if (--s->n_pages == 0) s->empty_since = gls_clock_seconds();
}

/* Handles an event of a connection. libwebsockets calls it for each. */
static int on_event(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t bytes)
{
    state *s = lws_context_user(lws_get_context(wsi));
    connection *c = user;
    switch (reason) {
    case LWS_CALLBACK_HTTP: return answer_request(s, wsi, c, in);
    case LWS_CALLBACK_RAW_ADOPT: return refuse_tunnel(wsi);
    case LWS_CALLBACK_HTTP_WRITEABLE: return send_body(wsi, c);
    case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE: return confirm_page(s, wsi);
    case LWS_CALLBACK_ESTABLISHED: open_page(s, wsi, c); return 0;
    case LWS_CALLBACK_RECEIVE: return receive(s, wsi, c, in, bytes);
    case LWS_CALLBACK_SERVER_WRITEABLE: return send_answer(wsi, c);
    case LWS_CALLBACK_CLOSED: close_page(s, c); return 0;
    case LWS_CALLBACK_CLOSED_HTTP:
        if (c) free(c->owned);
        if (c) c->owned = NULL;
        return 0;
    default: return 0;
    }
}

/* --- The server. */

/* gls_monitor.step of tracking: goes on as long as the server does, while the page is there, and, if the run yields,
 * until the page sends something. libwebsockets hears of all that only when the run has ended. */
static bool step(void *user, const gls_progress *progress)
{
    state *s = user;
    struct pollfd page = {.fd = lws_get_socket_fd(s->asking), .events = POLLRDHUP};
    (void)progress;
    if (s->yields) page.events |= POLLIN;
    const bool goes_on = poll(&page, 1, 0) <= 0;
    s->overtaken = !goes_on && page.revents == POLLIN;
    return goes_on && s->server->go_on();
}

/* Does what a page asks for. */
static gls_status do_request(state *s, const connection *c, const gls_view_request *request, gls_text *text,
                             gls_text *lines)
{
    const gls_view_server *server = s->server;
    const gls_monitor monitor = {.user = s, .step = step};
    s->asking = c->wsi;
    s->overtaken = false;
    switch (request->kind) {
    case GLS_VIEW_SELECT: return gls_view_dissection_select(server->dissection, request, text, lines);
    case GLS_VIEW_PICK: return gls_view_dissection_pick(server->dissection, request, text);
    case GLS_VIEW_GLYPHS: return gls_view_gallery_glyphs(&server->contents->gallery, request, text, lines);
    case GLS_VIEW_PAINT: return gls_view_paint_stroke(server->paint, request, text, lines);
    case GLS_VIEW_VOXELS: return gls_view_paint_show(server->paint, request, text, lines);
    default: return gls_view_live_track(server->live, server->paint, request, &monitor, text, lines);
    }
}

/* Does what a page asks for. The answer to a request that fails says why. Streamlines of all seeds yield to what the
 * page sends next: to another request for good, to other messages for the moment. A preview does not, because a mouse
 * that moves on would leave the page without any. */
static void attend(state *s, connection *c)
{
    gls_text text = begin_answer(), lines = begin_answer();
    s->yields = c->request.kind == GLS_VIEW_TRACK && !c->request.preview;
    const gls_status status = do_request(s, c, &c->request, &text, &lines);
    s->yields = false;
    c->asks = status == GLS_ERR_CANCELLED && s->overtaken;
    if (!status) {
        spread_result(s, c, &text, &lines);
        send_text(c, &c->text, &text);
        if (lines.length > LWS_PRE) replace(&c->lines, &lines);
    } else if (!c->asks) {
        send_error(c, &c->text, c->request.id, false);
    }
    gls_text_finish(&text);
    gls_text_finish(&lines);
    s->worked = gls_clock_seconds();
}

/* Does what pages ask for. */
static void work(state *s)
{
    for (connection *c = s->page; c; c = c->next)
        if (c->asks) attend(s, c);
    end_save(s);
    gls_view_browser_attend(&s->browser);
    if (s->worked > 0 && gls_clock_seconds() - s->worked > REST) {
        gls_memory_give_back();
        s->worked = 0;
    }
}

/* Does nothing: lws_service() returns when its time has come, so that the server sees signals and the clock. */
static void wake(lws_sorted_usec_list_t *tick)
{
    (void)tick;
}

/* Messages of libwebsockets, for developers: any program of this machine can cause them by a bad request. */
static void log_line(int level, const char *line)
{
    (void)level;
    gls_log(GLS_LOG_DEBUG, "libwebsockets: %.*s", (int)strcspn(line, "\n"), line);
}

/* Listens on one address of the loopback interface, or on a UNIX socket. NULL: it cannot. */
static struct lws_vhost *listen_on(struct lws_context *context, const char *name, int port)
{
    static const struct lws_protocols protocols[] = {{"glslines", on_event, sizeof(connection), CHUNK, 0, NULL, 0},
                                                     {NULL, NULL, 0, 0, 0, NULL, 0}};
    /* a page whose machine is gone is closed */
    static const lws_retry_bo_t alive = {.secs_since_valid_ping = PATIENCE, .secs_since_valid_hangup = 2 * PATIENCE};
    const struct lws_context_creation_info info = {
        .vhost_name = name,
        .iface = name,
        .port = port,
        .protocols = protocols,
        .headers = &policy,
        .server_string = "glslines",
#ifdef LWS_WITH_TLS /* the member is there with TLS alone */
        .alpn = "http/1.1",
#endif
        .timeout_secs = PATIENCE,
        .keepalive_timeout = PATIENCE,
        .retry_and_idle_policy = &alive,
        .options = LWS_SERVER_OPTION_FAIL_UPON_UNABLE_TO_BIND | (gls_view_is_socket(name) ? LWS_SERVER_OPTION_UNIX_SOCK
                                                                 : strchr(name, ':')      ? 0
                                                                                     : LWS_SERVER_OPTION_DISABLE_IPV6),
    };
    return lws_create_vhost(context, &info);
}

/* Listens on a UNIX socket, which this user alone can open. */
static gls_status listen_on_socket(state *s, struct lws_context *context)
{
    const char *path = s->server->listen;
    const int port = s->server->port > 0 ? s->server->port : GLS_VIEW_PORT;
    gls_status status = gls_view_socket_make_way(path);
    if (status) return status;
    const mode_t mask = umask(0177);
    const bool listens = context && listen_on(context, path, 0);
    umask(mask);
    if (!listens || chmod(path, 0600) != 0)
        return gls_fail(GLS_ERR_OUTPUT, "--listen: %s: the server cannot listen there: give another path", path);
    gls_session_listen(&s->session, port, path);
    return GLS_OK;
}

/* Listens on addresses of the loopback interface. */
static gls_status listen_on_port(state *s, struct lws_context *context)
{
    const char *first = s->server->listen ? s->server->listen : "127.0.0.1";
    struct lws_vhost *host = context ? listen_on(context, first, s->server->port) : NULL;
    if (!host)
        return gls_fail(GLS_ERR_OUTPUT,
                        "--port %d: the server cannot listen on %s: give another port, or 0 for any that is free",
                        s->server->port, first);
    gls_session_listen(&s->session, lws_get_vhost_listen_port(host), NULL);
    s->session.ipv6 = strchr(first, ':');
    if (!s->server->listen) listen_on(context, "::1", s->session.port); /* where there is IPv6 */
    return GLS_OK;
}

gls_status gls_view_require_server(void)
{
    return GLS_OK;
}

gls_status gls_view_serve(const gls_view_server *server)
{
    state s = {.server = server, .empty_since = gls_clock_seconds()};
    gls_status status = gls_session_begin(&s.session);
    if (status) return status;
    const struct lws_context_creation_info info = {
        .port = CONTEXT_PORT_NO_LISTEN,
        .user = &s,
        .gid = (gid_t)-1,
        .uid = (uid_t)-1,
        .max_http_header_data = 4096,
        .options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS,
    };
    lws_set_log_level(LLL_ERR | LLL_WARN, log_line);
    struct lws_context *context = lws_create_context(&info);
    status = gls_view_is_socket(server->listen) ? listen_on_socket(&s, context) : listen_on_port(&s, context);
    if (!status) server->ready(&s.session);
    if (!status && server->open) gls_view_browser_open(&s.browser, &s.session);
    while (!status && server->go_on()) {
        if (server->idle_seconds > 0 && s.n_pages == 0 && !s.saving &&
            gls_clock_seconds() - s.empty_since > server->idle_seconds)
            break;
        lws_sul_schedule(context, 0, &s.tick, wake, 200 * LWS_US_PER_MS);
        if (lws_service(context, 0) < 0) break;
        work(&s);
    }
    lws_sul_cancel(&s.tick);
    gls_view_browser_close(&s.browser);
    gls_text text = {0};
    (void)gls_view_save_end(s.saving, &text);
    gls_text_finish(&text);
    if (context) lws_context_destroy(context);
    gls_view_shared_finish(&s.shared);
    for (int k = 0; k < 2 * RESULTS; k++) free(s.last[k].room);
    if (s.session.socket) unlink(s.session.socket);
    return status;
}

#endif
