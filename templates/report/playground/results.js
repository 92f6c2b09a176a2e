/* What the model says: its label, a bar for every class, and whether its promises cover the row. */

const MOST_BARS = 16; /* of more classes, the first by score are shown */
const FIRST_BARS = 12;

function results(machine, largest) {
    const { data } = machine;
    const label = make("p", { class: "label", "aria-live": "polite" });
    const range = make("p", { class: "range" });
    const beyond = make("p", { class: "hint" });
    const names = data.values === null ? data.classes : ["value"];
    const count = names.length > MOST_BARS ? FIRST_BARS : names.length;
    const bars = Array.from({ length: count }, () => {
        const [name, bar, value] = [make("span", { class: "name" }), make("div"), make("span", { class: "value" })];
        return { name, bar, value, element: make("li", {}, name, make("div", { class: "track" }, bar), value) };
    });
    let scale = largest; /* of the bars; a larger score has a longer one for as long as it is there */

    function show(raw) {
        const told = machine.predict(raw);
        const scores = machine.forClasses(told.scores);
        label.textContent = told.label;
        scale = Math.max(largest, ...scores.filter(Number.isFinite).map(Math.abs));
        let order = scores.map((score, k) => k);
        if (count < order.length) {
            order = order.sort((a, b) => scores[b] - scores[a]).slice(0, count);
        }
        order.forEach((k, i) => {
            const share = told.probabilities ? told.probabilities[k] : null;
            fill(bars[i], names[k], scores[k], share, k === told.index || data.values !== null);
        });
        range.hidden = told.inRange === null;
        range.className = told.inRange === false ? "range is-out" : "range";
        range.textContent = told.inRange
            ? "In range: what the header promises holds."
            : data.isDetector
              ? "Out of range: an anomaly, whatever its score."
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
        const size = share === null ? clip(part(score), -1, 1) : share; /* not a number has no bar */
        const [from, to] = [Math.min(size, 0), Math.max(size, 0)];
        const hasSign = share === null && (data.decision === "largest" || data.decision === "sign");
        const [start, length] = hasSign ? [50 + 50 * from, 50 * (to - from)] : [0, 100 * to];
        bar.style.setProperty("left", `${start || 0}%`);
        bar.style.setProperty("width", `${length || 0}%`);
        bar.parentElement.classList.toggle("has-sign", hasSign);
        value.textContent = share !== null ? percent(share) : hasSign ? score.toFixed(decimals()) : shown(score);
        value.title = `score ${shown(score)}`;
    }

    /* The length of a bar: of the longest one, or where between the smallest and the largest known value it is. */
    function part(score) {
        return data.values === null ? score / scale : Math.max(0, (score - data.values[0]) / (data.values[1] - data.values[0]));
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
    if (data.values !== null) {
        return `The bar goes from ${shown(data.values[0])} to ${shown(data.values[1])}, as the values of the rows to choose do.`;
    }
    if (data.isDetector) {
        return "Bars are the score of normal, and its negative for an anomaly: above 0 a row is normal.";
    }
    const shownFor = data.classes.length > MOST_BARS ? `the ${FIRST_BARS} classes with the largest` : "every class";
    if (data.probability) {
        return `Bars are probabilities, for ${shownFor}.`;
    }
    return data.decision === "votes"
        ? `Bars are votes of pairs of classes, for ${shownFor}.`
        : `Bars are scores, for ${shownFor}: the largest wins.`;
}
