import type { TObject, TSchema } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import { toWords } from '../../core/words.js'
import type { Call } from '../calls.js'
import { BODY, toCurl, toField } from '../calls.js'
import type { Page, Refused } from '../page.js'
import { ownAddress } from '../page.js'
import { Copyable } from './parts.js'

/** Makes a call of the control plane for the client of a page. */
export function control({ tenant }: Page, method: string, path: string, body?: object, query: object = {}): Call {
  const search = new URLSearchParams({ client: tenant.clientId, ...query })
  return { method, target: `/_sandbox${path}?${search}`, ...((body ?? method === 'POST') && { body: body ?? {} }) }
}

/** A form that sends a call. A refusal is shown in it. */
export function CallForm(props: FormProps) {
  const { page, id, call, label, next, children, schema, names, regions, fixed, isDanger, isPlain, isFile, hasCurl } =
    props
  const refused = refusalOf(page, id)
  const json = fixed ?? (schema ? undefined : call.body)
  const isShown = refused !== undefined && schema !== undefined && hasField(schema, refused.error.field)
  return (
    <form
      id={id}
      method="post"
      action={ownAddress(page)}
      class={schema ? 'fields' : 'action'}
      encType={isFile ? 'multipart/form-data' : undefined}
      noValidate
    >
      <input type="hidden" name="form" value={id} />
      <input type="hidden" name="call" value={toField(call)} />
      {call.region && !regions && <input type="hidden" name="region" value={call.region} />}
      {json && <input type="hidden" name="json" value={JSON.stringify(json)} />}
      {regions && <RegionChoice form={id} regions={regions} chosen={refused?.fields.region ?? call.region} />}
      {next !== undefined && <input type="hidden" name="next" value={next} />}
      {schema && <Fields form={id} schema={schema} names={names} values={call.body ?? {}} refused={refused} />}
      {children}
      {refused && !isShown && <Refusal id={`${id}-error`} error={refused.error} />}
      <button
        type="submit"
        class={isDanger ? 'danger' : isPlain ? 'plain' : undefined}
        aria-describedby={refused && !isShown ? `${id}-error` : undefined}
      >
        {label}
      </button>
      {hasCurl && <SameCall page={page} id={id} calls={[call]} />}
    </form>
  )
}
interface FormProps {
  readonly page: Page
  /** Unique in the page. A refusal returns to the form with this id. */
  readonly id: string
  readonly call: Call
  readonly label: ComponentChildren
  /** The page that follows, below the console; `{member}` stands for a member of the answer. By default the same page. */
  readonly next?: string
  /** Further fields. */
  readonly children?: ComponentChildren
  /** The schema of the body, whose members become fields. Without it, the body is fixed. */
  readonly schema?: TSchema
  /** The members that have fields; by default all. */
  readonly names?: readonly string[] | undefined
  /** The regions to choose from; by default that of the call is fixed. */
  readonly regions?: readonly string[] | undefined
  /** The fixed members of the body beside the fields. */
  readonly fixed?: object
  /** Whether the form has a file, which becomes the body. */
  readonly isFile?: boolean
  readonly isDanger?: boolean
  readonly isPlain?: boolean
  /** Whether the command of the call is below the form. */
  readonly hasCurl?: boolean
}

function RegionChoice({
  form,
  regions,
  chosen,
}: {
  form: string
  regions: readonly string[]
  chosen: string | undefined
}) {
  return (
    <div class="field">
      <label for={`${form}-region`}>Region</label>
      <select id={`${form}-region`} name="region">
        {regions.map(region => (
          <option key={region} value={region} selected={region === chosen}>
            {region}
          </option>
        ))}
      </select>
      <p class="hint">The header x-region.</p>
    </div>
  )
}

/** Returns the refusal of a form; undefined: the form was not sent, or not refused. */
export const refusalOf = ({ refused }: Page, id: string): Refused | undefined =>
  refused?.fields.form === id ? refused : undefined

export const Refusal = ({ id, error: { code, message } }: { id?: string; error: Refused['error'] }) => (
  <p class="error" id={id} role="alert">
    <code>{code}</code> {message}
  </p>
)

/** The commands of actions, ready to copy. */
export function SameCall({ page, id, calls }: { page: Page; id: string; calls: readonly Call[] }) {
  const { registry, adminToken } = page.context
  return (
    <details class="same" id={`same-${id}`}>
      <summary>The same by a call</summary>
      {calls.map(call => (
        <Copyable
          key={call.target + JSON.stringify(call.body)}
          label="Copy"
          text={toCurl(call, registry.publicUrl(), adminToken !== undefined)}
        />
      ))}
    </details>
  )
}

/** Lists the members of an object as fields, nested ones in groups. */
function Fields({ form, schema, names, values, refused, path = '' }: FieldsProps) {
  return (
    <>
      {Object.entries((schema as TObject).properties)
        .filter(([name, member]) => (names?.includes(path + name) ?? true) && !isOnlyDefault(schema, name, member))
        .map(([name, member]) => {
          const at = path + name
          const value = (values as Readonly<Record<string, unknown>>)[name]
          if (member.type !== 'object' || member.properties === undefined) {
            return <Field key={at} form={form} name={at} schema={member} value={value} refused={refused} />
          }
          return (
            <fieldset key={at}>
              <legend>{toLabel(name)}</legend>
              <Fields
                form={form}
                schema={member}
                names={names}
                values={value ?? {}}
                refused={refused}
                path={`${at}.`}
              />
            </fieldset>
          )
        })}
    </>
  )
}
interface FieldsProps {
  readonly form: string
  readonly schema: TSchema
  readonly names?: readonly string[] | undefined
  readonly values: object
  readonly refused: Refused | undefined
  readonly path?: string
}

/** Whether a member is optional and has one value only, so that there is nothing to fill in. */
const isOnlyDefault = ({ required = [] }: TSchema, name: string, { enum: values }: TSchema) =>
  !required.includes(name) && values?.length === 1

/** Whether a schema has a field, such as `debtor.iban`. */
function hasField(schema: TSchema, field: string | null): boolean {
  const [name, ...rest] = (field ?? '').split('.') as [string, ...string[]]
  const member: TSchema | undefined = schema.properties?.[name]
  if (member === undefined) return false
  return rest.length === 0 ? member.properties === undefined : hasField(member, rest.join('.'))
}

const toLabel = (name: string) => {
  const words = toWords(name)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** One field by the schema of its member: a list where the values are known, else a text. */
export function Field({ form, name, schema, value, refused, label, hint }: FieldProps) {
  const id = `${form}-${name}`
  const given = refused?.fields[BODY + name] ?? (value === undefined || value === null ? '' : toText(value))
  const error = refused?.error.field === name ? refused.error : undefined
  const description = hint ?? schema.description
  const common = {
    id,
    name: BODY + name,
    'aria-invalid': error === undefined ? undefined : ('true' as const),
    'aria-describedby': [description && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined,
  }
  const isOptional = given === '' || value === undefined
  const values = (schema.enum as readonly string[] | undefined) ?? undefined
  return (
    <div class="field">
      <label for={id}>{label ?? toLabel(name.split('.').at(-1) as string)}</label>
      {values !== undefined ? (
        <select {...common}>
          {isOptional && <option value="">–</option>}
          {values.map(one => (
            <option key={one} value={one} selected={one === given}>
              {one}
            </option>
          ))}
        </select>
      ) : schema.type === 'array' ? (
        <textarea {...common} rows={3} value={given} />
      ) : (
        <input
          {...common}
          type={(INPUTS[schema.format as string] ?? 'text') as 'text'}
          step={schema.format === 'date-time' ? 1 : undefined}
          value={withoutZone(given, schema)}
          autocomplete="off"
        />
      )}
      {error && <Refusal id={`${id}-error`} error={error} />}
      {description && (
        <p class="hint" id={`${id}-hint`}>
          {plain(description)}
        </p>
      )}
    </div>
  )
}
interface FieldProps {
  readonly form: string
  /** The path of the member in the body, such as `debtor.iban`. */
  readonly name: string
  readonly schema: TSchema
  readonly value?: unknown
  readonly refused?: Refused | undefined
  readonly label?: string
  readonly hint?: string
}

const INPUTS: Readonly<Record<string, 'date' | 'datetime-local'>> = { date: 'date', 'date-time': 'datetime-local' }
const withoutZone = (text: string, { format }: TSchema) => (format === 'date-time' ? text.replace(/Z$/, '') : text)
const toText = (value: unknown) => (Array.isArray(value) ? value.join('\n') : String(value))

/** The first sentence of a description, without backticks. */
const plain = (description: string) => (description.split(/(?<=\.)\s/)[0] ?? '').replaceAll('`', '')
