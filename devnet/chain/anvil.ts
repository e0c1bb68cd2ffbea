import { describeExit, type Child } from '../../runtime/process/supervisor.js'
import { startChild, type ChildOptions } from '../launcher/child.js'
import { watchWork } from '../launcher/progress.js'
import { LauncherError, waitFor } from '../launcher/wait-for.js'

export const BLOCK_GAS_LIMIT = 240_000_000

/** States of past blocks kept in memory; older ones are dropped rather than spilled to the user's home. */
const STATES_KEPT = 64
/** Without work of the chain: it reads its saved state first. */
const READY_WITHIN_MS = 30_000
const LAST_LINES = 5

export interface AnvilOptions {
  readonly binary: string
  /** Port on 127.0.0.1. */
  readonly port: number
  readonly chainId: number
  readonly blockTimeS: number
  readonly cwd: string
  /** A file that `saveChainState` wrote: the chain continues from it. */
  readonly stateFile?: string | undefined
  readonly onLine?: ChildOptions['onLine']
  /** Called as soon as the process exists, long before it is ready. */
  readonly onSpawn?: (child: Child) => void
}

export interface Anvil {
  readonly rpcUrl: string
  readonly child: Child
}

/** Starts a local chain without prefunded accounts; resolves once it answers. Throws LauncherError. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const {
    binary,
    port,
    chainId,
    blockTimeS,
    cwd,
    stateFile,
    onLine = () => {},
    onSpawn = () => {},
  } = options
  const lastLines: string[] = []
  const child = await startChild({
    command: binary,
    args: [
      ...['--host', '127.0.0.1', '--port', `${port}`, '--chain-id', `${chainId}`],
      ...['--block-time', `${blockTimeS}`, '--gas-limit', `${BLOCK_GAS_LIMIT}`],
      ...['--accounts', '0', '--quiet', '--prune-history', `${STATES_KEPT}`],
      ...(stateFile === undefined ? [] : ['--load-state', stateFile]),
    ],
    cwd,
    env: { HOME: cwd },
    onLine: (line, stream) => {
      lastLines.push(line)
      if (lastLines.length > LAST_LINES) lastLines.shift()
      onLine(line, stream)
    },
  })
  onSpawn(child)
  const rpcUrl = `http://127.0.0.1:${port}`
  try {
    await Promise.race([
      waitFor(
        'the local chain to answer',
        READY_WITHIN_MS,
        () => callChain(rpcUrl, 'eth_chainId'),
        watchWork(child.pid),
      ),
      child.exited.then((exit) => {
        throw new LauncherError(`anvil ended with ${describeExit(exit)}:\n${lastLines.join('\n')}`)
      }),
    ])
  } catch (error) {
    child.signal('SIGKILL')
    throw error
  }
  return { rpcUrl, child }
}

const ANSWER_WITHIN_MS = 30_000

/** The local chain answered with an error, or did not answer. */
export class ChainRpcError extends Error {
  override readonly name = 'ChainRpcError'
}

/**
 * One JSON-RPC call of an administrative method of the local chain; resolves with `result`. Throws ChainRpcError, also when there
 * is no answer within thirty seconds, or until the signal aborts.
 */
export async function callChain(
  rpcUrl: string,
  method: string,
  params: readonly unknown[] = [],
  signal = AbortSignal.timeout(ANSWER_WITHIN_MS),
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  let answer: { result?: unknown; error?: { message: string } }
  try {
    const response = await fetch(rpcUrl, { method: 'POST', headers, body, signal })
    answer = (await response.json()) as typeof answer
  } catch (error) {
    throw new ChainRpcError(`${method}: no answer from ${rpcUrl}`, { cause: error })
  }
  if (answer.error !== undefined) throw new ChainRpcError(`${method}: ${answer.error.message}`)
  return answer.result
}
