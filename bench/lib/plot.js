/**
 * Latency against number of records, both on logarithmic scales, as SVG. Colours follow the reader's scheme, light or
 * dark; ours and SQLite differ in dash, too, and each line is named at its end.
 */

const WIDTH = 760
const HEIGHT = 420
const LEFT = 70
const RIGHT = 232
const TOP = 46
const BOTTOM = 50

const STYLE = `
    text { font: 13px system-ui, sans-serif; fill: #24292f }
    .title { font-size: 15px; font-weight: 600 }
    .axis, .grid { stroke: #8c959f; stroke-width: 1 }
    .grid { stroke-opacity: 0.25 }
    .line { fill: none; stroke-width: 2.5 }
    .theirs { stroke-dasharray: 6 5 }
    .c0 { stroke: #0969da } .f0 { fill: #0969da }
    .c1 { stroke: #1a7f37 } .f1 { fill: #1a7f37 }
    .c2 { stroke: #bc4c00 } .f2 { fill: #bc4c00 }
    .back { fill: #ffffff }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .back { fill: #0d1117 }
      .c0 { stroke: #58a6ff } .f0 { fill: #58a6ff }
      .c1 { stroke: #3fb950 } .f1 { fill: #3fb950 }
      .c2 { stroke: #f0883e } .f2 { fill: #f0883e }
    }`

const powers = (least, most) =>
  Array.from({ length: Math.log10(most / least) + 1.5 }, (_, at) => least * 10 ** at).filter(
    value => value <= most * 1.01,
  )

/** @param {number} milliseconds */
function timeLabel(milliseconds) {
  if (milliseconds >= 1000) return `${milliseconds / 1000} s`
  return milliseconds >= 0.999 ? `${Math.round(milliseconds)} ms` : `${Math.round(milliseconds * 1000)} µs`
}

/**
 * @param {readonly { size: number, name: string, ours: number, theirs: number }[]} measured in milliseconds
 * @returns {string}
 */
export function latencyPlot(measured) {
  const names = [...new Set(measured.map(({ name }) => name))]
  const sizes = measured.map(({ size }) => size)
  const values = measured.flatMap(({ ours, theirs }) => [ours, theirs])
  const x = scale(Math.min(...sizes), Math.max(...sizes), LEFT, WIDTH - RIGHT)
  const least = 10 ** Math.floor(Math.log10(Math.min(...values)))
  const most = 10 ** Math.ceil(Math.log10(Math.max(...values)))
  const y = scale(least, most, HEIGHT - BOTTOM, TOP)

  const parts = [`<rect class="back" width="${WIDTH}" height="${HEIGHT}" rx="6"/>`]
  parts.push(`<text class="title" x="${LEFT}" y="26">Time of a list call against number of collections</text>`)
  for (const value of powers(least, most)) {
    parts.push(`<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/>`)
    parts.push(`<text x="${LEFT - 8}" y="${y(value) + 4}" text-anchor="end">${timeLabel(value)}</text>`)
  }
  for (const size of powers(Math.min(...sizes), Math.max(...sizes))) {
    parts.push(`<line class="grid" x1="${x(size)}" x2="${x(size)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}"/>`)
    const label = size.toLocaleString('en-US')
    parts.push(`<text x="${x(size)}" y="${HEIGHT - BOTTOM + 20}" text-anchor="middle">${label}</text>`)
  }
  parts.push(
    `<path class="axis" fill="none" d="M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}"/>`,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">collections of one tenant</text>`,
  )

  const labels = []
  for (const [at, name] of names.entries()) {
    const points = measured.filter(point => point.name === name)
    for (const side of ['ours', 'theirs']) {
      const places = points.map(point => `${x(point.size)} ${y(point[side])}`)
      parts.push(`<path class="line c${at} ${side}" d="M${places.join('L')}"/>`)
      for (const point of points) {
        parts.push(`<circle class="f${at}" cx="${x(point.size)}" cy="${y(point[side])}" r="3"/>`)
      }
      labels.push({
        at: y(points.at(-1)[side]),
        text: `${name}, ${side === 'ours' ? 'sandbox' : 'SQLite'}`,
        colour: at,
      })
    }
  }
  // Names of lines that end close together make room for each other.
  labels.sort((a, b) => a.at - b.at)
  let lowest = TOP - 20
  for (const { at, text, colour } of labels) {
    lowest = Math.max(at + 4, lowest + 17)
    parts.push(`<circle class="f${colour}" cx="${WIDTH - RIGHT + 14}" cy="${round(lowest - 4)}" r="4"/>`)
    parts.push(`<text x="${WIDTH - RIGHT + 24}" y="${round(lowest)}">${text}</text>`)
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">
  <title>Time of a list call against number of collections, sandbox and SQLite in memory</title>
  <style>${STYLE}
  </style>
  ${parts.join('\n  ')}
</svg>
`
}

const round = value => Math.round(value * 10) / 10

/** From one logarithmic range to places on the picture. */
function scale(least, most, from, to) {
  const span = Math.log10(most / least)
  return value => round(from + ((to - from) * Math.log10(value / least)) / span)
}
