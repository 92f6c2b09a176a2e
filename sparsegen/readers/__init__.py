"""Readers of labelled data, one file format per module.

Each module has ``read(raw, source, wanted) -> Rows``: the bytes of a file, its printable name for messages, and what
the caller wants of it. Whatever the bytes are, a reader returns arrays or raises a ``DataError`` of one sentence.
"""
