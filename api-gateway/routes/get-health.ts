import type { Market } from '../../core/model/market.js'
import { tradingStatus } from '../../core/records/market-entry.js'
import type { GasStanding } from '../../core/transfer.js'
import { VERSION } from '../../runtime/process/version.js'
import { Health, type MarketHealth, type TransfersHealth } from '../../interface/venue.js'
import {
  createChainHealth,
  createFeedHeads,
  createGasStandings,
  createSettlementsHealth,
} from '../health.js'
import { broken, type Route } from '../route.js'

/** Reads that lag by more changes than this count as degraded. */
const MAX_LAG = 1_000

/**
 * `GET /v1/health`: how far each enabled market has come and how far reads are behind it, whether deposits and
 * withdrawals are taken, and how well the chain is seen; always 200. `status` is of the markets alone, and is `degraded`
 * also while a settlement has had no outcome for longer than it should, or a matcher has trouble.
 */
export const getHealth: Route = {
  method: 'GET',
  path: '/v1/health',
  operation: {
    id: 'readHealth',
    tag: 'Venue',
    summary: 'Read how far each market has come, and whether money moves in and out',
    responses: {
      200: {
        description: 'Always; `status` tells whether reads are up to date.',
        body: Health,
      },
      500: broken,
    },
  },
  handler(deps) {
    const headOf = createFeedHeads(deps.bus)
    const gasOf = createGasStandings(deps.bus)
    const chainHealth = createChainHealth(deps.bus)
    const settlementsOf = createSettlementsHealth(deps.bus)
    const healthOf = async (listed: Market): Promise<MarketHealth> => {
      const { market } = listed
      const [head, settlements] = await Promise.all([headOf(market), settlementsOf(market)])
      const status = tradingStatus(listed)
      // Read after the head, which may be a second old: then there is no lag rather than a negative one.
      const projected = deps.readModel.projectedSeq(market)
      if (head === undefined) return { ...status, projected_seq: projected, ...settlements }
      const newest = Math.max(head, projected)
      return {
        ...status,
        head_seq: newest,
        projected_seq: projected,
        lag: newest - projected,
        ...settlements,
      }
    }
    return async (ctx) => {
      const listed = deps.markets
        .filter(({ enabled }) => enabled)
        .toSorted((a, b) => (a.market < b.market ? -1 : 1))
      const [markets, deposits, withdrawals, chain] = await Promise.all([
        Promise.all(listed.map(async (each) => [each.market, await healthOf(each)] as const)),
        gasOf('deposit'),
        gasOf('withdrawal'),
        chainHealth(),
      ])
      ctx.body = {
        status: markets.every(([, health]) => isWell(health)) ? 'ok' : 'degraded',
        now: new Date(deps.nowMs()).toISOString(),
        version: VERSION,
        markets: Object.fromEntries(markets),
        deposits: transfersHealth(deposits),
        withdrawals: transfersHealth(withdrawals),
        chain,
      } satisfies Health
    }
  },
}

const isWell = ({ lag, late_settlements: late = 0, trouble }: MarketHealth): boolean =>
  lag !== undefined && lag <= MAX_LAG && late === 0 && trouble === undefined

/** Whether deposits or withdrawals are taken, and the gas that the venue has to pay for them. */
function transfersHealth(standing: GasStanding | undefined): TransfersHealth {
  if (standing === undefined) return { status: 'unavailable' }
  const { signer, balanceWei, reserveWei, hourBudgetWei, hourSpentWei, paused } = standing
  return {
    // While the balance cannot be read nothing is taken.
    status: paused !== undefined ? 'paused' : balanceWei === undefined ? 'unavailable' : 'open',
    ...(paused !== undefined && { paused }),
    gas: {
      signer,
      ...(balanceWei !== undefined && { balance_wei: balanceWei.toString() }),
      reserve_wei: reserveWei.toString(),
      hour_budget_wei: hourBudgetWei.toString(),
      hour_spent_wei: hourSpentWei.toString(),
    },
  }
}
