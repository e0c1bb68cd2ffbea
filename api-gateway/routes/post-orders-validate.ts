import { decodeOrderVerdict } from '../../bus-schemas/order-verdict.js'
import { encodeOrderRequest } from '../../bus-schemas/orders.js'
import { askValidateOrder } from '../../bus-schemas/subjects.js'
import { likelyMistake, type SignatureMistake } from '../../chain/signing/diagnose.js'
import { spotContract } from '../../core/contracts/translation.js'
import { formatDecimal } from '../../core/decimal.js'
import { findInstrument } from '../../core/entry/find-market.js'
import { decodeTradeData, readAction } from '../../core/entry/read-action.js'
import { refusals, type Refusal } from '../../core/entry/refusals.js'
import type { Market } from '../../core/model/market.js'
import type { Order } from '../../core/model/order.js'
import { NewOrder } from '../../interface/order.js'
import { OrderVerdict } from '../../interface/validation.js'
import { ANSWER_TIMEOUT_MS } from '../../runtime/bus/ask-intake.js'
import { NoAnswer } from '../../runtime/bus/bus.js'
import { jsonObjectOf, readBody } from '../../runtime/http/read-body.js'
import { BODY_LIMITS, refuse, type GatewayDeps } from '../context.js'
import { foreseeOrder } from '../foresee-order.js'
import { marketNamed } from '../orders.js'
import { bodyRefusals, refused, tooManyReads, type Route } from '../route.js'

/** `POST /v1/orders/validate`: every check of an order without placing it, and the likely mistake of a refused signature. */
export const postOrdersValidate: Route = {
  method: 'POST',
  path: '/v1/orders/validate',
  operation: {
    id: 'validateOrder',
    tag: 'Orders',
    summary: 'Judge a signed order without placing it',
    description:
      'The checks of `POST /v1/orders` in their order: fields, terms, account, signature, margin, uniqueness; then what the market ' +
      'would do with the order by the book as it is now: what fills at which prices, what rests, waits or is cancelled at once, and the ' +
      'margin after it. `open_order_limit` and `signer_order_limit` are left to the market. ' +
      'A signature that is not its signer’s is compared with the known mistakes of clients.',
    body: NewOrder,
    responses: {
      200: { description: 'What would become of it.', body: OrderVerdict },
      400: refused('The body is not a JSON object.'),
      ...bodyRefusals,
      500: {
        ...refused('Not judged: too busy, or no answer; ask again.'),
        headers: ['Retry-After'],
      },
      503: tooManyReads,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const read = await readBody(ctx.req, BODY_LIMITS)
    if ('refusal' in read) return refuse(ctx, read.refusal)
    const body = jsonObjectOf(read.body.toString())
    if (body === undefined) return refuse(ctx, refusals.invalidJsonBody)
    const verdict = await ask(deps, { request_id: ctx.state.requestId, body: read.body })
    if (verdict === undefined) return refuse(ctx, refusals.overloaded)
    if (verdict.kind === 'valid') {
      const market = marketNamed(deps, verdict.order.market)
      const behind = await deps.ownWrites.shown(market.market)
      if (behind !== undefined) return refuse(ctx, behind)
      const { outcome, refusal, order } = foreseeOrder(deps, market, verdict)
      ctx.body = refusal
        ? refusedVerdict(refusal, undefined)
        : { ...validVerdict(market, verdict.order, order), outcome }
      return
    }
    const mistake =
      verdict.refusal.code === refusals.signature.code ? mistakeOf(deps, body) : undefined
    ctx.body = refusedVerdict(verdict.refusal, mistake)
  },
}

async function ask(
  { bus }: GatewayDeps,
  question: Parameters<typeof encodeOrderRequest>[0],
): Promise<ReturnType<typeof decodeOrderVerdict> | undefined> {
  if (!bus.isConnected()) return undefined
  try {
    const asked = bus.ask(askValidateOrder, encodeOrderRequest(question), ANSWER_TIMEOUT_MS)
    return decodeOrderVerdict(await asked)
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}

/** `order`: as it would be booked. */
function validVerdict(market: Market, sent: Order, { warnings }: Order): OrderVerdict {
  const { side, limitPrice: price, desiredAmount: amount, signatureStatus, uiIntent } = sent
  const contract = spotContract(market, { side, price, amount }, uiIntent)
  return {
    valid: true,
    market: market.market,
    signature_status: signatureStatus,
    engine_order: { side, price: formatDecimal(price, 18), amount: formatDecimal(amount, 18) },
    ...(contract !== undefined && { spot_contract: contract }),
    ...(warnings !== undefined && { warnings: [...warnings] }),
  }
}

function refusedVerdict(
  { status, message, code, field, detail, extra }: Refusal,
  mistake: SignatureMistake | undefined,
): OrderVerdict {
  return {
    valid: false,
    refusal: {
      status,
      error: message,
      code,
      ...(field !== undefined && { field }),
      ...(detail !== undefined && { detail }),
      ...(typeof extra?.message === 'string' && { message: extra.message }),
    },
    ...(mistake !== undefined && { likely_mistake: mistake }),
  }
}

/** The body passed every check before the signature's, so its action names a market. */
function mistakeOf(
  { deployment, markets }: GatewayDeps,
  { action_json: action, signature }: Readonly<Record<string, unknown>>,
): SignatureMistake | undefined {
  const read = readAction(typeof action === 'string' ? jsonObjectOf(action) : action)
  if ('refusal' in read || typeof signature !== 'string') return undefined
  const words = decodeTradeData(read.action.data)
  if ('refusal' in words) return undefined
  const market = findInstrument(markets, words.data.asset, words.data.subId)
  if (market === undefined) return undefined
  const domain = { chainId: deployment.chainId, verifyingContract: deployment.matching }
  return likelyMistake({ action: read.action, signature, domain, market })
}
