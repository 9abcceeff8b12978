/** Names that YAML reads as texts without quotes. Some words are other values. */
const PLAIN = /^(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z_$][\w$-]*$/i

/** Returns a JSON value as YAML 1.2 in block style. Texts are quoted as in JSON, which is a part of YAML. */
export const toYaml = (value: unknown): string => `${blockOf(value, '').trim()}\n`

/** Returns the text after the name of a value: on the same line, or on separate lines. */
function blockOf(value: unknown, margin: string): string {
  const isObject = value !== null && typeof value === 'object' && Object.keys(value).length > 0
  if (!isObject) return ` ${JSON.stringify(value)}`
  const inner = `${margin}  `
  const lines = Array.isArray(value)
    ? value.map(item => `- ${blockOf(item, inner).trimStart()}`)
    : Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => `${PLAIN.test(name) ? name : JSON.stringify(name)}:${blockOf(member, inner)}`)
  return lines.map(line => `\n${margin}${line}`).join('')
}
