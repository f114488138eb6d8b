// The staff's page about the GPU renews itself: not while its tab is hidden, and without moving what somebody reads.
"use strict";
(() => {
  const place = document.getElementById("gpu");
  const regions = () => [...place.querySelectorAll(".scroll")];
  let scrolled = [], focused = -1;

  place.addEventListener("htmx:beforeRequest", (event) => { if (document.hidden) event.preventDefault(); });
  place.addEventListener("htmx:beforeSwap", () => {
    scrolled = regions().map((region) => region.scrollLeft);
    focused = regions().indexOf(document.activeElement);
  });
  place.addEventListener("htmx:afterSwap", () => {
    regions().forEach((region, at) => { region.scrollLeft = scrolled[at] || 0; });
    if (focused >= 0 && regions()[focused]) regions()[focused].focus({ preventScroll: true });
  });
})();
