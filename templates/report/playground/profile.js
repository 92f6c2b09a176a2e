/* All features of a row as one curve that is drawn with the mouse, a finger or the arrow keys. */

const PROFILE_HEIGHT = 260;
const PROFILE_WIDTH = 600; /* until the page knows better */
const PROFILE_PAD = 12;
const DOTS = 80; /* more features than this are a line without dots */

function profileEditor(data, changed) {
    const n = data.names.length;
    const row = Float64Array.from(data.start);
    const ends = data.from.map((from, j) => [from, data.to[j]]);
    const told = "Profile of the row. Left and right choose a feature, up and down change it.";
    const canvas = surface({ class: "profile", role: "slider", "aria-label": told }, { begun, moved, pressed, draw });
    const frame = make("div", { class: "profile-frame" }, canvas);
    const number = make("input", { type: "number", step: "any", id: "playground-value", input: typed });
    const name = make("label", { for: "playground-value" });
    let selected = 0;
    let last = null; /* where the pointer was */

    function place(j, value) {
        const width = frame.clientWidth || PROFILE_WIDTH;
        const [low, high] = ends[j];
        const x = PROFILE_PAD + ((width - 2 * PROFILE_PAD) * (n > 1 ? j / (n - 1) : 0.5));
        const share = (value - low) / (high - low);
        return [x, PROFILE_HEIGHT - PROFILE_PAD - (PROFILE_HEIGHT - 2 * PROFILE_PAD) * share];
    }

    function under(event) {
        const box = canvas.getBoundingClientRect();
        const across = (event.clientX - box.left - PROFILE_PAD) / (box.width - 2 * PROFILE_PAD);
        const up = 1 - (event.clientY - box.top - PROFILE_PAD) / (box.height - 2 * PROFILE_PAD);
        return { j: clip(Math.round(across * (n - 1)), 0, n - 1), share: clip(up, 0, 1) };
    }

    function set(j, value) {
        const [low, high] = ends[j];
        const steps = Math.round((value - low) / data.step[j]);
        row[j] = clip(Number((low + steps * data.step[j]).toPrecision(12)), low, high);
    }

    function begun(event) {
        last = under(event);
        stroke(last, last);
    }

    function moved(event) {
        const next = under(event);
        stroke(last, next);
        last = next;
    }

    /* Sets all features between two places of the pointer, however fast it moved. */
    function stroke(from, to) {
        const steps = Math.abs(to.j - from.j);
        for (let i = 0; i <= steps; ++i) {
            const part = steps === 0 ? 1 : i / steps;
            const j = Math.round(from.j + part * (to.j - from.j));
            const share = from.share + part * (to.share - from.share);
            set(j, ends[j][0] + share * (ends[j][1] - ends[j][0]));
        }
        select(to.j);
        changed(row);
    }

    function pressed(event) {
        const leap = Math.max(1, Math.round(n / 10));
        const sideways = { ArrowLeft: -1, ArrowRight: 1, PageUp: -leap, PageDown: leap, Home: -n, End: n }[event.key];
        const upwards = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (sideways !== undefined) {
            select(clip(selected + sideways, 0, n - 1));
        } else if (upwards !== undefined) {
            const [low, high] = ends[selected];
            const size = Math.max(data.step[selected], (high - low) / (event.shiftKey ? 10 : 50));
            set(selected, (Number.isNaN(row[selected]) ? data.start[selected] : row[selected]) + upwards * size);
            select(selected);
            changed(row);
        } else {
            return;
        }
        event.preventDefault();
    }

    function typed() {
        const value = typedNumber(number, data.input.fill !== null);
        if (value !== null) {
            row[selected] = value;
            draw();
            changed(row);
        }
    }

    function select(j) {
        selected = j;
        name.textContent = data.names[j];
        number.value = Number.isNaN(row[j]) ? "" : shown(row[j]);
        canvas.setAttribute("aria-valuemin", ends[j][0]);
        canvas.setAttribute("aria-valuemax", ends[j][1]);
        canvas.setAttribute("aria-valuenow", Number.isNaN(row[j]) ? data.start[j] : row[j]);
        canvas.setAttribute("aria-valuetext", `${data.names[j]}: ${shown(row[j])}`);
        draw();
    }

    function trace(context, values) {
        let isBroken = true;
        context.beginPath();
        for (let j = 0; j < n; ++j) {
            if (Number.isNaN(values[j])) {
                isBroken = true;
                continue;
            }
            const [x, y] = place(j, values[j]);
            if (isBroken) {
                context.moveTo(x, y);
            } else {
                context.lineTo(x, y);
            }
            isBroken = false;
        }
    }

    function draw() {
        const context = sharpen(canvas, frame.clientWidth || PROFILE_WIDTH, PROFILE_HEIGHT);
        /* what the rows hold, from the smallest to the largest value of each feature */
        context.beginPath();
        for (let j = 0; j < n; ++j) {
            context.lineTo(...place(j, data.high[j]));
        }
        for (let j = n - 1; j >= 0; --j) {
            context.lineTo(...place(j, data.low[j]));
        }
        context.fillStyle = colour("band");
        context.fill();
        context.strokeStyle = colour("mark");
        context.lineWidth = 1;
        trace(context, data.start);
        context.stroke();
        context.strokeStyle = colour("tint");
        context.lineWidth = 2;
        context.lineJoin = "round";
        trace(context, row);
        context.stroke();
        context.fillStyle = colour("tint");
        if (n <= DOTS) {
            row.forEach((value, j) => dot(context, j, 3));
        }
        dot(context, selected, document.activeElement === canvas ? 7 : 5);
    }

    function dot(context, j, radius) {
        if (!Number.isNaN(row[j])) {
            context.beginPath();
            context.arc(...place(j, row[j]), radius, 0, 2 * Math.PI);
            context.fill();
        }
    }

    new ResizeObserver(draw).observe(frame);
    redrawnOnTheme(draw);
    return {
        element: make(
            "div",
            { class: "profile-editor" },
            frame,
            make("div", { class: "feature" }, name, number),
            make("p", { class: "hint" }, hint(data)),
        ),
        show(given) {
            row.set(given);
            select(selected);
        },
    };
}

function hint(data) {
    const axis = data.sharesAxis ? "" : " Each feature has a scale of its own.";
    return `Draw over the curve to change it. The band is what the rows hold, the thin line their medians.${axis}`;
}
