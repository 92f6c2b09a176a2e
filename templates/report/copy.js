"use strict";
// Buttons that copy a file, folded parts included.
for (const button of document.querySelectorAll("button[data-copies]")) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copies).textContent;
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    button.textContent = done ? "Copied" : "Not allowed to copy";
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}
