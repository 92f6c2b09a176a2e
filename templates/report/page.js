"use strict";
// Marks the section in sight in the list of sections, and opens what is folded before a page is printed.
const links = new Map();
for (const link of document.querySelectorAll("nav a")) {
  links.set(link.getAttribute("href").slice(1), link);
}
const inSight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const link = links.get(entry.target.id);
    if (link && entry.isIntersecting) {
      for (const other of links.values()) {
        other.removeAttribute("aria-current");
      }
      link.setAttribute("aria-current", "true");
    }
  }
}, { rootMargin: "-10% 0px -75% 0px" });
for (const section of document.querySelectorAll("main > section")) {
  inSight.observe(section);
}
