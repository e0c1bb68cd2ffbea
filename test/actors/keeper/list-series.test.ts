import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createListing,
  seriesOrders,
  type SeriesListing,
} from '../../../actors/keeper/list-series.js'
import {
  decodeMarketRequest,
  encodeMarketAnswer,
  type MarketAnswer,
} from '../../../bus-schemas/markets.js'
import { askMarket } from '../../../bus-schemas/subjects.js'
import { futureAssetAbi } from '../../../chain/abi/contracts.js'
import { selectorsOf } from '../../../chain/abi/selectors.js'
import type { Address } from '../../../core/action.js'
import { armCrashPoints, type CrashPoint } from '../../../core/crash-point.js'
import { termsOf } from '../../../core/engine/apply-market.js'
import { emptyMatcherState } from '../../../core/engine/empty-state.js'
import { openingOf } from '../../../core/model/market-terms.js'
import type { Market } from '../../../core/model/market.js'
import { rowOfNextSeries } from '../../../data/series-row.js'
import { readMarkets } from '../../../data/markets.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { readRegistrations } from '../../../runtime/bus/market-register.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { futureAddresses, perpAddresses, testAddresses } from '../../support/builders.js'
import { registerMarkets, startRegister } from '../../support/registered.js'
import { aScriptedChain } from '../../support/scripted-chain.js'
import { tempDir } from '../../support/temp-dir.js'

const KEEPER: Address = `0x${'b'.repeat(40)}`
const of = selectorsOf(futureAssetAbi, 'seriesCreator', 'openSeries')
const [NOV_SEC, DEC_SEC, JAN_SEC] = [
  Date.UTC(2026, 10, 30, 14) / 1_000,
  Date.UTC(2026, 11, 31, 14) / 1_000,
  Date.UTC(2027, 0, 31, 14) / 1_000,
] as const

/** Every step between the decision to ask for something and the note that it is done; of each, which of the two works it is. */
const STEPS: readonly (readonly [CrashPoint, passing: number])[] = [
  ['listing.before_order', 1],
  ['market_order.registration_in_flight', 1],
  ['listing.after_order', 1],
  ['listing.before_order', 2],
  ['market_order.change_in_flight', 1],
  ['listing.after_order', 2],
]

/** The chain has retired the first of two registered series, and has opened a third. */
describe('the listing of series by a keeper that is killed', () => {
  const dir = tempDir()
  const deploymentFile = join(dir.path, 'deployment.json')
  writeFileSync(
    deploymentFile,
    JSON.stringify({ ...testAddresses, ...perpAddresses, ...futureAddresses }),
  )
  const first = rowOfNextSeries([], NOV_SEC)
  const { markets } = readMarkets({ DEPLOYMENT_FILE: deploymentFile }, [
    first,
    rowOfNextSeries([first], DEC_SEC),
  ])
  let bus: MemoryBus
  let register: RunningProcess
  const disabled: string[] = []
  after(() => dir.remove())
  beforeEach(async () => {
    bus = createMemoryBus()
    await registerMarkets(bus, markets)
    register = await startRegister(bus)
    disabled.length = 0
    for (const market of markets) await answer(market)
  })
  afterEach(async () => {
    armCrashPoints(undefined)
    await register.stop()
  })

  /** As the market's matcher does. */
  async function answer(of: Market): Promise<void> {
    const { market } = of
    const state = emptyMatcherState(openingOf(of))
    const say = (change: string): MarketAnswer => {
      if (change === 'disable') {
        if (!state.enabled) return { kind: 'refused', message: `${market} is disabled already` }
        state.enabled = false
        disabled.push(market)
      }
      return { kind: 'terms', feed_seq: 1, terms: termsOf(state) }
    }
    await bus.answer(askMarket(market), 'matcher', (data, replyTo) =>
      bus.reply(replyTo, encodeMarketAnswer(say(decodeMarketRequest(data).change.kind))),
    )
  }

  /** A keeper that has just started, and has not heard of what was registered since. */
  function start(): SeriesListing {
    const chain = aScriptedChain(({ data }) =>
      data.startsWith(of.seriesCreator)
        ? [BigInt(KEEPER)]
        : [32n, 2n, BigInt(DEC_SEC), BigInt(JAN_SEC)],
    )
    chain.head = () =>
      Promise.resolve({
        number: 5n,
        hash: `0x${'5'.repeat(64)}`,
        timestamp: BigInt(NOV_SEC + 60),
      })
    return createListing({
      client: chain.client,
      markets: () => markets,
      keeper: KEEPER,
      deployment: { matching: `0x${'1'.repeat(40)}`, subAccounts: `0x${'2'.repeat(40)}` },
      calendar: [NOV_SEC, DEC_SEC, JAN_SEC],
      orders: seriesOrders({ bus, deploymentFile, user: 'keeper', nowMs: Date.now }),
      facts: { unreadable: () => undefined },
    })
  }

  const registered = async () =>
    (await readRegistrations(bus)).flatMap(({ entries }) =>
      entries.map(({ opening }) => opening.identity.market),
    )

  for (const [point, passing] of STEPS)
    it(`is done once when it dies at ${point}, passed for the ${passing}. time`, async () => {
      let passed = 0
      armCrashPoints((reached) => {
        passed += reached === point ? 1 : 0
        if (reached === point && passed === passing) throw new Error('crashed')
      })
      const died = await start()
        .round()
        .catch((error: unknown) => (error as Error).message)
      expect(died).to.equal('crashed')
      armCrashPoints(undefined)
      for (const listing of [start(), start()]) await listing.round()
      expect(await registered()).to.deep.equal([
        ...['USDC-cNGN-30NOV26', 'USDC-cNGN-31DEC26', 'USDC-cNGN-31JAN27'],
      ])
      expect(disabled).to.deep.equal(['USDC-cNGN-30NOV26'])
    })
})
