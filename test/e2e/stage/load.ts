import { setTimeout as delay } from 'node:timers/promises'
import type { OrderBody } from '../../../client/index.js'
import type { Trader } from './trader.js'

const RESEND_PAUSE_MS = 100
const LOOK_EVERY_MS = 50
/** A submission that was not answered for this long never will be. */
const GIVE_UP_AFTER_MS = 60_000
/** A cancel names an order that was sent this many steps before, about two seconds. */
const CANCEL_LAG = 100

/** One thing a client sends. */
export type Step =
  | { readonly kind: 'place'; readonly body: OrderBody }
  | { readonly kind: 'cancel'; readonly body: OrderBody }

/** What the venue said in the end: any answer but a 5xx. */
export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** A step that was sent until it was answered, and how often that took. */
export interface Answered {
  readonly step: Step
  readonly answer: Answer
  readonly attempts: number
}

type Random = (below: number) => number

/** Prices and amounts of a market's orders. */
export interface Terms {
  /** In steps of the price's text. */
  readonly middle: number
  readonly price: (steps: number) => string
  readonly amount: (random: Random) => string
}

const SPOT_TERMS: Terms = {
  middle: 70_000,
  price: (steps) => `0.000${steps}`,
  amount: (random) => `${10 + random(200)}.${1 + random(999_999)}`,
}

/**
 * Signed steps of several traders without end, the same for the same traders: most orders rest near the middle, two in
 * five cross, and every eighth step cancels an order sent a while before.
 */
export async function* endlessSteps(
  traders: readonly Trader[],
  terms: Terms = SPOT_TERMS,
): AsyncGenerator<Step, never> {
  const random = randomNumbers(1)
  const recent: Step[] = []
  for (let count = 0; ; count += 1) {
    const former = recent.length === CANCEL_LAG ? recent.shift() : undefined
    const cancels = count % 8 === 7 && former !== undefined
    const step: Step = cancels
      ? { kind: 'cancel', body: former.body }
      : { kind: 'place', body: await nextOrder(traders, terms, random) }
    recent.push(step)
    yield step
  }
}

function nextOrder(traders: readonly Trader[], terms: Terms, random: Random): Promise<OrderBody> {
  const trader = traders[random(traders.length)] as Trader
  const side = random(2) === 0 ? 'buy' : 'sell'
  const ticks = 1 + random(10)
  const passive = random(5) < 2 ? -ticks : ticks
  const price = terms.middle + (side === 'sell' ? passive : -passive)
  return trader.sign({ side, amount: terms.amount(random), price: terms.price(price) })
}

/** The steps of several sources in turn. */
export async function* inTurn(
  sources: readonly AsyncGenerator<Step, never>[],
): AsyncGenerator<Step, never> {
  for (let turn = 0; ; turn += 1) {
    const source = sources[turn % sources.length] as AsyncGenerator<Step, never>
    yield (await source.next()).value
  }
}

export interface Load {
  /** Steps sent so far. */
  sent(): number
  /** Sends no further step. */
  stop(): void
  /** Resolves when everything that was sent up to now is answered, and one step that was sent later. */
  untilAnswered(): Promise<void>
  /** The longest time from a step's sending to its answer, of those answered since the last call, in milliseconds. */
  takeLongest(): number
  /** Resolves when the load has stopped and every step that was sent is answered. */
  answered(): Promise<Answered[]>
}

export interface LoadOptions {
  readonly gatewayUrl: string
  /** Gateways that are tried in turn when one does not answer. */
  readonly otherUrls?: readonly string[]
  readonly steps: AsyncIterable<Step>
  readonly perSecond: number
}

/**
 * Sends the steps at a steady pace, whether or not earlier ones are answered, each with the same body again and again
 * until it is, as a careful client does when the outcome is unknown.
 */
export function startLoad({ gatewayUrl, otherUrls = [], steps, perSecond }: LoadOptions): Load {
  const begun = performance.now()
  const answers: Promise<Answered>[] = []
  const urls = [gatewayUrl, ...otherUrls]
  let over = false
  let longestMs = 0
  const sendOne = async (step: Step): Promise<Answered> => {
    const sentAt = performance.now()
    const first = answers.length % urls.length
    const inTurn = [...urls.slice(first), ...urls.slice(0, first)]
    const answered = await sendUntilAnswered(inTurn, step)
    longestMs = Math.max(longestMs, performance.now() - sentAt)
    return answered
  }
  const run = async () => {
    for await (const step of steps) {
      await delay(begun + (answers.length * 1_000) / perSecond - performance.now())
      if (over) return
      const answered = sendOne(step)
      answered.catch(() => undefined)
      answers.push(answered)
    }
  }
  const running = run()
  return {
    sent: () => answers.length,
    untilAnswered: async () => {
      const sent = answers.length
      while (answers.length <= sent) await delay(LOOK_EVERY_MS)
      await Promise.all(answers.slice(0, sent + 1))
    },
    takeLongest: () => {
      const taken = longestMs
      longestMs = 0
      return taken
    },
    stop: () => {
      over = true
    },
    answered: async () => {
      await running
      return Promise.all(answers)
    },
  }
}

async function sendUntilAnswered(urls: readonly string[], step: Step): Promise<Answered> {
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS
  for (let attempts = 1; ; attempts += 1) {
    const answer = await send(urls[(attempts - 1) % urls.length] as string, step)
    if (answer !== undefined) return { step, answer, attempts }
    if (performance.now() > giveUpAt) throw new Error(`${step.body.order_id} was never answered`)
    await delay(RESEND_PAUSE_MS)
  }
}

/** Undefined when the outcome is unknown: a 5xx, or no answer at all. */
async function send(gatewayUrl: string, { kind, body }: Step): Promise<Answer | undefined> {
  const { owner_address, nonce } = body
  const [path, sent] =
    kind === 'place' ? ['/v1/orders', body] : ['/v1/orders/cancel', { owner_address, nonce }]
  try {
    const response = await fetch(new URL(path, gatewayUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    })
    const answer = (await response.json()) as Answer['body']
    return response.status < 500 ? { status: response.status, body: answer } : undefined
  } catch {
    return undefined
  }
}

/** A sequence of whole numbers below what is asked for, the same for the same seed. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
