/* A picture to draw: a canvas with a pen and an eraser, and beside it what the model sees. */

const CANVAS_SIDE = 264;
const PREVIEW_SIDE = 96;
const UNDONE = 20;

function drawingEditor(data, changed) {
    const { drawing } = data;
    const { rows, columns, paper, ink } = drawing;
    const scale = CANVAS_SIDE / Math.max(rows, columns);
    const [width, height] = [columns * scale, rows * scale];
    const strokes = new Strokes(rows, columns);
    const row = new Float64Array(rows * columns).fill(paper);
    const preview = thumbnail(row, drawing, PREVIEW_SIDE);
    const told = `Picture of ${rows} by ${columns} pixels. Arrow keys move, space draws, delete erases.`;
    const canvas = surface({ class: "drawing", role: "application", "aria-label": told }, { begun, moved, pressed, draw });
    const pen = make("input", { type: "range", id: "playground-pen", min: 0.4, max: Math.max(6, drawing.pen), step: 0.1 });
    pen.value = drawing.pen;
    const fits = make("input", { type: "checkbox", id: "playground-fit", change: submit });
    fits.checked = true;
    const tools = ["Pen", "Eraser"].map((text) => button(text, () => take(text), { "aria-pressed": text === "Pen" }));
    const place = make("p", { class: "unseen", "aria-live": "polite" });
    const undo = button("Undo", undone);
    const past = [];
    let erases = false;
    let isRow = true; /* whether the picture is a row as it was given, without a stroke of the visitor's */
    let wasRow = false; /* whether it began as one: those are in their place already */
    let last = null;
    let hasKeys = false; /* whether the visitor draws with keys, and must see where */
    let cursor = [Math.floor(rows / 2), Math.floor(columns / 2)];

    function take(text) {
        erases = text === "Eraser";
        tools.forEach((tool) => tool.setAttribute("aria-pressed", tool.textContent === text));
    }

    function under(event) {
        const box = canvas.getBoundingClientRect();
        return { x: ((event.clientX - box.left) / box.width) * columns, y: ((event.clientY - box.top) / box.height) * rows };
    }

    function remember() {
        past.push({ ink: strokes.ink.slice(), row: row.slice(), isRow, wasRow });
        past.splice(0, past.length - UNDONE);
        undo.disabled = false;
    }

    function undone() {
        const before = past.pop();
        undo.disabled = past.length === 0;
        strokes.ink.set(before.ink);
        row.set(before.row);
        ({ isRow, wasRow } = before);
        if (isRow) {
            draw();
            changed(row);
        } else {
            submit();
        }
    }

    function begun(event) {
        remember();
        last = under(event);
        hasKeys = false;
        mark(last);
    }

    function moved(event) {
        for (const each of event.getCoalescedEvents ? event.getCoalescedEvents() : []) {
            strokeTo(under(each)); /* where a fast pointer was in between */
        }
        mark(under(event));
    }

    function strokeTo(to) {
        strokes.line(last, to, pen.valueAsNumber, erases);
        last = to;
    }

    function mark(to) {
        isRow = false;
        strokeTo(to);
        submit();
    }

    /* Takes the strokes as the row. */
    function submit() {
        if (!isRow) {
            const shares = fits.checked && !wasRow ? strokes.fitted(drawing.side, drawing.centre) : strokes.shares();
            shares.forEach((share, at) => {
                row[at] = paper + share * (ink - paper);
            });
        }
        draw();
        changed(row);
    }

    function pressed(event) {
        hasKeys = true;
        const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
        if (step !== undefined) {
            cursor = [clip(cursor[0] + step[0], 0, rows - 1), clip(cursor[1] + step[1], 0, columns - 1)];
        }
        const draws = event.key === " " || event.key === "Enter" || (step !== undefined && event.shiftKey);
        const removes = event.key === "Delete" || event.key === "Backspace" || (draws && erases);
        if (draws || removes) {
            remember();
            isRow = false;
            strokes.dab(...cursor, removes ? 0 : 1);
            submit();
        } else if (step === undefined) {
            draw(); /* another key, such as Tab: shows where the cursor is */
            return;
        }
        place.textContent = `row ${cursor[0] + 1}, column ${cursor[1] + 1}: ${shown(row[cursor[0] * columns + cursor[1]])}`;
        draw();
        event.preventDefault();
    }

    function cleared() {
        remember();
        strokes.ink.fill(0);
        isRow = false;
        wasRow = false;
        submit();
    }

    function draw() {
        const context = sharpen(canvas, width, height);
        if (isRow) {
            drawShares(context, sharesOf(row, drawing), rows, columns, width, height, false);
        } else {
            drawShares(context, strokes.ink, strokes.height, strokes.width, width, height, true);
        }
        if (hasKeys && document.activeElement === canvas) {
            context.strokeStyle = colour("tint");
            context.lineWidth = 2;
            context.strokeRect(cursor[1] * scale, cursor[0] * scale, scale, scale);
        }
        preview.show(row);
    }

    undo.disabled = true;
    redrawnOnTheme(draw);
    return {
        element: make(
            "div",
            { class: "drawing-editor" },
            make("div", {}, canvas, place),
            make(
                "div",
                { class: "drawing-tools" },
                make("div", { class: "tools", role: "group", "aria-label": "Tool" }, ...tools, undo, button("Clear", cleared)),
                make("label", { for: "playground-pen" }, "Width"),
                pen,
                make("label", { class: "check" }, fits, " Centre and scale what I draw"),
                make("figure", {}, preview.element, make("figcaption", {}, "What the model sees")),
            ),
        ),
        show(given) {
            if (!isRow) {
                remember();
            }
            row.set(given);
            strokes.fill(sharesOf(given, drawing));
            isRow = true;
            wasRow = true;
            draw();
        },
    };
}
