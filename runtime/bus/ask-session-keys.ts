import {
  decodeSessionKeysAnswer,
  encodeSessionKeysQuestion,
  type AskedKey,
} from '../../bus-schemas/owner-accounts.js'
import { askSessionKeys } from '../../bus-schemas/subjects.js'
import type { Address } from '../../core/action.js'
import { NoAnswer, type Bus } from './bus.js'

const ASK_TIMEOUT_MS = 2_000

type SessionKeysBus = Pick<Bus, 'ask' | 'isConnected'>

/**
 * When each of at most MAX_ASKED_KEYS session keys ends, as the chain reader's index has it: unix seconds, 0 for one that signs for
 * no such owner. Undefined while no chain reader answers whose index has reached the newest block.
 */
export async function askKeyEnds(
  bus: SessionKeysBus,
  keys: readonly AskedKey[],
): Promise<readonly bigint[] | undefined> {
  if (!bus.isConnected()) return undefined
  try {
    const question = encodeSessionKeysQuestion({ keys })
    const { endsSec } = decodeSessionKeysAnswer(
      await bus.ask(askSessionKeys, question, ASK_TIMEOUT_MS),
    )
    return endsSec?.length === keys.length ? endsSec : undefined
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}

/** The same, bound to a bus. */
export const keyEndsBy =
  (bus: SessionKeysBus) =>
  (keys: readonly AskedKey[]): Promise<readonly bigint[] | undefined> =>
    askKeyEnds(bus, keys)

/** The same of one key. */
export const keyEndBy =
  (bus: SessionKeysBus) =>
  async (owner: Address, key: Address): Promise<bigint | undefined> =>
    (await askKeyEnds(bus, [{ owner, key }]))?.[0]
