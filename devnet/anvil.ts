import { describeExit, startChild } from './child.js'
import type { Child, ChildOptions } from './child.js'
import { callChain } from './chain-rpc.js'
import { LauncherError } from './launcher-error.js'
import { waitFor } from './wait-for.js'

/** The target chain's id, so that what is signed here has the shape of what is signed there. */
export const CHAIN_ID = 8453
export const BLOCK_GAS_LIMIT = 240_000_000

/** States of past blocks kept in memory; older ones are dropped rather than spilled to the user's home. */
const STATES_KEPT = 64
const READY_WITHIN_MS = 30_000
const LAST_LINES = 5

export interface AnvilOptions {
  readonly binary: string
  /** Port on 127.0.0.1. */
  readonly port: number
  readonly blockTimeS: number
  readonly cwd: string
  /** A file that `saveChainState` wrote: the chain continues from it. */
  readonly stateFile?: string | undefined
  readonly onLine?: ChildOptions['onLine']
  /** Told as soon as the process exists, long before it is ready. */
  readonly onSpawn?: (child: Child) => void
}

export interface Anvil {
  readonly rpcUrl: string
  readonly child: Child
}

/** Starts a local chain without accounts of its own; resolves once it answers. Throws LauncherError. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const {
    binary,
    port,
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
      ...['--host', '127.0.0.1', '--port', `${port}`, '--chain-id', `${CHAIN_ID}`],
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
      waitFor('the local chain to answer', READY_WITHIN_MS, () => callChain(rpcUrl, 'eth_chainId')),
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
