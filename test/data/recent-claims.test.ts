import { expect } from 'chai'
import {
  claimOf,
  claimOfTombstone,
  createRecentClaims,
  fingerprintOf,
  tombstoneOf,
  type ClaimTable,
  type TakenOrder,
} from '../../data/recent-claims.js'
import { aMarket, anOrder } from '../support/builders.js'
import { numberedClaim, owner } from './numbered-claims.js'

const market = 'cNGN-USDC'
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

describe('claims that the table does not hold yet', () => {
  /** Every look into the table, by what was sought. */
  let looks: string[]
  let stored: TakenOrder | undefined
  const table: ClaimTable = {
    findOrder: (orderId) => {
      looks.push(orderId)
      return stored
    },
    findNonce: (_, nonce) => {
      looks.push(`nonce ${nonce}`)
      return stored
    },
    hasOrderOf: () => stored !== undefined,
  }
  beforeEach(() => {
    looks = []
    stored = undefined
  })

  it('are taken by one look into the table for each id and nonce, however often they are sought', () => {
    const recent = createRecentClaims(table)
    const claim = numberedClaim(1)
    expect(recent.findOrder(claim.orderId)).to.equal(undefined)
    expect(recent.findNonce(owner, claim.nonce)).to.equal(undefined)
    expect(recent.take(market, claim)).to.equal(undefined)
    expect(recent.take(market, claim)?.by).to.equal('order_id')
    expect(looks).to.deep.equal([claim.orderId, `nonce ${claim.nonce}`])
  })

  it('are looked for again once they were given back, or once the table holds them', () => {
    const recent = createRecentClaims(table)
    const given = numberedClaim(1)
    const moved = numberedClaim(2)
    for (const claim of [given, moved]) recent.take(market, claim)
    recent.giveBack(given)
    recent.land(market, moved, 1)
    recent.moved(1)
    stored = { orderId: 'stored', owner, nonce: 3n, market, fingerprint: Buffer.alloc(32) }
    looks = []
    for (const { orderId, nonce } of [given, moved]) {
      expect(recent.findOrder(orderId)).to.equal(stored)
      expect(recent.findNonce(owner, nonce)).to.equal(stored)
    }
    expect(looks).to.have.length(4)
  })

  it('are sought without a bound on their number, and remembered as free up to one', () => {
    const recent = createRecentClaims(table)
    const seek = (count: number): void => {
      for (let at = 0; at < count; at += 1) recent.findOrder(`free-${at}`)
    }
    seek(8_192)
    seek(8_192)
    expect(looks).to.have.length(8_192)
    seek(8_193)
    expect(looks).to.have.length(8_193)
    seek(1)
    expect(looks).to.have.length(8_194)
  })

  it('are kept once, in the order in which they landed, until the table holds the first of them', () => {
    const recent = createRecentClaims(table)
    const first = numberedClaim(1)
    const second = numberedClaim(2)
    const third = numberedClaim(3)
    recent.take(market, first)
    for (const claim of [second, first, second, numberedClaim(1), third])
      recent.land(market, claim, 1)
    const landed = () => recent.landed().map(({ claim }) => claim.orderId)
    expect(landed()).to.deep.equal(['order-2', 'order-1', 'order-3'])
    recent.moved(2)
    expect(landed()).to.deep.equal(['order-3'])
  })

  it('name the order that holds the id or the nonce of one that lands', () => {
    const recent = createRecentClaims(table)
    const claim = numberedClaim(1)
    const holder = { ...claim, market }
    recent.land(market, claim, 1)
    const others = [
      ...[numberedClaim(1, 'another'), { ...claim, fingerprint: Buffer.alloc(32, 9) }],
      { ...claim, nonce: 5n, fingerprint: Buffer.alloc(32, 9) },
    ]
    for (const other of others) expect(recent.land(market, other, 1)).to.deep.equal(holder)
    expect(recent.land('other', { ...claim }, 1)).to.deep.equal(holder)
    expect(recent.take(market, claim)).to.deep.equal({ kind: 'taken', by: 'order_id', holder })
    expect(recent.landed()).to.have.length(1)
  })
})

describe('the claim of an order', () => {
  const order = anOrder()

  it('has its id, its owner and nonce, and a digest of what was signed', () => {
    const claim = claimOf(aMarket(), order)
    const { orderId, nonce } = order
    expect(claim).to.deep.include({ orderId, owner: order.owner, nonce })
    expect(claim.fingerprint).to.have.length(32)
    const other = (over: Parameters<typeof anOrder>[0]) =>
      hexOf(claimOf(aMarket(), anOrder(over)).fingerprint)
    expect(other({ orderId: 'another' })).to.equal(hexOf(claim.fingerprint))
    for (const over of [{ nonce: 2n }, { signature: '0x12' }, { subaccountId: 8n }] as const)
      expect(other(over), Object.keys(over)[0]).to.not.equal(hexOf(claim.fingerprint))
  })

  it('has a digest by SHA-256, also where the action cannot be read', () => {
    const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    expect(hexOf(fingerprintOf(undefined))).to.equal(empty)
    const abc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(hexOf(fingerprintOf('abc'))).to.equal(abc)
  })

  it('is all that a tombstone keeps of it', () => {
    const claim = claimOf(aMarket(), order)
    const { fingerprint, ...rest } = claim
    const tombstone = { ...rest, fingerprint: `0x${hexOf(fingerprint)}` }
    expect(tombstoneOf(claim)).to.deep.equal(tombstone)
    expect(claimOfTombstone(tombstoneOf(claim))).to.deep.equal({
      ...rest,
      fingerprint: Buffer.from(fingerprint),
    })
  })
})
