/* The model: the exported C as WebAssembly. A row goes into its memory, scores come out of it. */

const ARRAYS = {
    float32: Float32Array, int32: Int32Array, int16: Int16Array, int8: Int8Array, uint16: Uint16Array, uint8: Uint8Array,
};
const PAGE_BYTES = 65536;
const ANOMALY = 0; /* the index of its class, in every detector */

class Machine {
    static async start(data) {
        const bytes = Uint8Array.from(atob(data.wasm), (character) => character.charCodeAt(0));
        const { instance } = await WebAssembly.instantiate(bytes);
        return new Machine(data, instance.exports);
    }

    constructor(data, functions) {
        this.data = data;
        this.functions = functions;
        /* Memory is free from __heap_base on. The arrays are placed there one after the other. */
        const wanted = [
            [data.input.type, data.names.length],
            [data.scoreType, data.outputs],
            [data.probability ? data.probability.type : "uint8", data.probability ? data.classes.length : 0],
        ];
        let end = functions.__heap_base.value;
        const places = wanted.map(([type, count]) => {
            const start = Math.ceil(end / 8) * 8;
            end = start + count * ARRAYS[type].BYTES_PER_ELEMENT;
            return start;
        });
        const pages = Math.ceil((end - functions.memory.buffer.byteLength) / PAGE_BYTES);
        if (pages > 0) {
            functions.memory.grow(pages);
        }
        [this.row, this.scores, this.shares] = wanted.map(
            ([type, count], i) => new ARRAYS[type](functions.memory.buffer, places[i], count),
        );
    }

    call(what, ...arrays) {
        return this.functions[`${this.data.name}_${what}`](...arrays.map((array) => array.byteOffset));
    }

    /* Puts raw features into memory in the type that the program reads, as Python's Lowered.inputs does. */
    read(raw) {
        let fits = true; /* whether what is read is the nearest to every feature, and no end of what can be read */
        const { kind, fill, low, step, levels, least, most } = this.data.input;
        for (let j = 0; j < this.row.length; ++j) {
            const value = Number.isNaN(raw[j]) && fill && kind !== "float" ? fill[j] : raw[j];
            if (kind === "float") {
                this.row[j] = value;
            } else if (kind === "grid") {
                const place = (value - low[j]) / step[j];
                this.row[j] = clip(Math.floor(place + 0.5), 0, levels);
                fits = fits && place >= -0.5 && place <= levels + 0.5;
            } else {
                this.row[j] = clip(roundToEven(value), least, most);
                fits = fits && this.row[j] === roundToEven(value);
            }
        }
        return fits;
    }

    /*
     * Returns the class index, its label as the C has it, and all scores for raw features; of a regression, its value. A
     * detector's row out of range is an anomaly, as its header says.
     */
    predict(raw) {
        const fits = this.read(raw);
        this.call("scores", this.row, this.scores);
        const isValue = this.data.decision === "value";
        const inRange = this.data.checksRange ? this.call("in_range", this.row) === 1 && (fits || !this.data.isDetector) : null;
        const isBeyond = this.data.isDetector && inRange === false;
        const given = isBeyond ? ANOMALY : this.call(this.data.entry, this.row);
        if (this.data.probability) {
            this.call("probabilities", this.row, this.shares);
        }
        return {
            index: isValue ? null : given,
            label: isValue ? shown(given * this.data.unit) : this.text(this.functions[`${this.data.name}_label`](given)),
            scores: Array.from(this.scores),
            probabilities: this.data.probability
                ? Array.from(this.shares, (share) => share / this.data.probability.one)
                : null,
            inRange,
        };
    }

    /* What speaks for each class, in units of the model: its score, or its votes. A regression has its value alone. */
    forClasses(scores) {
        const { decision, unit, classes } = this.data;
        if (decision === "sign") {
            return [-scores[0] * unit, scores[0] * unit];
        }
        if (decision === "largest" || decision === "value") {
            return scores.map((score) => score * unit);
        }
        const votes = classes.map(() => 0);
        let at = 0;
        for (let first = 0; first < classes.length; ++first) {
            for (let second = first + 1; second < classes.length; ++second) {
                votes[scores[at] > 0 ? first : second] += 1;
                ++at;
            }
        }
        return votes;
    }

    /* Returns 0 where the stored examples give what Python computed. */
    selftest() {
        return this.functions[`${this.data.name}_selftest`]();
    }

    /*
     * Returns the microseconds of a prediction, over rows in turn; browsers' clocks are coarse, so many are timed. The row
     * in memory stays what it was.
     */
    microseconds(rows) {
        const shortest = 20;
        const before = this.row.slice();
        let calls = 16;
        for (;;) {
            let spent = 0;
            for (const raw of rows) {
                this.read(raw);
                const start = performance.now();
                for (let i = 0; i < calls; ++i) {
                    this.call(this.data.entry, this.row);
                }
                spent += performance.now() - start;
            }
            if (spent >= shortest) {
                this.row.set(before);
                return (1000 * spent) / (calls * rows.length);
            }
            calls *= 4;
        }
    }

    text(address) {
        const bytes = new Uint8Array(this.functions.memory.buffer, address);
        return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    }
}

function clip(value, least, most) {
    return Math.min(Math.max(value, least), most);
}

/* Rounds as NumPy and C do: halves to the even neighbour. */
function roundToEven(value) {
    const up = Math.round(value);
    return Math.abs(value % 1) === 0.5 && up % 2 !== 0 ? up - 1 : up;
}
