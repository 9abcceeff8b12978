/** The styles that all pages share: colours, text, the label of the sandbox, focus, links. */
export const commonStyles = `
:root {
  color-scheme: light dark;
  --page: light-dark(#eef1f4, #0b1217);
  --card: light-dark(#ffffff, #141d24);
  --text: light-dark(#16212c, #e8eef2);
  --muted: light-dark(#52606c, #a3b1bb);
  --line: light-dark(#d3dae1, #2b3841);
  --edge: light-dark(#7b8894, #7f8f9a);
  --accent: light-dark(#0a5c57, #5fd0c3);
  --accent-hover: light-dark(#07433f, #8be0d6);
  --on-accent: light-dark(#ffffff, #062723);
  --panel: light-dark(#0e2a35, #10303b);
  --on-panel: #ffffff;
  --panel-muted: #b9cbd2;
  --panel-line: light-dark(#2b4955, #2e5060);
  --error: light-dark(#a8231c, #ff9d94);
  --error-page: light-dark(#fdf0ef, #33191a);
  --ok: light-dark(#0a5c57, #5fd0c3);
  --ribbon: #ffd25e;
  --on-ribbon: #2f2300;
  --shadow: 0 0 0 1px light-dark(transparent, #22303a), 0 1px 2px light-dark(rgb(14 42 53 / 8%), transparent),
    0 12px 32px light-dark(rgb(14 42 53 / 10%), transparent);
  --radius: .5rem;
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
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

body > header { padding: 1rem; display: flex; justify-content: center; }
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

/** The styles that the pages for developers share: code, controls, lists, cards and facts. */
export const controlStyles = `
code { font: .875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
ul { padding: 0; list-style: none; }
label { display: block; font-size: .8125rem; color: var(--muted); }
select, button, input, textarea, .button { font: inherit; font-size: .9375rem; min-height: 2.25rem; border-radius: .5rem; padding: .25rem .75rem; }
select, input, textarea { width: 100%; max-width: 100%; color: inherit; background: var(--card); border: 1px solid var(--edge); }
[aria-invalid=true] { border-color: var(--error); box-shadow: inset 0 0 0 1px var(--error); }
button, .button { display: inline-block; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); font-weight: 650;
  cursor: pointer; text-decoration: none; line-height: 1.625rem; }
:is(button, .button):hover { background: var(--accent-hover); border-color: var(--accent-hover); }
:is(button, .button).plain { color: var(--text); background: var(--card); border-color: var(--edge); font-weight: 500; }
:is(button, .button).plain:hover { background: var(--page); }
:is(button, .button).danger { color: var(--error); background: var(--card); border-color: currentcolor; }
:is(button, .button).danger:hover { background: var(--error-page); }
button.small { min-height: 1.75rem; padding: 0 .625rem; font-size: .8125rem; }
button[aria-disabled=true] { opacity: .65; cursor: progress; }

.card { background: var(--card); border-radius: .75rem; box-shadow: var(--shadow); padding: 1rem 1.25rem; margin-top: 1rem; min-width: 0; }
.card > .title { display: flex; flex-wrap: wrap; gap: .5rem 1rem; justify-content: space-between; align-items: baseline; margin-bottom: .5rem; }
.card h2 { font-size: 1.0625rem; }
.title > :is(a:not(.button), span) { font-size: .875rem; color: var(--muted); }
.status { display: inline-block; font-size: .75rem; font-weight: 650; letter-spacing: .02em; line-height: 1.25rem; padding: 0 .4375rem;
  border-radius: .3125rem; border: 1px solid var(--edge); white-space: nowrap; }
.status.good { color: var(--ok); border-color: var(--ok); }
.status.bad { color: var(--error); border-color: var(--error); background: var(--error-page); }
.status.idle { color: var(--muted); border-style: dashed; }
.status.open { background: var(--page); }

.facts { font-size: .875rem; }
.facts > div { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: .3125rem 0; border-top: 1px solid var(--line); }
.facts > :first-child { border: 0; }
.facts dt { color: var(--muted); overflow-wrap: anywhere; flex: 0 0 12rem; min-width: fit-content; max-width: 100%; }
.facts dd { overflow-wrap: anywhere; flex: 1 1 10rem; min-width: 0; }
details > summary:not(.button) { color: var(--muted); width: fit-content; cursor: pointer; padding: .125rem 0; font-size: .8125rem; }
@media (max-width: 47.99rem) {
  .card { padding: .875rem 1rem; }
}
`
