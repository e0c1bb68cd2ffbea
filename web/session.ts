import {
  createRestClient,
  createSocketClient,
  signFrame,
  type AccountBalances,
  type FillRecord,
  type OrderRecord,
  type RestClient,
  type SignedFrame,
  type SigningDomain,
  type SocketClient,
} from '../client/index.js'
import type { VenueFacts } from '../interface/signing.js'
import type { Account } from './keys.js'

const OWN_ROWS = 50

/** The venue as this page uses it: its client, what to sign on, and what belongs to the account. */
export interface Session {
  /** Where the page came from. */
  readonly base: string
  readonly facts: VenueFacts
  readonly venue: RestClient
  readonly domain: SigningDomain
  /** A socket; it authenticates for the account's own channels. */
  connect(): SocketClient
  /** The account's newest orders and fills; undefined without an account. */
  readOwn(): Promise<Own | undefined>
  /** What subaccounts of the account hold; undefined without an account. */
  readBalances(subaccountIds: readonly string[]): Promise<readonly AccountBalances[] | undefined>
}

export interface Own {
  readonly orders: readonly OrderRecord[]
  readonly fills: readonly FillRecord[]
}

/** `base` is where the page came from; `account` is the one that is chosen now. */
export function createSession(
  base: string,
  facts: VenueFacts,
  account: () => Account | undefined,
): Session {
  const venue = createRestClient(base)
  const { domain, product, history } = facts.frames
  const words = { domain, product }
  // Signed once for an account: a wallet asks its user each time.
  let signed: { readonly address: string; readonly frame: Promise<SignedFrame> } | undefined
  const frameOf = ({ signer }: Account): Promise<SignedFrame> => {
    if (signed?.address !== signer.address) {
      const validSec = history.max_valid_seconds
      const frame = signFrame(signer, { purpose: 'history', ...words, validSec })
      signed = { address: signer.address, frame }
    }
    return signed.frame
  }
  return {
    ...{ base, facts, venue },
    domain: {
      chainId: facts.chain_id,
      matching: facts.domains.actions.verifyingContract as `0x${string}`,
    },
    connect: () =>
      createSocketClient({
        url: new URL('v1/ws', base).href.replace(/^http/, 'ws'),
        authenticate: () => {
          const chosen = account()
          if (chosen === undefined) throw new Error('no account is chosen')
          return signFrame(chosen.signer, { purpose: 'socket', ...words })
        },
      }),
    async readOwn() {
      const chosen = account()
      if (chosen === undefined) return undefined
      const frame = await frameOf(chosen)
      const [{ orders }, { fills }] = await Promise.all([
        venue.orderHistory(frame, { limit: OWN_ROWS }),
        venue.fills(frame, { limit: OWN_ROWS }),
      ])
      return { orders, fills }
    },
    async readBalances(subaccountIds) {
      const chosen = account()
      if (chosen === undefined) return undefined
      return (await venue.balances(await frameOf(chosen), subaccountIds)).accounts
    },
  }
}
