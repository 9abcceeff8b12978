import { renderToString } from 'preact-render-to-string'
import { PlainPage } from '../../../http/pages/document.js'
import { commonStyles } from '../../../http/pages/styles.js'

export interface SignInProps {
  /** The way from the page to `/_sandbox/`, such as `../`. */
  readonly base: string
  /** The page that the browser wanted to see, relative to `/_sandbox/`. */
  readonly to: string
  /** The reason why the last attempt was refused. */
  readonly problem?: string | undefined
  readonly isSignedIn: boolean
  /** Whether the browser loads the page again at once. */
  readonly reloads: boolean
}

/** The style sheet of the page. */
export const styles = `${commonStyles}
main { max-width: 26rem; margin: 8vh auto 0; padding: 1.5rem; background: var(--card); border-radius: .75rem; box-shadow: var(--shadow); }
h1 { font-size: 1.5rem; }
main > p { color: var(--muted); margin-top: .5rem; }
form { margin-top: 1.25rem; display: grid; gap: .375rem; }
label { font-weight: 600; }
input, button { font: inherit; min-height: 2.75rem; border-radius: .5rem; padding: .25rem .75rem; }
input { width: 100%; color: inherit; background: var(--page); border: 1px solid var(--edge); }
button { margin-top: .75rem; color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); font-weight: 650; cursor: pointer; }
button:hover { background: var(--accent-hover); border-color: var(--accent-hover); }
#problem { color: var(--error); margin: 0; }
@media (max-width: 30rem) { main { margin: 0 .75rem; } }
`

/** The page that asks a browser for the admin token. */
function SignIn({ base, to, problem, isSignedIn, reloads }: SignInProps) {
  return (
    <PlainPage title="Sign in" styles={styles} head={reloads && <meta http-equiv="refresh" content="0" />}>
      <h1>Sign in</h1>
      {isSignedIn && (
        <form method="post" action={`${base}sign-out`}>
          <p role="status">You are signed in.</p>
          <button type="submit">Sign out</button>
        </form>
      )}
      <p>The pages of this sandbox need its admin token, the value of SANDBOX_ADMIN_TOKEN.</p>
      <form method="post" action={`${base}sign-in`}>
        <input type="hidden" name="to" value={to} />
        <label for="token">Admin token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus
          aria-invalid={problem === undefined ? undefined : 'true'}
          aria-describedby={problem === undefined ? undefined : 'problem'}
        />
        {problem !== undefined && (
          <p id="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit">Sign in</button>
      </form>
    </PlainPage>
  )
}

/** Renders the page. All values are escaped. */
export const renderSignIn = (props: SignInProps): string => `<!doctype html>${renderToString(<SignIn {...props} />)}`
