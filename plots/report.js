"use strict";
// A click on a heading sorts its table; what is typed above a table filters its rows; a link to a folded part opens it.
for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0];
    table.tHead.addEventListener("click", event => {
        const column = event.target.cellIndex, up = event.target.dataset.up = event.target.dataset.up === "1" ? "0" : "1";
        const value = row => { const text = row.cells[column].textContent, number = parseFloat(text); return isNaN(number) ? text : number; };
        const order = (a, b) => { const x = value(a), y = value(b); return typeof x === typeof y ? (x > y) - (x < y) : typeof x === "number" ? -1 : 1; };
        body.append(...[...body.rows].sort((a, b) => up === "1" ? order(a, b) : order(b, a)));
    });
}
for (const input of document.querySelectorAll("input[data-for]")) {
    const rows = document.getElementById(input.dataset.for).querySelectorAll("tbody tr, details");
    input.addEventListener("input", () => {
        const words = input.value.toLowerCase().split(/\s+/);
        for (const row of rows) row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
    });
}
const open = () => {
    for (let at = document.getElementById(location.hash.slice(1)); at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
window.addEventListener("hashchange", open);
open();

// Figures whose data the page has are drawn anew for the mouse: a tooltip at each point, a legend that hides series, a click to the run.
const colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"];
const tip = document.body.appendChild(Object.assign(document.createElement("div"), { className: "tip", hidden: true }));
function table(data) {
    const rows = data.textContent.trim().split("\n").map(line => line.split(","));
    return rows.slice(1).map(row => Object.fromEntries(rows[0].map((name, i) => [name, isNaN(+row[i]) || row[i] === "" ? row[i] : +row[i]])));
}
// The card of a run by the end of its id, as figures shorten names.
function card(label) {
    const end = String(label).replaceAll(" ", "-");
    return [...document.querySelectorAll("details[id^=run-]")].find(at => at.id.endsWith(end));
}
const per = x => `${x > 0 ? "+" : ""}${x.toFixed(1)} %`;
const series = {
    "accuracy": rows => ["calibrates", "validates", "context"].map(role => ({ name: role, points: rows.filter(row => typeof row[role] === "number" && !isNaN(row[role]))
        .map(row => ({ x: row[role], y: row.row, low: row.low, high: row.high, label: row.label, text: `${row.label}\n${row.published} published, ${row.simulated} predicted (${per(row[role])})` })) })),
    "scaling": rows => Object.keys(rows[0]).filter(name => /published$|simulated$/.test(name)).map(name => ({ name, lines: name.endsWith("simulated"), points: rows.filter(row => row[name] > 0)
        .map(row => ({ x: Math.log2(row.chips), y: Math.log2(row[name]), text: `${name}, ${row.chips} IPUs\n${Math.round(row[name])} samples/s` })) })),
    "time-to-train": rows => ["published", "simulated", "peer"].map(name => ({ name, points: rows.filter(row => row[name] > 0)
        .map(row => ({ x: Math.log2(row[name]), y: -row.row, label: row.label, text: `${row.label}\n${row[name].toFixed(2)} min ${name}` })) })),
};
const axes = { "accuracy": ["error of the predicted throughput, %", x => x], "scaling": ["IPUs; samples/s upwards", x => 2 ** x], "time-to-train": ["minutes", x => 2 ** x] };
function draw(data) {
    const kind = data.dataset.figure, sets = series[kind](table(data)).filter(set => set.points.length), all = sets.flatMap(set => set.points);
    const range = of => { const values = all.map(of), low = Math.min(...values), high = Math.max(...values), room = (high - low) * 0.05 || 1; return [low - room, high + room]; };
    const [x0, x1] = range(p => p.x), [y0, y1] = range(p => p.y), high = Math.max(220, Math.min(620, kind === "scaling" ? 300 : 60 + 12 * new Set(all.map(p => p.y)).size));
    const X = x => 10 + 680 * (x - x0) / (x1 - x0), Y = y => high - 40 - (high - 60) * (y - y0) / (y1 - y0);
    const svg = (name, attributes) => { const made = document.createElementNS("http://www.w3.org/2000/svg", name); for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value); return made; };
    const picture = svg("svg", { viewBox: `0 0 700 ${high}`, class: "live", role: "img", "aria-label": `${data.dataset.table}: the drawing above, for the mouse` });
    const ticks = kind === "scaling" ? [...new Set(all.map(p => p.x))] : [0, 1, 2, 3, 4].map(i => x0 + (x1 - x0) * i / 4);
    for (const x of ticks) {
        const mark = svg("text", { x: X(x), y: high - 22, "text-anchor": X(x) < 40 ? "start" : X(x) > 660 ? "end" : "middle" });
        mark.textContent = (+axes[kind][1](x).toPrecision(kind === "scaling" ? 4 : 2)).toString();
        picture.append(svg("line", { x1: X(x), x2: X(x), y1: 10, y2: high - 38, class: "grid" }), mark);
    }
    const name = svg("text", { x: 350, y: high - 4, "text-anchor": "middle" });
    name.textContent = axes[kind][0];
    picture.append(name);
    const legend = document.createElement("p");
    legend.className = "legend";
    legend.append(Object.assign(document.createElement("b"), { textContent: `For the mouse: ${data.dataset.table}` }));
    sets.forEach((set, i) => {
        const colour = colours[kind === "scaling" ? i >> 1 : i % colours.length], group = picture.appendChild(svg("g", {}));
        if (set.lines) group.append(svg("polyline", { points: set.points.map(p => `${X(p.x)},${Y(p.y)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2 }));
        for (const point of set.points) {
            const dot = svg("circle", { cx: X(point.x), cy: Y(point.y), r: 5, fill: set.lines || set.name === "simulated" ? "transparent" : colour, stroke: colour, "stroke-width": 2 });
            dot.addEventListener("mousemove", event => { tip.textContent = point.text; tip.hidden = false; tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`; tip.style.top = `${event.clientY + 14}px`; });
            dot.addEventListener("mouseleave", () => { tip.hidden = true; });
            const target = point.label && card(point.label);
            if (target) { dot.style.cursor = "pointer"; dot.addEventListener("click", () => { location.hash = target.id; }); }
            group.append(dot);
        }
        const button = Object.assign(document.createElement("button"), { type: "button", textContent: set.name });
        button.style.borderColor = colour;
        button.setAttribute("aria-pressed", "true");
        button.addEventListener("click", () => { const shown = button.getAttribute("aria-pressed") !== "true"; button.setAttribute("aria-pressed", shown); group.style.display = shown ? "" : "none"; });
        legend.append(button);
    });
    data.before(legend, picture);
}
document.querySelectorAll("pre[data-figure]").forEach(draw);
