/** The script of the pages. They work without it. It adds checks while a person types, and the progress as it happens. */
import { isAllowedOrigin } from '../../../../core/origins.js'
import type { ClaimField, PayoutMethod } from '../../claim-rules.js'
import { claimFields, problemOf } from '../../claim-rules.js'
import type { Hello, PageMessage, Shown } from './messages.js'

/** The milliseconds between two looks at the state of the link. */
const INTERVAL_MS = 1000

const main = () => document.querySelector('main') as HTMLElement
const stateOf = ({ dataset }: HTMLElement) => `${dataset.status} ${dataset.code}`

// ------------------------------------------------------------------------------------------------- checks of a field

function fieldsOf(form: HTMLFormElement): ClaimField[] {
  const { method } = form.dataset
  return method === undefined ? [] : claimFields(method as PayoutMethod)
}

const inputsOf = (form: HTMLFormElement, { name }: ClaimField) =>
  [...form.elements].filter((element): element is HTMLInputElement => (element as HTMLInputElement).name === name)

const textOf = (form: HTMLFormElement, { name }: ClaimField) => String(new FormData(form).get(name) ?? '')

/** Shows the problem of a field, or clears it. Returns whether the field is valid. */
function check(form: HTMLFormElement, field: ClaimField): boolean {
  const [input] = inputsOf(form, field)
  if (input === undefined) return true
  const problem = problemOf(field, textOf(form, field))
  const message = document.getElementById(`${input.id}-error`)
  const text = problem === undefined ? '' : (message?.dataset[problem] ?? '')
  if (message !== null && message.textContent !== text) message.textContent = text
  for (const one of inputsOf(form, field)) {
    if (problem === undefined) one.removeAttribute('aria-invalid')
    else one.setAttribute('aria-invalid', 'true')
  }
  input.closest('.field')?.classList.toggle('valid', problem === undefined)
  return problem === undefined
}

const fieldAt = (target: EventTarget | null) => {
  if (!(target instanceof HTMLInputElement) || target.form === null) return undefined
  const { form } = target
  const field = fieldsOf(form).find(({ name }) => name === target.name)
  return field === undefined ? undefined : { input: target, form, field }
}

/** Checks a field while the user types: a first problem waits until the field is left, but a valid text shows at once. */
document.addEventListener('input', ({ target }) => {
  const at = fieldAt(target)
  if (at === undefined) return
  const { input, form, field } = at
  if (input.hasAttribute('aria-invalid') || problemOf(field, input.value) === undefined) check(form, field)
  else input.closest('.field')?.classList.remove('valid')
})

/** Checks a field that is left, and shows its text in groups. */
function leave(target: EventTarget | null) {
  const at = fieldAt(target)
  if (at === undefined || at.input.value === '') return
  const { input, form, field } = at
  if (check(form, field) && input.type === 'text') input.value = field.format(field.normalize(input.value))
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
  const [first] = fieldsOf(form).filter(field => !check(form, field))
  if (first === undefined) send(form)
  else inputsOf(form, first)[0]?.focus()
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
    announce(document.body.dataset.offline ?? '')
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

/** Explains an embedded page that is opened outside of a frame. Older browsers do not send this to the server. */
function explainOutside() {
  const outside = document.querySelector<HTMLTemplateElement>('template#outside')
  if (outside === null) return
  main().replaceChildren(outside.content)
  delete main().dataset.live
}

if (window.parent === window) explainOutside()
else listen()
wait()
