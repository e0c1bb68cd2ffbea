import { expect } from 'chai'
import fc from 'fast-check'
import { placeApart, type SharingTerms } from '../../executor/place-apart.js'

interface Match extends SharingTerms {
  readonly name: string
}

const match = (name: string, accounts: readonly number[], codeKey?: string): Match => ({
  name,
  codeKey,
  accountIds: accounts.map(BigInt),
})
const place = (matches: readonly Match[], most = 8, onePerKey = true) => {
  const { runs, held } = placeApart(matches, (one) => one, { maxCodeRuns: most, onePerKey })
  return {
    runs: runs.map(({ members }) => members.map(({ name }) => name).join('')),
    held: held.map(({ name }) => name).join(''),
  }
}

describe('the transactions of matches that code has signed', () => {
  it('stand behind those of plain keys, one for each signer and owner (SET-066)', () => {
    const matches = [
      match('x', [1, 2], 'wallet'),
      match('a', [3, 4]),
      match('y', [5, 6], 'other'),
      match('b', [3, 7]),
      match('z', [8, 9], 'wallet'),
    ]
    expect(place(matches)).to.deep.equal({ runs: ['ab', 'xz', 'y'], held: '' })
  })

  it('stand before those that come behind them on an account', () => {
    const matches = [
      match('x', [1, 2], 'wallet'),
      match('a', [2, 3]),
      match('b', [3, 4]),
      match('c', [5, 6]),
      match('y', [4, 7], 'wallet'),
    ]
    expect(place(matches)).to.deep.equal({ runs: ['c', 'x', 'ab'], held: 'y' })
  })

  it('are so many at most, and what is behind the others is held with them', () => {
    const matches = [
      match('x', [1, 2], 'one'),
      match('y', [3, 4], 'two'),
      match('a', [4, 5]),
      match('b', [2, 6]),
      match('c', [7, 8]),
    ]
    expect(place(matches, 1)).to.deep.equal({ runs: ['c', 'x', 'b'], held: 'ya' })
    expect(place(matches, 0)).to.deep.equal({ runs: ['c'], held: 'xyab' })
  })

  it('are one of each key, so that none of them is first where it was not simulated', () => {
    const matches = [
      match('x', [1, 2], 'one'),
      match('s', [1, 3], 'one,two'),
      match('y', [1, 4], 'one'),
      match('a', [4, 5]),
      match('z', [6, 7], 'two'),
      match('b', [3, 8]),
    ]
    expect(place(matches)).to.deep.equal({ runs: ['x', 's', 'b', 'z'], held: 'ya' })
    const several = { runs: ['x', 's', 'b', 'y', 'a', 'z'], held: '' }
    expect(place(matches, 8, false)).to.deep.equal(several)
  })

  const anyMatches = fc.array(
    fc.record({
      accounts: fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 2 }),
      key: fc.option(fc.constantFrom('one', 'two', 'three'), { nil: undefined }),
    }),
    { maxLength: 40 },
  )

  it('keep the order of each account, lose no match and mix no keys', () => {
    fc.assert(
      fc.property(
        anyMatches,
        fc.integer({ min: 0, max: 10 }),
        fc.boolean(),
        (drawn, most, onePerKey) => {
          const matches = drawn.map(({ accounts, key }, i) => match(`${i}`, accounts, key))
          const { runs, held } = placeApart(matches, (one) => one, { maxCodeRuns: most, onePerKey })
          const placed = [...runs.flatMap(({ members }) => members), ...held]
          expect(matches.filter((one) => !placed.includes(one))).to.deep.equal([])
          expect(placed).to.have.length(matches.length)
          for (let id = 1n; id <= 9n; id += 1n) {
            const of = (all: readonly Match[]) =>
              all.filter(({ accountIds }) => accountIds.includes(id))
            expect(of(placed)).to.deep.equal(of(matches))
          }
          for (const { codeKey, members } of runs) {
            expect(members).to.have.length.above(0)
            expect(new Set(members.map((one) => one.codeKey))).to.deep.equal(new Set([codeKey]))
          }
          const keys = runs.flatMap(({ codeKey }) => codeKey ?? [])
          expect(keys).to.have.length.at.most(most)
          if (onePerKey) expect(new Set(keys).size).to.equal(keys.length)
        },
      ),
    )
  })
})
