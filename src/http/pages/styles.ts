/** The styles that all pages share: colours, text, the label of the sandbox, focus, links. */
export const commonStyles = `
:root {
  color-scheme: light dark;
  --page: #eef1f4;
  --card: #ffffff;
  --text: #16212c;
  --muted: #52606c;
  --line: #d3dae1;
  --edge: #7b8894;
  --accent: #0a5c57;
  --accent-hover: #07433f;
  --on-accent: #ffffff;
  --panel: #0e2a35;
  --on-panel: #ffffff;
  --panel-muted: #b9cbd2;
  --panel-line: #2b4955;
  --error: #a8231c;
  --error-page: #fdf0ef;
  --ok: #0a5c57;
  --ribbon: #ffd25e;
  --on-ribbon: #2f2300;
  --shadow: 0 1px 2px rgb(14 42 53 / 8%), 0 12px 32px rgb(14 42 53 / 10%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0b1217;
    --card: #141d24;
    --text: #e8eef2;
    --muted: #a3b1bb;
    --line: #2b3841;
    --edge: #7f8f9a;
    --accent: #5fd0c3;
    --accent-hover: #8be0d6;
    --on-accent: #062723;
    --panel: #10303b;
    --panel-line: #2e5060;
    --error: #ff9d94;
    --error-page: #33191a;
    --ok: #5fd0c3;
    --shadow: 0 0 0 1px #22303a;
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1, h2, h3, p, dl, dd, ul, ol { margin: 0; }
h1, h2, h3 { line-height: 1.2; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

header { padding: 1rem; display: flex; justify-content: center; }
.ribbon {
  background: var(--ribbon);
  color: var(--on-ribbon);
  border-radius: 2rem;
  padding: .2rem .9rem;
  font-size: .8125rem;
}
.ribbon strong { text-transform: uppercase; letter-spacing: .06em; margin-right: .35rem; }

:is(input, textarea, select, button, a, summary):focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}
a { color: var(--accent); text-underline-offset: .2em; }
`
