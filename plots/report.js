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
