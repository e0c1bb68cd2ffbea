import { parseInteger } from '../../core/decimal.js'
import { readRefusals as texts } from '../../core/entry/read-refusals.js'
import type { OrRefusal } from '../../core/entry/refusals.js'
import { liquidationRecord } from '../../core/records/liquidation-record.js'
import type { LiquidationFilter } from '../../data/history/liquidations.js'
import { LiquidationsPage, LiquidationsQuery } from '../../interface/liquidation.js'
import { refuse, type GatewayContext, type GatewayDeps } from '../context.js'
import { askedPast, nextBefore, readHistoryPage } from '../read-request.js'
import { aliasHeaders, marketRefusals, tooManyLarge, type Route } from '../route.js'

/** `GET /v1/liquidations`: what the chain did to accounts below maintenance margin, of one market or of all, newest first. */
export const getLiquidations: Route = {
  method: 'GET',
  path: '/v1/liquidations',
  operation: {
    id: 'listLiquidations',
    tag: 'Market data',
    summary: 'List the liquidations of a market or of all, newest first',
    description:
      'Public. One record for each event of the chain, some seconds after it. Without a market those of all; an event of a block that the chain has lost leaves the list.',
    query: LiquidationsQuery,
    responses: {
      200: { description: 'One page.', body: LiquidationsPage, headers: aliasHeaders },
      ...marketRefusals,
      503: { ...tooManyLarge, headers: [...aliasHeaders, 'Retry-After'] },
    },
  },
  isLarge: () => true,
  handler: (deps) => (ctx) => {
    const filter = askedFilter(ctx, deps)
    if ('refusal' in filter) return refuse(ctx, filter.refusal)
    const page = readHistoryPage(ctx, 'liquidations')
    if ('refusal' in page) return refuse(ctx, page.refusal)
    const rows = deps.readModel.liquidations(page, filter)
    ctx.body = {
      liquidations: rows.map(liquidationRecord),
      ...nextBefore('liquidations', rows, page),
    } satisfies LiquidationsPage
  },
}

function askedFilter(ctx: GatewayContext, deps: GatewayDeps): OrRefusal<LiquidationFilter> {
  const { symbol, asset_address, sub_id, subaccount_id: sent } = ctx.query
  const isOfOne = [symbol, asset_address, sub_id].some((value) => value !== undefined)
  const found = isOfOne ? askedPast(ctx, deps) : undefined
  if (found !== undefined && 'refusal' in found) return found
  const subaccountId = sent === undefined ? undefined : parseInteger(sent)
  if (sent !== undefined && subaccountId === undefined) return { refusal: texts.subaccountForm }
  return {
    ...(found !== undefined && { market: found.market.market }),
    ...(subaccountId !== undefined && { subaccountId }),
  }
}
