import { expect } from 'chai'
import {
  decodeOrderFactsQuestion,
  encodeOrderFactsAnswer,
  type OrderFactsQuestion,
} from '../../bus-schemas/account-facts.js'
import { askOrderFacts } from '../../bus-schemas/subjects.js'
import { assert } from '../../core/assert.js'
import type { Block, Change } from '../../core/model/change.js'
import { amountE18, E18 } from '../../core/money.js'
import type { OrderFacts, PendingMatch } from '../../core/records/order-record.js'
import { feedOf } from '../support/market-feed.js'
import { aMarket } from '../support/builders.js'
import type { MarketAct } from '../support/market-commands.js'
import {
  aHistoryGateway,
  authHeader,
  frameOwner,
  NOW_MS,
  type HistoryGateway,
} from './stage/history-gateway.js'
import type { Explanation, OwnAccount } from '../../interface/explanation.js'

const MARKET = aMarket()

const place = (over: Partial<Extract<MarketAct, { act: 'place' }>> = {}): MarketAct => ({
  act: 'place',
  buy: true,
  price: 100,
  size: 10,
  trader: 1,
  livesSec: 3_600,
  unchecked: false,
  ...over,
})
/** The ids of the orders of a feed, and where they are explained. */
const idOf = (number: number): string => `${MARKET.market}/o${number}`
const pathOf = (number: number): string => `/v1/orders/${encodeURIComponent(idOf(number))}/explain`
const settle = (outcome: 'success' | 'both'): MarketAct => ({ act: 'settle', pick: 0, outcome })

const HASH = `0x${'7e'.repeat(32)}` as const
/** The block with transactions as the chain names them. */
const withHash = (block: Block): Block => ({
  ...block,
  changes: block.changes.map((change) =>
    change.kind === 'OrderFilled' ? { ...change, fill: { ...change.fill, txHash: HASH } } : change,
  ),
})

/** The block with every order the frame owner's. */
const asOfFrameOwner = (block: Block): Block => ({
  ...block,
  changes: block.changes.map((change) =>
    change.kind === 'OrderPlaced'
      ? { ...change, owner: frameOwner, order: { ...change.order, owner: frameOwner } }
      : { ...change, owner: frameOwner },
  ),
})

describe('GET /v1/orders/{order_id}/explain', () => {
  let gateway: HistoryGateway
  beforeEach(async () => (gateway = await aHistoryGateway({ nowMs: () => NOW_MS })))
  afterEach(() => gateway.close())

  /** What became of an order of these acts, which needs no frame. */
  async function explained(acts: readonly MarketAct[], number = 1): Promise<Explanation> {
    gateway.project(feedOf(MARKET, acts).map(withHash))
    const { status, json } = await gateway.get(pathOf(number))
    expect(status).to.equal(200)
    return json as unknown as Explanation
  }
  const codes = ({ life }: Explanation) => life.map(({ code, reason }) => [code, reason])

  it('says what was placed, and that it was reduced', async () => {
    const blocks = feedOf(MARKET, [place({ size: 10 })])
    const [placed] = blocks
    assert(placed !== undefined, 'an order was placed')
    const reduced = placed.changes.map((change): Change => ({
      ...change,
      kind: 'OrderResized',
      seq: change.seq + 1,
      desired: amountE18(4n * E18),
      open: amountE18(4n * E18),
      openDelta: -6n * E18,
    }))
    gateway.project([placed, { ...placed, firstSeq: 2, changes: reduced }])
    const told = (await gateway.get(pathOf(1))).json as unknown as Explanation
    expect(told.life.map(({ code, text, size }) => [code, text, size])).to.deep.equal([
      ['placed', 'Placed: buy 10 cNGN at 1 USDC per cNGN.', undefined],
      ['reduced', 'Reduced since to 4 cNGN in all.', '4'],
    ])
  })

  it('says what was placed, matched and settled, with the match and the transaction', async () => {
    const told = await explained([
      ...[place({ size: 10 }), place({ buy: false, size: 4, trader: 2 })],
      ...[settle('success'), place({ buy: false, size: 2, trader: 2 })],
    ])
    expect(told).to.deep.include({
      order_id: idOf(1),
      market: MARKET.market,
      status: 'active',
      code: 'open',
      text: 'The order is open in the book.',
      life_complete: true,
    })
    const [placed, filled, pending] = told.life
    expect(placed?.text).to.equal('Placed: buy 10 cNGN at 1 USDC per cNGN.')
    expect(filled).to.deep.include({
      code: 'filled',
      counterpart_order_id: idOf(2),
      liquidity: 'maker',
      price: '1',
      size: '4',
      tx_hash: HASH,
      block_number: 1,
    })
    expect(filled?.settlement_id).to.match(/^cNGN-USDC:\d+$/)
    expect(filled?.text).to.match(
      /^Filled as maker: 4 cNGN at 1 USDC per cNGN, matched with cNGN-USDC\/o2, /,
    )
    expect(pending).to.deep.equal({
      code: 'matching',
      size: '2',
      text: '2 cNGN of it are matched and await settlement on the chain.',
    })
  })

  it('says what the chain refused, why the order is held since, and what ends that', async () => {
    const told = await explained([...[place(), place({ buy: false, trader: 2 }), settle('both')]])
    expect(told).to.include({ status: 'active', code: 'settlement_refused' })
    expect(told.ends).to.match(/^It returns after 30 seconds\./)
    const refused = told.life.find(({ code }) => code === 'match_refused')
    expect(refused).to.include({ reason: 'settlement_refused', revert: 'TM_PriceTooLow' })
    expect(refused?.text).to.match(
      /^The chain refused the match cNGN-USDC:\d+: TM_PriceTooLow\. The order is held: /,
    )
  })

  it('shows as settled a match that settles while the chain is asked', async () => {
    const acts = [place(), place({ buy: false, trader: 2 }), settle('success')]
    const blocks = feedOf(MARKET, acts).map(withHash)
    let settlesNow = (): void => undefined
    const chainMarkets = {
      readMarket: () => {
        settlesNow()
        return Promise.resolve(undefined)
      },
    }
    const other = await aHistoryGateway({ nowMs: () => NOW_MS, chainMarkets })
    try {
      other.project(blocks.slice(0, -1))
      settlesNow = () => other.project(blocks.slice(-1))
      const told = (await other.get(pathOf(1))).json as unknown as Explanation
      expect(told.status).to.equal('filled')
      expect(codes(told).map(([code]) => code)).to.deep.equal(['placed', 'filled'])
    } finally {
      await other.close()
    }
  })

  it('says how a hold began and ended, and what cancelled the order', async () => {
    const acts: MarketAct[] = [
      place({ unchecked: true }),
      { act: 'signature', pick: 0, valid: true },
      { act: 'cancel', pick: 0 },
    ]
    const told = await explained(acts)
    expect(told).to.include({ status: 'cancelled', code: 'unspecified' })
    expect(codes(told)).to.deep.equal([
      ['placed', undefined],
      ['held', 'signature_unchecked'],
      ['released', undefined],
      ['cancelled', 'unspecified'],
    ])
  })

  it('says when an order met its own, and when it expired', async () => {
    const told = await explained([place(), place({ buy: false })], 2)
    expect(told).to.include({ status: 'cancelled', code: 'self_trade' })
    expect(codes(told).at(-1)).to.deep.equal(['cancelled', 'self_trade'])
    const other = await aHistoryGateway()
    other.project(feedOf(MARKET, [place({ livesSec: 60 }), { act: 'wait', sec: 100 }]))
    const { json } = await other.get(pathOf(1))
    expect(json).to.include({ status: 'expired', code: 'expired' })
    await other.close()
  })

  it('keeps the newest hundred events, and says that there were more (ORD-082)', async () => {
    // An order that is wholly in settlement is held while its signature does not hold, and released again.
    const rounds = Array.from({ length: 60 }, (): MarketAct[] => [
      { act: 'signature', pick: 0, valid: false },
      { act: 'signature', pick: 0, valid: true },
    ])
    const told = await explained([place(), place({ buy: false, trader: 2 }), ...rounds.flat()])
    expect(told.life_complete).to.equal(false)
    expect(codes(told).filter(([code]) => code === 'held' || code === 'released')).to.have.length(
      100,
    )
  })

  describe('what the fan-out knows', () => {
    const held: OwnAccount = { subaccount_id: '1', needs: [] }
    const match: PendingMatch = {
      settlement_id: 'cNGN-USDC:2',
      at: '2026-11-21T10:00:00.000Z',
      liquidity: 'maker',
      price: '1',
      size: '2',
    }
    let asked: OrderFactsQuestion[]
    let facts: OrderFacts
    beforeEach(() => {
      asked = []
      facts = { matches: [match], account: held }
    })

    /** An order of the frame's owner of which 2 of 10 are matched. */
    async function matched(frame?: string): Promise<Explanation> {
      await gateway.bus.answer(askOrderFacts, 'ws-fanout', (data, replyTo) => {
        const question = decodeOrderFactsQuestion(data)
        asked.push(question)
        const { account, ...everyones } = facts
        const answer = question.rest === undefined ? everyones : { ...everyones, account }
        gateway.bus.reply(replyTo, encodeOrderFactsAnswer({ body: JSON.stringify(answer) }))
      })
      const acts = [place({ size: 10 }), place({ buy: false, size: 2, trader: 2 })]
      gateway.project(feedOf(MARKET, acts).map(asOfFrameOwner))
      const { status, json } = await gateway.get(pathOf(1), frame)
      expect(status).to.equal(200)
      return json as unknown as Explanation
    }

    it('names the matches that await settlement, for everyone', async () => {
      const told = await matched()
      const text =
        'Matched as maker: 2 cNGN at 1 USDC per cNGN. The match cNGN-USDC:2 awaits settlement on the chain.'
      expect(told.life.at(-1)).to.deep.equal({ code: 'matching', text, ...match })
      expect(told).not.to.have.property('account')
      expect(told.links).to.deep.equal({
        order: `/v1/orders/${encodeURIComponent(idOf(1))}`,
        codes: '/docs/codes',
      })
      expect(asked.map(({ rest }) => rest)).to.deep.equal([undefined])
    })

    it('shows its owner the account, and asks for what is not matched', async () => {
      const told = await matched(await authHeader())
      expect(told.account).to.deep.equal(held)
      const { subaccountId } = asked[0]?.rest ?? {}
      expect(told.links).to.include({
        balances: `/v1/balances?subaccount_id=${subaccountId}`,
        fills: '/v1/fills',
      })
      expect(asked[0]?.rest).to.include({ side: 'buy', amount: 8n * E18 })
      expect(asked[0]?.owner).to.equal(frameOwner)
    })

    it('adds nothing for the frame of another owner, and refuses a frame that does not hold (ORD-083)', async () => {
      const told = await matched(await authHeader({}, { privateKey: `0x${'42'.repeat(32)}` }))
      expect(told).not.to.have.property('account')
      expect(told.links).not.to.have.property('balances')
      expect(asked.map(({ rest }) => rest)).to.deep.equal([undefined])
      const { status, json, headers } = await gateway.get(pathOf(1), 'e30')
      expect([status, json.code]).to.deep.equal([401, 'auth_failed'])
      expect(headers['cache-control']).to.equal('no-store')
    })

    it('lists a match once that the read model shows as settled already', async () => {
      facts = { ...facts, matches: [match, { ...match, settlement_id: 'cNGN-USDC:5' }] }
      const before = [place({ size: 10 }), place({ buy: false, size: 2, trader: 2 })]
      const acts = [...before, settle('success'), place({ buy: false, size: 2, trader: 2 })]
      await matched()
      const other = await aHistoryGateway()
      await other.bus.answer(askOrderFacts, 'ws-fanout', (_, replyTo) =>
        other.bus.reply(replyTo, encodeOrderFactsAnswer({ body: JSON.stringify(facts) })),
      )
      other.project(feedOf(MARKET, acts).map(withHash))
      const { json } = await other.get(pathOf(1))
      const { life } = json as unknown as Explanation
      const settlements = life.flatMap(({ settlement_id }) => settlement_id ?? [])
      expect(new Set(settlements).size).to.equal(settlements.length)
      expect(life.map(({ code }) => code)).to.deep.equal(['placed', 'filled', 'matching'])
      await other.close()
    })
  })

  it('is 404 for an order that was never taken', async () => {
    const { status, json } = await gateway.get('/v1/orders/none/explain')
    expect([status, json.error]).to.deep.equal([404, 'order not found'])
  })
})
