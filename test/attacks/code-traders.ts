import { createTestClient, http, publicActions, walletActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { gasOfBatch, readBatchLogs } from '../../chain/contracts/simulate.js'
import {
  createRestClient,
  randomNonce,
  signOrder,
  type Explanation,
  type MarketEntry,
  type OrderBody,
  type OrderRecord,
  type TypedDataSigner,
} from '../../client/index.js'
import type { Address, Hex } from '../../core/action.js'
import { roleAccounts } from '../../devnet/chain/accounts.js'
import { seedTradingAccounts } from '../../devnet/chain/seed-accounts.js'
import { createChainUser } from '../e2e/black-box/chain.js'
import { SPOT } from '../e2e/stage/trader.js'
import type { AnvilClient } from '../support/anvil.js'
import { eventually } from '../support/eventually.js'
import { startVenue } from '../support/venue.js'

// A whole venue with traders whose signers are code that the test chooses, and what their matches cost on its chain.

const BLOCK_TIME_SEC = 1
const KEY_LIVES_UNTIL_SEC = 4_000_000_000n
/** A hundred thousand USDC and a hundred million cNGN, in the tokens' 6 decimals. */
const BALANCES = { usdc: 10n ** 11n, cngn: 10n ** 14n }
const ANY_SIGNATURE: Hex = `0x${'11'.repeat(65)}`

/** Whose account trades, and what signs for it. */
export interface Party {
  readonly owner: Address
  readonly subaccountId: string
  readonly signer: TypedDataSigner
}

export interface Wish {
  readonly side: 'buy' | 'sell'
  /** USDC per cNGN, decimal text. */
  readonly price: string
  /** cNGN, decimal text. */
  readonly amount: string
  readonly timeInForce?: 'GTC' | 'IOC'
}

/** A match that was mined. */
export interface MinedMatch {
  readonly succeeded: boolean
  readonly txHash: Hex
  readonly block: bigint
  readonly atSec: number
  /** What it used; with all of its transaction where none of that succeeded. */
  readonly gas: number
}

export type CodeStage = Awaited<ReturnType<typeof openCodeStage>>

export async function openCodeStage() {
  const venue = await startVenue({ blockTime: BLOCK_TIME_SEC })
  const { devnet, gatewayUrl } = venue
  const roles = await roleAccounts(venue.dataDir)
  const rest = createRestClient(gatewayUrl)
  const market = (await rest.markets()).find((each) => each.market === SPOT) as MarketEntry
  const transport = http(devnet.rpc_url)
  const chain: AnvilClient = createTestClient({
    mode: 'anvil',
    chain: base,
    transport,
    cacheTime: 0,
    pollingInterval: 50,
  })
    .extend(publicActions)
    .extend(walletActions)
  let placed: OrderBody[] = []

  /** One of the devnet's accounts, signed for by its own key. */
  function plain(no: number): Party {
    const account = devnet.accounts[no]
    if (account === undefined) throw new Error(`the devnet has no account ${no}`)
    const signer = privateKeyToAccount(account.private_key)
    return { owner: account.address, subaccountId: account.spot_subaccount_id, signer }
  }

  /** A contract with this runtime code. */
  async function contractOf(bytecode: Hex): Promise<Address> {
    const address: Address = `0x${generatePrivateKey().slice(-40)}`
    await chain.setCode({ address, bytecode })
    return address
  }

  const signerOf = (address: Address, signTypedData?: TypedDataSigner['signTypedData']) => ({
    address,
    signTypedData: signTypedData ?? (() => Promise.resolve(ANY_SIGNATURE)),
  })

  /** Contracts that own their accounts and sign for them; `by` makes the signatures that they are shown. */
  async function walletsOf(
    addresses: readonly Address[],
    by?: TypedDataSigner['signTypedData'],
  ): Promise<Party[]> {
    const seeding = { rpcUrl: devnet.rpc_url, privateKey: roles.deployer.privateKey, mineNow: true }
    const ids = await seedTradingAccounts(
      { ...seeding, deployment: devnet, owners: addresses },
      devnet.spot_manager,
      BALANCES,
    )
    return addresses.map((owner, i) => ({
      owner,
      subaccountId: `${ids[i]}`,
      signer: signerOf(owner, by),
    }))
  }

  /** The account of a plain key with a session key that is a contract with this code. */
  async function keyedBy(no: number, bytecode: Hex): Promise<Party> {
    const { private_key: key } = devnet.accounts[no] as (typeof devnet.accounts)[number]
    const contract = await contractOf(bytecode)
    await createChainUser(devnet, key).registerSessionKey(contract, KEY_LIVES_UNTIL_SEC)
    return { ...plain(no), signer: signerOf(contract) }
  }

  async function sign({ owner, subaccountId, signer }: Party, wish: Wish): Promise<OrderBody> {
    const domain = { chainId: devnet.chain_id, matching: devnet.matching }
    const nonce = randomNonce()
    return signOrder(signer, domain, {
      ...wish,
      market,
      orderId: `attack-${nonce}`,
      owner,
      subaccountId,
      nonce,
      expirySec: Math.floor(Date.now() / 1_000) + 3_600,
    })
  }

  async function place(party: Party, wish: Wish): Promise<OrderRecord> {
    const body = await sign(party, wish)
    const record = await rest.placeOrder(body)
    placed.push(body)
    return record
  }

  /** Placed as soon as the venue has seen what happened on chain. */
  async function placeSoon(party: Party, wish: Wish): Promise<OrderRecord> {
    let record: OrderRecord | undefined
    await eventually(async () => (record = await place(party, wish)))
    return record as OrderRecord
  }

  const record = ({ order_id: id }: Pick<OrderRecord, 'order_id'>) => rest.order(id)

  async function until(order: OrderRecord, status: string): Promise<OrderRecord> {
    let last = order
    await eventually(async () => {
      last = await record(order)
      if (last.status !== status) throw new Error(`${last.status} instead of ${status}`)
    })
    return last
  }

  async function explain({ order_id: id }: OrderRecord): Promise<Explanation> {
    const answer = await fetch(new URL(`/v1/orders/${id}/explain`, gatewayUrl))
    return (await answer.json()) as Explanation
  }

  /** Ends what a test has left. */
  async function cancelAll(): Promise<void> {
    const bodies = placed
    placed = []
    for (const { owner_address, nonce, order_id } of bodies) {
      await eventually(async () => {
        const { status, pending_amount } = await rest.order(order_id)
        if (status === 'filled' || status === 'cancelled') return true
        if (pending_amount !== '0') return false
        await rest.cancelOrder({ owner_address, nonce })
        return true
      })
    }
  }

  /** The matches in the blocks behind this one, the oldest first. */
  async function minedSince(block: bigint): Promise<MinedMatch[]> {
    const found: MinedMatch[] = []
    const last = await chain.getBlockNumber()
    for (let blockNumber = block + 1n; blockNumber <= last; blockNumber += 1n) {
      const { transactions, timestamp } = await chain.getBlock({
        blockNumber,
        includeTransactions: true,
      })
      for (const { hash, to } of transactions) {
        if (to?.toLowerCase() !== devnet.batch_executor) continue
        const { logs, gasUsed } = await chain.getTransactionReceipt({ hash })
        const used = gasOfBatch(logs, devnet.batch_executor)
        const outcomes = readBatchLogs(logs, devnet.batch_executor)
        const allLost = outcomes.every(({ kind }) => kind !== 'success')
        for (const [i, { kind }] of outcomes.entries()) {
          const gas = allLost ? Number(gasUsed) / outcomes.length : Number(used[i]?.gasUsed)
          const at = { txHash: hash, block: blockNumber, atSec: Number(timestamp) }
          found.push({ succeeded: kind === 'success', ...at, gas })
        }
      }
    }
    return found
  }

  async function lostSince(block: bigint): Promise<MinedMatch[]> {
    return (await minedSince(block)).filter(({ succeeded }) => !succeeded)
  }

  /** Where the order was filled first, once all of it is filled. */
  async function filledIn(order: OrderRecord) {
    await until(order, 'filled')
    const fill = (await explain(order)).life.find(({ code }) => code === 'filled')
    return { block: BigInt(fill?.block_number ?? -1), txHash: fill?.tx_hash as Hex }
  }

  /** Carries it out while no block comes, except those that it mines itself. */
  async function betweenBlocks<T>(act: () => Promise<T>): Promise<T> {
    await chain.setIntervalMining({ interval: 0 })
    try {
      return await act()
    } finally {
      await chain.setIntervalMining({ interval: BLOCK_TIME_SEC })
    }
  }

  /** How many transactions of the executor wait for a block. */
  async function waiting(): Promise<number> {
    const { address } = roles.executor
    const pending = await chain.getTransactionCount({ address, blockTag: 'pending' })
    return pending - (await chain.getTransactionCount({ address }))
  }

  return {
    venue,
    chain,
    plain,
    contractOf,
    walletsOf,
    keyedBy,
    place,
    placeSoon,
    record,
    until,
    explain,
    cancelAll,
    minedSince,
    lostSince,
    filledIn,
    betweenBlocks,
    waiting,
    stop: () => venue.stop(),
  }
}
