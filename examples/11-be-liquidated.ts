/** Goes long with nearly all the leverage there is, moves the devnet's prices against it, and is liquidated by auction. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  createPublicClient,
  encodeFunctionData,
  http,
  parseAbi,
  parseEventLogs,
  type Log,
} from 'viem'
import { createRestClient } from '../client/index.js'
import { defaultDevnetFile } from './config.js'
import { accountOf, readDevnet, secondAccountOf } from './devnet.js'
import {
  placeOrder,
  readPerpetual,
  send,
  takingPrice,
  until,
  untilFilled,
  untilPosition,
} from './perpetual.js'

/** 20 USDC, and 100. */
const FUNDS = 20_000_000n
const BID_FUNDS = 100_000_000n
/** 175.50 USDC at 0.00065, nine times the cash. */
const SIZE = '270000'
const LOWER_INDEX = '0.0006'

const file = process.argv[2] ?? defaultDevnetFile()
const devnet = await readDevnet(file)
const [account, liquidator] = [accountOf(devnet), secondAccountOf(devnet)]
const venue = createRestClient(devnet.gateway_url)
const chain = createPublicClient({ transport: http(devnet.rpc_url) })

const abi = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function createAndDepositSubAccount(address baseAsset, uint256 initDeposit, address manager) returns (uint256)',
  'function createAccount(address owner, address manager) returns (uint256)',
  'function deposit(uint256 recipientAccount, uint256 assetAmount)',
  'function isAuctionLive(uint256 accountId) view returns (bool)',
  'function bid(uint256 accountId, uint256 bidderId, uint256 percentOfAccount, int256 priceLimit, uint256 expectedLastTradeId) returns (uint256, uint256, uint256)',
  'event AccountCreated(address indexed owner, uint256 indexed accountId, address indexed manager)',
  'event Bid(uint256 accountId, uint256 bidderId, uint256 finalPercentage, uint256 cashFromBidder, uint256 cashToBidder)',
])
/** An account with 20 USDC that can trade at once, by two transactions of the owner's own. */
async function openAccount(): Promise<bigint> {
  const { usdc, sub_account_creator: creator, cash_asset: cash, perp_manager: manager } = devnet
  const approve = { abi, functionName: 'approve', args: [creator, FUNDS] } as const
  await send(devnet, account, { to: usdc, data: encodeFunctionData(approve) })
  const args = [cash, FUNDS, manager] as const
  const open = { abi, functionName: 'createAndDepositSubAccount', args } as const
  const { logs } = await send(devnet, account, { to: creator, data: encodeFunctionData(open) })
  return createdIn(logs)
}

/** An account that the liquidator's wallet holds itself, with cash to bid. */
async function openBidder(): Promise<bigint> {
  const { usdc, cash_asset: cash, perp_manager: manager, sub_accounts } = devnet
  const args = [liquidator.address, manager] as const
  const open = encodeFunctionData({ abi, functionName: 'createAccount', args })
  const { logs } = await send(devnet, liquidator, { to: sub_accounts, data: open })
  const bidder = createdIn(logs)
  const approve = { abi, functionName: 'approve', args: [cash, BID_FUNDS] } as const
  await send(devnet, liquidator, { to: usdc, data: encodeFunctionData(approve) })
  const deposit = { abi, functionName: 'deposit', args: [bidder, BID_FUNDS] } as const
  await send(devnet, liquidator, { to: cash, data: encodeFunctionData(deposit) })
  return bidder
}

function createdIn(logs: Log[]): bigint {
  const [created] = parseEventLogs({ abi, eventName: 'AccountCreated', logs })
  if (created === undefined) throw new Error('no account was created')
  return created.args.accountId
}

const id = await openAccount()
const subaccountId = id.toString()
const { perp } = await readPerpetual(devnet)
const price = perp.mark_price_ui
await placeOrder(devnet, { account: liquidator, side: 'sell', price, size: SIZE })
const bid = { side: 'buy', price: takingPrice('buy', price), size: SIZE } as const
const order = await placeOrder(devnet, { account, subaccountId, ...bid })
await untilFilled(devnet, order)
const [long] = (await untilPosition(devnet, subaccountId, SIZE)).positions
console.log(
  `long ${long?.ui_size} cNGN at ${long?.entry_price}, liquidated at ${long?.liquidation_price_ui}`,
)

// The devnet's feeder publishes what this file says.
const prices = join(dirname(file), 'prices.json')
const before = await readFile(prices, 'utf8').catch(() => undefined)
await writeFile(prices, JSON.stringify({ index: LOWER_INDEX }))
try {
  const surplus = async () =>
    (await venue.positions(subaccountId)).accounts[0]?.maintenance_margin_surplus ?? ''
  const short = await until(surplus, (now) => now.startsWith('-'))
  console.log(`the mark falls to ${LOWER_INDEX}: maintenance margin surplus ${short} USDC`)

  const bidder = await openBidder()
  const to = devnet.dutch_auction
  const live = { address: to, abi, functionName: 'isAuctionLive', args: [id] } as const
  await until(
    () => chain.readContract(live),
    (isLive) => isLive,
  )
  console.log("the venue's keeper has started the auction")
  const all = [id, bidder, 10n ** 18n, 0n, 0n] as const
  const bids = encodeFunctionData({ abi, functionName: 'bid', args: all })
  const sent = await send(devnet, liquidator, { to, data: bids })
  const [won] = parseEventLogs({ abi, eventName: 'Bid', logs: sent.logs })
  const percent = Number((won?.args.finalPercentage ?? 0n) / 10n ** 14n) / 100
  console.log(`a liquidator has bought ${percent} % of the account in ${sent.transactionHash}`)
  const safe = await until(surplus, (now) => now !== '' && !now.startsWith('-'))
  const { positions } = await venue.positions(subaccountId)
  console.log(`left: ${positions[0]?.ui_size ?? '0'} cNGN, maintenance margin surplus ${safe} USDC`)
} finally {
  if (before === undefined) await rm(prices)
  else await writeFile(prices, before)
}
