import { expect } from 'chai'
import { createMarketGate } from '../../../actors/order-intake/market-gate.js'
import type { Market } from '../../../core/contracts/market.js'
import { OPEN, openingOf, type MarketTerms } from '../../../core/contracts/market-terms.js'
import { createLog } from '../../../runtime/process/log.js'
import { aMarket } from '../../support/builders.js'

const NAME = 'cNGN-USDC'
/** What the feed states of the market with these fields. */
const stated = (fields: Parameters<typeof aMarket>[0] = {}): MarketTerms => ({
  ...openingOf(aMarket(fields)),
  standing: OPEN,
})
const CURE = `run ./venue market set ${NAME} taker_fee_bps=30, or put 25 into the file`
const DIFFERS = `${NAME}: taker_fee_bps is 30 in the market file and 25 in the log: ${CURE}`

describe('the gate of order intake', () => {
  let row: Market | undefined
  let atMs: number
  let reads: number
  /** Lines of the log that say that new orders are refused. */
  let said: number
  let stored: Map<string, { streamSeq: number; terms: MarketTerms }>
  beforeEach(() => {
    row = aMarket({ takerFeeBps: 30 })
    atMs = 0
    reads = 0
    said = 0
    stored = new Map()
  })
  const open = () => {
    const gate = createMarketGate({
      registry: {
        terms: (market) => stored.get(market),
        markTerms: (market, streamSeq, terms) => void stored.set(market, { streamSeq, terms }),
      },
      readRow: () => {
        reads += 1
        return row
      },
      log: { ...createLog('order-intake', 'silent'), error: () => void (said += 1) },
      elapsedMs: () => atMs,
    })
    gate.add(row ?? aMarket())
    return gate
  }
  const refusal = (gate: ReturnType<typeof open>) => {
    const refused = gate.refusalOf(NAME)
    return refused && { code: refused.code, message: refused.extra?.message }
  }

  it('refuses new orders while the file differs from the log, with field, both values and cure', () => {
    const gate = open()
    expect(refusal(gate)).to.equal(undefined)
    gate.state(NAME, 1, stated())
    expect(refusal(gate)).to.deep.equal({
      code: 'trading_paused',
      message: `no new orders are taken: ${DIFFERS}`,
    })
  })

  it('knows the difference at the start from what an earlier run stored', () => {
    stored.set(NAME, { streamSeq: 7, terms: stated() })
    const gate = open()
    expect(refusal(gate)?.message).to.include(DIFFERS)
    expect(gate.markets[0]).to.include({ takerFeeBps: 25 })
  })

  it('takes orders again once the file is put back, and reads it at most once a second', () => {
    const gate = open()
    gate.state(NAME, 1, stated())
    refusal(gate)
    row = aMarket()
    atMs = 999
    expect(refusal(gate)?.message).to.include(DIFFERS)
    expect(reads).to.equal(1)
    atMs = 1_000
    expect(refusal(gate)).to.equal(undefined)
    expect(reads).to.equal(2)
  })

  it('keeps saying where they differ while the file has no row of the market', () => {
    const gate = open()
    gate.state(NAME, 1, stated())
    row = undefined
    expect(refusal(gate)?.message).to.include(DIFFERS)
    row = aMarket()
    atMs = 1_000
    expect(refusal(gate)).to.equal(undefined)
  })

  it('goes by the row as it stands then, of an intake that stood by while a command changed log and file', () => {
    row = aMarket({ takerFeeBps: 25 })
    const gate = open()
    row = aMarket({ takerFeeBps: 20 })
    gate.state(NAME, 1, stated({ takerFeeBps: 20 }))
    expect([refusal(gate), said]).to.deep.equal([undefined, 0])
    stored.clear()
    row = aMarket({ takerFeeBps: 30 })
    const edited = open()
    edited.state(NAME, 2, stated())
    expect([refusal(edited)?.code, said]).to.deep.equal(['trading_paused', 1])
  })

  it('takes no new order of a market that is closed, also once its log is restored, and takes cancels', () => {
    row = aMarket()
    const gate = open()
    gate.close(NAME, 'no contract at asset')
    gate.stop(NAME, 'no log')
    expect(gate.cancelRefusalOf(NAME)).to.deep.include({
      ...{ code: 'trading_paused', message: 'trading_paused' },
      extra: { message: 'nothing was cancelled: no log' },
    })
    gate.release(NAME)
    expect(refusal(gate)?.message).to.equal('no new orders are taken: no contract at asset')
    expect(gate.cancelRefusalOf(NAME)).to.equal(undefined)
    expect(gate.stopped()).to.deep.equal(['no contract at asset'])
  })

  it('takes orders again once a command gives the log what the file says', () => {
    const gate = open()
    gate.caughtUp(NAME)
    gate.state(NAME, 1, stated())
    expect(refusal(gate)).to.equal(undefined)
    const edited = open()
    edited.state(NAME, 2, stated())
    edited.caughtUp(NAME)
    expect(refusal(edited)?.message).to.include(DIFFERS)
    edited.state(NAME, 3, stated({ takerFeeBps: 30 }))
    expect(refusal(edited)).to.equal(undefined)
  })

  it('leaves a change of the running venue, whose file follows it, to the next start', () => {
    row = aMarket()
    const gate = open()
    gate.state(NAME, 1, stated())
    gate.caughtUp(NAME)
    gate.state(NAME, 2, stated({ takerFeeBps: 30 }))
    expect(refusal(gate)).to.equal(undefined)
    expect(gate.markets[0]).to.include({ takerFeeBps: 30 })
    expect(stored.get(NAME)?.streamSeq).to.equal(2)
  })

  it('takes no terms from a message before the one that it knows', () => {
    stored.set(NAME, { streamSeq: 7, terms: stated({ takerFeeBps: 30 }) })
    const gate = open()
    gate.state(NAME, 7, stated())
    expect(refusal(gate)).to.equal(undefined)
    expect(gate.markets[0]).to.include({ takerFeeBps: 30 })
  })

  it('refuses new orders of a paused market with the reason (OPE-006)', () => {
    row = aMarket()
    const gate = open()
    const standing = { status: 'paused', reason: 'maintenance' } as const
    gate.state(NAME, 1, { ...stated(), standing })
    expect(refusal(gate)?.message).to.equal(
      `no new orders are taken: ${NAME} is paused: maintenance`,
    )
  })
})
