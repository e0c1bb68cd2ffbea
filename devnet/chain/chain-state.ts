import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Hex } from '../../core/action.js'
import { writeFileDurably } from '../../data/durable-file.js'
import { callChain, ChainRpcError } from './anvil.js'

const unzip = promisify(gunzip)

const SAVE_EVERY_MS = 2_000
const DUMPS_AT_MOST = 5
/** Text that follows the accounts in a dumped state, and text that occurs once for each transaction. */
const AFTER_ACCOUNTS = ',"best_block_number":'
const TRANSACTION = '{"info":{"transaction_hash":'
/** Begin of a transaction's traces: some 90 kB for a settlement, five sixths of a state. */
const TRACES = '"traces":['
/** Text that follows the traces of a successful transaction; its traces are never read. */
const WENT_THROUGH = ['],"exit":"Return"', '],"exit":"Stop"']
/**
 * Each save writes the whole state: the pause grows with its duration, so that saving takes at most a tenth of the
 * time.
 */
const PAUSE_PER_SAVE_TIME = 9
/** While blocks are this full, a dump would delay the next ones for seconds, so that saving is postponed. */
const BUSY_PERCENT = 25n
const WAITS_AT_MOST_MS = 60_000
/** How long the chain may do nothing while it is to dump its state. */
const IDLE_AT_MOST_MS = 60_000

/**
 * Writes the chain's whole state, blocks and receipts included, to a file that is never half written and that
 * `startAnvil` continues from. The chain's own interval writer leaves a torn file when it is killed. Throws
 * ChainRpcError, also when the chain does not answer for a minute in which it has not worked.
 */
export async function saveChainState(
  rpcUrl: string,
  file: string,
  hasWorked: () => boolean = () => false,
): Promise<void> {
  const dump = () => dumpState(rpcUrl, hasWorked)
  await writeFileDurably(file, withoutTraces(await dumpBetweenBlocks(dump)))
}

/** The same state with the traces of reverted transactions only. */
export function withoutTraces(state: Buffer): Buffer {
  const kept: Buffer[] = []
  let from = 0
  for (let at = 0; (at = state.indexOf(TRACES, at)) >= 0;) {
    const begin = at + TRACES.length
    at = endOfArray(state, begin)
    const next = state.toString('latin1', at, at + 20)
    if (!WENT_THROUGH.some((end) => next.startsWith(end))) continue
    kept.push(state.subarray(from, begin))
    from = at
  }
  kept.push(state.subarray(from))
  return Buffer.concat(kept)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING = 0x5b
const CLOSING = 0x5d

/** Index of the bracket that closes the array whose content begins at `begin`; the state's end when there is none. */
function endOfArray(state: Buffer, begin: number): number {
  let depth = 1
  for (let at = begin; at < state.length; at += 1) {
    const byte = state[at]
    if (byte === QUOTE) at = endOfText(state, at + 1)
    else if (byte === OPENING) depth += 1
    else if (byte === CLOSING && --depth === 0) return at
  }
  return state.length
}

/** Index of the quote that ends the string whose content begins at `begin`. */
function endOfText(state: Buffer, begin: number): number {
  for (let at = begin; at < state.length; at += 1) {
    if (state[at] === BACKSLASH) at += 1
    else if (state[at] === QUOTE) return at
  }
  return state.length
}

/**
 * Dumps a consistent state. The chain copies its blocks first and its accounts after the block in progress: a chain
 * continued from a state dumped during a block would have executed transactions without receipts. A constant difference
 * comes from nonces that were set by an administrative call and is accepted. Throws ChainRpcError when every dump fell
 * into another block.
 */
export async function dumpBetweenBlocks(dump: () => Promise<Buffer>): Promise<Buffer> {
  const differences = new Set<number>()
  for (let dumps = 1; ; dumps += 1) {
    const state = await dump()
    const unrecorded = countUnrecorded(state)
    if (unrecorded === 0) return state
    differences.add(unrecorded)
    if (dumps < DUMPS_AT_MOST) continue
    if (differences.size === 1) return state
    throw new ChainRpcError(`anvil_dumpState: caught in the middle of a block ${dumps} times`)
  }
}

/** Number of transactions counted by the accounts' nonces beyond those recorded in the state. */
function countUnrecorded(state: Buffer): number {
  const accountsEnd = state.indexOf(AFTER_ACCOUNTS)
  if (accountsEnd < 0) throw new ChainRpcError('anvil_dumpState: a state of another form')
  const head = `${state.subarray(0, accountsEnd).toString()}}`
  const { accounts } = JSON.parse(head) as { accounts: Record<string, DumpedAccount> }
  const senders = Object.values(accounts).filter(({ code }) => code === '0x')
  const sent = senders.reduce((sum, { nonce }) => sum + nonce, 0)
  let recorded = 0
  for (let at = accountsEnd; (at = state.indexOf(TRANSACTION, at)) >= 0; at += TRANSACTION.length)
    recorded += 1
  return sent - recorded
}

interface DumpedAccount {
  readonly nonce: number
  readonly code: string
}

async function dumpState(rpcUrl: string, hasWorked: () => boolean): Promise<Buffer> {
  const idle = new AbortController()
  const watching = setInterval(() => hasWorked() || idle.abort(), IDLE_AT_MOST_MS)
  const dump = await callChain(rpcUrl, 'anvil_dumpState', [], idle.signal).finally(() =>
    clearInterval(watching),
  )
  if (typeof dump !== 'string') throw new ChainRpcError('anvil_dumpState: no state in the answer')
  return unzip(Buffer.from(dump.slice(2), 'hex'))
}

async function newestBlock(rpcUrl: string) {
  const block = await callChain(rpcUrl, 'eth_getBlockByNumber', ['latest', false])
  const { hash, gasUsed, gasLimit } = block as Record<'hash' | 'gasUsed' | 'gasLimit', Hex>
  return { hash, isBusy: BigInt(gasUsed) * 100n >= BigInt(gasLimit) * BUSY_PERCENT }
}

export interface ChainStateKeeper {
  /** Stops the timer and saves a last time, however long it takes; throws ChainRpcError when the chain no longer answers. */
  finish(): Promise<void>
  /** The age of the saved state, in milliseconds; undefined once it is the last one. */
  unsavedMs(): number | undefined
}

export interface KeepChainStateOptions {
  readonly rpcUrl: string
  readonly file: string
  readonly saveEveryMs?: number
  /** Whether the chain has worked since this was last asked. */
  readonly hasWorked?: () => boolean
  /** Called for every save that failed because the chain did not answer; the next one follows on schedule. */
  readonly onFailure: (error: ChainRpcError) => void
  /** Called for any other error, such as a full disk; saving has stopped. */
  readonly onBroken: (error: unknown) => void
}

/** Saves the chain's state periodically when there is a new block; once a minute while blocks are busy. */
export function keepChainState(options: KeepChainStateOptions): ChainStateKeeper {
  const { rpcUrl, file, saveEveryMs = SAVE_EVERY_MS, hasWorked, onFailure, onBroken } = options
  const stopping = new AbortController()
  let isFinished = false
  let saved: Hex | undefined
  let savedAtMs = performance.now()
  const saveIfNew = async () => {
    const { hash, isBusy } = await newestBlock(rpcUrl)
    if (hash === saved) return
    if (isBusy && performance.now() - savedAtMs < WAITS_AT_MOST_MS) return
    await saveChainState(rpcUrl, file, hasWorked)
    saved = hash
    savedAtMs = performance.now()
  }
  const rhythm = async () => {
    let pauseMs = saveEveryMs
    while (!stopping.signal.aborted) {
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted) return
      const begun = performance.now()
      try {
        await saveIfNew()
      } catch (error) {
        if (!(error instanceof ChainRpcError)) throw error
        onFailure(error)
      }
      pauseMs = Math.max(saveEveryMs, PAUSE_PER_SAVE_TIME * (performance.now() - begun))
    }
  }
  const ended = rhythm().catch(onBroken)
  return {
    finish: async () => {
      stopping.abort()
      await ended
      await saveChainState(rpcUrl, file, hasWorked)
      isFinished = true
    },
    unsavedMs: () => (isFinished ? undefined : performance.now() - savedAtMs),
  }
}
