import type { GasStanding } from '../../core/transfer.js'
import type { GatewayDeps, Handler } from '../context.js'
import { createChainHealth } from '../chain-health.js'
import { createFeedHeads } from '../feed-heads.js'
import { createGasStandings } from '../gas-standings.js'
import { createSettlementsHealth, type SettlementsHealth } from '../settlements-health.js'

/** From here on reads are noticeably old. */
const MAX_LAG = 1_000

/** What a market's reads stand on; `head_seq` and `lag` are absent while the bus does not answer. */
interface MarketHealth {
  /** `seq` of the newest change that was published. */
  readonly head_seq?: number
  /** `seq` of the newest change that reads show. */
  readonly projected_seq: number
  /** How many changes reads are behind. */
  readonly lag?: number
}

type Health = MarketHealth & Partial<SettlementsHealth>

/** Whether deposits or withdrawals are taken, and the gas that the venue has to pay for them. */
function transfersHealth(standing: GasStanding | undefined) {
  if (standing === undefined) return { status: 'unavailable' }
  const { signer, balanceWei, reserveWei, hourBudgetWei, hourSpentWei, paused } = standing
  return {
    // Nothing is taken that cannot be read to be paid for.
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

/**
 * `GET /v1/health`: how far each enabled market has come and how far reads are behind it, whether deposits and
 * withdrawals are taken, and how well the chain is seen; always 200. `status` speaks of the markets alone, and is
 * `degraded` as well while a settlement has had no outcome for longer than it should.
 */
export function getHealth(deps: GatewayDeps): Handler {
  const headOf = createFeedHeads(deps.bus)
  const gasOf = createGasStandings(deps.bus)
  const chainHealth = createChainHealth(deps.bus)
  const settlementsOf = createSettlementsHealth(deps.bus)
  const healthOf = async (market: string): Promise<Health> => {
    const [reads, settlements] = await Promise.all([readsOf(market), settlementsOf(market)])
    return { ...reads, ...settlements }
  }
  const readsOf = async (market: string): Promise<MarketHealth> => {
    const head = await headOf(market)
    // Read after the head, which may be a second old: then there is no lag rather than a negative one.
    const projected = deps.readModel.projectedSeq(market)
    if (head === undefined) return { projected_seq: projected }
    const newest = Math.max(head, projected)
    return { head_seq: newest, projected_seq: projected, lag: newest - projected }
  }
  return async (ctx) => {
    const names = deps.markets.filter(({ enabled }) => enabled).map(({ market }) => market)
    const [markets, deposits, withdrawals, chain] = await Promise.all([
      Promise.all(names.sort().map(async (market) => [market, await healthOf(market)] as const)),
      gasOf('deposit'),
      gasOf('withdrawal'),
      chainHealth(),
    ])
    const well = markets.every(
      ([, { lag, late_settlements: late = 0 }]) =>
        lag !== undefined && lag <= MAX_LAG && late === 0,
    )
    ctx.body = {
      status: well ? 'ok' : 'degraded',
      now: new Date(deps.nowMs()).toISOString(),
      markets: Object.fromEntries(markets),
      deposits: transfersHealth(deposits),
      withdrawals: transfersHealth(withdrawals),
      chain,
    }
  }
}
