import t from 'tap'
import type { Branch } from '../../src/core/rules/branches.js'
import { assertBranch } from '../../src/core/rules/branches.js'
import { REGIONS } from '../../src/core/rules/regions.js'

const right = {
  EU: { type: 'BIC', value: 'COBADEFFXXX' },
  UK: { type: 'SORT', value: '200000' },
  US: { type: 'ROUTING', value: '021000021' },
  IN: { type: 'IFSC', value: 'HDFC0000001' },
} as const

t.test('decisions §10: BIC goes with EUR, SORT with GBP, ROUTING with USD, IFSC with INR', async t => {
  for (const region of REGIONS) {
    for (const branch of Object.values(right)) {
      const check = () => assertBranch(region, branch)
      const what = `${branch.type} in ${region}`
      if (branch === right[region]) t.doesNotThrow(check, what)
      else
        t.throws(
          check,
          {
            code: 'INVALID_FIELD',
            status: 400,
            field: 'branchIdentifier.type',
            message: new RegExp(right[region].type),
          },
          what,
        )
    }
  }
})

t.test('decisions §10: a value that its standard does not allow is refused', async t => {
  const wrong: [keyof typeof right, Branch][] = [
    ['EU', { type: 'BIC', value: 'COBADEF' }],
    ['EU', { type: 'BIC', value: 'COBADEFFXX' }],
    ['UK', { type: 'SORT', value: '20000' }],
    ['UK', { type: 'SORT', value: '20-00-00' }],
    ['US', { type: 'ROUTING', value: '021000022' }],
    ['US', { type: 'ROUTING', value: '000000000' }],
    ['IN', { type: 'IFSC', value: 'HDFC1000001' }],
    ['IN', { type: 'IFSC', value: 'HDFC000000' }],
  ]
  for (const [region, branch] of wrong) {
    t.throws(
      () => assertBranch(region, branch),
      { code: 'INVALID_FIELD', status: 400, field: 'branchIdentifier.value' },
      branch.value,
    )
  }
})

t.test('decisions §10: a branch identifier may be left out', async t => {
  for (const region of REGIONS) t.doesNotThrow(() => assertBranch(region, undefined))
})
