import { encodeEventTopics } from 'viem'
import { dutchAuctionAbi, subAccountsAbi, tradeModuleAbi } from '../../chain/abi/contracts.js'
import { bytesToHex, keccakText } from '../../chain/signing/keys.js'
import type { Address, Hex } from '../../core/action.js'
import { AT } from './chain-state.js'
import { matchesOf, type ChainBlock, type MinedReceipt, type SimulatedChain } from './chain.js'
import { readMatch } from './contracts.js'
import { futureMatchedLog } from './future-contract.js'

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
const [BALANCE_ADJUSTED] = encodeEventTopics({ abi: subAccountsAbi, eventName: 'BalanceAdjusted' })
const [ORDER_MATCHED] = encodeEventTopics({ abi: tradeModuleAbi, eventName: 'OrderMatched' })
const [AUCTION_ENDED] = encodeEventTopics({ abi: dutchAuctionAbi, eventName: 'AuctionEnded' })

export interface LogFilter {
  readonly fromBlock?: Hex
  readonly toBlock?: Hex
  readonly blockHash?: Hex
  readonly address?: Address | readonly Address[]
  readonly topics?: readonly (Hex | readonly Hex[] | null)[]
}

/** The events of these blocks as far as the venue reads them: who traded, and whose balances or auctions changed. */
export function logsOf(chain: SimulatedChain, first: number, last: number, filter: LogFilter) {
  const logs = []
  for (let number = Math.max(1, first); number <= last; number++) {
    const block = chain.block(number)
    const parent = chain.block(number - 1)
    if (block !== undefined && parent !== undefined) logs.push(...logsOfBlock(block, parent))
  }
  const { address, topics: [wanted] = [] } = filter
  const isWanted = (asked: Hex | readonly Hex[] | null | undefined, value: string): boolean =>
    asked === undefined || asked === null || [asked].flat().some((one) => isSame(one, value))
  return logs.filter(
    ({ address: at, topics: [event] }) => isWanted(address, at) && isWanted(wanted, event ?? ''),
  )
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b

/** An event without the place where it stands. */
interface Event {
  readonly address: Address
  readonly topics: readonly (Hex | undefined)[]
  readonly data: Hex
}

const adjusted = (account: bigint, asset: Hex): Event => ({
  address: AT.subAccounts,
  data: '0x',
  topics: [
    BALANCE_ADJUSTED,
    ...[word(account), word(BigInt(AT.manager)), `${asset}${'0'.repeat(24)}` as Hex],
  ],
})

/** Accounts of a match, with each asset that may have moved. */
const ASSETS: Readonly<Record<Address, readonly Address[]>> = {
  [AT.spotModule]: [AT.cngn, AT.usdc],
  [AT.perpModule]: [AT.perpAsset, AT.cash],
  [AT.futureModule]: [AT.futureAsset, AT.usdc],
}

function eventsOf(receipt: MinedReceipt, subId: bigint): Event[] {
  const moved = matchesOf(receipt).flatMap((match) => {
    const { actions } = readMatch(match)
    const module = actions[0]?.module ?? AT.spotModule
    const balances = actions.flatMap(({ subaccountId }) =>
      (ASSETS[module] ?? []).map((asset) => adjusted(subaccountId, asset)),
    )
    const told = { address: module, topics: [ORDER_MATCHED], data: '0x' } as const
    return module === AT.futureModule ? balances : [told, ...balances]
  })
  const booked = receipt.booked.map((fill) => futureMatchedLog(fill, subId))
  return [...booked, ...moved]
}

function logsOfBlock(block: ChainBlock, parent: ChainBlock) {
  const place = { blockHash: block.hash, blockNumber: `0x${block.number.toString(16)}` }
  const log = (transactionHash: Hex, event: Event) => ({
    ...place,
    ...event,
    transactionHash,
    transactionIndex: '0x0',
    logIndex: '0x0',
    removed: false,
  })
  const subId = BigInt(block.state.future?.expirySec ?? 0)
  const matched = block.receipts.flatMap((receipt) =>
    eventsOf(receipt, subId).map((event) => log(receipt.transaction.hash, event)),
  )
  if (block.happenings.length === 0) return matched
  const others = bytesToHex(keccakText(`others ${block.hash}`))
  return [...matched, ...changesOf(block, parent).map((event) => log(others, event))]
}

/** What happened besides matches, as far as balances and auctions tell of it. */
function changesOf({ state }: ChainBlock, { state: before }: ChainBlock): Event[] {
  const moved = [...state.balances]
    .filter(([key, amount]) => before.balances.get(key) !== amount)
    .map(([key]) => {
      const [account = '', asset = ''] = key.split(' ')
      return adjusted(BigInt(account), asset as Hex)
    })
  const auctioned = [...new Set([...state.auctions, ...before.auctions])]
    .filter((account) => state.auctions.has(account) !== before.auctions.has(account))
    .map((account) => ({ address: AT.auction, topics: [AUCTION_ENDED], data: word(account) }))
  return [...moved, ...auctioned]
}
