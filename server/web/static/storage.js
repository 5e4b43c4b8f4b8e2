// What this browser keeps. Where storage is off or full, values last as long as
// the page does.

function storage(area) {
  const unsaved = new Map();
  return {
    get(name) {
      try {
        return unsaved.get(name) ?? area().getItem(name);
      } catch {
        return unsaved.get(name) ?? null;
      }
    },
    // set tells whether the value is saved.
    set(name, value) {
      try {
        area().setItem(name, value);
        unsaved.delete(name);
        return true;
      } catch {
        unsaved.set(name, value);
        return false;
      }
    },
    remove(name) {
      unsaved.delete(name);
      try {
        area().removeItem(name);
      } catch {
        // Nothing can be there.
      }
    },
  };
}

// inBrowser outlives the tab, inTab does not.
export const inBrowser = storage(() => localStorage);
export const inTab = storage(() => sessionStorage);
