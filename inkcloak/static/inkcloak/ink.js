// What the pages do more than HTML: counting, dropping a file, local times, colours, a running clock.
// Without it everything still works, a little slower. No inline code, no eval, no storage beyond one tab.
"use strict";
(() => {
  const root = document.documentElement;
  const language = root.lang || "en";

  // --- Times in the reader's own zone -------------------------------------------------------------
  const clock = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const localise = (within) => within.querySelectorAll("time[data-local]").forEach((time) => {
    const moment = new Date(time.dateTime);
    if (!isNaN(moment)) time.textContent = clock.format(moment);
  });

  // --- A check that is under way ------------------------------------------------------------------
  const begin = (within) => within.querySelectorAll("[data-elapsed]").forEach((place) => {
    const before = Number(place.textContent) || 0;
    const at = Date.now();
    const timer = setInterval(() => {
      if (!place.isConnected) return clearInterval(timer);
      place.textContent = String(before + Math.round((Date.now() - at) / 1000));
    }, 1000);
  });
  document.addEventListener("htmx:afterSwap", () => { localise(document); begin(document); });

  // --- Colours --------------------------------------------------------------------------------------
  document.querySelectorAll("form[data-themes]").forEach((form) => form.addEventListener("submit", (event) => {
    const chosen = event.submitter && event.submitter.value;
    if (!chosen) return;
    event.preventDefault();
    root.dataset.theme = chosen;
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${chosen}; path=/; max-age=31536000; samesite=lax${secure}`;
    form.querySelectorAll("button").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.value === chosen));
    });
  }));

  // --- Copying what stands in a field ----------------------------------------------------------------
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    const field = button && document.getElementById(button.dataset.copy);
    if (!field) return;
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
    } catch { return; } // not allowed here: it is selected, to be copied by hand
    button.textContent = button.dataset.copied;
    const say = document.getElementById("announce");
    if (say) say.textContent = button.dataset.copied;
  });

  // --- The box ------------------------------------------------------------------------------------------
  // A word as the product counts it (gpujobs.pod.shared.prose); left-out parts are only known after reading.
  const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|['\u2019\-.,:/@&](?=[\p{L}\p{N}]))*/gu;
  const DRAFT = "draft";
  const ANNOUNCE_MS = 1200;
  const COUNT_MS = 120;

  const characters = (text) => {
    let pairs = 0;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit >= 0xd800 && unit < 0xdc00) pairs++;
    }
    return text.length - pairs;
  };

  const setUp = (form) => {
    const box = form.querySelector("textarea");
    const file = form.querySelector("input[type=file]");
    const say = form.querySelector("[data-announce]");
    const limits = form.querySelector("[data-limits]");
    const counts = form.querySelector("[data-counts]");
    const price = form.querySelector("[data-price]");
    const promise = limits.textContent;
    const number = { format: (value) => String(value).replace(/\B(?=(\d{3})+$)/g, form.dataset.group) };
    const least = Number(form.dataset.minWords), most = Number(form.dataset.maxCharacters);
    let waiting = 0, speaking = 0;

    const verdictOn = (words, length) => {
      if (length > most) return [form.dataset.tooMany.replace("{n}", number.format(length - most)), "over"];
      if (!words) return [promise, ""];
      const missing = least - words;
      if (missing === 1) return [form.dataset.oneMore, ""];
      if (missing > 1) return [form.dataset.tooFew.replace("{n}", number.format(missing)), ""];
      return [form.dataset.enough, "fine"];
    };
    const count = () => {
      const text = box.value;
      const length = characters(text);
      const words = length > 20 * most ? 0 : (text.match(WORD) || []).length;
      counts.hidden = !length;
      form.querySelector("[data-words]").textContent = number.format(words);
      form.querySelector("[data-characters]").textContent = number.format(length);
      const [sentence, kind] = verdictOn(words, length);
      limits.textContent = sentence;
      limits.className = `limits ${kind}`;
      if (price) price.textContent = words && form.dataset.cost ? ` (${form.dataset.cost.replace("{n}", number.format(words))})` : "";
      clearTimeout(speaking);
      speaking = setTimeout(() => { if (words && say.textContent !== sentence) say.textContent = sentence; }, ANNOUNCE_MS);
    };
    const soon = () => { clearTimeout(waiting); waiting = setTimeout(count, COUNT_MS); };
    // A single plain text goes into the box, to be counted and edited; everything else is read by the server.
    const TEXTUAL = /\.(txt|md|markdown|text)$/i;
    const READABLE = /\.(pdf|docx|txt|text|md|markdown|html?|xhtml|csv|tsv)$/i;
    const chosen = form.querySelector("[data-chosen]");
    const submit = form.querySelector("button[type=submit]");
    const plainLabel = submit.textContent;
    const size = (bytes) => bytes < 1048576 ? `${Math.max(1, Math.round(bytes / 1024))} KB` : `${Math.round(bytes / 1048576)} MB`;
    const problemOf = (one) => {
      if (!READABLE.test(one.name) && !/^(text\/|application\/pdf)/.test(one.type)) return form.dataset.badType;
      return one.size > Number(form.dataset.fileMegabytes) * 1048576 ? form.dataset.bigFile : "";
    };
    const list = () => {
      const files = [...file.files];
      chosen.hidden = !files.length;
      box.hidden = files.length > 0;
      limits.hidden = files.length > 0;
      chosen.querySelector("ul").replaceChildren(...files.map((one) => {
        const line = document.createElement("li");
        const problem = problemOf(one);
        line.textContent = `${one.name} (${size(one.size)})` + (problem ? `: ${problem}` : "");
        line.className = problem ? "over" : "";
        return line;
      }));
      submit.textContent = !files.length ? plainLabel : files.length === 1 ? form.dataset.readOne : form.dataset.readMany.replace("{n}", number.format(files.length));
      if (files.length) say.textContent = [...chosen.querySelectorAll("li")].map((line) => line.textContent).join(", ");
      else count();
    };
    const unchoose = () => { file.value = ""; list(); box.focus(); };
    const intoBox = async (one) => {
      if (one.size > 4 * most + 4) return false;
      const bytes = new Uint8Array(await one.arrayBuffer());
      const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "";
      try {
        box.value = new TextDecoder(utf16 || "utf-8", { fatal: true }).decode(bytes);
      } catch {
        return false; // another encoding: the server finds out which
      }
      file.value = "";
      list();
      box.focus();
      box.setSelectionRange(0, 0);
      box.scrollTop = 0;
      return true;
    };
    const take = async () => {
      const [first] = file.files;
      const isText = first && file.files.length === 1 && (TEXTUAL.test(first.name) || /^text\/(plain|markdown)/.test(first.type));
      if (!isText || !(await intoBox(first))) list();
    };

    box.addEventListener("input", soon);
    file.addEventListener("change", take);
    form.querySelector("[data-unchoose]").addEventListener("click", unchoose);
    let depth = 0;
    const carries = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
    form.addEventListener("dragenter", (event) => { if (carries(event)) { depth++; form.classList.add("dropping"); } });
    form.addEventListener("dragleave", (event) => { if (carries(event) && --depth <= 0) { depth = 0; form.classList.remove("dropping"); } });
    form.addEventListener("dragover", (event) => { if (carries(event)) event.preventDefault(); });
    form.addEventListener("drop", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      depth = 0;
      form.classList.remove("dropping");
      if (!event.dataTransfer.files.length) return;
      file.files = event.dataTransfer.files;
      take();
    });
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    form.addEventListener("submit", (event) => {
      const button = form.querySelector("button[type=submit]");
      if (button.getAttribute("aria-disabled") === "true") return event.preventDefault();
      button.setAttribute("aria-disabled", "true");
      button.dataset.label = button.textContent;
      button.textContent = form.dataset.busy;
    });
    // Coming back by the back button: the form is whole again, with what was typed.
    window.addEventListener("pageshow", () => {
      const button = form.querySelector("button[type=submit]");
      button.removeAttribute("aria-disabled");
      if (button.dataset.label) button.textContent = button.dataset.label;
      list();
    });

    // Changing language or colours must not cost the text: it waits in this tab for the next page, once.
    try {
      const kept = sessionStorage.getItem(DRAFT);
      sessionStorage.removeItem(DRAFT);
      if (kept && !box.value) box.value = kept;
      document.querySelectorAll("form[data-keeps-draft]").forEach((other) => other.addEventListener("submit", (event) => {
        if (!event.defaultPrevented && box.value) sessionStorage.setItem(DRAFT, box.value);
      }));
    } catch { /* storage is switched off: the text stays where it is */ }
    count();
  };

  localise(document);
  begin(document);
  document.querySelectorAll("form[data-check]").forEach(setUp);
})();
