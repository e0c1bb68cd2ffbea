import { decodeLead, encodeLead, LEAD_VERSION } from '../../bus-schemas/leads.js'
import { leadStream, leadSubject, type LeadingProcess } from '../../bus-schemas/subjects.js'
import type { Bus } from '../bus/bus.js'
import { recordVersions } from '../bus/stream-versions.js'
import type { Logger } from '../process/log.js'
import {
  assertUnled,
  takeTerm,
  untilSilent,
  type Actor,
  type LeadershipTerm,
} from './leadership.js'

/** Terms of a process that has no log of its own: its stream holds them and nothing else. */

export interface LeadStreamOptions {
  readonly bus: Bus
  readonly name: LeadingProcess
  /** Unique to this process. */
  readonly id: string
  readonly log: Logger
  /** LEADER_SILENCE_MS by default. */
  readonly silenceMs?: number | undefined
}

/** An actor whose stream this is. */
export interface LeadStreamActor extends Actor {
  readonly bus: Bus
  readonly log: Logger
}

export const leadStreamActor = ({ name, ...options }: LeadStreamOptions): LeadStreamActor => ({
  ...options,
  name,
  stream: leadStream(name),
  subject: leadSubject(name),
  termOf: (data) => decodeLead(data).term,
  onUnknown: (err) => options.log.warn({ err, actor: name }, 'term not acknowledged'),
})

export interface LeadershipWait {
  /** Waits for a leader to be gone; otherwise it must not be led. */
  readonly standby: boolean
  /** While it waits: see SilenceWait. */
  readonly meanwhile: () => Promise<boolean>
}

/** Resolves when this copy may take the next term. Throws Fenced when another one leads and this one is no standby. */
export const untilLeadership = (
  actor: LeadStreamActor,
  { standby, meanwhile }: LeadershipWait,
): Promise<void> =>
  standby
    ? untilSilent(actor, {
        mustLast: true,
        meanwhile,
        onLed: (leader) => actor.log.info({ leader }, 'standing by'),
      })
    : assertUnled(actor)

export interface NextTerm {
  /** The greatest term that any log or checkpoint has of the process: a stream that was deleted has forgotten it. */
  readonly above: number
  /** Called once, as by takeTerm. */
  readonly onFenced: (error: unknown) => void
}

/** Takes the term after the greatest that is known, and creates the stream when absent. Throws as takeTerm. */
export async function takeNextTerm(
  actor: LeadStreamActor,
  { above, onFenced }: NextTerm,
): Promise<LeadershipTerm> {
  const { bus, name, id, stream, subject, log } = actor
  await bus.declareStream({ stream, subject, description: `Terms of ${name}: which process led` })
  await recordVersions(bus, new Map([[stream, LEAD_VERSION]]), (what) => log.warn(what))
  const { lastSeq } = await bus.streamState(stream)
  const end = await bus.lastMessage(stream)
  const term = Math.max((end && actor.termOf(end.data)) ?? 0, above) + 1
  const message = encodeLead({ term, leader: id })
  const lead = await takeTerm(actor, { term, lastSeq, message, onFenced })
  log.info({ term }, 'leads')
  return lead
}
