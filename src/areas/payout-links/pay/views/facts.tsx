import type { ComponentChildren } from 'preact'

/** A list of facts; those without a value are left out. */
export const Facts = ({ facts }: { facts: readonly (readonly [term: string, value: ComponentChildren])[] }) => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([term, value]) => (
        <div key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
