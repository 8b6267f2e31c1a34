// Adds to the tables what needs a script: sorting by a column, and a filter. Without it they are
// plain tables.
"use strict";
// sortKey is what a cell's text sorts by: a number in its base unit, without signs and spread, or the text.
const sortKey = (text) => {
  const [, digits, unit = ""] = text.match(/^([-+]?[\d.]+(?:e[-+]?\d+)?)( [^†‡±×]*|\/s|B\/s|Hz)?[†‡]*(?: (?:±|×÷).*)?$/) ?? [];
  const [, time, prefix, binary] = unit.trim().match(/^(?:([nµm])s$|([kKMGT])(iB$|B\/s$|Hz$|\/s$| |$))/) ?? [];
  const scale = time ? { n: 1e-9, µ: 1e-6, m: 1e-3 }[time] : prefix ? (binary === "iB" ? 1024 : 1000) ** (1 + "KMGT".indexOf(prefix.toUpperCase())) : 1;
  const number = Number(digits) * scale;
  return Number.isNaN(number) ? text : number;
};
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const headers = [...table.tHead.rows[0].cells];

  const key = (row, column) => sortKey(row.cells[column].textContent.trim());
  const compare = (a, b) => {
    // What has no value comes last in either direction.
    if (a === "" || b === "") return 0;
    return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(b, "en", { numeric: true });
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
// What figures show is chosen once for all of them. Panels that a key says nothing of stay.
const panels = [...document.querySelectorAll(".panels > div")], main = document.querySelector("main"), selects = [];
for (const key of ["threads", "cache", "shape"]) {
  const values = [...new Set(panels.map((p) => p.dataset[key]).filter(Boolean))];
  if (values.length < 2) continue;
  const select = document.createElement("select");
  select.name = key;
  select.append(new Option("all", ""), ...values.map((v) => new Option(v, v)));
  select.value = values.includes(main.dataset[key]) ? main.dataset[key] : "";
  selects.push(select);
}
if (selects.length) {
  const bar = document.createElement("div"), choose = () => {
    for (const p of panels) p.hidden = selects.some((s) => s.value && p.dataset[s.name] && p.dataset[s.name] !== s.value);
  };
  bar.className = "choose";
  bar.append("Figures show");
  for (const select of selects) {
    const label = document.createElement("label");
    label.append(select.name + " ", select);
    bar.append(label);
    select.addEventListener("change", choose);
  }
  document.querySelector("section:has(.panels)").before(bar);
  choose();
}
// Timelines: rows of spans, such as a thread's, drawn at the scale of what is shown.
for (const box of document.querySelectorAll(".timeline")) {
  const line = JSON.parse(box.querySelector("script").textContent), canvas = box.querySelector("canvas"), hover = box.querySelector(".hover");
  const colors = ["--s1", "--s0", "--s2", "--s3", "--s4", "--s7"], row = 34, top = 18, left = line.plain ? 0 : 28;
  const key = box.querySelector(".key");
  line.kinds?.forEach((name, i) => {
    const swatch = document.createElement("i");
    swatch.style.background = `var(${colors[i]})`;
    key.append(swatch, name);
  });
  let from = 0, to = Math.max(line.length, 1);
  const time = (ns) => ns >= 1e6 ? (ns / 1e6).toPrecision(4) + " ms" : ns >= 1e3 ? (ns / 1e3).toPrecision(4) + " µs" : Math.round(ns) + " ns";
  const width = () => canvas.clientWidth - left;
  function draw() {
    const scale = window.devicePixelRatio || 1, style = getComputedStyle(document.documentElement);
    const height = top + row * line.rows.length;
    canvas.style.height = height + "px";
    canvas.width = canvas.clientWidth * scale;
    canvas.height = height * scale;
    const c = canvas.getContext("2d");
    c.scale(scale, scale);
    c.font = "11px sans-serif";
    c.fillStyle = style.getPropertyValue("--muted");
    for (let i = 0; i <= 4; i++) {
      c.textAlign = i === 4 ? "right" : i === 0 ? "left" : "center";
      c.fillText(time(from + (to - from) * i / 4), left + width() * i / 4, 11);
    }
    const perPixel = (to - from) / width();
    line.rows.forEach((flat, t) => {
      const y = top + t * row;
      c.textAlign = "left";
      c.fillStyle = style.getPropertyValue("--muted");
      if (!line.plain) c.fillText(t, 4, y + row / 2);
      for (let i = 0; i < flat.length; i += 4) {
        const start = Math.max(flat[i], from), end = Math.min(flat[i] + flat[i + 1], to);
        if (end <= start) continue;
        const x = left + (start - from) / perPixel, w = (end - start) / perPixel;
        c.fillStyle = style.getPropertyValue(colors[flat[i + 2] % colors.length]);
        c.fillRect(x, y, Math.max(w, 0.3), row - 6);
        const name = line.names[flat[i + 3]];
        if (w > name.length * 6.5) {
          c.fillStyle = style.getPropertyValue("--paper");
          c.fillText(name, x + 3, y + 18);
        }
      }
    });
  }
  // zoom keeps the moment at a share of the width where it is.
  function zoom(by, at = 0.5) {
    const moment = from + (to - from) * at, span = by === 0 ? line.length : Math.min(Math.max((to - from) * by, 100), line.length);
    from = Math.min(Math.max(moment - span * at, 0), line.length - span);
    to = from + Math.max(span, 1);
    draw();
  }
  for (const b of box.querySelectorAll("button")) b.onclick = () => zoom(Number(b.dataset.zoom));
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.25 : 0.8, Math.min(Math.max((e.offsetX - left) / width(), 0), 1));
  }, { passive: false });
  let held = null;
  canvas.onpointerdown = (e) => { held = { x: e.clientX, from }; canvas.setPointerCapture(e.pointerId); };
  canvas.onpointerup = canvas.onpointercancel = () => { held = null; };
  canvas.onpointermove = (e) => {
    const span = to - from;
    if (held) {
      from = Math.min(Math.max(held.from - (e.clientX - held.x) / width() * span, 0), line.length - span);
      to = from + span;
      draw();
      return;
    }
    const at = from + (e.offsetX - left) / width() * span, flat = line.rows[Math.floor((e.offsetY - top) / row)] || [];
    for (let i = 0; i < flat.length; i += 4) {
      if (flat[i] <= at && at < flat[i] + flat[i + 1]) {
        hover.textContent = `${line.plain ? "" : line.kinds[flat[i + 2]] + ", "}${line.names[flat[i + 3]]}: ${time(flat[i + 1])}${line.plain ? `, ${(100 * flat[i + 1] / line.length).toPrecision(2)} %` : ` from ${time(flat[i])} on`}`;
        return;
      }
    }
  };
  new ResizeObserver(draw).observe(canvas);
}
