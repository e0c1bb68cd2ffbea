import { expect } from 'chai'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Market } from '../../core/model/market.js'
import type { SettlementTerms, ChainVerdict } from '../../executor/settlement.js'
import { watchFaults, type FaultWatch } from '../../executor/watch-faults.js'
import { allow, AT, CHAIN_ID, setExecutors, type ChainState } from '../sim/chain-state.js'
import { createChain, type SimulatedChain } from '../sim/chain.js'
import { planMarkets } from '../sim/markets.js'
import { createRandom } from '../sim/random.js'
import { createWorld } from '../sim/world.js'
import { aMarket } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { clientOf } from '../support/simulated-node.js'

const sender = createTransactionSigner(`0x${'e7'.repeat(32)}`, CHAIN_ID).address
const EVERY_MS = 1
const HEAD = { blockHash: '0x01', count: 3 } as const
const EXPIRY_SEC = 1_800_000_000
const SPOT = 'cNGN-USDC'
const FUTURE = planMarkets({ kinds: ['future'], expirySec: EXPIRY_SEC }).markets[0]!.market
const REVERTS = (revert: string): ChainVerdict => ({ kind: 'reverts', revert })
const NOWHERE = `0x${'99'.repeat(20)}` as const

/** A settlement that is told by its call. */
const terms = (call: `0x${string}`): SettlementTerms => ({ call, accountIds: [], match: undefined })

/** Both managers are one, as where a future is listed beside spot. */
describe('what the executor looks for beside the orders', () => {
  let chain: SimulatedChain
  let watch: FaultWatch
  let markets: Market[]
  let found: [market: string, revert: string, why: string | undefined][]
  let gone: string[]
  let fatal: unknown[]
  let asked: string[]
  let looks: number
  let verdict: ChainVerdict
  let onRequest: (method: string) => void

  beforeEach(() => {
    ;[found, gone, fatal, asked, looks] = [[], [], [], [], 0]
    verdict = { kind: 'passes', gas: 1n }
    onRequest = () => undefined
    markets = [...planMarkets({ kinds: ['spot', 'future'], expirySec: EXPIRY_SEC }).markets]
    chain = createChain({
      world: createWorld(),
      random: createRandom(1),
      sender,
      matchGas: 1n,
      genesis: (state) => {
        const prices = { mark: 1n, index: 1n, isStale: false, pool: 0n }
        state.future = { ...prices, expirySec: EXPIRY_SEC }
        allow(state, AT.batchExecutor, sender)
        allow(state, AT.matching, AT.batchExecutor)
      },
    })
  })
  afterEach(() => watch.stop())

  async function open(): Promise<void> {
    watch = await watchFaults({
      markets,
      sender,
      everyMs: EVERY_MS,
      client: clientOf(chain, (method) => {
        looks += 1
        onRequest(method)
      }),
      deployment: {
        matching: AT.matching,
        subAccounts: AT.subAccounts,
        batchExecutor: AT.batchExecutor,
      },
      packer: {
        simulate: (head, matches, ahead) => {
          expect([head, ahead]).to.deep.equal([HEAD, []])
          asked.push(...matches.map(({ call }) => call))
          return Promise.resolve({ aheadPassed: true, verdicts: [verdict] })
        },
      },
      readHead: () => Promise.resolve(HEAD),
      facts: {
        faultFound: (...told) => void found.push(told),
        faultGone: (market) => void gone.push(market),
      },
      onFatal: (error) => void fatal.push(error),
    })
  }

  function happen(change: (state: ChainState) => void): void {
    chain.happen(change)
    chain.mine()
  }
  const standing = () => watch.standing() && Object.fromEntries(watch.standing() ?? [])
  const standsAt = (faults: object | undefined) =>
    eventually(() => expect(standing()).to.deep.equal(faults))
  /** So many more looks at the chain begin. */
  async function moreLooks(count = 40): Promise<void> {
    const from = looks
    await eventually(() => looks >= from + count)
  }

  it('is nothing where all is well', async () => {
    await open()
    expect(standing()).to.deep.equal({})
    await moreLooks()
    expect(standing()).to.deep.equal({})
    expect(watch.trouble()).to.equal(undefined)
    expect([found, gone, fatal, asked]).to.deep.equal([[], [], [], []])
  })

  it('is the pause of a manager, of which each market is told once, until it ends', async () => {
    await open()
    happen((state) => void state.paused.add(AT.manager))
    const paused = 'BM_AdjustmentsPaused'
    await standsAt({ [SPOT]: paused, [FUTURE]: paused })
    await moreLooks()
    const why = `manager ${AT.manager} is paused`
    expect(found).to.deep.equal([
      [SPOT, paused, why],
      [FUTURE, paused, why],
    ])
    expect([watch.trouble(), gone]).to.deep.equal([undefined, []])
    happen((state) => void state.paused.delete(AT.manager))
    await standsAt({})
    await moreLooks()
    expect(gone).to.deep.equal([SPOT, FUTURE])
  })

  it('is the right to settle, before what concerns one market, and holds up all', async () => {
    markets[0] = { ...markets[0]!, tradeModuleAddress: NOWHERE }
    await open()
    expect(standing()).to.deep.equal({ [SPOT]: 'wrong_wiring' })
    expect(found).to.deep.equal([[SPOT, 'wrong_wiring', `no contract at trade module ${NOWHERE}`]])
    happen((state) => setExecutors(state, false))
    const revert = 'M_OnlyTradeExecutor'
    await standsAt({ [SPOT]: revert, [FUTURE]: revert })
    const why = `${AT.batchExecutor} is not a trade executor of ${AT.matching}: allow it there`
    expect(watch.trouble()).to.equal(why)
    expect(found.slice(1)).to.deep.equal([
      [SPOT, revert, why],
      [FUTURE, revert, why],
    ])
    happen((state) => setExecutors(state, true))
    await standsAt({ [SPOT]: 'wrong_wiring' })
    expect([watch.trouble(), gone]).to.deep.equal([undefined, [FUTURE]])
  })

  it('is the wiring of a market, read once, also of one that is added', async () => {
    await open()
    markets.push({ ...aMarket(), market: 'ADDED', tradeModuleAddress: NOWHERE })
    await standsAt({ ADDED: 'wrong_wiring' })
    let codes = 0
    onRequest = (method) => void (codes += method === 'eth_getCode' ? 1 : 0)
    await moreLooks()
    expect(codes).to.equal(0)
  })

  it('is nothing of a market that is not settled here', async () => {
    const type = { contractType: 'deliverable_fx_future', settlementType: 'physical_delivery' }
    markets.push({ ...aMarket(), ...type, market: 'DELIVERED' } as Market)
    await open()
    expect(standing()).to.deep.equal({})
  })

  it('is what a match has met, for as long as the same match meets it', async () => {
    await open()
    verdict = REVERTS('NotEnoughSubIdOrAssetAllowances')
    watch.refused(SPOT, terms('0xaa'), 'NotEnoughSubIdOrAssetAllowances')
    await standsAt({ [SPOT]: 'NotEnoughSubIdOrAssetAllowances' })
    expect(found).to.deep.equal([[SPOT, 'NotEnoughSubIdOrAssetAllowances', undefined]])
    // A node that gives too little gas says nothing new.
    verdict = { kind: 'untried' }
    await moreLooks()
    expect(standing()).to.deep.equal({ [SPOT]: 'NotEnoughSubIdOrAssetAllowances' })
    verdict = { kind: 'passes', gas: 1n }
    await standsAt({})
    const before = asked.length
    await moreLooks()
    expect([asked.length, gone]).to.deep.equal([before, [SPOT]])
    expect(new Set(asked)).to.deep.equal(new Set(['0xaa']))
  })

  it('is no longer what the match has met once it meets another', async () => {
    await open()
    verdict = REVERTS('TM_FillLimitCrossed')
    watch.refused(FUTURE, terms('0xaa'), 'BLF_DataTooOld')
    await eventually(() => asked.length > 0)
    await moreLooks()
    expect(standing()).to.deep.equal({})
    expect(asked).to.deep.equal(['0xaa'])
  })

  it('is asked with the newest match, under the name that the public reads', async () => {
    await open()
    const stored = 'unknown revert 0x12345678'
    verdict = REVERTS(stored)
    watch.refused(SPOT, terms('0xaa'), stored)
    watch.refused(SPOT, terms('0xbb'), stored)
    await standsAt({ [SPOT]: 'UnknownRevert' })
    expect(new Set(asked)).to.deep.equal(new Set(['0xbb']))
  })

  it('is not the fault of one price, nor of a market that is not known', async () => {
    await open()
    verdict = REVERTS('FT_OutsideFillBand')
    watch.refused(FUTURE, terms('0xaa'), 'FT_OutsideFillBand')
    await moreLooks()
    expect([standing(), asked]).to.deep.equal([{}, []])
    watch.refused('elsewhere', terms('0xbb'), 'BLF_DataTooOld')
    await moreLooks()
    expect(asked).to.deep.equal([])
  })

  it('does not ask a match where the chain shows a fault already', async () => {
    await open()
    happen((state) => void state.paused.add(AT.manager))
    await standsAt({ [SPOT]: 'BM_AdjustmentsPaused', [FUTURE]: 'BM_AdjustmentsPaused' })
    watch.refused(SPOT, terms('0xaa'), 'BLF_DataTooOld')
    await moreLooks()
    expect(asked).to.deep.equal([])
  })

  it('is unknown while the chain does not answer, and known again afterwards', async () => {
    await open()
    happen((state) => void state.paused.add(AT.manager))
    await eventually(() => found.length === 2)
    onRequest = () => {
      throw new Error('down')
    }
    await standsAt(undefined)
    onRequest = () => undefined
    await standsAt({ [SPOT]: 'BM_AdjustmentsPaused', [FUTURE]: 'BM_AdjustmentsPaused' })
    expect(fatal).to.deep.equal([])
  })

  it('ends the process with any other failure', async () => {
    await open()
    Object.defineProperty(markets, 'filter', {
      value: () => {
        throw new RangeError('broken')
      },
    })
    await eventually(() => fatal.length > 0)
    expect(fatal[0]).to.be.instanceOf(RangeError)
  })

  it('looks no more once it is stopped', async () => {
    await open()
    await watch.stop()
    const before = looks
    await new Promise((resolve) => setTimeout(resolve, 20 * EVERY_MS))
    expect(looks).to.equal(before)
  })
})
