import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { startAnvil } from './chain/anvil.js'
import { chainIdOf, chainStateFile } from './chain/local-chain.js'
import { findAnvil, findNatsServer } from './launcher/binaries.js'
import { readBusConfig, type LauncherConfig } from './launcher/config.js'
import { typedWords } from '../runtime/process/command-line.js'
import { lockDataDir, provideDataDir } from './launcher/data-dir.js'
import { freePort } from './launcher/free-port.js'
import { startNatsServer } from './launcher/nats-server.js'
import { LauncherError } from './launcher/wait-for.js'
import { makePrivate } from '../runtime/process/private-files.js'

makePrivate()

/**
 * Runs a compiled program on the bus of a stopped venue of this machine: starts the nats-server of DATA_DIR, and its local
 * chain where there is one, and sets NATS_URL and RPC_URL. With NATS_URL set it only runs the program.
 */
async function withBus(words: readonly string[]): Promise<number> {
  const config = readBusConfig()
  if (config.natsUrl !== undefined) return run(words, config, {})
  provideDataDir(config.dataDir)
  const release = lockDataDir(config.dataDir)
  const binary = findNatsServer({ natsServerBin: config.natsServerBin, path: config.path })
  const bus = await startNatsServer({
    binary,
    dir: join(config.dataDir, 'nats'),
    port: await freePort(),
  })
  const chain = await startChain(config)
  try {
    return await run(words, config, {
      DATA_DIR: config.dataDir,
      NATS_URL: bus.url,
      ...(chain && { RPC_URL: chain.rpcUrl }),
    })
  } finally {
    await chain?.child.stop(STOP_GRACE_MS)
    await bus.child.stop(STOP_GRACE_MS)
    release()
  }
}

const STOP_GRACE_MS = 10_000
/** No block is made while the program runs. */
const BLOCK_TIME_S = 60

/** The local chain of the directory, from the state that the launcher saved; undefined when there is none. */
async function startChain(config: LauncherConfig) {
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
  })
}

async function run(
  words: readonly string[],
  { inherited }: Pick<LauncherConfig, 'inherited'>,
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const child = spawn(process.execPath, ['--enable-source-maps', ...words], {
    stdio: 'inherit',
    env: { ...inherited, ...env },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

try {
  process.exitCode = await withBus(typedWords())
} catch (error) {
  if (!(error instanceof LauncherError)) throw error
  process.stderr.write(`venue: ${error.message}\n`)
  process.exitCode = 1
}
