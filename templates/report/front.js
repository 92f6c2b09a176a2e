"use strict";
// The plot of the front: hovering tells of a point, choosing it shows its parameters and the command that takes it.
{
  const { spec, picked, details } = JSON.parse(document.getElementById("front-data").textContent);
  const plot = document.getElementById("front-plot");
  const tip = document.getElementById("front-tip");
  const panel = document.getElementById("front-chosen");
  const buttons = [...document.querySelectorAll("#front-table button[data-point]")];
  let view = null;
  let chosen = picked;

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) {
      made.className = kind;
    }
    return made;
  };
  const list = (pairs) => {
    const made = element("dl", "");
    for (const [name, value] of pairs) {
      const line = element("div", "");
      line.append(element("dt", name), element("dd", value));
      made.append(line);
    }
    return made;
  };

  function choose(number) {
    chosen = Number(number);
    const found = details[chosen];
    const told = chosen === picked ? "this model" : "another model";
    const columns = element("div", "", "columns");
    columns.append(list(found.facts), list(found.parameters));
    panel.replaceChildren(element("h3", `Point ${chosen}, ${told}`), columns);
    if (found.command !== null) {
      panel.append(element("p", "To take it, search as before with its number:"), element("code", found.command));
    }
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.point) === chosen));
    }
    if (view) {
      view.signal("chosen", chosen).runAsync();
    }
  }

  function hover(handler, event, item, value) {
    const found = item && item.datum ? details[item.datum.number] : undefined;
    if (value === undefined || value === null || value === "" || !found) {
      tip.hidden = true;
      return;
    }
    tip.replaceChildren(element("b", `Point ${item.datum.number}`), list(found.facts));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, window.innerWidth - box.width - 8))}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, window.innerHeight - box.height - 8))}px`;
  }

  async function draw() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const words = { labelColor: colour("--soft"), titleColor: colour("--ink"), labelFont: "inherit", titleFont: "inherit" };
    const config = {
      font: "inherit",
      view: { stroke: null },
      axis: { ...words, gridColor: colour("--faint-line"), domainColor: colour("--line"), tickColor: colour("--line"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, titlePadding: 10 },
      legend: { ...words, labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500 },
      line: { color: colour("--soft") },
      circle: { color: colour("--soft") },
      rule: { color: colour("--bad") },
      text: { color: colour("--bad"), fontSize: 12 },
    };
    if (view) {
      view.finalize();
    }
    const made = await sparsegenEmbed(plot, structuredClone(spec), { actions: false, ast: true, config, defaultStyle: false, renderer: "svg", tooltip: hover });
    view = made.view;
    view.addEventListener("click", (event, item) => {
      if (item && item.datum && details[item.datum.number]) {
        choose(item.datum.number);
      }
    });
    choose(chosen);
    plot.dataset.ready = "yes";
  }

  for (const button of buttons) {
    button.addEventListener("click", () => choose(button.dataset.point));
  }
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
}
