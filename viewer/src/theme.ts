/** Light, dark, or as the system says: the choice is kept where the browser lets pages from files keep any. */

const KEY = "coz-theme";
const NEXT: Record<string, string> = { auto: "light", light: "dark", dark: "auto" };
const SYMBOL: Record<string, string> = { auto: "◐", light: "☀", dark: "☾" };

export function setUpTheme(button: HTMLButtonElement): () => void {
  let theme = remembered();
  const apply = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = SYMBOL[theme] ?? "";
    button.title = `Colours: ${theme === "auto" ? "as the system" : theme} (t)`;
    button.setAttribute("aria-label", button.title);
  };
  const turn = () => {
    theme = NEXT[theme] ?? "auto";
    apply();
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // Storage is refused to pages from files by some browsers: the choice then lasts as long as the page.
    }
  };
  button.addEventListener("click", turn);
  apply();
  return turn;
}

function remembered(): string {
  try {
    const theme = localStorage.getItem(KEY) ?? "auto";
    return Object.hasOwn(NEXT, theme) ? theme : "auto";
  } catch {
    return "auto";
  }
}
