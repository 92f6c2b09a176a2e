/* The playground: examples and an editor on one side, what the model says on the other. */

const EDITORS = { sliders: slidersEditor, profile: profileEditor, image: drawingEditor };
const TITLES = {
    sliders: "Change the features, or choose a row",
    profile: "Draw the features, or choose a row",
    image: "Draw, or choose a row",
};
const THUMBNAIL_SIDE = 40;

async function start(root) {
    const data = JSON.parse(document.getElementById("playground-data").textContent);
    data.start = numbers(data.start);
    data.examples.forEach((example) => {
        example.row = numbers(example.row);
    });
    const machine = await Machine.start(data);
    const largest = Math.max(1e-9, ...data.examples.flatMap((e) => machine.forClasses(machine.predict(e.row).scores)).map(Math.abs));
    const said = results(machine, largest);
    const editor = EDITORS[data.mode](data, (row) => {
        chosen(null);
        said.show(row);
    });
    const buttons = data.examples.map((example) => exampleButton(data, example, () => show(example)));

    function chosen(example) {
        buttons.forEach((each, i) => each.setAttribute("aria-pressed", data.examples[i] === example));
    }

    function show(example) {
        editor.show(example.row);
        said.show(example.row);
        chosen(example);
    }

    const group = (title, wrong) => {
        const own = buttons.filter((each, i) => data.examples[i].isWrong === wrong);
        return own.length === 0
            ? []
            : [make("h4", {}, title), make("div", { class: "examples", role: "group", "aria-label": title }, ...own)];
    };
    const middle = { row: Float64Array.from(data.start) };
    root.replaceChildren(
        make(
            "div",
            { class: "columns" },
            make("div", { class: "editor" }, make("h4", {}, TITLES[data.mode]), editor.element),
            said.element,
            make(
                "div",
                { class: "rows" },
                ...group(data.values === null ? "Rows it gets right" : "Rows from small to large values", false),
                ...group(data.values === null ? "Rows it gets wrong" : "Rows it is furthest off", true),
                ...(data.mode === "image" ? [] : [make("p", {}, button("Medians of all features", () => show(middle)))]),
            ),
        ),
        status(machine),
    );
    show(data.examples[0] || middle);
    root.machine = machine; /* for tests, and for the curious at the console */
}

function numbers(values) {
    return Float64Array.from(values, (value) => (value === null ? NaN : value));
}

function exampleButton(data, example, click) {
    const named = (answer) => (data.values === null ? data.classes[answer] : shown(answer));
    const label = named(example.label === null ? example.given : example.label);
    const text = example.isWrong ? `${label} → ${named(example.given)}` : label;
    const told = example.isWrong ? `a row of ${label}, taken for ${named(example.given)}` : `a row of ${label}`;
    const element = button("", click, { "aria-pressed": "false", "aria-label": told, title: told });
    if (data.mode === "image") {
        element.append(thumbnail(example.row, data.drawing, THUMBNAIL_SIDE).element);
    }
    element.append(make("span", {}, text));
    return element;
}

/* What runs here, that it computes what Python computed, and how fast. */
function status(machine) {
    const { data } = machine;
    const failed = machine.selftest();
    const test =
        failed === 0
            ? `Its self-test passes here: ${data.selftests} stored rows give what Python computed.`
            : `Its self-test FAILS here (${failed}): do not trust what this page shows.`;
    const speed = make("span");
    window.setTimeout(() => {
        const rows = data.examples.length ? data.examples.map((example) => example.row) : [data.start];
        speed.textContent = ` A prediction takes ${shown(machine.microseconds(rows.slice(0, 8)), 2)} µs in this browser.`;
    }, 50);
    const size = `${(data.wasmBytes / 1000).toFixed(1)} kB of WebAssembly`;
    return make("p", { class: "status" }, `This is the exported C (${data.dtype}), compiled to ${size}. ${test}`, speed);
}

const root = document.getElementById("playground");
start(root).catch((error) => {
    root.replaceChildren(make("p", { class: "status" }, `The playground cannot run in this browser: ${error.message}`));
});
