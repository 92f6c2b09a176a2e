from __future__ import annotations

import os
from pathlib import Path

import pytest

from sparsegen.errors import OptionError
from sparsegen.files import require_writable, write_all, write_atomic


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_files_appear_in_a_folder_that_is_made_for_them(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "deep"
    write_all(folder, {"a.c": b"1", "a.h": b"2"})
    assert names(folder) == ["a.c", "a.h"]
    assert (folder / "a.c").read_bytes() == b"1"
    write_atomic(folder / "a.c", b"3")
    assert (folder / "a.c").read_bytes() == b"3"


def test_new_files_have_the_mode_any_program_would_give_them(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_atomic(tmp_path / "a", b"")
    finally:
        os.umask(old)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("broken", ["replace", "fsync"])
def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    write_all(tmp_path, {"a": b"old", "b": b"old"})

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path if broken == "replace" else os, broken, fail)
    with pytest.raises(OptionError, match=r"cannot write to .*: No space left on device"):
        write_all(tmp_path, {"a": b"new", "b": b"new"})
    assert names(tmp_path) == ["a", "b"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_interrupted_writing_leaves_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "a", b"new")
    assert names(tmp_path) == []


def test_places_that_cannot_be_written_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OptionError, match="it is a folder"):
        write_atomic(tmp_path / "folder", b"")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OptionError, match="cannot write to"):
        write_atomic(tmp_path / "file" / "inside", b"")
    assert names(tmp_path) == ["file", "folder"]


def test_files_go_into_subfolders(tmp_path: Path) -> None:
    write_all(tmp_path, {"src/a.c": b"1", "examples/deep/a.ino": b"2", "b": b"3"})
    assert (tmp_path / "src" / "a.c").read_bytes() == b"1"
    assert (tmp_path / "examples" / "deep" / "a.ino").read_bytes() == b"2"
    write_all(tmp_path, {"src/a.c": b"4"})
    assert (tmp_path / "src" / "a.c").read_bytes() == b"4"
    assert names(tmp_path / "src") == ["a.c"]


@pytest.mark.parametrize("name", ["../a", "src/../../a", "/a", "..", "", "src/..", "a\0b"])
def test_a_name_that_leaves_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "out"
    with pytest.raises(OptionError, match="outside its folder"):
        write_all(folder, {"good": b"", name: b"evil"})
    assert names(tmp_path) == ["out"] and names(folder) == []


def test_a_subfolder_that_links_elsewhere_is_refused(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "src").symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(OptionError, match="outside its folder"):
        write_all(folder, {"src/a.c": b""})
    assert names(elsewhere) == []


def test_a_file_where_a_subfolder_should_be_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "src").write_bytes(b"")
    with pytest.raises(OptionError, match="cannot write to"):
        write_all(tmp_path, {"good": b"", "src/a.c": b""})
    assert names(tmp_path) == ["src"]


def test_a_place_that_can_be_written_is_known_before_anything_is(tmp_path: Path) -> None:
    require_writable(tmp_path / "new" / "deep" / "m.safetensors")
    assert names(tmp_path) == []
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OptionError, match="it is a folder; name a file in it"):
        require_writable(tmp_path)
    for path in (tmp_path / "file" / "m", tmp_path / ("m" * 300)):
        with pytest.raises(OptionError, match=r"cannot write .*; choose another place") as refused:
            require_writable(path)
        assert refused.value.change == {"output": ""}
