import { expect } from 'chai'
import type { Address } from '../../core/action.js'
import { balanceFacts } from '../../core/contracts/balances.js'
import { formatDecimal } from '../../core/decimal.js'
import { ordersOf } from '../../core/engine/book.js'
import { createSettlementTrail, type SettlementTruth } from '../../core/engine/settlement-trail.js'
import { readRules } from '../../core/entry/read-rules.js'
import type { CancelOutcome } from '../../core/model/command-answer.js'
import { openAmount, statusOf, type LiveOrder } from '../../core/model/live-order.js'
import type { Blame } from '../../core/model/match.js'
import type { AccountFacts, MarketFacts, AccountObservation } from '../../core/model/observation.js'
import type { PostOnly, SelfTradePrevention, Side } from '../../core/model/order.js'
import { amountE18, feePerUnitE18, priceE18, quoteE18 } from '../../core/money.js'
import { futureAccountOfWords, futureFactsOfWords } from '../support/future.js'
import { matcherOrder, testMatcher, type TestMatcher } from '../support/matching.js'
import { accountOfWords, e18, factsOfWords } from '../support/perpetual.js'

/**
 * Runs a scenario text (see `lines.ts`): one statement a line, `#` begins a comment. Statements act on a
 * fresh market; lines that begin with `->` say what the statement before them must have caused, in order and without
 * leaving anything out; `book` and `order` lines look at the market as it stands.
 */
export function runScenario(text: string): void {
  const run = newRun()
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/(^|\s)#.*/, '').trim()
    if (line === '') continue
    try {
      runLine(run, line)
    } catch (cause) {
      throw new Error(`line ${index + 1}: ${line}\n${(cause as Error).message}`, { cause })
    }
  }
  expectNothingLeft(run)
}

interface Run {
  matcher: TestMatcher
  /** How the words of a statement become facts of the market's contract. */
  facts: Words
  /** What the last statement caused and no `->` line has claimed yet. */
  readonly caused: string[]
  readonly traders: Map<string, bigint>
  /** Settlement id of each match, by `maker/taker` and by `maker/taker#n` for the n-th of the same pair. */
  readonly settlements: Map<string, string>
  reversals: number
}

interface Words {
  readonly account: (words: readonly string[]) => AccountFacts
  readonly market?: (words: readonly string[]) => MarketFacts
}

const newRun = (): Run => ({
  matcher: testMatcher(),
  facts: { account: balancesOfWords },
  caused: [],
  traders: new Map(),
  settlements: new Map(),
  reversals: 0,
})

function runLine(run: Run, line: string): void {
  const [verb = '', ...words] = line.split(/\s+/)
  if (verb === '->') {
    expect(run.caused.shift() ?? 'nothing', 'caused').to.equal(words.join(' '))
    return
  }
  expectNothingLeft(run)
  const statement = STATEMENTS[verb]
  if (statement === undefined) throw new Error(`no such statement: ${verb}`)
  statement(run, words)
}

function expectNothingLeft(run: Run): void {
  expect(run.caused, 'caused, but not stated').to.deep.equal([])
}

/** What each statement does, by its first word; `lines.ts` says what they mean. */
export const STATEMENTS: Readonly<Record<string, (run: Run, words: string[]) => void>> = {
  perpetual: (run) => {
    run.matcher = testMatcher(25, 'perpetual')
    run.facts = { account: accountOfWords, market: factsOfWords }
  },
  future: (run) => {
    run.matcher = testMatcher(25, 'future')
    run.facts = { account: futureAccountOfWords, market: futureFactsOfWords }
  },
  market: (run, words) => {
    const { matcher, facts } = run
    if (facts.market === undefined) throw new Error('this market has no facts')
    const aged = Number(optionOf(words, 'aged').replace('s', '')) * 1000
    const atMs = matcher.nowMs() - aged
    apply(run, {
      kind: 'MarketObserved',
      observation: {
        facts: facts.market(words),
        blockNumber: BigInt(optionOf(words, 'block') || 1),
        blockTimeSec: atMs / 1000,
        readAtMs: atMs,
      },
    })
  },
  place: (run, words) => {
    const order = readOrder(run, words)
    const at = words.indexOf('with')
    const account =
      at < 0 ? {} : { account: observation(run, order.subaccountId, words.slice(at + 1)) }
    apply(run, { kind: 'PlaceOrder', order, ...account })
  },
  account: (run, [trader = '', ...words]) =>
    apply(run, {
      kind: 'AccountObserved',
      account: observation(run, subaccount(run, trader), words),
    }),
  cancel: (run, [name = '']) => {
    const nonce = nonceOf(name)
    const owner = run.matcher.state.orders.get(name)?.order.owner ?? OWNER
    apply(run, { kind: 'CancelOrder', owner, nonce, reason: 'unspecified' })
  },
  // `replace OLD NEW by TRADER SIDE AMOUNT @ PRICE`
  replace: (run, [old = '', ...words]) => {
    const order = readOrder(run, words)
    apply(run, { kind: 'PlaceOrder', order, replaces: nonceOf(old) })
  },
  reduce: (run, [name = '', , amount = '']) => {
    const { owner = OWNER } = run.matcher.state.orders.get(name)?.order ?? {}
    const desired = amountE18(e18(amount))
    apply(run, {
      kind: 'ReduceOrder',
      owner,
      nonce: nonceOf(name),
      desired,
      reason: 'unspecified',
    })
  },
  'cancel-all': (run, words) =>
    apply(run, {
      kind: 'CancelAll',
      owner: OWNER,
      reason: 'unspecified',
      ...(words.includes('side') && { side: optionOf(words, 'side') as Side }),
      ...(words.includes('of') && { subaccountId: subaccount(run, optionOf(words, 'of')) }),
    }),
  'cancel-orders': (run, orderIds) =>
    apply(run, { kind: 'CancelOrders', owner: OWNER, orderIds, reason: 'unspecified' }),
  lease: (run, [name = '', seconds = '', opens]) =>
    apply(run, {
      kind: 'SetLease',
      owner: OWNER,
      seconds: Number(seconds.replace('s', '')),
      ...(name !== 'all' && { leaseId: name }),
      opens: opens !== 'renewed',
    }),
  'end-lease': (run, [name = '', cancels]) =>
    apply(run, {
      kind: 'EndLease',
      owner: OWNER,
      cancels: cancels !== 'quietly',
      ...(name !== 'all' && { leaseId: name }),
    }),
  wait: (run, [seconds = '']) => {
    run.matcher.advance(Number(seconds.replace('s', '')) * 1000)
    apply(run, { kind: 'Tick' })
  },
  repeat: (run, [orderId = '']) => apply(run, { kind: 'RepeatOrder', orderId, by: 'order_id' }),
  continue: (run, [orderId = '']) => apply(run, { kind: 'ContinueOrder', orderId }),
  signature: (run, [orderId = '', verdict]) =>
    apply(run, { kind: 'SignatureChecked', orderId, valid: verdict === 'valid' }),
  settles: (run, [pair = '', ...words]) =>
    apply(run, {
      kind: 'SettlementReported',
      settlementId: run.settlements.get(pair) ?? pair,
      outcome: {
        kind: 'success',
        txHash: '0xab',
        blockNumber: BigInt(optionOf(words, 'block') || 7),
      },
    }),
  reverts: (run, [pair = '', revert = '', , guilty = 'both', where]) =>
    apply(run, {
      kind: 'SettlementReported',
      settlementId: run.settlements.get(pair) ?? pair,
      outcome: {
        kind: 'reverted',
        revert,
        guilty: guilty as Blame | 'unclear',
        signersRead: true,
        ...(where === 'elsewhere' && { spentElsewhere: true }),
        ...(where === 'mined' && { txHash: '0xef' }),
      },
    }),
  key: (run, [orderId = '', , after = '']) =>
    apply(run, {
      kind: 'SessionKeyObserved',
      orderId,
      endsSec: run.matcher.nowMs() / 1000 + Number(after.replace('s', '')),
    }),
  fault: (run, [revert = '']) =>
    apply(run, { kind: 'ChainFaultObserved', ...(revert !== 'none' && { revert }) }),
  code: (run, [trader = '']) =>
    apply(run, { kind: 'SignerCodeObserved', signer: signerOf(run, trader) }),
  held: (run, [reason = '']) =>
    expect(run.matcher.state.holds.get('chain')?.reason ?? 'none').to.equal(reason),
  set: (run, words) => apply(run, { kind: 'MarketRulesSet', rules: readChange(run, words), ...BY }),
  pause: (run) => apply(run, { kind: 'MarketPaused', ...BY }),
  resume: (run) => {
    apply(run, { kind: 'MarketResumed', ...BY })
    // The shell sends the tick that lets the market reopen.
    apply(run, { kind: 'Tick' })
  },
  disable: (run) => apply(run, { kind: 'MarketDisabled', ...BY }),
  enable: (run) => apply(run, { kind: 'MarketEnabled', ...BY }),
  standing: (run, words) => expect(describeMarket(run)).to.equal(words.join(' ')),
  loses: (run, [pair = '', revert = '']) => reverse(run, pair, { kind: 'reverted', revert }),
  regains: (run, [pair = '']) =>
    reverse(run, pair, { kind: 'success', txHash: '0xcd', blockNumber: 9n }),
  book: (run, words) => expect(ladder(run, words)).to.equal(words.slice(1).join(' ')),
  order: (run, [name = '', ...stands]) => {
    const live = run.matcher.state.orders.get(name)
    expect(live === undefined ? 'forgotten' : describeOrder(live)).to.equal(stands.join(' '))
  },
}

const BY = { by: 'ada', reason: 'maintenance' }

/** `taker_fee_bps=30 tick_size=0.5`: by the names of the market file. */
function readChange({ matcher }: Run, words: readonly string[]) {
  const fields = words.map((word) => word.split('=') as [string, string])
  const read = readRules(matcher.state, Object.fromEntries(fields))
  if ('problem' in read) throw new Error(read.problem)
  return read.rules
}

function describeMarket({ matcher }: Run): string {
  const { enabled, standing } = matcher.state
  return [enabled ? 'enabled' : 'disabled', standing.status, standing.reason ?? ''].join(' ').trim()
}

/** The chain has another last word on a settlement than the market: told as the shell tells it, from the changes. */
function reverse(run: Run, pair: string, truth: SettlementTruth): void {
  const settlementId = run.settlements.get(pair) ?? pair
  const trail = createSettlementTrail([settlementId])
  for (const change of run.matcher.changes) trail.fold(change)
  run.reversals += 1
  const reversal = trail.reversalOf(settlementId, run.reversals, truth)
  if (reversal === undefined || reversal === 'unpublished') run.caused.push(reversal ?? 'agrees')
  else apply(run, { kind: 'SettlementReversed', reversal })
}

const nonceOf = (name: string): bigint => BigInt(`0x${Buffer.from(name).toString('hex')}`)

const OWNER = `0x${'a'.repeat(40)}` as const

/** `place NAME by TRADER SIDE AMOUNT @ PRICE [expires 60s] [filled 5] [worst-fee 0] [reduce-only] [ioc] [fok] [post-only slide] [stp cancel_both] [of-owner] [lease one] [by-code] [unchecked]` */
function readOrder(run: Run, words: string[]) {
  const [name = '', , trader = '', side, amount = '', , price = '', ...options] = words
  const option = (key: string) => optionOf(options, key)
  const nowSec = run.matcher.nowMs() / 1000
  const expires = options.includes('expires') ? Number(option('expires').replace('s', '')) : 86_400
  return matcherOrder({
    orderId: name,
    side: side as Side,
    owner: OWNER,
    subaccountId: subaccount(run, trader),
    signer: signerOf(run, trader),
    nonce: nonceOf(name),
    desiredAmount: amountE18(e18(amount)),
    limitPrice: priceE18(e18(price)),
    goodUntilSec: nowSec + expires,
    initialFilled: amountE18(options.includes('filled') ? e18(option('filled')) : 0n),
    ...(options.includes('worst-fee') ? { worstFee: feePerUnitE18(e18(option('worst-fee'))) } : {}),
    ...(options.includes('ioc') ? { timeInForce: 'IOC' as const } : {}),
    ...(options.includes('fok') ? { timeInForce: 'FOK' as const } : {}),
    ...(options.includes('post-only') ? { postOnly: option('post-only') as PostOnly } : {}),
    ...(options.includes('stp') ? { stp: option('stp') as SelfTradePrevention } : {}),
    ...(options.includes('of-owner') ? { stpScope: 'owner' as const } : {}),
    ...(options.includes('lease') ? { leaseId: option('lease') } : {}),
    ...(options.includes('reduce-only') ? { reduceOnly: true as const } : {}),
    ...(options.includes('by-code') ? { signedByCode: true as const } : {}),
    signatureStatus: options.includes('unchecked') ? 'unchecked' : 'checked',
  })
}

/** What follows a word; nothing when it is not there. */
const optionOf = (words: readonly string[], key: string): string =>
  words.includes(key) ? (words[words.indexOf(key) + 1] ?? '') : ''

/** Each trader has one subaccount, numbered as they appear. */
function subaccount(run: Run, trader: string): bigint {
  if (!run.traders.has(trader)) run.traders.set(trader, BigInt(run.traders.size + 1))
  return run.traders.get(trader) ?? 0n
}

/** Each trader signs with a key of its own. */
const signerOf = (run: Run, trader: string): Address =>
  `0x${subaccount(run, trader).toString(16).padStart(40, '0')}`

/** `base 10 quote 20`: what is not said is plenty. */
function balancesOfWords(words: readonly string[]): AccountFacts {
  const amount = (key: string) => e18(optionOf(words, key) || '1000000')
  return balanceFacts({ base: amountE18(amount('base')), quote: quoteE18(amount('quote')) })
}

/** The words of the market's contract, then `[block 5] [leaving] [withdrawn]`: in block 1 when not said. */
function observation(run: Run, subaccountId: bigint, words: readonly string[]): AccountObservation {
  return {
    subaccountId,
    facts: run.facts.account(words),
    ...(words.includes('withdrawn') ? {} : { custodyOwner: OWNER }),
    leaving: words.includes('leaving'),
    blockNumber: BigInt(optionOf(words, 'block') || 1),
    blockTimeSec: 0,
  }
}

function apply(run: Run, command: Parameters<TestMatcher['apply']>[0]): void {
  const { changes, answer } = run.matcher.apply(command)
  for (const change of changes) {
    if (change.kind === 'OrderMatched') {
      const { match } = change
      const pair = `${match.makerOrderId}/${match.takerOrderId}`
      let name = pair
      for (let n = 2; run.settlements.has(name); n++) name = `${pair}#${n}`
      run.settlements.set(name, match.settlementId)
      run.caused.push(`match ${name} ${text(match.amount)} @ ${text(match.price)}`)
    } else if (change.kind === 'OrderFilled' && change.fill.liquidity === 'taker') {
      const { fill } = change
      // By the number of the trade and the market (REA-014).
      const { tradeNo, identity } = run.matcher.state
      expect(fill.tradeId).to.equal(tradeNo * 65_536 + identity.ordinal)
      const pair = `${fill.makerOrderId}/${fill.takerOrderId}`
      run.caused.push(
        `trade ${pair} ${text(fill.amount)} @ ${text(fill.price)} fee ${text(fill.fee)}`,
      )
    } else if (change.kind === 'FillReversed') {
      const { makerOrderId, takerOrderId, amount } = change.fill
      const pair = `${makerOrderId}/${takerOrderId}`
      const what = `${change.orderId} ${describeChange(change)}`
      run.caused.push(`${pair} takes back ${text(amount)}: ${what}`)
    } else if (change.kind !== 'OrderFilled') {
      run.caused.push(`${change.orderId} ${describeChange(change)}`)
    }
  }
  if (answer?.kind === 'refused') run.caused.push(`refused ${answer.code}`)
  if (answer?.kind === 'cancels') run.caused.push(...answer.outcomes.flatMap(uncancelled))
}

/** What an answer says of orders that the step has not changed. */
function uncancelled(outcome: CancelOutcome): string[] {
  if (outcome.kind === 'cancelled') return []
  return [`${outcome.orderId} ${outcome.kind === 'settling' ? 'settling' : outcome.code}`]
}

type AnyChange = ReturnType<TestMatcher['apply']>['changes'][number]

function describeChange(change: AnyChange): string {
  const hold = 'hold' in change && change.hold !== undefined ? ` held ${change.hold}` : ''
  const gone = 'cancelReason' in change && change.cancelReason ? ` ${change.cancelReason}` : ''
  const open = change.open > 0n ? ` ${text(change.open)} open` : ''
  return `${change.status}${gone}${hold}${open}`
}

function describeOrder(live: LiveOrder): string {
  return `${statusOf(live)} open ${text(openAmount(live))} pending ${text(live.pending)} filled ${text(live.filled)}`
}

/** `book SIDE price name amount[, ...]` from the best on, `book SIDE empty`. */
function ladder(run: Run, [side]: string[]): string {
  const shown = [...ordersOf(run.matcher.state.book, side as Side)].map(
    (live) => `${text(live.order.limitPrice)} ${live.order.orderId} ${text(openAmount(live))}`,
  )
  return shown.length === 0 ? 'empty' : shown.join(', ')
}

const text = (value: bigint): string => formatDecimal(value, 18)
