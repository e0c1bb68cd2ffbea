import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  http,
  parseAbi,
  type Hex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { perpAssetAbi, subAccountsAbi } from '../../../chain/abi/contracts.js'
import {
  createRestClient,
  randomNonce,
  signFrame,
  signOrder,
  type OrderRecord,
} from '../../../client/index.js'
import type { Side } from '../../../core/model/order.js'
import { eventually } from '../../support/eventually.js'
import type { Devnet } from '../../support/venue.js'
import { createTransferUser } from './transfer-user.js'
import { e18 } from './trader.js'

export const PERP = 'cNGN-PERP'
const E18 = 10n ** 18n
const HOUR_SEC = 3_600
const CALL_GAS = 3_000_000n

const tokenAbi = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function deposit(uint256 accountId, uint256 amount)',
  'function depositToNewAccount(address recipient, uint256 amount, address manager) returns (uint256)',
])

const approval = (spender: Hex, amount: bigint): Hex =>
  encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [spender, amount] })

export interface PerpWish {
  readonly side: Side
  /** Whole contracts. */
  readonly size: number
  readonly price: string
  readonly reduceOnly?: boolean
}

/** One of the devnet's accounts with its seeded perpetual account, or with one that it opens by a deposit. */
export function createPerpTrader(devnet: Devnet, index: number) {
  const account = devnet.accounts[index]
  if (account === undefined) throw new Error(`the devnet has no account ${index}`)
  const signer = privateKeyToAccount(account.private_key)
  const transfers = createTransferUser(devnet, index)
  const rest = createRestClient(devnet.gateway_url)
  const chain = createPublicClient({ transport: http(devnet.rpc_url) })
  const wallet = createWalletClient({ account: signer, transport: http(devnet.rpc_url) })
  let subaccountId = account.perp_subaccount_id
  let orders = 0

  async function sign({ size, ...wish }: PerpWish) {
    const market = (await rest.markets()).find((it) => it.market === PERP)
    if (market === undefined) throw new Error(`${PERP} is not listed`)
    orders += 1
    return signOrder(
      signer,
      { chainId: devnet.chain_id, matching: devnet.matching },
      {
        market,
        subaccountId,
        nonce: randomNonce(),
        ...wish,
        amount: String(size),
        orderId: `perp-${process.pid}-${index}-${orders}`,
        expirySec: Math.floor(Date.now() / 1_000) + HOUR_SEC,
      },
    )
  }

  /** Sends a transaction of the owner's and resolves with its logs once it has succeeded. */
  async function call(to: Hex, data: Hex) {
    // An estimate would be too low if prices or funding move before the block.
    const hash = await wallet.sendTransaction({ to, data, gas: CALL_GAS, chain: null })
    const receipt = await chain.waitForTransactionReceipt({ hash, timeout: 60_000 })
    if (receipt.status !== 'success') throw new Error(`${hash} reverted`)
    return receipt.logs
  }

  const balance = (id: bigint, asset: Hex, blockNumber?: bigint) =>
    chain.readContract({
      address: devnet.sub_accounts,
      abi: subAccountsAbi,
      functionName: 'getBalance',
      args: [id, asset, 0n],
      ...(blockNumber !== undefined && { blockNumber }),
    })

  return {
    transfers,
    rest,
    chain,
    sign,
    call,
    balance,
    subaccountId: () => subaccountId,
    /** Opens another account by a deposit of whole USDC with a permit, to trade with from now on. */
    async open(usdc: string): Promise<void> {
      const body = await transfers.deposit(usdc, { permit: await transfers.permit(usdc) })
      const { action_hash } = await transfers.venue.deposit(body)
      const record = await transfers.venue.settledDeposit(action_hash)
      if (record.status !== 'confirmed') throw new Error(`the deposit is ${record.status}`)
      subaccountId = record.subaccount_id ?? ''
    },
    place: async (wish: PerpWish): Promise<OrderRecord> => rest.placeOrder(await sign(wish)),
    async until(order: OrderRecord, status: string): Promise<void> {
      await eventually(async () => (await rest.order(order.order_id)).status === status, 60_000)
    },
    /** The account as the venue shows it. */
    shown: () => rest.positions(subaccountId),
    cash: () => balance(BigInt(subaccountId), devnet.cash_asset),
    position: () => balance(BigInt(subaccountId), devnet.perp_asset),
    /**
     * What the account's fills moved once it is flat, by the venue's own records: what sales brought less what purchases
     * cost, and the fees.
     */
    async traded(): Promise<{ readonly moved: bigint; readonly fees: bigint }> {
      const frame = await signFrame(signer, { purpose: 'history', domain: devnet.auth_domain })
      const { fills } = await rest.fills(frame, { limit: 100 })
      let [moved, fees] = [0n, 0n]
      for (const fill of fills) {
        if (fill.market !== PERP) continue
        const worth = (e18(fill.size) * e18(fill.price)) / E18
        moved += fill.side === 'buy' ? -worth : worth
        fees += e18(fill.fee)
      }
      return { moved, fees }
    },
    /** Funding that the chain has applied to the account: positive was received. */
    async funding(): Promise<bigint> {
      const logs = await chain.getContractEvents({
        address: devnet.perp_asset,
        abi: perpAssetAbi,
        fromBlock: 0n,
        eventName: 'FundingAppliedOnAccount',
      })
      return logs
        .filter(({ args }) => args.accountId === BigInt(subaccountId))
        .reduce((sum, { args }) => sum + (args.funding ?? 0n), 0n)
    },
    /** The owner's own transactions: approve, then deposit wrapped cNGN as margin (whole cNGN). */
    async postCngn(whole: bigint): Promise<void> {
      const amount = whole * 1_000_000n
      const functionName = 'deposit'
      const args = [BigInt(subaccountId), amount] as const
      await call(devnet.cngn, approval(devnet.wrapped_cngn, amount))
      await call(devnet.wrapped_cngn, encodeFunctionData({ abi: tokenAbi, functionName, args }))
    },
    /** An account of cash alone that the owner's key holds itself, for bids. */
    async openBidder(usdc: bigint): Promise<bigint> {
      const amount = usdc * 1_000_000n
      const functionName = 'depositToNewAccount'
      const args = [signer.address, amount, devnet.perp_manager] as const
      await call(devnet.usdc, approval(devnet.cash_asset, amount))
      await call(devnet.cash_asset, encodeFunctionData({ abi: tokenAbi, functionName, args }))
      return chain.readContract({
        address: devnet.sub_accounts,
        abi: subAccountsAbi,
        functionName: 'lastAccountId',
      })
    },
  }
}

export type PerpTrader = ReturnType<typeof createPerpTrader>
