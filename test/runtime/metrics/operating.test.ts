import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measureMatchers } from '../../../actors/matcher/measure.js'
import { measureExecutor } from '../../../executor/measure.js'
import { createMetrics } from '../../../runtime/metrics/metrics.js'
import { METRICS } from '../../../runtime/metrics/table.js'
import { expectNoOverlap } from '../../support/dashboard.js'
import { readSecretFiles } from '../../../runtime/process/secret-files.js'
import {
  expectAlert,
  expectFiring,
  prometheusProgram,
  type Sample,
} from '../../e2e/stage/metrics.js'
import { tempDir } from '../../support/temp-dir.js'

const root = new URL('../../../../', import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8')

/** Metrics of every process that are not ours: of Node's client, and Prometheus' own. */
const OF_NODE = new Set([
  'up',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'nodejs_eventloop_lag_p99_seconds',
])

const SUFFIXES: Record<string, readonly string[]> = {
  gauge: [''],
  counter: [''],
  histogram: ['_bucket', '_count', '_sum'],
}
/** The names under which Prometheus knows our metrics. */
const SERIES = new Map(
  Object.entries(METRICS).flatMap(([name, { kind }]) =>
    (SUFFIXES[kind] ?? []).map((suffix) => [`${name}${suffix}`, name] as const),
  ),
)

const FUNCTIONS = new Set(['histogram_quantile'])

/** The metrics that an expression names, without what stands in its quotes, braces and brackets. */
const namesIn = (expr: string): string[] =>
  expr
    .replace(/"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(by|on|group_right) \([^)]*\)/g, '')
    .match(/\b[a-z]+(_[a-z0-9]+)+\b|\bup\b/g)
    ?.filter((name) => !FUNCTIONS.has(name)) ?? []

interface Dashboard {
  readonly panels: readonly {
    readonly id: number
    readonly title: string
    readonly datasource: { readonly uid: string }
    readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
    readonly targets: readonly { readonly refId: string; readonly expr: string }[]
  }[]
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string }[]
  }
}

const alerts = read('docs/operating/alerts.yml')
const rules = Array.from(
  alerts.matchAll(
    /- alert: (\w+)\n\s+expr: '(.*)'\n\s+for: (\w+)\n\s+labels: \{ severity: (\w+) \}\n\s+annotations:\n\s+summary: .*\n\s+description: >-\n((?: {12}.*\n)+)/g,
  ),
  ([, name = '', expr = '', after = '', severity = '', text = '']) => ({
    name,
    expr,
    after,
    severity,
    /** What it means and what to do. */
    description: text.replace(/^ +/gm, '').trim(),
  }),
)

const METRICS_PAGE = 'docs/METRICS.md'
const ALERTS = 'docs/ALERTS.md'
const alertsPage = (): string =>
  [
    '# Alerts',
    "What each alert means and what to do. Made from [operating/alerts.yml](operating/alerts.yml), where the text is the alert's own\n`description`. Severity `page` is for a person who is woken, `ticket` for the next day, `none` for no one.",
    ...rules.map(
      ({ name, after, severity, description }) =>
        `## ${name}\n\n\`${severity}\`, after ${after}. ${description}`,
    ),
  ].join('\n\n') + '\n'

/** Writes a document that is made from declarations, where WRITE_DOCS=1 asks for it. */
function writeIfAsked(path: string, text: string): void {
  if (process.env.WRITE_DOCS === '1') writeFileSync(new URL(path, root), text)
}

const dashboard = JSON.parse(read('docs/operating/dashboard.json')) as Dashboard
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
]
const METRICS_HEAD = `# Metrics

Every metric of a process, beside those that Node has of itself. [OPERATING](OPERATING.md#watch-it) says how they are read. Made from
\`runtime/metrics/table.ts\` by \`WRITE_DOCS=1 ./venue test dist/test/runtime/metrics/operating.test.js\`.

| metric | kind | labels | process | what it says |
| - | - | - | - | - |
`

/** The page of the metrics as they are declared. */
function metricsPage(): string {
  const rows = Object.entries(METRICS).map(
    ([name, { kind, labels, process, help }]) =>
      `| \`${name}\` | ${kind} | ${labels.join(', ')} | ${process} | ${help} |\n`,
  )
  return `${METRICS_HEAD}${rows.join('')}`
}

describe('what an operator watches', () => {
  it('names only metrics that exist, and each of ours somewhere', () => {
    const named = new Set(expressions.flatMap(namesIn))
    const unknown = [...named].filter((name) => !SERIES.has(name) && !OF_NODE.has(name))
    expect(unknown).to.deep.equal([])
    const shown = new Set([...named].map((name) => SERIES.get(name)))
    expect(Object.keys(METRICS).filter((name) => !shown.has(name))).to.deep.equal([])
  })

  it('says what to do for each alert, in the alert and in docs/ALERTS.md', () => {
    expect(rules).to.have.length.above(10)
    expect(alerts.match(/- alert:/g)).to.have.length(rules.length)
    writeIfAsked(ALERTS, alertsPage())
    expect(read(ALERTS)).to.equal(alertsPage())
  })

  it('lists the metrics in docs/METRICS.md as they are declared', () => {
    writeIfAsked(METRICS_PAGE, metricsPage())
    expect(read(METRICS_PAGE)).to.equal(metricsPage())
  })

  it('has a dashboard whose panels do not overlap and read the chosen Prometheus', () => {
    const { panels, templating } = dashboard
    expect(templating.list).to.deep.include({
      ...templating.list[0],
      name: 'datasource',
      type: 'datasource',
    })
    expectNoOverlap(panels)
    for (const { title, datasource } of panels)
      expect(datasource.uid, title).to.equal('${datasource}')
  })

  it('tells a clock that is off, ahead or behind, and one that was set back', () => {
    const rule = 'VenueClockSkew'
    const ahead = 'venue_clock_ahead_seconds{process="chain-reader"}'
    const labels = '{process="chain-reader"}'
    for (const value of ['60', '-60']) expectAlert(rule, [{ series: ahead, value }], [])
    for (const value of ['61', '-61'])
      expectAlert(rule, [{ series: ahead, value }], [{ series: labels, value: '61' }])
    // The time is 0 there, so that all of these are younger than now.
    for (const name of [
      'venue_chain_block_timestamp_seconds',
      'venue_checkpoint_timestamp_seconds',
    ]) {
      const series = `${name}{process="a"}`
      expectAlert(rule, [{ series, value: '60' }], [])
      expectAlert(rule, [{ series, value: '61' }], [{ series: '{process="a"}', value: '-61' }])
    }
  })

  it('tells a process whose node is on another chain', () => {
    const series = 'venue_other_chain{process="executor"}'
    expectAlert('VenueOtherChain', [{ series, value: '0' }], [])
    expectAlert('VenueOtherChain', [{ series, value: '1' }], [{ series, value: '1' }])
  })

  it('tells the absence of every target, releases that differ, a market that has ended, and a matcher that stays down', () => {
    expectAlert('VenueNothingScraped', [], [{ series: '{job="venue"}', value: '1' }])
    const up = 'up{job="venue",process="gateway"}'
    expectAlert('VenueNothingScraped', [{ series: up, value: '0' }], [])
    const runs = (process: string, version: string) => ({
      series: `venue_build_info{process="${process}",version="${version}"}`,
      value: '1',
    })
    expectAlert('VenueReleasesDiffer', [runs('gateway', '1.0.0'), runs('keeper', '1.0.0')], [])
    expectAlert(
      'VenueReleasesDiffer',
      [runs('gateway', '1.0.0'), runs('keeper', '1.0.1')],
      [{ series: '{}', value: '2' }],
    )
    const held = (reason: string) => ({
      series: `venue_market_held{market="F",cause="chain",reason="${reason}"}`,
      value: '1',
    })
    expectAlert('VenueMarketEnded', [held('index_stale')], [])
    expectAlert(
      'VenueMarketEnded',
      [held('trading_ended')],
      [{ series: '{market="F"}', value: '1' }],
    )
    // The market of a matcher that stays down may trade on with another.
    const down = {
      series: 'venue_market_held{market="F",cause="matcher",reason="cannot_start"}',
      value: '1',
    }
    expectAlert('VenueMarketHeld', [down], [])
    expectAlert('VenueMatcherDown', [held('index_stale')], [])
    expectAlert('VenueMatcherDown', [down], [{ series: '{market="F"}', value: '1' }])
  })

  const PROCESSES = [...read('Procfile').matchAll(/^([a-z-]+):/gm)].map(([, name = '']) => name)

  it('tells a process of the Procfile that has no target, and a market without a matcher', () => {
    const one = PROCESSES.filter((name) => name !== 'matchers')
    const up = (process: string) => ({ series: `up{job="venue",process="${process}"}`, value: '1' })
    const all = one.map(up)
    expectAlert('VenueProcessMissing', all, [])
    for (const missing of one)
      expectAlert(
        'VenueProcessMissing',
        all.filter(({ series }) => series !== up(missing).series),
        [{ series: `{job="venue",process="${missing}"}`, value: '1' }],
      )
    // One that is down has a target, and an alert of its own; without any, VenueNothingScraped is enough.
    expectAlert('VenueProcessMissing', [...all.slice(1), { ...up('gateway'), value: '0' }], [])
    expectAlert('VenueProcessMissing', [], [])

    const taken = (market: string) => ({
      series: `venue_orders_refused{market="${market}"}`,
      value: '0',
    })
    const ready = (market: string) => ({
      series: `venue_matcher_ready{market="${market}"}`,
      value: '0',
    })
    const both = [taken('A'), taken('B'), ready('A')]
    expectAlert('VenueMatcherMissing', [...both, ready('B')], [])
    expectAlert('VenueMatcherMissing', both, [{ series: '{market="B"}', value: '0' }])
  })

  it('tells a file with a secret that others can read, and that alerts arrive', () => {
    const dir = tempDir()
    try {
      const shown = (mode: number): Sample[] => {
        const file = join(dir.path, 'key')
        writeFileSync(file, '', { mode: 0o600 })
        chmodSync(file, mode)
        return readSecretFiles([file]).map(({ path, isExposed }) => ({
          series: `venue_secret_file_exposed{file="${path}"}`,
          value: isExposed ? '1' : '0',
        }))
      }
      const labels = `{file="${join(dir.path, 'key')}"}`
      expectAlert('VenueKeyExposed', shown(0o600), [])
      for (const mode of [0o640, 0o604, 0o622])
        expectAlert('VenueKeyExposed', shown(mode), [{ series: labels, value: '1' }])
    } finally {
      dir.remove()
    }
    expectAlert('VenueWatchdog', [], [{ series: '{}', value: '1' }])
  })

  it('shows as 0 from the start each counter whose increase an alert watches', async () => {
    const metrics = createMetrics()
    measureMatchers(metrics, Date.now)('A')
    measureExecutor(metrics)
    const { body } = await metrics.text()
    const watched = rules.flatMap(({ name, expr }) =>
      Array.from(expr.matchAll(/increase\((\w+)(?:\{(\w+)=~?"(.*?)"\})?\[/g), (found) => ({
        name,
        metric: found[1] ?? '',
        label: found[2],
        values: found[3]?.split('|') ?? [''],
      })),
    )
    expect(watched.map(({ name }) => name)).to.deep.equal([
      'VenueSettlementReversed',
      'VenueCommandRefused',
      'VenueCheckpointFails',
    ])
    for (const { name, metric, label, values } of watched)
      for (const value of values) {
        const lines = body.split('\n').filter((line) => line.startsWith(`${metric}{`))
        const line = lines.find((it) => label === undefined || it.includes(`${label}="${value}"`))
        expect(line, `${metric} of ${name}`).to.match(/ 0$/)
        const series = line?.replace(/ 0$/, '') ?? ''
        // One that begins with its first event shows no increase.
        const often = name === 'VenueCheckpointFails' ? '0 3' : '0 1'
        expectFiring(name, [{ series, value: often }])
        expectAlert(name, [{ series, value: '0 0' }], [])
      }
  })

  it('has rules and a configuration that promtool accepts', () => {
    for (const args of [
      ['check', 'rules', 'docs/operating/alerts.yml'],
      ['check', 'config', 'docs/operating/prometheus.yml'],
    ]) {
      const { status, stdout, stderr } = spawnSync(prometheusProgram('promtool'), args, {
        cwd: root,
        encoding: 'utf8',
      })
      expect(status, `${stdout}${stderr}`).to.equal(0)
    }
  })
})
