import type { TSchema } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import type { ErrorEnvelope } from '../../core/errors.js'
import type { Option } from '../../http/pages/parts.js'
import { Choice } from '../../http/pages/parts.js'
import { BODY, bodyOf, commandOf, hasMembers, PARAMS, schemaAt } from '../calls.js'
import type { Call, Page } from '../page.js'
import { href } from '../page.js'
import { Copyable, toLabel } from './parts.js'

/** An action: a button that sends a call, with fields for members of its body. Its form and its command follow. */
export interface Action {
  /** The id of the form, unique in the page. A refusal returns to it. */
  readonly id: string
  readonly label: ComponentChildren
  /** The call, with the values that the fields begin with. */
  readonly call: Call
  /** The members of the body that have fields, by their paths, each with all of its members; `all`: all of the body. */
  readonly fields?: readonly string[] | 'all'
  /** The values to choose from, by the path of the field. */
  readonly choices?: Readonly<Record<string, readonly Option[]>>
  /** The regions to choose from. */
  readonly regions?: readonly string[]
  /** A page has at most one primary button. By default, a button is plain. */
  readonly look?: 'primary' | 'plain' | 'danger'
  /** Whether the form is folded. */
  readonly isFolded?: boolean
}

interface ActionProps {
  readonly page: Page
  readonly action: Action
}

/** Returns the refusal of a form; undefined: the form was not sent, or not refused. */
const refusalOf = ({ refused }: Page, { id }: Action) => (refused?.fields.form === id ? refused : undefined)

/** The form of an action. A refusal is shown in it. */
export function Form({ page, action }: ActionProps) {
  const { id, label, call, regions = [], look = 'plain', isFolded = false } = action
  const { route, params = {}, region, body } = call
  const isFile = Buffer.isBuffer(body)
  const refused = refusalOf(page, action)
  const fields = fieldsOf(page, action)
  const isOfField = refused !== undefined && fields.some(field => isOf(field, refused.error))
  const hidden = {
    form: id,
    call: route,
    ...Object.fromEntries(Object.entries(params).map(([name, value]) => [PARAMS + name, value])),
    region: regions.length < 2 ? region : undefined,
    json: body === undefined || isFile ? undefined : JSON.stringify(body),
  }
  // A page can have a hundred forms, so that no long text is in each address.
  const { kind, region: shown, after, until } = page.query
  const form = (
    <form
      id={id}
      method="post"
      action={href(page, page.path, { kind, region: shown, after, until })}
      class={fields.length > 1 ? 'fields' : 'action'}
      encType={isFile ? 'multipart/form-data' : undefined}
      noValidate
    >
      {Object.entries(hidden).map(
        ([name, value]) => value !== undefined && <input key={name} type="hidden" name={name} value={value} />,
      )}
      {fields.map(field => (
        <FormField key={field.path} form={id} field={field} refused={refused} hasHint={fields.length > 1} />
      ))}
      {isFile && (
        <div class="field">
          <label for="file">State document</label>
          <input id="file" name="file" type="file" accept="application/json,.json" />
        </div>
      )}
      {refused && !isOfField && <Refusal id={`${id}-error`} {...refused.error} />}
      <button type="submit" class={look} aria-describedby={refused && !isOfField ? `${id}-error` : undefined}>
        {label}
      </button>
    </form>
  )
  if (!isFolded) return form
  return (
    <details id={`${id}-form`} open={refused !== undefined}>
      <summary class="button plain">{label} …</summary>
      {form}
    </details>
  )
}

/** The forms of actions. Their commands are below. */
export const Actions = ({ page, id, actions }: { page: Page; id: string; actions: readonly Action[] }) => (
  <>
    <div class="actions">
      {actions.map(action => (
        <Form key={action.id} page={page} action={action} />
      ))}
    </div>
    <SameCall page={page} id={id} actions={actions} />
  </>
)

type Command = Pick<Action, 'label' | 'call'> & Partial<Action>

/** The commands of actions, ready to copy. The script lets them follow the fields. */
export function SameCall({ page, id, actions }: { page: Page; id: string; actions: readonly Command[] }) {
  return (
    <details class="same" id={`same-${id}`}>
      <summary>The same by a call</summary>
      {actions.some(({ fields }) => fields !== undefined) && (
        <noscript>
          <p class="hint">Without JavaScript, the commands have the values that the fields came with.</p>
        </noscript>
      )}
      {actions.map(action => {
        const refused = refusalOf(page, action as Action)
        const call = refused?.call ?? action.call
        return (
          <div key={action.id ?? call.route}>
            {actions.length > 1 && <p class="hint">{action.label}</p>}
            <Copyable
              text={commandOf(page.context, call, page.tenant.clientId, page.publicUrl)}
              of={action.fields && action.id}
            />
          </div>
        )
      })}
    </details>
  )
}

interface Field {
  /** The path of the member in the body, such as `debtor.iban`. */
  readonly path: string
  readonly name: string
  /** By default, it is made from the path. */
  readonly label?: string | undefined
  readonly schema: TSchema
  /** Whether it can be left out, and others of the form cannot. */
  readonly isOptional?: boolean
  readonly value: string
  readonly options?: readonly Option[] | undefined
}

/** Lists the fields of an action by the schema of its call. */
function fieldsOf({ context }: Page, action: Action): readonly Field[] {
  const { call, fields = [], choices = {}, regions = [] } = action
  const root = bodyOf(context, call)
  const paths =
    fields === 'all' ? leavesOf(root) : fields.flatMap(path => leavesOf(schemaAt(root, path) as TSchema, path))
  const ofBody = paths.map(([path, schema]): Field => {
    const value = path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], call.body)
    const text = Array.isArray(value) ? value.join('\n') : String(value ?? '')
    const options: readonly Option[] | undefined = choices[path] ?? schema.enum
    const none: Option = ['', schema.default === undefined ? '–' : `– (${schema.default})`]
    return {
      path,
      name: BODY + path,
      schema,
      isOptional: root.required !== undefined && !isRequired(root, path.split('.')),
      value: text,
      options: text === '' && options ? [none, ...options] : options,
    }
  })
  if (regions.length < 2) return ofBody
  const schema = { description: 'The header x-region.' } as TSchema
  return [{ path: 'region', name: 'region', schema, value: String(call.region), options: regions }, ...ofBody]
}

/** Whether a member is required, and all that it is in. Those of a list are. */
const isRequired = (schema: TSchema | undefined, [name, ...rest]: readonly string[]): boolean =>
  name === undefined ||
  ((schema?.items !== undefined || schema?.required?.includes(name)) && isRequired(schemaAt(schema, name), rest))

/** Lists the members of an object that are no objects. One that is optional with one value only has nothing to fill in. */
const leavesOf = (schema: TSchema, path?: string): readonly (readonly [path: string, schema: TSchema])[] =>
  !hasMembers(schema)
    ? [[path ?? '', schema]]
    : Object.entries<TSchema>(schema.properties)
        .filter(([name, member]) => schema.required?.includes(name) || member.enum?.length !== 1)
        .flatMap(([name, member]) => leavesOf(member, path === undefined ? name : `${path}.${name}`))

/** Whether an error is of a field, or of an item of its list. */
const isOf = ({ path, schema }: Field, { field }: ErrorEnvelope) =>
  field === path || (schema.type === 'array' && field?.startsWith(`${path}.`) === true)

interface FormFieldProps {
  readonly form: string
  readonly field: Field
  readonly refused: Page['refused']
  readonly hasHint: boolean
}

/** One field: a list where the values are known, else a text. */
export function FormField({ form, field, refused, hasHint }: FormFieldProps) {
  const { path, name, schema, isOptional, value, options } = field
  const id = `${form}-${path}`
  const given = refused?.fields[name] ?? value
  const error = refused && isOf(field, refused.error) ? refused.error : undefined
  const isMoment = schema.format === 'date-time'
  const label = (field.label ?? toLabel(path)) + (isMoment ? ' (UTC)' : '') + (isOptional ? ' (optional)' : '')
  const hint = hasHint ? plain(schema.description) : ''
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  const rest = {
    'aria-invalid': error === undefined ? undefined : ('true' as const),
    // The script moves the focus, too.
    autofocus: error !== undefined,
    'aria-describedby': described || undefined,
  }
  const type = (isMoment ? 'datetime-local' : schema.format === 'date' ? 'date' : 'text') as 'text'
  return (
    <div class="field">
      {options ? (
        <Choice id={id} name={name} label={label} options={options} value={given} rest={rest} />
      ) : (
        <>
          <label for={id}>{label}</label>
          {schema.type === 'array' ? (
            <textarea {...rest} id={id} name={name} rows={3} value={given} />
          ) : (
            <input
              {...{ ...rest, id, name, type, autocomplete: 'off' }}
              step={isMoment ? 1 : undefined}
              value={isMoment ? given.replace(/Z$/, '') : given}
              placeholder={schema.examples && `Such as ${schema.examples[0]}`}
            />
          )}
        </>
      )}
      {error && <Refusal id={`${id}-error`} {...error} />}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

const Refusal = ({ id, code, message }: { id: string; code: string; message: string }) => (
  <p class="error" id={id} role="alert">
    <code>{code}</code> {message}
  </p>
)

/** The first sentence of a description, and the one on its default, without backticks. */
const plain = (description = '') =>
  description
    .split(/(?<=\.)\s/)
    .filter((sentence, at) => at === 0 || sentence.startsWith('Default: '))
    .join(' ')
    .replaceAll('`', '')
