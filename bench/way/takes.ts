import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const WRITTEN_WITHIN_MS = 20_000
const LOOK_EVERY_MS = 20

/** A called function, by the position of its compiled text. */
export interface RanFunction {
  /** Path of its source from the root. */
  readonly file: string
  /** Empty when it has none. */
  readonly name: string
  readonly from: number
  readonly to: number
}

/** Functions that ran in one process between two takes, by keyOf. */
export type Ran = ReadonlyMap<string, RanFunction>

/** Functions that ran in every process between two takes, by process name. */
export type Take = ReadonlyMap<string, Ran>

export const keyOf = ({ file, from, to }: RanFunction): string => `${file}:${from}-${to}`

/** Name of the file that a process writes when it begins to count. */
export const armedName = (pid: number): string => `${pid}.armed`
/** Name of the file of a process's take, numbered from 1. */
export const takeName = (pid: number, number: number): string => `${pid}-${number}.json`

/** The processes of a venue that were started with the recorder. */
export interface Recorders {
  /** Functions that ran since the previous take, or since the start. */
  take(): Promise<Take>
}

/** The processes that record into the directory; the bus and the chain do not. */
export function recordersOf(dir: string, pids: Readonly<Record<string, number>>): Recorders {
  const recording = Object.entries(pids).filter(([, pid]) => existsSync(join(dir, armedName(pid))))
  if (recording.length === 0) throw new Error('no process of the venue records what runs')
  let takes = 0
  return {
    take: async () => {
      takes += 1
      for (const [, pid] of recording) process.kill(pid, 'SIGUSR2')
      const written = recording.map(async ([name, pid]): Promise<[string, Ran]> => {
        const functions = await read(join(dir, takeName(pid, takes)), name)
        return [name, new Map(functions.map((each) => [keyOf(each), each]))]
      })
      return new Map(await Promise.all(written))
    },
  }
}

async function read(path: string, name: string): Promise<RanFunction[]> {
  const deadline = performance.now() + WRITTEN_WITHIN_MS
  while (!existsSync(path)) {
    if (performance.now() > deadline) throw new Error(`${name} did not write what ran in it`)
    await delay(LOOK_EVERY_MS)
  }
  return JSON.parse(await readFile(path, 'utf8')) as RanFunction[]
}
