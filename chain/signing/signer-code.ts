import type { Address } from '../../core/action.js'
import type { TouchedBlocks } from '../../core/touched-blocks.js'
import { createExpiringCache, type CacheAnswer } from '../reads/expiring-cache.js'
import { CACHE_ENTRIES, KEPT_MS } from '../reads/read-account.js'

/** Whether there was code at an address. */
export interface CodeAtBlock {
  readonly hasCode: boolean
  /** The block at which it was read, where that is known. */
  readonly blockNumber?: bigint
}

/** What is known of a signer. */
export interface SignerCode extends CodeAtBlock {
  /** A signature was recovered to its address. */
  hasSigned: boolean
}

/** A key that signs, and had no code at a known block: only an EIP-7702 delegation gives code to its address. */
const isPlainKey = (code: SignerCode): code is SignerCode & Required<CodeAtBlock> =>
  code.hasSigned && !code.hasCode && code.blockNumber !== undefined

export interface SignerCodesOptions {
  /** Undefined without an answer. */
  readonly readCode: (address: Address) => Promise<CodeAtBlock | undefined>
  /** How long an answer about code is kept; by default one block of the target chain. */
  readonly codeCacheMs?: number
  /** Keeps that a plain key has no code, up to KEPT_MS, while no block gives it any; absent, it is kept for `codeCacheMs`. */
  readonly touched?: Pick<TouchedBlocks<Address>, 'isUntouched'>
}

const BLOCK_TIME_MS = 2_000

/** Tells what is known of a signer, reading its code where that is not known; undefined without an answer. */
export function createSignerCodes({
  readCode,
  codeCacheMs = BLOCK_TIME_MS,
  touched,
}: SignerCodesOptions): (address: Address) => CacheAnswer<SignerCode | undefined> {
  const codes = createExpiringCache<SignerCode>({
    ttlMs: codeCacheMs,
    maxEntries: CACHE_ENTRIES,
    ...(touched !== undefined && {
      keep: {
        stillHolds: (code, readAtMs, address) =>
          isPlainKey(code) && touched.isUntouched({ ...code, id: address as Address, readAtMs }),
        mostMs: KEPT_MS,
      },
    }),
  })
  return (address) =>
    codes.get(address, async () => {
      const code = await readCode(address)
      return code && { ...code, hasSigned: false }
    })
}
