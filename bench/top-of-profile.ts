import { readFileSync } from 'node:fs'
import type { Profiler, Runtime } from 'node:inspector'

interface Times {
  self: number
  total: number
}

/** The functions of a profile with the most self time, a line each: µs per unit of work, self and total. */
export function topOfProfile(path: string, units: number, lines: number): string {
  const profile = JSON.parse(readFileSync(path, 'utf8')) as Profiler.Profile
  const times = [...timesOf(profile)].filter(([name]) => !IDLE.has(name))
  const text = (us: number): string => (us / units).toFixed(1).padStart(8)
  return times
    .sort(([, a], [, b]) => b.self - a.self)
    .slice(0, lines)
    .map(([name, { self, total }]) => `${text(self)}${text(total)}  ${name}`)
    .join('\n')
}

/** Frames that are not work: `dispatch` is the profiler's own start and end. */
const IDLE: ReadonlySet<string> = new Set(['(idle)', '(root)', '(program)', 'dispatch'])

function timesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, Times> {
  const parents = new Map<number, number>()
  const names = new Map<number, string>()
  for (const { id, callFrame, children = [] } of nodes) {
    names.set(id, nameOf(callFrame))
    for (const child of children) parents.set(child, id)
  }
  const selfOf = new Map<number, number>()
  for (const [at, id] of samples.entries()) {
    selfOf.set(id, (selfOf.get(id) ?? 0) + (timeDeltas[at] ?? 0))
  }
  const times = new Map<string, Times>()
  const of = (name: string): Times => {
    const known = times.get(name) ?? { self: 0, total: 0 }
    times.set(name, known)
    return known
  }
  for (const [id, us] of selfOf) {
    of(names.get(id) ?? '').self += us
    const callers = new Set<string>()
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      callers.add(names.get(at) ?? '')
    }
    for (const name of callers) of(name).total += us
  }
  return times
}

function nameOf({ functionName, url, lineNumber }: Runtime.CallFrame): string {
  if (url === '') return functionName
  const place = url.replace(/.*\/node_modules\//, '').replace(/.*\/dist\//, '')
  return `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`
}
