"""Messages between the judge and a candidate's process: a JSON object and blocks of bytes.

The judge reads them from an untrusted process: sizes are limited, and only JSON is decoded.
"""

import json
import socket
import struct
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

_HEAD = struct.Struct("<II")
_MOST_TEXT, _MOST_BLOCKS, _MOST_BYTES = 64 << 20, 64, 4 << 30

Message = Tuple[Dict[str, Any], List[bytes]]


class Closed(Exception):
    """The other side has ended, or sends nothing usable."""


class Garbled(Closed):
    """The other side has sent something other than a message."""


class TimedOut(Exception):
    """No whole message arrived in time."""


def send(to: socket.socket, what: Dict[str, Any], blocks: Sequence[bytes] = ()) -> None:
    """Sends one message; raises Closed."""
    text = json.dumps({**what, "_blocks": [len(b) for b in blocks]}).encode()
    try:
        to.sendall(_HEAD.pack(len(text), len(blocks)) + text)
        for block in blocks:
            to.sendall(block)
    except OSError as error:
        raise Closed(str(error)) from error


def receive(source: socket.socket, deadline: Optional[float] = None,
            wait: Optional[Callable[[float], None]] = None) -> Message:
    """Receives one message. deadline: by time.monotonic(). wait(seconds): called before each read,
    to do other work until `source` is readable. Raises Closed, TimedOut."""

    def read(size: int) -> bytes:
        out = bytearray()
        while len(out) < size:
            if deadline is not None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimedOut()
                if wait is not None:
                    wait(left)
                source.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                got = source.recv(min(size - len(out), 1 << 20))
            except (socket.timeout, BlockingIOError) as error:
                raise TimedOut() from error
            except OSError as error:
                raise Closed(str(error)) from error
            if not got:
                raise Closed("the process has ended")
            out += got
        return bytes(out)

    text_size, blocks = _HEAD.unpack(read(_HEAD.size))
    if text_size > _MOST_TEXT or blocks > _MOST_BLOCKS:
        raise Garbled("no message of this protocol")
    try:
        what = json.loads(read(text_size))
        sizes = [int(s) for s in what["_blocks"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Garbled("no message of this protocol") from error
    if len(sizes) != blocks or any(s < 0 for s in sizes) or sum(sizes) > _MOST_BYTES:
        raise Garbled("no message of this protocol")
    return what, [read(s) for s in sizes]
