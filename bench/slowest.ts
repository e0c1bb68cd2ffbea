import { TRACE_SPANS, type TraceSpan } from '../runtime/process/trace-spans.js'
import { percentile } from './rounds.js'
import type { Stall, Trace } from './tracer.js'

/** A request with the times at which it was due, ended its spans and was answered. */
export interface TracedRequest {
  readonly id: string
  /** Unix milliseconds. */
  readonly dueMs: number
  readonly tookMs: number
}

const NAMES = Object.keys(TRACE_SPANS) as TraceSpan[]
/** A part of a request's way: up to the end of a span. */
interface Leg {
  readonly to: TraceSpan | 'client'
  readonly fromMs: number
  readonly toMs: number
}

const SLOWEST_SHOWN = 12
/** Requests that count as slow, and as ordinary. */
const SLOW_SHARE = 0.01
const ORDINARY = { from: 0.45, to: 0.55 }

/**
 * The slowest requests by trace span: where they spent their time compared with ordinary ones, and what each process did
 * meanwhile. Requests that lack a span are left out.
 */
export function slowestOf(requests: readonly TracedRequest[], traces: readonly Trace[]): string {
  const passed = spanEndsOf(traces)
  const sorted = requests.toSorted((a, b) => b.tookMs - a.tookMs)
  const waysOf = (some: readonly TracedRequest[]): Leg[][] =>
    some.flatMap((request) => legsOf(request, passed.get(request.id)) ?? [])
  const at = (share: number): number => Math.floor(sorted.length * (1 - share))
  const slow = waysOf(sorted.slice(0, Math.max(1, Math.ceil(sorted.length * SLOW_SHARE))))
  const ordinary = waysOf(sorted.slice(at(ORDINARY.to), at(ORDINARY.from)))
  const took = requests.map(({ tookMs }) => tookMs)
  return [
    `${requests.length} requests: p50 ${ms(percentile(took, 0.5))}, p99 ${ms(percentile(took, 0.99))}, slowest ${ms(percentile(took, 1))}`,
    '',
    'mean ms up to the end of each span, of the slowest hundredth and of ordinary requests',
    ...compared(slow, ordinary),
    '',
    'stalls by process: count, ms together, longest',
    ...traces.flatMap(stallsOf),
    '',
    `the slowest: ms up to the end of each span, and the stalls of the process that had it`,
    ...waysOf(sorted.slice(0, SLOWEST_SHOWN)).map((legs) => wayLine(legs, traces)),
  ].join('\n')
}

type Passed = ReadonlyMap<string, number>

function spanEndsOf(traces: readonly Trace[]): Map<string, Map<string, number>> {
  const byRequest = new Map<string, Map<string, number>>()
  for (const { spanEnds } of traces) {
    for (const [id, span, atMs] of spanEnds) {
      const known = byRequest.get(id) ?? new Map<string, number>()
      // The first counts: a request that is logged twice passes the matcher twice.
      if (!known.has(span)) known.set(span, atMs)
      byRequest.set(id, known)
    }
  }
  return byRequest
}

/** Legs in the order in which they end: a matcher may be faster than the acknowledgement at the intake. */
function legsOf(request: TracedRequest, passed: Passed | undefined): [Leg[]] | undefined {
  const { dueMs, tookMs } = request
  const times = NAMES.map((to) => ({ to, toMs: passed?.get(to) }))
  if (times.some(({ toMs }) => toMs === undefined)) return undefined
  const stops = [...times, { to: 'client' as const, toMs: dueMs + tookMs }]
  let fromMs = dueMs
  const legs = stops
    .map(({ to, toMs = NaN }) => ({ to, toMs }))
    .sort((a, b) => a.toMs - b.toMs)
    .map(({ to, toMs }): Leg => {
      const leg = { to, fromMs, toMs }
      fromMs = toMs
      return leg
    })
  return [legs]
}

function compared(slow: readonly Leg[][], ordinary: readonly Leg[][]): string[] {
  const mean = (ways: readonly Leg[][], span: Leg['to']): number => {
    const spent = ways.flatMap((legs) => legs.filter(({ to }) => to === span))
    return (
      spent.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0) / Math.max(1, ways.length)
    )
  }
  return [...NAMES, 'client' as const].map(
    (to) =>
      `${to.padEnd(10)}${ms(mean(slow, to)).padStart(10)}${ms(mean(ordinary, to)).padStart(10)}`,
  )
}

function stallsOf({ process, stalls }: Trace): string[] {
  const kinds = new Set(stalls.map(({ what }) => what))
  return Array.from(kinds, (kind) => {
    const spans = stalls
      .filter(({ what }) => what === kind)
      .map(({ fromMs, toMs }) => toMs - fromMs)
    const sum = spans.reduce((total, span) => total + span, 0)
    return `${process.padEnd(16)}${kind.padEnd(16)}${String(spans.length).padStart(6)}${ms(sum).padStart(10)}${ms(Math.max(...spans)).padStart(10)}`
  })
}

function wayLine(legs: readonly Leg[], traces: readonly Trace[]): string {
  const first = legs[0]
  const last = legs.at(-1)
  const took = (last?.toMs ?? 0) - (first?.fromMs ?? 0)
  const parts = legs.map((leg) => {
    const inIt = overlapping(leg, traces)
    const why = inIt.length > 0 ? ` (${inIt.join(', ')})` : ''
    return `${leg.to} ${ms(leg.toMs - leg.fromMs)}${why}`
  })
  return `${ms(took)}: ${parts.join(' · ')}`
}

/** The longest stall of each process that lies in the leg, in ms. */
function overlapping(leg: Leg, traces: readonly Trace[]): string[] {
  if (leg.toMs - leg.fromMs < SHORT_LEG_MS) return []
  return traces.flatMap(({ process, stalls }) => {
    const inside = stalls
      .map((stall) => ({ what: stall.what, spanMs: common(stall, leg) }))
      .filter(({ spanMs }) => spanMs >= SHORT_STALL_MS)
      .sort((a, b) => b.spanMs - a.spanMs)
    return inside.slice(0, 1).map(({ what, spanMs }) => `${process} ${what} ${ms(spanMs)}`)
  })
}

const SHORT_LEG_MS = 5
const SHORT_STALL_MS = 3

const common = (a: Stall, b: Pick<Leg, 'fromMs' | 'toMs'>): number =>
  Math.min(a.toMs, b.toMs) - Math.max(a.fromMs, b.fromMs)

const ms = (value: number): string => (Number.isFinite(value) ? value.toFixed(1) : '–')
