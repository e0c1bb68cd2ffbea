import { expect } from 'chai'
import {
  recheckSignatures,
  type RecheckDeps,
} from '../../../actors/order-intake/watch-signatures.js'
import type { OrderWatch, WatchedOrder } from '../../../actors/order-intake/order-watch.js'
import type { Address } from '../../../core/action.js'
import type { Command } from '../../../core/model/command.js'

const NOW_SEC = 1_800_000_000
const OWNER: Address = `0x${'aa'.repeat(20)}`

const anOrderOf = (owner: Address, signer: Address): WatchedOrder => ({
  market: 'cNGN-USDC',
  orderId: 'a',
  proof: undefined,
  placedAt: 1,
  owner,
  signer,
  unchecked: false,
  logged: undefined,
  recovered: true,
  keyEndsSec: undefined,
  byCode: false,
  goodUntilSec: NOW_SEC + 600,
})

/** A round over these orders, whose plain keys are known; gives what it says. */
async function round(
  orders: WatchedOrder[],
  readSessionKeyExpiry: RecheckDeps['accounts']['readSessionKeyExpiry'],
  hasCode: RecheckDeps['verifier']['hasCode'] = () => false,
  byCode = false,
): Promise<Command[]> {
  const watch: Pick<OrderWatch, 'next' | 'prioritise' | 'isLive'> = {
    next: () => orders,
    prioritise: () => undefined,
    isLive: () => true,
  }
  const commands: Command[] = []
  await recheckSignatures({
    watch: watch as OrderWatch,
    verifier: { hasCode, verifyDigest: () => ({ kind: 'valid', byCode }) },
    accounts: { readSessionKeyExpiry },
    readProof: () => Promise.resolve({ digest: () => '0x', signature: '0x' }),
    submit: (_, command) => {
      commands.push(command)
      return Promise.resolve(true)
    },
    nowMs: () => NOW_SEC * 1_000,
  })
  return commands
}

/** What a round says of an order whose session key ends at `expirySec`; `keyEndsSec` was logged before. */
async function judged(
  expirySec: bigint | undefined,
  keyEndsSec: number | undefined = undefined,
): Promise<Command[]> {
  const order = anOrderOf(OWNER, `0x${'bb'.repeat(20)}`)
  return round([{ ...order, keyEndsSec }], () => Promise.resolve(expirySec))
}

describe('the order of a session key', () => {
  const cancelled = [{ kind: 'SignatureChecked', orderId: 'a', valid: false }]
  const endsAt = (endsSec: number) => [{ kind: 'SessionKeyObserved', orderId: 'a', endsSec }]

  it('is cancelled once the key has ended, and not earlier', async () => {
    expect(await judged(BigInt(NOW_SEC))).to.deep.equal(cancelled)
    expect(await judged(0n)).to.deep.equal(cancelled)
    expect(await judged(BigInt(NOW_SEC) + 1n)).to.deep.equal(endsAt(NOW_SEC + 1))
  })

  it('tells its market when the key ends, once, and again when that has changed', async () => {
    const endsSec = NOW_SEC + 60
    expect(await judged(BigInt(endsSec))).to.deep.equal(endsAt(endsSec))
    expect(await judged(BigInt(endsSec), endsSec)).to.deep.equal([])
    expect(await judged(BigInt(endsSec) + 9n, endsSec)).to.deep.equal(endsAt(endsSec + 9))
  })

  it('tells of no end behind that of the order', async () => {
    expect(await judged(2n ** 255n, NOW_SEC + 600)).to.deep.equal([])
    expect(await judged(2n ** 255n, NOW_SEC + 60)).to.deep.equal(endsAt(NOW_SEC + 600))
  })

  it('stands while the chain does not answer', async () => {
    expect(await judged(undefined)).to.deep.equal([])
  })
})

describe('a round of checks', () => {
  it('lets other work pass, also where the chain need not be asked', async () => {
    const orders = Array.from({ length: 1_000 }, () => anOrderOf(OWNER, OWNER))
    let turns = 0
    let isOver = false
    const count = (): void => {
      turns += 1
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const said = await round(orders, () => Promise.reject(new Error('an owner has no end')))
    isOver = true
    expect(said).to.deep.equal([])
    expect(turns).to.be.at.least(orders.length / 100)
  })

  it('asks once for each owner whether its key has code, and judges every other order by itself', async () => {
    const sessionKey: Address = `0x${'bb'.repeat(20)}`
    const asked: Address[] = []
    const hasCode = (signer: Address): boolean => {
      asked.push(signer)
      return false
    }
    const orders = [
      ...Array.from({ length: 250 }, () => anOrderOf(OWNER, OWNER)),
      { ...anOrderOf(OWNER, OWNER), orderId: 'unchecked', unchecked: true },
      { ...anOrderOf(OWNER, OWNER), recovered: false },
      anOrderOf(OWNER, sessionKey),
    ]
    const said = await round(orders, () => Promise.resolve(BigInt(NOW_SEC)), hasCode)
    expect(asked.slice(0, 100).every((signer) => signer === OWNER)).to.equal(true)
    expect(asked.slice(100)).to.deep.equal([OWNER, OWNER, sessionKey])
    expect(said).to.have.deep.members([
      { kind: 'SignatureChecked', orderId: 'unchecked', valid: true },
      { kind: 'SignatureChecked', orderId: 'a', valid: false },
    ])
  })

  it('tells the market once of an order whose key has become code that says yes', async () => {
    const order = anOrderOf(OWNER, OWNER)
    const noEnd = () => Promise.reject(new Error('an owner has no end'))
    const said = [{ kind: 'SignatureChecked', orderId: 'a', valid: true, byCode: true }]
    expect(await round([order], noEnd, () => true, true)).to.deep.equal(said)
    expect(await round([order], noEnd, () => true, true)).to.deep.equal([])
    const known = { ...anOrderOf(OWNER, OWNER), byCode: true }
    expect(await round([known], noEnd, () => true, true)).to.deep.equal([])
  })

  it('judges every order of a key that has become a contract', async () => {
    const orders = Array.from({ length: 150 }, () => anOrderOf(OWNER, OWNER))
    let asked = 0
    const hasCode = (): boolean => (asked += 1) > 0
    await round(orders, () => Promise.reject(new Error('an owner has no end')), hasCode)
    expect(asked).to.equal(orders.length)
  })
})
