/** Goes long with nearly all the leverage there is, moves the devnet's prices against it, and watches its liquidation. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { encodeFunctionData, parseAbi, parseEventLogs } from 'viem'
import { WebSocket } from 'ws'
import { createRestClient, createSocketClient, type LiquidationRecord } from '../client/index.js'
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

/** 20 USDC. */
const FUNDS = 20_000_000n
/** 175.50 USDC at 0.00065, nine times the cash. */
const SIZE = '270000'
const LOWER_INDEX = '0.0006'

const file = process.argv[2] ?? defaultDevnetFile()
const devnet = await readDevnet(file)
const account = accountOf(devnet)
const counterpart = secondAccountOf(devnet)
const venue = createRestClient(devnet.gateway_url)
const url = new URL('/v1/ws', devnet.gateway_url.replace(/^http/, 'ws')).href
const socket = createSocketClient({ url, WebSocket })

const abi = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function createAndDepositSubAccount(address baseAsset, uint256 initDeposit, address manager) returns (uint256)',
  'event AccountCreated(address indexed owner, uint256 indexed accountId, address indexed manager)',
])
/** An account with 20 USDC that can trade at once, by two transactions of the owner's own. */
async function openAccount(): Promise<bigint> {
  const { usdc, sub_account_creator: creator, cash_asset: cash, perp_manager: manager } = devnet
  const approve = { abi, functionName: 'approve', args: [creator, FUNDS] } as const
  await send(devnet, account, { to: usdc, data: encodeFunctionData(approve) })
  const args = [cash, FUNDS, manager] as const
  const open = { abi, functionName: 'createAndDepositSubAccount', args } as const
  const { logs } = await send(devnet, account, { to: creator, data: encodeFunctionData(open) })
  const [created] = parseEventLogs({ abi, eventName: 'AccountCreated', logs })
  if (created === undefined) throw new Error('no account was created')
  return created.args.accountId
}

/** What the public channel has shown of any account, oldest first. */
const seen: LiquidationRecord[] = []
socket.subscribeLiquidations({
  onSnapshot: (newest) => void seen.splice(0, Infinity, ...newest.toReversed()),
  onUpdate: (told) => void seen.push(...told),
})
const untilTold = (subaccountId: string, event: LiquidationRecord['event']) =>
  until(
    () =>
      Promise.resolve(
        seen.find((one) => one.subaccount_id === subaccountId && one.event === event),
      ),
    (found) => found !== undefined,
  )

const subaccountId = (await openAccount()).toString()
const { perp } = await readPerpetual(devnet)
const price = perp.mark_price_ui
await placeOrder(devnet, { account: counterpart, side: 'sell', price, size: SIZE })
const bid = { side: 'buy', price: takingPrice('buy', price), size: SIZE } as const
const order = await placeOrder(devnet, { account, subaccountId, ...bid })
await untilFilled(devnet, order)
const [long] = (await untilPosition(devnet, subaccountId, SIZE)).positions
const percent = (share = '0'): string => `${(Number(share) * 100).toFixed(2)} %`
console.log(`long ${long?.ui_size} cNGN at ${long?.entry_price}`)
console.log(
  `liquidated at ${long?.liquidation_price_ui}, ${percent(long?.liquidation_distance)} away`,
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

  const started = await untilTold(subaccountId, 'auction_started')
  console.log(`the venue's keeper has started the auction of ${started?.size ?? ''} cNGN`)
  const won = await untilTold(subaccountId, 'bid').catch(() => undefined)
  if (won === undefined) console.log('no bid yet, and the price falls on')
  else {
    const { by_subaccount_id: by, portion, tx_hash } = won
    console.log(`account ${by} has bought ${percent(portion)} of the account in ${tx_hash}`)
    const safe = await until(surplus, (now) => now !== '' && !now.startsWith('-'))
    const { positions } = await venue.positions(subaccountId)
    const left = positions[0]?.ui_size ?? '0'
    console.log(`left: ${left} cNGN, maintenance margin surplus ${safe} USDC`)
    const { liquidations } = await venue.liquidations({ subaccount_id: subaccountId })
    console.log(`in the list: ${liquidations.map(({ event }) => event).join(', ')}`)
  }
} finally {
  socket.close()
  if (before === undefined) await rm(prices)
  else await writeFile(prices, before)
}
