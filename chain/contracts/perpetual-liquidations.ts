import {
  concatHex,
  decodeEventLog,
  getAbiItem,
  numberToHex,
  toEventSelector,
  type DecodeEventLogReturnType,
} from 'viem'
import type { Hex } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { perpetualOf } from '../../core/contracts/perpetual-facts.js'
import { priceE18, type PriceE18 } from '../../core/money.js'
import { dutchAuctionAbi, perpAssetAbi, subAccountsAbi } from '../abi/contracts.js'
import type {
  LiquidationEvents,
  LiquidationReads,
  PlacedEvent,
  ToldLiquidation,
} from './chain-contract.js'

const EVENTS = (
  ['SolventAuctionStarted', 'InsolventAuctionStarted', 'Bid', 'AuctionEnded'] as const
).map((name) => toEventSelector(getAbiItem({ abi: dutchAuctionAbi, name })))

const balanceAdjusted = getAbiItem({ abi: subAccountsAbi, name: 'BalanceAdjusted' })
const positionSettled = getAbiItem({ abi: perpAssetAbi, name: 'PositionSettled' })
const BALANCE_ADJUSTED = toEventSelector(balanceAdjusted)
const POSITION_SETTLED = toEventSelector(positionSettled)

/**
 * An auction sells an account below maintenance margin. Its events state neither the position nor the mark: in the same
 * transaction the accounts contract states what a bid moves, and the perpetual the mark at which it settles the position.
 */
export const perpetualLiquidating: LiquidationEvents = {
  eventsOf(_, seen) {
    const { auction } = perpetualOf(seen)
    return auction && { address: auction, topics: [EVENTS] }
  },
  async read(market, events, reads) {
    const sales = events.map((at) => ({ at, told: toldBy(at) }))
    const beside = await readBeside(market, sales, reads)
    return Promise.all(
      sales.map(async ({ at, told }, i) => {
        if (told.event === 'auction_ended') return told
        const of = { at, account: told.subaccountId }
        // A transaction may bid several times.
        const before = sales
          .slice(0, i)
          .findLast(
            (one) =>
              one.told.event === 'bid' &&
              one.at.txHash === at.txHash &&
              one.told.subaccountId === of.account,
          )
        const size =
          told.event === 'bid'
            ? beside.soldBy(of, before?.at.logIndex ?? -1)
            : await reads.balance(of.account, instrumentOf(market), at)
        const price = beside.markAt(of)
        return {
          ...told,
          ...(size !== undefined && { size }),
          ...(price !== undefined && { price }),
        }
      }),
    )
  },
}

const instrumentOf = ({ assetAddress: asset, subId }: Market) => ({ asset, subId })

type AuctionLog = DecodeEventLogReturnType<typeof dutchAuctionAbi>

/** Throws viem's error for an event of another form. */
function toldBy({ topics, data }: PlacedEvent): ToldLiquidation {
  const log: AuctionLog = decodeEventLog({ abi: dutchAuctionAbi, topics, data })
  const subaccountId = log.args.accountId
  switch (log.eventName) {
    case 'SolventAuctionStarted':
      return { event: 'auction_started', subaccountId }
    case 'InsolventAuctionStarted':
      return { event: 'insolvent_auction_started', subaccountId }
    case 'AuctionEnded':
      return { event: 'auction_ended', subaccountId }
    case 'Bid': {
      const { bidderId: bySubaccountId, finalPercentage: portion } = log.args
      const { cashFromBidder: paid, cashToBidder: received } = log.args
      return { event: 'bid', subaccountId, bySubaccountId, portion, paid, received }
    }
  }
}

interface Sale {
  readonly at: PlacedEvent
  readonly told: ToldLiquidation
}

/** An event of an account's auction. */
interface SaleOf {
  readonly at: PlacedEvent
  readonly account: bigint
}

/** What else the transactions of these events say of their accounts. */
async function readBeside(market: Market, sales: readonly Sale[], reads: LiquidationReads) {
  const asked = sales.filter(({ told }) => told.event !== 'auction_ended')
  const accounts = [...new Set(asked.map(({ told }) => word(told.subaccountId)))]
  const filter = {
    address: [reads.subAccounts, market.assetAddress],
    topics: [[BALANCE_ADJUSTED, POSITION_SETTLED], accounts],
  }
  const found =
    asked.length === 0
      ? []
      : await reads.events(
          filter,
          asked.map(({ at }) => at),
        )
  const assetAndSubId = concatHex([
    market.assetAddress,
    numberToHex(market.subId, { size: 12 }),
  ]).toLowerCase()
  const ofSale = (event: Hex, { at, account }: SaleOf): readonly PlacedEvent[] =>
    found.filter(
      ({ topics, txHash, logIndex }) =>
        topics[0] === event &&
        topics[1] === word(account) &&
        txHash === at.txHash &&
        logIndex < at.logIndex,
    )
  return {
    /** What the account gave up, signed as it held it, between the bid before in the transaction and this one. */
    soldBy(sale: SaleOf, afterIndex: number): bigint {
      const moves = ofSale(BALANCE_ADJUSTED, sale).filter(
        ({ topics, logIndex }) => topics[3] === assetAndSubId && logIndex > afterIndex,
      )
      return moves.reduce((sum, { topics, data }) => {
        const { args } = decodeEventLog({ abi: [balanceAdjusted], topics, data })
        return sum - args.amount
      }, 0n)
    },
    /** The mark at which the position was settled last before the event; undefined when it was not. */
    markAt(sale: SaleOf): PriceE18 | undefined {
      const last = ofSale(POSITION_SETTLED, sale).findLast(
        ({ address }) => address === market.assetAddress,
      )
      if (last === undefined) return undefined
      const { topics, data } = last
      return priceE18(decodeEventLog({ abi: [positionSettled], topics, data }).args.perpPrice)
    },
  }
}

const word = (id: bigint): Hex => numberToHex(id, { size: 32 })
