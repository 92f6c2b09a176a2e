"""Study: whole trials or none, whatever kills the writer; places that are no study get one sentence."""

from __future__ import annotations

import os
import signal
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from small_search import found, sets

from sparsegen.errors import DataError, OptionError
from sparsegen.search.candidate import Candidate
from sparsegen.search.metrics import METRICS
from sparsegen.search.record import FAILED, FINISHED, STOPPED, Record
from sparsegen.search.study import Study, masked, open_study

ABOUT = {"data": "123", "seed": 0}
CANDIDATE = Candidate("slmc", "rbf", "q7", "f32", "standard", 3, 10.0, gamma=0.5)


def opened(place, about=None):
    return open_study(place, ABOUT if about is None else about, METRICS["accuracy"], 5)


def record(state=FINISHED, **others):
    score = 0.9 if state == FINISHED else None
    return Record({}, {}, CANDIDATE, state, flash=900, ram=100, instructions=5.5, score=score, **others)


@pytest.mark.parametrize("kind", ["memory", "file", "url"])
def test_records_come_back(kind, tmp_path):
    in_memory = kind == "memory"
    place = {"memory": None, "file": tmp_path / "s.db", "url": f"sqlite:///{tmp_path}/u.db"}[kind]
    study = opened(place)
    written = [record(), record(STOPPED, reason="beaten", quick_score=0.25), record(FAILED, reason="broke", run="r")]
    for one in written:
        study.add(one)
    known = study.records() if in_memory else opened(place).records()
    assert [one.attributes() for one in known] == [one.attributes() for one in written]
    assert [one.number for one in known] == [0, 1, 2]


def test_optuna_reads_the_study(tmp_path):
    import optuna

    place = tmp_path / "s.db"
    study = opened(place)
    study.add(record())
    study.add(record(STOPPED))
    read = optuna.load_study(study_name="sparsegen", storage=f"sqlite:///{place}")
    assert [trial.number for trial in read.best_trials] == [0]
    assert read.best_trials[0].values == [0.9, 900.0, 5.5]


@pytest.fixture(scope="module")
def undisturbed():
    result = found(trials=2)
    return result.front.candidates, result.winner.model


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a fork")
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_search_that_is_killed_as_it_writes_goes_on(moment, undisturbed, tmp_path, monkeypatch):
    place = tmp_path / "killed.db"
    add = Study.add

    def deadly(study, one):
        if moment == "after":
            add(study, one)
        os.kill(os.getpid(), signal.SIGKILL)

    for _ in range(2):
        child = os.fork()
        if child == 0:
            monkeypatch.setattr(Study, "add", deadly)
            try:
                found(place, trials=2)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    found_then = found(place, trials=2)
    assert [point.score for point in found_then.front.candidates] == [point.score for point in undisturbed[0]]
    assert found_then.winner.model == undisturbed[1]


def damage(place, sql):
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE trial_user_attributes SET value_json = '7' WHERE key = 'candidate'",
        "UPDATE trial_user_attributes SET value_json = '{\"method\": 1}' WHERE key = 'candidate'",
        "UPDATE trial_user_attributes SET value_json = '-1' WHERE key = 'flash'",
        "UPDATE trial_user_attributes SET value_json = '\"x\"' WHERE key = 'score'",
        "UPDATE trial_user_attributes SET value_json = '1e308' WHERE key = 'score'",
        "UPDATE trial_user_attributes SET value_json = '1e308' WHERE key = 'elapsed'",
        "UPDATE trial_user_attributes SET value_json = '-1.0' WHERE key = 'seconds'",
        "UPDATE trial_user_attributes SET value_json = '1' || printf('%0400d', 0) WHERE key = 'flash'",
        "UPDATE trial_user_attributes SET value_json = replace(value_json, 'rbf', 'evil') WHERE key = 'candidate'",
        "UPDATE trial_user_attributes SET value_json = replace(value_json, 'slmc', 'evil') WHERE key = 'candidate'",
        "UPDATE trial_user_attributes SET value_json = 'null' WHERE key = 'score'",
        "UPDATE trial_user_attributes SET value_json = '{' WHERE key = 'score'",
        "UPDATE trial_user_attributes SET value_json = '\"lost\"' WHERE key = 'state'",
        "DELETE FROM trial_user_attributes WHERE key = 'reason'",
        "UPDATE study_user_attributes SET value_json = '[]' WHERE key = 'sparsegen'",
        "UPDATE trials SET state = 'LOST'",
        "DROP TABLE trial_user_attributes",
    ],
)
def test_a_damaged_study_gets_one_sentence(sql, tmp_path):
    place = tmp_path / "s.db"
    opened(place).add(record())
    damage(place, sql)
    with pytest.raises(DataError) as told:
        opened(place).records()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + bytes(5000), b"a,b\n1,2\n"])
def test_what_is_no_study_is_told_and_left_alone(content, tmp_path):
    place = tmp_path / "rows.csv"
    place.write_bytes(content)
    with pytest.raises(DataError, match="another file for the study"):
        opened(place)
    assert place.read_bytes() == content


def test_another_database_is_left_alone(tmp_path):
    place = tmp_path / "mine.db"
    damage(place, "CREATE TABLE mine (x)")
    before = place.read_bytes()
    with pytest.raises(DataError, match="holds no Optuna study"):
        opened(place)
    assert place.read_bytes() == before


def test_places_that_cannot_be_written_are_told(tmp_path):
    with pytest.raises(OptionError, match="cannot"):
        opened(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(OptionError, match="cannot"):
        opened(tmp_path / "file" / "s.db")


def test_another_search_is_named(tmp_path):
    opened(tmp_path / "s.db")
    with pytest.raises(DataError, match="with seed 0, not 1"):
        opened(tmp_path / "s.db", {**ABOUT, "seed": 1})
    with pytest.raises(DataError, match="of other rows"):
        opened(tmp_path / "s.db", {**ABOUT, "data": "124"})


def test_secrets_of_a_url_are_never_told():
    url = "postgresql://ann:s3cret@127.0.0.1:1/studies?password=s3cret"
    assert masked(url) == "postgresql://127.0.0.1:1/studies"
    for place in (url, url.replace("postgresql", "postgresql+psycopg2"), url.replace("postgresql", "redis")):
        with pytest.raises((DataError, OptionError)) as told:
            opened(place)
        assert "s3cret" not in str(told.value)
        assert told.value.__cause__ is None


def test_a_url_that_is_none_is_told():
    with pytest.raises(OptionError, match="no file and no URL"):
        opened("postgresql://ann:s3cret@[host/name")


@pytest.mark.parametrize("tested", ["7", '["x"]', "[true]"])
def test_what_was_tested_is_checked(tested, tmp_path):
    study = opened(tmp_path / "s.db")
    assert [study.note_test(number) for number in (3, 3, 5)] == [1, 1, 2]
    damage(tmp_path / "s.db", f"UPDATE study_user_attributes SET value_json = '{tested}' WHERE key LIKE '%tested'")  # noqa: S608
    with pytest.raises(DataError, match="does not say what was tested"):
        opened(tmp_path / "s.db").note_test(1)


@pytest.mark.parametrize("url", ["redis://localhost/0", "http://localhost", "journal://x", "file:///x"])
def test_only_tables_keep_studies(url):
    with pytest.raises(OptionError, match="not kept in tables"):
        opened(url)


def test_a_candidate_with_more_features_than_there_are_is_refused(tmp_path):
    study = opened(tmp_path / "s.db")
    study.add(Record({}, {}, Candidate(**{**CANDIDATE.as_json(), "n_features": 6}), STOPPED))
    with pytest.raises(DataError, match="more features"):
        opened(tmp_path / "s.db").records()


def test_rows_of_the_sets_are_what_the_tests_assume():
    train_set, test_set = sets()
    assert np.array_equal(train_set.X, np.round(train_set.X))
    assert len(test_set.X) == 40
