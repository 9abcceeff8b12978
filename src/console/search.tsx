/** The search of the header: records, requests and error codes by any reference, name or code. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { read, useAnswer, withClient } from './api.js'
import { kindNamed, RecordLink, RequestLink, referenceOf, useApp } from './app.js'
import { Status } from './parts.js'
import type { AnyRecord, Found, LoggedRequest } from './types.js'

const MOST_FOUND = 8
const PAUSE_MS = 150

interface Results {
  readonly text: string
  readonly records: readonly Found[]
  readonly total: number
  readonly requests: readonly LoggedRequest[]
  readonly codes: readonly { readonly code: string; readonly when: string }[]
}

export function Search() {
  const { client, kinds, href, address, go } = useApp()
  const [text, setText] = useState('')
  const [results, setResults] = useState<Results>()
  const [isOpen, setOpen] = useState(false)
  const { data: errors } = useAnswer<{ data: Results['codes'] }>(isOpen ? '/_sandbox/errors' : undefined, true)
  const box = useRef<HTMLElement>(null)
  // At once: a later effect would close what a person has begun to type on the new page.
  useLayoutEffect(() => setOpen(false), [address.path])
  useEffect(() => {
    const wanted = text.trim()
    if (wanted === '') return setResults(undefined)
    const stop = new AbortController()
    const timer = setTimeout(async () => {
      const q = encodeURIComponent(wanted)
      const ask = <T,>(path: string) => read<T>(withClient(path, client), stop.signal).catch(() => undefined)
      const [found, named, byPath] = await Promise.all([
        ask<{ data: Found[]; total: number }>(`/_sandbox/search?q=${q}&limit=${MOST_FOUND}`),
        ask<{ data: LoggedRequest[] }>(`/_sandbox/requests?reference=${q}&limit=4`),
        ask<{ data: LoggedRequest[] }>(`/_sandbox/requests?path=*${q}*&limit=4`),
      ])
      if (stop.signal.aborted) return
      const requests = new Map([...(named?.data ?? []), ...(byPath?.data ?? [])].map(one => [one.seq, one]))
      const letters = wanted.toUpperCase()
      setResults({
        text: wanted,
        records: found?.data ?? [],
        total: found?.total ?? 0,
        requests: [...requests.values()].sort((one, other) => other.seq - one.seq).slice(0, 4),
        codes: (errors?.data ?? []).filter(({ code }) => code.includes(letters)).slice(0, 4),
      })
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [text, client, errors])
  const links = () => [...(box.current?.querySelectorAll<HTMLAnchorElement>('.found a') ?? [])]
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') setOpen(false)
    if (step === undefined) return
    event.preventDefault()
    const all = links()
    const at = all.indexOf(document.activeElement as HTMLAnchorElement) + step
    if (at < 0) box.current?.querySelector('input')?.focus()
    else all[at]?.focus()
  }
  const isEmpty = results && results.records.length + results.requests.length + results.codes.length === 0
  return (
    <search
      ref={box}
      class="search"
      onKeyDown={move}
      onFocusOut={event => {
        if (!box.current?.contains(event.relatedTarget as Node | null)) setOpen(false)
      }}
    >
      <form
        onSubmit={event => {
          event.preventDefault()
          const [first] = links()
          if (first) go(first.href)
        }}
      >
        <label class="visually-hidden" for="search">
          Search
        </label>
        <input
          id="search"
          type="search"
          placeholder="Search"
          autocomplete="off"
          value={text}
          onFocus={() => setOpen(true)}
          onInput={event => {
            setText(event.currentTarget.value)
            setOpen(true)
          }}
        />
      </form>
      {isOpen && results && (
        <div class="found" role="status">
          {isEmpty && <p class="hint">Nothing has “{results.text}”.</p>}
          <ul>
            {results.records.map(({ kind: name, region, record }) => {
              const kind = kindNamed(kinds, name)
              if (kind === undefined) return null
              const reference = referenceOf(kind, record)
              return (
                <li key={`${name}-${region}-${reference}`}>
                  <RecordLink kind={name} reference={reference} region={region} /> <span class="hint">{kind.noun}</span>{' '}
                  {'status' in record && <Status of={String(record.status)} />}{' '}
                  <span class="hint">{nameIn(record)}</span>
                </li>
              )
            })}
            {results.total > results.records.length && (
              <li class="hint">{`${results.records.length} of ${results.total} records`}</li>
            )}
            {results.requests.map(request => (
              <li key={request.seq}>
                <RequestLink request={request} />
              </li>
            ))}
            {results.codes.map(({ code, when }) => (
              <li key={code}>
                <a href={href(`/errors/${code}`)}>{code}</a> <span class="hint">{when.replaceAll('`', '')}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </search>
  )
}

/** Returns the name of the other party of a record. */
const nameIn = ({ debtorName, accountHolderName, debtor, reasonCode }: AnyRecord): string =>
  [debtorName ?? accountHolderName ?? (Object(debtor) as AnyRecord).name, reasonCode].filter(Boolean).join(', ')
