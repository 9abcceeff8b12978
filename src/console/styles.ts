import { commonStyles, controlStyles } from '../http/pages/styles.js'
import { coverageStyles } from '../sandbox/coverage/views/styles.js'

/** The styles of the header and the navigation. */
const shellStyles = `
body { display: grid; grid-template: auto auto 1fr / minmax(0, 1fr); min-height: 100vh; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: .5rem; top: .5rem; z-index: 3; background: var(--card); padding: .5rem 1rem; }
body > header { background: var(--panel); color: var(--on-panel); justify-content: space-between; align-items: center; flex-wrap: wrap;
  gap: .5rem 1.5rem; padding: .625rem 1.25rem; }
.brand { color: inherit; font-weight: 650; text-decoration: none; letter-spacing: -.01em; }
body > header :focus-visible { outline-color: var(--ribbon) !important; }
.choice { display: flex; gap: .5rem; align-items: center; max-width: 100%; min-height: 2.25rem; }
.choice, .choice label { color: var(--panel-muted); margin: 0; font-size: .8125rem; }
.choice a { color: inherit; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.choice select { width: auto; min-width: 0; max-width: 14rem; color: var(--text); }

body > nav { border-bottom: 1px solid var(--line); background: var(--card); overflow-x: auto; }
@media (max-width: 79rem) { body > nav { mask: linear-gradient(to right, transparent, #000 .75rem calc(100% - 1.25rem), transparent); } }
body > nav ul { display: flex; }
body > nav > ul { width: max-content; gap: .75rem; padding: .25rem .75rem; }
body > nav span { display: block; padding: 0 .5rem; font-size: .6875rem; color: var(--muted); }
body > nav a { display: block; padding: .375rem .5rem; border-radius: .375rem; color: var(--text); text-decoration: none;
  white-space: nowrap; font-size: .9375rem; }
body > nav a:hover { background: var(--page); }
body > nav a[aria-current] { background: var(--page); color: var(--accent); box-shadow: inset 0 -2px var(--accent); }
@media (max-width: 47.99rem) { body > header .ribbon span { display: none; } }
`

export const styles = `${commonStyles}${controlStyles}${coverageStyles}${shellStyles}
main { width: 100%; max-width: 82rem; margin: 0 auto; padding: 1.25rem 1.25rem 4rem; }
h1 { font-size: clamp(1.125rem, 5.5vw, 1.5rem); overflow-wrap: anywhere; }
h1:focus { outline: none; }
h1:focus-visible { outline: 3px solid var(--accent); outline-offset: .25rem; border-radius: .125rem; width: fit-content; }
h3 { font-size: .9375rem; margin: 1rem 0 .5rem; }
html:has(.notice:not(:empty)) { scroll-padding-top: calc(30vh + 1rem); }
.notice { position: sticky; top: 0; z-index: 2; max-height: 30vh; overflow-y: auto; outline: 1px solid var(--muted); }
/* A refusal at its field needs no second place, which could cover the field. */
html:has(form .error, .notice.seen) { scroll-padding-top: 3rem; }
html:has(form .error) .notice, .notice.seen { position: static; max-height: none; }
#confirm p > a { display: inline-block; padding: .25rem 0; }
.notice, .offline { margin-top: .75rem; padding: .625rem .875rem; border-radius: .5rem; background: var(--card);
  border-left: 4px solid var(--ok); box-shadow: var(--shadow); overflow-wrap: anywhere; }
.offline { position: fixed; left: 1rem; right: 1rem; bottom: 1rem; margin: 0 auto; max-width: 40rem; border-color: var(--error); z-index: 2; }
.notice.refused { border-color: var(--error); }
.notice:empty, .offline:empty { display: none; }
.error { color: var(--error); font-size: .875rem; overflow-wrap: anywhere; }
.hint, .pace { color: var(--muted); font-size: .8125rem; overflow-wrap: anywhere; }
.empty { color: var(--muted); padding: .75rem 0; max-width: 44rem; }

.columns { display: grid; gap: 0 1rem; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }

.scroll { position: relative; overflow-x: auto; margin: 0 -1.25rem; padding: 0 1.25rem; }
.scroll:focus-visible, .code:focus-visible { outline: 3px solid var(--accent); outline-offset: -3px; }
table { border-collapse: collapse; min-width: min(100%, 44rem); font-size: .875rem; }
th, td { text-align: left; padding: .375rem .625rem .375rem 0; border-top: 1px solid var(--line); vertical-align: baseline; font-weight: 400; }
thead th { border: 0; color: var(--muted); font-size: .75rem; white-space: nowrap; }
tbody th { overflow-wrap: anywhere; min-width: 9rem; }
td { overflow-wrap: break-word; }
.number, time { font-variant-numeric: tabular-nums; }
.number { text-align: right; }
.reference, .number, td time { white-space: nowrap; }
.columns td time .wide { display: none; }
.pager { display: flex; gap: 1rem; padding-top: .75rem; font-size: .875rem; }
.pager:empty { display: none; }

.clock .now { font-size: clamp(1.25rem, 5vw, 2rem); font-weight: 650; letter-spacing: -.02em; line-height: 1.2; }
.actions { display: flex; flex-wrap: wrap; gap: .5rem; align-items: start; margin-top: .75rem; }
.action { display: flex; flex-wrap: wrap; gap: .5rem; align-items: start; }
.action > .error { flex-basis: 100%; order: 1; }
.action .error { width: 0; min-width: max(100%, 14rem); }
.action .field { display: flex; flex-wrap: wrap; gap: .25rem .5rem; align-items: center; }
.action .field label { margin: 0; font-size: .875rem; }
.action .field input { width: auto; min-width: 0; }
.action, .field, .fields { min-width: 0; }
.action select { width: auto; }
.title .action { margin: 0; }
td .action { margin: -.125rem 0; }

.fields, .presets { display: grid; gap: .75rem 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(15rem, 100%), 1fr)); align-items: start; }
.fields > button, .fields > .error { grid-column: 1 / -1; justify-self: start; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin-bottom: .75rem; }
.filters input:not([type=checkbox]), .filters select { width: auto; max-width: 12rem; }
.filters > a { align-self: center; font-size: .875rem; }
.tick { display: flex; gap: .375rem; align-items: center; min-height: 2.25rem; margin: 0; font-size: .875rem; }
.tick input { width: 1.125rem; height: 1.125rem; accent-color: var(--accent); }

.same { font-size: .8125rem; margin-top: .75rem; }
.same .hint { margin-top: .5rem; }
.card > p + .facts, .card > p + .fold { margin-top: .5rem; }
details > summary.button { list-style: none; }
details[open] > summary.button { margin-bottom: .75rem; }
.actions > :is(details[open], .fields) { flex: 1 1 100%; }
.fold { border-top: 1px solid var(--line); }
.fold > summary:not(.button) { padding: .375rem 0; font-size: .875rem; }
.fold b { color: var(--text); margin-right: .5rem; }
.fold[open] { padding-bottom: .75rem; }
.code { font: .8125rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--page); border-radius: .5rem;
  padding: .625rem .75rem; margin: .5rem 0 0; overflow: auto; max-height: 30rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.copyable { display: flex; gap: .5rem; align-items: start; margin-top: .5rem; }
.copyable .code { flex: 1; min-width: 0; margin: 0; white-space: pre; }

.cause { color: var(--error); overflow-wrap: anywhere; }
.headline + .cause { font-size: 1.0625rem; margin-top: .5rem; }
.hints { margin-top: .25rem; color: var(--muted); font-size: .875rem; list-style: disc; padding-left: 1.25rem; overflow-wrap: anywhere; }
.code-line { color: var(--muted); font-size: .875rem; margin-top: .5rem; }
.code-line + p { margin-top: .75rem; }
.headline { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin-top: .75rem; }
.headline strong { font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.lifecycle { padding: 0 1.25rem; mask: linear-gradient(to right, transparent, #000 1.25rem calc(100% - 1.25rem), transparent); }
.lifecycle svg { display: block; min-width: max-content; font: 650 .75rem system-ui, sans-serif; }
.lifecycle text { text-anchor: middle; fill: var(--text); }
.lifecycle .at { font-weight: 400; font-size: .6875rem; fill: var(--muted); }
.lifecycle rect { fill: var(--card); stroke: var(--line); stroke-width: 1.5; }
.lifecycle .state:not(.past, .present, .next) text { fill: var(--muted); font-weight: 400; }
.lifecycle .past rect { stroke: var(--ok); stroke-width: 2; }
.lifecycle .next rect { stroke: var(--accent); stroke-width: 2; stroke-dasharray: 5 4; }
.lifecycle .present rect { fill: var(--ok); stroke: var(--ok); }
.lifecycle .present.bad rect { fill: var(--error); stroke: var(--error); }
.lifecycle .present.idle rect { fill: var(--muted); stroke: var(--muted); }
.lifecycle .present text { fill: var(--card); }
.edge { fill: none; stroke: var(--edge); stroke-width: 1.5; }
.edge:is(.taken, .next) { stroke: var(--ok); stroke-width: 2; }
.edge.next { stroke: var(--accent); stroke-dasharray: 5 4; }
.arrow { fill: var(--edge); }
.arrow.taken { fill: var(--ok); }
.arrow.next { fill: var(--accent); }

.counts { display: grid; gap: 1rem 1.5rem; grid-template-columns: repeat(auto-fit, minmax(min(11rem, 100%), 1fr)); font-size: .875rem; }
.counts a { color: inherit; text-decoration: none; }
.counts a:hover { text-decoration: underline; }
.counts strong { font-size: 1.25rem; font-variant-numeric: tabular-nums; margin-right: .25rem; }
.counts ul { display: grid; gap: .125rem; margin-top: .375rem; color: var(--muted); }

.story { list-style: none; padding: 0; counter-reset: step; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem; }
.story > li { counter-increment: step; position: relative; padding-left: 2.25rem; font-size: .9375rem; display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; }
.story > li > :first-child { flex: 1 1 16rem; min-width: 0; }
.story .lifecycle { margin: 0 -1.25rem; min-width: 0; max-width: calc(100% + 2.5rem); }
.story > li::before { content: counter(step); position: absolute; left: 0; top: 0; width: 1.5rem; height: 1.5rem; border-radius: 50%;
  display: grid; place-items: center; font-size: .75rem; font-weight: 650; border: 2px solid var(--edge); }
.story .done::before { content: "✓"; background: var(--ok); border-color: var(--ok); color: var(--on-accent); }
.story .present::before { border-color: var(--accent); color: var(--accent); }
.story h3 { margin: 0; line-height: 1.5rem; }
.story :is(.later, .done) h3 { font-weight: 400; }
.story .later h3 { color: var(--muted); }
.story .actions, .story div > .button { margin-top: .5rem; }
.story + p { margin-top: .75rem; }

.presets .hint { margin-top: .25rem; }
.tabs { display: flex; flex-wrap: wrap; gap: .25rem; margin-bottom: .75rem; font-size: .875rem; }
.tabs a { display: block; padding: .125rem .625rem; border-radius: 1rem; border: 1px solid var(--line); text-decoration: none; color: inherit; }
.tabs a[aria-current] { border-color: var(--accent); color: var(--accent); font-weight: 650; }
.links { font-size: .9375rem; display: grid; gap: .375rem; }

@media (max-width: 47.99rem) {
  .wide { display: none; }
  main { padding: 1rem .75rem 3rem; }
  .scroll { margin: 0 -1rem; padding: 0 1rem; }
  th, td { padding-right: .375rem; }
  tbody th { min-width: 0; }
  thead th { white-space: normal; }
  .story .lifecycle { margin-left: -3.25rem; max-width: calc(100% + 4.5rem); }
}
/* A list submits itself, and only a script copies. */
@media (scripting: enabled) { .choice button { display: none; } }
@media (scripting: none) { [data-copy] { display: none; } }
@media (forced-colors: active) {
  .lifecycle .present rect { fill: CanvasText; }
  .lifecycle .present text { fill: Canvas; }
}
`

/**
 * The styles of the page of the reference, which brings its own. They are in a layer, so that those come first.
 * A wide screen keeps the header in sight.
 */
export const referenceStyles = `@layer shell { ${commonStyles}${shellStyles}
ul { padding: 0; list-style: none; }
body.dark-mode { color-scheme: dark; }
body.light-mode { color-scheme: light; }
@media (min-width: 64rem) {
  :root { --scalar-custom-header-height: 3.5rem; }
  body > header { position: sticky; top: 0; z-index: 10; height: 3.5rem; flex-wrap: nowrap; }
}
}`
