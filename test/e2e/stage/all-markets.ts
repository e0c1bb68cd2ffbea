import { statSync } from 'node:fs'
import { createRestClient } from '../../../client/index.js'
import { chainStateFile } from '../../../devnet/chain/local-chain.js'
import { eventually } from '../../support/eventually.js'
import type { TestVenue } from '../../support/venue.js'
import { endlessSteps, inTurn, type Step, type Terms } from './load.js'
import { PERP } from './perp-trader.js'
import { openSeries, openSeriesTraders } from './series.js'
import { createTrader, SPOT, type Trader } from './trader.js'

const SPOT_TRADERS = [0, 1, 2, 3]
const PERP_TRADERS = [4, 5]
const SERIES_ORDINAL = 2
/** 100,000 USDC and 1,000,000,000 cNGN carry whatever position the load leads to. */
const SERIES_FUNDS = { usdc: 100_000_000_000n, cngn: 1_000_000_000_000_000n }

/** The whole state is stored every two seconds, on a busy machine less often. */
const STORED_WITHIN_MS = 90_000

const PERP_TERMS: Terms = {
  middle: 65_000,
  price: (steps) => `0.000${steps}`,
  amount: (random) => `${10 + random(200)}`,
}
/** Tenths of a contract. */
const SERIES_TERMS: Terms = {
  middle: 1_530,
  price: (steps) => `${steps}`,
  amount: (random) => `${100 * (1 + random(5))}`,
}

export interface AllMarkets {
  /** Names of a market of each kind that trades. */
  readonly names: readonly string[]
  /** Signed orders and cancels in all of them, half of them on spot, the same for each venue. */
  readonly steps: AsyncGenerator<Step, never>
}

/**
 * Opens a series on a venue with spot, perpetual and fresh prices, and accounts that trade it; resolves once all three markets
 * trade and a chain that is killed no longer forgets the accounts. The futures are traded from accounts of their own.
 */
export async function openAllMarkets(venue: TestVenue): Promise<AllMarkets> {
  const { devnet } = venue
  const series = await openSeries(venue, SERIES_ORDINAL)
  const accounts = await openSeriesTraders(venue, series, SERIES_FUNDS)
  const names = [SPOT, PERP, series.market]
  const rest = createRestClient(venue.gatewayUrl)
  await eventually(async () => {
    const open = (await rest.markets()).filter((market) => market.trading_status === 'open')
    return names.every((name) => open.some(({ market }) => market === name))
  }, 60_000)
  const spot = SPOT_TRADERS.map((name) => createTrader(devnet, name))
  const perp = PERP_TRADERS.map((name) => {
    const subaccountId = devnet.accounts[name]?.perp_subaccount_id ?? ''
    return createTrader(devnet, name, undefined, { market: PERP, subaccountId })
  })
  const future = accounts.map(({ subaccountId }, name) => {
    const desk = { market: series.market, subaccountId: subaccountId.toString() }
    return createTrader(devnet, name, undefined, desk)
  })
  await Promise.all([...spot, ...perp, ...future].map(readMarket))
  await untilChainStored(venue)
  const ofSpot = endlessSteps(spot)
  const steps = [ofSpot, endlessSteps(perp, PERP_TERMS), ofSpot, endlessSteps(future, SERIES_TERMS)]
  return { names, steps: inTurn(steps) }
}

/** The second time that the local chain's state is stored from now on, it has all that is there now. */
async function untilChainStored({ dataDir }: TestVenue): Promise<void> {
  const storedAt = () => statSync(chainStateFile(dataDir), { throwIfNoEntry: false })?.mtimeMs
  for (let times = 0; times < 2; times += 1) {
    const before = storedAt()
    await eventually(() => storedAt() !== before, STORED_WITHIN_MS)
  }
}

/** A trader reads its market before it signs for the first time, which no later kill must come between. */
const readMarket = (trader: Trader) => trader.sign({ side: 'buy', amount: '1', price: '1' })
