/* Elements of the page. What came from a file is only ever set as text, and styles only as properties. */

function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") {
            element.addEventListener(name, value);
        } else {
            element.setAttribute(name, value);
        }
    }
    element.append(...children);
    return element;
}

function button(text, click, attributes = {}) {
    return make("button", { type: "button", click, ...attributes }, text);
}

/* A canvas to draw on with the mouse, a finger or keys; a stroke begins, and moves for as long as it is held. */
function surface(attributes, { begun, moved, pressed, draw }) {
    let isHeld = false;
    function ended() {
        isHeld = false;
    }
    const canvas = make("canvas", {
        ...attributes,
        tabindex: 0,
        keydown: pressed,
        focus: draw,
        blur: draw,
        pointerdown(event) {
            canvas.setPointerCapture(event.pointerId);
            isHeld = true;
            begun(event);
        },
        pointermove(event) {
            if (isHeld) {
                moved(event);
            }
        },
        pointerup: ended,
        pointercancel: ended,
    });
    return canvas;
}

/* The number in a field: NaN where it is left empty and a value may be missing, null while it is no number yet. */
function typedNumber(field, mayMiss) {
    if (field.value === "" && mayMiss) {
        return NaN;
    }
    return Number.isNaN(field.valueAsNumber) ? null : field.valueAsNumber;
}

/* A number in few digits. */
function shown(value, digits = 4) {
    return Number.isNaN(value) ? "missing" : String(Number(value.toPrecision(digits)));
}

function percent(share) {
    return `${(100 * share).toFixed(1)} %`;
}

/* Makes a canvas as sharp as the screen and returns its context, in units of CSS pixels. */
function sharpen(canvas, width, height) {
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
}

/* Returns a colour of the style sheet by its name there. */
function colour(name) {
    return getComputedStyle(document.getElementById("playground")).getPropertyValue(`--${name}`).trim();
}

/* Calls draw once more whenever the visitor's screen changes between light and dark. */
function redrawnOnTheme(draw) {
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
