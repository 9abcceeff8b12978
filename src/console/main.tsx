/** The program of the console. It runs in the browser, and calls the control plane and the API with JSON, as every client does. */
import type { ComponentChildren } from 'preact'
import { render } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { addressOf, CONSOLE, parseAddress } from './address.js'
import { live, read, useAnswer, withClient } from './api.js'
import { type App, AppContext, pageOf, useApp, useOwn } from './app.js'
import { ClockBar } from './clock.js'
import { pageFor } from './pages.js'
import { Choice } from './parts.js'
import { Search } from './search.js'
import type { Client, Clock, Kind } from './types.js'

const DEMO_CLIENT = 'sandbox-client'
/** The most clients in the list of the header; the page of the sandbox has all. */
const MOST_CLIENTS = 100

interface Basics {
  readonly kinds: readonly Kind[]
  readonly clients: readonly Client[]
  readonly reasons: readonly { readonly code: string; readonly name: string }[]
  readonly isLocked: boolean
}

/** Returns the client that opens: the demo client if it has records, else the first listed one that has. */
function firstOf(clients: readonly Client[]): string {
  const hasRecords = ({ counts }: Client) => Object.values(counts).some(count => count > 0)
  const demo = clients.find(({ clientId }) => clientId === DEMO_CLIENT)
  return (demo && hasRecords(demo) ? demo : (clients.find(hasRecords) ?? demo ?? clients[0]))?.clientId ?? DEMO_CLIENT
}

function Program({ basics }: { basics: Basics }) {
  const [address, setAddress] = useState(() => parseAddress(location.href))
  const { data: listed } = useAnswer<{ data: Client[] }>('/_sandbox/clients')
  const clients = listed?.data ?? basics.clients
  const client = address.client || firstOf(basics.clients)
  const { data: clock, error } = useAnswer<Clock>(withClient('/_sandbox/clock', client))
  const [notice, setNotice] = useState<{ text: ComponentChildren; isRefused: boolean; path: string }>()
  const [away, setAway] = useState('')
  const main = useRef<HTMLElement>(null)

  useEffect(() => {
    live.onAway = setAway
    live.follow(client)
    const onVisible = () => {
      live.follow(client)
      if (!document.hidden) live.refresh()
    }
    document.addEventListener('visibilitychange', onVisible)
    return () => document.removeEventListener('visibilitychange', onVisible)
  }, [client])
  useEffect(() => {
    // The address has the client, so that it can be sent to a colleague.
    if (address.client === '') history.replaceState(null, '', addressOf(address.path, client, address.query))
    const onPop = () => setAddress(parseAddress(location.href))
    addEventListener('popstate', onPop)
    return () => removeEventListener('popstate', onPop)
  }, [address, client])

  const app = useMemo((): App => {
    const go = (href: string, replaces = false) => {
      if (!href.startsWith(CONSOLE)) return location.assign(href)
      const isOther = new URL(href).pathname !== location.pathname
      history[replaces ? 'replaceState' : 'pushState'](null, '', href)
      setAddress(parseAddress(href))
      if (!isOther) return
      scrollTo(0, 0)
      requestAnimationFrame(() => main.current?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true }))
    }
    const say = (text: ComponentChildren, isRefused = false) => setNotice({ text, isRefused, path: location.pathname })
    return { ...basics, address, client, clients, clock, go, say }
  }, [address, client, clients, clock, basics])

  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      const link = (event.target as Element).closest('a')
      const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
      if (link === null || !isPlain || event.defaultPrevented || link.target !== '' || link.hasAttribute('download'))
        return
      if (!link.href.startsWith(CONSOLE) || link.getAttribute('href')?.startsWith('#')) return
      event.preventDefault()
      setNotice(undefined)
      app.go(link.href)
    }
    document.addEventListener('click', onClick)
    return () => document.removeEventListener('click', onClick)
  }, [app])

  const page = pageFor(address, basics.kinds)
  const isGone = error?.code === 'CLIENT_NOT_FOUND'
  useEffect(() => {
    document.title = `${page.title} · ${client} · Payments Sandbox`
  }, [page.title, client])
  return (
    <AppContext.Provider value={app}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <Header />
      <ClockBar />
      <main id="main" ref={main}>
        <h1 tabIndex={-1}>{page.title}</h1>
        <p id="notice" class={notice?.isRefused ? 'notice refused' : 'notice'} role="status">
          {notice?.text}
        </p>
        {isGone ? <Gone /> : <page.Content key={`${client}${address.path}`} {...page.props} />}
      </main>
      <p id="offline" class="offline" role="status">
        {away}
      </p>
    </AppContext.Provider>
  )
}

const Gone = () => (
  <section class="card">
    <p>There is no such client. Choose another one in the header.</p>
  </section>
)

/** The navigation, the search, and the choice of the client. */
function Header() {
  const { address, client, clients, kinds, go, href } = useApp()
  const { path, segments } = address
  const [entry = ''] = segments
  const records = kinds.map(pageOf)
  const entries: readonly (readonly [name: string, path: string, isCurrent: boolean])[] = [
    ['Overview', '', path === ''],
    ['Records', records[1] ?? '', records.includes(`/${entry}`)],
    ['Requests', '/requests', entry === 'requests' || entry === 'errors'],
    ['Failures', '/failures', entry === 'failures'],
    ['Sandbox', '/sandbox', ['sandbox', 'coverage', 'client'].includes(entry)],
    ['Docs', '../docs/guide', false],
  ]
  const shown = [...new Set([client, ...clients.slice(0, MOST_CLIENTS).map(({ clientId }) => clientId)])].sort()
  return (
    <header>
      <a class="brand" href={href('')}>
        Payments Sandbox
      </a>
      <nav aria-label="Console">
        {entries.map(([name, to, isCurrent]) => (
          <a key={name} href={href(to)} aria-current={isCurrent ? 'page' : undefined}>
            {name}
            {name === 'Failures' && <Armed />}
          </a>
        ))}
      </nav>
      <Search />
      <div class="choice">
        <Choice
          id="client"
          label="Client"
          options={shown.map(id => [id, id])}
          value={client}
          // Records are not shared: from the page of one, a choice leads to their list.
          onChange={id => go(addressOf(segments.length > 1 ? `/${entry}` : path, id))}
        />
      </div>
    </header>
  )
}

/** The number of failures that are armed. */
function Armed() {
  const { data: faults } = useOwn<{ data: { state: string }[] }>('/_sandbox/faults')
  const { data: outcomes } = useOwn<{ armed: { state: string }[] }>('/_sandbox/outcomes')
  const count = [...(faults?.data ?? []), ...(outcomes?.armed ?? [])].filter(({ state }) => state === 'armed').length
  if (count === 0) return null
  return (
    <span class="badge">
      {count} <span class="visually-hidden">armed</span>
    </span>
  )
}

async function begin() {
  const root = document.getElementById('console') as HTMLElement
  try {
    const [{ data: kinds }, { data: clients }, { data: reasons }, { isLocked }] = await Promise.all([
      read<{ data: Kind[] }>('/_sandbox/kinds'),
      read<{ data: Client[] }>('/_sandbox/clients'),
      read<{ data: Basics['reasons'] }>('/_sandbox/reason-codes'),
      read<{ isLocked: boolean }>('/_sandbox'),
    ])
    root.textContent = ''
    render(<Program basics={{ kinds, clients, reasons, isLocked }} />, root)
  } catch (error) {
    const text = Object.assign(document.createElement('p'), {
      className: 'offline',
      textContent: (error as Error).message,
    })
    root.append(text)
  }
}

void begin()
