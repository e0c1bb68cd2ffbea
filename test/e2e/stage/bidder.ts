import { encodeFunctionData, parseAbi, parseEventLogs } from 'viem'
import { subAccountsAbi } from '../../../chain/abi/contracts.js'
import type { Hex } from '../../../core/action.js'
import { E18 } from '../../../core/money.js'
import { auctionAbi } from '../../support/auction-calls.js'
import { eventually } from '../../support/eventually.js'
import type { Devnet } from '../../support/venue.js'
import { createPerpTrader } from './perp-trader.js'

/** 100 USDC. */
const FUNDS = 100_000_000n
/** The key that bids is that of this devnet account. */
const BIDDER = 1

const tokenAbi = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function deposit(uint256 accountId, uint256 amount)',
])

/** An account under a manager that its owner holds itself, with so much of a token in an asset, in token units. */
export async function openOwnAccount(
  { devnet, trader }: { devnet: Devnet; trader: ReturnType<typeof createPerpTrader> },
  { manager, asset, amount }: { manager: Hex; asset: Hex; amount: bigint },
): Promise<bigint> {
  const { address } = devnet.accounts[BIDDER] ?? {}
  if (address === undefined) throw new Error('the devnet has too few accounts')
  const args = [address, manager] as const
  const open = encodeFunctionData({ abi: subAccountsAbi, functionName: 'createAccount', args })
  const logs = await trader.call(devnet.sub_accounts, open)
  const [created] = parseEventLogs({ abi: subAccountsAbi, eventName: 'AccountCreated', logs })
  if (created === undefined) throw new Error('no account was created')
  const { accountId } = created.args
  const approve = { abi: tokenAbi, functionName: 'approve', args: [asset, amount] } as const
  await trader.call(devnet.usdc, encodeFunctionData(approve))
  const deposit = { abi: tokenAbi, functionName: 'deposit', args: [accountId, amount] } as const
  await trader.call(asset, encodeFunctionData(deposit))
  return accountId
}

/** Bids once in the first auction that starts after this, as any caller may; `done` resolves with the bidding account. */
export async function bidInNextAuction(devnet: Devnet) {
  const trader = createPerpTrader(devnet, BIDDER)
  const bidder = await openOwnAccount(
    { devnet, trader },
    { manager: devnet.perp_manager, asset: devnet.cash_asset, amount: FUNDS },
  )
  const started = async () =>
    (await trader.rest.liquidations({ limit: 100 })).liquidations.filter(
      ({ event }) => event === 'auction_started',
    )
  const before = (await started()).length
  let isStopped = false
  const bid = async (): Promise<bigint | undefined> => {
    await eventually(async () => isStopped || (await started()).length > before, 240_000)
    if (isStopped) return undefined
    const account = BigInt((await started())[0]?.subaccount_id ?? 0)
    const args = [account, bidder, E18, 0n, 0n] as const
    const call = encodeFunctionData({ abi: auctionAbi, functionName: 'bid', args })
    await trader.call(devnet.dutch_auction, call)
    return bidder
  }
  const done = bid()
  // Awaited by who stops it.
  done.catch(() => undefined)
  return {
    done,
    stop: async () => {
      isStopped = true
      await done
    },
  }
}
