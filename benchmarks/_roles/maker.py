"""A maker with an Uno and an accelerometer: files as they come, a figure to believe, a sketch that builds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from benchmarks._roles import rows
from benchmarks._roles.visit import Skip, Visit
from sparsegen.devices import DEVICES
from sparsegen.promised import percent

UNO = "atmega328p"


def visit(maker: Visit) -> None:
    """From samples to an Uno."""
    rows.gestures(maker.folder, maker.seed)
    _files(maker)
    _groups(maker)
    _uno(maker)
    _sketch(maker)


def _files(maker: Visit) -> None:
    maker.types(
        "train on raw samples, a row each",
        "train samples.csv --vectors 6 --gamma 0.3 --C 1 -o samples.safetensors",
        "look like single samples of a time series.*make each row from a window of samples",
    )
    lines = Path("windows.csv").read_text().splitlines()
    text = "\n".join([lines[0].replace(",", ";"), *(_european(line) for line in lines[1:])])
    Path("excel.csv").write_text(text)
    Path("excel.csv.gz").write_bytes(gzip.compress(text.encode()))
    quick = "--group recording --vectors 4 --gamma 0.1 --C 1 --set max_iter=3 -o e.safetensors"
    for asked, name in (("semicolons and decimal commas", "excel.csv"), ("the same, packed by gzip", "excel.csv.gz")):
        maker.types(asked, f"train {name} {quick}", r"trained on \d+ rows, 9 features, 3 classes")
    numbered = ["row,millis," + lines[0], *(f"{i},{250 * i},{line}" for i, line in enumerate(lines[1:]))]
    Path("numbered.csv").write_text("\n".join(numbered))
    maker.types(
        "a counter and a timestamp among the columns",
        f"train numbered.csv {quick}",
        "column 'row' of numbered.csv counts up[^;]*; drop it",
        "column 'millis' of numbered.csv looks like a timestamp",
    )
    maker.types(
        "leave them out",
        f"train numbered.csv --drop row,millis {quick}",
        r"trained on \d+ rows, 9 features",
        "^(?!.*counts)",
    )
    features = "mean_x,spread_x,step_x"
    maker.types(
        "choose three features", f"train windows.csv --features {features} {quick}", r"trained on \d+ rows, 3 features"
    )


def _european(line: str) -> str:
    recording, *numbers, label = line.split(",")
    return ";".join([recording, *(f"{number},5" for number in numbers), label])


def _groups(maker: Visit) -> None:
    train = "train windows.csv --vectors 8 --gamma 0.04 --C 10"
    shuffled = f"{train} --drop recording -o shuffled.safetensors"
    maker.types("windows, shuffled", shuffled, "neighbouring rows of windows.csv are far more alike.*as group")
    grouped = f"{train} --group recording --probability -o gestures.safetensors"
    maker.types(
        "windows, whole recordings held out",
        grouped,
        r"test accuracy [\d.]+ % of \d+ rows in \d+ groups \(95 % interval .*? if groups of rows are independent\)",
    )
    with maker.wish("what shuffling was worth"):
        accuracies = [
            json.loads(maker.command(*command.split(), "--json").out)["accuracy"] for command in (shuffled, grouped)
        ]
        told = "{} of shuffled rows, {} of recordings it has never heard".format(*map(percent, accuracies))
        maker.sees("what shuffling was worth", told, accuracies[0] > accuracies[1] + 0.02)
    maker.types(
        "is it right as often as it says",
        "inspect gestures.safetensors",
        r"log loss [\d.]+ \(class shares alone: [\d.]+\), Brier score .*? test rows",
    )
    maker.types(
        "labels as a table, unknown below 0.8",
        "predict gestures.safetensors windows.csv --reject 0.8 -o labels.csv",
        r"wrote labels.csv: 504 rows, \d+ without a label",
    )
    with maker.wish("with a score and a probability for each class"):
        header = Path("labels.csv").read_text().partition("\n")[0]
        columns = [f"{what}_{name}" for what in ("score", "probability") for name in rows.GESTURES]
        maker.sees("with a score and a probability for each class", header, header.split(",") == ["label", *columns])
    maker.types(
        "gamma chosen by recordings, too",
        "train windows.csv --group recording --vectors 4 --set max_iter=3 -o chosen.safetensors",
        r"chosen gamma [^,]+, C \S+ \(best of \d+, \d-fold cross-validation on \d+ rows in \d+ groups\)",
    )


def _uno(maker: Visit) -> None:
    missing = DEVICES[UNO].missing()
    with maker.wish("the Uno computes what Python computed"):
        if missing:
            raise Skip(missing)
        maker.types(
            "the Uno computes what Python computed",
            f"verify gestures.safetensors windows.csv --dtype q7 --device {UNO}",
            r"of \d+ rows \d+ were held out in training; accuracy on those: [\d.]+ %",
            f"{UNO} ok",
        )
        (cost,) = json.loads(maker.command(*f"bench gestures.safetensors --dtype q7 --device {UNO} --json".split()).out)
        told = f"{cost['flash']:,} bytes of flash, {cost['ram']} of RAM, {cost['worst_milliseconds']:.2f} ms at most"
        maker.sees("what it takes of the Uno", told, cost["flash"] < 32_256 and cost["ram"] < 2048)
        maker.types(
            "boot it in the emulator",
            "flash gestures.safetensors --board uno --dtype q7 --emulate",
            r"\d of (\d) labels as in Python, \d+ cycles a prediction",
            "self-test ok",
        )


def _sketch(maker: Visit) -> None:
    maker.types(
        "a library for the Arduino IDE that says unknown",
        "export gestures.safetensors --target arduino --name gestures --dtype q7 --calibrate windows.csv"
        " --reject 0.8 -o gestures",
        r"use: .*",
        "lead: the real-valued model's lead is at least",
    )
    with maker.wish("README, LICENSE and a sketch are in it"):
        files = {path.name: path for path in Path("gestures").rglob("*") if path.is_file()}
        wanted = {"README.md", "LICENSE", "library.properties", "keywords.txt", "gestures.h", "Gestures.ino"}
        maker.sees("README, LICENSE and a sketch are in it", ", ".join(sorted(files)), wanted <= set(files))
        header = files["gestures.h"].read_text()
        asked = "an unknown gesture has no label"
        maker.sees(asked, "int gestures_predict_or_reject(const float *x);", "predict_or_reject(const" in header)
