"use strict";
// Copying, the live part of a run, and looking further. Without scripts every page works; these save clicks.

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    // no right to the clipboard: mark the text, so that the keys for copying work
    getSelection().selectAllChildren(source);
    button.textContent = "Marked";
  }
});

async function pageAt(url) {
  const reply = await fetch(url, { credentials: "same-origin" });
  if (!reply.ok) throw new Error(`${reply.status}`);
  return new DOMParser().parseFromString(await reply.text(), "text/html");
}

const POLL_MS = 2000;
const began = { at: Date.now(), settled: document.querySelector("#live progress")?.value };

// How fast it goes since this page was opened, and what is left at that rate.
function pace(live) {
  const bar = live.querySelector("progress");
  const minutes = (Date.now() - began.at) / 60000;
  const rate = (bar.value - began.settled) / minutes;
  if (!(rate > 0) || bar.value >= bar.max) return;
  const left = Math.ceil((bar.max - bar.value) / rate);
  live.querySelector("[data-pace]").textContent = ` · ${rate.toPrecision(2)} a minute, about ${left} min left`;
}

async function follow() {
  const live = document.getElementById("live");
  if (!live || !live.hasAttribute("data-open")) return;
  if (!document.hidden) {
    try {
      const fresh = (await pageAt(live.dataset.live)).getElementById("live");
      if (fresh && (fresh.dataset.tries !== live.dataset.tries || !fresh.hasAttribute("data-open"))) {
        pace(fresh);
        live.replaceWith(fresh);
      }
    } catch {
      // the server is away; the next round may reach it
    }
  }
  setTimeout(follow, POLL_MS);
}

setTimeout(follow, POLL_MS);

// A search that has found little goes on by itself, page after page, until it has something to show.
const ENOUGH = 20;
const ROUNDS = 400;

async function lookOn() {
  for (let round = 0; round < ROUNDS; round++) {
    const next = document.querySelector("#more a[data-look-on]");
    const list = document.getElementById("list");
    if (!next || list.children.length >= ENOUGH) return;
    const words = next.textContent;
    next.textContent = "Looking further…";
    try {
      const page = await pageAt(next.href);
      list.append(...page.getElementById("list").children);
      document.getElementById("more").replaceWith(page.getElementById("more"));
    } catch {
      next.textContent = words;
      return;
    }
  }
}

lookOn();
