import {
  createRestClient,
  createSeenSeqs,
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
/** A frame is signed anew so long before it ends: a read takes its time. */
const FRAME_MARGIN_SEC = 60

/** The venue as this page uses it: its client, what to sign on, and what belongs to the account. */
export interface Session {
  /** Where the page came from. */
  readonly base: string
  readonly facts: VenueFacts
  readonly venue: RestClient
  readonly domain: SigningDomain
  /**
   * The subscriptions of one market. All share a socket while the account stays: it is asked to sign once, not for each market. Closing
   * ends the subscriptions alone.
   */
  connect(): Subscriptions
  /** The account's newest orders and fills; undefined without an account. */
  readOwn(): Promise<Own | undefined>
  /** What subaccounts of the account hold; undefined without an account. */
  readBalances(subaccountIds: readonly string[]): Promise<readonly AccountBalances[] | undefined>
}

export type Subscriptions = Pick<
  SocketClient,
  'subscribe' | 'subscribeBalances' | 'isOpen' | 'connections' | 'close'
>

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
  const seen = createSeenSeqs()
  const venue = createRestClient(base, { seen })
  const { domain, product, history } = facts.frames
  const words = { domain, product }
  // Signed once for an account: a wallet asks its user each time.
  let signed:
    | { readonly address: string; readonly frame: Promise<SignedFrame>; readonly untilSec: number }
    | undefined
  const frameOf = ({ signer }: Account): Promise<SignedFrame> => {
    const { address } = signer
    if (signed?.address === address && signed.untilSec > nowSec()) return signed.frame
    const validSec = history.max_valid_seconds
    const frame = signFrame(signer, { purpose: 'history', ...words, validSec })
    const mine = { address, frame, untilSec: nowSec() + validSec - FRAME_MARGIN_SEC }
    signed = mine
    // What was refused is asked for again the next time.
    frame.catch(() => {
      if (signed === mine) signed = undefined
    })
    return frame
  }
  let shared: { readonly address: string | undefined; readonly socket: SocketClient } | undefined
  const socketOf = (address: string | undefined): SocketClient => {
    if (shared !== undefined && shared.address === address) return shared.socket
    shared?.socket.close()
    const socket = createSocketClient({
      ...{ url: new URL('v1/ws', base).href.replace(/^http/, 'ws'), seen },
      authenticate: () => {
        const chosen = account()
        if (chosen === undefined) throw new Error('no account is chosen')
        return signFrame(chosen.signer, { purpose: 'socket', ...words })
      },
    })
    shared = { address, socket }
    return socket
  }
  return {
    ...{ base, facts, venue },
    domain: {
      chainId: facts.chain_id,
      matching: facts.domains.actions.verifyingContract as `0x${string}`,
    },
    connect: () => scoped(socketOf(account()?.signer.address)),
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

function scoped(socket: SocketClient): Subscriptions {
  const ends: (() => void)[] = []
  const kept = (end: () => void): (() => void) => {
    ends.push(end)
    return end
  }
  return {
    subscribe: (channel, market, handler, options) =>
      kept(socket.subscribe(channel, market, handler, options)),
    subscribeBalances: (handler) => kept(socket.subscribeBalances(handler)),
    isOpen: () => socket.isOpen(),
    connections: () => socket.connections(),
    close: () => ends.splice(0).forEach((end) => end()),
  }
}

const nowSec = (): number => Math.floor(Date.now() / 1_000)
