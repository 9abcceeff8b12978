/** Actions: buttons and forms that send a call, each with the command of the very request that it sends. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ROOT } from './address.js'
import { CallError, isOfApi, read, send, targetOf } from './api.js'
import { type App, useApp } from './app.js'
import { toCurl } from './curl.js'
import { sentenceOf } from './notices.js'
import { Choice, Copyable } from './parts.js'
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

/** Returns the operation of a call; undefined: it is not read yet. */
export function useOperation(call: Pick<SentCall, 'method' | 'path'> | undefined): Described | undefined {
  const [found, setFound] = useState<Described>()
  const [method, path] = [call?.method, call?.path]
  useEffect(() => {
    if (method === undefined || path === undefined) return
    let isCurrent = true
    documentOf({ path }).then(
      document => isCurrent && setFound(describe(document, { method, path })),
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [method, path])
  return found
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
  /** The members of the body that have fields, by their paths; `all`: all of the body. Absent: none. */
  readonly fields?: readonly string[] | 'all'
  /** Fields that are folded. */
  readonly more?: readonly string[]
  readonly choices?: Choices
  /** The schema of the body, where the document has none of its own. */
  readonly schema?: Schema
  /** The texts of labels, where they do not follow from the path. */
  readonly labels?: Readonly<Record<string, string>>
  readonly look?: 'primary' | 'plain' | 'danger'
  /** Called with the answer. Without it, the notice describes the answer. */
  readonly onDone?: (body: unknown, requestId: string | null) => void
}

/** Sends a call, and tells how it ended. One call at a time. */
export function useSend() {
  const app = useApp()
  const [error, setError] = useState<CallError>()
  const isSending = useRef(false)
  const act = async (call: SentCall, onDone?: Action['onDone']): Promise<boolean> => {
    if (isSending.current) return false
    isSending.current = true
    try {
      const { body, requestId } = await send(call, app.client)
      setError(undefined)
      if (onDone === undefined) app.say(sentenceOf(app.kinds, call.path, body))
      else onDone(body, requestId)
      return true
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      if (error.status === 401 && !isOfApi(call)) location.reload()
      setError(error)
      app.say(`${error.code}: ${error.message}`, true)
      return false
    } finally {
      isSending.current = false
    }
  }
  return { act, error, clear: () => setError(undefined) }
}

/** The form of an action. A refusal is shown at its field, which gets the focus. */
export function Form({ action }: { action: Action }) {
  const {
    id,
    label,
    call,
    fields: paths,
    more = [],
    choices = {},
    labels = {},
    schema,
    look = 'plain',
    onDone,
  } = action
  const hasFields = paths !== undefined
  const { act, error } = useSend()
  const operation = useOperation(hasFields && schema === undefined ? call : undefined)
  const body = schema ?? operation?.body
  const [texts, setTexts] = useState<ReadonlyMap<string, string>>(new Map())
  const [region, setRegion] = useState<string>()
  const form = useRef<HTMLFormElement>(null)
  const keepsOmitted = call.method === 'PUT' || call.method === 'PATCH'
  const listed = (names: readonly string[] | undefined): readonly Field[] =>
    body === undefined ? [] : fieldsOf(body, call.body, names, choices)
  const shown = hasFields ? listed(paths === 'all' ? undefined : paths) : []
  const folded = more.length > 0 ? listed(more) : []
  const fields = [...shown, ...folded]
  const regions = operation?.regions ?? []
  const sent: SentCall = {
    ...call,
    ...(regions.length > 0 && { region: region ?? call.region ?? regions[0] }),
    ...(hasFields && { body: bodyOf(fields, texts, call.body, keepsOmitted) }),
  }
  const isAtField = error !== undefined && fields.some(field => isOf(field, error))
  useEffect(() => {
    if (error !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid], .error')?.focus()
  }, [error])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (!(await act(sent, onDone))) return
    setTexts(new Map())
  }
  const type = (path: string, text: string) => setTexts(new Map(texts).set(path, text))
  const fieldOf = (field: Field) => (
    <FormField
      key={field.path}
      form={id}
      field={{ ...field, label: labels[field.path] ?? field.label }}
      text={texts.get(field.path) ?? field.value}
      error={error !== undefined && isOf(field, error) ? error : undefined}
      hasHint={fields.length > 1}
      onType={text => type(field.path, text)}
    />
  )
  return (
    <div class={hasFields ? 'form' : 'form button-form'}>
      <form ref={form} id={id} onSubmit={submit} class={fields.length > 1 ? 'fields' : 'action'} noValidate>
        {regions.length > 1 && hasFields && (
          <div class="field">
            <Choice
              id={`${id}-region`}
              label="Region"
              options={regions.map(one => [one, one])}
              value={sent.region ?? ''}
              onChange={setRegion}
            />
            <p class="hint">The header x-region.</p>
          </div>
        )}
        {shown.map(fieldOf)}
        {folded.length > 0 && (
          <details class="more" open={isAtField && folded.some(field => isOf(field, error as CallError))}>
            <summary>More fields</summary>
            <div class="fields">{folded.map(fieldOf)}</div>
          </details>
        )}
        {error !== undefined && !isAtField && (
          <Refused id={`${id}-error`} {...error} code={error.code} message={error.message} />
        )}
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

/** Buttons without fields, with their commands below. */
export const Actions = ({ actions }: { actions: readonly Action[] }) => (
  <>
    <div class="actions">
      {actions.map(action => (
        <Form key={action.id} action={action} />
      ))}
    </div>
    {actions.some(({ fields }) => fields === undefined) && (
      <SameCall calls={actions.filter(({ fields }) => fields === undefined).map(({ label, call }) => [label, call])} />
    )}
  </>
)

interface FormFieldProps {
  readonly form: string
  readonly field: Field
  readonly text: string
  readonly error: CallError | undefined
  readonly hasHint: boolean
  onType(text: string): void
}

/** One field: a list where the values are known, else a text. */
export function FormField({ form, field, text, error, hasHint, onType }: FormFieldProps) {
  const { path, label, schema, input, options } = field
  const id = `${form}-${path}`
  const hint = hasHint ? field.hint : ''
  const rest = {
    'aria-invalid': error === undefined ? undefined : ('true' as const),
    'aria-describedby': [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined,
  }
  const example = schema.examples?.[0]
  return (
    <div class="field">
      {options ? (
        <Choice id={id} label={label} options={options} value={text} onChange={onType} rest={rest} />
      ) : (
        <>
          <label for={id}>{label}</label>
          {input === 'list' ? (
            <textarea {...rest} id={id} rows={3} value={text} onInput={event => onType(event.currentTarget.value)} />
          ) : (
            <input
              {...rest}
              id={id}
              type={input as 'text'}
              autocomplete="off"
              step={input === 'datetime-local' ? 1 : undefined}
              value={text}
              placeholder={example === undefined ? undefined : `Such as ${String(example)}`}
              onInput={event => onType(event.currentTarget.value)}
            />
          )}
        </>
      )}
      {error && <Refused id={`${id}-error`} code={error.code} message={error.message} />}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

const Refused = ({ id, code, message }: { id: string; code: string; message: string }) => (
  <p class="error" id={id} role="alert" tabIndex={-1}>
    <code>{code}</code> {message}
  </p>
)
