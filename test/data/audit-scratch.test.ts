import { expect } from 'chai'
import type { Hex } from '../../core/action.js'
import type { ChainFill } from '../../core/chain-fill.js'
import type { Change, ChangeFacts } from '../../core/model/change.js'
import type { Order } from '../../core/model/order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../core/money.js'
import { openAuditScratch, type AuditScratch } from '../../data/audit-scratch.js'
import { aFill, anOrder } from '../support/builders.js'
import { aBlock, aChange } from '../support/changes.js'
import { openHistory, type TestHistory } from '../support/history.js'

const MARKET = 'cNGN-USDC'
const ORDINAL = 3
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const INSTRUMENT = 'asset-0'

const aChainFill = (over: Partial<ChainFill> = {}): ChainFill => ({
  txHash: hashOf(1),
  logIndex: 0,
  blockNumber: 50n,
  instrument: INSTRUMENT,
  taker: 7n,
  maker: 8n,
  takerIsBid: true,
  quote: 400n,
  amount: 60n,
  ...over,
})
const wanted = ({ instrument, taker, maker, takerIsBid, amount }: ChainFill) => ({
  instrument,
  taker,
  maker,
  takerIsBid,
  amount,
})

describe('the tables of an audit', () => {
  let history: TestHistory
  let scratch: AuditScratch
  beforeEach(() => {
    history = openHistory([{ market: MARKET, ordinal: ORDINAL }])
    scratch = openAuditScratch(history.db)
  })
  afterEach(() => history.remove())

  const claim = (id: string, fill: ChainFill, hashes: Hex[] = [], quote?: bigint) =>
    scratch.claim(id, { ...wanted(fill), ...(quote !== undefined && { quote }) }, hashes)

  describe('of fills on the chain', () => {
    it('give an equal fill to one settlement, and say where it is', () => {
      const fill = aChainFill({ logIndex: 4 })
      scratch.addFills([fill])
      expect(scratch.isClaimed('m:1')).to.equal(false)
      const { txHash, blockNumber, quote } = fill
      expect(claim('m:1', fill)).to.deep.equal({ txHash, blockNumber, quote })
      expect(scratch.isClaimed('m:1')).to.equal(true)
      expect(claim('m:2', fill)).to.equal(undefined)
      expect(scratch.isClaimed('m:2')).to.equal(false)
    })

    it('give none that differs in anything that was asked for', () => {
      const fill = aChainFill()
      scratch.addFills([fill])
      const others: Partial<ChainFill>[] = [
        ...[{ instrument: 'asset-1' }, { taker: 9n }, { maker: 9n }],
        ...[{ takerIsBid: false }, { amount: 61n }],
      ]
      for (const other of others)
        expect(claim('m:1', { ...fill, ...other }), Object.keys(other)[0]).to.equal(undefined)
      expect(claim('m:1', fill, [], 401n)).to.equal(undefined)
      expect(claim('m:1', fill, [], 400n)?.quote).to.equal(400n)
    })

    it('give a fill of the transactions that were sent for the settlement before another', () => {
      const first = aChainFill()
      const second = aChainFill({ txHash: hashOf(2) })
      scratch.addFills([first, second])
      expect(claim('m:1', first, [hashOf(9), hashOf(2)])?.txHash).to.equal(hashOf(2))
      expect(claim('m:2', first, [hashOf(9)])?.txHash).to.equal(hashOf(1))
    })

    it('give a fill by its place, once', () => {
      scratch.addFills([aChainFill({ logIndex: 1 }), aChainFill({ logIndex: 2 })])
      expect(scratch.claimLost('m:1', hashOf(1), 3)).to.equal(false)
      expect(scratch.claimLost('m:1', hashOf(2), 1)).to.equal(false)
      expect(scratch.claimLost('m:1', hashOf(1), 1)).to.equal(true)
      expect(scratch.claimLost('m:2', hashOf(1), 1)).to.equal(false)
      expect(scratch.isClaimed('m:1')).to.equal(true)
    })

    it('list what no settlement has claimed, up to a limit', () => {
      const fills = [1, 2, 3].map((logIndex) => aChainFill({ logIndex, amount: BigInt(logIndex) }))
      scratch.addFills(fills)
      const left = ({ logIndex }: { logIndex: number }) => ({
        txHash: hashOf(1),
        logIndex,
        instrument: INSTRUMENT,
      })
      claim('m:1', aChainFill({ amount: 2n }))
      expect(scratch.unclaimed(9)).to.have.deep.members(
        [{ logIndex: 1 }, { logIndex: 3 }].map(left),
      )
      expect(scratch.unclaimed(1)).to.have.length(1)
    })

    it('are counted by instrument, claimed or not', () => {
      scratch.addFills([
        aChainFill(),
        aChainFill({ logIndex: 1 }),
        aChainFill({ logIndex: 2, instrument: 'asset-1' }),
      ])
      claim('m:1', aChainFill())
      expect(scratch.countFills(INSTRUMENT)).to.equal(2)
      expect(scratch.countFills('asset-1')).to.equal(1)
      expect(scratch.countFills('asset-2')).to.equal(0)
    })

    it('are added whole or not at all', () => {
      expect(() => scratch.addFills([aChainFill(), aChainFill()])).to.throw()
      expect(scratch.countFills(INSTRUMENT)).to.equal(0)
    })

    it('add up to what each account bought of a market, in all or in one transaction', () => {
      const sold = aChainFill({ txHash: hashOf(2), maker: 9n, takerIsBid: false, amount: 5n })
      const foreign = aChainFill({ logIndex: 3, taker: 8n, maker: 7n, amount: 1_000n })
      const free = aChainFill({ logIndex: 4, amount: 77n })
      scratch.addFills([aChainFill(), sold, foreign, free])
      claim(`${MARKET}:1`, aChainFill())
      claim(`${MARKET}:2`, sold)
      claim(`${MARKET}2:1`, foreign)
      expect([...scratch.boughtBy(MARKET)]).to.have.deep.members([
        [7n, 55n],
        [8n, -60n],
        [9n, 5n],
      ])
      expect([...scratch.boughtBy(MARKET, hashOf(2))]).to.have.deep.members([
        [7n, -5n],
        [9n, 5n],
      ])
      expect([...scratch.boughtBy(MARKET, hashOf(9))]).to.deep.equal([])
    })
  })

  describe('of the feed', () => {
    const maker = anOrder({ orderId: 'maker-1', nonce: 1n })
    const taker = anOrder({ orderId: 'taker-1', nonce: 2n, side: 'sell' })
    const placed = (order: Order, rank: number): ChangeFacts => ({
      kind: 'OrderPlaced',
      order,
      rank,
    })
    const amount = amountE18(4n * E18)
    /** The legs of a match in the changes `seq` and `seq + 1`. */
    const legs = (seq: number, settlementId: string) => {
      const fill = aFill({
        settlementId,
        amount,
        takerSide: 'sell',
        tradeId: (seq + 1) * 65_536 + ORDINAL,
        price: priceE18(E18),
        txHash: hashOf(seq),
        blockNumber: BigInt(seq),
      })
      return { fill, makerFill: { ...fill, liquidity: 'maker' as const, fee: quoteE18(0n) } }
    }
    const filled = (seq: number, settlementId: string): Change[] => {
      const { fill, makerFill } = legs(seq, settlementId)
      return [
        aChange(seq, maker, { kind: 'OrderFilled', fill: makerFill }, { filled: 4n }),
        aChange(seq + 1, taker, { kind: 'OrderFilled', fill }, { filled: 4n }),
      ]
    }
    const reversed = (seq: number, of: number, settlementId: string): Change[] => {
      const { fill, makerFill } = legs(of, settlementId)
      const why = { kind: 'FillReversed', revert: 'gone' } as const
      return [
        aChange(seq, maker, { ...why, fill: makerFill }),
        aChange(seq + 1, taker, { ...why, fill }),
      ]
    }
    const keyOf = (seq: number) => seq * 65_536 + ORDINAL
    beforeEach(() => {
      const changes = [
        aChange(1, maker, placed(maker, 1)),
        aChange(2, taker, placed(taker, 2)),
        ...filled(3, `${MARKET}:1`),
        ...filled(5, `${MARKET}:2`),
        ...filled(7, `${MARKET}:3`),
        ...reversed(9, 5, `${MARKET}:2`),
      ]
      const block = aBlock(MARKET, changes)
      history.projection.applyBatch([{ streamSeq: 1, block }])
    })

    it('list the matches that stand, above a trade and up to a limit', () => {
      const { fill } = legs(3, `${MARKET}:1`)
      const [first, ...more] = scratch.trades(ORDINAL, 0, 9)
      expect(first).to.deep.equal({
        tradeId: fill.tradeId,
        settlementId: fill.settlementId,
        maker,
        taker,
        takerSide: 'sell',
        price: fill.price,
        amount,
        takerFee: fill.takerFee,
        txHash: fill.txHash,
        blockNumber: fill.blockNumber,
      })
      expect(more.map(({ settlementId }) => settlementId)).to.deep.equal([`${MARKET}:3`])
      expect(scratch.trades(ORDINAL, fill.tradeId, 9)).to.deep.equal(more)
      expect(scratch.trades(ORDINAL, 0, 1)).to.deep.equal([first])
      expect(scratch.trades(ORDINAL + 1, 0, 9)).to.deep.equal([])
    })

    it('know a settlement whose match stands', () => {
      const has = [1, 2, 3, 4].map((no) => scratch.hasTrade(`${MARKET}:${no}`))
      expect(has).to.deep.equal([true, false, true, false])
    })

    it('have the orders by id, and by their keys', () => {
      expect(scratch.order('maker-1')).to.deep.equal(maker)
      expect(scratch.order('maker-2')).to.equal(undefined)
      const keyed = [
        { orderKey: keyOf(1), order: maker },
        { orderKey: keyOf(2), order: taker },
      ]
      expect(scratch.orders(ORDINAL, 0, 9)).to.deep.equal(keyed)
      expect(scratch.orders(ORDINAL, keyOf(1), 9)).to.deep.equal(keyed.slice(1))
      expect(scratch.orders(ORDINAL, 0, 1)).to.deep.equal(keyed.slice(0, 1))
      expect(scratch.orders(ORDINAL + 1, 0, 9)).to.deep.equal([])
    })

    it('add up what of an order the chain has, without what was reversed', () => {
      expect(scratch.settledOnChain(keyOf(1))).to.equal(0n)
      const fills = [1, 2, 3].map((logIndex) => aChainFill({ logIndex, amount: BigInt(logIndex) }))
      scratch.addFills(fills)
      claim(`${MARKET}:1`, aChainFill({ amount: 1n }))
      claim(`${MARKET}:2`, aChainFill({ amount: 2n }))
      expect(scratch.settledOnChain(keyOf(1))).to.equal(amount)
      expect(scratch.settledOnChain(keyOf(2))).to.equal(amount)
      claim(`${MARKET}:3`, aChainFill({ amount: 3n }))
      expect(scratch.settledOnChain(keyOf(2))).to.equal(2n * amount)
      expect(scratch.settledOnChain(keyOf(3))).to.equal(0n)
    })
  })
})
