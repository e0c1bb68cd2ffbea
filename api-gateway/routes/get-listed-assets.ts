import { listedFees } from '../../core/records/listed-contract-record.js'
import { ListedAssets } from '../../interface/listed-contracts.js'
import type { GatewayDeps } from '../context.js'
import { listedPairs } from '../listed-markets.js'
import { LISTED_MAX_AGE_SEC } from '../listed-reads.js'
import { broken, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

/** `GET /v1/integrations/assets`: the assets of the spot markets. */
export const getListedAssets: Route = {
  method: 'GET',
  path: '/v1/integrations/assets',
  operation: {
    id: 'readAssets',
    tag: 'Market data',
    summary: 'Read the assets of the spot markets',
    responses: {
      ...taggedAnswers({ description: 'By symbol.', body: ListedAssets }),
      500: broken,
    },
  },
  handler: (deps) => (ctx) => answerTagged(ctx, assetsOf(deps), LISTED_MAX_AGE_SEC),
}

/** An asset of several markets has the fees of the first by identifier. The contracts take and give both tokens at any time. */
function assetsOf({ markets, deployment, unifiedIds }: GatewayDeps): ListedAssets {
  const tokens = { USDC: deployment.usdc, cNGN: deployment.cngn }
  const pairs = listedPairs(markets)
  const entries = Object.entries(tokens).flatMap(([symbol, address]) => {
    const market = pairs.find(({ presentation: { baseAssetSymbol, quoteAssetSymbol } }) =>
      [baseAssetSymbol, quoteAssetSymbol].includes(symbol),
    )
    if (market === undefined) return []
    const asset = { name: symbol, can_withdraw: true, can_deposit: true, contract_address: address }
    const id = unifiedIds?.[symbol]
    const named = id === undefined ? {} : { unified_cryptoasset_id: id }
    return [[symbol, { ...asset, ...named, ...listedFees(market) }]]
  })
  return Object.fromEntries(entries) as ListedAssets
}
