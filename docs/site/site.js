"use strict";
// Light or dark, the menu on a phone, and the search. Runs from a folder: what it needs are scripts beside it.
const root = document.currentScript.dataset.root;

// ---- light or dark: as the system says until the button is pressed ----

function remembered(name) {
  try { return localStorage.getItem(name); } catch { return null; }  // a browser may forbid it for files
}
function remember(name, value) {
  try { localStorage.setItem(name, value); } catch { /* then it is forgotten with the page */ }
}
const chosen = remembered("headway-theme");
if (chosen) document.documentElement.dataset.theme = chosen;

function switchTheme() {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("--is-dark").trim() === "1";
  const theme = dark ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  remember("headway-theme", theme);
}

// ---- the search ----

let loading = null;
function index() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}/search_index.js`;
    script.onload = () => resolve(window.searchIndex.map(([title, page, weight, level, heading, anchor, text]) =>
      ({ title, page, weight, level, heading, anchor, text, inTitle: title.toLowerCase(), inHeading: heading.toLowerCase(), inText: text.toLowerCase() })));
    script.onerror = () => reject(new Error("search_index.js is missing beside this page; make the site anew: make docs"));
    document.head.append(script);
  });
  return loading;
}

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const wordsOf = (query) => query.toLowerCase().split(/[\s,]+/).filter(Boolean);
// A word counts where another one begins with it: "deadlock" is found in "worker-deadlock", not in "redeadlocks".
const beginning = (word) => new RegExp(`(?<![a-z0-9])${escaped(word)}`, "g");

function score(entry, patterns) {
  let sum = 0;
  for (const pattern of patterns) {
    const count = (text) => (text.match(pattern) || []).length;
    const here = 40 * Math.min(1, count(entry.inTitle)) + 12 * Math.min(1, count(entry.inHeading)) + Math.min(6, count(entry.inText));
    if (here === 0) return 0;
    sum += here;
  }
  return entry.weight * (isTop(entry) ? sum + 6 : sum);
}
const isTop = (entry) => entry.level === 1;

function excerpt(text, patterns) {
  const places = patterns.map((pattern) => text.toLowerCase().search(pattern)).filter((at) => at >= 0);
  const from = places.length ? Math.max(0, Math.min(...places) - 60) : 0;
  const start = from === 0 ? 0 : text.indexOf(" ", from) + 1;
  return (start > 0 ? "… " : "") + text.slice(start, start + 170) + (text.length > start + 170 ? " …" : "");
}

// The best places, not more than two of a page.
function best(entries, patterns) {
  const found = entries.map((entry) => ({ entry, score: score(entry, patterns) })).filter((each) => each.score > 0);
  const shown = new Map();
  return found.sort((a, b) => b.score - a.score).filter(({ entry }) => {
    shown.set(entry.page, (shown.get(entry.page) || 0) + 1);
    return shown.get(entry.page) <= 2;
  });
}

// Text with what was searched for in <mark>; only text nodes.
function marked(text, words) {
  const node = document.createElement("span");
  const parts = text.split(new RegExp(`((?<![a-z0-9])(?:${words.map(escaped).join("|")}))`, "gi"));
  parts.forEach((part, i) => {
    if (i % 2 === 0) return node.append(part);
    const mark = document.createElement("mark");
    mark.textContent = part;
    node.append(mark);
  });
  return node;
}

function item({ entry }, words, patterns) {
  const link = document.createElement("a");
  link.href = `${root}/${entry.page}${entry.anchor ? `#${entry.anchor}` : ""}`;
  const title = document.createElement("b");
  title.append(marked(isTop(entry) ? entry.heading || entry.title : `${entry.title} › ${entry.heading}`, words));
  const text = document.createElement("small");
  text.append(marked(excerpt(entry.text, patterns), words));
  link.append(title, text);
  return link;
}

let asked = 0;
async function search(query) {
  const results = document.getElementById("results"), words = wordsOf(query), turn = ++asked;
  results.hidden = words.length === 0;
  if (results.hidden) return;
  const entries = await index();
  if (turn !== asked) return;  // another letter was typed meanwhile
  const patterns = words.map(beginning);
  const found = best(entries, patterns);
  const head = document.createElement("p");
  head.textContent = found.length === 0 ? `nothing was found for “${query}”` : `${found.length} places` + (found.length > 30 ? ", the best 30 of them" : "");
  results.replaceChildren(head, ...found.slice(0, 30).map((each) => item(each, words, patterns)));
}

function moveIn(results, down) {
  const links = [...results.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  links[Math.max(0, Math.min(links.length - 1, at + (down ? 1 : -1)))]?.focus();
}

// ---- commands are made to be copied ----

function addCopyButton(command) {
  const button = document.createElement("button"), text = command.innerText.trim();
  button.textContent = "copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  command.append(button);
}

document.addEventListener("DOMContentLoaded", () => {
  if (navigator.clipboard) document.querySelectorAll("pre.command").forEach(addCopyButton);
  const input = document.querySelector("#search input"), results = document.getElementById("results");
  const menu = document.getElementById("menu"), pages = document.getElementById("pages");
  document.getElementById("theme").addEventListener("click", switchTheme);
  menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(document.body.classList.toggle("menu"))));
  pages.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });

  input.addEventListener("input", () => search(input.value));
  document.getElementById("search").addEventListener("submit", (event) => {
    event.preventDefault();
    results.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target === input || results.contains(event.target);
    if (event.key === "/" && !typing) event.preventDefault(), input.focus();
    if (event.key === "Escape") input.value = "", results.hidden = true, input.blur();
    if (typing && (event.key === "ArrowDown" || event.key === "ArrowUp")) event.preventDefault(), moveIn(results, event.key === "ArrowDown");
  });
  document.addEventListener("click", (event) => {
    if (!results.contains(event.target) && event.target !== input) results.hidden = true;
  });
  const query = new URLSearchParams(location.search).get("q");
  if (query) input.value = query, search(query);
});
