import { VenuePro } from '../../ccxt/index.js'

/**
 * Calls of the class on a devnet, each with all that made its result: the clock, chance, what was sent and what was answered. A class
 * in another language is right when it sends and returns the same.
 */

export interface Exchanged {
  readonly method: string
  /** Without the host. */
  readonly url: string
  readonly body?: unknown
  /** Whether it carried the owner's frame. */
  readonly own: boolean
  readonly answer: unknown
  /** `X-Feed-Seq`. */
  readonly shown?: string
}

export interface RecordedCall {
  readonly method: string
  readonly args: readonly unknown[]
  /** Unix milliseconds of every look at the clock. */
  readonly now: number
  /** Hex of each call of randomBytes, and the results of uuid. */
  readonly chance: readonly string[]
  readonly exchanged: readonly Exchanged[]
  readonly returns: unknown
}

export interface Recording {
  readonly private_key: string
  readonly calls: readonly RecordedCall[]
}

const HOST = 'http://127.0.0.1:8080'

/** What a value is as JSON: undefined members are absent. */
export const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null))

type Fetch = VenuePro['fetch']
type Method = (...args: unknown[]) => Promise<unknown>

const methodOf = (exchange: VenuePro, name: string): Method =>
  (exchange as unknown as Readonly<Record<string, Method>>)[name]!.bind(exchange)

/** Makes calls of an exchange and notes all of it. */
export function record(exchange: VenuePro, host: string) {
  const fetch = exchange.fetch.bind(exchange)
  const { uuid } = exchange
  const randomBytes = exchange.randomBytes.bind(exchange)
  let chance: string[] = []
  let exchanged: Exchanged[] = []
  const noted = (text: string): string => {
    chance.push(text)
    return text
  }
  exchange.randomBytes = (length: number) => noted(randomBytes(length))
  exchange.uuid = () => noted(uuid())
  exchange.enableLastResponseHeaders = true
  exchange.fetch = async (...[url, method = 'GET', headers, body]: Parameters<Fetch>) => {
    const answer = await fetch(url, method, headers, body)
    const shown = exchange.last_response_headers?.['X-Feed-Seq']
    exchanged.push({
      method,
      url: url.replace(host, HOST),
      ...sentOf(headers, body),
      answer,
      ...(shown !== undefined && { shown }),
    })
    return answer
  }
  return async (method: string, ...args: unknown[]): Promise<RecordedCall> => {
    chance = []
    exchanged = []
    const now = Date.now()
    exchange.milliseconds = () => now
    const returns = asJson(await methodOf(exchange, method)(...args))
    return { method, args, now, chance, exchanged: asJson(exchanged) as Exchanged[], returns }
  }
}

function sentOf(headers: unknown, body: unknown): Pick<Exchanged, 'own' | 'body'> {
  const own = Object.keys(headers ?? {}).includes('X-Service-Auth')
  return { own, ...(typeof body === 'string' && { body: JSON.parse(body) }) }
}

/** An exchange that is given the answers of a recording. */
export class Replayed extends VenuePro {
  /** What was sent in the present call. */
  sent: Omit<Exchanged, 'answer' | 'shown'>[] = []
  private call: RecordedCall | undefined
  private chance: string[] = []

  constructor({ private_key: privateKey }: Recording) {
    super({ privateKey, urls: { api: { rest: HOST } }, enableRateLimit: false })
    this.uuid = () => this.chance.shift() ?? ''
    this.milliseconds = () => this.call?.now ?? 0
  }

  override randomBytes(): string {
    return this.chance.shift() ?? ''
  }

  override async fetch(...[url, method = 'GET', headers, body]: Parameters<Fetch>) {
    const next = this.call?.exchanged[this.sent.length]
    this.sent.push({ method, url, ...sentOf(headers, body) })
    const shown = next?.shown === undefined ? {} : { 'X-Feed-Seq': next.shown }
    const { answer } = next ?? {}
    this.handleErrors(200, 'OK', url, method, shown, '', answer, headers, body)
    return Promise.resolve(answer)
  }

  async replay(call: RecordedCall): Promise<unknown> {
    this.call = call
    this.sent = []
    this.chance = [...call.chance]
    // JSON has null for what was left out.
    const args = call.args.map((arg) => arg ?? undefined)
    return asJson(await methodOf(this, call.method)(...args))
  }
}
