import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ChainRpcError, callChain } from './chain-rpc.js'
import { writeFileDurably } from './write-file.js'

const unzip = promisify(gunzip)

const SAVE_EVERY_MS = 2_000
/** The whole state is written each time: a large one is written less often, at most a tenth of the time. */
const PAUSE_PER_SAVE_TIME = 9

/**
 * Writes the chain's whole state, blocks and receipts included, to a file that is never half written and that
 * `startAnvil` continues from. The chain's own interval writer leaves a torn file when it is killed. Throws
 * ChainRpcError.
 */
export async function saveChainState(rpcUrl: string, file: string): Promise<void> {
  const dump = await callChain(rpcUrl, 'anvil_dumpState')
  if (typeof dump !== 'string') throw new ChainRpcError('anvil_dumpState: no state in the answer')
  await writeFileDurably(file, await unzip(Buffer.from(dump.slice(2), 'hex')))
}

export interface ChainStateKeeper {
  /** Ends the rhythm and saves a last time; throws ChainRpcError when the chain no longer answers. */
  finish(): Promise<void>
}

export interface KeepChainStateOptions {
  readonly rpcUrl: string
  readonly file: string
  readonly saveEveryMs?: number
  /** Told of every save that failed because the chain did not answer; the next one comes in its time. */
  readonly onFailure: (error: ChainRpcError) => void
  /** Anything else, such as a full disk: saving has stopped. */
  readonly onBroken: (error: unknown) => void
}

/** Saves the chain's state again and again, whenever there is a new block. */
export function keepChainState(options: KeepChainStateOptions): ChainStateKeeper {
  const { rpcUrl, file, saveEveryMs = SAVE_EVERY_MS, onFailure, onBroken } = options
  const stopping = new AbortController()
  let savedBlock: unknown
  const saveIfNew = async () => {
    const block = await callChain(rpcUrl, 'eth_blockNumber')
    if (block === savedBlock) return
    await saveChainState(rpcUrl, file)
    savedBlock = block
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
      await saveChainState(rpcUrl, file)
    },
  }
}
