import { commonStyles } from '../../../../http/pages/styles.js'

/** The style sheet of the pages. */
export const styles = `${commonStyles}
.hosted body { min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; }
.hosted main { flex: 1; display: grid; align-items: center; }
h2, h3, .notice h1 { text-wrap: balance; }
[tabindex="-1"]:focus { outline: none; }

body > header { padding: .75rem; }
main { width: 100%; max-width: 60rem; margin: 0 auto; padding: 0 1rem; }
.sheet {
  background: var(--card);
  border-radius: calc(2 * var(--radius));
  box-shadow: var(--shadow);
  overflow: hidden;
}
.summary { background: var(--panel); color: var(--on-panel); padding: 1.25rem 1.5rem .25rem; }
.summary h1 { font-weight: 500; }
.sender { display: block; text-wrap: balance; font-size: 1.0625rem; color: var(--panel-muted); overflow-wrap: anywhere; margin-bottom: .25rem; }
.amount { display: block; font-size: clamp(2rem, 9vw, 2.75rem); font-weight: 650; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.message { margin-top: .5rem; overflow-wrap: anywhere; white-space: pre-line; }
.summary details { margin-top: .75rem; padding: 0; border-color: var(--panel-line); }
.summary summary { color: var(--panel-muted); font-size: .9375rem; min-height: 2.75rem; display: list-item; padding: .625rem 0; }
.summary summary:focus-visible { outline-color: var(--on-panel); }
dl { display: grid; gap: 0; font-size: .9375rem; }
dl > div { padding: .75rem 0; border-top: 1px solid var(--line); }
.summary dl > div { border-color: var(--panel-line); }
dt { color: var(--muted); font-size: .8125rem; }
.summary dt { color: var(--panel-muted); }
dd { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }

.action { padding: 1.75rem 1.5rem; }
.action h2 { font-size: 1.25rem; margin-bottom: 1rem; }
.field { margin: 0 0 1.25rem; padding: 0; border: 0; min-width: 0; }
label, legend { font-weight: 600; padding: 0; display: block; }
.hint { color: var(--muted); font-size: .875rem; }
input[type="text"], textarea {
  display: block;
  width: 100%;
  margin-top: .375rem;
  padding: .7rem .8rem;
  min-height: 3rem;
  color: inherit;
  background: var(--card);
  border: 1px solid var(--edge);
  border-radius: var(--radius);
  font: inherit;
  font-variant-numeric: tabular-nums;
}
textarea { resize: vertical; }
input[readonly] { background: var(--page); border-style: dashed; }
input[type="text"][aria-invalid="true"] { border-color: var(--error); box-shadow: inset 0 0 0 1px var(--error); }
.valid input[type="text"]:not([readonly]) { border-color: var(--ok); }
.error { color: var(--error); font-size: .9375rem; font-weight: 500; margin-top: .375rem; }
.error:empty { display: none; }
.choices { display: grid; gap: .5rem; margin-top: .375rem; }
.choices label {
  display: flex;
  align-items: center;
  gap: .75rem;
  min-height: 3rem;
  padding: .5rem .8rem;
  border: 1px solid var(--edge);
  border-radius: var(--radius);
  font-weight: 400;
  cursor: pointer;
}
.choices label:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.choices input { width: 1.25rem; height: 1.25rem; margin: 0; accent-color: var(--accent); }
button {
  display: block;
  width: 100%;
  min-height: 3.25rem;
  padding: .75rem 1.25rem;
  border: 1px solid var(--accent);
  border-radius: var(--radius);
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 650;
  cursor: pointer;
  overflow-wrap: anywhere;
}
button:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
button[aria-disabled="true"] { opacity: .65; cursor: progress; }
button.secondary { background: transparent; color: var(--error); border-color: currentcolor; }
button.secondary:hover { background: var(--error-page); }
.problems {
  background: var(--error-page);
  border-left: 4px solid var(--error);
  border-radius: min(.25rem, var(--radius));
  padding: .9rem 1rem;
  margin-bottom: 1.5rem;
}
.problems h3 { font-size: 1rem; }
.problems a { color: var(--error); }
.problems ul { padding-left: 1.25rem; }
details { margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
summary { cursor: pointer; color: var(--muted); padding: .5rem 0; border-radius: .25rem; }
details[open] summary { margin-bottom: .75rem; }

.steps { list-style: none; padding: 0; margin: 1.75rem 0; }
.steps li { position: relative; padding: 0 0 1.5rem 2.5rem; color: var(--muted); }
.steps li:last-child { padding-bottom: 0; }
.steps li::before {
  content: "";
  position: absolute;
  left: .125rem;
  top: .125rem;
  width: 1.25rem;
  height: 1.25rem;
  border-radius: 50%;
  border: 2px solid var(--edge);
  background: var(--card);
  z-index: 1;
}
.steps li:not(:last-child)::after {
  content: "";
  position: absolute;
  left: .6875rem;
  top: .5rem;
  bottom: -.125rem;
  width: 2px;
  background: var(--line);
}
.steps .done { color: var(--text); }
.steps .done::before { background: var(--ok); border-color: var(--ok); }
.steps .done:not(.last)::after { background: var(--ok); }
.steps [aria-current] { color: var(--text); font-weight: 650; }
.steps time { display: block; color: var(--muted); font-size: .875rem; font-weight: 400; }
.result + p { color: var(--muted); }
.steps .next::before { border-color: var(--accent); border-width: 5px; }
.steps .failed::before { background: var(--error); border-color: var(--error); }
.result.paid { color: var(--ok); }
.result.failed { color: var(--error); }
.action h2.result { margin-bottom: .5rem; }

.notice { max-width: 34rem; margin: 0 auto; width: 100%; padding: 2.5rem 2rem; }
.notice h1 { font-size: 1.5rem; margin-bottom: .75rem; }
.notice p { color: var(--muted); overflow-wrap: anywhere; }
.notice form { margin-top: 1.75rem; }

@media (min-width: 48rem) {
  .sheet:not(.notice) { display: grid; grid-template-columns: 5fr 6fr; }
  .summary, .action { padding: 2.75rem 2.5rem; }
  .action h2 { font-size: 1.375rem; margin-bottom: 1.25rem; }
  .choices { grid-template-columns: 1fr 1fr; }
  /* Browsers without this selector keep the details folded. */
  @supports selector(::details-content) {
    .summary details { margin-top: 1.5rem; border: 0; }
    .summary details::details-content { content-visibility: visible; display: block; }
    .summary summary { display: none; }
  }
}

@media (forced-colors: active) {
  .steps .done::before { background: CanvasText; }
}
@media (prefers-reduced-motion: no-preference) {
  .steps .next::before { animation: pulse 2s ease-in-out infinite; }
  @keyframes pulse { 50% { opacity: .45; } }
}
`
