import { MAX_REMARKS } from '../../../../core/domain/identifiers.js'
import type { ClaimField, FieldKind, Problem } from '../../claim-rules.js'
import { ACCOUNT_TYPES, claimRules } from '../../claim-rules.js'
import { fieldTexts, strings } from './strings.js'
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
  const { payoutMethod, amount, accountHolderName } = link
  const { fields } = claimRules[payoutMethod]
  return (
    <div class="sheet">
      <Summary {...view} isOpen />
      <div class="action">
        <form method="post" id="claim" data-method={payoutMethod} novalidate>
          <h2>{strings.formTitle}</h2>
          <Problems fields={fields} problems={problems} />
          <input type="hidden" name="action" value="claim" />
          <input type="hidden" name="token" value={token} />
          {fields.map(field => (
            <Field
              key={field.name}
              field={field}
              value={values[field.name] ?? ''}
              problem={problems[field.name]}
              fixed={field.kind === 'name' ? accountHolderName : undefined}
            />
          ))}
          <button type="submit">Accept {format.money(amount)}</button>
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
function Problems({
  fields,
  problems,
}: Required<Pick<ClaimViewProps, 'problems'>> & { fields: readonly ClaimField[] }) {
  const refused = fields.filter(({ name }) => problems[name] !== undefined)
  if (refused.length === 0) return null
  return (
    <div class="problems" role="alert">
      <h3>{strings.problems}</h3>
      <ul>
        {refused.map(({ name, kind }) => (
          <li key={name}>
            <a href={`#${idOf(name)}`}>{fieldTexts[kind][problems[name] as Problem]}</a>
          </li>
        ))}
      </ul>
    </div>
  )
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

interface FieldProps {
  readonly field: ClaimField
  readonly value: string
  readonly problem: Problem | undefined
  /** The name that the sender has set. */
  readonly fixed: string | undefined
}

function Field({ field: { name, kind }, value, problem, fixed }: FieldProps) {
  const { label, hint, ...messages } = fieldTexts[kind]
  const id = idOf(name)
  const common = {
    id,
    // A form does not send a field without a name: the name of the link applies.
    name: fixed === undefined ? name : undefined,
    required: true,
    'aria-invalid': problem && ('true' as const),
    'aria-describedby': `${id}-hint ${id}-error`,
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="hint" id={`${id}-hint`}>
        {fixed === undefined ? hint : strings.nameFixed}
      </p>
      {kind === 'type' ? (
        <select {...common}>
          <option value="" />
          {ACCOUNT_TYPES.map(type => (
            <option key={type} value={type} selected={value === type}>
              {strings.types[type]}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...INPUTS[kind]}
          {...common}
          type="text"
          value={fixed ?? value}
          readOnly={fixed !== undefined}
          spellcheck={false}
        />
      )}
      <p class="error" id={`${id}-error`}>
        {problem && messages[problem]}
      </p>
    </div>
  )
}
