import type { LifecycleRow } from '../../areas/index.js'
import type { Event } from '../../core/records/events.js'
import { legalMoves } from '../../core/records/state-machine.js'
import { formatMoment, partsOf } from '../moments.js'
import { Scroll, toneOf } from './parts.js'

const WIDTH = 136
const HEIGHT = 40
const STEP_X = 186
const STEP_Y = 92

interface Place {
  readonly x: number
  readonly y: number
}

/** Places the states. The others are below the line, right of the last state in it that leads to them. */
function placesOf({ transitions, states, line }: LifecycleRow): ReadonlyMap<string, Place> {
  const places = new Map(line.map((state, x): [string, Place] => [state, { x, y: 0 }]))
  const used = new Map<number, number>()
  for (const state of states) {
    if (places.has(state)) continue
    const from = line.findLastIndex(one => legalMoves(transitions, one).some(({ to }) => to === state))
    const y = (used.get(from + 1) ?? 0) + 1
    used.set(from + 1, y)
    places.set(state, { x: from + 1, y })
  }
  return places
}

/** Draws the line of a transition: no line crosses a box. */
function lineOf(from: Place, to: Place): string {
  const left = (place: Place) => place.x * STEP_X
  const top = (place: Place) => place.y * STEP_Y
  const middle = (place: Place) => top(place) + HEIGHT / 2
  const right = left(from) + WIDTH
  if (to.x === from.x) {
    const bend = right + 28
    return `M${right} ${middle(from)}C${bend} ${middle(from)} ${bend} ${middle(to)} ${right + 6} ${middle(to)}`
  }
  if (to.x === from.x + 1) {
    const bend = (right + left(to)) / 2
    return `M${right} ${middle(from)}C${bend} ${middle(from)} ${bend} ${middle(to)} ${left(to) - 6} ${middle(to)}`
  }
  // Beside the time below the box.
  const [start, end] = [left(from) + 8, left(to) + (to.x > from.x ? 8 : WIDTH - 8)]
  // Between the rows, and then into the top of the box, or into its side if another is above it.
  const gap = `M${start} ${top(from) + HEIGHT}V${top(from) + HEIGHT + 26 + from.x * 5}`
  if (to.y === 1) return `${gap}H${left(to) + 8 + from.x * 8}V${top(to) - 6}`
  if (to.y > 1) return `${gap}H${left(to) - 18 - from.x * 5}V${middle(to) + 10}H${left(to) - 6}`
  // Along the row, below it and its times.
  const [times, depth] = [HEIGHT + 20, HEIGHT + 20 + 14 * Math.abs(to.x - from.x)]
  return `M${start} ${top(from) + HEIGHT}V${times}C${start} ${depth} ${end} ${depth} ${end} ${times}V${HEIGHT + 6}`
}

interface LifecycleProps {
  /** Unique in the page. */
  readonly id: string
  readonly lifecycle: LifecycleRow
  readonly status: string
  readonly timeline: readonly Event[]
  readonly next: { readonly at: string; readonly to: string } | null
}

/** The lifecycle of a record: the present state filled, the way so far solid with its times, the next step dashed. */
export function LifecycleDrawing({ id, lifecycle, status, timeline, next }: LifecycleProps) {
  const places = placesOf(lifecycle)
  const placeOf = (state: string) => places.get(state) as Place
  const [columns, rows] = [
    Math.max(...[...places.values()].map(({ x }) => x)),
    Math.max(...[...places.values()].map(({ y }) => y)),
  ]
  const reached = reachedIn(timeline)
  const isTaken = (from: string, to: string) => timeline.some(event => event.from === from && event.to === to)
  const edges = lifecycle.states.flatMap(from =>
    legalMoves(lifecycle.transitions, from).map(({ verb, to }) => ({
      key: `${from}-${verb}`,
      line: lineOf(placeOf(from), placeOf(to)),
      kind: isTaken(from, to) ? 'taken' : from === status && next?.to === to ? 'next' : 'possible',
    })),
  )
  const order = ['possible', 'next', 'taken']
  edges.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
  const width = columns * STEP_X + WIDTH + 4
  const height = rows * STEP_Y + HEIGHT + (rows === 0 ? 56 : 20)
  return (
    <Scroll class="scroll lifecycle" label="The states and the way so far">
      <svg
        viewBox={`-2 -2 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={toText(status, reached, next)}
      >
        <defs>
          {order.map(kind => (
            <marker
              key={kind}
              id={`${id}-${kind}`}
              viewBox="0 0 8 8"
              refX="4"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path class={`arrow ${kind}`} d="M0 0L8 4L0 8z" />
            </marker>
          ))}
        </defs>
        {edges.map(({ key, line, kind }) => (
          <path key={key} class={`edge ${kind}`} d={line} marker-end={`url(#${id}-${kind})`} />
        ))}
        {[...places].map(([state, { x, y }]) => {
          const at = reached.get(state)
          const kind = state === status ? 'present' : at !== undefined ? 'past' : state === next?.to ? 'next' : ''
          return (
            <g
              key={state}
              class={`state ${kind} ${toneOf(state)}`}
              transform={`translate(${x * STEP_X} ${y * STEP_Y})`}
            >
              <rect width={WIDTH} height={HEIGHT} rx="8" />
              <text x={WIDTH / 2} y={HEIGHT / 2 + 4}>
                {state}
              </text>
              {at !== undefined && (
                <text class="at" x={WIDTH / 2} y={HEIGHT + 14}>
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
function toText(status: string, reached: ReadonlyMap<string, string>, next: LifecycleProps['next']): string {
  const way = [...reached].map(([to, at]) => `${to} on ${formatMoment(Date.parse(at))}`).join(', ')
  const then =
    next === null ? 'Nothing happens by itself.' : `Next: ${next.to} on ${formatMoment(Date.parse(next.at))}.`
  return `The state is ${status}.${way === '' ? '' : ` The way so far: ${way}.`} ${then}`
}
