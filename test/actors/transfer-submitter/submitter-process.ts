import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import type { Hex } from '../../../core/action.js'
import type { TransferKind } from '../../../core/transfer.js'
import { NoAnswer } from '../../../runtime/bus/bus.js'
import { eventually } from '../../support/eventually.js'
import { tempDir } from '../../support/temp-dir.js'
import { freshExecutor, type TransferStage } from './stage.js'

const PING_MS = 500
/** A machine that is busy takes its time over a process. */
const STARTS_WITHIN_MS = 60_000
const ASK_AGAIN_MS = 50

/** A submitter as a process of its own, to be killed and started again on the same directory and key. */
export interface SubmitterProcess {
  readonly privateKey: Hex
  /** To end itself at this point, if one is given; resolves when it is ready or has died of that. */
  start(crashAt?: string): Promise<void>
  /** Starts it when it does not run, and lets it end itself at this point from then on. */
  arm(crashAt: string): Promise<void>
  /** The signal that ended it, once it has ended. */
  ended(): Promise<NodeJS.Signals | null>
  /** Kills it if it runs, and removes its directory. */
  end(): Promise<void>
}

export async function submitterProcess(
  stage: TransferStage,
  kind: TransferKind,
): Promise<SubmitterProcess> {
  const directory = tempDir()
  const privateKey = await freshExecutor(stage)
  const deploymentFile = join(directory.path, 'deployment.json')
  writeFileSync(deploymentFile, JSON.stringify(stage.world.at))
  const main = fileURLToPath(new URL('armed-submitter.js', import.meta.url))
  const env = {
    NODE_ENV: 'test',
    TRANSFER_KIND: kind,
    NATS_URL: stage.nats.url,
    RPC_URL: stage.world.anvil.rpcUrl,
    DEPLOYMENT_FILE: deploymentFile,
    DATA_DIR: directory.path,
    LOG_LEVEL: 'warn',
    [`${kind.toUpperCase()}_SUBMITTER_PRIVATE_KEY`]: privateKey,
  }
  let child: ChildProcess | undefined
  const hasEnded = () => child === undefined || child.exitCode !== null || child.signalCode !== null

  async function isReady(): Promise<boolean> {
    if (hasEnded()) return true
    try {
      const answer = await stage.bus.ask(askPing(`${kind}-submitter`), new Uint8Array(), PING_MS)
      return decodePingAnswer(answer).ready
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
      await delay(ASK_AGAIN_MS)
      return false
    }
  }

  async function start(crashAt?: string): Promise<void> {
    const armed = crashAt === undefined ? {} : { CRASH_AT: crashAt }
    child = spawn(process.execPath, [main], {
      env: { ...env, ...armed },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    await eventually(isReady, STARTS_WITHIN_MS)
  }

  return {
    privateKey,
    start,
    async arm(crashAt) {
      if (child === undefined || hasEnded()) await start()
      if (child === undefined) return
      const answered = once(child, 'message')
      child.send(crashAt)
      await answered
    },
    async ended() {
      await eventually(hasEnded, STARTS_WITHIN_MS)
      return child?.signalCode ?? null
    },
    async end() {
      child?.kill('SIGKILL')
      if (child !== undefined && !hasEnded()) await once(child, 'exit')
      directory.remove()
    },
  }
}
