/** The lifecycle of a record as a drawing: the present state filled, the way so far solid with its times, the forecast dashed. */
import { useEffect, useRef } from 'preact/hooks'
import { formatMoment, partsOf, toneOf } from './format.js'
import { Scroll } from './parts.js'
import type { Event, Explained, Kind, Step } from './types.js'

const WIDTH = 136
const HEIGHT = 44
const STEP_X = 186
const STEP_Y = 76
/** The length of the head of an arrow behind the end of its line. */
const HEAD = 6
const MARKER = {
  viewBox: '0 0 8 8',
  refX: 4,
  refY: 4,
  markerWidth: 8,
  markerHeight: 8,
  markerUnits: 'userSpaceOnUse',
  orient: 'auto',
}
/** The distance between two lines that begin or end on the same side of a box. */
const GAP = 20

interface Place {
  readonly x: number
  readonly y: number
}

type Lifecycle = NonNullable<Kind['lifecycle']>

/** Places the states. The others are below the line, right of the last state in it that leads to them. */
export function placesOf({
  transitions,
  states,
  line,
}: Pick<Lifecycle, 'transitions' | 'states' | 'line'>): ReadonlyMap<string, Place> {
  const places = new Map(line.map((state, x): [string, Place] => [state, { x, y: 0 }]))
  const used = new Map<number, number>()
  for (const state of states) {
    if (places.has(state)) continue
    const from = line.findLastIndex(one => transitions.some(({ from, to }) => from === one && to === state))
    const y = (used.get(from + 1) ?? 0) + 1
    used.set(from + 1, y)
    places.set(state, { x: from + 1, y })
  }
  return places
}

/** Returns the depth of an arc along a row: below it to an earlier state (positive), above it past others. 0: it is no arc. */
const depthOf = (from: Place, to: Place): number =>
  to.y !== from.y || to.x === from.x + 1 ? 0 : 14 * Math.sign(from.x - to.x) + 10 * (from.x - to.x)

/** Draws the line of a transition: no line crosses a box, and no two end in one place. */
export function lineOf(from: Place, to: Place): string {
  const [left, right] = [to.x * STEP_X, from.x * STEP_X + WIDTH]
  const [top, end] = [from.y * STEP_Y, to.y * STEP_Y + HEIGHT / 2]
  const start = top + HEIGHT / 2
  const depth = depthOf(from, to)
  if (depth !== 0) {
    // The longer one of two arcs is around the other.
    const boxes = Math.abs(to.x - from.x)
    const [inset, edge] = depth > 0 ? [WIDTH - GAP * boxes, top + HEIGHT] : [GAP * (boxes - 1), top]
    const [begin, target, bend] = [right - inset, left + inset, edge + Math.round((depth * 4) / 3)]
    return `M${begin} ${edge}C${begin} ${bend} ${target} ${bend} ${target} ${edge + Math.sign(depth) * HEAD}`
  }
  if (to.x === from.x) {
    const boxes = Math.abs(to.y - from.y)
    const [bend, side] = [right + 12 + 14 * boxes, end + 10 - 10 * boxes]
    return `M${right} ${start}C${bend} ${start} ${bend} ${side} ${right + HEAD} ${side}`
  }
  if (to.x === from.x + 1) {
    const bend = (right + left) / 2
    return `M${right} ${start}C${bend} ${start} ${bend} ${end} ${left - HEAD} ${end}`
  }
  if (to.y < from.y && to.x < from.x) {
    // Between the columns, between the rows, and then into the bottom of the box.
    const [column, row] = [right - WIDTH - GAP, to.y * STEP_Y + HEIGHT]
    return `M${right - WIDTH} ${start}H${column}V${row + GAP}H${left + GAP}V${row + HEAD}`
  }
  // Between the rows, and then into the top of the box, or into its right side if another is above it.
  const row = `M${right - WIDTH + GAP} ${top + HEIGHT}V${top + STEP_Y - 16 - 8 * from.x}`
  if (to.y === 1) return `${row}H${left + GAP}V${to.y * STEP_Y - HEAD}`
  return `${row}H${left + WIDTH + GAP}V${end}H${left + WIDTH + HEAD}`
}

interface LifecycleProps {
  /** Unique in the page. */
  readonly id: string
  readonly lifecycle: Lifecycle
  /** Absent if there is no record yet. */
  readonly explained?: Explained | undefined
}

const ORDER = ['possible', 'next', 'taken']

export function LifecycleDrawing({ id, lifecycle, explained }: LifecycleProps) {
  const { record, timeline = [], forecast = [] } = explained ?? {}
  const status = String(record?.status ?? '')
  const places = placesOf(lifecycle)
  const reached = reachedIn(timeline)
  const coming = new Map(forecast.map(({ to, at }) => [to, at]))
  const ways = [status, ...forecast.map(({ to }) => to)]
  const isComing = (from: string, to: string) => ways.some((state, at) => state === from && ways[at + 1] === to)
  const isTaken = (from: string, to: string) => timeline.some(event => event.from === from && event.to === to)
  const edges = lifecycle.transitions
    .map(({ from, transition, to }) => ({
      key: `${from}-${transition}`,
      ends: [places.get(from), places.get(to)] as [Place, Place],
      look: isTaken(from, to) ? 'taken' : isComing(from, to) ? 'next' : 'possible',
    }))
    .sort((one, other) => ORDER.indexOf(one.look) - ORDER.indexOf(other.look))
  const drawing = useRef<SVGSVGElement>(null)
  const presentX = (places.get(status)?.x ?? 0) * STEP_X
  // A narrow screen shows the present state first.
  useEffect(() => {
    const scroll = drawing.current?.parentElement
    if (scroll) scroll.scrollLeft = presentX + WIDTH / 2 - scroll.clientWidth / 2
  }, [presentX])
  const all = [...places.values()]
  const depths = edges.map(({ ends }) => depthOf(...ends))
  const top = Math.min(0, ...depths) - 2
  const width = Math.max(...all.map(({ x }) => x * STEP_X)) + WIDTH + 4
  const height = Math.max(...depths, ...all.map(({ y }) => y * STEP_Y)) + HEIGHT + 2 - top
  return (
    <Scroll class="scroll lifecycle" label="The states and the way so far">
      <svg
        ref={drawing}
        viewBox={`-2 ${top} ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={toText(status, reached, forecast)}
      >
        <defs>
          {ORDER.map(look => (
            <marker key={look} id={`${id}-${look}`} {...MARKER}>
              <path class={`arrow ${look}`} d="M0 0L8 4L0 8z" />
            </marker>
          ))}
        </defs>
        {edges.map(({ key, ends, look }) => (
          <path key={key} class={`edge ${look}`} d={lineOf(...ends)} marker-end={`url(#${id}-${look})`} />
        ))}
        {[...places].map(([state, { x, y }]) => {
          const at = reached.get(state) ?? coming.get(state)
          const look = state === status ? 'present' : reached.has(state) ? 'past' : coming.has(state) ? 'next' : ''
          return (
            <g
              key={state}
              class={`state ${look} ${toneOf(state)}`}
              transform={`translate(${x * STEP_X} ${y * STEP_Y})`}
            >
              <rect width={WIDTH} height={HEIGHT} rx="8" />
              <text x={WIDTH / 2} y={HEIGHT / 2 + (at === undefined ? 4 : -3)}>
                {state}
              </text>
              {at !== undefined && (
                <text class="at" x={WIDTH / 2} y={HEIGHT / 2 + 13}>
                  {partsOf(at)[1]}
                </text>
              )}
            </g>
          )
        })}
      </svg>
    </Scroll>
  )
}

/** Returns the states of a timeline with the last time of each, in the order of these times. */
function reachedIn(timeline: readonly Event[]): ReadonlyMap<string, string> {
  const last = new Map<string, string>()
  for (const { to, at } of timeline) {
    last.delete(to)
    last.set(to, at)
  }
  return last
}

/** Says what the drawing shows. */
function toText(status: string, reached: ReadonlyMap<string, string>, forecast: readonly Step[]): string {
  const on = (to: string, at: string) => `${to} on ${formatMoment(Date.parse(at))}`
  const way = [...reached].map(([to, at]) => on(to, at)).join(', ')
  const then = forecast.map(({ to, at }) => on(to, at)).join(', ')
  if (status === '') return 'The states and the ways between them.'
  return `The state is ${status}.${way && ` The way so far: ${way}.`} ${then === '' ? 'Nothing happens by itself.' : `Next: ${then}.`}`
}
