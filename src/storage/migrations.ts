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
