"use strict";
// What pages share: elements, a note beside the pointer, and tables that a click on a heading sorts.
const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) name in node ? node[name] = value : node.setAttribute(name, value);
    node.append(...children);
    return node;
};
const tip = document.body.appendChild(make("div", { className: "tip", hidden: true }));
function tell(x, y, ...content) {
    tip.replaceChildren(...content);
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - tip.offsetHeight - 8))}px`;
}
// A cell sorts by its data-value, or else by its text; cells without a value come last. Returns what sorts new rows as the reader chose.
function sortable(table, by = -1) {
    const heads = [...table.tHead.rows[0].cells];
    let up = true;
    const value = row => { const cell = row.cells[by], text = cell.dataset.value ?? cell.textContent; return text === "" || isNaN(text) ? text : +text; };
    const isMissing = x => x === "" || x === "-" || x === "–";
    const order = (x, y) => isMissing(x) || isMissing(y) ? isMissing(x) - isMissing(y)
        : (up ? 1 : -1) * (typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(y, "en", { numeric: true }));
    const sort = () => {
        heads.forEach((head, i) => head.setAttribute("aria-sort", i !== by ? "none" : up ? "ascending" : "descending"));
        if (by >= 0) table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => order(value(a), value(b))));
    };
    heads.forEach((head, i) => head.replaceChildren(make("button", { type: "button", onclick: () => {
        up = by === i ? !up : true;
        by = i;
        sort();
    } }, head.textContent)));
    return sort;
}
