import { commonStyles, controlStyles } from '../../../http/pages/styles.js'

/** The styles of a coverage, on the page of the console and in a saved one. */
export const coverageStyles = `
.totals dd { display: grid; grid-template-columns: 6rem minmax(0, 24rem); align-items: center; }
.totals progress { width: 100%; height: .5rem; accent-color: var(--ok); }
.operation { padding: .75rem 0; border-top: 1px solid var(--line); }
.operation h3 { margin: 0; font-size: .9375rem; overflow-wrap: anywhere; }
.operation .error { white-space: nowrap; }
.chips { display: flex; flex-wrap: wrap; gap: .25rem .375rem; }
.codes p { margin-bottom: .375rem; }
.help li { margin-top: .5rem; }
@media (min-width: 52rem) {
  .operation { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 5fr); gap: 0 1.5rem; align-items: start; }
  .operation .facts dt { flex-basis: 6rem; }
}
@media print {
  .operation { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
`

/** The style sheet of a coverage that is saved as a file. It is in the file, so that the file is complete. */
export const styles = `${commonStyles}${controlStyles}${coverageStyles}
main { max-width: 76rem; margin: 0 auto; padding: .5rem 1rem 4rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
`
