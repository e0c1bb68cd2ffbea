import { contractOf } from '../../core/contracts/registry.js'
import { parseInteger } from '../../core/decimal.js'
import { readRefusals as texts } from '../../core/entry/read-refusals.js'
import type { OrRefusal } from '../../core/entry/refusals.js'
import type { Market } from '../../core/model/market.js'
import { PositionsBody, PositionsQuery } from '../../interface/position.js'
import { refuse, type GatewayContext, type GatewayDeps } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { broken, chainSilent, readRefusals, refused, type Route } from '../route.js'

/** `GET /v1/positions`: an account of the perpetual markets, as one block of the chain shows it. */
export const getPositions: Route = asOf({
  method: 'GET',
  path: '/v1/positions',
  operation: {
    id: 'listPositions',
    tag: 'Market data',
    summary: 'Show the positions and the margin of an account',
    description:
      'Public. Serves perpetual markets; positions of futures are read on chain. Every number is of one block, the newest at most a second ago.',
    query: PositionsQuery,
    responses: {
      200: {
        description:
          'Empty lists for an account that does not exist or is not a perpetual account.',
        body: PositionsBody,
      },
      400: refused('`subaccount_id` is missing or no whole number, or a bad `min_seq`.'),
      500: broken,
      502: chainSilent,
      503: readRefusals[503],
    },
  },
  handler: (deps) => async (ctx) => {
    const asked = askedAccount(ctx)
    if ('refusal' in asked) return refuse(ctx, asked.refusal)
    const behind = await untilShown(ctx, deps)
    if (behind !== undefined) return refuse(ctx, behind)
    const body = await readPositions(ctx, deps, asked.subaccountId)
    if (body === undefined) return refuse(ctx, texts.positionsUnreadable)
    ctx.body = body
  },
})

function askedAccount({ query }: GatewayContext): OrRefusal<{ readonly subaccountId: bigint }> {
  const { subaccount_id: sent } = query
  if (sent === undefined || sent === '') return { refusal: texts.subaccountRequired }
  const subaccountId = parseInteger(sent)
  return subaccountId === undefined ? { refusal: texts.subaccountForm } : { subaccountId }
}

/** The answer in the order of the markets' identifiers; undefined when the chain could not be read. */
async function readPositions(
  ctx: GatewayContext,
  deps: GatewayDeps,
  subaccountId: bigint,
): Promise<PositionsBody | undefined> {
  const { markets, positions, readModel } = deps
  const served = markets.filter((market) => market.enabled && servesPositions(market))
  if (served.length === 0) return { positions: [], accounts: [] }
  const read = await positions?.readPositions(served, subaccountId)
  if (read === undefined) return undefined
  const records = readModel.atOnce(() => {
    sayProjected(ctx, deps)
    return read
      .toSorted((a, b) => (a.market.market < b.market.market ? -1 : 1))
      .flatMap(({ market, ...seen }) => {
        const entry = readModel.positionEntry(market.market, subaccountId)
        const held = { market, subaccountId, ...seen, entry }
        return contractOf(market).present.positions?.(held) ?? []
      })
  })
  return {
    positions: records.flatMap(({ position }) => position ?? []),
    accounts: records.map(({ account }) => account),
  }
}

const servesPositions = (market: Market): boolean =>
  contractOf(market).present.positions !== undefined
