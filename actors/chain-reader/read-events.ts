import type { AccountEvents } from '../../chain/contracts/chain-contract.js'
import type { ChainHead } from '../../chain/reads/blocks.js'
import { ChainUnreachable } from '../../chain/reads/client.js'
import type { Touch } from '../../chain/reads/touches.js'
import type { Address } from '../../core/action.js'
import type { TouchedNews } from '../../core/touched-blocks.js'
import type { Advance } from './chain-position.js'

/** What the blocks that a round is about may have changed, by their events. */

/** Failed reads of events in succession after which every account is read instead. */
const FAILED_ROUNDS_MAX = 3
/** More accounts than this are announced as all. */
const ANNOUNCED_MAX = 5_000

/** Reads of the chain; each rejects when it does not answer. */
export interface EventSource {
  readTouches(first: bigint, last: bigint, events: readonly AccountEvents[]): Promise<Touch[]>
  /** The keys whose code the blocks up to the head may have changed; undefined when that cannot be told. */
  readDelegations(first: bigint, head: ChainHead): Promise<readonly Address[] | undefined>
}

/** Undefined what cannot be told. */
export interface BlockEvents {
  readonly touches?: readonly Touch[] | undefined
  readonly keys?: readonly Address[] | undefined
}

/**
 * Reads what the blocks of an advance up to the head have changed, with these events besides those of all markets. Rejects when the
 * chain does not answer; after FAILED_ROUNDS_MAX failures in succession the accounts cannot be told instead.
 */
export type ReadEvents = (
  advance: Advance,
  head: ChainHead,
  events: readonly AccountEvents[],
) => Promise<BlockEvents>

export function createReadEvents(chain: EventSource): ReadEvents {
  let failedRounds = 0
  const touchesFrom = async (
    first: bigint,
    head: ChainHead,
    events: readonly AccountEvents[],
  ): Promise<Touch[] | undefined> => {
    try {
      const touches = await chain.readTouches(first, head.number, events)
      failedRounds = 0
      return touches
    } catch (error) {
      if (!(error instanceof ChainUnreachable)) throw error
      failedRounds += 1
      if (failedRounds < FAILED_ROUNDS_MAX) throw error
      return undefined
    }
  }
  return async (advance, head, events) => {
    if (advance.kind !== 'ahead') return {}
    const [touches, keys] = await Promise.all([
      touchesFrom(advance.first, head, events),
      keysFrom(chain, advance.first, head),
    ])
    return { touches, keys }
  }
}

/** Without an answer the keys are not known, and the code of each is read again. */
async function keysFrom(
  chain: EventSource,
  first: bigint,
  head: ChainHead,
): Promise<readonly Address[] | undefined> {
  try {
    return await chain.readDelegations(first, head)
  } catch (error) {
    if (!(error instanceof ChainUnreachable)) throw error
    return undefined
  }
}

/** What is announced of an advance up to the head. */
export function newsOf(
  advance: Advance,
  { number: head }: ChainHead,
  { touches, keys }: BlockEvents,
): TouchedNews {
  if (advance.kind === 'same') return { first: head + 1n, head, accounts: [], keys: [] }
  const first = advance.kind === 'ahead' ? advance.first : head
  const accounts = touches && new Set(touches.map(({ subaccountId }) => subaccountId))
  const areFew = accounts !== undefined && accounts.size <= ANNOUNCED_MAX
  return { first, head, ...(areFew && { accounts: [...accounts] }), ...(keys && { keys }) }
}
