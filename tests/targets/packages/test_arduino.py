"""The Arduino library: metadata by the library specification, sources by avr-gcc, and a sketch that runs."""

from __future__ import annotations

import re
import subprocess

import pytest
from c_programs import any_compiler, compiler
from golden_models import SMALL, model, rbf
from wrapped import COUNTS, HOSTILE, built, packed

from sparsegen.errors import OptionError
from sparsegen.lowering import lower
from sparsegen.lowering.formats import Format
from sparsegen.targets import TARGETS

CATEGORIES = {
    "Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage",
    "Data Processing", "Other",
}  # fmt: skip
AVR = ("-mmcu=atmega328p", "-Os", "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Werror")
ARDUINO_H = """
#ifndef ARDUINO_STUB
#define ARDUINO_STUB
#include <stdint.h>
class __FlashStringHelper;
#ifdef __AVR__
#include <avr/pgmspace.h>
#else
#define PSTR(text) text
#endif
#define F(text) (reinterpret_cast<const __FlashStringHelper *>(PSTR(text)))
struct SerialStub {
    void begin(unsigned long);
    explicit operator bool();
    void print(const __FlashStringHelper *);
    void print(const char *);
    void print(int);
    void print(double, int);
    void println(const __FlashStringHelper *);
    void println(unsigned long);
};
extern SerialStub Serial;
unsigned long micros();
void delay(unsigned long);
void setup();
void loop();
#endif
"""
HOST = """
#include "Arduino.h"
#include <stdio.h>
SerialStub Serial;
void SerialStub::begin(unsigned long baud) { printf("%lu baud\\n", baud); }
SerialStub::operator bool() { return true; }
void SerialStub::print(const __FlashStringHelper *text) { fputs(reinterpret_cast<const char *>(text), stdout); }
void SerialStub::print(const char *text) { fputs(text, stdout); }
void SerialStub::print(int value) { printf("%d", value); }
void SerialStub::print(double value, int digits) { printf("%.*f", digits, value); }
void SerialStub::println(const __FlashStringHelper *text) { print(text); putchar('\\n'); }
void SerialStub::println(unsigned long value) { printf("%lu\\n", value); }
unsigned long micros() { static unsigned long now = 0; return now += 7; }
void delay(unsigned long ms) { printf("%lu ms\\n", ms); }
int main() { setup(); loop(); loop(); return 0; }
"""
# A core as small as can be: UART0, text in flash, and an end after the first round of loop().
AVR_CORE = """
#include "Arduino.h"
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <stdlib.h>
SerialStub Serial;
static void put(char c) { while (!(UCSR0A & (1 << UDRE0))) { } UCSR0A |= 1 << TXC0; UDR0 = c; }
void SerialStub::begin(unsigned long) { UBRR0 = 16; UCSR0A = 1 << U2X0; UCSR0B = 1 << TXEN0; }
SerialStub::operator bool() { return true; }
void SerialStub::print(const __FlashStringHelper *text)
{
    const char *p = reinterpret_cast<const char *>(text);
    while (char c = pgm_read_byte(p++)) { put(c); }
}
void SerialStub::print(const char *text) { while (*text) { put(*text++); } }
void SerialStub::print(int value) { char text[8]; print(itoa(value, text, 10)); }
void SerialStub::print(double value, int digits) { char text[24]; print(dtostrf(value, 1, digits, text)); }
void SerialStub::println(const __FlashStringHelper *text) { print(text); put('\\n'); }
void SerialStub::println(unsigned long value) { char text[12]; print(ultoa(value, text, 10)); put('\\n'); }
unsigned long micros() { return 0; }
void delay(unsigned long) { while (!(UCSR0A & (1 << TXC0))) { } cli(); sleep_mode(); }
int main() { setup(); loop(); return 0; }
"""


def properties(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    pairs = [line.split("=", 1) for line in lines]
    assert all(len(pair) == 2 for pair in pairs) and len({key for key, _ in pairs}) == len(pairs)
    return dict(pairs)


@pytest.mark.parametrize("name", ["m", "gestures", "Exercise_2", "x" * 40])
def test_library_properties_keep_to_the_specification(name):
    files = TARGETS["arduino"].export(model([rbf()], 3, 3, HOSTILE), name).files
    fields = properties(files["library.properties"].decode())
    required = "name version author maintainer sentence paragraph category url architectures"
    assert set(required.split()) | {"includes"} == set(fields)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", fields["name"]) and re.search("[A-Za-z]", fields["name"])
    assert re.fullmatch(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", fields["version"])
    assert fields["category"] in CATEGORIES
    assert fields["url"] == "https://arduino.github.io/arduino-cli/latest/library-specification/"
    assert not re.search(r"example\.(com|org|net)", files["library.properties"].decode())
    assert fields["architectures"] == "*"
    assert f"src/{fields['includes']}" in files
    assert all(value.strip() == value and value for value in fields.values())
    assert not fields["paragraph"].startswith(fields["sentence"])


def test_the_layout_is_that_of_a_library():
    files = TARGETS["arduino"].export(SMALL["poly"], "gestures").files
    sketches = [path for path in files if path.endswith(".ino")]
    assert sketches == ["examples/Gestures/Gestures.ino"]  # a sketch has the name of its folder
    top = {"library.properties", "keywords.txt", "README.md", "LICENSE", "src", "examples"}
    assert {path.split("/")[0] for path in files} == top
    for line in files["keywords.txt"].decode().splitlines():
        assert line.startswith("# ") or re.fullmatch(r"\w+\t(KEYWORD1|KEYWORD2|LITERAL1)", line)
    header = files["src/gestures.h"].decode()
    for keyword in re.findall(r"^(\w+)\t", files["keywords.txt"].decode(), re.MULTILINE):
        assert keyword in header


def test_what_arduino_lint_asks_of_a_library():
    """Those of its rules that files alone decide: a readme, a licence it knows, no stray sketch, distinct keywords."""
    files = TARGETS["arduino"].export(model([rbf()], 3, 3, HOSTILE), "gestures").files
    readme, licence = files["README.md"].decode(), files["LICENSE"].decode()
    assert "# gestures\n" in readme and "#include <gestures.h>" in readme and "gestures_predict(x)" in readme
    assert "Permission to use, copy, modify, and/or distribute this software" in licence
    assert not [path for path in files if path.endswith((".exe", ".ino")) and not path.startswith("examples/")]
    assert not [
        path for path in files if set(path) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./")
    ]
    keywords = [line.split("\t")[0] for line in files["keywords.txt"].decode().splitlines() if not line.startswith("#")]
    assert len(set(keywords)) == len(keywords) and "GESTURES_CLASS_QUOTE_INSIDE" in keywords
    fields = properties(files["library.properties"].decode())
    assert fields["sentence"].endswith(".") and "arduino" not in fields["name"].lower()
    assert all(0 < len(value) < 250 for value in fields.values())


@pytest.mark.parametrize("name", ["wire", "SPI", "Servo", "print", "ArduinoThing", "arduino_x", "arduino"])
def test_a_name_that_arduino_has_taken_is_refused(name):
    for target in ("arduino", "platformio"):
        with pytest.raises(OptionError, match="choose another"):
            TARGETS[target].export(SMALL["poly"], name)


def sketch(package, tmp_path):
    """Return the sketch as the IDE hands it to the compiler."""
    (path,) = (package.folder / "examples").glob("*/*.ino")
    (tmp_path / "Arduino.h").write_text(ARDUINO_H)
    (tmp_path / "sketch.cpp").write_text("#include <Arduino.h>\n" + path.read_text())
    return tmp_path / "sketch.cpp"


@pytest.mark.parametrize("of", SMALL)
def test_avr_gcc_compiles_library_and_sketch(of, tmp_path):
    package = packed("arduino", SMALL[of], "m", tmp_path / "m")
    source = package.folder / "src" / "m.c"
    built([*compiler("avr-gcc"), *AVR, "-std=gnu11"], "-c", source, "-o", tmp_path / "m.o")
    flags = [*AVR, "-std=gnu++11", "-fno-exceptions", f"-I{tmp_path}", f"-I{package.folder / 'src'}"]
    built([*compiler("avr-g++"), *flags], "-c", sketch(package, tmp_path), "-o", tmp_path / "sketch.o")


@pytest.mark.parametrize("of", ["laplacian_text", "linear", "rbf_powers"])
def test_the_sketch_runs_on_an_emulated_uno(of, tmp_path):
    (simavr,) = compiler("simavr")
    package = packed("arduino", SMALL[of], "m", tmp_path / "m")
    (tmp_path / "core.cpp").write_text(AVR_CORE)
    built([*compiler("avr-gcc"), *AVR, "-std=gnu11"], "-c", package.folder / "src" / "m.c", "-o", tmp_path / "m.o")
    paths = [f"-I{tmp_path}", f"-I{package.folder / 'src'}", sketch(package, tmp_path), tmp_path / "core.cpp"]
    built([*compiler("avr-g++"), *AVR, "-std=gnu++11"], *paths, tmp_path / "m.o", "-o", tmp_path / "m.elf")
    command = [simavr, "-m", "atmega328p", "-f", "16000000", tmp_path / "m.elf"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    printed = re.sub(r"\x1b\[[0-9;]*m", "", run.stdout + run.stderr)
    assert "self-test ok" in printed
    label = re.search(r"class (\d), label (\w+), microseconds 0", printed)
    assert label and str(SMALL[of].classes[int(label[1])]) == label[2]


@pytest.mark.parametrize("of", ["laplacian_text", "binary_rbf"])
def test_the_sketch_checks_the_model_and_prints_predictions(of, tmp_path):
    package = packed("arduino", SMALL[of], "m", tmp_path / "m")
    printed = run_sketch(package, tmp_path)
    assert printed[:2] == ["115200 baud", "self-test ok"]
    label = re.fullmatch(r"class (\d), label (\w+), microseconds 7", printed[2])
    assert label and str(SMALL[of].classes[int(label[1])]) == label[2]
    assert printed[3] == "1000 ms" and printed[4] == printed[2]


@pytest.mark.parametrize("dtype", ["f32", "q15"])
def test_the_sketch_of_a_regression_prints_values(dtype, tmp_path):
    lowered = lower(SMALL["value"], Format(dtype))
    package = packed("arduino", SMALL["value"], "m", tmp_path / "m", numbers=Format(dtype))
    printed = run_sketch(package, tmp_path)
    value = re.fullmatch(r"value (-?\d+\.\d{4}), microseconds 7", printed[2])
    assert printed[1] == "self-test ok" and value
    expected = lowered.reference(lowered.selftest.rows[:1])
    assert float(value[1]) == pytest.approx(float(expected.scores[0, 0] * expected.unit), abs=1e-4)
    assert "m_value\tKEYWORD2" in package.texts()["keywords.txt"]


def test_the_sketch_of_an_integer_model_holds_integers(counts, tmp_path):
    package = packed("arduino", COUNTS, "m", tmp_path / "m", numbers=counts)
    assert run_sketch(package, tmp_path)[2] == "class 0, label few, microseconds 7"
    text = package.texts()["examples/M/M.ino"]
    assert re.search(
        rf"static const {package.export.input_dtype.name}_t example\[M_FEATURES\] = {{\d+(, \d+)*}};", text
    )


def run_sketch(package, tmp_path) -> list[str]:
    (tmp_path / "host.cpp").write_text(HOST)
    (source,) = package.export.sources
    built(any_compiler(), "-c", package.folder / source, "-o", tmp_path / "m.o")
    paths = [f"-I{tmp_path}", f"-I{package.folder / 'src'}", sketch(package, tmp_path), tmp_path / "host.cpp"]
    built(
        [*compiler("g++"), "-std=gnu++11", "-Wall", "-Wextra", "-Werror"],
        *paths,
        tmp_path / "m.o",
        "-o",
        tmp_path / "run",
    )
    return subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True).stdout.splitlines()
