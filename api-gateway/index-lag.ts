import {
  decodeIndexLagAnswer,
  encodeIndexLagQuestion,
  type IndexLagAnswer,
  type IndexLagQuestion,
} from '../bus-schemas/reports.js'
import { askIndexLag } from '../bus-schemas/subjects.js'
import { indexLagAt, type IndexLag, type IndexSample } from '../core/contracts/index-lag.js'
import { NoAnswer, type Bus } from '../runtime/bus/bus.js'
import { cached } from './health.js'

const ASK_TIMEOUT_MS = 1_000

/** The limit of the index's lag, which the order intake keeps. */
export interface IndexLagReader {
  /** The limit with a sample at most a second older than the newest; undefined without a limit, and without an answer. */
  readonly lag: (nowMs: number) => Promise<IndexLag | undefined>
  /** `off` where there is no limit; `unknown` when the intake does not answer. */
  readonly report: (sample: IndexSample) => Promise<'recorded' | 'off' | 'unknown'>
}

export function createIndexGate(bus: Pick<Bus, 'ask' | 'isConnected'>): IndexLagReader {
  const ask = async (question: IndexLagQuestion): Promise<IndexLagAnswer | undefined> => {
    if (!bus.isConnected()) return undefined
    try {
      const data = await bus.ask(askIndexLag, encodeIndexLagQuestion(question), ASK_TIMEOUT_MS)
      return decodeIndexLagAnswer(data)
    } catch (error) {
      if (error instanceof NoAnswer) return undefined
      throw error
    }
  }
  const newest = cached<'gate', IndexLagAnswer | undefined>(() => ask({}))
  return {
    async lag(nowMs) {
      const watch = (await newest('gate'))?.watch
      return watch && indexLagAt(watch, nowMs)
    },
    async report(sample) {
      const answer = await ask({ sample })
      if (answer === undefined) return 'unknown'
      return answer.watch === undefined ? 'off' : 'recorded'
    },
  }
}
