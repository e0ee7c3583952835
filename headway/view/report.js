"use strict";
// Builds the report from the data in the page. Text only ever becomes a text node: what a trace
// says is shown, never run.
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
const kSvg = new Set(["svg", "path", "rect", "line", "text", "circle", "g", "title"]);
const kLines = ["#2f74d0", "#d55e00", "#009e73", "#a45cc7", "#c28a00", "#3aa3d8", "#d0568f", "#7a8694"];
const kPhases = { "waiting for data": "#d55e00", upload: "#56b4e9", forward: "#2f74d0", backward: "#5b50b5",
  optimizer: "#009e73", metrics: "#8b95a1", callbacks: "#cc79a7", checkpoint: "#e0a100", validation: "#8c6d46",
  consumer: "#3a7f9f", "first batch": "#d55e00", building: "#009e73", "first step": "#2f74d0", listing: "#56b4e9" };
const phaseColor = (name) => kPhases[name] || "#7a8694";

function el(tag, attributes, ...children) {
  const node = kSvg.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "style") Object.assign(node.style, value);
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Numbers as the command line writes them.
function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2).replace("e+", "e");
  return size >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(3)));
}
function duration(s) {
  if (s === 0) return "0 s";
  if (s < 0.9995e-3) return digits(s * 1e6) + " µs";
  if (s < 0.9995) return digits(s * 1e3) + " ms";
  if (s < 99.5) return digits(s) + " s";
  const whole = Math.round(s);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
}
function bytes(n) {
  let unit = 0;
  for (; Math.abs(n) >= 1000 && unit < 4; ++unit) n /= 1000;
  return `${digits(n)} ${["bytes", "KB", "MB", "GB", "TB"][unit]}`;
}
const percent = (share) => share > 0 && share < 0.01 ? "<1%" : `${Math.round(100 * share)}%`;
function shown(value, unit) {
  if (unit === "s") return duration(value);
  if (unit === "bytes") return bytes(value);
  if (unit === "bytes/s") return bytes(value) + "/s";
  if (unit === "share") return percent(value);
  return digits(value) + (unit === "/s" ? "/s" : unit && unit !== "cores" && unit !== "batches" ? " " + unit : "");
}

// One tooltip for all: rows of [colour, name, text].
function showTip(x, y, title, rows) {
  tip.replaceChildren(el("b", {}, title), ...rows.map(([color, name, text]) =>
    el("div", {}, el("span", {}, el("i", { class: "swatch", style: { background: color } }), name), el("span", {}, text))));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18) + "px";
}
const hideTip = () => { tip.hidden = true; };

// draw(width) gives an svg, drawn once its place is on the page and again when that changes width.
const drawings = [];
function fitted(draw) {
  const place = el("div");
  let width = 0;
  const redraw = () => {
    const now = Math.floor(place.clientWidth);
    if (now === width || now === 0) return;
    width = now;
    place.replaceChildren(draw(width));
  };
  drawings.push(() => {
    redraw();
    new ResizeObserver(() => requestAnimationFrame(redraw)).observe(place);
  });
  return place;
}

function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
  const out = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-6; t += step) out.push(Math.abs(t) < step * 1e-6 ? 0 : t);
  return out;
}
// Seconds fall on seconds, minutes and hours.
function timeTicks(end, count) {
  const step = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 604800].find((s) => end / s <= count);
  return end < 1 || !step ? ticks(0, end, count) : Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}
function clock(s) {
  if (data.seconds < 100) return digits(s) + " s";
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  return data.seconds < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(s / 60 % 60)}` + (data.seconds < 36000 ? `:${two(s % 60)}` : "");
}
const kLeft = 58, kRight = 10;
const xScale = (width, end) => (at) => kLeft + (width - kLeft - kRight) * (end > 0 ? at / end : 0);
function timeAxis(width, y, end) {
  const x = xScale(width, end);
  return timeTicks(end, Math.max(2, width / 90)).map((t) =>
    el("text", { x: x(t), y, "text-anchor": x(t) > width - 30 ? "end" : "middle" }, clock(t)));
}

// Lines by name over time: {title, unit, lines: [{name, points: [[seconds, step, value]]}]}.
function plot(chart) {
  const many = chart.lines.length > kLines.length;
  const color = (i) => many ? `hsl(${215 - 190 * i / (chart.lines.length - 1)} 65% 50%)` : kLines[i];
  const values = chart.lines.flatMap((line) => line.points.map((p) => p[2]));
  const smallest = Math.min(...values), largest = Math.max(...values);
  const log = smallest > 0 && largest / smallest > 500;
  const scaled = (v) => log ? Math.log10(v) : v;
  const flat = ["share", "bytes", "cores", "/s", "bytes/s", "s", "batches"].includes(chart.unit);  // from 0
  let low = flat && !log ? Math.min(0, smallest) : scaled(smallest), high = scaled(largest);
  if (high === low) { high += Math.abs(high) * 0.1 || 1; if (!flat) low -= Math.abs(low) * 0.1; }
  if (!flat || log) { const air = (high - low) * 0.06; low -= air; high += air; } else high += (high - low) * 0.06;
  const height = 190, top = 8, bottom = height - 22;
  const y = (v) => bottom - (bottom - top) * (scaled(v) - low) / (high - low);

  const draw = (width) => {
    const x = xScale(width, data.seconds);
    const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", tabindex: 0, "aria-label":
      `${chart.title}: ` + chart.lines.map((l) => `${l.name} from ${shown(l.points[0][2], chart.unit)} to ${shown(l.points[l.points.length - 1][2], chart.unit)}`).join("; ") });
    const marks = log ? ticks(Math.ceil(low), Math.floor(high), 4).filter(Number.isInteger) : ticks(low, high, 4);
    for (const t of marks) {
      const v = log ? 10 ** t : t;
      svg.append(el("line", { class: "grid", x1: kLeft, x2: width - kRight, y1: y(v), y2: y(v) }),
        el("text", { x: kLeft - 8, y: y(v) + 4, "text-anchor": "end" }, shown(v, chart.unit)));
    }
    svg.append(...timeAxis(width, height - 5, data.seconds));
    chart.lines.forEach((line, i) => {
      const path = line.points.map((p, k) => `${k ? "L" : "M"}${x(p[0]).toFixed(1)} ${y(p[2]).toFixed(1)}`).join("");
      svg.append(el("path", { class: "line", d: path, stroke: color(i) }));
      if (line.points.length < 13) line.points.forEach((p) => svg.append(el("circle", { class: "dot", r: 3.5, cx: x(p[0]), cy: y(p[2]), fill: color(i) })));
    });
    hover(svg, x, width, color);
    return svg;
  };
  // The nearest point of every line, by pointer or by arrow keys.
  const times = [...new Set(chart.lines.flatMap((l) => l.points.map((p) => p[0])))].sort((a, b) => a - b);
  const hover = (svg, x, width, color) => {
    const cursor = el("line", { class: "cursor", y1: top, y2: bottom, visibility: "hidden" });
    const dots = chart.lines.map((_, i) => el("circle", { class: "dot", r: 4, fill: color(i), visibility: "hidden" }));
    svg.append(cursor, ...dots);
    let at = times.length - 1;
    const show = () => {
      const t = times[at], rows = [], place = svg.getBoundingClientRect();
      let step = 0;
      chart.lines.forEach((line, i) => {
        const near = line.points.reduce((a, b) => Math.abs(b[0] - t) < Math.abs(a[0] - t) ? b : a);
        const visible = Math.abs(near[0] - t) <= data.seconds / 50 || near[0] === t;
        dots[i].setAttribute("visibility", visible ? "visible" : "hidden");
        if (!visible) return;
        dots[i].setAttribute("cx", x(near[0])); dots[i].setAttribute("cy", y(near[2]));
        step = near[1];
        if (rows.length < 14) rows.push([color(i), line.name, shown(near[2], chart.unit)]);
      });
      cursor.setAttribute("x1", x(t)); cursor.setAttribute("x2", x(t)); cursor.setAttribute("visibility", "visible");
      showTip(place.left + x(t), place.top + 40, `${duration(t)} · step ${step.toLocaleString("en-US")}`, rows);
    };
    const leave = () => { hideTip(); [cursor, ...dots].forEach((n) => n.setAttribute("visibility", "hidden")); };
    svg.addEventListener("pointermove", (e) => {
      const wanted = (e.clientX - svg.getBoundingClientRect().left - kLeft) / (width - kLeft - kRight) * data.seconds;
      at = times.reduce((best, t, i) => Math.abs(t - wanted) < Math.abs(times[best] - wanted) ? i : best, 0);
      show();
    });
    svg.addEventListener("keydown", (e) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (!move) return;
      e.preventDefault();
      at = Math.max(0, Math.min(times.length - 1, at + move));
      show();
    });
    svg.addEventListener("pointerleave", leave);
    svg.addEventListener("blur", leave);
  };
  // Of many lines the first and the last: the colours between them follow the order.
  const told = (i) => el("li", {}, el("i", { class: "swatch", style: { background: color(i) } }), chart.lines[i].name);
  const legend = chart.lines.length === 1 && chart.lines[0].name === chart.title ? null :
    el("ul", { class: "legend" }, ...(many ? [told(0), el("li", {}, `… ${chart.lines.length - 2} more …`), told(chart.lines.length - 1)] : chart.lines.map((_, i) => told(i))));
  return el("figure", { class: "card" }, el("figcaption", {}, el("h3", {}, chart.title + (log ? " (log scale)" : "")), legend), fitted(draw));
}

function head() {
  const { state, sentence } = data.verdict;
  const colon = sentence.indexOf(": ");
  return el("header", { class: `card ${state}` },
    el("div", { class: "brand" }, el("b", {}, "headway report"), el("span", {}, data.program)),
    el("div", { class: "verdict" }, el("span", { class: "pill" }, colon < 0 ? state : sentence.slice(0, colon)), el("h1", {}, colon < 0 ? sentence : sentence.slice(colon + 2))),
    el("dl", { class: "facts" }, ...data.facts.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, text)))));
}

function copyButton(text) {
  const button = el("button", { type: "button" }, "copy");
  button.addEventListener("click", async () => {
    try { await navigator.clipboard.writeText(text); } catch {  // an old browser, or one that asks
      const area = el("textarea", {}); area.value = text; document.body.append(area); area.select(); document.execCommand("copy"); area.remove();
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  return button;
}

function finding(f) {
  const row = (name, ...what) => [el("dt", {}, name), el("dd", {}, ...what)];
  const gain = f.gain_text ? el("span", { class: "pill gain" }, f.gain_text) : null;
  return el("article", { class: `card finding ${f.severity}`, id: f.cause },
    el("header", {}, el("span", { class: "pill" }, f.severity), el("h3", {}, f.summary), gain),
    el("dl", {},
      ...(f.where ? row("where", el("code", {}, f.where)) : []),
      ...(f.evidence.length ? row("evidence", el("ul", {}, ...f.evidence.map((line) => el("li", {}, line)))) : []),
      ...(f.fix ? row("fix", el("div", { class: "fix" }, el("pre", {}, el("code", {}, f.fix)), copyButton(f.fix))) : []),
      ...row("sure", el("span", { class: "sure" }, el("i", { style: { width: `${100 * f.confidence}%` } })), f.confidence_text),
      ...row("more", f.page_text ? el("details", {}, el("summary", {}, el("code", {}, f.page)), markdown(f.page_text)) : el("code", {}, f.page))));
}

// As much of Markdown as the pages of the causes use.
function markdown(text) {
  const inline = (line) => line.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)]+\))/).map((part) =>
    part.startsWith("`") ? el("code", {}, part.slice(1, -1)) :
    part.startsWith("**") ? el("b", {}, ...inline(part.slice(2, -2))) :
    /^\*.+\*$/.test(part) ? el("i", {}, part.slice(1, -1)) :
    /^\[.*\)$/.test(part) ? el("i", {}, part.slice(1, part.indexOf("]"))) : part);
  const page = el("div", { class: "page" });
  let code = null, block = null;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) {
      if (code) { page.append(el("pre", { class: "fix" }, code.join("\n"))); code = null; } else code = [];
      block = null;
    } else if (code) code.push(line);
    else if (line.startsWith("#")) { page.append(el("h4", {}, ...inline(line.replace(/^#+ */, "")))); block = null; }
    else if (/^\s*- /.test(line)) { block = el("li", {}, ...inline(line.replace(/^\s*- /, ""))); page.append(block); }
    else if (line.trim() === "") block = null;
    else if (block) block.append(" ", ...inline(line.trim()));
    else { block = el("p", {}, ...inline(line)); page.append(block); }
  }
  return page;
}

function pipeline() {
  const nodes = [];
  for (const box of data.pipeline) {
    if (nodes.length) nodes.push(el("div", { class: "arrow", "aria-hidden": "true" }, el("svg", { viewBox: "0 0 30 14", height: 14 }, el("path", { d: "M3 7H26M20 2l6 5-6 5" }))));
    const known = box.utilisation >= 0;
    const out = { source: "elements/s", stage: "/s out", training: "steps/s" }[box.kind];
    nodes.push(el("div", { class: "box" + (box.hot ? " hot" : "") },
      box.hot ? el("span", { class: "flame" }, data.verdict.state === "stuck" ? "it hangs here" : "sets the pace") : null,
      el("b", {}, { source: "source", stage: "feed", training: "training" }[box.kind]),
      el("div", { class: "names" }, ...box.names.flatMap((name, i) => i ? [el("br"), name] : [name])),
      el("div", { class: "meter" }, el("i", { style: { width: `${100 * Math.max(0, box.utilisation)}%` } })),
      el("span", { class: "big" }, known ? percent(box.utilisation) : "–"), el("span", { class: "soft" }, " busy"),
      el("small", {}, `${digits(box.per_second)} ${out}`),
      box.queue_capacity ? el("small", {}, `queue ${box.queue_fill} of ${box.queue_capacity}`) : null,
      box.dropped ? el("small", {}, `${digits(box.dropped)} dropped`) : null,
      ...box.ops.slice(0, 4).filter(() => box.ops.length > 1).map(([name, share]) => el("small", {}, `${name} ${percent(share)}`))));
  }
  return el("div", { class: "pipeline" }, ...nodes);
}

function breakdown() {
  const { total, steps, pieces, names } = data.breakdown;
  const sum = total.reduce((a, b) => a + b, 0);
  const parts = names.map((name, i) => ({ name, i, s: total[i] })).filter((p) => p.s > 0).sort((a, b) => b.s - a.s);
  const inOrder = [...parts].sort((a, b) => a.i - b.i);
  const bar = el("div", { class: "bar", role: "img", "aria-label": parts.map((p) => `${p.name} ${percent(p.s / sum)}`).join(", ") },
    ...inOrder.map((p) => el("span", { style: { flex: `${p.s} 0 0`, background: phaseColor(p.name) },
      onpointermove: (e) => showTip(e.clientX, e.clientY, "warm-up left out", [[phaseColor(p.name), p.name, `${percent(p.s / sum)} · ${duration(p.s)}`]]), onpointerleave: hideTip })));
  const list = el("ul", { class: "parts" }, ...parts.map((p) => el("li", {}, el("i", { class: "swatch", style: { background: phaseColor(p.name) } }),
    el("span", {}, p.name), el("b", {}, percent(p.s / sum)), el("small", {}, steps ? duration(p.s / steps) : ""))));
  const draw = (width) => {
    const height = 150, bottom = 126, x = xScale(width, data.seconds);
    const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "shares of a step over time" });
    for (const share of [0, 0.5, 1]) svg.append(el("line", { class: "grid", x1: kLeft, x2: width - kRight, y1: bottom - 118 * share, y2: bottom - 118 * share }),
      el("text", { x: kLeft - 8, y: bottom - 118 * share + 4, "text-anchor": "end" }, percent(share)));
    for (const [from, to, step, count, seconds] of pieces) {
      const whole = seconds.reduce((a, b) => a + b, 0), wide = x(to) - x(from);
      let y = bottom;
      const column = el("g", { onpointermove: (e) => showTip(e.clientX, e.clientY, `${duration(from)} – ${duration(to)} · ${count} steps to ${step.toLocaleString("en-US")}`,
        inOrder.filter((p) => seconds[p.i] > 0).map((p) => [phaseColor(p.name), p.name, percent(seconds[p.i] / whole)]).reverse()), onpointerleave: hideTip });
      for (const p of inOrder) {
        const h = 118 * seconds[p.i] / whole;
        y -= h;
        if (h > 0) column.append(el("rect", { x: x(from), y, width: wide > 6 ? wide - 1 : wide + 0.5, height: h, fill: phaseColor(p.name) }));
      }
      svg.append(column);
    }
    svg.append(...timeAxis(width, height - 5, data.seconds));
    return svg;
  };
  return el("div", { class: "card" }, bar, list, pieces.length > 1 ? fitted(draw) : null);
}

// Phases that were worth a line, epochs, notes: what happened when.
function timeline() {
  const rows = [["phases", data.phases.map((p) => [p.at_s, p.seconds, p.name, phaseColor(p.name)])],
    ["epochs", data.epochs.map((e, i) => [i ? data.epochs[i - 1].at_s : 0, e.at_s - (i ? data.epochs[i - 1].at_s : 0), `epoch ${e.epoch + 1}`, i % 2 ? "#3a7f9f" : "#2f74d0", e.logs])],
    ["notes", data.notes.map((n) => [n.at_s, 0, `${n.kind}: ${n.text.slice(0, 160)}`, n.kind === "error" ? "#c01f2e" : "#e0a100"])]].filter((row) => row[1].length);
  const draw = (width) => {
    const height = rows.length * 34 + 24, x = xScale(width, data.seconds);
    const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "what happened when" });
    rows.forEach(([name, spans], r) => {
      const top = r * 34 + 4;
      svg.append(el("text", { x: kLeft - 8, y: top + 17, "text-anchor": "end" }, name), el("line", { class: "grid", x1: kLeft, x2: width - kRight, y1: top + 30, y2: top + 30 }));
      for (const [at, seconds, what, color, logs] of spans) {
        const w = x(at + seconds) - x(at);
        const told = { onpointermove: (e) => showTip(e.clientX, e.clientY, what, [[color, "from", duration(at)], ...(seconds ? [[color, "for", duration(seconds)]] : []),
          ...(logs || []).map(([log, v]) => [color, log, v === null ? "NaN" : digits(v)])]), onpointerleave: hideTip, fill: color };
        svg.append(seconds ? el("rect", { class: "gap", x: x(at), y: top, width: Math.max(2, w), height: 24, rx: 3, ...told }) : el("circle", { class: "dot", cx: x(at), cy: top + 12, r: 6, ...told }));
        if (w > what.length * 7 + 8) svg.append(el("text", { x: x(at) + w / 2, y: top + 16, "text-anchor": "middle", style: { fill: "#fff", pointerEvents: "none" } }, what));
      }
    });
    svg.append(...timeAxis(width, height - 5, data.seconds));
    return svg;
  };
  const last = data.phases.find((p) => p.name === "first step");
  const start = data.phases.filter((p) => !last || p.at_s <= last.at_s).slice(0, 12);
  const list = el("ul", { class: "parts" }, ...start.map((p) => el("li", {}, el("i", { class: "swatch", style: { background: phaseColor(p.name) } }), el("span", {}, p.name), el("b", {}, duration(p.seconds)))));
  return el("div", { class: "card" }, start.length ? el("p", { class: "soft" }, "until the first step was done") : null, list, fitted(draw));
}

function section(title, small, ...nodes) {
  return el("section", {}, el("h2", {}, title, small ? el("small", {}, small) : null), ...nodes);
}

const kMachine = new Set(["cores", "CPU quota", "memory", "reading", "pressure", "major faults"]);
const machine = data.charts.filter((c) => kMachine.has(c.title)), learning = data.charts.filter((c) => !kMachine.has(c.title));
const report = document.getElementById("report");
report.append(head());
report.append(data.findings.length ? section("Findings", data.findings.length > 1 ? "the root first" : "", ...data.findings.map(finding)) :
  section("Findings", "", el("div", { class: "card calm" }, el("span", { class: "pill" }, "nothing"), "no rule has anything to say about this run")));
if (data.pipeline.length) report.append(section("The way of the data", "how busy each part was, warm-up left out", pipeline()));
if (data.breakdown.total.some((s) => s > 0)) report.append(section("Where a step's time goes", "per step at the right, warm-up left out", breakdown()));
if (data.phases.length || data.epochs.length || data.notes.length) report.append(section("What happened when", "", timeline()));
if (learning.length) report.append(section("Learning and speed", "", el("div", { class: "charts" }, ...learning.map(plot))));
if (machine.length) report.append(section("The machine", "", el("div", { class: "charts" }, ...machine.map(plot))));
if (data.notes.length) report.append(section("Notes", "", el("div", { class: "card scroll" }, el("ul", { class: "notes" }, ...data.notes.map((n) => el("li", {}, el("time", {}, duration(n.at_s)), el("pre", {}, n.text)))))));
if (data.dataset) report.append(section("The dataset", "", el("div", { class: "card scroll" }, el("pre", {}, data.dataset))));
report.append(el("footer", {}, "one file, no network: it may be kept and sent. What looked like a secret was left out."));
drawings.forEach((draw) => draw());
