import type { Market } from '../../core/model/market.js'
import { tradingStatus } from '../../core/records/market-entry.js'
import { NotReady, Ready } from '../../interface/venue.js'
import { createSettlementsHealth } from '../health.js'
import { broken, type Route } from '../route.js'

/** `GET /readyz`: 200 when an order can be taken, matched, settled and read; otherwise 503 with what is missing. */
export const getReadyz: Route = {
  method: 'GET',
  path: '/readyz',
  operation: {
    id: 'readReadiness',
    tag: 'Venue',
    summary: 'Ask whether an order can be taken, matched, settled and read',
    responses: {
      200: { description: 'It can.', body: Ready },
      500: broken,
      503: { description: 'What is missing.', body: NotReady },
    },
  },
  handler(deps) {
    const settlementsOf = createSettlementsHealth(deps.bus)
    /** Nothing where no pair waits. */
    const waitingPairs = async (): Promise<Pick<Ready, 'waiting_pairs'>> => {
      const enabled = deps.markets.filter((each) => each.enabled)
      const found = await Promise.all(
        enabled.map(async ({ market }) => {
          const { waiting_pairs: pairs = 0 } = (await settlementsOf(market)) ?? {}
          return [market, pairs] as const
        }),
      )
      const some = found.filter(([, pairs]) => pairs > 0)
      return some.length === 0 ? {} : { waiting_pairs: Object.fromEntries(some) }
    }
    return async (ctx) => {
      const [missing, pairs] = await Promise.all([deps.readiness.missing(), waitingPairs()])
      const names = Object.keys(missing)
      const notAsUsual = { ...notOpen(deps.markets), ...pairs }
      if (names.length === 0) {
        ctx.body = { status: 'ready', ...notAsUsual } satisfies Ready
        return
      }
      ctx.status = 503
      ctx.body = {
        error: `not ready: ${names.join(', ')}`,
        code: 'not_ready',
        missing,
        ...notAsUsual,
        request_id: ctx.state.requestId,
      } satisfies NotReady
    }
  },
}

/** The listed markets that are not open; nothing when all are. */
function notOpen(markets: readonly Market[]): Pick<Ready, 'markets'> {
  const found = markets.filter(({ enabled, standing }) => enabled && standing.status !== 'open')
  if (found.length === 0) return {}
  return { markets: Object.fromEntries(found.map((each) => [each.market, tradingStatus(each)])) }
}
