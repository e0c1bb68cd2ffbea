import { CheckpointUnusable } from '../../bus-schemas/checkpoint.js'
import { commandMessages, type LogMarket } from '../../bus-schemas/commands.js'
import { commandsStream } from '../../bus-schemas/subjects.js'
import { FIRST_ENGINE_VERSION } from '../../core/engine/engine-version.js'
import type { MatcherSnapshot } from '../../core/engine/snapshot.js'
import { termOf } from '../../core/model/command.js'
import type { Market } from '../../core/model/market.js'
import { StreamMissing, type Bus } from '../bus/bus.js'
import { listCheckpoints, loadCheckpoint, type StoredCheckpoint } from '../bus/checkpoint-store.js'
import { asLogged } from '../bus/market-log.js'

/** Messages per read. */
const READ_CHUNK = 256

/** The last number that a writer has in each command log. */
export interface LastNumbers {
  /**
   * Reads the market's log on to its end, and resolves with the writer's greatest number in it, 0 for none. Of what the newest
   * usable checkpoint covers, that checkpoint says it. A market without a log has none. With `most`, a log that was read before is
   * read on by about so many messages at most, and by the next call from there.
   */
  read(row: Market, most?: number): Promise<number>
  /** The greatest term of what was read so far. */
  term(): number
  /** The engine version of a market's log, as far as it was read. */
  engineVersion(market: string): number
}

interface ReachedNumbers {
  /** As the log states it, which governs. */
  readonly market: LogMarket
  readonly streamSeq: number
  readonly lastNo: number
  readonly engineVersion: number
}

/** The numbers of one source. In memory: what is read once is not read again. One entry for each market. */
export function createLastNumbers(bus: Bus, source: string): LastNumbers {
  const reached = new Map<string, ReachedNumbers>()
  const readOn = async (
    { market, ...from }: ReachedNumbers,
    lastSeq: number,
  ): Promise<ReachedNumbers> => {
    const { take } = commandMessages(market)
    let { streamSeq, lastNo, engineVersion } = from
    while (streamSeq < lastSeq) {
      const messages = await bus.read(commandsStream(market.market), streamSeq + 1, READ_CHUNK)
      if (messages.length === 0) break
      for (const logged of messages.flatMap((message) => take(message))) {
        if (logged.source === source) lastNo = Math.max(lastNo, logged.sourceNo)
        const { command } = logged
        if (command.kind === 'EngineVersionSet') {
          engineVersion = Math.max(engineVersion, command.version)
        }
      }
      streamSeq = messages.at(-1)?.seq ?? lastSeq
    }
    return { market, streamSeq, lastNo, engineVersion }
  }
  const begin = async (row: Market, firstSeq: number, lastSeq: number): Promise<ReachedNumbers> => {
    const market = await asLogged(bus, row)
    const checkpoints = await checkpointsOf(bus, market.market)
    const covered = checkpoints[0]?.commandSeq ?? 0
    const streamSeq = Math.max(firstSeq - 1, covered)
    const begun = { market, lastNo: 0, engineVersion: FIRST_ENGINE_VERSION }
    const since = await readOn({ ...begun, streamSeq }, lastSeq)
    if (checkpoints.length === 0) return since
    const state = await newestState(bus, market, checkpoints)
    if (state === undefined) return readOn({ ...begun, streamSeq: firstSeq - 1 }, lastSeq)
    return {
      ...since,
      // What the log has since may be of an earlier leader that appended late.
      lastNo: Math.max(since.lastNo, numberOf(state, source)),
      engineVersion: Math.max(since.engineVersion, state.engineVersion),
    }
  }
  return {
    async read(row, most = Infinity) {
      const ends = await endsOf(bus, row.market)
      if (ends === undefined) return 0
      const { firstSeq, lastSeq } = ends
      const known = reached.get(row.market)
      const goesOn = known && known.streamSeq >= firstSeq - 1 && known.streamSeq <= lastSeq
      const now = goesOn
        ? await readOn(known, Math.min(lastSeq, known.streamSeq + most))
        : await begin(row, firstSeq, lastSeq)
      // A log that was rolled back has forgotten some.
      const lastNo = Math.max(now.lastNo, known?.lastNo ?? 0)
      reached.set(row.market, { ...now, lastNo })
      return lastNo
    },
    engineVersion: (market) => reached.get(market)?.engineVersion ?? FIRST_ENGINE_VERSION,
    term: () => Math.max(0, ...Array.from(reached.values(), ({ lastNo }) => termOf(lastNo))),
  }
}

async function endsOf(bus: Bus, market: string) {
  try {
    return await bus.streamState(commandsStream(market))
  } catch (error) {
    if (error instanceof StreamMissing) return undefined
    throw error
  }
}

async function checkpointsOf(bus: Bus, market: string): Promise<StoredCheckpoint[]> {
  try {
    return await listCheckpoints(bus, market)
  } catch (error) {
    if (error instanceof StreamMissing) return []
    throw error
  }
}

/** The source's last number in the newest checkpoint that is usable, 0 where it has none; undefined when none is usable. */
export async function numberIn(
  bus: Bus,
  market: LogMarket,
  checkpoints: readonly StoredCheckpoint[],
  source: string,
): Promise<number | undefined> {
  const state = await newestState(bus, market, checkpoints)
  return state && numberOf(state, source)
}

const numberOf = ({ lastSourceNo }: MatcherSnapshot, source: string): number =>
  new Map(lastSourceNo).get(source) ?? 0

async function newestState(
  bus: Bus,
  market: LogMarket,
  checkpoints: readonly StoredCheckpoint[],
): Promise<MatcherSnapshot | undefined> {
  for (const stored of checkpoints) {
    try {
      return (await loadCheckpoint(bus, market, stored)).state
    } catch (error) {
      if (!(error instanceof CheckpointUnusable)) throw error
    }
  }
  return undefined
}
