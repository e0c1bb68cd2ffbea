import { privateKeyToAccount } from 'viem/accounts'
import type { Hex } from '../core/action.js'
import { marketEntry } from '../core/records/market-entry.js'
import type { OrderBody } from '../client/index.js'
import { signOrder } from '../client/sign-order.js'
import { BENCH_DOMAIN, benchMarket } from './bench-market.js'

const FAR_FUTURE_SEC = 4_000_000_000

/** A body with a valid signature. */
export type SignedBody = OrderBody & { readonly signature: Hex }

/** `count` valid bodies of `POST /v1/orders`, each signed with a key of its own. */
export async function signedOrders(count: number): Promise<SignedBody[]> {
  const market = marketEntry(benchMarket())
  const { chainId, verifyingContract: matching } = BENCH_DOMAIN
  const bodies: SignedBody[] = []
  for (let number = 1; number <= count; number += 1) {
    const key: Hex = `0x${number.toString(16).padStart(64, '0')}`
    const body = await signOrder(
      privateKeyToAccount(key),
      { chainId, matching },
      {
        market,
        orderId: `order-${number}`,
        subaccountId: String(number),
        nonce: BigInt(number) * 7_919n,
        expirySec: FAR_FUTURE_SEC,
        side: number % 2 === 0 ? 'buy' : 'sell',
        price: '0.00065',
        amount: '1530000',
      },
    )
    bodies.push({ ...body, signature: body.signature as Hex })
  }
  return bodies
}
