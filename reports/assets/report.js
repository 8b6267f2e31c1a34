// Adds to the tables what needs a script: sorting by a column, and a filter. Without it they are
// plain tables.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];

  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const compare = (a, b) => {
    // What has no value comes last in either direction.
    if (a === "" || b === "") return 0;
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
  };
  const sort = (column) => {
    const descending = headers[column].getAttribute("aria-sort") === "ascending";
    const rows = [...body.rows].map((row) => [key(row, column), row]);
    rows.sort(([a], [b]) => ((a === "") - (b === "")) || (descending ? compare(b, a) : compare(a, b)));
    body.append(...rows.map(([, row]) => row));
    for (const header of headers) header.removeAttribute("aria-sort");
    headers[column].setAttribute("aria-sort", descending ? "descending" : "ascending");
  };
  headers.forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(column));
    header.append(button);
  });

  const bar = document.createElement("div");
  bar.className = "filter";
  const label = document.createElement("label");
  label.textContent = "Filter rows by words ";
  const input = document.createElement("input");
  input.type = "search";
  label.append(input);
  const count = document.createElement("output");
  count.className = "muted";
  bar.append(label, count);
  table.closest(".scroll").before(bar);
  const texts = new Map([...body.rows].map((row) => [row, [...row.cells].map((c) => c.textContent.trim().toLowerCase())]));
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const [row, cells] of texts) {
      row.hidden = !words.every((word) => cells.some((cell) => cell.includes(word)));
      if (!row.hidden) shown++;
    }
    count.textContent = `${shown} of ${texts.size} rows`;
  };
  input.addEventListener("input", filter);
  filter();
}
