import { decodeAbiParameters, decodeEventLog, getAbiItem, numberToHex, toEventSelector } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { MatchTerms } from '../../core/contracts/claims.js'
import { futureCapacity, futureClaims } from '../../core/contracts/future-claims.js'
import { expirySecOf } from '../../core/contracts/future-entry.js'
import {
  futureAccountOf,
  futureOf,
  hideFuture,
  hideFutureAccount,
} from '../../core/contracts/future-facts.js'
import { hideFutureFunds } from '../../core/contracts/future-funds.js'
import {
  CONTRACT_MULTIPLIER,
  initialTerms,
  isFillAccepted,
} from '../../core/contracts/future-margin.js'
import { addressOfWord } from '../../core/entry/read-action.js'
import type { Market } from '../../core/model/market.js'
import { amountE18, E18, priceE18, quoteE18, roundedUp, type PriceE18 } from '../../core/money.js'
import {
  futureAssetAbi,
  futuresManagerAbi,
  futureTradeModuleAbi,
  tradeModuleAbi,
} from '../abi/contracts.js'
import { NotWords, undefinedOnRevert } from '../abi/errors.js'
import { selectorsOf } from '../abi/selectors.js'
import type {
  BlockCalls,
  ChainContract,
  CloseOutEvents,
  LiquidationEvents,
  Solvency,
  Trial,
} from './chain-contract.js'
import {
  readFuture,
  readFutureAccount,
  readMark,
  readOpenSeries,
  readVolatile,
} from './future-reads.js'
import { hasLedger, readFutureDuties, readKeeperFault, readOwnSeries } from './future-upkeep.js'

/** A side lacks margin, or USDC for its fee: judged as the manager does, on the account as it stands. */
const solvency: Solvency = {
  reverts: ['SRM_PortfolioBelowMargin', 'WERC_CannotBeNegative'],
  async isSolvent({ market, terms, side }, { observe }) {
    const [fill] = terms.fillDetails
    if (fill === undefined) return true
    const isTaker = side === 'taker'
    const seen = await observe(market, isTaker ? terms.takerAccount : fill.filledAccount)
    if (seen.market === undefined) return true
    const facts = futureOf(seen.market)
    if (facts.indexStale) return true
    const buys = isTaker === terms.takerIsBuyer
    const size = buys ? fill.amountFilled : 0n - fill.amountFilled
    const fee = isTaker ? terms.takerFee : fill.fee
    const borne = { size, price: fill.price, fee }
    return isFillAccepted(futureAccountOf(seen.account), borne, facts, initialTerms(facts))
  },
}

const matched = getAbiItem({ abi: futureTradeModuleAbi, name: 'FutureMatched' })
const FUTURE_MATCHED = toEventSelector(matched)

/** Equal matches of one transaction have one mark. */
function markOf(
  logs: readonly { readonly data: Hex }[],
  { subId }: Market,
  { takerAccount, fillDetails }: MatchTerms,
): PriceE18 | undefined {
  const [fill] = fillDetails
  for (const { data } of logs) {
    const [, series, taker, maker, , amount, price, mark] = decodeAbiParameters(
      matched.inputs,
      data,
    )
    const isAmong = series === subId && taker === takerAccount && maker === fill?.filledAccount
    if (isAmong && amount === fill.amountFilled && price === fill.price) return priceE18(mark)
  }
  return undefined
}

const closed = getAbiItem({ abi: futuresManagerAbi, name: 'PositionClosed' })
const POSITION_CLOSED = toEventSelector(closed)

/** A series is closed out at its settlement price, by any caller, once it is settled. */
const closing: CloseOutEvents = {
  hasBegun: (seen) => futureOf(seen).settled === true,
  eventOf: ({ marginManagerAddress: address, subId }) => ({
    address,
    topics: [POSITION_CLOSED, null, numberToHex(subId, { size: 32 })],
  }),
  read({ topics, data }) {
    const { args } = decodeEventLog({ abi: [closed], topics, data })
    return {
      subaccountId: args.account,
      position: args.contracts * CONTRACT_MULTIPLIER,
      price: priceE18(args.price),
      variation: args.vm,
    }
  },
  // Only a series without positions is retired; `openInterest` counts the longs alone.
  isAnyLeft: async (market, block) => (await readOpenSeries(market, block)).includes(market.subId),
}

const liquidated = getAbiItem({ abi: futuresManagerAbi, name: 'PositionLiquidated' })
const POSITION_LIQUIDATED = toEventSelector(liquidated)

/** Below maintenance margin another account takes a position over, at the index. */
const liquidating: LiquidationEvents = {
  eventsOf: ({ marginManagerAddress: address, subId }) => ({
    address,
    topics: [POSITION_LIQUIDATED, null, numberToHex(subId, { size: 32 })],
  }),
  read: (_, events) =>
    Promise.resolve(
      events.map(({ topics, data }) => {
        const { args } = decodeEventLog({ abi: [liquidated], topics, data })
        return {
          event: 'takeover',
          subaccountId: args.account,
          bySubaccountId: args.by,
          size: args.contracts * CONTRACT_MULTIPLIER,
          price: priceE18(args.price),
          received: args.bonus,
        }
      }),
    ),
}

/** A dated future on the chain: accounts carry positions against margin in USDC and cNGN, which their manager computes. */
export const future: ChainContract = {
  async readFacts(market, account, seen) {
    assert(seen !== undefined, `an account of ${market.market} is read with its market's facts`)
    return hideFutureAccount(await readFutureAccount(market, account, futureOf(seen)))
  },
  async readFunds(market, account, seen) {
    assert(seen !== undefined, `funds of ${market.market} are read with its market's facts`)
    const facts = futureOf(seen)
    const [read, cngnBalance, { isSettled }] = await Promise.all([
      readFutureAccount(market, account, facts),
      account.balance(facts.cngnAsset, 0n),
      readMark(market, market.subId, account),
    ])
    // The manager counts no settled position, closed out or not; what it gained or lost is in the account's variation.
    const counted = isSettled ? { ...read, position: 0n } : read
    return hideFutureFunds({ account: counted, cngnBalance })
  },
  readWiring: readFutureWiring,
  readMarketFacts: async (market, block) => hideFuture(await readFuture(market, block)),
  async readUncached(market, block) {
    const volatile = await readVolatile(market, block)
    return (facts) => hideFuture({ ...futureOf(facts), ...volatile })
  },
  readMovers: ({ marginManagerAddress: manager, tradeModuleAddress: module }) =>
    Promise.resolve((loggedBy) =>
      loggedBy.has(manager) && !loggedBy.has(module) ? 'close-out or liquidation' : undefined,
    ),
  claimsOf: (market, terms, seen) => seen && futureClaims(market, terms, futureOf(seen)),
  capacityOf: (part, account, seen) =>
    futureCapacity(futureOf(seen), futureAccountOf(account), part),
  solvency,
  closing,
  liquidating,
  readDuties: readFutureDuties,
  hasLedger,
  readOwnSeries,
  readKeeperFault,
  reportedMark: { topic: FUTURE_MATCHED, markOf },
  readTrial,
  async readCollateral({ marginManagerAddress: manager }, { constant }) {
    const cngn = await constant(manager, OF_MANAGER.wrappedCngn)
    return cngn === undefined ? undefined : addressOfWord(cngn)
  },
  readSeriesAfter: async (market, block, atSec) =>
    (await readOpenSeries(market, block)).filter((subId) => expirySecOf({ subId }) > atSec),
}

/** The smallest size, at the mark or the end of the band that is next to it; each side brings several times the margin. */
async function readTrial(market: Market, block: BlockCalls): Promise<Trial | string> {
  const [{ price: mark, isSettled }, [, , low = 0n, high = 0n]] = await Promise.all([
    readMark(market, market.subId, block),
    block.words(market.assetAddress, BAND, [market.subId]),
  ])
  if (mark === 0n) return `${market.assetAddress} has no series ${market.subId}`
  if (isSettled) return `the series ${market.subId} is settled`
  const price = priceE18(mark < low ? low : mark > high && high > 0n ? high : mark)
  const amount = amountE18(roundedUp(market.minSize, market.amountStep ?? 1n))
  const usdc = [{ asset: market.quoteAssetAddress, amount: 2n * (amount + E18) }]
  return { price, amount, buyer: usdc, seller: usdc, paid: quoteE18(0n) }
}

const OF_MANAGER = selectorsOf(futuresManagerAbi, 'wrappedCngn')
const { band: BAND } = selectorsOf(futureAssetAbi, 'band')

const ofModule = {
  ...selectorsOf(futureTradeModuleAbi, 'futureAsset', 'manager'),
  ...selectorsOf(tradeModuleAbi, 'quoteAsset'),
}
const ofManager = selectorsOf(futuresManagerAbi, 'futureAsset', 'wrappedUsdc')

/** What of trade module and manager is not as the market's row says; undefined when all is. Rejects unless the node answers. */
async function readFutureWiring(
  { tradeModuleAddress, marginManagerAddress, assetAddress, quoteAssetAddress }: Market,
  { word }: BlockCalls,
): Promise<string | undefined> {
  const module = ['trade module', tradeModuleAddress] as const
  const manager = ['margin manager', marginManagerAddress] as const
  const wires = [
    [module, ofModule.futureAsset, 'trades', assetAddress],
    [module, ofModule.manager, 'books at', marginManagerAddress],
    [module, ofModule.quoteAsset, 'charges fees in', quoteAssetAddress],
    [manager, ofManager.futureAsset, 'margins', assetAddress],
    [manager, ofManager.wrappedUsdc, 'counts as USDC', quoteAssetAddress],
  ] as const
  const found = await Promise.all(wires.map(([[, at], selector]) => addressAt(word, at, selector)))
  for (const [i, [[name, at], , does, wanted]] of wires.entries()) {
    if (found[i] !== wanted) return `${name} ${at} ${does} ${found[i] ?? 'nothing'}, not ${wanted}`
  }
  return undefined
}

/** Undefined from a contract that lacks the function: it reverts, or answers nothing. */
async function addressAt(
  word: BlockCalls['word'],
  at: Address,
  selector: Hex,
): Promise<Address | undefined> {
  const answer = await word(at, selector, []).catch((error: unknown) =>
    error instanceof NotWords ? undefined : undefinedOnRevert(error),
  )
  return answer === undefined ? undefined : addressOfWord(answer)
}
