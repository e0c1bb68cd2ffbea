import type { Block, Change } from '../core/model/change.js'
import type { Market } from '../core/model/market.js'
import type { Order } from '../core/model/order.js'
import { amountE18, feePerUnitE18, priceE18 } from '../core/money.js'

const E18 = 10n ** 18n
const FAR_FUTURE_SEC = 4_000_000_000

/** Blocks in which `count` orders come to rest in the book of a market, from `firstSeq` on. */
export function orderBurst(
  market: Market,
  burst: { readonly firstSeq: number; readonly blocks: number; readonly perBlock: number },
): Block[] {
  const { firstSeq, blocks, perBlock } = burst
  return Array.from({ length: blocks }, (_, index) => {
    const first = firstSeq + index * perBlock
    const changes = Array.from({ length: perBlock }, (_, at) => placed(market, first + at))
    return {
      market: market.market,
      commandSeq: first,
      commandIndex: 0,
      firstSeq: first,
      changes,
    }
  })
}

function placed(market: Market, seq: number): Change {
  const order = restingOrder(market, seq)
  const { orderId, owner, side, limitPrice, desiredAmount: desired } = order
  return {
    kind: 'OrderPlaced',
    seq,
    atMs: 1_790_000_000_000 + seq,
    orderId,
    owner,
    side,
    limitPrice,
    desired,
    filled: amountE18(0n),
    pending: amountE18(0n),
    open: desired,
    openDelta: desired,
    status: 'active',
    order,
    rank: seq,
  }
}

function restingOrder(market: Market, number: number): Order {
  const owner = `0x${String(number % 10).repeat(40)}` as const
  const subaccountId = BigInt(number % 10) + 1n
  const nonce = BigInt(number)
  const worstFee = feePerUnitE18(E18)
  const expirySec = FAR_FUTURE_SEC
  return {
    orderId: `order-${number}`,
    market: market.market,
    owner,
    subaccountId,
    nonce,
    side: 'buy',
    worstFee,
    desiredAmount: amountE18(153_000n * E18),
    initialFilled: amountE18(0n),
    limitPrice: priceE18(market.tickSize * (1n + BigInt(number % 500))),
    goodUntilSec: expirySec,
    signatureStatus: 'checked',
    signer: owner,
    expirySec,
    actionExpirySec: BigInt(expirySec),
    signature: `0x${'5a'.repeat(65)}`,
  }
}
