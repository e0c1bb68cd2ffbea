import { createRestClient } from '../client/index.js'
import type { MarketEntry, OrderBody } from '../client/index.js'
import { signOrder } from '../client/sign-order.js'
import type { Hex } from '../core/action.js'
import { fastSigner } from './fast-signer.js'
import { postOf, type RequestBytes } from './http-load.js'
import type { OwnDevnet } from './own-venue.js'

const LIVES_SEC = 7_200
/** One request in three is a cancel. */
const CANCELS_EACH = 3
/** A cancel names an order sent this many requests earlier, which has been answered by then. */
const CANCEL_LAG = 600

/** Terms of the next order, by its number. */
export type Terms = (number: number) => {
  readonly side: 'buy' | 'sell'
  readonly price: string
  readonly amount: string
}

/** A market with the accounts that trade in it. */
export interface TradedMarket {
  readonly name: string
  readonly accounts: 'spot' | 'perp'
}

export const SPOT: TradedMarket = { name: 'cNGN-USDC', accounts: 'spot' }
export const PERP: TradedMarket = { name: 'cNGN-PERP', accounts: 'perp' }

/** An account with the key of its owner. */
export interface TradingAccount {
  readonly private_key: Hex
  readonly subaccountId: string
}

/** Signed orders of accounts, in turn. */
export interface Signers {
  readonly sign: (terms: ReturnType<Terms>, account: number) => Promise<OrderBody>
  readonly market: MarketEntry
}

/** Orders of this process: an account may sign in several markets, and no nonce twice. */
let signed = 0

/**
 * Default: the devnet's own traders, with their accounts under the market's manager: `perp` accounts on the
 * perpetual.
 */
export async function signersOf(
  devnet: OwnDevnet,
  { name, accounts: kind }: TradedMarket = SPOT,
  traders: readonly TradingAccount[] = devnet.accounts.map((account) => ({
    ...account,
    subaccountId: account[`${kind}_subaccount_id`],
  })),
): Promise<Signers> {
  const markets = await createRestClient(devnet.gateway_url).markets()
  const market = markets.find((each) => each.market === name)
  if (market === undefined) throw new Error(`the venue has no ${name}`)
  const domain = { chainId: devnet.chain_id, matching: devnet.matching }
  const accounts = traders.map(({ private_key: key, subaccountId }) => ({
    signer: fastSigner(key),
    subaccountId,
  }))
  const run = `${Date.now().toString(36)}-${accounts.length}`
  return {
    market,
    sign: (terms, number) => {
      const account = accounts[number % accounts.length]
      if (account === undefined) throw new Error('the devnet has no accounts')
      signed += 1
      return signOrder(account.signer, domain, {
        market,
        orderId: `bench-${run}-${signed}`,
        subaccountId: account.subaccountId,
        nonce: BigInt(Date.now()) * 1_000_000n + BigInt(signed),
        expirySec: Math.floor(Date.now() / 1000) + LIVES_SEC,
        ...terms,
      })
    },
  }
}

/** Prices of the two sides are far apart, so that no orders cross; a few hundred price levels. */
export const restingTerms: Terms = (number) => {
  const amount = String(10 + (number % 50))
  const tail = 100 + ((number * 7) % 500)
  return number % 2 === 0
    ? { side: 'buy', price: `0.0005${tail}`, amount }
    : { side: 'sell', price: `0.0008${tail}`, amount }
}

/** Endless requests that never match: two orders of all accounts in turn, then the cancel of an earlier one. */
export interface OrderFlow {
  next(count: number): Promise<RequestBytes[]>
  /** Cancels of all its orders but the newest `kept`. */
  cancelAllBut(kept: number): RequestBytes[]
}

export function orderFlow({ sign }: Signers, terms: Terms = restingTerms): OrderFlow {
  const placed: OrderBody[] = []
  let number = 0
  const cancelOldest = (): RequestBytes => {
    const { owner_address, nonce } = placed.shift() as OrderBody
    return postOf('/v1/orders/cancel', { owner_address, nonce })
  }
  const request = async (): Promise<RequestBytes> => {
    number += 1
    if (number % CANCELS_EACH === 0 && placed.length > CANCEL_LAG) return cancelOldest()
    const body = await sign(terms(number), number)
    placed.push(body)
    return postOf('/v1/orders', body)
  }
  return {
    cancelAllBut: (kept) =>
      Array.from({ length: Math.max(0, placed.length - kept) }, () => cancelOldest()),
    next: async (count) => {
      const requests: RequestBytes[] = []
      while (requests.length < count) requests.push(await request())
      return requests
    },
  }
}
