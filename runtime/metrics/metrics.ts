import { setTimeout as delay } from 'node:timers/promises'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MeasuredRequest } from '../http/server.js'
import { METRICS, type LabelsOf, type MetricName, type NameOf } from './table.js'

/** Latencies in seconds: from a fraction of a millisecond to the minute in which a settlement is late. */
const BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
]

/** The value of one combination of labels. */
type Sample<Name extends MetricName> = readonly [labels: LabelsOf<Name>, value: number]

/** The metrics of one process. Each name is registered at most once. */
export interface Metrics {
  /**
   * Asked at each scrape; labels that are not among the samples any more disappear. A rejection, or an answer that is late,
   * leaves the metric out.
   */
  sample<Name extends NameOf<'gauge'>>(
    name: Name,
    read: () => Iterable<Sample<Name>> | Promise<Iterable<Sample<Name>>>,
  ): void
  /** Returns the function that sets the value. */
  gauge<Name extends NameOf<'gauge'>>(name: Name): (labels: LabelsOf<Name>, value: number) => void
  /**
   * Returns the function that adds one, or as many as it is given. What is `watched`, or added as 0, is shown as 0 until then: an alert on
   * the increase of a counter does not see the first event of a series that begins with it.
   */
  counter<Name extends NameOf<'counter'>>(
    name: Name,
    watched?: readonly LabelsOf<Name>[],
  ): (labels: LabelsOf<Name>, count?: number) => void
  /** Returns the function that adds a duration in seconds. */
  histogram<Name extends NameOf<'histogram'>>(
    name: Name,
  ): (labels: LabelsOf<Name>, seconds: number) => void
  /** All of them in the text format of Prometheus, with its content type. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>
}

/**
 * Interval of the timer by which Node measures the lag of the event loop, in milliseconds; a lag is reported with it added.
 * The default of 10 ms wakes each idle process a hundred times a second, which takes 1 to 2 % of a processor.
 */
export const LAG_EVERY_MS = 100

/**
 * A source that is silent, such as the chain's node or the bus, must not make its process look dead: this is shorter than what
 * `./venue status` waits for a process, and than a scrape of Prometheus.
 */
const SAMPLE_WITHIN_MS = 1_000

/** The metrics of this process, those of Node among them. */
export function createMetrics(sampleWithinMs = SAMPLE_WITHIN_MS): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_EVERY_MS })
  const options = (name: MetricName) => {
    const { help, labels } = METRICS[name]
    return { name, help, labelNames: [...labels], registers: [registry] }
  }
  return {
    sample(name, read) {
      new Gauge({
        ...options(name),
        async collect() {
          this.reset()
          // One without labels would be shown as 0.
          if (METRICS[name].labels.length === 0) this.remove()
          // One source that does not answer must not take the others' values away.
          const samples = await Promise.race([
            Promise.resolve().then(read),
            delay(sampleWithinMs, [], { ref: false }),
          ]).catch(() => [])
          for (const [labels, value] of samples) this.set({ ...labels }, value)
        },
      })
    },
    gauge(name) {
      const metric = new Gauge(options(name))
      return (labels, value) => metric.set({ ...labels }, value)
    },
    counter(name, watched = []) {
      const metric = new Counter(options(name))
      for (const labels of watched) metric.inc({ ...labels }, 0)
      return (labels, count = 1) => metric.inc({ ...labels }, count)
    },
    histogram(name) {
      const metric = new Histogram({ ...options(name), buckets: BUCKETS })
      return (labels, seconds) => metric.observe({ ...labels }, seconds)
    },
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  }
}

type Listener = (...args: never[]) => void

/**
 * Facts that also tell a second observer: each function of `second` is called after that of `first`. Facts are functions
 * without a result, so the order of the two is all that can be seen.
 */
export function alongside<Facts extends object>(first: Facts, second: Partial<Facts>): Facts {
  const both = { ...first } as Record<string, unknown>
  for (const [name, also] of Object.entries(second) as [string, Listener][]) {
    const told = both[name] as Listener
    both[name] = (...args: never[]) => {
      told(...args)
      also(...args)
    }
  }
  return both as Facts
}

/** Measures the requests of an HTTP service; returns what is to be called with each answer. */
export function measureHttp(metrics: Metrics): (answer: MeasuredRequest) => void {
  const request = metrics.histogram('venue_http_request_seconds')
  const refused = metrics.counter('venue_http_refusals_total')
  return ({ method, route, status, code, seconds }) => {
    request(
      { method: KNOWN_METHODS.has(method) ? method : 'other', route, status: `${status}` },
      seconds,
    )
    if (code !== undefined) refused({ route, code })
  }
}

/** Others come from clients, and each would be a time series of its own. */
const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])
