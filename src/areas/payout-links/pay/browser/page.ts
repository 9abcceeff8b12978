/** The script of the pages. They work without it. It adds checks while a person types, and the progress as it happens. */
import { isAllowedOrigin } from '../../../../core/origins.js'
import type { ClaimField, PayoutMethod } from '../../claim-rules.js'
import { claimRules, problemOf } from '../../claim-rules.js'
import { fieldTexts } from '../views/strings.js'
import type { Hello, PageMessage, Shown } from './messages.js'

/** The milliseconds between two looks at the state of the link. */
const INTERVAL_MS = 1000

const main = () => document.querySelector('main') as HTMLElement
const stateOf = ({ dataset }: HTMLElement) => `${dataset.status} ${dataset.code}`

// ------------------------------------------------------------------------------------------------- checks of a field

type Input = HTMLInputElement | HTMLSelectElement

/** Returns the fields of a form. Those of the form of a decline are none. */
function fieldsOf({ dataset: { method } }: HTMLFormElement): readonly ClaimField[] {
  return method === undefined ? [] : claimRules[method as PayoutMethod].fields
}

/** Returns the input of a field, or null if the sender has set it. */
const inputOf = (form: HTMLFormElement, { name }: ClaimField) => form.elements.namedItem(name) as Input | null

/** Shows the problem of a field, or clears it. Returns whether the field is valid. */
function check(input: Input, field: ClaimField): boolean {
  const problem = problemOf(field, input.value)
  const message = document.getElementById(`${input.id}-error`)
  const text = problem === undefined ? '' : fieldTexts[field.kind][problem]
  if (message !== null && message.textContent !== text) message.textContent = text
  if (problem === undefined) input.removeAttribute('aria-invalid')
  else input.setAttribute('aria-invalid', 'true')
  input.classList.toggle('valid', problem === undefined)
  return problem === undefined
}

/** Returns the field of an event of an input, or undefined if a claim has no such field. */
function fieldAt(input: Input): ClaimField | undefined {
  return input.form ? fieldsOf(input.form).find(({ name }) => name === input.name) : undefined
}

/** Checks a field while the user types: a first problem waits until the field is left, but a valid text shows at once. */
document.addEventListener('input', ({ target }) => {
  const input = target as Input
  const field = fieldAt(input)
  if (field === undefined) return
  if (input.hasAttribute('aria-invalid') || problemOf(field, input.value) === undefined) check(input, field)
  else input.classList.remove('valid')
})

/** Checks a field that is left. */
function leave(target: EventTarget | null) {
  const input = target as Input
  const field = fieldAt(input)
  if (field !== undefined && input.value !== '') check(input, field)
}

let isPressed = false
document.addEventListener('mousedown', () => {
  isPressed = true
})
document.addEventListener('mouseup', () => {
  isPressed = false
})
document.addEventListener('focusout', ({ target }) => {
  // A message moves the elements below it. A button would move between the press and the release of the mouse.
  if (isPressed) document.addEventListener('mouseup', () => setTimeout(leave, 0, target), { once: true })
  else leave(target)
})

// ----------------------------------------------------------------------------------------------------- sent forms

document.addEventListener('submit', event => {
  const form = event.target as HTMLFormElement
  if (form.method !== 'post') return
  event.preventDefault()
  const [first] = fieldsOf(form).flatMap(field => {
    const input = inputOf(form, field)
    return input === null || check(input, field) ? [] : input
  })
  if (first === undefined) send(form)
  else first.focus()
})

let isSending = false

/** Sends a form, and shows the page that answers it. */
async function send(form: HTMLFormElement) {
  if (isSending) return
  isSending = true
  const button = form.querySelector('button')
  button?.setAttribute('aria-disabled', 'true')
  try {
    const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>)
    const response = await fetch(location.href, { method: 'POST', body, headers: { accept: 'text/html' } })
    history.replaceState(null, '', response.url)
    show(await response.text(), true)
  } catch {
    announce('The server cannot be reached. Please try again.')
  } finally {
    isSending = false
    button?.removeAttribute('aria-disabled')
  }
}

const parse = (html: string) => new DOMParser().parseFromString(html, 'text/html')

/** Replaces the content of the page by the content of another page, with the focus on its title where the focus would be lost. */
function show(html: string, isAnswer: boolean) {
  const next = parse(html)
  const content = next.querySelector('main')
  if (content === null) return
  const hadFocus = main().contains(document.activeElement)
  main().replaceWith(content)
  document.title = next.title
  const title = content.querySelector<HTMLElement>('.problems a, .action h2[tabindex], .notice h1')
  if (isAnswer || hadFocus) title?.focus()
  else announce(title?.textContent ?? '')
  sendState()
  wait()
}

function announce(text: string) {
  const status = document.getElementById('status')
  if (status !== null) status.textContent = text
}

// ------------------------------------------------------------------------------------------------------- progress

let timer: ReturnType<typeof setTimeout> | undefined

/** Looks at the state of the link again, as long as it can change by itself. */
function wait() {
  clearTimeout(timer)
  if (main().dataset.live !== undefined) timer = setTimeout(look, INTERVAL_MS)
}

async function look() {
  if (document.hidden || isSending) return wait()
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
    const html = await answer.text()
    const content = parse(html).querySelector('main')
    const hasChanged = content !== null && stateOf(content) !== stateOf(main())
    if (answer.status < 500 && hasChanged && !isSending) return show(html, false)
  } catch {
    // The server cannot be reached: the next look may do better.
  }
  wait()
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden && main().dataset.live !== undefined) look()
})

// ---------------------------------------------------------------------------------------------- the partner's page

let partner: string | undefined

function post(message: PageMessage) {
  if (partner !== undefined) window.parent.postMessage(message, partner)
}

function sendState() {
  const { status, code, message } = main().dataset as Shown
  post({ source: 'payments-sandbox', event: 'state', status, code, message })
}

function listen() {
  const embedders = (document.body.dataset.embedders ?? '').split(' ').filter(origin => origin !== '')
  window.addEventListener('message', ({ data, source, origin }: MessageEvent<Hello | undefined>) => {
    if (source !== window.parent || data?.source !== 'payments-sandbox' || data.event !== 'hello') return
    if (origin === 'null' || !isAllowedOrigin(origin, embedders)) return
    partner = origin
    sendState()
    sendHeight()
  })
  const sendHeight = () =>
    post({
      source: 'payments-sandbox',
      event: 'height',
      height: Math.ceil(document.body.getBoundingClientRect().height),
    })
  new ResizeObserver(sendHeight).observe(document.body)
}

if (window.parent !== window) listen()
wait()
