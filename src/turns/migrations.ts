import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIGRATIONS } from '../package.js'

/** A numbered file of `migrations/`, which changes the tables. */
export interface Migration {
  readonly version: number
  readonly sql: string
}

/** Returns the migrations of a kind of database in order. `2-name.postgres.sql` is of Postgres only. */
export function readMigrations(kind: 'sqlite' | 'postgres'): readonly Migration[] {
  return readdirSync(MIGRATIONS)
    .flatMap(file => {
      const [, number, only = kind] = /^(\d+)-[a-z-]+(?:\.(\w+))?\.sql$/.exec(file) ?? []
      if (number === undefined || only !== kind) return []
      return { version: Number(number), sql: readFileSync(join(MIGRATIONS, file), 'utf8') }
    })
    .sort((a, b) => a.version - b.version)
}

/** The last release that reads the format of requests, which later ones do not. */
export const carryOver = (name: string): string =>
  `${name} has the format of payments-sandbox 0.1. Nothing was changed. To carry its clients over, start it with 0.1.0, ` +
  'save each one with `curl "$URL/_sandbox/state?client=ID" > state.json`, and restore it here with ' +
  '`curl -X PUT "$URL/_sandbox/state?client=ID" -H "content-type: application/json" -d @state.json`'
