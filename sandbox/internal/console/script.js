"use strict";
(() => {
  const live = document.getElementById("live");
  const notice = document.getElementById("notice");

  // update makes a node equal to another one. What is equal stays, so that the focus, scroll positions
  // and what a user has entered do.
  function update(node, next) {
    if (node.isEqualNode(next)) return;
    if (node.nodeName !== next.nodeName || node.id !== next.id) {
      node.replaceWith(next);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) {
      node.data = next.data;
      return;
    }
    for (const { name } of [...node.attributes]) {
      if (!next.hasAttribute(name)) node.removeAttribute(name);
    }
    for (const { name, value } of next.attributes) {
      if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    }
    const ids = new Set([...next.children].map((child) => child.id));
    const known = new Map();
    for (const child of [...node.children]) {
      if (!child.id) continue;
      if (ids.has(child.id)) known.set(child.id, child);
      else child.remove();
    }
    let at = node.firstChild;
    for (const child of [...next.childNodes]) {
      const same = known.get(child.id);
      if (same) {
        if (same === at) at = at.nextSibling;
        else node.insertBefore(same, at);
        update(same, child);
      } else if (!at || at.id || child.id) {
        node.insertBefore(child, at);
      } else {
        const following = at.nextSibling;
        update(at, child);
        at = following;
      }
    }
    while (at) {
      const following = at.nextSibling;
      at.remove();
      at = following;
    }
  }

  function say(text, isBad) {
    notice.textContent = text;
    notice.classList.toggle("bad", isBad);
  }

  function connected(isLive, text) {
    live.textContent = text;
    live.classList.toggle("on", isLive);
  }

  const source = new EventSource(document.body.dataset.events);
  source.onopen = () => connected(true, "Live");
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) connected(false, "Not live: reload the page, or open it with a new link");
    else connected(false, "Reconnecting");
  };
  source.onmessage = (event) => {
    const part = JSON.parse(event.data);
    const template = document.createElement("template");
    template.innerHTML = part.html;
    const node = document.getElementById(part.id);
    if (node) update(node, template.content.firstElementChild);
  };

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    event.preventDefault();
    if (form.dataset.busy) return;
    form.dataset.busy = "yes";
    try {
      const response = await fetch(form.action, {
        method: "POST",
        headers: { Accept: "text/plain" },
        body: new URLSearchParams(new FormData(form)),
      });
      say(await response.text(), !response.ok);
      if (response.ok) form.querySelectorAll("[data-once]").forEach((field) => { field.checked = false; });
    } catch {
      say("The sandbox cannot be reached.", true);
    } finally {
      delete form.dataset.busy;
    }
  });
})();
