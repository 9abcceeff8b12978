import type { Static, TOptional } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { AreaName, Areas } from '../areas/index.js'
import { byArea } from '../areas/index.js'
import { component } from '../http/schemas.js'

type SeedProperties = { readonly [Name in AreaName]: TOptional<Areas[Name]['seeds']> }

/** Records of every kind, as fixtures hold them and `POST /_sandbox/seed` takes them. */
export const SeedRecords = component('SeedRecords', byArea((_, { seeds }) => Type.Optional(seeds)) as SeedProperties)
export type SeedRecords = Static<typeof SeedRecords>
