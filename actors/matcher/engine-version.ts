import { setTimeout as delay } from 'node:timers/promises'
import { askEngine } from '../../bus-schemas/subjects.js'
import { ENGINE_VERSION } from '../../core/engine/engine-version.js'
import { BusUnavailable, NoAnswer, type Bus, type Subscription } from '../../runtime/bus/bus.js'
import type { CommandLog } from './log.js'
import type { OwnCommands } from './own-commands.js'
import type { MatcherSettings } from './settings.js'

/** How long a matcher has for an objection; silence is consent. */
const OBJECT_WITHIN_MS = 1_000
const ASK_AGAIN_MS = 5_000

/**
 * Objects for this matcher to an engine version that its build does not know. Every matcher of a market listens under a
 * queue name of its own, so that each receives the request.
 */
export function objectToNewer(
  { bus, market, leaderId }: Pick<MatcherSettings, 'bus' | 'market' | 'leaderId'>,
  known = ENGINE_VERSION,
): Promise<Subscription> {
  return bus.answer(askEngine(market.market), leaderId, (data, replyTo) => {
    const version = Number(Buffer.from(data).toString('utf8'))
    if (version <= known) return
    bus.reply(replyTo, Buffer.from(`matcher ${leaderId} carries out versions up to ${known}`))
  })
}

export interface EngineSwitchOptions extends Pick<
  MatcherSettings,
  'bus' | 'market' | 'facts' | 'engineVersion' | 'onFatal'
> {
  readonly log: Pick<CommandLog, 'state'>
  readonly own: Pick<OwnCommands, 'submit'>
}

/**
 * Puts the engine version that the operator asks for into the log, once no other matcher of the market objects. A market in
 * which no order was placed yet takes this build's newest, whatever was observed of it before; any other keeps its version until it
 * is asked for.
 */
export function startEngineSwitch(options: EngineSwitchOptions): { stop(): void } {
  const { log, market, facts, own, onFatal } = options
  const stopping = new AbortController()
  const { engineVersion: current, rank: placements } = log.state
  const isNew = placements === 0
  const wanted = options.engineVersion ?? (isNew ? ENGINE_VERSION : undefined)
  if (wanted !== undefined && wanted < current) facts.engineNotLowered(wanted, current)
  if (wanted === undefined || wanted <= current) return { stop: () => undefined }
  const run = async (): Promise<void> => {
    for (;;) {
      const objection = await objectionTo(options.bus, market.market, wanted)
      if (stopping.signal.aborted) return
      if (objection === undefined) break
      facts.engineWaits(wanted, objection)
      await delay(ASK_AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
    await own.submit({ kind: 'EngineVersionSet', version: wanted })
    facts.engineSet(wanted, isNew)
  }
  run().catch((error: unknown) => {
    if (!stopping.signal.aborted) onFatal(error)
  })
  return { stop: () => stopping.abort() }
}

/** The objection to the version; undefined when no matcher that the bus reaches objects. */
async function objectionTo(bus: Bus, market: string, version: number): Promise<string | undefined> {
  try {
    const answer = await bus.ask(askEngine(market), Buffer.from(`${version}`), OBJECT_WITHIN_MS)
    return Buffer.from(answer).toString('utf8')
  } catch (error) {
    if (error instanceof NoAnswer && bus.isConnected()) return undefined
    if (error instanceof NoAnswer || error instanceof BusUnavailable) return error.message
    throw error
  }
}
