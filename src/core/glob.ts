/** Returns a test for a pattern in which `*` matches any text, with slashes. All other characters match themselves. */
export function createGlob(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return text => text === pattern
  const [first = '', ...between] = pattern.split(/\*+/)
  const last = between.pop() ?? ''
  return text => {
    if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
    const end = text.length - last.length
    let at = first.length
    for (const part of between) {
      const found = text.indexOf(part, at)
      if (found < 0 || found + part.length > end) return false
      at = found + part.length
    }
    return true
  }
}

/**
 * Whether a pattern matches a path of a template, such as `/bills/{uniqueReferenceIdentifier}`. The value of a parameter can
 * be any text without slashes and question marks.
 */
export function canMeet(pattern: string, template: string): boolean {
  const path = template.replace(/\{\w+\}/g, '*')
  // The positions in the path that the pattern, as far as it has been read, can reach.
  let places = [0]
  for (const character of pattern) {
    if (character === '*') {
      const first = Math.min(...places)
      places = Array.from({ length: path.length - first + 1 }, (_, at) => first + at)
    } else {
      const next = places.flatMap(at => {
        if (path[at] === '*') return '/?'.includes(character) ? [] : [at, at + 1]
        return path[at] === character ? [at + 1] : []
      })
      places = [...new Set(next)]
    }
    if (places.length === 0) return false
  }
  return places.includes(path.length)
}
