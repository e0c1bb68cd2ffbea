import { setTimeout as delay } from 'node:timers/promises'
import { createChainClient } from './client.js'
import { DeploymentMismatch } from './deployment.js'
import { holdToChain, OtherChain, onOtherChain } from './node-chain.js'
import { undefinedOnFailure } from './read-failure.js'

export interface ChainGuardOptions {
  readonly rpcUrl: string
  /** Of the deployment. */
  readonly chainId: number
  readonly log: ChainGuardLog
  /** Called with 1 when the answers of the node count as none because of its chain, and with 0 when they count again. */
  readonly show: (labels: Readonly<Record<never, never>>, value: 0 | 1) => void
  /** Called with a defect. */
  readonly onFatal: (error: unknown) => void
  /** Milliseconds between two questions. */
  readonly everyMs?: number
}

interface ChainGuardLog {
  error(facts: object, message: string): void
  info(facts: object, message: string): void
}

export interface ChainGuard {
  stop(): Promise<void>
}

const EVERY_MS = 5_000
/** So many equal answers in a row are believed: with the pauses between them they take ten seconds. */
const BELIEVED = 3

/**
 * Holds every client of the node in this process to the chain of the deployment. Until the node has named that once, three
 * equal answers over ten seconds that name another chain are a DeploymentMismatch: thrown here, or given to `onFatal` where the
 * node does not answer at first, for which no start waits. Afterwards nothing ends the process: from an answer with another chain
 * on, until three in a row name the right one, all that the node says counts as no answer, as if it was silent.
 */
export async function guardChain(options: ChainGuardOptions): Promise<ChainGuard> {
  const { rpcUrl, chainId, everyMs = EVERY_MS, onFatal } = options
  const client = createChainClient(rpcUrl, 'probe')
  const node = holdToChain(rpcUrl, chainId)
  const ask = () => namedChain(client)
  const standing = createStanding(options, node.setWhy)
  try {
    for (;;) {
      const found = await ask()
      standing.hear(found)
      if (found === undefined || found === chainId) break
      await delay(everyMs)
    }
  } catch (error) {
    node.release()
    throw error
  }
  const stopping = new AbortController()
  const watching = watch(
    stopping.signal,
    () => standing.nextMs(everyMs),
    async () => standing.hear(await ask()),
  ).catch(onFatal)
  return {
    stop: async () => {
      stopping.abort()
      await watching
      node.release()
    },
  }
}

/** The chain that the node names; undefined when it does not answer. */
async function namedChain(
  client: ReturnType<typeof createChainClient>,
): Promise<number | undefined> {
  try {
    return await client.getChainId()
  } catch (error) {
    if (error instanceof OtherChain && error.found !== undefined) return error.found
    return undefinedOnFailure(error)
  }
}

/** What the answers so far say of the node. */
function createStanding(
  { chainId, log, show }: ChainGuardOptions,
  setWhy: (why: string | undefined) => void,
) {
  /** Undefined before the first answer. */
  let isRight: boolean | undefined
  let wasRight = false
  let last: number | undefined
  let inARow = 0
  show({}, 0)
  return {
    /** The first answer is awaited more often. */
    nextMs: (everyMs: number) => (isRight === undefined ? Math.min(everyMs, 1_000) : everyMs),
    /** Throws DeploymentMismatch. */
    hear(found: number | undefined): void {
      if (found === undefined) return
      inARow = found === last ? inARow + 1 : 1
      last = found
      if (found !== chainId) {
        if (isRight !== false)
          log.error(
            { expected: chainId, found },
            'the node is on another chain: it counts as silent',
          )
        if (!wasRight && inARow >= BELIEVED)
          throw new DeploymentMismatch(onOtherChain(chainId, found))
        isRight = false
        setWhy(onOtherChain(chainId, found))
        show({}, 1)
      } else if (!wasRight || (isRight === false && inARow >= BELIEVED)) {
        if (isRight === false) log.info({ chain: chainId }, 'the node is on the right chain again')
        isRight = true
        wasRight = true
        setWhy(undefined)
        show({}, 0)
      }
    },
  }
}

async function watch(
  signal: AbortSignal,
  pauseMs: () => number,
  look: () => Promise<void>,
): Promise<void> {
  for (;;) {
    // The watch alone does not keep its process from ending.
    await delay(pauseMs(), undefined, { signal, ref: false }).catch(() => undefined)
    if (signal.aborted) return
    await look()
  }
}
