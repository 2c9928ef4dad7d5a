// Draws the table of published results: filters, time to train over accelerators, samples to target over the batch, the rows.
const read = id => JSON.parse(document.getElementById(id).textContent), rows = read("rows"), references = read("references");
const main = document.querySelector("main"), SVG = "http://www.w3.org/2000/svg";
const draw = (parent, tag, attributes, text) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
};
const unique = name => [...new Set(rows.map(row => row[name]))].filter(x => x).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
const number = x => x === null ? "–" : x >= 1e6 ? (x / 1e6).toPrecision(4).replace(/\.?0+$/, "") + " M" : x >= 1e4 ? Math.round(x).toLocaleString("en") : +x.toPrecision(4) + "";
const some = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;
const percent = x => x === null ? "–" : Math.round(100 * x) + " %";

// ---- filters

const benchmarks = unique("benchmark").sort((a, b) => rows.filter(r => r.benchmark === b).length - rows.filter(r => r.benchmark === a).length);
const choice = (name, values, all) => make("select", { id: name, onchange: update },
    ...(all ? [make("option", { value: "" }, all)] : []), ...values.map(v => make("option", { value: v }, v)));
const boxes = (name, title) => {
    const set = make("fieldset", {}, make("legend", {}, title));
    for (const value of unique(name))
        set.append(make("label", {}, make("input", { type: "checkbox", checked: true, value, onchange: update }), value));
    const all = make("button", { type: "button", onclick: () => {
        const inputs = [...set.querySelectorAll("input")], on = inputs.some(i => !i.checked);
        for (const i of inputs) i.checked = on;
        update();
    } }, "all / none");
    set.append(all);
    return set;
};
const pick = { benchmark: choice("benchmark", benchmarks), division: choice("division", unique("division"), "all divisions"),
               colour: choice("colour", ["vendor", "round", "submitter"]), round: boxes("round", "Rounds"), vendor: boxes("vendor", "Vendors of accelerators") };
pick.colour.value = "vendor";
if (unique("division").includes("closed")) pick.division.value = "closed";
const words = make("input", { type: "search", placeholder: "filter: submitter, system, accelerator, framework", oninput: update, ariaLabel: "filter" });
const checked = set => new Set([...set.querySelectorAll("input:checked")].map(i => i.value));
function chosen() {
    const rounds = checked(pick.round), vendors = checked(pick.vendor), wanted = words.value.toLowerCase().split(/\s+/);
    return rows.filter(r => r.benchmark === pick.benchmark.value && (!pick.division.value || r.division === pick.division.value) && rounds.has(r.round)
        && (!r.vendor || vendors.has(r.vendor))
        && wanted.every(w => `${r.submitter} ${r.system} ${r.accelerator} ${r.framework} ${r.availability}`.toLowerCase().includes(w)));
}

// ---- charts

function describe(r) {
    const lines = [`${r.round} ${r.division}, ${r.submitter}: ${r.system}`, `${number(r.accelerators)} × ${r.accelerator}, ${some(r.nodes, "node")}`, r.framework,
        `${number(r.minutes)} min, ${number(r.samples_per_s)} samples/s, batch ${number(r.global_batch)}`,
        `${number(r.converged_at)} ${r.unit} to target` + (r.reference_at === null ? "" : ` (reference ${number(r.reference_at)})`),
        r.smallest_system && r.smallest_system !== r.system ? `scaling efficiency ${percent(r.scaling_efficiency)} of ${r.smallest_system}` : "",
        r.energy_j === null ? "" : `${number(r.energy_j / 3.6e6)} kWh`, r.date, r.note].filter(x => x);
    return lines.flatMap((line, i) => [i ? make("br") : "", i ? line : make("b", {}, line)]);
}
const logTicks = (low, high) => {
    const wide = Math.log10(high / low) > 3, ticks = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
        for (const m of wide ? [1] : [1, 2, 5]) if (m * 10 ** e >= low && m * 10 ** e <= high) ticks.push(m * 10 ** e);
    return ticks;
};
const linearTicks = (low, high) => {
    const raw = (high - low) / 7, unit = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(m => m * unit).find(s => s >= raw), ticks = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
    return ticks;
};
function axis(values, isLog, from, to) {
    let low = Math.min(...values), high = Math.max(...values);
    [low, high] = isLog ? [low / 1.3, high * 1.3] : [Math.max(0, low - (high - low || low) * 0.1), high + (high - low || high) * 0.1];
    const f = isLog ? Math.log : x => x;
    return { at: x => from + (f(x) - f(low)) / (f(high) - f(low)) * (to - from), ticks: isLog ? logTicks(low, high) : linearTicks(low, high) };
}
function chart(figure, points, squares, xTitle, yTitle, yLog, colour) {
    const width = Math.max(320, figure.clientWidth), height = Math.min(460, Math.max(300, width * 0.5)), left = 58, right = 12, top = 24, bottom = 40;
    figure.querySelector("svg")?.remove();
    const svg = draw(figure, "svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${yTitle} over ${xTitle}` }), every = [...points, ...squares];
    if (!every.length) {
        draw(svg, "text", { x: left, y: height / 2 }, "No result is chosen.");
        return;
    }
    const x = axis(every.map(p => p.x), true, left, width - right), y = axis(every.map(p => p.y), yLog, height - bottom, top);
    let free = 0;                       // where the next label may begin
    for (const t of x.ticks) {
        draw(svg, "line", { class: "grid", x1: x.at(t), x2: x.at(t), y1: top, y2: height - bottom });
        const half = 4 * number(t).length;
        if (x.at(t) - half < free || x.at(t) + half > width) continue;
        draw(svg, "text", { x: x.at(t), y: height - bottom + 16, "text-anchor": "middle" }, number(t));
        free = x.at(t) + half + 6;
    }
    for (const t of y.ticks) {
        draw(svg, "line", { class: "grid", x1: left, x2: width - right, y1: y.at(t), y2: y.at(t) });
        draw(svg, "text", { x: left - 6, y: y.at(t) + 4, "text-anchor": "end" }, number(t));
    }
    draw(svg, "text", { x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, xTitle);
    draw(svg, "text", { x: 4, y: 14 }, yTitle);
    const series = new Map();
    for (const p of points) series.set(p.series, [...(series.get(p.series) ?? []), p]);
    for (const line of series.values())
        if (line.length > 1 && line[0].joins)
            draw(svg, "path", { class: "series", stroke: colour(line[0].row), d: "M" + line.sort((a, b) => a.x - b.x).map(p => `${x.at(p.x)},${y.at(p.y)}`).join("L") });
    let touched;                        // the first touch of a point describes it, the second opens its folder
    const listen = (node, content) => {
        for (const event of ["pointerenter", "focus"]) node.addEventListener(event, () => {
            const at = node.getBoundingClientRect();
            tell(at.left, at.top, ...content());
        });
        for (const event of ["pointerleave", "blur"]) node.addEventListener(event, e => { tip.hidden = e.pointerType !== "touch"; });
        node.addEventListener("click", e => {
            if (e.pointerType === "touch" && touched !== node) e.preventDefault();
            touched = node;
        });
    };
    for (const p of squares) {
        const title = `reference points of ${p.rounds.join(", ")}`, text = `batch ${number(p.x)}: mean ${number(p.y)}`;
        const node = draw(svg, "rect", { class: "reference", x: x.at(p.x) - 4, y: y.at(p.y) - 4, width: 8, height: 8, "pointer-events": "all", role: "img",
            tabindex: 0, "aria-label": `${title}: ${text}` });
        listen(node, () => [make("b", {}, title), make("br"), text]);
    }
    for (const p of points) {
        const link = draw(svg, "a", { href: encodeURI(p.row.link) + "/", "aria-label": `${p.row.submitter} ${p.row.system}: ${number(p.y)}` });
        draw(link, "circle", { class: "hit", cx: x.at(p.x), cy: y.at(p.y), r: 11 });
        draw(link, "circle", { class: `dot ${p.row.division}`, cx: x.at(p.x), cy: y.at(p.y), r: 4.5, style: `--at: ${colour(p.row)}` });
        listen(link, () => describe(p.row));
    }
}

// ---- the rows

const columns = [["minutes", "minutes", number], ["accelerators", "count", number], ["system", "system"], ["accelerator", "accelerator"],
    ["submitter", "submitter"], ["round", "round"], ["division", "division"], ["global_batch", "batch", number], ["spread", "spread", percent],
    ["samples_per_s", "samples/s", number], ["converged_at", "to target", number], ["reference_at", "reference", number],
    ["scaling_efficiency", "scaling", percent], ["energy_j", "energy J", number], ["framework", "framework"], ["availability", "availability"], ["note", "note"]];
const body = make("tbody");
const table = make("table", {}, make("thead", {}, make("tr", {}, ...columns.map(([, title]) => make("th", { scope: "col" }, title)))), body), sort = sortable(table, 0);
function list(found) {
    body.replaceChildren(...found.map(r => make("tr", {}, ...columns.map(([name, , show]) => make("td", { className: show ? "n" : "", "data-value": r[name] ?? "" },
        name === "system" ? make("a", { href: encodeURI(r.link) + "/" }, r.system) : show ? show(r[name]) : r[name])))));
    sort();
}

// ---- the page

const key = make("p"), count = make("p", { className: "dim", ariaLive: "polite" });
const time = make("figure", { className: "chart" }, make("figcaption", {}, "Time to train over accelerators")),
      samples = make("figure", { className: "chart" }, make("figcaption", {}, "Samples to target over the global batch, with the reference points"));
function update() {
    const found = chosen(), kinds = [...new Set(unique(pick.colour.value))], colour = r => `var(--c${Math.max(0, kinds.indexOf(r[pick.colour.value])) % 8})`;
    const present = kinds.filter(k => found.some(r => r[pick.colour.value] === k)), unit = found.find(r => r.unit)?.unit ?? "samples";
    const point = (r, x, y, joins) => ({ row: r, x, y, joins, series: [r.round, r.division, r.submitter, r.accelerator].join("|") });
    const rounds = checked(pick.round), squares = new Map();
    for (const p of references.filter(p => p.benchmark === pick.benchmark.value && rounds.has(p.round) && p.unit === unit)) {
        const at = `${p.batch}|${p.mean}`;
        squares.set(at, { x: p.batch, y: p.mean, rounds: [...(squares.get(at)?.rounds ?? []), p.round] });
    }
    tip.hidden = true;
    key.replaceChildren(...present.map(k => make("span", { className: "key" }, make("i", { style: `background: var(--c${kinds.indexOf(k) % 8})` }), k)),
        ...(found.some(r => r.division === "open") ? [make("span", { className: "key" }, make("i", { className: "ring" }), "open division")] : []),
        make("span", { className: "key" }, make("i", { className: "square" }), "reference points"));
    count.textContent = `${some(found.length, "result")} of ${some(new Set(found.map(r => r.submitter)).size, "submitter")}. A point opens the folder of its logs; lines join systems of one submitter, round and accelerator.`;
    chart(time, found.filter(r => r.minutes !== null && r.accelerators > 0).map(r => point(r, r.accelerators, r.minutes, true)), [], "accelerators", "minutes", true, colour);
    chart(samples, found.filter(r => r.converged_at !== null && r.global_batch > 0 && r.unit === unit).map(r => point(r, r.global_batch, r.converged_at, false)),
        [...squares.values()], "global batch, samples", `${unit} to target`, false, colour);
    list(found);
}
main.append(make("h1", {}, "MLPerf Training results"),
    make("p", { className: "dim" }, `${some(rows.length, "result")}, ${some(unique("submitter").length, "submitter")}, rounds ${unique("round").join(", ")}. Scores are computed from the logs by the rules of each round.`),
    make("p", {}, make("label", {}, "Benchmark ", pick.benchmark), make("label", {}, "Division ", pick.division), make("label", {}, "Colour by ", pick.colour)),
    pick.round, pick.vendor, words, count, key, time, samples, make("h2", {}, "Results"), make("div", { className: "scroll rows" }, table));
update();
window.addEventListener("resize", update);
