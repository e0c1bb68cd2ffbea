import { expect } from 'chai'
import { slowestOf } from '../../bench/slowest.js'
import type { Trace } from '../../bench/tracer.js'
import { TRACE_SPANS } from '../../runtime/process/trace-spans.js'

const LEG_MS = 2
const STALL = { from: 1_007, to: 1_057 }

/** Ends each span after LEG_MS; the tenth request waits in the intake's stall. */
function spanEndsOf(id: string, startMs: number, waitMs: number): Trace['spanEnds'] {
  return Object.keys(TRACE_SPANS).map((span, index) => {
    const waited = index >= 3 ? waitMs : 0
    return [id, span, startMs + (index + 1) * LEG_MS + waited] as const
  })
}

describe('the slowest requests of a trace', () => {
  const requests = Array.from({ length: 100 }, (_, i) => {
    const waitMs = i === 10 ? 50 : 0
    const dueMs = i === 10 ? 1_000 : 2_000 + i
    const tookMs = (Object.keys(TRACE_SPANS).length + 1) * LEG_MS + waitMs
    return { id: `r${i}`, dueMs, tookMs, waitMs }
  })
  const trace: Trace = {
    process: 'order-intake',
    spanEnds: requests.flatMap(({ id, dueMs, waitMs }) => spanEndsOf(id, dueMs, waitMs)),
    stalls: [{ what: 'late turn', fromMs: STALL.from, toMs: STALL.to }],
  }
  const text = slowestOf(requests, [trace])

  it('tells where they waited, beside the ordinary ones', () => {
    expect(text).to.match(/claimed +52\.0 +2\.0\n/)
    expect(text).to.match(/matched +2\.0 +2\.0\n/)
  })

  it('names the stall that fell into the leg', () => {
    expect(text).to.include('68.0: received 2.0')
    expect(text).to.include('claimed 52.0 (order-intake late turn 50.0)')
    expect(text).to.match(/order-intake +late turn +1 +50\.0 +50\.0/)
  })

  it('leaves out a request that lacks a span', () => {
    const lost = { id: 'lost', dueMs: 0, tookMs: 9_000 }
    expect(slowestOf([...requests, lost], [trace])).to.include('\n68.0: received')
  })
})
