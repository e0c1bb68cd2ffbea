import { encodeFunctionData, parseAbi, parseEther } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Address, Hex } from '../../../core/action.js'
import { deploy, type DevnetDeployment } from '../../../devnet/chain/deploy.js'
import { START_PRICES } from '../../../devnet/chain/perp-parameters.js'
import { seedAccounts, seedPerpAccounts } from '../../../devnet/chain/seed-accounts.js'
import { createBatch } from '../../../devnet/chain/transaction-batch.js'
import { createPublisher } from '../../../devnet/feeder/publish.js'
import { createSeries } from '../../../devnet/series/next-series.js'
import { ANVIL_KEY, startAnvil, type Anvil } from '../../support/anvil.js'
import { askStatement, statements } from '../../support/deployment-page.js'
import { FEEDER_KEY, lower, testKey } from '../../support/devnet-world.js'
import type { Place } from './trader.js'

const CALL_GAS = 400_000n
const FEED_EVERY_MS = 30_000
const DAY_SEC = 86_400
const SERIES_DAYS = 20
const SERIES_HOUR_SEC = 14 * 3_600
/** Keys of those that trade. */
const TRADERS = [testKey(1), testKey(2)]

const ownerAbi = parseAbi([
  'function setTradeExecutor(address executor, bool allowed)',
  'function setMarkKeeper(address keeper)',
])

/** What no getter of another contract names: the owner of the contracts tells it. */
const TOLD = [
  ...['matching', 'spot_trade_module', 'spot_manager', 'deposit_module', 'withdrawal_module'],
  ...['wrapped_cngn', 'perp_manager', 'perp_asset', 'perp_trade_module', 'futures_manager'],
  ...['future_asset', 'future_trade_module', 'sub_account_creator'],
] as const

/** The key of ANVIL_KEY owns the contracts, which no process of a venue may use yet. */
export interface OwnedContracts {
  readonly anvil: Anvil
  readonly rpcUrl: string
  /** What was deployed, for comparison. */
  readonly at: DevnetDeployment
  /** Two owners with accounts of all kinds, as an operator's own test of a new venue. */
  readonly place: Omit<Place, 'gateway_url'>
  /** Reads what goes into the deployment file, but for a batch executor: each key told, or by the getter that the page names. */
  readKeys(): Promise<Readonly<Record<string, string | number>>>
  /** Lets a key call matching. */
  allow(executor: Address): Promise<void>
  /** Sends the owner's call of matching with this data. */
  callMatching(data: Hex): Promise<void>
  nameKeeper(keeper: Address): Promise<void>
  /** Gives a key gas money. */
  fund(address: Address): Promise<void>
  /** Opens a series on the chain; resolves to its expiry, unix seconds. */
  openSeries(): Promise<number>
  stop(): Promise<void>
}

/**
 * A chain of its own with the contracts, which no launcher has set up: they stand for those that are there already, with their assets,
 * margins, fee accounts and feeds, whose signer updates them. No key of a venue has a right, and no series is open.
 */
export async function openContracts(): Promise<OwnedContracts> {
  const anvil = await startAnvil({ blockTime: 1 })
  const { client, rpcUrl } = anvil
  const sender = { rpcUrl, privateKey: ANVIL_KEY }
  const before = await client.getBlockNumber()
  const at = await deploy({
    ...sender,
    tradeExecutors: [],
    batchOperators: [],
    feeOwnerKey: testKey(1001),
    feederKey: FEEDER_KEY,
    calendar: 'none',
  })
  const publisher = createPublisher({
    rpcUrl,
    feeds: at,
    futuresIndexFeed: at.futures_index_feed,
    privateKey: FEEDER_KEY,
  })
  await publisher.publish(START_PRICES)
  // One that is late is followed by the next.
  const publish = () => void publisher.publish(START_PRICES).catch(() => undefined)
  const feeding = setInterval(publish, FEED_EVERY_MS)
  const call = async (to: Address, data: Hex) => {
    const batch = await createBatch(sender)
    await batch.send({ to, data, gas: CALL_GAS })
    await batch.flush()
  }
  return {
    anvil,
    rpcUrl,
    at,
    place: { ...at, rpc_url: rpcUrl, accounts: await seedTraders(rpcUrl, at) },
    readKeys: async () => {
      const known: Record<string, string | number> = {
        chain_id: await client.getChainId(),
        deployed_at_block: Number(before),
      }
      for (const key of TOLD) known[key] = at[key]
      for (const each of statements()) {
        const isNew = known[each.of] !== undefined && known[each.answer] === undefined
        if (isNew && each.answer !== 'true')
          known[each.answer] = await askStatement(client, known, each)
      }
      return known
    },
    allow: (executor) =>
      call(
        at.matching,
        encodeFunctionData({
          abi: ownerAbi,
          functionName: 'setTradeExecutor',
          args: [executor, true],
        }),
      ),
    callMatching: (data) => call(at.matching, data),
    nameKeeper: (keeper) =>
      call(
        at.future_asset,
        encodeFunctionData({ abi: ownerAbi, functionName: 'setMarkKeeper', args: [keeper] }),
      ),
    fund: (address) => client.setBalance({ address, value: parseEther('10') }),
    openSeries: async () => {
      const { timestamp } = await client.getBlock()
      const today = Math.floor(Number(timestamp) / DAY_SEC)
      const expirySec = (today + SERIES_DAYS) * DAY_SEC + SERIES_HOUR_SEC
      await createSeries(sender, at.future_asset, expirySec)
      return expirySec
    },
    async stop() {
      clearInterval(feeding)
      await anvil.stop()
    },
  }
}

async function seedTraders(rpcUrl: string, deployment: DevnetDeployment) {
  const owners = TRADERS.map((key) => lower(privateKeyToAddress(key)))
  const options = { rpcUrl, privateKey: ANVIL_KEY, deployment, owners }
  const seeded = await seedAccounts(options)
  const perp = await seedPerpAccounts(options)
  return TRADERS.map((privateKey, i) => ({
    name: `${i}`,
    address: owners[i] as Address,
    private_key: privateKey,
    spot_subaccount_id: `${seeded[i]?.spotSubaccountId}`,
    perp_subaccount_id: `${perp[i]}`,
  }))
}
