import { setTimeout as delay } from 'node:timers/promises'
import type { Registration } from '../../bus-schemas/register.js'
import { expiriesFrom, nextSeries, type NextSeries } from '../../core/contracts/future-calendar.js'
import type { MarketTerms } from '../../core/model/market-terms.js'
import { describeRules } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import { isoTime } from '../../core/time.js'
import { readRows } from '../../data/markets.js'
import { marketsIn, readRegister, readRegistrations } from '../../runtime/bus/market-register.js'
import type { OperatorConfig } from './config.js'
import type { MarketOrder } from './command-line.js'
import { askTerms, rowOfSeriesAfter, SHOW } from '../market-orders/ask-market.js'
import { OperatorOrderRefused } from '../market-orders/order-refused.js'
import { registerRows, type RegisterDeps } from '../market-orders/register-markets.js'

export interface OperatorDeps extends RegisterDeps, Pick<OperatorConfig, 'calendar'> {
  /** How long an added market has until its matcher answers. */
  readonly openWithinMs?: number
}

const ANSWER_WITHIN_MS = 15_000
const OPEN_WITHIN_MS = 30_000
const ASK_AGAIN_MS = 250
const DAY_SEC = 86_400

/**
 * Carries out what the operator asks for and resolves with the lines to print. A change is durable in the market's log, a
 * registration in the register of markets. Throws OperatorOrderRefused, and MarketFileError when a file cannot be read.
 */
export async function carryOut(deps: OperatorDeps, order: MarketOrder): Promise<string[]> {
  switch (order.kind) {
    case 'list':
      return listMarkets(deps)
    case 'history':
      return (await readRegistrations(deps.bus)).map(wordRegistration)
    case 'add':
      return addMarkets(deps, order)
    case 'row':
      return [await rowOfSeries(deps, order.expirySec)]
    case 'change':
      return changeMarket(deps, order)
  }
}

const registered = async ({ bus }: OperatorDeps): Promise<Market[]> =>
  marketsIn(await readRegister(bus))

async function listMarkets(deps: OperatorDeps): Promise<string[]> {
  const markets = await registered(deps)
  const lines = await Promise.all(
    markets.map(async ({ market }) => {
      const terms = await showTerms(deps, market)
      return terms === undefined ? `${market}: its matcher does not answer` : line(market, terms)
    }),
  )
  const nowSec = Math.floor(deps.nowMs() / 1_000)
  const next = nextSeries(deps.calendar, markets, nowSec)
  return next === undefined ? lines : [...lines, wordNext(next, nowSec)]
}

/** Texts are quoted: they are an operator's own. */
function wordRegistration({ by, reason, entries, atMs }: Registration): string {
  const at = atMs === undefined ? 'at an unknown time' : isoTime(atMs)
  const markets = entries.map(({ opening }) => opening.identity.market).join(', ')
  return `${at} by ${by}, ${JSON.stringify(reason)}: ${markets}`
}

type MarketChangeOrder = Extract<MarketOrder, { kind: 'change' }>

async function changeMarket(
  deps: OperatorDeps,
  { market, change, reason }: MarketChangeOrder,
): Promise<string[]> {
  const names = (await registered(deps)).map(({ market: name }) => name)
  if (!names.includes(market)) {
    throw new OperatorOrderRefused(`no such market: ${market}; there are ${names.join(', ')}`)
  }
  return [
    line(market, await askTerms(deps, market, { change, reason, withinMs: ANSWER_WITHIN_MS })),
  ]
}

/** Has the rows of a file registered; the running venue opens the markets by itself. */
async function addMarkets(
  deps: OperatorDeps,
  { file, reason }: Extract<MarketOrder, { kind: 'add' }>,
): Promise<string[]> {
  const { openWithinMs = OPEN_WITHIN_MS } = deps
  const added = await registerRows(deps, readRows(file), reason)
  return Promise.all(
    added.map(async (market) => {
      const giveUpAtMs = performance.now() + openWithinMs
      while (performance.now() < giveUpAtMs) {
        const terms = await showTerms(deps, market)
        if (terms !== undefined) return line(market, terms)
        await delay(ASK_AGAIN_MS)
      }
      return `${market}: registered; its matcher does not answer yet`
    }),
  )
}

/** The market's terms; undefined when no matcher that leads it answers. */
async function showTerms(deps: OperatorDeps, market: string): Promise<MarketTerms | undefined> {
  try {
    return await askTerms(deps, market, SHOW)
  } catch (error) {
    if (error instanceof OperatorOrderRefused) return undefined
    throw error
  }
}

/** A file for `./venue market add`, as text. */
async function rowOfSeries(deps: OperatorDeps, given: number | undefined): Promise<string> {
  const { calendar, nowMs } = deps
  const nowSec = Math.floor(nowMs() / 1_000)
  const markets = await registered(deps)
  const next = nextSeries(calendar, markets, nowSec)
  const [first] = expiriesFrom(calendar, nowSec)
  const expirySec = given ?? (next === undefined ? first : next.series?.expirySec)
  if (expirySec === undefined)
    throw new OperatorOrderRefused('FUTURES_CALENDAR names no next series: give its expiry')
  return JSON.stringify([await rowOfSeriesAfter(deps, markets, expirySec)], null, 2)
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
