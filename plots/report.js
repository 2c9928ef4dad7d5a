// A link to a folded part opens it, and what is typed above a table or the cards filters them.
document.querySelectorAll("table.sortable").forEach(table => sortable(table));
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

// Figures answer to the mouse: gnuplot's marks for it (of_point and of_row in style.gp) say what the nearest point, or the row under the mouse, has;
// a click goes to the card of the run that the first line names. A click on a word of the legend hides its points, or shows them again.
const NEAR = 22, ROW = 11, HEAD = 21;       // in units of the drawing; HEAD: a line of the finding (style.gp)
const cards = [...document.querySelectorAll("details[id^=run-]")].sort((a, b) => a.id.length - b.id.length);
function card(text) {
    const id = document.getElementById(`run-${text.split("\n")[0]}`);
    if (id) return id;
    const words = text.split("\n")[0].toLowerCase().split(/[\s,]+/).filter(word => word !== "ipu" && isNaN(word));
    return words.length && words.some(word => word.includes("pod") || word.includes("c600")) && cards.find(at => words.every(word => `${at.id.toLowerCase()}-`.includes(`${word}-`)));
}
function marks(svg) {
    return [...svg.querySelectorAll("[data-says]")].map(mark => {
        const text = mark.dataset.says.replaceAll("\\n", "\n"), use = mark.querySelector("use");
        const [x, y] = use.getAttribute("transform").match(/translate\(([^)]*)\)/)[1].split(",").map(Number), isRow = use.getAttribute("xlink:href").endsWith("gpPt4");
        mark.remove();
        return { text, x, y, isRow };
    });
}
function answer(svg) {
    const all = marks(svg), ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    const place = event => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const distance = (at, { x, y, isRow }) => isRow ? (Math.abs(y - at.y) <= ROW ? Math.abs(x - at.x) : Infinity) : Math.hypot(x - at.x, y - at.y) <= NEAR ? Math.hypot(x - at.x, y - at.y) : Infinity;
    const nearest = event => {
        const at = place(event), [best] = all.map(mark => ({ mark, d: distance(at, mark) })).sort((a, b) => a.d - b.d);
        return best && best.d < Infinity ? best.mark : null;
    };
    ring.setAttribute("r", 8);
    ring.setAttribute("class", "ring");
    svg.append(ring);
    svg.querySelectorAll("title").forEach(title => title.remove());
    // The page has the finding above the figure: its lines, which are centred at the top, are taken out.
    const plain = node => node.textContent.replace(/\s+/g, ""), caption = plain(svg.closest("figure").querySelector("figcaption")), { width, height } = svg.viewBox.baseVal;
    let said = "";
    const lines = [...svg.querySelectorAll("text")].filter(text => {
        const at = text.closest("[transform]")?.transform.baseVal[0].matrix, isLine = at?.e === width / 2 && at.f < 5 * HEAD && plain(text) && caption.startsWith(said + plain(text));
        said += isLine ? plain(text) : "";
        return isLine;
    });
    lines.forEach(text => text.remove());
    svg.setAttribute("viewBox", `0 ${HEAD * lines.length} ${width} ${height - HEAD * lines.length}`);
    ["width", "height"].forEach(name => svg.removeAttribute(name));
    svg.addEventListener("pointermove", event => {
        const mark = nearest(event);
        ring.style.display = mark && !mark.isRow ? "block" : "none";
        svg.style.cursor = mark && card(mark.text) ? "pointer" : "";
        tip.hidden = true;
        if (!mark) return;
        ring.setAttribute("cx", mark.x);
        ring.setAttribute("cy", mark.y);
        tell(event.clientX, event.clientY, mark.text);
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; ring.style.display = "none"; });
    svg.addEventListener("click", event => {
        const mark = nearest(event), target = mark && card(mark.text);
        if (target) location.hash = target.id;
    });
    for (const name of svg.querySelectorAll("g[id*=gnuplot_plot_] > g:first-of-type text")) {
        name.style.cursor = "pointer";
        name.addEventListener("click", () => name.closest("g[id*=gnuplot_plot_]").classList.toggle("off"));
    }
}
document.querySelectorAll("figure svg").forEach(answer);
