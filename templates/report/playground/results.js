/* What the model says: its label, a bar for every class, and whether its promises cover the row. */

const MOST_BARS = 16; /* of more classes, the first by score are shown */
const FIRST_BARS = 12;

function results(machine, largest) {
    const { data } = machine;
    const label = make("p", { class: "label", "aria-live": "polite" });
    const range = make("p", { class: "range" });
    const beyond = make("p", { class: "hint" });
    const count = data.classes.length > MOST_BARS ? FIRST_BARS : data.classes.length;
    const bars = Array.from({ length: count }, () => {
        const [name, bar, value] = [make("span", { class: "name" }), make("div"), make("span", { class: "value" })];
        return { name, bar, value, element: make("li", {}, name, make("div", { class: "track" }, bar), value) };
    });
    let scale = largest;

    function show(raw) {
        const told = machine.predict(raw);
        const scores = machine.forClasses(told.scores);
        label.textContent = told.label;
        scale = Math.max(scale, ...scores.map(Math.abs));
        let order = scores.map((score, k) => k);
        if (count < order.length) {
            order = order.sort((a, b) => scores[b] - scores[a]).slice(0, count);
        }
        order.forEach((k, i) => {
            const share = told.probabilities ? told.probabilities[k] : null;
            fill(bars[i], data.classes[k], scores[k], share, k === told.index);
        });
        range.hidden = told.inRange === null;
        range.className = told.inRange ? "range" : "range is-out";
        range.textContent = told.inRange
            ? "In range: what the header promises holds."
            : "Out of range: what the header promises does not hold.";
        const outside = data.low.filter((low, j) => raw[j] < low || raw[j] > data.high[j]).length;
        beyond.textContent =
            outside === 0 ? "" : `${outside} of ${data.names.length} features lie beyond every row of this page.`;
        return told;
    }

    function fill({ name, bar, value, element }, text, score, share, isChosen) {
        name.textContent = text;
        name.title = text;
        element.className = isChosen ? "is-chosen" : "";
        const [from, to] = share === null ? [Math.min(score, 0) / scale, Math.max(score, 0) / scale] : [0, share];
        const hasSign = share === null && data.decision !== "votes";
        const [start, size] = hasSign ? [50 + 50 * from, 50 * (to - from)] : [0, 100 * (to - from)];
        bar.style.setProperty("left", `${start}%`);
        bar.style.setProperty("width", `${size}%`);
        bar.parentElement.classList.toggle("has-sign", hasSign);
        value.textContent = share !== null ? percent(share) : hasSign ? score.toFixed(decimals()) : String(score);
        value.title = `score ${shown(score)}`;
    }

    /* Three digits of the largest score. */
    function decimals() {
        return clip(2 - Math.floor(Math.log10(scale)), 0, 12);
    }

    return {
        element: make(
            "div",
            { class: "results" },
            make("h4", {}, "The model says"),
            label,
            make("ul", { class: "bars" }, ...bars.map((bar) => bar.element)),
            make("p", { class: "hint" }, what(data)),
            range,
            beyond,
        ),
        show,
    };
}

function what(data) {
    const shownFor = data.classes.length > MOST_BARS ? `the ${FIRST_BARS} classes with the largest` : "every class";
    if (data.probability) {
        return `Bars are probabilities, for ${shownFor}.`;
    }
    return data.decision === "votes"
        ? `Bars are votes of pairs of classes, for ${shownFor}.`
        : `Bars are scores, for ${shownFor}: the largest wins.`;
}
