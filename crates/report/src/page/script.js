"use strict";

// Points of a figure: the text of their <title> follows the pointer instead of appearing late.
const tip = document.getElementById("tip");
for (const point of document.querySelectorAll(".point")) {
  const title = point.querySelector("title");
  point.dataset.tip = title.textContent;
  title.remove();
}
function showTip(event) {
  const point = event.target instanceof Element ? event.target.closest(".point") : null;
  tip.hidden = point === null;
  if (point === null) return;
  tip.textContent = point.dataset.tip;
  let mark = point.getBoundingClientRect();
  // A long mark says it where the pointer is.
  if (Math.max(mark.width, mark.height) > 40) mark = new DOMRect(event.clientX, event.clientY, 0, 0);
  const left = Math.min(mark.right + 8, document.documentElement.clientWidth - tip.offsetWidth - 8);
  const above = mark.top - tip.offsetHeight - 4;
  const top = above < 4 ? mark.bottom + 4 : above;
  tip.style.left = `${Math.max(8, left) + window.scrollX}px`;
  tip.style.top = `${top + window.scrollY}px`;
}
document.addEventListener("pointerover", showTip);
document.addEventListener("pointerdown", showTip);

// Figures can be kept: the button saves the SVG as it stands in the page.
for (const button of document.querySelectorAll(".save")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const figure = button.closest("figure");
    const copy = figure.querySelector("svg").cloneNode(true);
    const blob = new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${figure.dataset.name || "figure"}.svg`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

// The table sorts by the column whose head is clicked; missing values stand last either way.
for (const table of document.querySelectorAll("table.results")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const descending = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const sign = descending ? -1 : 1;
    const rows = [...table.tBodies[0].rows].map((row) => {
      const cell = row.cells[column];
      const number = parseFloat(cell.dataset.value);
      const missing = cell.classList.contains("number") ? Number.isNaN(number) : false;
      return { row, number, text: cell.textContent, missing };
    });
    rows.sort((a, b) => {
      if (a.missing || b.missing) return a.missing - b.missing;
      const numeric = !Number.isNaN(a.number) && !Number.isNaN(b.number);
      return sign * (numeric ? a.number - b.number
        : a.text.localeCompare(b.text, "en", { numeric: true }));
    });
    table.tBodies[0].append(...rows.map(({ row }) => row));
  }));
}
