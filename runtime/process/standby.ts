import { setTimeout as delay } from 'node:timers/promises'
import { askWorking } from '../../bus-schemas/subjects.js'
import { NoAnswer, type Bus } from '../bus/bus.js'
import type { Logger } from './log.js'
import type { Running } from './process.js'

/** How long the copy that works may be silent until it counts as gone. */
export const WORKER_SILENCE_MS = 3_000
const ASK_EVERY_MS = 500

export interface CopyOptions {
  readonly bus: Pick<Bus, 'ask' | 'answer' | 'reply' | 'isConnected'>
  /** The name that all copies share. */
  readonly name: string
  /** Waits for another copy; otherwise this one works at once, and a copy that works yields to it where it may. */
  readonly standby: boolean
  /** Distinguishes this copy from any other. */
  readonly id: string
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly log: Logger
  /** Repeated until this copy works. False while the bus does not answer: then no other copy can be heard either. */
  readonly meanwhile: () => Promise<boolean>
  /** Another copy began to work later: this one must end. Called only of a standby, which waits after its restart. */
  readonly onOutdone: (reason: string) => void
  readonly silenceMs?: number
}

/**
 * Resolves when this copy of a process may work: as a standby, once no other one answers. The first silence counts at once, one
 * after an answer when it lasts. Two may work for a moment; what they write must be fenced. The older one of two ends.
 */
export async function takeTurn(options: CopyOptions): Promise<Running> {
  const { bus, name, standby, id, nowMs, log, onOutdone } = options
  if (standby) await untilUnworked(options)
  const own: Copy = { sinceMs: nowMs(), id }
  const answering = await bus.answer(askWorking(name), id, (asker, replyTo) => {
    if (Buffer.from(asker).toString('utf8') !== id) bus.reply(replyTo, encode(own))
  })
  const stopping = new AbortController()
  const watching = standby ? watch() : Promise.resolve()
  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const other = await askOther(options)
      if (other !== undefined && isLater(other, own)) {
        log.warn({ other: other.id }, 'another copy works now')
        onOutdone(`${name} ${other.id} works now`)
        return
      }
      await delay(ASK_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  return {
    stop: async () => {
      stopping.abort()
      await answering.stop()
      // Its question may be unanswered for longer than a stop may take.
      void watching
    },
  }
}

/** A copy that works. */
interface Copy {
  /** Unix milliseconds. */
  readonly sinceMs: number
  readonly id: string
}

const encode = ({ sinceMs, id }: Copy): Uint8Array => Buffer.from(`${sinceMs} ${id}`, 'utf8')

function decode(data: Uint8Array): Copy {
  const [since = '', id = ''] = Buffer.from(data).toString('utf8').split(' ')
  return { sinceMs: parseInt(since, 10), id }
}

const isLater = (one: Copy, other: Copy): boolean =>
  one.sinceMs === other.sinceMs ? one.id > other.id : one.sinceMs > other.sinceMs

async function untilUnworked(options: CopyOptions): Promise<void> {
  const { bus, log, meanwhile, silenceMs = WORKER_SILENCE_MS } = options
  let heardAtMs = -Infinity
  for (;;) {
    // Asked after the bus has answered: a copy that was cut off hears the one that works before it counts the silence.
    const isReached = bus.isConnected() && (await meanwhile())
    const other = await askOther(options)
    if (other !== undefined && heardAtMs === -Infinity) log.info({ other: other.id }, 'standing by')
    if (other !== undefined) heardAtMs = performance.now()
    else if (isReached && performance.now() - heardAtMs >= silenceMs) return
    await delay(ASK_EVERY_MS)
  }
}

/** Another copy that works; undefined when none answers in time. */
async function askOther(options: CopyOptions): Promise<Copy | undefined> {
  const { bus, name, id, silenceMs = WORKER_SILENCE_MS } = options
  try {
    return decode(await bus.ask(askWorking(name), Buffer.from(id, 'utf8'), silenceMs))
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
