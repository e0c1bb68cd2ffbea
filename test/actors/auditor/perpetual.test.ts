import { expect } from 'chai'
import { checkChain } from '../../../actors/auditor/check-chain.js'
import type { MarketFold } from '../../../actors/auditor/fold-market.js'
import { createRestoredGaps } from '../../../actors/auditor/restored-gaps.js'
import {
  createVerdicts,
  wordVerdicts,
  type AuditVerdict,
} from '../../../actors/auditor/verdicts.js'
import { readNewestBlock } from '../../../chain/reads/blocks.js'
import { createChainClient } from '../../../chain/reads/client.js'
import type { Hex } from '../../../core/action.js'
import type { Change, ChangeFacts } from '../../../core/model/change.js'
import type { Market } from '../../../core/model/market.js'
import type { Match } from '../../../core/model/match.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { openAuditScratch } from '../../../data/audit-scratch.js'
import { openScratchHistory } from '../../../data/history/compare-histories.js'
import { auctionCall, bidCall } from '../../support/auction-calls.js'
import { aFill, anOrder, aPerp } from '../../support/builders.js'
import { aBlock, aChange } from '../../support/changes.js'
import { matchCall, type SignedOrder } from '../../support/devnet-actions.js'
import { openWorld, perform, type Trader, type World } from '../../support/devnet-world.js'
import {
  e18,
  openPerpAccount,
  setPrices,
  signPerpOrder,
  stopTheClock,
} from '../../support/perp-world.js'

/** A match that the chain has settled, as the venue has it. */
interface Settled {
  readonly maker: Order
  readonly taker: Order
  readonly price: bigint
  readonly takerFee: bigint
  readonly txHash: Hex
  readonly blockNumber: bigint
}

const FEE = e18('0.1625')
const SIZE = 100_000

/** Matches that the chain settles, the venue's feed about them, and what an audit says of both. */
describe('the auditor of a perpetual', () => {
  let world: World
  let market: Market
  let snapshot: Hex
  let dealer: Trader
  let long: Trader
  let settled: Settled[]

  before(async function () {
    world = await openWorld()
    await stopTheClock(world)
    const { at } = world
    market = aPerp({
      assetAddress: at.perp_asset,
      quoteAssetAddress: at.cash_asset,
      tradeModuleAddress: at.perp_trade_module,
      marginManagerAddress: at.perp_manager,
    })
    dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
    long = await openPerpAccount(world, world.carol, { cash: 20 })
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
    settled = []
  })
  afterEach(() => world.client.revert({ id: snapshot }))
  after(() => world.anvil.stop())

  const orderOf = ({ action, trade }: SignedOrder): Order =>
    anOrder({
      orderId: `n${action.nonce}`,
      market: market.market,
      owner: action.owner,
      nonce: action.nonce,
      subaccountId: action.subaccountId,
      side: trade.isBid ? 'buy' : 'sell',
      limitPrice: priceE18(trade.limitPrice),
      desiredAmount: amountE18(trade.desiredAmount),
    })

  /** The buyer takes; the venue is told unless `isForeign`. */
  async function settle({
    buyer = long,
    seller = dealer,
    price = '0.00065',
    isForeign = false,
  } = {}): Promise<void> {
    const terms = { size: SIZE, price: e18(price) }
    const taker = await signPerpOrder(world, buyer, true, terms)
    const maker = await signPerpOrder(world, seller, false, terms)
    const call = matchCall(world, { taker, fills: [{ maker }], takerFee: FEE })
    const { transactionHash: txHash, blockNumber } = await perform(world, call)
    if (isForeign) return
    const makerOrder = orderOf(maker)
    const takerOrder = orderOf(taker)
    settled.push({
      maker: makerOrder,
      taker: takerOrder,
      price: terms.price,
      takerFee: FEE,
      txHash,
      blockNumber,
    })
  }

  /** The five changes of a match that is settled. */
  function changesOf({ maker, taker, ...of }: Settled, index: number): Change[] {
    const first = index * 5 + 1
    const match: Match = {
      settlementId: `${market.market}:${first + 1}`,
      makerOrderId: maker.orderId,
      takerOrderId: taker.orderId,
      price: priceE18(of.price),
      amount: maker.desiredAmount,
      takerFee: quoteE18(of.takerFee),
    }
    const fill = aFill({
      ...match,
      txHash: of.txHash,
      blockNumber: of.blockNumber,
      takerSide: 'buy',
      tradeId: (first + 4) * 65_536 + market.ordinal,
      fee: match.takerFee,
    })
    const made = { ...fill, liquidity: 'maker' as const, fee: quoteE18(0n) }
    const placed = (order: Order, rank: number): ChangeFacts => ({
      kind: 'OrderPlaced',
      order,
      rank,
    })
    const amount = maker.desiredAmount / E18
    const filled = { filled: amount, status: 'filled' } as const
    return [
      aChange(first, maker, placed(maker, first), { open: amount }),
      aChange(first + 1, maker, { kind: 'OrderMatched', match }, { pending: amount }),
      aChange(first + 2, taker, placed(taker, first + 2), { pending: amount }),
      aChange(first + 3, maker, { kind: 'OrderFilled', fill: made }, filled),
      aChange(first + 4, taker, { kind: 'OrderFilled', fill }, filled),
    ]
  }

  async function audit({ fromBlock = 0n } = {}): Promise<AuditVerdict[]> {
    const history = openScratchHistory([market])
    try {
      const block = aBlock(market.market, settled.flatMap(changesOf))
      history.projection.applyBatch([{ streamSeq: 1, block }])
      const verdicts = createVerdicts()
      const client = createChainClient(world.anvil.rpcUrl, 'read')
      const newest = await readNewestBlock(client)
      const ledger = { pending: () => [] }
      const fold = { market, ledger, gaps: createRestoredGaps() } as unknown as MarketFold
      const scratch = openAuditScratch(history.db)
      const shared = { client, block: newest, newest, fromBlock, scratch, verdicts }
      await checkChain({ ...shared, journal: undefined, feesKept: true }, [fold])
      return verdicts.all()
    } finally {
      history.remove()
    }
  }

  const of = (verdicts: readonly AuditVerdict[], wanted: string) => {
    const verdict = verdicts.find(({ check }) => check === wanted)
    expect(verdict, wordVerdicts(verdicts)).not.to.equal(undefined)
    return { ...verdict, text: (verdict?.findings ?? []).join('; ') }
  }
  const failed = (verdicts: readonly AuditVerdict[]) =>
    verdicts.filter(({ result }) => result === 'failed').map(({ check }) => check)

  it('finds nothing wrong, at prices beside the mark and when that has moved since', async () => {
    await settle()
    await settle({ price: '0.00066' })
    await settle({ buyer: dealer, seller: long, price: '0.000649' })
    await setPrices(world, { index: '0.0006500001' })
    const verdicts = await audit()
    expect(failed(verdicts), wordVerdicts(verdicts)).to.deep.equal([])
    expect(verdicts.map(({ check }) => check)).to.deep.equal([
      ...['settlements', 'filled', 'positions', 'fees'],
    ])
    expect(of(verdicts, 'positions').detail).to.equal('2 accounts as their fills say')
    expect(of(verdicts, 'settlements').detail).to.match(/^3 fills on the chain up to block \d+$/)
  })

  it('names what the auction moved, and finds nothing wrong with it', async () => {
    await settle()
    await setPrices(world, { index: '0.00047' })
    await perform(world, auctionCall(world, 'startAuction', long))
    const bidder = await openPerpAccount(world, world.alice, { cash: 1_000 })
    await perform(world, await bidCall(world, { bidder, account: long, cash: e18('500') }))
    const verdicts = await audit()
    expect(failed(verdicts), wordVerdicts(verdicts)).to.deep.equal([])
    expect(of(verdicts, 'positions').detail).to.equal(
      '2 accounts as their fills say, 1 moved by auction',
    )
  })

  it('counts what an account held before its first fill as its opening position', async () => {
    await settle({ isForeign: true })
    const { number } = await readNewestBlock(createChainClient(world.anvil.rpcUrl, 'read'))
    await settle()
    const later = await audit({ fromBlock: number + 1n })
    expect(of(later, 'positions').result, wordVerdicts(later)).to.equal('ok')
    const { detail } = of(later, 'positions')
    expect(detail).to.equal('2 accounts as their fills say, 2 moved by an opening position')
  })

  it('sees a position that moved without a fill of the venue', async () => {
    await settle()
    await settle({ isForeign: true })
    const verdicts = await audit()
    expect(failed(verdicts)).to.include.members(['positions', 'settlements'])
    expect(of(verdicts, 'positions').text).to.match(
      /account \d+: its position moved by 10{23} in 0x[0-9a-f]{64}, which is not a fill of ours/,
    )
  })

  it('sees a fill at another price than the match', async () => {
    await settle()
    settled = settled.map((one) => ({ ...one, price: e18('0.000651') }))
    const verdicts = await audit()
    expect(failed(verdicts)).to.deep.equal(['settlements'])
    expect(of(verdicts, 'settlements').text).to.match(
      /^cNGN-PERP:2: the chain moved 0 of quote in 0x\w+, its price says 10{17} or 10{17}$/,
    )
  })

  it('sees a fee that the chain did not charge', async () => {
    await settle()
    settled = settled.map((one) => ({ ...one, takerFee: FEE + 1n }))
    expect(failed(await audit())).to.deep.equal(['fees'])
  })

  it('sees an order that the chain counts otherwise', async () => {
    await settle()
    settled = settled.map((one) => ({ ...one, taker: { ...one.taker, nonce: 77n } }))
    const verdicts = await audit()
    expect(failed(verdicts)).to.deep.equal(['filled'])
    expect(of(verdicts, 'filled').text).to.match(/the chain counts 0 as filled/)
  })
})
