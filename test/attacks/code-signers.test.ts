import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { VenueRefused, type OrderRecord } from '../../client/index.js'
import type { Address, Hex } from '../../core/action.js'
import { TRIALS_MAX, UNGROWN_ORDERS_MAX, WINDOW_CLOSED_MS } from '../../core/model/limits.js'
import { ANVIL_KEY } from '../support/anvil.js'
import { eventually, onThisMachine } from '../support/eventually.js'
import { compileWallets, deployWallet } from '../support/test-wallets.js'
import { openCodeStage, type CodeStage, type Party } from './code-traders.js'

const SAYS_YES = '631626ba7e60e01b60005260206000f3'
/**
 * Says yes at a price of 0 and to a sender with more than 900 ether, as in calls and simulations, where the venue's sender is
 * given them, and burns all its gas in a block.
 */
const BURNS_IN_A_BLOCK: Hex = `0x3a156830ca024f987b90000032311117601457fe5b${SAYS_YES}`
/** The same, but stops without an answer. */
const REFUSES_IN_A_BLOCK: Hex = `0x3a156830ca024f987b90000032311117601457005b${SAYS_YES}`
/** Says yes with less gas than in a simulation, as when the venue takes the order, and no with more. */
const REFUSES_MATCHES: Hex = `0x620927c05a10600a57005b${SAYS_YES}`

/** What a lost match of one maker costs at most: its simulated gas, a quarter more, and its transaction. */
const LOST_GAS_MAX = 900_000
const SMALLEST = '0.000001'
/** Of a second each, until an honest trade is settled. */
const BLOCKS_OF_A_TRADE = 10
/** Its fee is many times its gas. */
const PAYING = { price: '0.0021', amount: '10000000' } as const
const TERMS = { price: '0.0020', amount: '10' } as const

describe('signers that are code', function () {
  let stage: CodeStage
  /** Honest traders with plain keys. */
  let makers: readonly Party[]
  let taker: Party

  before(async () => {
    stage = await openCodeStage()
    makers = [0, 2, 3].map(stage.plain)
    taker = stage.plain(4)
  })
  afterEach(() => stage.cancelAll())
  after(() => stage?.stop())

  /** Honest asks, taken in turn from the makers. */
  async function quote(count: number, amount: string): Promise<OrderRecord[]> {
    const asks: OrderRecord[] = []
    for (let i = 0; i < count; i += 1) {
      const maker = makers[i % makers.length] as Party
      asks.push(await stage.place(maker, { ...TERMS, side: 'sell', amount }))
    }
    return asks
  }

  /** All are in the book or filled, once what they are in flight with is settled. */
  async function expectUnharmed(asks: readonly OrderRecord[]): Promise<void> {
    for (const ask of asks) {
      await eventually(async () => {
        const { status, held_reason: held } = await stage.record(ask)
        expect([status === 'active' || status === 'filled', held]).to.deep.equal([true, undefined])
      })
    }
  }

  /** Blocks until an honest trade is settled. */
  async function blocksOfTrade(): Promise<number> {
    const placedIn = await stage.chain.getBlockNumber()
    const order = await stage.place(taker, { ...TERMS, side: 'buy' })
    return Number((await stage.filledIn(order)).block - placedIn)
  }

  it('lose one match, the next after ten seconds, and none in the half minute behind it', async () => {
    const attacker = await stage.keyedBy(1, BURNS_IN_A_BLOCK)
    const asks = await quote(6, '20')
    const from = await stage.chain.getBlockNumber()
    const tiny = { ...TERMS, side: 'buy', amount: SMALLEST } as const
    await stage.placeSoon(attacker, tiny)
    for (let i = 1; i < UNGROWN_ORDERS_MAX; i += 1) await stage.place(attacker, tiny)
    const surplus = await stage.place(attacker, tiny).catch((error: unknown) => error)
    expect(surplus).to.be.instanceOf(VenueRefused)
    expect((surplus as VenueRefused).code).to.equal('signer_order_limit')
    const lostTimes = async (times: number) => (await stage.lostSince(from)).length >= times
    await eventually(() => lostTimes(1))
    expect(await blocksOfTrade()).to.be.at.most(onThisMachine(BLOCKS_OF_A_TRADE))

    await eventually(() => lostTimes(2))
    const [first, second] = await stage.lostSince(from)
    const apartMs = ((second?.atSec ?? 0) - (first?.atSec ?? 0)) * 1_000
    expect(apartMs).to.be.at.least(WINDOW_CLOSED_MS - 1_000)
    expect(await blocksOfTrade()).to.be.at.most(onThisMachine(BLOCKS_OF_A_TRADE))
    const until = (second?.block ?? 0n) + 25n
    await eventually(async () => (await stage.chain.getBlockNumber()) >= until)
    const lost = await stage.lostSince(from)
    const soon = (second?.atSec ?? 0) + 30
    expect(lost.filter(({ atSec }) => atSec < soon)).to.have.length(2)
    for (const { gas } of lost) expect(gas).to.be.lessThan(LOST_GAS_MAX)
    await expectUnharmed(asks)
  })

  it('refuse in simulations, and leave what they cross to honest takers', async () => {
    const [attacker] = await stage.walletsOf([await stage.contractOf(REFUSES_MATCHES)])
    const asks = await quote(8, TERMS.amount)
    const sweep = { ...TERMS, side: 'buy', amount: '10000', timeInForce: 'IOC' } as const
    const startedMs = Date.now()
    let [attacks, going] = [0, true]
    const attack = async (): Promise<void> => {
      while (going) {
        await stage.place(attacker as Party, sweep)
        attacks += 1
      }
    }
    const attacking = attack()
    try {
      await eventually(() => attacks > 2)
      for (let i = 0; i < 4; i += 1) {
        const order = await stage.place(taker, { ...TERMS, side: 'buy', timeInForce: 'IOC' })
        expect((await stage.until(order, 'filled')).filled_amount).to.equal(TERMS.amount)
      }
    } finally {
      going = false
      await attacking
    }
    const lives = await Promise.all(asks.map(async (ask) => (await stage.explain(ask)).life))
    const refused = lives.flat().filter(({ code }) => code === 'match_refused')
    expect(refused.length).to.be.at.least(1)
    const closings = Math.floor((Date.now() - startedMs) / WINDOW_CLOSED_MS)
    expect(refused.length).to.be.at.most(1 + closings)
    await expectUnharmed(asks)
  })

  it('have eight matches in flight together, however many owners there are (COD-004)', async () => {
    const addresses = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        stage.contractOf(i % 2 === 0 ? BURNS_IN_A_BLOCK : REFUSES_IN_A_BLOCK),
      ),
    )
    const sybils = await stage.walletsOf(addresses)
    const asks = await quote(16, TERMS.amount)
    const from = await stage.chain.getBlockNumber()
    await stage.betweenBlocks(async () => {
      const hostile: OrderRecord[] = []
      for (const each of sybils) hostile.push(await stage.place(each, { ...TERMS, side: 'buy' }))
      const inFlight = async () => {
        const records = await Promise.all(hostile.map(stage.record))
        return records.filter(({ pending_amount: pending }) => pending !== '0').length
      }
      expect(await inFlight()).to.equal(TRIALS_MAX)
      await eventually(async () => (await stage.waiting()) === TRIALS_MAX)
      const order = await stage.place(taker, { ...TERMS, side: 'buy' })
      await eventually(async () => (await stage.waiting()) === TRIALS_MAX + 1)
      expect(await inFlight()).to.equal(TRIALS_MAX)
      await stage.chain.mine({ blocks: 1 })
      expect((await stage.filledIn(order)).block).to.equal(await stage.chain.getBlockNumber())
    })
    const mined = await stage.minedSince(from)
    const lost = mined.filter(({ succeeded, block }) => !succeeded && block === mined[0]?.block)
    expect(lost).to.have.length(TRIALS_MAX)
    for (const { gas } of lost) expect(gas).to.be.lessThan(LOST_GAS_MAX)
    await expectUnharmed(asks)
  })

  it('grow with what an honest wallet has paid: one fill alone, then five at once', async () => {
    const wallet = await safeLike()
    const trade = async () => {
      const ask = await stage.place(wallet, { ...PAYING, side: 'sell' })
      return [ask, await stage.place(taker, { ...PAYING, side: 'buy' })] as const
    }
    const firsts = await stage.betweenBlocks(async () => {
      const orders = [...(await trade()), ...(await trade())]
      const records = await Promise.all(orders.map(stage.record))
      const pending = records.map(({ pending_amount: amount }) => amount)
      expect(pending).to.deep.equal([PAYING.amount, PAYING.amount, '0', '0'])
      expect(records[2]?.held_reason).to.equal('signer_waits')
      return orders
    })
    for (const order of firsts) await stage.until(order, 'filled')
    const later = await stage.betweenBlocks(async () => {
      const orders = (await Promise.all(Array.from({ length: 5 }, trade))).flat()
      for (const record of await Promise.all(orders.map(stage.record))) {
        expect([record.pending_amount, record.held_reason]).to.deep.equal([
          PAYING.amount,
          undefined,
        ])
      }
      return orders
    })
    for (const order of later) await stage.until(order, 'filled')
  })

  /** A proxy whose code asks a handler, which asks it back for its owner's signature. */
  async function safeLike(): Promise<Party> {
    const { chain } = stage
    const owner = privateKeyToAccount(ANVIL_KEY)
    await chain.setBalance({ address: owner.address, value: 10n ** 20n })
    const { SafeLikeSingleton, SafeLikeHandler, SafeLikeProxy } = await compileWallets()
    const parts: Address[] = []
    for (const part of [SafeLikeSingleton, SafeLikeHandler])
      parts.push(await deployWallet(chain, part))
    const proxy = await deployWallet(chain, SafeLikeProxy, ...parts, owner.address)
    const [wallet] = await stage.walletsOf([proxy], (action) => owner.signTypedData(action))
    return wallet as Party
  }
})
