/** Actions: buttons and forms that send a call, each with the command of the very request that it sends. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { toCurl } from '../sandbox/request-log/snippets.js'
import { ROOT } from './address.js'
import { CallError, isOfApi, live, read, send, targetOf, useLoaded } from './api.js'
import { type App, useApp } from './app.js'
import { sentenceOf } from './notices.js'
import { Choice, Copyable, Refused, Select } from './parts.js'
import type { Choices, Described, Document, Field, Schema } from './schema.js'
import { bodyOf, describe, fieldsOf, isOf } from './schema.js'
import type { SentCall } from './types.js'

const documents = new Map<string, Promise<Document>>()

/** Reads the document of a call, once. */
export function documentOf(call: Pick<SentCall, 'path'>): Promise<Document> {
  const path = isOfApi(call) ? '/openapi.json' : '/_sandbox/openapi.json'
  const known = documents.get(path) ?? read<Document>(path)
  documents.set(path, known)
  known.catch(() => documents.delete(path))
  return known
}

/** Returns the operation of a call, or undefined if it is not read yet. */
export function useOperation(call: Pick<SentCall, 'method' | 'path'> | undefined): Described | undefined {
  const key = call && `${call.method} ${call.path}`
  return useLoaded(key, async () => call && describe(await documentOf(call), call), true).data
}

/** Returns the command of a call, as it is sent. Tokens are variables. */
export function commandOf(call: SentCall, { client, isLocked }: Pick<App, 'client' | 'isLocked'>): string {
  const { method, region, body } = call
  const isApi = isOfApi(call)
  const headers = {
    ...((isApi || isLocked) && { authorization: 'Bearer ***' }),
    ...(region !== undefined && { 'x-region': region }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const [path = '', query] = targetOf(call, client).split('?')
  const request = { method, path, query: Object.fromEntries(new URLSearchParams(query)), headers, body: body ?? null }
  return toCurl(request, ROOT.replace(/\/$/, ''), isApi ? 'TOKEN' : 'ADMIN_TOKEN')
}

export interface Action {
  /** Unique in the page. */
  readonly id: string
  readonly label: ComponentChildren
  /** The call, with the body that the form begins with. */
  readonly call: SentCall
  /** The members of the body that have fields, by their paths; `all`: all of the body. Absent if there is none. */
  readonly fields?: readonly string[] | 'all'
  /** Fields that are folded. */
  readonly more?: readonly string[]
  readonly choices?: Choices
  /** The schema of the body, where the document has none of its own. */
  readonly schema?: Schema
  /** The texts of labels, where they do not follow from the path. */
  readonly labels?: Readonly<Record<string, string>>
  readonly look?: 'primary' | 'plain' | 'danger'
  /** Whether the fields are in one line, without hints. */
  readonly isLine?: boolean
  /** Called with the answer. Without it, the notice describes the answer. */
  onDone?(body: unknown): void | Promise<void>
}

/** Sends a call, and tells how it ended. One call at a time. */
export function useSend() {
  const { client, kinds, say } = useApp()
  const [error, setError] = useState<CallError>()
  const isSending = useRef(false)
  const act = async (call: SentCall, onDone?: Action['onDone']): Promise<boolean> => {
    if (isSending.current) return false
    isSending.current = true
    try {
      const body = await send(call, client)
      setError(undefined)
      if (onDone === undefined) say(sentenceOf(kinds, call.path, body))
      else await onDone(body)
      return true
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      if (error.status === 401 && !isOfApi(call)) location.reload()
      setError(error)
      say(`${error.code}: ${error.message}`, true)
      return false
    } finally {
      isSending.current = false
    }
  }
  return { act, error }
}

/** The form of an action. A refusal is shown at its field, which gets the focus. */
export function Form(action: Action) {
  const { id, label, call, fields: paths, more = [], choices, labels = {}, schema, look = 'plain', isLine } = action
  const hasFields = paths !== undefined
  const { act, error } = useSend()
  const operation = useOperation(hasFields && schema === undefined ? call : undefined)
  const body = schema ?? operation?.body
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map())
  const [region, setRegion] = useState<string>()
  const form = useRef<HTMLFormElement>(null)
  const listed = (names: readonly string[] | undefined): readonly Field[] =>
    body === undefined ? [] : fieldsOf(body, call.body, names, choices)
  const shown = hasFields ? listed(paths === 'all' ? undefined : paths) : []
  const folded = listed(more)
  const fields = [...shown, ...folded]
  const hasHints = fields.length > 1 && !isLine
  const regions = operation?.regions ?? []
  const sent: SentCall = {
    ...call,
    ...(regions.length > 0 && { region: region ?? call.region ?? regions[0] }),
    ...(hasFields && { body: bodyOf(fields, texts, call.body, ['PUT', 'PATCH'].includes(call.method)) }),
  }
  const errorOf = (field: Field) => (error !== undefined && isOf(field, error) ? error : undefined)
  useEffect(() => {
    if (error !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid], .error')?.focus()
  }, [error])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (!(await act(sent, action.onDone))) return
    // Until the page is read again, the other values are those of before, which a second press would send.
    await live.refreshed
    setTexts(now => (now === texts ? new Map() : now))
  }
  const fieldOf = (field: Field) => (
    <FormField
      key={field.path}
      id={`${id}-${field.path}`}
      field={{ ...field, label: labels[field.path] ?? field.label }}
      text={texts.get(field.path) ?? field.value}
      error={errorOf(field)}
      hint={hasHints ? field.hint : ''}
      onType={text => setTexts(new Map(texts).set(field.path, text))}
    />
  )
  return (
    <div class={hasFields ? 'form' : 'form button-form'}>
      <form ref={form} id={id} onSubmit={submit} class={hasHints ? 'fields' : 'action'} noValidate>
        {regions.length > 1 && (
          <Choice
            id={`${id}-region`}
            label="Region"
            options={regions.map(one => [one, one])}
            value={sent.region ?? ''}
            onChange={setRegion}
            hint="The header x-region."
          />
        )}
        {shown.map(fieldOf)}
        {folded.length > 0 && (
          <details class="more" open={folded.some(errorOf)}>
            <summary>More fields</summary>
            <div class="fields">{folded.map(fieldOf)}</div>
          </details>
        )}
        {error !== undefined && !fields.some(errorOf) && <Refused id={`${id}-error`} error={error} />}
        <button type="submit" class={look} disabled={hasFields && body === undefined}>
          {label}
        </button>
      </form>
      {hasFields && <SameCall calls={[[label, sent]]} />}
    </div>
  )
}

/** The commands of calls, ready to copy. */
export function SameCall({ calls }: { calls: readonly (readonly [label: ComponentChildren, call: SentCall])[] }) {
  const app = useApp()
  return (
    <details class="same">
      <summary>As a command</summary>
      {calls.map(([label, call], at) => (
        <div key={at}>
          {calls.length > 1 && <p class="hint">{label}</p>}
          <Copyable as={typeof label === 'string' ? `as curl: ${label}` : 'as curl'} text={commandOf(call, app)} />
        </div>
      ))}
    </details>
  )
}

/** Buttons and small forms, with the commands of the buttons below. */
export function Actions({ actions }: { actions: readonly Action[] }) {
  const buttons = actions.filter(({ fields }) => fields === undefined)
  return (
    <>
      <div class="actions">
        {actions.map(action => (
          <Form key={action.id} {...action} />
        ))}
      </div>
      {buttons.length > 0 && <SameCall calls={buttons.map(({ label, call }) => [label, call])} />}
    </>
  )
}

interface FormFieldProps {
  readonly id: string
  readonly field: Field
  readonly text: string
  readonly error: CallError | undefined
  /** Empty: none. */
  readonly hint: string
  onType(text: string): void
}

/** One field: a list where the values are known, else a text. */
function FormField({ id, field, text, error, hint, onType }: FormFieldProps) {
  const { label, schema, input, options } = field
  const [example] = schema.examples ?? []
  const rest = {
    'aria-invalid': error && ('true' as const),
    'aria-describedby': [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined,
  }
  const typed = {
    ...{ id, value: text, ...rest },
    onInput: (event: { currentTarget: { value: string } }) => onType(event.currentTarget.value),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options ? (
        <Select id={id} options={options} value={text} onChange={onType} rest={rest} />
      ) : input === 'list' ? (
        <textarea {...typed} rows={3} />
      ) : (
        <input
          {...typed}
          type={input as 'text'}
          autocomplete="off"
          step={input === 'datetime-local' ? 1 : undefined}
          placeholder={example === undefined ? undefined : `Such as ${String(example)}`}
        />
      )}
      {error && <Refused id={`${id}-error`} error={error} />}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
