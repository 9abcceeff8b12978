import { commonStyles, controlStyles } from '../../../http/pages/styles.js'

/** The style sheet of the page of coverage. It is in the page, so that a saved page is complete. */
export const styles = `${commonStyles}${controlStyles}
main { max-width: 76rem; margin: 0 auto; padding: .5rem 1rem 4rem; }

.intro { display: flex; flex-wrap: wrap; gap: 1rem 2rem; justify-content: space-between; align-items: end; }
.intro > div { flex: 1 1 24rem; min-width: 0; }
h1 { font-size: clamp(1.5rem, 5vw, 2rem); overflow-wrap: anywhere; }
.intro p { color: var(--muted); margin-top: .5rem; }
form { display: flex; flex-wrap: wrap; gap: .5rem; align-items: end; min-width: 0; max-width: 100%; }
form a { align-self: center; }
form div { min-width: 0; }
select { width: 14rem; }

.totals { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(8rem, 100%), 1fr)); gap: 1rem; margin: 1.5rem 0 1rem; }
.totals > div { background: var(--card); border-radius: .75rem; box-shadow: var(--shadow); padding: 1rem 1.125rem; }
.totals dt { color: var(--muted); font-size: .875rem; }
.totals dd { font-variant-numeric: tabular-nums; }
.totals strong { font-size: 1.75rem; font-weight: 650; letter-spacing: -.02em; }
.bar { display: block; width: 100%; height: .5rem; margin-top: .5rem; border-radius: .25rem; border: 1px solid var(--edge); }
.bar rect { fill: var(--ok); }

.legend { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: center; color: var(--muted); font-size: .875rem; }
.legend ul { display: flex; gap: .375rem; }

.area { margin-top: 2.5rem; }
.area > h2 { font-size: 1.375rem; display: flex; flex-wrap: wrap; gap: 0 .75rem; align-items: baseline; margin-bottom: .75rem; }
.area > h2 span { font-size: .875rem; font-weight: 400; color: var(--muted); }
.sheet { background: var(--card); border-radius: .75rem; box-shadow: var(--shadow); }
.sheet > * { padding: .875rem 1.125rem; }
.sheet > * + * { border-top: 1px solid var(--line); }
.sheet > .uncalled { box-shadow: inset 4px 0 var(--error); }
.sheet > :first-child { border-radius: .75rem .75rem 0 0; }
.sheet > :last-child { border-radius: 0 0 .75rem .75rem; }
.sheet > :only-child { border-radius: .75rem; }
h3 { font-size: 1rem; font-weight: 650; overflow-wrap: anywhere; }
h3 code { font-size: .8125rem; }
.purpose, .calls { color: var(--muted); font-size: .875rem; margin-top: .125rem; }

.facts, .operation details { font-size: .875rem; }
.facts > div { margin-top: .375rem; }
.facts dt { color: var(--muted); }
.chips { display: flex; flex-wrap: wrap; gap: .25rem .375rem; }
.chips li, .legend li { font-size: .8125rem; line-height: 1.25rem; border-radius: .375rem; padding: 0 .5rem; overflow-wrap: anywhere; }
li.met { --sign: var(--ok); }
li.missed { --sign: var(--error); }
:is(.chips, .legend) li { border: 1px solid var(--sign); }
:is(.chips, .legend) .met { color: var(--on-accent); background: var(--sign); }
:is(.chips, .legend) .missed { color: var(--sign); background: var(--error-page); border-style: dashed; font-weight: 600; }
.mark { margin-right: .35em; font-weight: 700; }

summary { cursor: pointer; padding: .125rem 0; border-radius: .25rem; width: fit-content; }
summary b { font-weight: 650; }
summary :is(b, .mark) { color: var(--error); }
.codes li { padding: .375rem 0 .375rem 1.25em; }
.codes .mark { color: var(--sign); margin: 0 0 0 -1.25em; display: inline-block; width: 1.25em; }
.codes code { font-weight: 650; color: var(--sign); }
.codes :is(.when, span:not(.mark)) { color: var(--muted); }
.codes .when code { font-weight: 400; color: inherit; }

.help { margin-top: 2.5rem; }
.help h2 { font-size: 1.125rem; }
.help li { margin-top: .5rem; }

@media (max-width: 51.99rem) {
  .operation > * + *, .states > * + * { margin-top: .5rem; }
}
@media (min-width: 52rem) {
  .operation, .states { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 5fr); gap: 0 1.5rem; align-items: start; }
  .facts > div { display: grid; grid-template-columns: 5.75rem minmax(0, 1fr); }
  .facts dt { line-height: 1.5rem; }
  .calls { margin: 0; }
}
@media print {
  :root { --page: #fff; --shadow: 0 0 0 1px #7b8894; }
  body { font-size: .8125rem; }
  form { display: none; }
  .operation, .totals > div, .codes li { break-inside: avoid; }
  .area > h2 { break-after: avoid; }
  .chips li, .bar, .ribbon { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
@media (forced-colors: active) {
  .bar rect { fill: CanvasText; }
}
`
