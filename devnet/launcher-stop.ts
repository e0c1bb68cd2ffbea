import { setTimeout as delay } from 'node:timers/promises'
import type { ChainStateKeeper } from './chain-state.js'
import type { Console } from './console.js'
import { DEMO_MAKER } from './launcher-workers.js'
import type { Supervised } from './supervisor.js'

/** How long each part may take before it is killed; ten seconds together. */
const GRACE_MS = {
  maker: 1_000,
  gateway: 1_500,
  workers: 2_000,
  executor: 2_000,
  chain: 500,
  bus: 1_000,
} as const
const LAST_SAVE_MS = 2_000

/** Everything a launcher has running; parts that it did not start, or not yet, are absent. */
export interface Running {
  readonly workers: Supervised[]
  bus?: Supervised
  chain?: Supervised
  keeper?: ChainStateKeeper
}

/**
 * Stops the venue from its edge inwards, so that nobody loses what it depends on before it has finished: demo maker
 * (it cancels its orders through the gateway), gateway, workers, executor, chain (its state saved first), bus. Who does not end in time is killed.
 */
export async function stopInOrder(running: Running, console: Console): Promise<void> {
  const { workers } = running
  const stop = async (parts: readonly Supervised[], graceMs: number) => {
    await Promise.all(parts.map((part) => part.stop(graceMs)))
  }
  const isMaker = ({ name }: Supervised) => name === DEMO_MAKER.name
  const isGateway = ({ name }: Supervised) => name === 'gateway'
  const isExecutor = ({ name }: Supervised) => name === 'executor'
  await stop(workers.filter(isMaker), GRACE_MS.maker)
  await stop(workers.filter(isGateway), GRACE_MS.gateway)
  await stop(
    workers.filter((worker) => ![isMaker, isGateway, isExecutor].some((is) => is(worker))),
    GRACE_MS.workers,
  )
  await stop(workers.filter(isExecutor), GRACE_MS.executor)
  if (running.keeper !== undefined) await saveLastState(running.keeper, console)
  await running.chain?.stop(GRACE_MS.chain)
  await running.bus?.stop(GRACE_MS.bus)
}

async function saveLastState(keeper: ChainStateKeeper, console: Console): Promise<void> {
  const tooLate = delay(LAST_SAVE_MS, 'too late' as const, { ref: false })
  try {
    if ((await Promise.race([keeper.finish(), tooLate])) === 'too late')
      console.say('the chain took too long to save; it will continue from its last saved state')
  } catch (error) {
    console.say(`the chain will continue from its last saved state: ${String(error)}`)
  }
}
