"use strict";
// The page of a player. Texts of environments are only ever set as text, never as HTML.

const root = document.getElementById("play");
const base = root.dataset.base;
const at = (id) => document.getElementById(id);
const said = at("said");
const SHOWN_ACTIONS = 60;
const NAME_KEY = "agentenv-pseudonym";

let me = null;
let game = null;
let busy = false;
let past = []; // actions of this game, for Up and Down
let place = 0;
let draft = "";

// Asking the server.

class Refused extends Error {
  constructor(problem) {
    super(problem.detail || problem.title || "the server refused it");
    this.code = problem.code;
  }
}

async function ask(path, body) {
  const options = { credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) {
    options.method = "POST";
    options.headers = { "content-type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let reply;
  try {
    reply = await fetch(`${base}/play/${path}`, options);
  } catch {
    throw new Error("The server cannot be reached. Nothing is lost: try again.");
  }
  const told = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Refused(told);
  return told;
}

async function doing(work) {
  if (busy) return;
  busy = true;
  root.classList.add("busy");
  at("problem").hidden = true;
  try {
    await work();
  } catch (problem) {
    if (["step_conflict", "episode_over", "not_found", "unauthorized"].includes(problem.code)) await look();
    at("problem").textContent = problem.message;
    at("problem").hidden = false;
    at("problem").scrollIntoView({ block: "nearest" });
  } finally {
    busy = false;
    root.classList.remove("busy");
  }
}

async function look() {
  const told = await ask("state").catch(() => ({ name: null, game: null }));
  me = told.name;
  if (told.game) begin(told.game);
  else show(me ? "choose" : "enter");
}

// Which part is seen.

function show(part) {
  for (const id of ["enter", "choose", "game"]) at(id).hidden = id !== part;
  if (part === "enter") {
    const name = at("enter").querySelector("[name=name]");
    name.value = name.value || remembered();
    name.focus();
  }
  if (part === "choose") {
    for (const place of document.querySelectorAll(".me")) place.textContent = me;
    loadSources();
  }
}

function remembered() {
  try {
    return localStorage.getItem(NAME_KEY) || "";
  } catch {
    return "";
  }
}

// Coming in and choosing.

at("enter").querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(event.target);
  doing(async () => {
    const told = await ask("enter", { name: form.get("name"), token: form.get("token") || "" });
    me = told.name;
    try {
      localStorage.setItem(NAME_KEY, me);
    } catch {
      // it will have to be typed next time
    }
    show("choose");
  });
});

at("other").addEventListener("click", () => show("enter"));

const chooser = at("choose").querySelector("form");
const wish = new URLSearchParams(location.search);
if ([...chooser.env.options].some((option) => option.value === wish.get("env"))) chooser.env.value = wish.get("env");
if (wish.get("task")) chooser.task.value = wish.get("task");
chooser.env.addEventListener("change", () => {
  chooser.task.value = "";
  loadSources();
});

async function loadSources() {
  const env = chooser.env.value;
  const start = chooser.querySelector("button");
  chooser.source.disabled = start.disabled = true;
  chooser.source.replaceChildren(new Option("looking…", ""));
  try {
    const { sources } = await ask(`tasks/${encodeURIComponent(env)}`);
    if (env !== chooser.env.value) return; // another one was chosen meanwhile
    chooser.source.replaceChildren(...sources.map((source) => new Option(source.text, source.value)));
    const split = `split:${(wish.get("task") || "").split("/")[1] || wish.get("split") || ""}`;
    const wanted = [game?.source, split].find((value) => sources.some((source) => source.value === value));
    if (wanted) chooser.source.value = wanted;
    chooser.source.disabled = start.disabled = false;
  } catch (problem) {
    chooser.source.replaceChildren(new Option("none", ""));
    at("problem").textContent = problem.message;
    at("problem").hidden = false;
  }
}

chooser.addEventListener("submit", (event) => {
  event.preventDefault();
  start({ env: chooser.env.value, source: chooser.source.value, task: chooser.task.value });
});

function start(wanted) {
  doing(async () => {
    const button = chooser.querySelector("button");
    button.textContent = "Starting…";
    try {
      const told = await ask("start", wanted);
      begin(told.game);
    } finally {
      button.textContent = "Start";
    }
  });
}

// The game.

async function begin(told) {
  const news = !game || game.env !== told.env;
  game = told;
  past = told.turns.map((turn) => turn.action);
  place = past.length;
  at("log").replaceChildren();
  show("game");
  at("title").textContent = told.title;
  at("task").textContent = told.task;
  at("brief").open = news && told.step === 0;
  at("grammar").textContent = "";
  said.value = "";
  said.maxLength = told.max_action_bytes;
  draw(told);
  const brief = await ask(`brief/${encodeURIComponent(told.env)}`).catch(() => null);
  if (!brief) return;
  at("grammar").textContent = brief.grammar;
  at("rules").textContent = brief.rules;
  at("rules").hidden = !brief.rules;
  at("opening").textContent = brief.opening;
  at("opening-box").hidden = !brief.opening;
}

function draw(told) {
  game = told;
  while (at("log").children.length > told.since) at("log").lastChild.remove();
  for (const turn of told.turns) at("log").append(drawTurn(turn));
  at("position").textContent = told.end
    ? `${told.step} of at most ${told.max_steps} steps`
    : `Step ${told.step + 1} of at most ${told.max_steps}`;
  at("practice").hidden = !told.practice;
  at("hinted").hidden = !told.hints;
  const now = [];
  if (told.image) {
    const picture = document.createElement("img");
    picture.src = `${base}/play/image/${told.id}/${told.step}`;
    picture.alt = "What the environment shows";
    picture.className = "shot";
    now.push(picture);
  }
  now.push(text("pre", told.observation, "text"));
  at("now").replaceChildren(...now);
  drawActions();
  at("hints").hidden = told.hints || told.actions !== null;
  at("act").hidden = told.end !== null;
  at("end").hidden = told.end === null;
  if (told.end) drawEnd(told.end);
  else said.focus({ preventScroll: true });
  fit();
  if (told.step > 0) (told.end ? at("end") : at("now").firstChild).scrollIntoView({ block: told.end ? "nearest" : "start" });
}

function drawTurn(turn) {
  const item = document.createElement("li");
  item.append(text("pre", turn.observation, "text"), text("p", turn.action, "did"));
  return item;
}

function text(tag, words, cls) {
  const made = document.createElement(tag);
  made.textContent = words;
  made.className = cls;
  return made;
}

function drawActions() {
  const offered = game.actions || [];
  at("offers").hidden = game.actions === null;
  const typed = said.value.trim().toLowerCase();
  const fitting = offered.filter((action) => action.show.toLowerCase().includes(typed));
  const seen = fitting.length ? fitting : offered;
  at("actions").replaceChildren(
    ...seen.slice(0, SHOWN_ACTIONS).map((action) => {
      const button = text("button", action.show, "");
      button.type = "button";
      button.addEventListener("click", () => send(action.send));
      return button;
    }),
  );
  at("more").textContent = `${seen.length - SHOWN_ACTIONS} more; type to narrow them down`;
  at("more").hidden = seen.length <= SHOWN_ACTIONS;
}

function drawEnd(end) {
  at("verdict").textContent = end.words;
  at("verdict").className = `outcome ${end.success ? "good" : end.valid ? "bad" : "odd"}`;
  const score = end.score === null ? "" : `, score ${round(end.score)}`;
  at("numbers").textContent = `${end.steps} step${end.steps === 1 ? "" : "s"}, reward ${round(end.reward)}${score}`;
  at("error").textContent = end.error || "";
  at("error").hidden = !end.error || end.valid;
  at("rule").textContent = end.rule;
  const kind = [end.category, end.difficulty ? `difficulty ${end.difficulty}` : ""].filter(Boolean).join(", ");
  at("kind").textContent = kind;
  at("kind").hidden = at("kind-name").hidden = !kind;
  at("why").replaceChildren(...end.why.flatMap((note) => [text("dt", note.name, ""), text("dd", note.text, "")]));
  at("stored").replaceChildren(...whereStored(end));
  at("next").focus({ preventScroll: true });
}

function whereStored(end) {
  if (end.problem) return [`Not stored: ${end.problem}`];
  if (!end.stored) return ["Not stored: you had played this task before."];
  const link = text("a", "this episode", "");
  link.href = `${base}/episode/${end.stored.episode}`;
  const counts = end.valid ? "Stored and counted: " : "Stored, outside of the score: ";
  return [counts, link];
}

function round(number) {
  return String(Math.round(number * 1000) / 1000);
}

function send(action) {
  if (!action || !game || game.end) return;
  doing(async () => {
    const told = await ask("step", { game: game.id, step: game.step, action });
    past.push(action);
    place = past.length;
    said.value = "";
    at("brief").open = false;
    draw(told.game);
  });
}

at("act").addEventListener("submit", (event) => {
  event.preventDefault();
  send(said.value.trim());
});

said.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    send(said.value.trim());
  }
  const single = !said.value.includes("\n");
  if (event.key === "ArrowUp" && single) recall(event, -1);
  if (event.key === "ArrowDown" && single) recall(event, 1);
});

function recall(event, by) {
  const wanted = place + by;
  if (wanted < 0 || wanted > past.length) return;
  event.preventDefault();
  if (place === past.length) draft = said.value;
  place = wanted;
  said.value = place === past.length ? draft : past[place];
  typed();
}

function typed() {
  fit();
  if (game && game.actions) drawActions();
}

function fit() {
  said.style.height = "auto";
  said.style.height = `${said.scrollHeight + 2}px`;
}

said.addEventListener("input", typed);

at("hints").addEventListener("click", () => {
  doing(async () => {
    const told = await ask("hints", { game: game.id });
    draw(told.game);
    if (!told.bounded) throw new Error("This environment cannot list its actions: they have no bound.");
  });
});

at("give-up").addEventListener("click", () => {
  if (!confirm("End this episode? It counts as not solved.")) return;
  doing(async () => draw((await ask("give-up", { game: game.id })).game));
});

at("next").addEventListener("click", () => start({ env: game.env, source: game.source, task: "" }));

at("another").addEventListener("click", () => {
  chooser.env.value = game.env;
  chooser.task.value = "";
  show("choose");
});

look();
