import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import {
  createTestClient,
  encodeFunctionData,
  http,
  parseAbi,
  publicActions,
  walletActions,
  type Address,
} from 'viem'
import { createRestClient } from '../../client/index.js'
import type { Change } from '../../core/model/change.js'
import type { TradingStatus } from '../../interface/market.js'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { endlessSteps, startLoad } from './stage/load.js'
import { idsOf, readFeed, untilQuiet } from './stage/reconcile.js'
import { createTrader, SPOT } from './stage/trader.js'

/** How long the chain is paused; five minutes by hand: `PAUSE_SECONDS=300`. */
const PAUSE_MS = Number(process.env.PAUSE_SECONDS ?? 15) * 1_000
const SHOWN_WITHIN_MS = 5_000
/** Two blocks of a second each, the look at the fact, and a busy machine. */
const RECOVERED_WITHIN_MS = 8_000
const STEPS_PER_SECOND = 6
const OPEN = { trading_status: 'open' } as const
const heldFor = (revert: string) =>
  ({ trading_status: 'held', trading_status_reason: revert }) as const

/** The status alone, of an answer that says more. */
const statusIn = (stated: TradingStatus | undefined) =>
  Object.fromEntries(
    Object.entries(stated ?? {}).filter(([field]) => field.startsWith('trading_status')),
  )

const admin = parseAbi([
  'function guardian() view returns (address)',
  'function owner() view returns (address)',
  'function setAdjustmentsPaused(bool paused)',
  'function setTradeExecutor(address executor, bool allowed)',
])

describe('a fault of the chain that is not an order’s', function () {
  let venue: TestVenue
  before(async () => {
    venue = await startVenue()
  })
  after(async () => {
    await venue?.stop()
  })

  /** Calls a contract as the account that may; the chain is a development chain. */
  async function administer(
    to: Address,
    role: 'guardian' | 'owner',
    call: Parameters<typeof encodeFunctionData<typeof admin>>[0],
  ): Promise<void> {
    const transport = http(venue.devnet.rpc_url)
    const chain = createTestClient({ mode: 'anvil', transport })
      .extend(publicActions)
      .extend(walletActions)
    const account = await chain.readContract({ address: to, abi: admin, functionName: role })
    await chain.impersonateAccount({ address: account })
    const data = encodeFunctionData(call)
    const hash = await chain.sendTransaction({ account, to, data, chain: null })
    await eventually(async () => {
      const receipt = await chain.getTransactionReceipt({ hash })
      expect(receipt.status).to.equal('success')
    })
  }
  const pause = (isPaused: boolean) =>
    administer(venue.devnet.spot_manager, 'guardian', {
      abi: admin,
      functionName: 'setAdjustmentsPaused',
      args: [isPaused],
    })
  const allow = (isAllowed: boolean) =>
    administer(venue.devnet.matching, 'owner', {
      abi: admin,
      functionName: 'setTradeExecutor',
      args: [venue.devnet.batch_executor, isAllowed],
    })

  async function missing(): Promise<Readonly<Record<string, string>>> {
    const response = await fetch(new URL('/readyz', venue.gatewayUrl))
    const body = (await response.json()) as { missing?: Record<string, string> }
    expect(response.status).to.equal(body.missing === undefined ? 200 : 503)
    return body.missing ?? {}
  }
  /** The market's entry, `/v1/health` and `/readyz` all state this status; `/readyz` only of a market that is not open. */
  async function expectStatus(stated: TradingStatus): Promise<void> {
    const rest = createRestClient(venue.gatewayUrl)
    const entry = (await rest.markets()).find(({ market }) => market === SPOT)
    expect(statusIn(entry), 'the market entry').to.deep.equal(stated)
    expect(statusIn((await rest.health()).markets[SPOT]), 'health').to.deep.equal(stated)
    const ready = await fetch(new URL('/readyz', venue.gatewayUrl))
    const { markets } = (await ready.json()) as { markets?: Record<string, TradingStatus> }
    expect(markets, 'readiness').to.deep.equal(stated === OPEN ? undefined : { [SPOT]: stated })
  }
  const matchesOf = (changes: readonly Change[]): number =>
    changes.filter(({ kind }) => kind === 'OrderMatched').length

  it('of a pause under load holds the market, cancels nothing, and ends with the pause (SET-036)', async () => {
    const traders = [0, 1, 2].map((name) => createTrader(venue.devnet, name))
    const steps = endlessSteps(traders)
    const load = startLoad({ gatewayUrl: venue.gatewayUrl, steps, perSecond: STEPS_PER_SECOND })
    await eventually(async () => {
      const changes = await readFeed(venue)
      expect(changes.filter(({ kind }) => kind === 'OrderFilled')).to.have.length.above(4)
    }, 30_000)

    await pause(true)
    await eventually(async () => {
      expect(await missing()).to.have.property(
        'matcher-cNGN-USDC',
        'held: the chain refuses every match, BM_AdjustmentsPaused',
      )
      await expectStatus(heldFor('BM_AdjustmentsPaused'))
    }, SHOWN_WITHIN_MS)
    const held = matchesOf(await readFeed(venue))
    await delay(PAUSE_MS)
    expect(matchesOf(await readFeed(venue)), 'matches while it is held').to.equal(held)

    await pause(false)
    await eventually(async () => {
      expect(matchesOf(await readFeed(venue))).to.be.above(held)
      expect(await missing()).to.deep.equal({})
      await expectStatus(OPEN)
    }, RECOVERED_WITHIN_MS)
    load.stop()
    const sent = (await load.answered()).map(({ step }) => step.body)
    await untilQuiet(venue, idsOf(sent))

    const changes = await readFeed(venue)
    const refused = changes.filter(
      (change) => 'hold' in change && change.hold === 'settlement_refused',
    )
    expect(refused, 'refusals').to.deep.equal([])
    const reasons = changes.flatMap((change) =>
      'cancelReason' in change ? [change.cancelReason] : [],
    )
    expect(new Set(reasons.filter((reason) => reason !== 'self_trade'))).to.deep.equal(
      new Set(['unspecified']),
    )
  })

  it('of a lost right to settle shows before any match, and is gone with it (SET-037)', async () => {
    await allow(false)
    await eventually(async () => {
      const found = await missing()
      expect(found.executor).to.match(/is not a trade executor of 0x/)
      expect(found['matcher-cNGN-USDC']).to.match(/M_OnlyTradeExecutor/)
      await expectStatus(heldFor('M_OnlyTradeExecutor'))
    }, SHOWN_WITHIN_MS)
    await allow(true)
    await eventually(async () => {
      expect(await missing()).to.deep.equal({})
      await expectStatus(OPEN)
    }, RECOVERED_WITHIN_MS)
  })
})
