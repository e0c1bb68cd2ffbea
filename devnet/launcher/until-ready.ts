import { setTimeout as delay } from 'node:timers/promises'
import { consoleLine } from './output.js'
import type { LaunchProgress } from './progress.js'
import { LauncherError } from './wait-for.js'

/** Part names of `/readyz` of which each is about one market. */
const OF_A_MARKET = /^(matcher-|markets$)/
const LOOK_EVERY_MS = 250
/** A gateway that is frozen accepts a connection and says nothing. */
const ANSWER_WITHIN_MS = 10_000
const SAY_EVERY_MS = 30_000

/** How long the venue may go without any progress, in milliseconds. */
export interface Patience {
  /** Then the start is given up. */
  readonly startMs: number
  /** Then the venue starts without the markets that are not ready, when nothing else is missing. */
  readonly marketsMs: number
  /** Work that leads to nothing that is said counts for so long. */
  readonly silentWorkMs: number
}

export const PATIENCE: Patience = { startMs: 60_000, marketsMs: 30_000, silentWorkMs: 1_800_000 }

export interface UntilReadyOptions {
  readonly gatewayUrl: string
  /** Names of the processes that were started. */
  readonly processes: readonly string[]
  readonly progress: LaunchProgress
  readonly say: (line: string) => void
  readonly patience?: Patience
}

type UnreadyParts = Readonly<Record<string, string>>

/**
 * Waits until the venue is ready, however long its processes take as long as one that is waited for moves. Then, markets that are
 * not ready are printed, and the others run. Throws LauncherError, naming what is missing and what it said last.
 */
export async function untilReady(options: UntilReadyOptions): Promise<void> {
  const { gatewayUrl, processes, progress, say, patience = PATIENCE } = options
  const steps = new Set<string>()
  const begun = performance.now()
  let [movedAt, stepAt, saidAt] = [begun, begun, begun]
  for (;;) {
    const missing = await missingIn(gatewayUrl)
    if (missing === undefined) return
    const now = performance.now()
    const parts = Object.entries(missing)
    if (isNew(steps, missing)) stepAt = movedAt = now
    const names = waitedFor(Object.keys(missing), processes)
    if (progress.hasMoved(names) && now - stepAt < patience.silentWorkMs) movedAt = now
    const quietMs = now - movedAt
    if (quietMs >= patience.marketsMs && parts.every(([name]) => OF_A_MARKET.test(name))) {
      for (const [name, why] of parts) say(`  not ready: ${name}: ${why}`)
      return
    }
    if (quietMs >= patience.startMs) throw stalled(missing, names, options)
    if (now - saidAt >= SAY_EVERY_MS) {
      saidAt = now
      say(`  still starting: ${inWords(missing)}`)
    }
    await delay(LOOK_EVERY_MS)
  }
}

/** What `/readyz` says is missing; undefined when nothing is. Without an answer the gateway is. */
async function missingIn(gatewayUrl: string): Promise<UnreadyParts | undefined> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    const answer = await fetch(`${gatewayUrl}/readyz`, { signal })
    const text = await answer.text()
    if (answer.status === 200) return undefined
    const { missing } = JSON.parse(text) as { missing?: UnreadyParts }
    return missing ?? { gateway: `its answer is ${answer.status} ${text}` }
  } catch {
    // Refused, late, or no JSON.
    return { gateway: 'no answer yet' }
  }
}

/** Whether one of these sentences, apart from numbers, or their company was not seen before; remembers them. */
function isNew(steps: Set<string>, missing: UnreadyParts): boolean {
  const before = steps.size
  for (const [name, why] of Object.entries(missing))
    steps.add(`${name}: ${why}`.replace(/[0-9]+/g, '0'))
  steps.add(Object.keys(missing).toSorted().join(' '))
  return steps.size > before
}

/** Processes on which a part of `/readyz` depends that is not one of them. */
const BEHIND: Readonly<Record<string, string>> = { bus: 'nats-server', projection: 'projector' }

/** The processes that the parts wait for; all of them while the gateway does not answer. */
function waitedFor(parts: readonly string[], processes: readonly string[]): readonly string[] {
  if (parts.includes('gateway')) return processes
  const isMatcher = (name: string) => name.startsWith('matcher')
  const names = parts.flatMap((part) => {
    if (OF_A_MARKET.test(part)) return processes.filter(isMatcher)
    return [BEHIND[part] ?? part]
  })
  return [...new Set(names)]
}

const inWords = (missing: UnreadyParts): string =>
  Object.entries(missing)
    .map(([name, why]) => `${name}: ${why}`)
    .join('; ')

/** The error of a start that no longer moves. */
function stalled(
  missing: UnreadyParts,
  names: readonly string[],
  { progress, patience = PATIENCE }: UntilReadyOptions,
): LauncherError {
  const lines = [...new Set([...names, 'nats-server'])].flatMap((name) => {
    const words = progress.lastWords(name)
    return words === undefined
      ? []
      : [`  ${name} said last: ${consoleLine(words, 'stderr') ?? words}`]
  })
  const why = `no process has made progress for ${patience.startMs / 1_000} s; missing: ${inWords(missing)}`
  return new LauncherError([why, ...lines].join('\n'))
}
