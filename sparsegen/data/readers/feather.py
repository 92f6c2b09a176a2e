"""Feather version 2, which is the file of Arrow IPC, where pyarrow is installed: columns of numbers are features.

pyarrow allocates what a buffer claims to unpack to before it unpacks it. So every message is looked at beforehand: the
sizes that its buffers claim are added up, and nothing is unpacked where the sum is too large. The footer, which could
name other messages, is not read; what is unpacked are the bytes that were looked at.

A message is a flatbuffer. Its tables and their fields, by number (format/Message.fbs and Schema.fbs of Arrow):
Message: version 0, kind of header 1, header 2. Schema: endianness 0. DictionaryBatch: id 0, data 1, is_delta 2.
RecordBatch: length 0, buffers 2 (offset and length of each), compression 3.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from sparsegen.data.arrow_columns import Names, cells, file_rows, is_text, numbers, pyarrow, room_for, wanted_names
from sparsegen.data.compressed import check_expansion
from sparsegen.data.readers import READERS, FileRows, Reader, Wanted
from sparsegen.errors import DataError

MAGIC, MAGIC_OF_VERSION_1 = b"ARROW1", b"FEA1"
BEGIN = 8  # the first message follows the magic and its padding
SCHEMA, DICTIONARY, BATCH = 1, 2, 3  # kinds of headers
VERSION_5 = 4  # of the metadata, since Arrow 1.0; in those before, compression is told in another place
REMEDY = "save it without compression"
MAX_PADDING = 64  # bytes between the last message and the footer; no message is as short


class Claims(NamedTuple):
    """What the messages of a file say of themselves."""

    n_bytes: int
    """Of the file."""
    n_rows: int
    largest: int
    """Bytes of a batch of rows and the dictionaries that it needs, for the batch where they are most."""
    end: int
    """Where the messages end."""


def read(raw: bytes, source: str, wanted: Wanted) -> FileRows:
    """Return the wanted columns of a file."""
    arrow, ipc = pyarrow(source, "a Feather file", "ipc")
    if raw.startswith(MAGIC_OF_VERSION_1):
        raise DataError(f"{source} is a Feather file of version 1; write it again as version 2")
    try:
        return _read_file(arrow, ipc, raw, source, wanted)
    except DataError:
        raise
    except Exception:  # pyarrow raises a dozen types on damaged bytes
        raise DataError(f"{source} is not a readable Feather file; save it again with pandas or pyarrow") from None


def _read_file(arrow: Any, ipc: Any, raw: bytes, source: str, wanted: Wanted) -> FileRows:
    claims = checked_claims(arrow, ipc, raw, source)
    stream = arrow.py_buffer(raw)[BEGIN : claims.end]
    schema = ipc.open_stream(stream).schema
    names = wanted_names(schema.names, wanted, source)
    place = {name: i for i, name in enumerate(schema.names)}
    options = ipc.IpcReadOptions(included_fields=[place[name] for name in (*names.features, *names.texts)])
    reader = ipc.open_stream(stream, options=options)
    return _read_batches(arrow, reader, claims, names, source, wanted)


def _read_batches(arrow: Any, reader: Any, claims: Claims, names: Names, source: str, wanted: Wanted) -> FileRows:
    check_expansion(8 * claims.n_rows * len(names.features), claims.n_bytes, source, REMEDY)  # a bool was one bit
    X = room_for(claims.n_rows, names, source, beside=claims.largest)
    texts: dict[str, list[Any]] = {name: [] for name in names.texts}
    done = 0
    for batch in reader:
        batch.validate(full=True)  # lengths, offsets and codes point into the buffers, not beyond
        for i, name in enumerate(names.features):
            column = arrow.chunked_array([batch.column(name)])
            X[done : done + batch.num_rows, i] = numbers(arrow, column, name, source, wanted)
        for name, chunks in texts.items():
            chunk = batch.column(name)
            chunks.append(chunk.dictionary_encode() if is_text(arrow, chunk.type) else chunk)
        done += batch.num_rows
    if done != claims.n_rows:
        raise ValueError("rows are missing")
    if not done:
        return FileRows(X, None, names.features)
    label, group = (
        None if name is None else cells(arrow, arrow.chunked_array(texts[name]), noun, source, claims.n_bytes)
        for name, noun in ((names.label, "label"), (names.group, "group"))
    )
    return file_rows(X, label, group, names, wanted, source)


def checked_claims(arrow: Any, ipc: Any, raw: bytes, source: str) -> Claims:
    """Return what a file's messages claim once it is known that unpacking them takes memory in proportion to it.

    A dictionary counts again with every batch of rows after it, for it is checked with each.
    """
    if not (raw.startswith(MAGIC) and raw.endswith(MAGIC)):
        raise ValueError("no file of Arrow, or one that is cut short")
    total = known = n_rows = largest = 0
    dictionaries: dict[int, int] = {}
    stream = arrow.BufferReader(raw)
    stream.seek(BEGIN)
    while True:
        try:
            message = ipc.read_message(stream)
        except EOFError:
            break
        kind, header = _header(memoryview(message.metadata), source)
        body = memoryview(b"" if message.body is None else message.body)
        if kind == DICTIONARY:
            data = header.table(1)
            if data is None:
                raise ValueError("a dictionary without values")
            if header.number("<B", 2):  # pyarrow would join it to the one before, and check neither
                raise DataError(f"{source} has categories that grow from batch to batch; write it again in one batch")
            key, size = header.number("<q", 0), _unpacked(data, body)
            known += size - dictionaries.get(key, 0)
            dictionaries[key] = size
        elif kind == BATCH:
            n_rows += header.number("<Q", 0)
            size = _unpacked(header, body) + known
            largest = max(largest, size)
        else:
            continue
        total += size
        check_expansion(total, len(raw), source, REMEDY)
    end = stream.tell()
    footer = len(raw) - len(MAGIC) - 4 - _number(memoryview(raw), "<i", len(raw) - len(MAGIC) - 4)
    if not 0 <= footer - end < MAX_PADDING:
        raise ValueError("messages are missing")
    return Claims(len(raw), n_rows, largest, end)


def _header(metadata: memoryview, source: str) -> tuple[int, Table]:
    """Return the kind of a message's header, and the header."""
    message = Table(metadata, _number(metadata, "<I", 0))
    kind, header = message.number("<B", 1), message.table(2)
    if message.number("<h", 0) != VERSION_5:
        raise DataError(f"{source} was written by an Arrow before 1.0; write it again with a later one")
    if kind not in (SCHEMA, DICTIONARY, BATCH) or header is None:
        raise ValueError("no message of a table")
    if kind == SCHEMA and header.number("<h", 0):
        raise DataError(f"{source} holds big-endian numbers; write it again on a little-endian machine")
    return kind, header


def _unpacked(batch: Table, body: memoryview) -> int:
    """Return the bytes that a batch's buffers claim to unpack to."""
    is_packed, total = batch.table(3) is not None, 0
    for start, length in batch.pairs(2):
        if not 0 <= start <= start + length <= len(body):
            raise ValueError("a buffer beyond its message")
        size = _number(body[: start + length], "<q", start) if is_packed and length else -1
        if size < -1:
            raise ValueError("a buffer of negative size")
        total += max(size, length)
    return total


class Table:
    """A table of a flatbuffer, whose fields are found by their number; one that is not there is 0 or ``None``."""

    def __init__(self, raw: memoryview, place: int) -> None:
        self._raw, self._place = raw, place
        self._index = place - _number(raw, "<i", place)
        self._index_bytes = _number(raw, "<H", self._index)

    def number(self, form: str, field: int) -> int:
        """Return a field that is a number."""
        place = self._field(field)
        return 0 if place is None else _number(self._raw, form, place)

    def table(self, field: int) -> Table | None:
        """Return a field that is a table."""
        place = self._field(field)
        return None if place is None else Table(self._raw, place + _number(self._raw, "<I", place))

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """Return a field that is a list of pairs of 64-bit integers."""
        place = self._field(field)
        if place is None:
            return []
        place += _number(self._raw, "<I", place)
        begin, end = place + 4, place + 4 + 16 * _number(self._raw, "<I", place)
        if end > len(self._raw):
            raise ValueError("a list beyond its message")
        return list(struct.iter_unpack("<qq", self._raw[begin:end]))

    def _field(self, field: int) -> int | None:
        entry = 4 + 2 * field
        if entry + 2 > self._index_bytes:
            return None
        offset = _number(self._raw, "<H", self._index + entry)
        return self._place + offset if offset else None


def _number(raw: memoryview, form: str, place: int) -> int:
    """Return the number at a place, or raise an error where the bytes end before; a negative place is none either."""
    if not 0 <= place <= len(raw) - struct.calcsize(form):
        raise ValueError("a number beyond its message")
    (number,) = struct.unpack_from(form, raw, place)
    return int(number)


READERS.register("feather")(Reader(read, suffixes=(".feather", ".arrow"), is_text=False))
