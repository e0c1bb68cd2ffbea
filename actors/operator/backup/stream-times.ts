import type { StreamCopies, StreamFacts } from '../../../runtime/bus/nats-copies.js'
import { BadBackup, type BackupPart, type Manifest } from './manifest.js'

/** Messages of a stream whose storage times a backup notes. */
const SAMPLES = 256

type Samples = NonNullable<NonNullable<BackupPart['stream']>['times']>

/**
 * Storage times of messages that are spread over the stream: the first and the last of them always. What is trimmed or
 * replaced meanwhile is left out.
 */
export async function sampleTimes(
  copies: Pick<StreamCopies, 'storedAt'>,
  stream: string,
  { messages, first_seq: first, last_seq: last }: StreamFacts['state'],
): Promise<Samples> {
  if (messages === 0) return []
  const found = await Promise.all(
    sampledFrom(first, last).map(async (seq) => ({
      seq,
      time: await copies.storedAt(stream, seq),
    })),
  )
  return found.flatMap(({ seq, time }) => (time === undefined ? [] : [{ seq, time }]))
}

function sampledFrom(first: number, last: number): number[] {
  const count = Math.min(SAMPLES, last - first + 1)
  if (count === 1) return [last]
  // Rounded down, which leaves first and last as they are.
  return Array.from({ length: count }, (_, i) =>
    Math.floor(first + ((last - first) * i) / (count - 1)),
  )
}

/**
 * Reads every restored stream back and compares where it begins and ends, how much it holds, and when its messages were
 * stored. Throws BadBackup naming the first difference.
 */
export async function assertStreamsRestored(
  copies: Pick<StreamCopies, 'facts' | 'storedAt'>,
  { parts }: Manifest,
): Promise<void> {
  for (const { kind, name, stream } of parts)
    if (kind === 'stream' && stream !== undefined) await assertRestored(copies, name, stream)
}

async function assertRestored(
  copies: Pick<StreamCopies, 'facts' | 'storedAt'>,
  name: string,
  captured: NonNullable<BackupPart['stream']>,
): Promise<void> {
  const { state } = await copies.facts(name)
  assertPositions(name, state, captured.state)
  // Claims expire.
  if (name.startsWith('KV_')) return
  // A copy may hold what was stored while it was made; one that does not is what the server stated.
  if (state.last_seq === captured.state.last_seq && state.messages > 0)
    for (const field of ['messages', 'first_ts', 'last_ts'])
      if (state[field] !== captured.state[field])
        throw new BadBackup(
          `${name} was restored with ${field} ${String(state[field])}, and should have ${String(captured.state[field])}`,
        )
  const times = captured.times ?? []
  const found = await Promise.all(times.map(({ seq }) => copies.storedAt(name, seq)))
  for (const [i, { seq, time }] of times.entries())
    if (found[i] !== time)
      throw new BadBackup(
        `message ${seq} of ${name} was restored as stored at ${found[i] ?? 'no time'}, and should be at ${time}`,
      )
}

/** Throws BadBackup unless the stream begins and ends as the captured one. */
export function assertPositions(
  name: string,
  state: StreamFacts['state'],
  { first_seq: first, last_seq: last }: StreamFacts['state'],
): void {
  // A copy may hold what was stored while it was made; claims that have expired may be gone.
  if (state.last_seq >= last && (state.first_seq <= Math.max(first, 1) || name.startsWith('KV_')))
    return
  throw new BadBackup(
    `${name} was restored as ${state.first_seq} to ${state.last_seq}, and should be ${first} to ${last}`,
  )
}
