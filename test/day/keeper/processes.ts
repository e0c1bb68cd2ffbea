import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import { NoAnswer, type Bus } from '../../../runtime/bus/bus.js'
import type { ArmedKeeper } from '../../actors/keeper/armed-keeper.js'
import { inheritedEnvironment } from '../../support/config.js'
import { ONE } from '../../support/devnet-actions.js'
import { CALENDAR, contractsOf, KEEPER_KEY, type KeptWorld } from './world.js'

const LOOK_EVERY_MS = 50
const ASK_WITHIN_MS = 400
const ASK_AGAIN_MS = 20
/** Longer than a takeover takes on a busy machine. */
const SEEN_WITHIN_MS = 180_000
const MOST_USD = 50_000n * ONE

/** The bus of the venue that is kept. */
export interface VenueBus {
  readonly bus: Bus
  readonly natsUrl: string
}

/** Two keepers of one venue, each on a disk of its own. */
export interface Keepers {
  /** Resolves when the one that leads has looked at this block. Throws when none does for long. */
  untilSeen(blockNumber: bigint): Promise<void>
  /** SIGKILL to the one that was started first; another is started on its disk. */
  killOldest(): Promise<void>
  /** How many have been killed. */
  readonly killed: () => number
  stop(): Promise<void>
}

export function startKeepers(world: KeptWorld, { bus, natsUrl }: VenueBus): Keepers {
  const dir = mkdtempSync(join(tmpdir(), 'kept-day-'))
  const deploymentFile = join(dir, 'deployment.json')
  writeFileSync(deploymentFile, JSON.stringify(world.at))
  const { at, anvil, bidders, rescuer } = world
  const running: { readonly child: ChildProcess; readonly dataDir: string }[] = []
  let killed = 0

  function start(dataDir: string): void {
    const told: ArmedKeeper = {
      natsUrl,
      rpcUrl: anvil.rpcUrl,
      deploymentFile,
      dataDir,
      privateKey: KEEPER_KEY,
      lookEveryMs: LOOK_EVERY_MS,
      perp: contractsOf(at.perp_asset, at.perp_trade_module, at.perp_manager),
      calendar: CALENDAR,
      rescue: { accounts: [...bidders, rescuer].map(String), mostUsd: `${MOST_USD}` },
    }
    const main = fileURLToPath(new URL('../../actors/keeper/armed-keeper.js', import.meta.url))
    const child = spawn(process.execPath, [main, JSON.stringify(told)], {
      env: { ...inheritedEnvironment(), NODE_ENV: 'test' },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    running.push({ child, dataDir })
  }

  async function end(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`a keeper has ended by itself: ${child.exitCode ?? child.signalCode}`)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  async function seenBlock(): Promise<number> {
    try {
      const answer = await bus.ask(askPing('keeper'), new Uint8Array(), ASK_WITHIN_MS)
      return decodePingAnswer(answer).positions.block ?? 0
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
      return 0
    }
  }

  for (const name of ['one', 'two']) start(mkdtempSync(join(dir, `${name}-`)))
  return {
    killed: () => killed,
    async untilSeen(blockNumber) {
      const giveUpAtMs = performance.now() + SEEN_WITHIN_MS
      while ((await seenBlock()) < Number(blockNumber)) {
        if (performance.now() > giveUpAtMs)
          throw new Error(`no keeper has looked at block ${blockNumber}`)
        await delay(ASK_AGAIN_MS)
      }
    },
    async killOldest() {
      const oldest = running.shift()
      if (oldest === undefined) throw new Error('no keeper runs')
      await end(oldest.child)
      killed += 1
      start(oldest.dataDir)
    },
    async stop() {
      for (const { child } of running.splice(0)) await end(child)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
