"""A server of `glslines view --listen PATH`: view_socket.py TOOL TRACKS.trx. Who may use its socket, and what it leaves. Prints what fails."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys

from view import check, failures

tool, tracks = sys.argv[1:]


def start(path, *words):
    process = subprocess.Popen([tool, "view", tracks, "--listen", path, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def ask(path, *headers, method="GET", what="/lines"):
    """Sends a request, and returns the status and the head of the answer."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(path)
        s.sendall("".join(line + "\r\n" for line in (f"{method} {what} HTTP/1.1", *headers, "")).encode())
        head = b""
        while b"\r\n\r\n" not in head and (part := s.recv(65536)):
            head += part
        head = head.partition(b"\r\n\r\n")[0].decode()
        return int(head.split()[1]) if head else 0, head


process, address = start("./s.sock", "--port", "9123", "--max-streamlines", "9")
try:
    match = re.fullmatch(r"http://localhost:9123/\?token=([0-9a-f]{32})", address)
    check(match, "address", address)
    token = match[1]
    check(stat.S_ISSOCK(os.lstat("s.sock").st_mode) and stat.S_IMODE(os.lstat("s.sock").st_mode) == 0o600, "mode", oct(os.lstat("s.sock").st_mode))
    status, head = ask("s.sock", "Host: localhost:9123", what="/?token=" + token)
    cookie = re.search(r"set-cookie: (glslines-socket-\d+=[0-9a-f]+)", head)
    check(status == 200 and cookie, "first request", head)
    cookie = "Cookie: " + cookie[1]
    for host in ("localhost:9123", "127.0.0.1:80", "[::1]:65535", "localhost"):
        check(ask("s.sock", "Host: " + host, cookie)[0] == 200, "Host", host)
    for host in ("evil.example", "evil.example:9123", "localhost.evil.example:9123", "localhost:", "localhost:9123x", "localhost:999999", "localhost@evil", ""):
        check(ask("s.sock", "Host: " + host, cookie)[0] == 403, "Host is taken:", host)
    check(ask("s.sock", "Host: localhost:9123")[0] == 403, "no token")
    check(ask("s.sock", "Host: localhost:9123", cookie[:-1] + "x")[0] == 403, "a wrong token")
    for origin, wanted in (("http://localhost:9123", 200), ("http://localhost:9124", 403), ("http://evil.example", 403), ("null", 403)):
        check(ask("s.sock", "Host: localhost:9123", cookie, "Origin: " + origin)[0] == wanted, "Origin", origin)
    live = ("Host: localhost:9123", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13")
    check(ask("s.sock", *live, cookie, "Origin: http://localhost:9123", what="/live")[0] == 101, "a WebSocket")
    check(ask("s.sock", *live, cookie, what="/live")[0] == ask("s.sock", *live, "Origin: http://localhost:9123", what="/live")[0] == 403, "WebSockets of others")
    listens = [line.split()[3] for name in ("tcp", "tcp6") for line in open("/proc/net/" + name) if line.split()[1].endswith(":23A3")]
    check("0A" not in listens, "it listens on the port, too", listens)
    other = subprocess.run([tool, "view", tracks, "--listen", "./s.sock"], capture_output=True, text=True)
    check(other.returncode == 4 and "another program listens" in other.stderr and ask("s.sock", "Host: localhost", cookie)[0] == 200, "a socket in use", other)
finally:
    process.send_signal(signal.SIGTERM)
    said = process.communicate()[1]
check(process.returncode == 0 and not os.path.lexists("s.sock"), "the end", process.returncode, os.listdir("."))
check(f"ssh -L 9123:{os.path.realpath('.')}/s.sock " in said, "how to reach it", said)

# a socket that a killed server left gives way; nothing else does
process, _ = start("./s.sock", "-q")
process.kill()
process.communicate()
check(os.path.lexists("s.sock"), "a killed server leaves no socket")
process, address = start("./s.sock", "-q")
check(address, "after a server was killed", process.poll())
process.terminate()
process.communicate()
open("s.sock", "w").close()
for path, code, words in (("./s.sock", 4, "is no socket"), ("./absent/s.sock", 4, "cannot listen"), ("/" + 200 * "x", 2, "shorter"), ("0.0.0.0", 2, "must be 127.0.0.1"), ("s.sock", 2, "must be")):
    other = subprocess.run([tool, "view", tracks, "--listen", path, "-q"], capture_output=True, text=True)
    check(other.returncode == code and words in other.stderr, "--listen", path[:20], other)
check(os.path.getsize("s.sock") == 0, "a file was replaced")
os.remove("s.sock")
sys.exit(len(failures) > 0)
