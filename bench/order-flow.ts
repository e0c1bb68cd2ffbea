import { privateKeyToAccount } from 'viem/accounts'
import { createRestClient } from '../client/index.js'
import type { MarketRecord, OrderBody } from '../client/records.js'
import { signOrder } from '../client/sign-order.js'
import { postOf, type RequestBytes } from './http-load.js'
import type { OwnDevnet } from './own-venue.js'

const LIVES_SEC = 7_200
/** Of three requests one cancels. */
const CANCELS_EACH = 3
/** A cancel names an order sent so many requests before, which is answered by then. */
const CANCEL_LAG = 600

/** Terms of the next order, by its number. */
export type Terms = (number: number) => {
  readonly side: 'buy' | 'sell'
  readonly price: string
  readonly amount: string
}

/** Signed orders of the accounts of a devnet, one account after the other. */
export interface Signers {
  readonly sign: (terms: ReturnType<Terms>, account: number) => Promise<OrderBody>
  readonly market: MarketRecord
}

export async function signersOf(devnet: OwnDevnet): Promise<Signers> {
  const markets = await createRestClient(devnet.gateway_url).markets()
  const market = markets.find((each) => each.market === 'cNGN-USDC')
  if (market === undefined) throw new Error('the venue has no cNGN-USDC')
  const domain = { chainId: devnet.chain_id, matching: devnet.matching }
  const accounts = devnet.accounts.map((account) => ({
    signer: privateKeyToAccount(account.private_key),
    subaccountId: account.spot_subaccount_id,
  }))
  const run = Date.now().toString(36)
  let count = 0
  return {
    market,
    sign: (terms, number) => {
      const account = accounts[number % accounts.length]
      if (account === undefined) throw new Error('the devnet has no accounts')
      count += 1
      return signOrder(account.signer, domain, {
        ...{ market, orderId: `bench-${run}-${count}`, subaccountId: account.subaccountId },
        nonce: BigInt(Date.now()) * 1_000_000n + BigInt(count),
        expirySec: Math.floor(Date.now() / 1000) + LIVES_SEC,
        ...terms,
      })
    },
  }
}

/** Far from each other on either side, so that nothing crosses; a few hundred price levels. */
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
}

export function orderFlow({ sign }: Signers): OrderFlow {
  const placed: OrderBody[] = []
  let number = 0
  let cancelled = 0
  const request = async (): Promise<RequestBytes> => {
    number += 1
    if (number % CANCELS_EACH === 0 && placed.length - cancelled > CANCEL_LAG) {
      const { owner_address, nonce } = placed[cancelled] as OrderBody
      cancelled += 1
      return postOf('/v1/orders/cancel', { owner_address, nonce })
    }
    const body = await sign(restingTerms(number), number)
    placed.push(body)
    return postOf('/v1/orders', body)
  }
  return {
    next: async (count) => {
      const requests: RequestBytes[] = []
      while (requests.length < count) requests.push(await request())
      return requests
    },
  }
}
