import { expect } from 'chai'
import { commandMessages } from '../../../bus-schemas/commands.js'
import { encodeIndexLagQuestion } from '../../../bus-schemas/reports.js'
import type { Address } from '../../../core/action.js'
import {
  hidePerpetual,
  hidePerpetualAccount,
  type PerpetualAccount,
  type PerpetualFacts,
} from '../../../core/contracts/perpetual-facts.js'
import { askIndexLag, commandsStream } from '../../../bus-schemas/subjects.js'
import { priceE18 } from '../../../core/money.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { aPerp } from '../../support/builders.js'
import { startFakeMatcher, type FakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../../support/intake-stage.js'
import { e18, perpetualAccount, perpetualFacts } from '../../support/perpetual.js'

describe('order intake of a perpetual', () => {
  const market = aPerp()
  let stage: IntakeStage
  let bus: MemoryBus
  let matcher: FakeMatcher
  let intake: RunningProcess

  beforeEach(async () => {
    stage = anIntakeStage()
    bus = createMemoryBus()
    intake = await stage.start(bus, { markets: [market] })
    matcher = await startFakeMatcher(bus, market.market, commandMessages(market).decode)
    stage.chain.manager = market.marginManagerAddress
    shows({})
    has({})
  })

  afterEach(async () => {
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  function shows(facts: Partial<PerpetualFacts>): void {
    stage.chain.observed = {
      facts: hidePerpetual(perpetualFacts(facts)),
      blockNumber: 9n,
      blockTimeSec: 10,
      readAtMs: 10_000,
    }
  }
  function has(account: Partial<PerpetualAccount>): void {
    stage.chain.funds = {
      facts: hidePerpetualAccount(perpetualAccount(account)),
      subaccountId: 7n,
      leaving: false,
      blockNumber: 9n,
      blockTimeSec: 10,
    }
  }
  /** A purchase of a hundred at one, by default. */
  async function place(change: object = {}): Promise<string> {
    const body = await signedBody({ market, price: '1', amount: '100' })
    const answer = await ask(bus, 'place', { ...body, ...change })
    return answer.kind === 'order' ? 'placed' : `${answer.refusal.status} ${answer.refusal.code}`
  }

  it('puts the account beside an order that its margin carries', async () => {
    expect(await place()).to.equal('placed')
    expect(matcher.taken[0]?.command).to.deep.include({ account: stage.chain.funds })
  })

  it('refuses one that it does not carry, and takes a reduction at any margin (PER-012)', async () => {
    has({ cash: e18('10') })
    expect(await place()).to.equal('400 insufficient_margin')
    has({ cash: e18('-10'), position: e18('-100') })
    expect(await place()).to.equal('placed')
    expect(await place({ reduce_only: true })).to.equal('placed')
    expect(matcher.taken[1]?.command).to.have.nested.property('order.reduceOnly', true)
    has({ position: e18('100') })
    expect(await place({ reduce_only: true })).to.equal('400 reduce_only_same_side')
    has({})
    expect(await place({ reduce_only: true })).to.equal('400 reduce_only_no_position')
  })

  it('reads the account again before it refuses, because a block may have changed it (PER-013)', async () => {
    has({ position: e18('-100') })
    const newer = stage.chain.funds
    has({})
    expect(await place({ reduce_only: true })).to.equal('400 reduce_only_no_position')
    stage.chain.newerFunds = newer
    expect(await place({ reduce_only: true })).to.equal('placed')
    expect(matcher.taken[0]?.command).to.deep.include({ account: newer })
    has({ cash: 0n })
    stage.chain.newerFunds = stage.chain.funds
    has({ cash: e18('10') })
    expect(await place()).to.equal('400 insufficient_margin')
  })

  it('refuses while the market is paused, and an account of another manager before that (PER-009)', async () => {
    shows({ paused: true })
    expect(await place()).to.equal('400 trading_paused')
    const other: Address = `0x${'99'.repeat(20)}`
    stage.chain.manager = other
    expect(await place()).to.equal('400 subaccount_not_under_manager')
  })

  it('refuses while the venue takes no orders of the market, behind the account and before what the chain shows', async () => {
    await intake.stop()
    intake = await stage.start(bus, {
      markets: [market],
      readWiring: () => Promise.resolve('no contract at asset'),
    })
    has({ cash: 0n })
    expect(await place()).to.equal('400 trading_paused')
    stage.chain.observed = undefined
    expect(await place()).to.equal('400 trading_paused')
    stage.chain.manager = `0x${'99'.repeat(20)}`
    expect(await place()).to.equal('400 subaccount_not_under_manager')
  })

  it('places nothing while pause, margin or account cannot be read (PER-011)', async () => {
    stage.chain.observed = undefined
    expect(await place()).to.equal('500 market_unreadable')
    shows({ pricesStale: true })
    expect(await place()).to.equal('500 margin_unreadable')
    stage.chain.funds = undefined
    expect(await place({ reduce_only: true })).to.equal('500 position_unreadable')
    stage.chain.readable = false
    expect(await place()).to.equal('500 account_unreadable')
    // The opening of the market and the epoch marker.
    expect((await bus.streamState(commandsStream(market.market))).lastSeq).to.equal(2)
  })

  describe('with a limit of the lag of its index', () => {
    const report = async (usdcPerCngn: string, atMs = Date.now()) => {
      const sample = { atMs, usdcPerCngn: priceE18(e18(usdcPerCngn)), isOk: true }
      await bus.ask(askIndexLag, encodeIndexLagQuestion({ sample }), 1_000)
    }
    const restart = async (enforced: boolean) => {
      await intake.stop()
      const indexLimit = { enforced, maxBps: 100, maxAgeMs: 3_600_000 }
      intake = await stage.start(bus, { markets: [market], indexLimit })
    }

    it('refuses behind the pause, until a sample agrees with the index', async () => {
      await restart(true)
      shows({ paused: true })
      expect(await place()).to.equal('400 trading_paused')
      shows({})
      has({ cash: 0n })
      expect(await place()).to.equal('400 index_lag')
      expect(await place({ reduce_only: true })).to.equal('400 index_lag')
      await report('1.02')
      expect(await place()).to.equal('400 index_lag')
      await report('1.01')
      expect(await place()).to.equal('400 insufficient_margin')
      has({})
      expect(await place()).to.equal('placed')
      await report('1.02', 1_000)
      expect(await place(), 'an older sample').to.equal('placed')
    })

    it('cancels an order that rests (PER-019)', async () => {
      const resting = await signedBody({ market, price: '1', amount: '100' })
      expect(await ask(bus, 'place', resting)).to.have.property('kind', 'order')
      await restart(true)
      expect(await place()).to.equal('400 index_lag')
      const { owner_address, nonce } = resting
      expect(await ask(bus, 'cancel', { owner_address, nonce })).to.have.property('kind', 'order')
    })

    it('refuses nothing while it only watches', async () => {
      await restart(false)
      expect(await place()).to.equal('placed')
    })
  })

  it('refuses the words of the spot market, and the module of another (ORD-036, ORD-052)', async () => {
    const words = { order_entry_spec: 'cngn_usdc_spot_v1', ui_intent: { price: '1', size: '100' } }
    expect(await place(words)).to.equal('400 wrong_order_entry_spec')
    const elsewhere = aPerp({ tradeModuleAddress: `0x${'77'.repeat(20)}` })
    const body = await signedBody({ market: elsewhere, price: '1', amount: '100' })
    expect(await ask(bus, 'place', body)).to.have.nested.property('refusal.code', 'wrong_module')
  })
})
