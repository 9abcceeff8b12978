/**
 * The script of the console. The pages work without it. It shows changes as they happen, sends forms without a jump,
 * and copies texts. Only the server renders.
 */
import { Idiomorph } from 'idiomorph'
import { formatMoment } from '../moments.js'

/** The time between two renewals of the page. */
const PAUSE_MS = 1000
/** The time for which a button says that it has copied. */
const COPIED_MS = 2000

/** The name of the id of the list that a page begins with. */
const FOCUS = 'focus'

const AWAY = 'The server is away. This page catches up when it is back.'
const NO_TOKEN = 'The server asks for its admin token. Load the page in another tab, then try again here.'

const element = (id: string) => document.getElementById(id) as HTMLElement

/** Whether a person has changed a field since the server made it. */
function isChanged(field: Element): boolean {
  if (field instanceof HTMLSelectElement) {
    return field.value !== (field.querySelector<HTMLOptionElement>('option[selected]') ?? field.options[0])?.value
  }
  if (field instanceof HTMLInputElement) {
    // Browsers leave out the seconds of a full minute.
    const { value, defaultValue } = field
    const isSame = value === defaultValue || (value !== '' && Date.parse(value) === Date.parse(defaultValue))
    return field.type === 'file' || !isSame || field.checked !== field.defaultChecked
  }
  return field instanceof HTMLTextAreaElement && field.value !== field.defaultValue
}

/** Whether a person has changed a field of the form that a command follows. */
const isTyped = ({ dataset: { of = '' } }: HTMLElement) =>
  [...((document.getElementById(of) as HTMLFormElement | null)?.elements ?? [])].some(isChanged)

/** Lists the fields that a person has changed, and would lose with the page. */
const changedFields = () => [...document.querySelectorAll('input, textarea, select')].filter(isChanged)

/** Whether a text is a page of the console. Parsing another one here would break the policy for its styles. */
const isOfConsole = (html: string) => html.startsWith('<!doctype html><html lang="en" class="console">')

/**
 * Puts a page of the console in the place of the present one, and leaves all that a person has done to it.
 * @param resets whether the fields of a form begin again; undefined: the page answers no form
 */
function morph(html: string, resets?: (form: HTMLFormElement | null) => boolean) {
  const next = new DOMParser().parseFromString(html, 'text/html')
  document.title = next.title
  const { activeElement } = document
  const isOfStory = isInStory(activeElement)
  // While the page is replaced, a field has a new default and its old value.
  const changed: ReadonlySet<Element> = new Set(changedFields())
  // The lists of a renewed page can have other options.
  const lists = [...document.querySelectorAll('select')].filter(list => changed.has(list) && !resets?.(list.form))
  const choices = lists.map(({ id, value }) => ({ id, value }))
  Idiomorph.morph(document.body, next.body, {
    morphStyle: 'outerHTML',
    callbacks: {
      // A person has unfolded it.
      beforeAttributeUpdated: (name, node) =>
        !(
          name === 'open' ||
          (['value', 'checked'].includes(name) && changed.has(node) && !resets?.((node as HTMLInputElement).form))
        ),
      // The notice of an action stays until the next one, and a command follows its fields.
      beforeNodeMorphed: node =>
        resets !== undefined ||
        !(node instanceof HTMLElement && (node.id === 'notice' || (node.matches('[data-of]') && isTyped(node)))),
    },
  })
  for (const { id, value } of choices) {
    const list = document.getElementById(id) as HTMLSelectElement | null
    if (list !== null && [...list.options].some(option => option.value === value)) list.value = value
  }
  enhance()
  for (const code of document.querySelectorAll<HTMLElement>('[data-of]')) if (isTyped(code)) void follow(code)
  if (document.activeElement !== document.body && document.contains(activeElement)) return
  if (isOfStory) goOn()
  else if (resets !== undefined) document.querySelector<HTMLElement>('h1')?.focus()
}

const isInStory = (element: Element | null) => element?.closest('.story') != null

/** Moves the focus to the next step of the story, which can be far down. At its end, shows the last one above the ways on. */
function goOn() {
  const next = document.querySelector<HTMLElement>('.story [aria-current] :is([type=submit], a.button)')
  if (next !== null) return next.focus()
  document.querySelector<HTMLElement>('.story ~ .columns a.button')?.focus({ preventScroll: true })
  document.querySelector('.story > :last-child')?.scrollIntoView()
}

let renewal: ReturnType<typeof setTimeout> | undefined
/** The page that the last renewal showed. */
let latest = ''

/** Renews the page again and again, as long as it is visible and the server admits it. */
async function poll() {
  clearTimeout(renewal)
  if (document.hidden) return
  const isAdmitted = await renew()
  clearTimeout(renewal)
  if (isAdmitted) renewal = setTimeout(poll, PAUSE_MS)
}

/** Fetches the page again, and shows its changes. Resolves to whether the server admits it. */
async function renew(): Promise<boolean> {
  const address = location.href
  try {
    const answer = await fetch(address, { headers: { accept: 'text/html' } })
    const html = await answer.text()
    // Meanwhile, a form may have brought another page, or a refusal that must stay.
    if (location.href !== address || sending !== undefined || document.querySelector('form .error')) return true
    if (isOfConsole(html)) {
      element('offline').textContent = ''
      if (html !== latest) morph(html)
      latest = html
      return true
    }
    // Any other answer is of a server in between.
    if (answer.status !== 401) element('offline').textContent = AWAY
    // A new page asks for the token, unless a text would be lost.
    else if (changedFields().length === 0) location.reload()
    else element('offline').textContent = NO_TOKEN
    return answer.status !== 401
  } catch {
    element('offline').textContent = AWAY
    return true
  }
}

document.addEventListener('visibilitychange', () => {
  // It can be of a time before the other tab.
  if (!document.hidden) element('notice').classList.add('seen')
  void poll()
})
addEventListener('pagehide', () => clearTimeout(renewal))
addEventListener('pageshow', () => {
  clearTimeout(renewal)
  renewal = setTimeout(poll, PAUSE_MS)
})

/** The form that waits for its answer. */
let sending: HTMLFormElement | undefined

document.addEventListener('submit', event => {
  const form = event.target as HTMLFormElement
  if (form.elements.namedItem('form') === null || form.enctype !== 'application/x-www-form-urlencoded') return
  event.preventDefault()
  void send(form)
})

function say(text: string) {
  const notice = element('notice')
  notice.textContent = text
  notice.classList.add('refused')
  notice.scrollIntoView({ block: 'nearest' })
}

/** Returns the sentence of an error in the envelope. A server in between can answer with any text. */
function messageOf(text: string): string {
  try {
    const { code, message } = JSON.parse(text)
    if (typeof message === 'string') return `${code}: ${message}`
  } catch {
    // It is no envelope.
  }
  return 'It does not come from the sandbox.'
}

/** Sends a form, and shows its answer. */
async function send(form: HTMLFormElement) {
  if (sending !== undefined) {
    if (sending !== form) say('Nothing was sent: another form of this page waits for its answer.')
    return
  }
  sending = form
  const button = form.querySelector('button[type=submit]')
  const isOfStory = isInStory(form)
  button?.setAttribute('aria-disabled', 'true')
  try {
    const answer = await fetch(form.action, {
      method: 'POST',
      body: bodyOf(form),
      // Pages of the console have one type. A refusal without a form is an error in the envelope.
      headers: { accept: 'application/json' },
    })
    const html = await answer.text()
    if (!isOfConsole(html)) {
      // A new page asks for the token, unless a text would be lost.
      if (answer.status === 401) {
        return changedFields().length === 0 ? location.reload() : say(`Nothing was sent. ${NO_TOKEN}`)
      }
      return say(`The answer was ${answer.status}. ${messageOf(html)}`)
    }
    const { pathname } = location
    if (answer.redirected) history.pushState(null, '', answer.url)
    morph(html, other => other === form || location.pathname !== pathname)
    latest = ''
    forgetNotice()
    const refused = document.querySelector<HTMLElement>('[autofocus], form .error')
    refused?.focus()
    // It may have the focus already, out of view.
    refused?.scrollIntoView({ block: 'nearest' })
    if (isOfStory) goOn()
  } catch {
    say('No answer came. Look for the effect of this form before you send it again.')
  } finally {
    sending = undefined
    button?.removeAttribute('aria-disabled')
  }
}

const bodyOf = (form: HTMLFormElement) => new URLSearchParams(new FormData(form) as unknown as Record<string, string>)

const followed = new WeakMap<HTMLElement, number>()

/** Shows a command with the values of the fields of its form. The server makes it, as it reads the form. */
async function follow(code: HTMLElement) {
  const turn = (followed.get(code) ?? 0) + 1
  followed.set(code, turn)
  try {
    const body = bodyOf(element(code.dataset.of as string) as HTMLFormElement)
    const answer = await fetch(document.body.dataset.command as string, { method: 'POST', body })
    const text = await answer.text()
    if (answer.ok && followed.get(code) === turn) code.textContent = text
  } catch {
    // The next renewal reports that the server is away.
  }
}

document.addEventListener('input', ({ target }) => {
  const code = document.querySelector<HTMLElement>(`[data-of="${(target as HTMLInputElement).form?.id}"]`)
  if (code) void follow(code)
})

/** The address of the page that is shown, without its fragment. */
let shown = ''
const presentAddress = () => location.pathname + location.search

// A link within the page is such an event, too.
addEventListener('popstate', () => {
  if (presentAddress() !== shown) location.reload()
})

/** Removes the notice from the address, so that the address can be sent to a colleague. */
function forgetNotice() {
  const url = new URL(location.href)
  url.searchParams.delete('notice')
  url.searchParams.delete('proof')
  history.replaceState(null, '', url)
  shown = presentAddress()
}

/** Whether the last input was a key. Each arrow is a change of a list, so Enter sends it. */
let isByKey = false

function choose(target: EventTarget | null) {
  // A field `method` hides the property of its form.
  if (!(target instanceof HTMLSelectElement) || target.form?.getAttribute('method') !== 'get') return
  target.form.requestSubmit()
  sessionStorage.setItem(FOCUS, target.id)
}

// A choice of a client or of a filter is a page of its own, which begins with the focus in its list.
document.addEventListener('change', ({ target }) => {
  if (!isByKey) choose(target)
})
document.addEventListener('pointerdown', () => {
  isByKey = false
})
document.addEventListener('keydown', ({ key, target }) => {
  isByKey = key !== 'Enter'
  if (key === 'Enter' && isChanged(target as Element)) choose(target)
})

let clock = { at: 0, since: 0, rate: 0, ahead: 0 }

/** The state that a drawing was scrolled to. */
const scrolled = new WeakMap<Element, string>()

/** The field for a time to advance to, which stays ahead of the clock. */
const aim = () => document.querySelector<HTMLInputElement>('.clock input[type=datetime-local]')

/** Lets a running clock tick, and shows the present state of each drawing. */
function enhance() {
  const time = document.querySelector<HTMLTimeElement>('.now time')
  clock = {
    at: Date.parse(time?.dateTime ?? ''),
    since: performance.now(),
    rate: Number(time?.dataset.rate ?? 0),
    ahead: Date.parse(`${aim()?.defaultValue}Z`) - Date.parse(time?.dateTime ?? ''),
  }
  for (const state of document.querySelectorAll('.lifecycle .present')) {
    const drawing = state.closest('.lifecycle') as Element
    const [{ right }, shown] = [state.getBoundingClientRect(), drawing.getBoundingClientRect()]
    const name = state.querySelector('text')?.textContent ?? ''
    if (scrolled.get(drawing) !== name) drawing.scrollLeft += right - shown.right + 20
    scrolled.set(drawing, name)
  }
  // On a phone, the navigation is wider than the page.
  const link = document.querySelector('body > nav a[aria-current]')
  const bar = link?.closest('nav')
  if (link && bar?.scrollLeft === 0) bar.scrollLeft = link.getBoundingClientRect().right - bar.clientWidth + 16
}

setInterval(() => {
  const time = document.querySelector('.now time')
  const { at, since, rate, ahead } = clock
  if (time === null || rate === 0) return
  const now = at + (performance.now() - since) * rate
  time.textContent = formatMoment(now)
  const field = aim()
  if (field && !isChanged(field) && !Number.isNaN(ahead))
    field.value = field.defaultValue = new Date(now + ahead).toISOString().slice(0, 19)
}, 1000)

document.addEventListener('click', async ({ target }) => {
  const button = (target as Element).closest<HTMLElement>('[data-copy]')
  const text = button?.parentElement?.querySelector('code')
  if (!button || !text) return
  try {
    await navigator.clipboard.writeText(text.textContent ?? '')
    const label = button.firstChild as Text
    label.data = 'Copied'
    setTimeout(() => {
      label.data = 'Copy'
    }, COPIED_MS)
  } catch {
    // Browsers refuse it to pages of other machines without HTTPS. The text is selected instead.
    getSelection()?.selectAllChildren(text)
  }
})

enhance()
forgetNotice()
document.getElementById(sessionStorage.getItem(FOCUS) ?? '')?.focus()
sessionStorage.removeItem(FOCUS)
