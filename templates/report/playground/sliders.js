/* A slider and a number for every feature. */

function slidersEditor(data, changed) {
    const row = Float64Array.from(data.start);
    const inputs = data.names.map((name, j) => {
        const identifier = `playground-feature-${j}`;
        const range = { min: data.from[j], max: data.to[j], step: data.step[j] };
        const slider = make("input", { type: "range", ...range, "aria-label": name, input: slid });
        const number = make("input", { type: "number", id: identifier, step: "any", input: typed });

        function slid() {
            row[j] = slider.valueAsNumber;
            number.value = shown(row[j]);
            changed(row);
        }
        function typed() {
            const value = typedNumber(number, data.input.fill !== null);
            if (value !== null) {
                row[j] = value;
                slider.value = value;
                changed(row);
            }
        }
        return { slider, number, name: make("label", { for: identifier, title: name }, name) };
    });

    return {
        element: make(
            "div",
            { class: "sliders" },
            ...inputs.map(({ name, slider, number }) => make("div", { class: "feature" }, name, slider, number)),
        ),
        show(given) {
            row.set(given);
            inputs.forEach(({ slider, number }, j) => {
                slider.value = Number.isNaN(row[j]) ? data.start[j] : row[j];
                number.value = Number.isNaN(row[j]) ? "" : shown(row[j]);
                number.placeholder = data.input.fill === null ? "" : "missing";
            });
        },
    };
}
