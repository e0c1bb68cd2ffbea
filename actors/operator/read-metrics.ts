import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { MetricName } from '../../runtime/metrics/table.js'

/** The metrics of one process, or why there are none. */
export interface ProcessMetrics {
  readonly process: string
  /** Undefined when it does not answer. */
  readonly values: readonly MetricValue[] | undefined
}

export interface MetricValue {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const targetFile = z.tuple([z.object({ targets: z.tuple([z.string()]) })])
const ANSWER_WITHIN_MS = 10_000

/** Scrapes every process that has written its address into the directory, in the order of their names. */
export async function readMetrics(dir: string): Promise<ProcessMetrics[]> {
  const files = await readdir(dir).catch(() => [])
  const names = files.filter((file) => file.endsWith('.json')).toSorted()
  return Promise.all(
    names.map(async (file) => {
      const process = file.replace(/\.json$/, '')
      try {
        const [{ targets }] = targetFile.parse(JSON.parse(await readFile(join(dir, file), 'utf8')))
        const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
        const answer = await fetch(`http://${targets[0]}/metrics`, { signal })
        return { process, values: valuesIn(await answer.text()) }
      } catch {
        return { process, values: undefined }
      }
    }),
  )
}

const LINE = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g

/** The samples of a text in Prometheus' format. */
export function valuesIn(text: string): MetricValue[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [key, text] as const)
    return { name, labels: Object.fromEntries(pairs), value: Number(value) }
  })
}

/** The samples of one metric over all processes. */
export const samplesOf = (
  processes: readonly ProcessMetrics[],
  name: MetricName | 'process_resident_memory_bytes' | 'nodejs_eventloop_lag_p99_seconds',
): (MetricValue & { readonly process: string })[] =>
  processes.flatMap(({ process, values = [] }) =>
    values.filter((value) => value.name === name).map((value) => ({ ...value, process })),
  )
