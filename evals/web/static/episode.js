"use strict";
// Keys on an episode: j and k go turn by turn, n to the next error, N back to the last one.

const turns = [...document.querySelectorAll("article[id]")];
let now = Math.max(0, turns.findIndex((turn) => `#${turn.id}` === location.hash));

function show(place) {
  if (place < 0 || place >= turns.length) return;
  turns[now].classList.remove("now");
  now = place;
  turns[now].classList.add("now");
  turns[now].focus({ preventScroll: true });
  turns[now].scrollIntoView({ block: "start" });
  history.replaceState(null, "", `#${turns[now].id}`);
}

function wrong(from, step) {
  for (let place = from + step; place >= 0 && place < turns.length; place += step) {
    if (turns[place].classList.contains("wrong")) return place;
  }
  return -1;
}

let moved = location.hash !== "";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  if (turns.length === 0) return;
  const start = moved ? now : -1; // the first key goes to the first turn, or to the first error
  if (event.key === "j") show(start + 1);
  else if (event.key === "k") show(now - 1);
  else if (event.key === "n") show(wrong(start, 1));
  else if (event.key === "N") show(wrong(now, -1));
  else return;
  moved = true;
  event.preventDefault();
});

addEventListener("hashchange", () => {
  const place = turns.findIndex((turn) => `#${turn.id}` === location.hash);
  if (place >= 0) { turns[now].classList.remove("now"); now = place; moved = true; }
});
