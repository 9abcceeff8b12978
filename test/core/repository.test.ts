import fc from 'fast-check'
import t from 'tap'
import { createIds } from '../../src/core/ids.js'
import { createChangeLog } from '../../src/core/records/changes.js'
import { createRepository } from '../../src/core/records/repository.js'

interface Thing {
  readonly thingReference: string
  readonly colour: string | undefined
}

const options = {
  referenceField: 'thingReference',
  reference: (thing: Thing) => thing.thingReference,
}

t.test(
  'decisions §5: pages equal the slices of a naive sort and filter, for records of any creation time',
  async () => {
    const colours = ['red', 'blue', undefined]
    const thing = fc.record({ hour: fc.integer({ min: 0, max: 5 }), colour: fc.constantFrom(...colours) })
    const query = fc.record({
      colour: fc.constantFrom(undefined, 'red', ['red', 'blue'], []),
      limit: fc.integer({ min: 1, max: 8 }),
      even: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(thing, { maxLength: 30 }), query, (input, { colour, limit, even }) => {
        const repository = createRepository<Thing>(options, {
          ids: createIds('seed', 'acme'),
          changes: createChangeLog(),
          names: { name: 'things', path: 'things', kind: undefined },
        })
        for (const [index, { hour, colour }] of input.entries()) {
          const record = { thingReference: `${index}`, colour }
          repository.add({ createdAt: hour * 3_600_000, sequence: index + 1, region: 'EU', record })
        }
        const matches = ({ thingReference }: Thing) => !even || Number(thingReference) % 2 === 0
        const expected = input
          .map(({ hour, colour }, index) => ({ hour, colour, thingReference: `${index}` }))
          .filter(item => (colour === undefined || [colour].flat().includes(item.colour as string)) && matches(item))
          .sort((a, b) => b.hour - a.hour || Number(b.thingReference) - Number(a.thingReference))
          .map(({ thingReference }) => thingReference)

        const found: string[] = []
        let cursor: string | undefined
        do {
          const list = repository.list('EU', { fields: { colour }, matches, cursor, limit })
          found.push(...list.data.map(({ thingReference }) => thingReference))
          if (list.totalCount !== expected.length || list.hasMore !== found.length < expected.length) return false
          cursor = list.nextCursor ?? undefined
        } while (cursor !== undefined)
        return found.join() === expected.join()
      }),
      { seed: 5, numRuns: 500 },
    )
  },
)
