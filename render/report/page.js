"use strict";
(() => {
  const find = document.getElementById("find"), found = document.getElementById("found");
  const nodes = [...document.querySelectorAll("details.node")];
  const boxes = [...document.querySelectorAll(".mesh-picture [data-nodes]")];
  const texts = new Map();

  // What a node is found by is read when it is first asked for: the page may be large.
  const text = (node) => {
    if (!texts.has(node)) texts.set(node, [...node.querySelectorAll(".k")].map((e) => e.textContent.toLowerCase()).join("\n"));
    return texts.get(node);
  };
  const nameOf = (node) => node.id.slice("node-".length);

  const search = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = new Set();
    for (const node of nodes) {
      const hit = words.every((w) => text(node).includes(w));
      node.hidden = !hit;
      if (hit) hits.add(nameOf(node));
    }
    for (const box of boxes) {
      box.classList.toggle("dim", words.length > 0 && !box.dataset.nodes.split(" ").some((n) => hits.has(n)));
    }
    found.textContent = words.length ? `${hits.size} of ${nodes.length} nodes` : "";
  };

  // The first node found is best the one whose name is what was typed.
  const best = () => {
    const shown = nodes.filter((n) => !n.hidden), typed = find.value.trim().toLowerCase();
    return shown.find((n) => nameOf(n) === typed) || shown.find((n) => nameOf(n).startsWith(typed)) || shown[0];
  };

  const show = (element) => {
    for (let e = element; e; e = e.parentElement) {
      if (e instanceof HTMLDetailsElement) e.open = true;
      e.hidden = false;
    }
    (element.querySelector(":scope > summary") || element).focus({ preventScroll: true });
    element.scrollIntoView();
  };

  const clear = () => { find.value = ""; search(); };

  const follow = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) show(target);
  };

  find.addEventListener("input", search);
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "ArrowDown") {
      const node = best();
      if (!node) return;
      event.preventDefault();
      if (event.key === "Enter") show(node);
      else node.querySelector("summary").focus();
    } else if (event.key === "Escape") {
      clear();
    }
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement;
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      find.focus();
      find.select();
    } else if (event.key === "Escape" && !typing) {
      // out of a node: close it and stand on its name; a second time, back to the search
      const open = document.activeElement.closest("details[open]");
      if (open) {
        open.open = false;
        open.querySelector("summary").focus();
      } else {
        find.focus();
      }
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && document.activeElement.matches("details.node > summary")) {
      const shown = nodes.filter((n) => !n.hidden);
      const next = shown[shown.indexOf(document.activeElement.parentElement) + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) {
        event.preventDefault();
        next.querySelector("summary").focus();
      }
    }
  });
  window.addEventListener("hashchange", follow);
  // The same link again changes nothing in the address, and is to lead there all the same.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  if (location.hash) follow();
  search();
})();
