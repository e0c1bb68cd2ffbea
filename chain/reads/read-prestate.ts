import { numberToHex } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { isHex, OddAnswer } from './answer-form.js'
import { callBatchOf } from './call-batch.js'
import type { ChainClient } from './client.js'
import { DELEGATES } from './delegated-before.js'
import { undefinedOnFailure } from './read-failure.js'
import type { AccountOverride, StateOverrides } from './state-client.js'

/** Precompiled contracts, and what chains keep besides them: an override would put an empty account in their place. */
const FIRST_ADDRESS_OF_ACCOUNTS = 0x1_0000n
/** Most accounts with code that are looked at. */
const MAX_CONTRACTS = 1_000
/** Most text of overrides: they are sent with every read of the state. */
const MAX_TEXT = 300_000

/** The fields of an account as a node's `prestateTracer` answers them: hex, and the nonce as a number. */
interface TracedAccount {
  readonly balance?: Hex
  readonly nonce?: number | Hex
  readonly code?: Hex
  readonly storage?: Readonly<Record<Hex, Hex>>
}

interface PrestateSchema {
  readonly Method: 'debug_traceTransaction'
  readonly Parameters: [Hex, { readonly tracer: 'prestateTracer' }]
  readonly ReturnType: unknown
}

/**
 * What a mined transaction has found at the addresses that it touched, before it changed anything, as what differs from the
 * state of its block's parent: code is left out where the parent has it, because there it does not change. Undefined where
 * the node does not give that: it does not trace, or no longer; the trace is too long or takes too long, which code of
 * outsiders in the transaction may have made it; or too much differs.
 */
export async function readPrestate(
  client: ChainClient,
  hash: Hex,
  parentHash: Hex,
): Promise<StateOverrides | undefined> {
  try {
    const traced = await client.request<PrestateSchema>(
      { method: 'debug_traceTransaction', params: [hash, { tracer: 'prestateTracer' }] },
      // What takes too long takes as long again.
      { retryCount: 0 },
    )
    if (traced === null) return undefined
    const accounts = accountsOf(traced).filter(
      ([address]) => BigInt(address) >= FIRST_ADDRESS_OF_ACCOUNTS,
    )
    const contracts = accounts.flatMap(([address, { code }]) => (isContract(code) ? [address] : []))
    if (contracts.length > MAX_CONTRACTS) return undefined
    const unchanged = await thoseWithCode(client, contracts, parentHash)
    const overrides = Object.fromEntries(
      accounts.map(([address, account]) => [
        address.toLowerCase(),
        overrideOf(account, unchanged.has(address)),
      ]),
    )
    return JSON.stringify(overrides).length > MAX_TEXT ? undefined : overrides
  } catch (error) {
    return undefinedOnFailure(error)
  }
}

/** Throws OddAnswer for anything but accounts by their addresses. What is in a field is sent back to the node as it is. */
function accountsOf(traced: unknown): [Address, TracedAccount][] {
  if (typeof traced !== 'object' || traced === null) throw new OddAnswer('no accounts')
  const entries = Object.entries(traced as Readonly<Record<string, unknown>>)
  if (!entries.every(isAccount)) throw new OddAnswer('no accounts by their addresses')
  return entries as [Address, TracedAccount][]
}

function isAccount([address, account]: [string, unknown]): boolean {
  if (!isAddress(address) || typeof account !== 'object' || account === null) return false
  const { code, nonce } = account as Partial<Record<keyof TracedAccount, unknown>>
  return (code === undefined || isHex(code)) && (typeof nonce !== 'number' || nonce >= 0)
}

const isAddress = (text: string): boolean => isHex(text) && text.length === 42

/** Code that stays: that of a key that delegates may change with each transaction. */
const isContract = (code: Hex = '0x'): boolean => code !== '0x' && !code.startsWith(DELEGATES)

async function thoseWithCode(
  client: ChainClient,
  addresses: readonly Address[],
  blockHash: Hex,
): Promise<ReadonlySet<Address>> {
  const batch = callBatchOf(client)
  const have = await Promise.all(addresses.map((address) => batch.hasCode(address, { blockHash })))
  return new Set(addresses.filter((_, i) => have[i]))
}

/** What the tracer leaves out of a touched account is empty. */
function overrideOf(
  { balance, nonce, code = '0x', storage }: TracedAccount,
  isUnchangedCode: boolean,
): AccountOverride {
  return {
    ...(!isUnchangedCode && { code }),
    ...(balance !== undefined && { balance }),
    ...(nonce !== undefined && { nonce: typeof nonce === 'number' ? numberToHex(nonce) : nonce }),
    ...(storage !== undefined && { stateDiff: storage }),
  }
}
