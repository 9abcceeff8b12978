/**
 * The script of the console. The pages work without it. It shows changes as they happen, sends forms without a jump,
 * and copies texts. Only the server renders.
 */
import { Idiomorph } from 'idiomorph'
import { formatMoment } from '../moments.js'

/** The shortest time between two renewals of the page. */
const PAUSE_MS = 500
/** The time until a lost connection is tried again. */
const RETRY_MS = 1000

const element = (id: string) => document.getElementById(id) as HTMLElement

// ---------------------------------------------------------------------------------------------------- the page itself

/** Whether a person has changed a field since the server made it. */
function isChanged(field: Element): boolean {
  if (field instanceof HTMLInputElement) {
    return field.type === 'file' || field.value !== field.defaultValue || field.checked !== field.defaultChecked
  }
  return field instanceof HTMLTextAreaElement && field.value !== field.defaultValue
}

/** Returns the choices of the lists by their ids. The lists of a renewed page can have other options. */
const choices = () => [...document.querySelectorAll('select')].map(({ id, value }) => ({ id, value, given: given(id) }))
const given = (id: string) => element(id).querySelector<HTMLOptionElement>('option[selected]')?.value

/**
 * Puts a page of the server in the place of the present one, and leaves all that a person has done to it.
 * @param isAnswer whether it answers a form, whose fields begin again
 */
function morph(html: string, isAnswer: boolean) {
  const next = new DOMParser().parseFromString(html, 'text/html')
  const main = next.querySelector('main')
  if (main === null || next.documentElement.className !== 'console') return location.reload()
  document.title = next.title
  const { activeElement } = document
  const chosen = isAnswer ? [] : choices()
  Idiomorph.morph(document.body, next.body, {
    morphStyle: 'outerHTML',
    callbacks: {
      // What a script has shown: a fold, and the buttons to copy.
      beforeAttributeUpdated: (name, node) =>
        !(
          name === 'open' ||
          (name === 'hidden' && node.hasAttribute('data-copy')) ||
          (!isAnswer && ['value', 'checked'].includes(name) && isChanged(node))
        ),
      // The notice of an action stays until the next one.
      beforeNodeMorphed: node => isAnswer || (node as Element).id !== 'notice',
    },
  })
  for (const { id, value, given: before } of chosen) {
    const list = document.getElementById(id) as HTMLSelectElement | null
    const isOffered = [...(list?.options ?? [])].some(option => option.value === value)
    // A list without a choice of the person follows the server.
    if (list !== null && isOffered && value !== before) list.value = value
  }
  enhance()
  if (isAnswer && (document.activeElement === document.body || !document.contains(activeElement))) {
    document.querySelector<HTMLElement>('h1')?.focus()
  }
}

let isFetching = false
let isStale = false
let lastRenewal = 0

/** Fetches the page again and shows it. Several changes during a renewal make one more. */
async function renew() {
  if (isFetching) {
    isStale = true
    return
  }
  isFetching = true
  await new Promise(done => setTimeout(done, lastRenewal + PAUSE_MS - performance.now()))
  lastRenewal = performance.now()
  isStale = false
  const address = location.href
  try {
    const answer = await fetch(address, { headers: { accept: 'text/html' } })
    const html = await answer.text()
    // A session has ended.
    if (answer.status === 401) location.reload()
    // Meanwhile, a form may have brought another page, or a refusal that must stay.
    else if (location.href === address && !isSending && !document.querySelector('form .error')) morph(html, false)
  } catch {
    // The stream reports that the server is away.
  } finally {
    isFetching = false
    if (isStale) void renew()
  }
}

// ------------------------------------------------------------------------------------------------------------ changes

let changes: EventSource | undefined

/** Listens to changes of the client, as long as the page is visible. */
function listen() {
  const address = document.body.dataset.changes
  if (address === undefined || document.hidden || changes !== undefined) return
  changes = new EventSource(address)
  changes.addEventListener('change', () => void renew())
  changes.addEventListener('open', () => {
    element('offline').textContent = ''
  })
  changes.addEventListener('error', () => {
    element('offline').textContent = 'The server is away. This page catches up when it is back.'
    if (changes?.readyState !== EventSource.CLOSED) return
    stop()
    setTimeout(() => {
      listen()
      void renew()
    }, RETRY_MS)
  })
}

function stop() {
  changes?.close()
  changes = undefined
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) return stop()
  listen()
  void renew()
})
addEventListener('pagehide', stop)
addEventListener('pageshow', listen)

// ------------------------------------------------------------------------------------------------------------- forms

let isSending = false

document.addEventListener('submit', event => {
  const form = event.target as HTMLFormElement
  if (form.elements.namedItem('call') === null || form.enctype !== 'application/x-www-form-urlencoded') return
  event.preventDefault()
  void send(form)
})

/** Sends a form, and shows the page that answers it. */
async function send(form: HTMLFormElement) {
  if (isSending) return
  isSending = true
  const button = form.querySelector('button[type=submit]')
  button?.setAttribute('aria-disabled', 'true')
  try {
    const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>)
    const answer = await fetch(form.action, { method: 'POST', body, headers: { accept: 'text/html' } })
    const html = await answer.text()
    if (answer.redirected) history.pushState(null, '', answer.url)
    morph(html, true)
    forgetNotice()
    if (answer.redirected) document.querySelector('#happened')?.scrollIntoView({ block: 'nearest' })
    stop()
    listen()
  } catch {
    element('offline').textContent =
      'The server is away. Nothing was changed by this form, or look before you send it again.'
  } finally {
    isSending = false
    button?.removeAttribute('aria-disabled')
  }
}

addEventListener('popstate', () => location.reload())

/** Removes the notice from the address, so that the address can be sent to a colleague. */
function forgetNotice() {
  const url = new URL(location.href)
  url.searchParams.delete('notice')
  url.searchParams.delete('proof')
  history.replaceState(null, '', url)
}

// A choice of a client or of a filter is a page of its own.
document.addEventListener('change', ({ target }) => {
  if (target instanceof HTMLSelectElement && target.form?.method === 'get') target.form.requestSubmit()
})

// -------------------------------------------------------------------------------------------------- clock and copying

let clock = { at: 0, since: 0, rate: 0 }

/** Lets a running clock tick, and shows the buttons that copy. */
function enhance() {
  const time = document.querySelector<HTMLTimeElement>('.now time')
  clock = {
    at: Date.parse(time?.dateTime ?? ''),
    since: performance.now(),
    rate: Number(time?.dataset.rate ?? 0),
  }
  for (const button of document.querySelectorAll<HTMLElement>('[data-copy]')) button.hidden = false
}

setInterval(() => {
  const time = document.querySelector('.now time')
  const { at, since, rate } = clock
  if (time !== null && rate > 0) time.textContent = formatMoment(at + (performance.now() - since) * rate)
}, 1000)

document.addEventListener('click', async ({ target }) => {
  const button = (target as Element).closest<HTMLElement>('[data-copy]')
  const text = button?.parentElement?.querySelector('code')
  if (!button || !text) return
  try {
    await navigator.clipboard.writeText(text.textContent ?? '')
    element('notice').textContent = 'Copied.'
  } catch {
    // Browsers refuse it to pages of other machines without HTTPS. The text is selected instead.
    getSelection()?.selectAllChildren(text)
  }
})

enhance()
forgetNotice()
listen()
