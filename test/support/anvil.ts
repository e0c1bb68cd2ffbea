import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createTestClient, http, publicActions, walletActions } from 'viem'
import type { HttpTransport, PublicActions, TestClient, WalletActions } from 'viem'
import { base } from 'viem/chains'
import type { Hex } from '../../core/action.js'
import { freePort } from './free-port.js'

const ANVIL = fileURLToPath(
  new URL('../../../node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil', import.meta.url),
)
export const ANVIL_CHAIN_ID = 8453
const BLOCK_GAS_LIMIT = 240_000_000
const START_TIMEOUT_MS = 60_000
const POLL_MS = 20

/** Anvil's first well-known development key: holds 10,000 ether on every fresh chain. */
export const ANVIL_KEY: Hex = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

export type AnvilClient = TestClient<'anvil', HttpTransport, typeof base> &
  PublicActions<HttpTransport, typeof base> &
  WalletActions<typeof base>

export interface Anvil {
  readonly rpcUrl: string
  /** Reads, anvil's own methods, and transactions of any account handed to it. */
  readonly client: AnvilClient
  /** Ends the process; resolves when it is gone. */
  stop(): Promise<void>
}

export interface AnvilOptions {
  /** Seconds between blocks. */
  readonly blockTime?: number
  /** Time of the first block, by default now; unix seconds. */
  readonly startSec?: number
}

/**
 * A fresh chain 8453 on a free port. Without `blockTime` (seconds) each transaction mines its own block. The process
 * dies with this one, even by SIGKILL: its guardian shell waits on a pipe that only this process holds open.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const port = await freePort()
  const args = ['--port', `${port}`, '--chain-id', `${ANVIL_CHAIN_ID}`, '--silent']
  args.push('--gas-limit', `${BLOCK_GAS_LIMIT}`)
  if (options.blockTime !== undefined) args.push('--block-time', `${options.blockTime}`)
  if (options.startSec !== undefined) args.push('--timestamp', `${options.startSec}`)
  const guardian = spawnGuarded(args)
  const rpcUrl = `http://127.0.0.1:${port}`
  const client = createTestClient({
    mode: 'anvil',
    chain: base,
    transport: http(rpcUrl, { retryCount: 0 }),
    pollingInterval: POLL_MS,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions)
  await untilAnswering(client, guardian)
  return { rpcUrl, client, stop: () => stop(guardian) }
}

/**
 * The shell runs anvil beside a `read` on its stdin, which ends when our end of the pipe closes, however we end. A killed anvil
 * leaves the states that it stored on disk, gigabytes in a run of all tests, so the shell gives it a directory and removes that.
 */
function spawnGuarded(args: readonly string[]): ChildProcess {
  const script = [
    'states=$(mktemp -d) || exit 1',
    '"$@" --cache-path "$states" </dev/null >/dev/null 2>&1 & child=$!',
    'read _; kill -9 $child; wait $child; rm -rf "$states"',
  ].join('\n')
  const guardian = spawn('/bin/sh', ['-c', script, 'anvil-guardian', ANVIL, ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guardian.unref()
  return guardian
}

async function stop(guardian: ChildProcess): Promise<void> {
  if (guardian.exitCode !== null || guardian.signalCode !== null) return
  const gone = new Promise((resolve) => guardian.once('exit', resolve))
  guardian.stdin?.end()
  await gone
}

async function untilAnswering(client: AnvilClient, guardian: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS
  for (;;) {
    try {
      const chainId = await client.getChainId()
      if (chainId !== ANVIL_CHAIN_ID) throw new Error(`another chain answers: ${chainId}`)
      return
    } catch (error) {
      if (Date.now() > deadline) {
        await stop(guardian)
        throw new Error('anvil does not answer', { cause: error })
      }
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
