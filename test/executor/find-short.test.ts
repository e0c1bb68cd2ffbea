import { expect } from 'chai'
import { balanceClaim, type CapacityClaim } from '../../core/contracts/claims.js'
import { createInFlightBook, findShort, type InFlightMatches } from '../../executor/in-flight.js'
import type { SettlementTerms } from '../../executor/settlement.js'
import { matchClaiming, readsWith } from '../support/claims.js'

const ASSET = `0x${'c1'.repeat(20)}` as const

/** A match of these accounts that takes so much from each of them; with a list it is not known what. */
function terms(accounts: Readonly<Record<string, bigint>> | readonly bigint[]): SettlementTerms {
  if (Array.isArray(accounts)) return { call: '0x', accountIds: accounts, match: undefined }
  const claims = Object.entries(accounts).map(([id, debit]): CapacityClaim => {
    return { key: balanceClaim(BigInt(id), ASSET, 0n), debit }
  })
  const accountIds = Object.keys(accounts).map(BigInt)
  return { call: '0x', accountIds, match: matchClaiming(...claims) }
}

describe('the matches in flight', () => {
  const noncesOf = (view: InFlightMatches, ...accountIds: bigint[]) =>
    view.touching(new Set(accountIds)).map(({ evmNonce }) => evmNonce)

  it('are those from a nonce on, in the order of their nonces', () => {
    const book = createInFlightBook()
    for (const evmNonce of [12, 9, 11, 10]) book.add(evmNonce, [terms({ 1: 1n })])
    const view = book.after(10)
    expect(noncesOf(view, 1n)).to.deep.equal([10, 11, 12])
    expect(view.lastTouching([1n])).to.equal(12)
    expect(view.lastTouching([2n])).to.equal(undefined)
    expect(noncesOf(view, 2n)).to.deep.equal([])
  })

  it('touch accounts by their highest nonce', () => {
    const book = createInFlightBook()
    book.add(10, [terms({ 1: 1n, 2: 1n }), terms({ 3: 1n })])
    book.add(11, [terms({ 2: 1n })])
    const view = book.after(10)
    expect(view.lastTouching([1n, 3n])).to.equal(10)
    expect(view.lastTouching([2n, 1n])).to.equal(11)
    expect(noncesOf(view, 1n, 3n)).to.deep.equal([10, 10])
  })

  it('are kept behind the head for a reorganisation, and not for ever', () => {
    const book = createInFlightBook()
    for (let evmNonce = 0; evmNonce < 300; evmNonce += 1) book.add(evmNonce, [terms({ 1: 1n })])
    book.after(300)
    const kept = noncesOf(book.after(0), 1n)
    expect([kept[0], kept.at(-1), kept.length]).to.deep.equal([44, 299, 256])
  })
})

describe('matches that may be short beside what is in flight', () => {
  interface Asked {
    readonly matches: readonly SettlementTerms[]
    readonly flying?: readonly SettlementTerms[]
    readonly countEarlier?: boolean
    readonly balance?: bigint
  }

  /** The accounts that each match lacks something on, and the accounts that were read. */
  async function shortOf({ matches, flying = [], countEarlier = false, balance = 10n }: Asked) {
    const book = createInFlightBook()
    book.add(5, flying)
    const read: bigint[] = []
    const reads = readsWith((keys) => {
      read.push(...keys.map(({ accountId }) => accountId))
      return Promise.resolve(keys.map(() => balance))
    })
    const short = await findShort({ matches, inFlight: book.after(5), reads, countEarlier })
    return { short: matches.map((match) => [...(short.get(match) ?? [])]), read }
  }

  it('take more than an account has left behind all that is in flight (SET-072)', async () => {
    const flying = [terms({ 1: 4n })]
    const { short, read } = await shortOf({ matches: [terms({ 1: 6n, 2: 99n })], flying })
    expect([short, read]).to.deep.equal([[[]], [1n]])
    expect((await shortOf({ matches: [terms({ 1: 7n, 2: 99n })], flying })).short).to.deep.equal([
      [1n],
    ])
  })

  it('are none, and nothing is read, where no account is touched twice', async () => {
    const matches = [terms({ 1: 99n }), terms({ 2: 99n })]
    const flying = [terms({ 3: 4n })]
    for (const countEarlier of [true, false]) {
      expect(await shortOf({ matches, flying, countEarlier })).to.deep.equal({
        short: [[], []],
        read: [],
      })
    }
  })

  it('count those before them in the list where the simulation does not, but not those that are short', async () => {
    const matches = [terms({ 1: 6n }), terms({ 1: 6n }), terms({ 1: 4n }), terms({ 1: 1n })]
    const { short } = await shortOf({ matches, countEarlier: true })
    expect(short).to.deep.equal([[], [1n], [], [1n]])
    expect((await shortOf({ matches, countEarlier: false })).short).to.deep.equal([[], [], [], []])
    // The sum counts in any case on an account that something in flight touches.
    const flying = [terms({ 1: 0n })]
    expect((await shortOf({ matches, flying })).short).to.deep.equal([[], [1n], [], [1n]])
  })

  it('may lack anything on every touched account where their claims are not known', async () => {
    const flying = [terms({ 1: 0n })]
    const matches = [terms([1n, 2n])]
    expect((await shortOf({ matches, flying })).short).to.deep.equal([[1n]])
    expect((await shortOf({ matches: [terms([2n])], flying })).short).to.deep.equal([[]])
  })

  it('lack nothing on an account that no other match touches, however little it has', async () => {
    const flying = [terms({ 1: 1n })]
    const { short } = await shortOf({ matches: [terms({ 1: 1n, 2: 99n })], flying, balance: 5n })
    expect(short).to.deep.equal([[]])
  })
})
