"use strict";
// A tree of which a branch is made when it is opened, with the keys of the ARIA Authoring Practices.
const tree = (function () {
  const MOST_ABOUT = 90; // characters
  const opened = new Set(); // keys of the branches that are open; they stay so when a filter changes
  let last = null; // key of the item that the Tab key reaches, which stays so too

  function show(root, nodes, make) {
    let at = null; // the one item that the Tab key reaches
    // A node is { key, text, about, children, open }; what is not there is left out. `children` and `open` are functions.
    function items(given, level) {
      return given.map((node, place) => {
        const about = node.about && node.about.length > MOST_ABOUT ? `${node.about.slice(0, MOST_ABOUT)}…` : node.about || "";
        const one = make("span", { role: "treeitem", tabindex: "-1", "aria-level": level, "aria-posinset": place + 1, "aria-setsize": given.length },
          make("span", { class: "twist", "aria-hidden": "true" }), node.text, " ", make("span", { class: "about" }, about));
        const line = make("li", { role: "none" }, one);
        one.node = node;
        one.level = level;
        if (node.children) unfold(one, opened.has(node.key));
        return line;
      });
    }
    function unfold(one, isOpen) {
      one.setAttribute("aria-expanded", String(isOpen));
      if (one.nextSibling) one.nextSibling.remove();
      if (isOpen) one.after(make("ul", { role: "group" }, ...items(one.node.children(), one.level + 1)));
      opened[isOpen ? "add" : "delete"](one.node.key);
    }
    function move(next) {
      if (!next) return;
      if (at) at.tabIndex = -1;
      at = next;
      at.tabIndex = 0;
      last = at.node.key;
    }
    const isOpen = (one) => one.getAttribute("aria-expanded") === "true";
    function press(key) {
      const every = [...root.querySelectorAll("[role=treeitem]")], place = every.indexOf(at);
      if (key === "ArrowDown" || (key === "ArrowRight" && isOpen(at))) move(every[place + 1]);
      else if (key === "ArrowUp") move(every[place - 1]);
      else if (key === "Home") move(every[0]);
      else if (key === "End") move(every.at(-1));
      else if (key === "ArrowRight") { if (at.node.children) unfold(at, true); }
      else if (key === "ArrowLeft" && isOpen(at)) unfold(at, false);
      else if (key === "ArrowLeft") move(every.slice(0, place).reverse().find((one) => one.level < at.level));
      else if (key === "Enter" || key === " ") return act(at);
      else move([...every.slice(place + 1), ...every.slice(0, place)].find((one) => one.node.text.toLowerCase().startsWith(key.toLowerCase())));
      return at.focus();
    }
    function act(one) {
      if (one.node.open) one.node.open();
      else if (one.node.children) unfold(one, !isOpen(one));
    }
    root.replaceChildren(...items(nodes, 1));
    root.onkeydown = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key.length === 1 || /^(Arrow\w+|Home|End|Enter)$/.test(event.key))) return;
      event.preventDefault();
      press(event.key);
    };
    root.onclick = (event) => {
      const one = event.target.closest("[role=treeitem]");
      if (!one) return;
      move(one);
      one.focus();
      if (one.node.children && event.target.classList.contains("twist")) unfold(one, !isOpen(one));
      else act(one);
    };
    const every = [...root.querySelectorAll("[role=treeitem]")];
    move(every.find((one) => one.node.key === last) || every[0]);
  }
  return { show };
}());
