import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { syncPath } from '../data/durable-file.js'
import { BUS_SYNCED, BUS_SYNCS } from '../runtime/bus/sync-bus.js'
import { startAnvil } from './chain/anvil.js'
import { chainIdOf, chainStateFile } from './chain/local-chain.js'
import { findAnvil, findNatsServer } from './launcher/binaries.js'
import { readBusConfig, type LauncherConfig } from './launcher/config.js'
import type { Child } from '../runtime/process/supervisor.js'
import { typedWords } from '../runtime/process/command-line.js'
import { lockDataDir, provideDataDir } from './launcher/data-dir.js'
import { freePort } from './launcher/free-port.js'
import { startGuard } from './launcher/keep-running.js'
import { startNatsServer } from './launcher/nats-server.js'
import { syncTree } from './launcher/sync-tree.js'
import { LauncherError } from './launcher/wait-for.js'
import { makePrivate } from '../runtime/process/private-files.js'

makePrivate()

/**
 * Runs a restore, a compiled program, on the bus of a stopped venue of this machine: starts the nats-server of DATA_DIR, and its
 * local chain where there is one, and sets NATS_URL and RPC_URL. The server takes a restored stream message by message, so it
 * begins without a sync for each; when the program asks for it, the server is stopped, its store synced, and it is started again
 * as a venue runs it. With NATS_URL set it only runs the program.
 */
async function withBus(words: readonly string[]): Promise<number> {
  const config = readBusConfig()
  if (config.natsUrl !== undefined) return run(words, config, {})
  provideDataDir(config.dataDir)
  const release = lockDataDir(config.dataDir)
  const binary = findNatsServer({ natsServerBin: config.natsServerBin, path: config.path })
  // Its servers end with this program, also where that is killed.
  const guard = startGuard()
  const onSpawn = ({ pid, exited }: Child): void => {
    guard.add(pid)
    void exited.then(() => guard.drop(pid))
  }
  const place = { binary, dir: join(config.dataDir, 'nats'), port: await freePort(), onSpawn }
  let bus = await startNatsServer({ ...place, isUnsynced: true })
  const chain = await startChain(config, onSpawn)
  const sync = async (): Promise<void> => {
    await bus.child.stop(STOP_GRACE_MS)
    const files = await syncTree(bus.storeDir)
    // That the store is there.
    await syncPath(place.dir)
    await syncPath(config.dataDir)
    bus = await startNatsServer(place)
    process.stderr.write(
      `the bus is synced: ${files} files; it runs on with a sync for each write\n`,
    )
  }
  const env = {
    DATA_DIR: config.dataDir,
    NATS_URL: bus.url,
    ...(chain && { RPC_URL: chain.rpcUrl }),
  }
  try {
    return await run(words, config, env, sync)
  } finally {
    await chain?.child.stop(STOP_GRACE_MS)
    await bus.child.stop(STOP_GRACE_MS)
    guard.end()
    release()
  }
}

const STOP_GRACE_MS = 10_000
/** No block is made while the program runs. */
const BLOCK_TIME_S = 60

/** The local chain of the directory, from the state that the launcher saved; undefined when there is none. */
async function startChain(config: LauncherConfig, onSpawn: (child: Child) => void) {
  const { dataDir } = config
  const stateFile = chainStateFile(dataDir)
  if (!existsSync(stateFile)) return undefined
  const port = await freePort()
  return startAnvil({
    chainId: await chainIdOf(config),
    binary: findAnvil(),
    port,
    blockTimeS: BLOCK_TIME_S,
    cwd: dataDir,
    stateFile,
    onSpawn,
  })
}

/** `sync`: what the program may ask for once. */
async function run(
  words: readonly string[],
  { inherited }: Pick<LauncherConfig, 'inherited'>,
  env: Readonly<Record<string, string>>,
  sync?: () => Promise<void>,
): Promise<number> {
  const child = spawn(process.execPath, ['--enable-source-maps', ...words], {
    stdio: ['inherit', 'inherit', 'inherit', ...(sync === undefined ? [] : ['ipc' as const])],
    env: { ...inherited, ...env },
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  // Ctrl-C and the end of the terminal reach the program as well; the servers are stopped once it has ended.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => child.kill(signal))
  let failure: Error | undefined
  let syncing = Promise.resolve()
  if (sync !== undefined)
    child.once('message', () => {
      child.send(BUS_SYNCS)
      syncing = sync().then(
        () => {
          if (child.connected) child.send(BUS_SYNCED)
        },
        (error: Error) => {
          failure = error
          if (child.connected) child.disconnect()
        },
      )
    })
  const [code] = await exited
  // A program that was ended meanwhile leaves a server that is about to run, and has to be stopped.
  await syncing
  if (failure !== undefined) throw failure
  return code ?? 1
}

try {
  process.exitCode = await withBus(typedWords())
} catch (error) {
  if (!(error instanceof LauncherError)) throw error
  process.stderr.write(`venue: ${error.message}\n`)
  process.exitCode = 1
}
