/** Nothing comes from elsewhere, and nothing goes elsewhere. The reference adds styles to the page. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Shows both documents. Calls act as the client of the page. */
export const SCRIPT = `const base = new URL('..', import.meta.url).href.replace(/\\/$/, '')
const { client } = document.body.dataset
const note = document.getElementById('note')
const [text] = note.childNodes

/** Says at the client of the header whether a call could act as it. */
function say(status, message = '') {
  text.data = status < 400 ? 'Calls act as ' : status === 401 ? 'The server asks for its admin token to act as ' : status === 404 ? 'There is no client yet: ' : message + ' Client: '
}

// Each call gets a new token, so that no token is expired. Where the console needs the admin token, the browser asks for it.
async function onRequestBuilt({ request: { url, headers } }) {
  if (/^Bearer ./.test(headers.get('authorization') ?? '') || url.endsWith('/oauth/token')) return
  try {
    const answer = await fetch(base + '/_sandbox/tokens?client=' + encodeURIComponent(client), { method: 'POST' })
    const { access_token, message } = await answer.json()
    say(answer.status, message)
    if (answer.ok) headers.set('authorization', 'Bearer ' + access_token)
  } catch {
    // The call itself says that the server is away.
  }
}

/** Returns the document of the control plane, whose calls name the client. Examples that replace or remove something use another client. */
async function controlPlane() {
  const document = await (await fetch(base + '/docs/control-plane.json')).json()
  const parameters = Object.values(document.paths).flatMap(Object.values).flatMap(operation => operation.parameters)
  for (const parameter of parameters) if (parameter.name === 'client' && parameter.in === 'query') parameter.example ??= client
  return { content: document }
}

const shared = {
  servers: [{ url: base, description: 'This sandbox' }],
  // No request leaves the machine.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  // Some colours are too light for small text. Copy buttons have no name, and the summary within a button has parts that no
  // keyboard reaches. Beside "Required" there is no room for the type of the authentication.
  customCss: '.light-mode { --scalar-color-2: #5c5c5c; --scalar-color-3: #6b6b6b; --scalar-color-blue: #0067a8; --scalar-color-green: #00704a; ' +
    '--scalar-color-orange: #8f4f00; --scalar-color-red: #b3261e } .dark-mode { --scalar-color-3: #9b9b9b; --scalar-color-red: #ff8078 } ' +
    '.scalar-code-copy, .parameter-item-trigger .parameter-item-description-summary, [data-testid=auth-indicator] { display: none !important }',
}
Scalar.createApiReference('#reference', [
  {
    ...shared,
    title: 'Payments service',
    slug: 'payments-service',
    url: base + '/docs/payments-service.json',
    default: true,
    authentication: { preferredSecurityScheme: 'bearerAuth', securitySchemes: { bearerAuth: { token: '' } } },
    onRequestBuilt,
  },
  {
    ...shared,
    title: 'Control plane',
    slug: 'control-plane',
    ...(await controlPlane()),
    authentication: { preferredSecurityScheme: 'adminToken', securitySchemes: { adminToken: { token: '' } } },
  },
])
`
