import { setTimeout as delay } from 'node:timers/promises'
import { askLead } from '../../bus-schemas/subjects.js'
import { crash } from '../../core/crash-point.js'
import { AnotherWriter, appendFenced } from '../bus/append-fenced.js'
import {
  BusUnavailable,
  MessagesGone,
  NoAnswer,
  StreamMissing,
  type Bus,
  type Subscription,
} from '../bus/bus.js'

/**
 * How one of several copies of a process leads. A term begins with a message that is appended to the actor's own stream, directly
 * after what its leader has read of it. The leader answers one subject and looks at the stream's end each second; it ends when
 * it finds a later term, or a stream that it did not write. After three seconds without an answer a copy that waits takes the
 * next term.
 */

/** How long a leader may be silent until it counts as gone. */
export const LEADER_SILENCE_MS = 3_000
/** Pause between two questions of a copy that waits. */
const ASK_EVERY_MS = 500
/**
 * A question waits for an answer as long as this part of the silence, so that several stay without one. A leader looks at the
 * end of its stream as often: two of them work until the older one knows.
 */
const PARTS_OF_SILENCE = 3
/** A process that takes a term asks once more: of two copies that waited the second finds the first. */
const LAST_ASK_MS = 250

/** This process does not lead its actor, or does not any more: another one does, or the stream is not the one that it wrote. */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}

/** An actor, as one copy of its process knows it. */
export interface Actor {
  readonly bus: Pick<
    Bus,
    'append' | 'streamState' | 'lastMessage' | 'read' | 'ask' | 'answer' | 'reply' | 'isConnected'
  >
  /** What all copies share: the name in the subject that the leader answers. */
  readonly name: string
  /** Unique to this process. */
  readonly id: string
  /** Only the actor's leader writes this stream, each message fenced by the one before. */
  readonly stream: string
  readonly subject: string
  /** The term that a message of the stream states; undefined where it states none. The first message of a term states it. */
  readonly termOf: (data: Uint8Array) => number | undefined
  /** Told when the outcome of the append that begins a term has to be looked up. */
  readonly onUnknown: (error: unknown) => void
  /** LEADER_SILENCE_MS by default. */
  readonly silenceMs?: number | undefined
}

/** What the leader says of itself; undefined when none answers in time. Rejects with BusUnavailable once the bus is closed. */
async function askForLeader(
  { bus, name }: Pick<Actor, 'bus' | 'name'>,
  withinMs: number,
): Promise<string | undefined> {
  try {
    const answer = await bus.ask(askLead(name), new Uint8Array(), withinMs)
    return Buffer.from(answer).toString('utf8')
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}

/** Throws Fenced when the actor is led. A leader that does not answer within the silence counts as gone. */
export async function assertUnled(
  { silenceMs = LEADER_SILENCE_MS, ...actor }: Actor,
  withinMs = silenceMs,
): Promise<void> {
  const leader = await askForLeader(actor, withinMs)
  if (leader === undefined) return
  throw new Fenced(`${leader} leads ${actor.name} already; STANDBY=1 would follow it`)
}

export interface SilenceWait {
  /** Whether the silence must last where no leader was heard before; otherwise a subject without a listener is enough. */
  readonly mustLast: boolean
  /** Called once, with what the first leader that is heard says of itself. */
  readonly onLed?: (leader: string) => void
  /** Before each question. False while the bus does not answer: no leader could be heard then, and no silence counts. */
  readonly meanwhile?: () => Promise<boolean>
  /** Ends the waiting, which rejects with its reason. */
  readonly signal?: AbortSignal
}

/**
 * Resolves when no leader has answered for the whole silence. A pause of this process counts for one question of several, and
 * what passes without the bus for none.
 */
export async function untilSilent(actor: Actor, waiting: SilenceWait): Promise<void> {
  const { bus, silenceMs = LEADER_SILENCE_MS } = actor
  const { mustLast, onLed, meanwhile = () => Promise.resolve(true), signal } = waiting
  const withinMs = silenceMs / PARTS_OF_SILENCE
  const pauseMs = Math.min(ASK_EVERY_MS, withinMs)
  let isHeard = false
  for (let silentMs = 0; silentMs < silenceMs;) {
    signal?.throwIfAborted()
    const isReached = bus.isConnected() && (await meanwhile())
    const askedAtMs = performance.now()
    const leader = await askForLeader(actor, withinMs)
    // A timer may fire a moment early; the server says at once that there is none.
    const isAtOnce = performance.now() - askedAtMs < withinMs / 2
    const isWithoutListener = leader === undefined && isAtOnce
    if (leader !== undefined && !isHeard) onLed?.(leader)
    isHeard ||= leader !== undefined
    if (isReached && isWithoutListener && !mustLast && !isHeard) return
    await delay(pauseMs, undefined, { ...(signal && { signal }) })
    const passedMs = Math.min(performance.now() - askedAtMs, withinMs + pauseMs)
    const isSilent = leader === undefined && isReached && bus.isConnected()
    silentMs = isSilent ? silentMs + passedMs : 0
  }
}

/** The message by which a process begins to lead. */
export interface TermBeginning {
  /** Above every term that the actor's stream, and any log or checkpoint, has of it. */
  readonly term: number
  /** Where the stream ends, as far as this process has read it. */
  readonly lastSeq: number
  /** States the term and, by the process's id, who leads: no other process appends the same bytes. */
  readonly message: Uint8Array
  /** Called once, with Fenced when this process does not lead any more, or with what its looking failed with. */
  readonly onFenced: (error: unknown) => void
  /** Called when the message was sent and is not acknowledged yet. */
  readonly onSent?: () => void
}

/** A term in which this process leads. */
export interface LeadershipTerm {
  readonly term: number
  /** Where the stream has the term's first message. */
  readonly firstSeq: number
  /** From now on `ownEnd` is the last message of this process that it knows in the stream; before, the first of the term is. */
  writes(ownEnd: () => number): void
  /** Neither answers nor looks any more: the term is over when the next one is taken. */
  stop(): Promise<void>
}

/**
 * Takes a term. A process that starts meanwhile gets an answer before the term is in the stream. Throws Fenced when another
 * process answers, or was faster.
 */
export async function takeTerm(actor: Actor, beginning: TermBeginning): Promise<LeadershipTerm> {
  const { bus, name, id, stream, subject, onUnknown } = actor
  const { term, lastSeq, message, onSent } = beginning
  await assertUnled(actor, LAST_ASK_MS)
  // The queue has a name of its own: a former leader that is paused must not be the one that gets the question.
  const answering = await bus.answer(askLead(name), id, (_, replyTo) => {
    bus.reply(replyTo, Buffer.from(`${id} of term ${term}`))
  })
  try {
    crash('lead.before_term')
    const append = { bus, stream, subject, onUnknown, ...(onSent && { onSent }) }
    const firstSeq = await appendFenced(append, message, lastSeq)
    crash('lead.after_term')
    return watched(actor, { ...beginning, firstSeq }, answering)
  } catch (error) {
    await answering.stop()
    if (!(error instanceof AnotherWriter)) throw error
    throw new Fenced(`another process has taken ${name}: ${error.message}`, { cause: error })
  }
}

interface Begun extends TermBeginning {
  readonly firstSeq: number
}

function watched(actor: Actor, begun: Begun, answering: Subscription): LeadershipTerm {
  const { silenceMs = LEADER_SILENCE_MS } = actor
  const { term, firstSeq, onFenced } = begun
  let ownEnd = () => firstSeq
  const stopping = new AbortController()
  const { signal } = stopping
  let missingSinceMs: number | undefined
  /** A server that has just started says for a moment that it has no such stream. */
  const stillMissing = (error: unknown): void => {
    if (!(error instanceof StreamMissing)) throw error
    missingSinceMs ??= performance.now()
    if (performance.now() - missingSinceMs < silenceMs) return
    throw new Fenced(error.message, { cause: error })
  }
  const found = (): void => (missingSinceMs = undefined)
  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await delay(silenceMs / PARTS_OF_SILENCE, undefined, { signal, ref: false }).catch(nothing)
      if (!signal.aborted) await look(actor, begun, () => ownEnd()).then(found, stillMissing)
    }
  }
  watch().catch((error: unknown) => {
    if (!signal.aborted) onFenced(error)
  })
  return {
    term,
    firstSeq,
    writes: (end) => (ownEnd = end),
    stop: async () => {
      stopping.abort()
      await answering.stop()
    },
  }
}

/** Throws Fenced when the stream does not end with what this leader wrote, or goes on in a later term; and StreamMissing. */
async function look(
  { bus, stream, termOf }: Actor,
  { term, firstSeq, message }: Begun,
  ownEnd: () => number,
): Promise<void> {
  const own = ownEnd()
  try {
    const { lastSeq } = await bus.streamState(stream)
    if (lastSeq < own) {
      throw new Fenced(`${stream} ends at ${lastSeq}, before message ${own} of this process`)
    }
    // What this process appends while it looks is of its own term.
    if (lastSeq > own) {
      const [next] = await bus.read(stream, own + 1, 1)
      const later = next && termOf(next.data)
      if (later !== undefined && later > term) throw laterTerm(stream, later, term)
    } else if (own === firstSeq) {
      const end = await bus.lastMessage(stream)
      const isReplaced = end?.seq === firstSeq && !Buffer.from(end.data).equals(message)
      if (isReplaced) throw new Fenced(`message ${firstSeq} of ${stream} is not of this process`)
    }
  } catch (error) {
    if (error instanceof BusUnavailable) return
    // This process has appended after its last message meanwhile, and trimmed that.
    if (error instanceof MessagesGone && ownEnd() > own) return
    throw error instanceof MessagesGone ? new Fenced(error.message, { cause: error }) : error
  }
}

const nothing = (): void => undefined

const laterTerm = (stream: string, later: number, term: number): Fenced =>
  new Fenced(`another process has led ${stream} since term ${later}, this one is of term ${term}`)
