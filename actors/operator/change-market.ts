import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  decodeMarketAnswer,
  encodeMarketRequest,
  type MarketChange,
  type MarketRequest,
} from '../../bus-schemas/markets.js'
import { askMarket } from '../../bus-schemas/subjects.js'
import { expiriesFrom, nextSeries, type NextSeries } from '../../core/contracts/future-calendar.js'
import type { MarketTerms } from '../../core/contracts/market-terms.js'
import { describeRules } from '../../core/contracts/market-terms.js'
import { isoTime } from '../../core/time.js'
import { addRows, updateRow } from '../../data/market-file.js'
import {
  describeAbsent,
  loadDeployedMarkets,
  readMarkets,
  readRows,
  tradedMarketNames,
  type MarketData,
} from '../../data/markets.js'
import { rowOfNextSeries } from '../../data/series-row.js'
import { NoAnswer, type Bus } from '../../runtime/bus/bus.js'
import type { OperatorKey } from '../../runtime/bus/operator-key.js'
import type { OperatorConfig } from './config.js'
import type { MarketOrder } from './command-line.js'

/** The order cannot be carried out; the message is one line. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused'
}

export interface OperatorDeps extends Pick<
  OperatorConfig,
  'marketsFile' | 'deploymentFile' | 'user' | 'calendar'
> {
  readonly bus: Pick<Bus, 'ask'>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Signs changes; without it they are refused by the matcher. */
  readonly operatorKey?: OperatorKey | undefined
  /** How long an added market has until its matcher answers. */
  readonly openWithinMs?: number
}

const ANSWER_WITHIN_MS = 15_000
const SHOW_WITHIN_MS = 5_000
const OPEN_WITHIN_MS = 30_000
const ASK_AGAIN_MS = 250
const NONCE_BYTES = 16
const DAY_SEC = 86_400

/**
 * Carries out what the operator asks for and resolves with the lines to print. A change is durable in the market's log
 * before the market file is written, so that a crash in between leaves a difference that the next start reports. Throws
 * OrderRefused.
 */
export async function carryOut(deps: OperatorDeps, order: MarketOrder): Promise<string[]> {
  switch (order.kind) {
    case 'list':
      return listMarkets(deps)
    case 'add':
      return addMarkets(deps, order.file)
    case 'row':
      return [rowOfSeries(deps, order.expirySec)]
    case 'change':
      return changeMarket(deps, order)
  }
}

async function listMarkets(deps: OperatorDeps): Promise<string[]> {
  const data = marketDataOf(deps)
  const lines = await Promise.all(
    tradedMarketNames(data).map(async (market) => {
      const terms = await showTerms(deps, market)
      return terms === undefined ? `${market}: its matcher does not answer` : line(market, terms)
    }),
  )
  const nowSec = Math.floor(deps.nowMs() / 1_000)
  const next = nextSeries(deps.calendar, loadDeployedMarkets(data).markets, nowSec)
  return next === undefined ? lines : [...lines, wordNext(next, nowSec)]
}

const marketDataOf = ({ marketsFile, deploymentFile }: OperatorDeps): MarketData => ({
  MARKETS_FILE: marketsFile,
  DEPLOYMENT_FILE: deploymentFile,
})

type Change = Extract<MarketOrder, { kind: 'change' }>

async function changeMarket(
  deps: OperatorDeps,
  { market, change, reason }: Change,
): Promise<string[]> {
  const names = tradedMarketNames(marketDataOf(deps))
  if (!names.includes(market)) {
    throw new OrderRefused(`no such market: ${market}; there are ${names.join(', ')}`)
  }
  try {
    const terms = await ask(deps, market, { change, reason, withinMs: ANSWER_WITHIN_MS })
    await writeRow(deps, market, change.kind === 'set' ? change.fields : { enabled: terms.enabled })
    return [line(market, terms)]
  } catch (refused) {
    if (change.kind !== 'enable' && change.kind !== 'disable') throw refused
    // The market may be so already, by a command whose answer was lost or whose file could not be written.
    const terms = await showTerms(deps, market)
    if (terms?.enabled === (change.kind === 'enable')) {
      await writeRow(deps, market, { enabled: terms.enabled })
    }
    throw refused
  }
}

async function writeRow(
  { marketsFile }: OperatorDeps,
  market: string,
  fields: Parameters<typeof updateRow>[2],
): Promise<void> {
  try {
    await updateRow(marketsFile, market, fields)
  } catch (cause) {
    throw new OrderRefused(
      `${market} is changed, but ${marketsFile} cannot be written: write it there as well`,
      { cause },
    )
  }
}

/** Adds the rows of a file to the market file; the running venue opens the markets by itself. */
async function addMarkets(deps: OperatorDeps, file: string): Promise<string[]> {
  const { marketsFile, openWithinMs = OPEN_WITHIN_MS } = deps
  const data = marketDataOf(deps)
  const given = readRows(file)
  const known = readRows(marketsFile)
  const before = loadDeployedMarkets(data)
  const after = readMarkets(data, [...known, ...given])
  const refused = after.refused[before.refused.length]
  if (refused !== undefined) throw new OrderRefused(`${refused.row}: ${refused.problem}`)
  const lacking = after.absent[before.absent.length]
  if (lacking !== undefined) throw new OrderRefused(describeAbsent(lacking))
  const added = after.markets.slice(before.markets.length).map(({ market }) => market)
  if (added.length === 0) throw new OrderRefused(`${file} has no market`)
  await addRows(marketsFile, given)
  const traded = new Set(tradedMarketNames(data))
  return Promise.all(
    added.map(async (market) => {
      if (!traded.has(market)) return `${market}: listed`
      const giveUpAtMs = performance.now() + openWithinMs
      while (performance.now() < giveUpAtMs) {
        const terms = await showTerms(deps, market)
        if (terms !== undefined) return line(market, terms)
        await delay(ASK_AGAIN_MS)
      }
      return `${market}: added; its matcher does not answer yet`
    }),
  )
}

/** The market's terms; undefined when no matcher that leads it answers. */
async function showTerms(deps: OperatorDeps, market: string): Promise<MarketTerms | undefined> {
  try {
    return await ask(deps, market, {
      ...{ change: { kind: 'show' }, reason: '', withinMs: SHOW_WITHIN_MS },
    })
  } catch (error) {
    if (error instanceof OrderRefused) return undefined
    throw error
  }
}

interface Asking {
  readonly change: MarketChange
  readonly reason: string
  readonly withinMs: number
}

async function ask(
  { bus, user, operatorKey, nowMs }: OperatorDeps,
  market: string,
  { change, reason, withinMs }: Asking,
): Promise<MarketTerms> {
  const unsigned: MarketRequest = { request_id: randomUUID(), by: user, reason, change }
  const issued = { issuedAtMs: nowMs(), nonce: randomBytes(NONCE_BYTES).toString('hex') }
  const request =
    change.kind === 'show' ? unsigned : (operatorKey?.sign(market, unsigned, issued) ?? unsigned)
  try {
    const data = await bus.ask(askMarket(market), encodeMarketRequest(request), withinMs)
    const answer = decodeMarketAnswer(data)
    if (answer.kind === 'refused') throw new OrderRefused(answer.message)
    return answer.terms
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const message = `the matcher of ${market} does not answer: look at ./venue market list, then try again`
    throw new OrderRefused(message, { cause: error })
  }
}

/** A file for `./venue market add`, as text. */
function rowOfSeries(deps: OperatorDeps, given: number | undefined): string {
  const { calendar, nowMs, marketsFile } = deps
  const nowSec = Math.floor(nowMs() / 1_000)
  const next = nextSeries(calendar, loadDeployedMarkets(marketDataOf(deps)).markets, nowSec)
  const [first] = expiriesFrom(calendar, nowSec)
  const expirySec = given ?? (next === undefined ? first : next.series?.expirySec)
  if (expirySec === undefined)
    throw new OrderRefused('FUTURES_CALENDAR names no next series: give its expiry')
  return JSON.stringify([rowOfNextSeries(readRows(marketsFile), expirySec)], null, 2)
}

/** What the calendar says of the series that is not listed yet, or that there is none. */
function wordNext({ series, dueSec }: NextSeries, nowSec: number): string {
  const at = isoTime(dueSec * 1_000).replace(':00.000Z', 'Z')
  const days = Math.floor((dueSec - nowSec) / DAY_SEC)
  if (series !== undefined) {
    const when = days < 0 ? `since ${at}` : `in ${days} days, at ${at}`
    return `next series: ${series.market}, not listed yet; due ${when}`
  }
  const when = days < 0 ? `stopped trading at ${at}` : `stops trading in ${days} days, at ${at}`
  return `next series: FUTURES_CALENDAR names none; the last one ${when}`
}

function line(market: string, { rules, enabled, standing }: MarketTerms): string {
  const { status, reason } = standing
  const why = reason === undefined ? '' : ` (${reason})`
  // A pause outlasts the time in which a market is disabled; open it is not meanwhile.
  const state = enabled || status !== 'open' ? `, ${status}${why}` : ''
  return `${market}: ${enabled ? 'enabled' : 'disabled'}${state}, ${describeRules(rules)}`
}
