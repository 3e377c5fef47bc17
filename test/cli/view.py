"""A client of `glslines view` for its tests, with the standard library alone: requests, a WebSocket, streamlines."""

import base64
import gzip
import json
import os
import re
import socket
import struct
import sys
import zipfile


class Closed(Exception):
    """The other side ended the connection: code and reason of its last frame; None: without one."""

    def __init__(self, code=None, reason=""):
        super().__init__(code, reason)
        self.code, self.reason = code, reason


class Server:
    """The server at an address that `glslines view` printed."""

    def __init__(self, address):
        self.port, self.token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", address).groups()
        self.port = int(self.port)
        self.host = f"127.0.0.1:{self.port}"
        self.cookie = f"glslines-{self.port}={self.token}"

    def headers(self, changes=None):
        """The headers of a request of its own page; changes: other values, None leaves one out."""
        headers = {"Host": self.host, "Cookie": self.cookie, **(changes or {})}
        return "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value is not None)

    def connect(self, family=socket.AF_INET):
        s = socket.socket(family)
        s.settimeout(20)
        s.connect(("127.0.0.1" if family == socket.AF_INET else "::1", self.port))
        return s

    def raw(self, data, family=socket.AF_INET):
        """Sends bytes, and returns what comes until the server has answered or ended: (status, headers, body)."""
        with self.connect(family) as s:
            try:
                s.sendall(data)
                head = b""
                while b"\r\n\r\n" not in head:
                    part = s.recv(65536)
                    if not part:
                        return 0, {}, b""
                    head += part
                head, _, body = head.partition(b"\r\n\r\n")
                lines = head.decode().split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines[1:])
                while len(body) < int(headers.get("content-length", 0)):
                    part = s.recv(65536)
                    if not part:
                        break
                    body += part
                return int(lines[0].split()[1]), headers, body
            except ConnectionError:
                return 0, {}, b""

    def get(self, path, changes=None, method="GET", family=socket.AF_INET):
        return self.raw(f"{method} {path} HTTP/1.1\r\n{self.headers(changes)}\r\n".encode(), family)


class Page:
    """A WebSocket to any server; status: of the answer, 101 where the server took it."""

    def __init__(self, host, port, path, headers):
        self.s = socket.create_connection((host, port), 20)
        self.rest = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(f"GET {path} HTTP/1.1\r\n{headers}Upgrade: websocket\r\nConnection: Upgrade\r\n"
                       f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        head = b""
        try:
            while b"\r\n\r\n" not in head:
                part = self.s.recv(65536)
                if not part:
                    break
                head += part
        except ConnectionError:
            pass
        self.status = int(head.split()[1]) if head else 0
        self.rest = head.partition(b"\r\n\r\n")[2] if self.status == 101 else b""

    def close(self):
        self.s.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data, opcode=None, final=True):
        """Sends a text, or bytes as a binary frame."""
        opcode = (1 if isinstance(data, str) else 2) if opcode is None else opcode
        data = data.encode() if isinstance(data, str) else data
        n, mask = len(data), os.urandom(4)
        head = struct.pack(">BB", opcode | 128 * final, 128 | (n if n < 126 else 126 if n < 65536 else 127))
        head += struct.pack(">H", n) if 126 <= n < 65536 else struct.pack(">Q", n) if n >= 65536 else b""
        repeated = (mask * (n // 4 + 1))[:n]
        masked = (int.from_bytes(data, "big") ^ int.from_bytes(repeated, "big")).to_bytes(n, "big")
        self.s.sendall(head + mask + masked)

    def take(self, n):
        while len(self.rest) < n:
            try:
                part = self.s.recv(1 << 20)
            except ConnectionError:
                part = b""
            if not part:
                raise Closed()
            self.rest += part
        data, self.rest = self.rest[:n], self.rest[n:]
        return data

    def receive(self):
        """The next message, text or bytes."""
        whole, kind = b"", None
        while True:
            first, n = self.take(2)
            n = struct.unpack(">H", self.take(2))[0] if n == 126 else struct.unpack(">Q", self.take(8))[0] if n == 127 else n
            data, opcode = self.take(n), first & 15
            if opcode == 8:
                raise Closed(struct.unpack(">H", data[:2])[0] if n >= 2 else None, data[2:].decode())
            if opcode == 9:
                self.send(data, 10)
            if opcode in (0, 1, 2):
                whole, kind = whole + data, opcode or kind
                if first & 128:
                    return whole.decode() if kind == 1 else whole


def open_page(server, changes=None, path="/live"):
    """A WebSocket as the page opens it."""
    return Page("127.0.0.1", server.port, path, server.headers({"Origin": "http://" + server.host, **(changes or {})}))


def decode(data):
    """Streamlines that glslines packed, and the step of their positions, mm."""
    n, points = struct.unpack("<2I", data[:8])
    scale, *origin = struct.unpack("<4f", data[8:24])
    counts = struct.unpack(f"<{n}H", data[24 : 24 + 2 * n])
    assert len(data) == 24 + 2 * n + 6 * points and sum(counts) == points, "sizes of the packed streamlines"
    difference = struct.unpack(f"<{3 * points}H", data[24 + 2 * n :])
    lines, at = [], 0
    for count in counts:
        axes = []
        for axis in range(3):
            v, values = 0, []
            for d in difference[axis * points + at : axis * points + at + count]:
                v = (v + d) & 65535
                values.append(origin[axis] + scale * v)
            axes.append(values)
        lines.append(list(zip(*axes)))
        at += count
    return lines, scale


def read_trx(path):
    """The streamlines of a TRX file."""
    with zipfile.ZipFile(path) as z:
        if not any(name.startswith("positions") for name in z.namelist()):
            return []
        positions, = (name for name in z.namelist() if name.startswith("positions.3.float32"))
        offsets, = (name for name in z.namelist() if name.startswith("offsets."))
        raw, kind = z.read(offsets), "Q" if offsets.endswith("uint64") else "I"
        first = struct.unpack(f"<{len(raw) // struct.calcsize('<' + kind)}{kind}", raw)
        raw = z.read(positions)
        points = list(struct.iter_unpack("<3f", raw))
    return [points[a:b] for a, b in zip(first, first[1:])]


failures = []


def check(passed, *what):
    """Prints what fails, and keeps it in `failures`."""
    if not passed:
        failures.append(what)
        print("FAIL:", *what)


def ask(page, kind, **body):
    """Sends a message with the number 3, and returns the answer."""
    page.send(json.dumps({kind: {"id": 3, **body}}))
    return json.loads(page.receive())


def farthest(a, b):
    """The largest difference of a coordinate of two lists of streamlines; infinite if their numbers of points differ."""
    if [len(line) for line in a] != [len(line) for line in b]:
        return float("inf")
    return max((abs(u - v) for x, y in zip(a, b) for p, q in zip(x, y) for u, v in zip(p, q)), default=0.0)


def write_labels(image, path):
    """Writes an atlas of four labels, quarters of the grid of a NIfTI image: 7 and 8 in front, 2000 and 2001 behind."""
    with gzip.open(image) as f:
        head = bytearray(f.read(352))
    nx, ny, nz = struct.unpack("<3h", head[42:48])
    head[70:74] = struct.pack("<2h", 4, 16)
    head[112:120] = struct.pack("<2f", 1, 0)
    values = [(7, 8, 2000, 2001)[(x < nx // 2) + 2 * (y < ny // 2)] for _ in range(nz) for y in range(ny) for x in range(nx)]
    with open(path, "wb") as f:
        f.write(head + struct.pack(f"<{len(values)}h", *values))


if __name__ == "__main__":
    write_labels(*sys.argv[1:])
