import { MAX_REMARKS } from '../../../../core/domain/identifiers.js'
import type { ClaimField, FieldKind, Problem } from '../../claim-rules.js'
import { ACCOUNT_TYPES, accountRules, claimFields } from '../../claim-rules.js'
import { strings } from './strings.js'
import type { LinkView } from './summary.js'
import { Summary } from './summary.js'

export interface ClaimViewProps extends LinkView {
  /** The token that binds a claim to its page. */
  readonly token: string
  /** The values of a refused form, by field. */
  readonly values?: Readonly<Record<string, string>>
  /** The problems of a refused form, by field. */
  readonly problems?: Readonly<Record<string, Problem>>
}

/** Asks for the account to pay to. */
export function ClaimView({ token, values = {}, problems = {}, ...view }: ClaimViewProps) {
  const { link, format } = view
  const { payoutMethod, amount, currency, accountHolderName } = link
  const { branch } = accountRules[payoutMethod]
  const fields = claimFields(payoutMethod)
  return (
    <div class="sheet">
      <Summary {...view} isOpen />
      <div class="action">
        <form method="post" id="claim" data-method={payoutMethod} novalidate>
          <h2>{strings.formTitle}</h2>
          <Problems fields={fields} problems={problems} />
          <input type="hidden" name="action" value="claim" />
          <input type="hidden" name="token" value={token} />
          {branch !== undefined && <input type="hidden" name="branchIdentifier.type" value={branch.type} />}
          {fields.map(field => {
            const props = { key: field.name, field, problem: problems[field.name], value: values[field.name] ?? '' }
            if (field.kind === 'type') return <TypeField {...props} />
            const fixed = field.kind === 'name' ? accountHolderName : undefined
            return <TextField {...props} fixed={fixed} />
          })}
          <button type="submit">Accept {format.money(amount, currency)}</button>
        </form>
        <details>
          <summary>{strings.declineTitle}</summary>
          <form method="post" id="decline">
            <input type="hidden" name="action" value="decline" />
            <input type="hidden" name="token" value={token} />
            <div class="field">
              <label for="remarks">{strings.comment}</label>
              <p class="hint" id="remarks-hint">
                {strings.commentHint}
              </p>
              <textarea id="remarks" name="remarks" rows={3} maxlength={MAX_REMARKS} aria-describedby="remarks-hint" />
            </div>
            <button type="submit" class="secondary">
              {strings.decline}
            </button>
          </form>
        </details>
      </div>
    </div>
  )
}

const idOf = (name: string) => name.replace('.', '-')

/** Lists the fields of a refused form, with links to them. */
function Problems({ fields, problems }: Required<Pick<ClaimViewProps, 'problems'>> & Fields) {
  const refused = fields.filter(({ name }) => problems[name] !== undefined)
  if (refused.length === 0) return null
  return (
    <div class="problems" role="alert">
      <h3>{strings.problems}</h3>
      <ul>
        {refused.map(({ name, kind }) => (
          <li key={name}>
            <a href={`#${idOf(name)}`}>{strings.fields[kind][problems[name] as Problem]}</a>
          </li>
        ))}
      </ul>
    </div>
  )
}

interface Fields {
  readonly fields: readonly ClaimField[]
}

interface FieldProps {
  readonly field: ClaimField
  readonly value: string
  readonly problem: Problem | undefined
}

/** The keyboard and the help of the browser for a field. */
const INPUTS: Readonly<Record<Exclude<FieldKind, 'type'>, object>> = {
  name: { autocomplete: 'name', autocapitalize: 'words' },
  iban: { autocomplete: 'off', autocapitalize: 'characters', maxlength: 60 },
  usAccount: { autocomplete: 'off', inputmode: 'numeric', maxlength: 40 },
  ukAccount: { autocomplete: 'off', inputmode: 'numeric', maxlength: 20 },
  routing: { autocomplete: 'off', inputmode: 'numeric', maxlength: 20 },
  sort: { autocomplete: 'off', inputmode: 'numeric', maxlength: 20 },
}

function TextField({ field, value, problem, fixed }: FieldProps & { fixed: string | undefined }) {
  const { name } = field
  const kind = field.kind as keyof typeof INPUTS
  const { label, hint, missing, invalid } = strings.fields[kind]
  const id = idOf(name)
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="hint" id={`${id}-hint`}>
        {fixed === undefined ? hint : strings.nameFixed}
      </p>
      <input
        {...INPUTS[kind]}
        type="text"
        id={id}
        // A form does not send a field without a name: the name of the link applies.
        name={fixed === undefined ? name : undefined}
        value={fixed ?? value}
        readOnly={fixed !== undefined}
        required
        spellcheck={false}
        aria-invalid={problem === undefined ? undefined : 'true'}
        aria-describedby={`${id}-hint ${id}-error`}
      />
      <FieldError id={id} problem={problem} missing={missing} invalid={invalid} />
    </div>
  )
}

function TypeField({ field: { name, kind }, value, problem }: FieldProps) {
  const { label, missing, invalid } = strings.fields[kind]
  const id = idOf(name)
  return (
    <fieldset class="field" aria-describedby={`${id}-error`}>
      <legend>{label}</legend>
      <div class="choices">
        {ACCOUNT_TYPES.map((type, at) => (
          <label key={type}>
            <input
              type="radio"
              id={at === 0 ? id : `${id}-${at}`}
              name={name}
              value={type}
              checked={value === type}
              required
            />
            {strings.types[type]}
          </label>
        ))}
      </div>
      <FieldError id={id} problem={problem} missing={missing} invalid={invalid} />
    </fieldset>
  )
}

interface FieldErrorProps {
  readonly id: string
  readonly problem: Problem | undefined
  readonly missing: string
  readonly invalid: string
}

/** The message of a field, with the texts that the script in the browser can show. */
function FieldError({ id, problem, missing, invalid }: FieldErrorProps) {
  const text = { missing, invalid }
  return (
    <p class="error" id={`${id}-error`} data-missing={missing} data-invalid={invalid}>
      {problem !== undefined && text[problem]}
    </p>
  )
}
