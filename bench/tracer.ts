import { mkdirSync, writeFileSync } from 'node:fs'
import { subscribe } from 'node:diagnostics_channel'
import { basename, dirname, join } from 'node:path'
import { PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks'
import { SPAN_ENDS, type SpanEnd } from '../runtime/process/trace-spans.js'
import { profileDirectory } from './config.js'

/** What a process did while it was traced; times in unix milliseconds with fractions. */
export interface Trace {
  readonly process: string
  readonly spanEnds: readonly (readonly [requestId: string, span: string, atMs: number])[]
  /** Spans in which the event loop was late, and those in which garbage was collected. */
  readonly stalls: readonly Stall[]
}

export interface Stall {
  readonly what: string
  readonly fromMs: number
  readonly toMs: number
}

/** A turn that is late by less is not kept. */
const LATE_MS = 4
const LOOK_EVERY_MS = 2
const SHORTEST_GC_MS = 0.5

/**
 * Loaded into every process of a venue by `--import`: SIGUSR2 starts a trace, the next one writes it to PROFILE_DIR. Has no
 * effect in other processes.
 */
function offerTraces(dir: string, program: string): void {
  const name = basename(dirname(program))
  let spanEnds: [string, string, number][] = []
  let stalls: Stall[] = []
  let isRunning = false
  const nowMs = (): number => performance.timeOrigin + performance.now()
  subscribe(SPAN_ENDS, (message) => {
    const { requestId, span } = message as SpanEnd
    if (isRunning) spanEnds.push([requestId, span, nowMs()])
  })
  new PerformanceObserver((list) => {
    if (!isRunning) return
    for (const entry of list.getEntries()) {
      const { startTime, duration } = entry
      if (duration < SHORTEST_GC_MS) continue
      const fromMs = performance.timeOrigin + startTime
      const { detail } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } }
      const what = `gc ${GC_KINDS[detail.kind] ?? ''}`
      stalls.push({ what, fromMs, toMs: fromMs + duration })
    }
  }).observe({ entryTypes: ['gc'] })
  let lookedAtMs = nowMs()
  setInterval(() => {
    const atMs = nowMs()
    const dueMs = lookedAtMs + LOOK_EVERY_MS
    if (isRunning && atMs - dueMs >= LATE_MS) {
      stalls.push({ what: 'late turn', fromMs: dueMs, toMs: atMs })
    }
    lookedAtMs = atMs
  }, LOOK_EVERY_MS).unref()
  process.on('SIGUSR2', () => {
    if (isRunning) {
      mkdirSync(dir, { recursive: true })
      const trace: Trace = { process: name, spanEnds, stalls }
      writeFileSync(join(dir, `${name}-${process.pid}.trace.json`), JSON.stringify(trace))
    }
    ;[spanEnds, stalls] = [[], []]
    isRunning = !isRunning
  })
}

/** By Node's numbers. */
const GC_KINDS: Readonly<Record<number, string>> = {
  1: 'young',
  4: 'old',
  8: 'steps of old',
  16: 'weak callbacks',
}

const dir = profileDirectory()
const [, program = ''] = process.argv
if (dir !== undefined && program.endsWith('/main.js')) offerTraces(dir, program)
