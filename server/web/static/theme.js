// Sets the colours before the page is drawn, so not a module, which would come
// too late. theme: "light", "dark", or nothing to follow the system.
(() => {
  let theme = null;
  try {
    theme = localStorage.getItem("waymark.theme");
  } catch {
    // Storage is off: follow the system.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
