import { isTickDue } from '../../core/engine/tick-due.js'
import { mayBeReadLater } from '../../runtime/bus/bus.js'
import type { LeadingPhase } from './lead.js'
import type { OwnCommands } from './own-commands.js'

/** A live matcher is not ready when for so long the log has held what is not applied, or a tick is not stored. */
const STALLED_AFTER_MS = 5_000
/** How often the end of the log is looked at while nothing of it is applied. */
const LOOK_EVERY_MS = STALLED_AFTER_MS / 2

export interface Pulse {
  /** Why the market's time does not go on; undefined when it does. */
  trouble(): string | undefined
  stop(): void
}

/** A message that is the last applied one since a moment, in monotonic milliseconds, though the log goes on. */
interface Stall {
  readonly commandSeq: number
  readonly sinceMs: number
  readonly why: string
}

/**
 * Gives the market its time: each `tickMs` a tick, if one is due and none is on its way. Looks where the log ends while nothing
 * of it is applied, because a log that nothing arrives from looks like one that nothing is written to.
 */
export function startPulse({ settings, log }: LeadingPhase, own: OwnCommands): Pulse {
  const { tickMs, nowMs, elapsedMs, onFatal } = settings
  let tickSinceMs: number | undefined
  const tick = (): void => {
    if (tickSinceMs !== undefined || !isTickDue(log.state, nowMs())) return
    tickSinceMs = elapsedMs()
    own
      .submit({ kind: 'Tick' })
      .catch(onFatal)
      .finally(() => (tickSinceMs = undefined))
  }
  let stall: Stall | undefined
  let seen = { commandSeq: log.commandSeq, atMs: elapsedMs() }
  let isLooking = false
  const look = async (): Promise<void> => {
    const { commandSeq } = log
    const why = await whyMoreIsLogged(log)
    if (why === undefined || log.commandSeq !== commandSeq) stall = undefined
    else {
      const sinceMs = stall?.commandSeq === commandSeq ? stall.sinceMs : elapsedMs()
      stall = { commandSeq, sinceMs, why }
    }
  }
  const lookIfIdle = (): void => {
    const { commandSeq } = log
    const isIdle = commandSeq === seen.commandSeq
    if (isLooking || (isIdle && elapsedMs() - seen.atMs < LOOK_EVERY_MS)) return
    seen = { commandSeq, atMs: elapsedMs() }
    if (!isIdle) return
    isLooking = true
    look()
      .catch(onFatal)
      .finally(() => (isLooking = false))
  }
  const timer = setInterval(() => {
    try {
      tick()
      lookIfIdle()
    } catch (error) {
      // Thrown on, it would end the process, and with it other markets.
      onFatal(error)
    }
  }, tickMs)
  return {
    trouble() {
      const untoldMs = tickSinceMs === undefined ? 0 : elapsedMs() - tickSinceMs
      if (untoldMs > STALLED_AFTER_MS) return `a tick is not stored for ${Math.round(untoldMs)} ms`
      if (stall === undefined || stall.commandSeq !== log.commandSeq) return undefined
      const stalledMs = Math.round(elapsedMs() - stall.sinceMs)
      if (stalledMs <= STALLED_AFTER_MS) return undefined
      return `no command was applied for ${stalledMs} ms: ${stall.why}`
    },
    stop: () => clearInterval(timer),
  }
}

/** Says that the log goes on after what is applied, or why that cannot be read; undefined when it does not. */
async function whyMoreIsLogged(log: LeadingPhase['log']): Promise<string | undefined> {
  try {
    const endSeq = await log.endSeq()
    return endSeq > log.commandSeq ? `the log ends with message ${endSeq}` : undefined
  } catch (error) {
    if (mayBeReadLater(error)) return error.message
    throw error
  }
}
