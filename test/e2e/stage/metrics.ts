import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from '../../../core/assert.js'
import { inProject } from '../../../devnet/launcher/binaries.js'

/** The address of each process's metrics, by process. */
export function targetsOf(dataDir: string): Map<string, string> {
  const dir = join(dataDir, 'metrics')
  return new Map(
    readdirSync(dir)
      .filter((file) => file.endsWith('.json'))
      .map((file) => {
        const [group] = JSON.parse(readFileSync(join(dir, file), 'utf8')) as [{ targets: string[] }]
        return [file.replace(/\.json$/, ''), group.targets[0] ?? '']
      }),
  )
}

/** A line of metrics, with its labels. */
export interface Sample {
  readonly series: string
  readonly value: string
}

/** The venue's metrics that a process shows now. */
export async function scrape(dataDir: string, process: string): Promise<Sample[]> {
  const text = await (await fetch(`http://${targetsOf(dataDir).get(process)}/metrics`)).text()
  return Array.from(text.matchAll(/^(venue_\S+) (\S+)$/gm), ([, series = '', value = '']) => ({
    series,
    value,
  }))
}

/** The path of `prometheus` or `promtool`: the one that `./venue test` fetches, or an installed one. Throws where there is none. */
export function prometheusProgram(name: 'prometheus' | 'promtool'): string {
  const fetched = inProject(`.tools/prometheus/usr/bin/${name}`)
  if (existsSync(fetched)) return fetched
  if (spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) return name
  throw new Error(`no ${name}: ./venue test fetches it, or apt-get install prometheus`)
}

/** Asserts by promtool that the expression of the alert gives these samples, and so fires for them, on the samples shown. */
export function expectAlert(
  name: string,
  shown: readonly Sample[],
  wanted: readonly Sample[],
): void {
  expectSamples(exprOf(name), shown, wanted)
}

/** Asserts by promtool that the alert fires on what is shown, whose values are minute by minute, after the last of them. */
export function expectFiring(name: string, shown: readonly Sample[]): void {
  expectSamples(`count(${exprOf(name)})`, shown, [{ series: '{}', value: '1' }])
}

function exprOf(name: string): string {
  const rules = readFileSync(inProject('docs/operating/alerts.yml'), 'utf8')
  const [, expr] = new RegExp(`- alert: ${name}\\n +expr: '(.+)'\\n`).exec(rules) ?? []
  assert(expr !== undefined, `there is an alert ${name}`)
  return expr
}

function expectSamples(expr: string, shown: readonly Sample[], wanted: readonly Sample[]): void {
  const minutes = Math.max(1, ...shown.map(({ value }) => value.split(' ').length)) - 1
  const evaluated = {
    rule_files: [],
    tests: [
      {
        interval: '1m',
        input_series: shown.map(({ series, value }) => ({ series, values: value })),
        promql_expr_test: [
          {
            expr,
            eval_time: `${minutes}m`,
            exp_samples: wanted.map(({ series, value }) => ({
              labels: series,
              value: Number(value),
            })),
          },
        ],
      },
    ],
  }
  const dir = mkdtempSync(join(tmpdir(), 'venue-rules-'))
  try {
    const file = join(dir, 'test.yml')
    writeFileSync(file, JSON.stringify(evaluated))
    const { status, stdout, stderr } = spawnSync(
      prometheusProgram('promtool'),
      ['test', 'rules', file],
      {
        encoding: 'utf8',
      },
    )
    expect(status, `${stdout}${stderr}`).to.equal(0)
  } finally {
    rmSync(dir, { recursive: true })
  }
}
